//! Numerics that are private.

use crate::cholesky::Cholesky;
use crate::nats_per_click::nats_per_click;
use confidence::bernoulli_kl;
use quickcheck::quickcheck;

#[test]
fn solves_a_system_of_twenty() {
    // 1 / (row + column + 1) plus the identity: far from diagonal, well conditioned.
    let size = 20;
    let entry =
        |row: usize, column: usize| 1.0 / (row + column + 1) as f64 + if row == column { 1.0 } else { 0.0 };
    let rows = (0..size * size).map(|index| entry(index / size, index % size)).collect();
    let solution: Vec<f64> = (0..size).map(|index| 1.0 - index as f64).collect();
    let mut side: Vec<f64> =
        (0..size).map(|row| (0..size).map(|column| entry(row, column) * solution[column]).sum()).collect();
    Cholesky::new(rows, size).solve(&mut side);
    for (found, wanted) in side.iter().zip(&solution) {
        assert!((found - wanted).abs() < 1e-13, "{found} instead of {wanted}");
    }
}

#[test]
fn a_direction_without_curvature_gets_no_step() {
    let mut side = [2.0, 2.0];
    Cholesky::new(vec![1.0, 1.0, 1.0, 1.0], 2).solve(&mut side);
    assert_eq!(side, [2.0, 0.0]);
}

fn unit(number: u32) -> f64 {
    f64::from(number) / f64::from(u32::MAX)
}

quickcheck! {
    fn is_the_divergence_per_click(c: u32, p: u32, q: u32) -> bool {
        let (c, p, q) = (unit(c.max(1)), unit(p.min(q)), unit(p.max(q)));
        if q - p <= 1e-3 * q {
            return true;
        }
        // The products round, and a relative gap of 1e-3 magnifies that a thousandfold, twice.
        let direct = bernoulli_kl(c * p, c * q) / (c * (q - p));
        let nats = nats_per_click(c, p, q);
        nats == direct || (nats / direct - 1.0).abs() < 1e-11
    }
}

#[test]
fn edges_of_nats_per_click() {
    // d(0, q) = -ln(1 - q)
    assert!((nats_per_click(1.0, 0.0, 0.5) - 2.0 * std::f64::consts::LN_2).abs() < 1e-15);
    assert_eq!(nats_per_click(1.0, 0.5, 1.0), f64::INFINITY);
    assert_eq!(nats_per_click(1.0, 0.0, 1.0), f64::INFINITY);
    // The limit of rare clicks: (q - p) / (2 q), here 2^-53 / 2 with subnormal everything.
    let q = 1e-300_f64;
    let limit = (q - q.next_down()) / (2.0 * q);
    for c in [1.0, 1e-200, 5e-324] {
        assert!((nats_per_click(c, q.next_down(), q) / limit - 1.0).abs() < 1e-15);
    }
    // Neighbours: (q - p) / (2 p (1 - p)) to first order.
    let p = 0.25_f64;
    let gap = p.next_up() - p;
    assert!((nats_per_click(1.0, p, p.next_up()) / (gap / (2.0 * p * (1.0 - p))) - 1.0).abs() < 1e-14);
    // Nearly certain clicks: 1 - c q = 3/2^30 - 1/2^59, of which a rounded product keeps 26
    // bits.
    let below_one = |exponent: i32| 1.0 - 2.0_f64.powi(-exponent);
    let nats = nats_per_click(below_one(30), below_one(28), below_one(29));
    assert!((nats / 0.277_064_060_273_730_15 - 1.0).abs() < 1e-14);
    // The next number below certainty: 1 - c q = 2^-53 exactly, d = 1/2 ln(1/2) + 1/2 ln(1/2 /
    // 2^-53) to 1e-14.
    let almost = 1.0_f64.next_down();
    let divergence = 51.0 / 2.0 * std::f64::consts::LN_2;
    assert!((nats_per_click(1.0, 0.5, almost) / (2.0 * divergence) - 1.0).abs() < 1e-14);
}
