//! How much more than Theorem 6's bound it costs to explore every item at the last position.
//!
//! Prints the tables of `docs/pbm-least-cost.md`: the constants of four instances, and a map over
//! random ones. An instance of the map has ten items, whose attractions are drawn uniformly from a
//! range, and five positions with examination 1, r, r^2, r^3, r^4. `cargo run --release -p
//! measurements --bin pbm_least_cost`.

use click_models::bounds::{pbm_last_position_cost, pbm_lower_bound, pbm_lower_bound_terms};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const INSTANCES: u32 = 10_000;
const N_ITEMS: usize = 10;
const N_POSITIONS: i32 = 5;

fn main() {
    constants();
    map();
}

/// The instances of the experiment `pbm-beyond`.
fn constants() {
    let evenly: Vec<f64> = (0..10).map(|item| 0.95 - 0.15 * f64::from(item) / 9.0).collect();
    let instances: [(&str, &[f64], &[f64]); 4] = [
        ("first", &[0.45, 0.35, 0.25, 0.15, 0.05], &[0.9, 0.6, 0.3]),
        ("second", &[0.9, 0.9, 0.9, 0.8, 0.8, 0.8, 0.7, 0.7], &[1.0, 0.5, 0.25]),
        ("third", &[0.95, 0.94, 0.93, 0.88, 0.86, 0.84, 0.82, 0.8], &[1.0, 0.6, 0.3]),
        ("fourth", &evenly, &[1.0, 0.9, 0.8, 0.7, 0.6]),
    ];
    println!(
        "| instance | Theorem 6 | at the last position | ratio | cheapest positions, from 1 |\n|---|---|---|---|---|"
    );
    for (name, theta, kappa) in instances {
        let (bound, last) = (pbm_lower_bound(theta, kappa), pbm_last_position_cost(theta, kappa));
        let terms = pbm_lower_bound_terms(theta, kappa).expect("an instance");
        let positions: Vec<String> = terms
            .iter()
            .filter_map(|term| term.position)
            .map(|position| (position + 1).to_string())
            .collect();
        println!("| {name} | {bound:.2} | {last:.2} | {:.2} | {} |", last / bound, positions.join(", "));
    }
}

/// Mean and largest ratio of the two constants, and the share of instances in which another
/// position is cheaper for some item.
fn map() {
    let ranges = [(0.0, 0.1), (0.1, 0.5), (0.0, 0.99), (0.5, 0.99), (0.8, 0.99), (0.9, 0.99)];
    let decays = [0.95, 0.9, 0.8, 0.6, 0.4];
    print!("\n| attractions in |");
    for decay in decays {
        print!(" r = {decay} |");
    }
    println!("\n|---|{}", "---|".repeat(decays.len()));
    for (low, high) in ranges {
        print!("| {low} to {high} |");
        for decay in decays {
            let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
            let kappa: Vec<f64> = (0..N_POSITIONS).map(|position| f64::powi(decay, position)).collect();
            let (mut sum, mut largest, mut elsewhere) = (0.0, 1.0_f64, 0);
            for _ in 0..INSTANCES {
                let theta: Vec<f64> =
                    (0..N_ITEMS).map(|_| low + (high - low) * rng.random::<f64>()).collect();
                let ratio = pbm_last_position_cost(&theta, &kappa) / pbm_lower_bound(&theta, &kappa);
                sum += ratio;
                largest = largest.max(ratio);
                elsewhere += u32::from(ratio > 1.0 + 1e-9);
            }
            let [mean, share] = [sum, 100.0 * f64::from(elsewhere)].map(|sum| sum / f64::from(INSTANCES));
            print!(" {mean:.2}, {largest:.1}, {share:.0} % |");
        }
        println!();
    }
}
