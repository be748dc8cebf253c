//! Indices are never on the wrong side of the true root, and close to it, as checked in 106-bit
//! arithmetic.
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "counts are made from positive numbers"
)]

use crate::common::numbers::Numbers;
use crate::common::wide::{Wide, wide_cost, wide_phi, wide_relative_entropy};
use confidence::{
    Divergence, Exponential, Gaussian, KlUcbThreshold, MultiPositionThreshold, Poisson, bernoulli_kl,
    bernstein_radius, hoeffding_radius, kl_ucb_entropy, kl_ucb_lower, kl_ucb_lower_batch, kl_ucb_upper,
    kl_ucb_upper_batch, math, multi_position_entropy, multi_position_lower, multi_position_minimum,
    multi_position_upper, pbm_ucb_radius, rsf_ucb_radius, scaled_radius, ucb1_radius,
};

const CASES: usize = 20_000;

impl Numbers {
    /// `10^x` with `x` uniform.
    fn power_of_ten(&mut self, from: f64, to: f64) -> f64 {
        libm::pow(10.0, from + (to - from) * self.unit())
    }

    /// A probability: anywhere, or close to an edge.
    fn probability(&mut self) -> f64 {
        match self.bits() >> 62 {
            0 => self.power_of_ten(-12.0, 0.0),
            1 => 1.0 - self.power_of_ten(-12.0, 0.0),
            _ => self.unit(),
        }
    }
}

#[test]
fn kernels_are_as_accurate_as_documented() {
    let mut numbers = Numbers(0x00ac_c12a_7e00_0001);
    let (mut worst_ln, mut worst_entropy, mut worst_bernoulli) = (0.0_f64, 0.0_f64, 0.0_f64);
    for _ in 0..CASES {
        let x = if numbers.unit() < 0.5 { numbers.power_of_ten(-5.0, 5.0) } else { 0.5 + numbers.unit() };
        let exact = Wide::from(x).ln();
        let spacing = exact.to_f64().abs().next_up() - exact.to_f64().abs();
        worst_ln = worst_ln.max(Wide::from(math::ln(x)).minus(exact).to_f64().abs() / spacing);

        let p = numbers.power_of_ten(-3.0, 3.0);
        let q = if numbers.unit() < 0.5 {
            p * (1.0 + 0.5 * numbers.unit())
        } else {
            numbers.power_of_ten(-3.0, 3.0)
        };
        let exact = wide_relative_entropy(p, q);
        if exact.to_f64() > 1e-12 * p {
            let error = Wide::from(math::relative_entropy(p, q, q - p)).minus(exact).over(exact);
            worst_entropy = worst_entropy.max(error.to_f64().abs());
        }

        let (p, q) = (numbers.probability(), numbers.probability());
        let exact = wide_cost(p, 1.0, q);
        if exact.to_f64() > 1e-12 * p.min(1.0 - p) {
            let error = Wide::from(bernoulli_kl(p, q)).minus(exact).over(exact);
            worst_bernoulli = worst_bernoulli.max(error.to_f64().abs());
        }
    }
    println!(
        "ln: {worst_ln:.3} units; relative entropy: {worst_entropy:.2e}; Bernoulli: {worst_bernoulli:.2e}"
    );
    assert!(worst_ln < 1.0 && worst_entropy < 4e-15 && worst_bernoulli < 4e-15);
}

#[test]
fn kl_ucb_is_on_the_right_side_and_close() {
    let mut numbers = Numbers(0x1234_5678_9abc_def1);
    for _ in 0..CASES {
        let (p, n) = (numbers.probability(), numbers.power_of_ten(0.0, 9.0));
        let level = numbers.power_of_ten(-6.0, 2.0);
        let upper = kl_ucb_upper(p, n, level);
        let lower = kl_ucb_lower(p, n, level);
        let case = format!("p = {p:e}, n = {n}, level = {level}");
        if upper < 1.0 {
            assert!(wide_cost(p, n, upper).to_f64() >= level, "upper {upper} below the root, {case}");
        }
        let inside = upper - 2e-14 * (upper - p) - 4.0 * f64::EPSILON * upper;
        if inside > p {
            assert!(wide_cost(p, n, inside).to_f64() <= level, "upper {upper} too far out, {case}");
        }
        if lower > 0.0 {
            assert!(wide_cost(p, n, lower).to_f64() >= level, "lower {lower} above the root, {case}");
        }
        let inside = lower + 2e-14 * (p - lower) + 4.0 * f64::EPSILON * p;
        if inside < p {
            assert!(wide_cost(p, n, inside).to_f64() <= level, "lower {lower} too far out, {case}");
        }
    }
}

/// At the edges the index has a closed form, so only the roundings of `level / n`, of the
/// exponential and of the last step count.
#[test]
fn kl_ucb_of_an_item_at_an_edge_is_on_the_right_side_and_close() {
    let mut numbers = Numbers(0x0ed6_e5ed_6e50_0001);
    for _ in 0..CASES {
        let (n, level) = (numbers.power_of_ten(0.0, 9.0).round(), numbers.power_of_ten(-6.0, 2.7));
        let (upper, lower) = (kl_ucb_upper(0.0, n, level), kl_ucb_lower(1.0, n, level));
        let cost = |p, q| wide_cost(p, n, q).to_f64();
        // Beyond 37 nats per observation the upper index is the largest number below 1, or 1.
        if upper < 1.0 {
            assert!(cost(0.0, upper) >= level, "upper {upper}, n = {n}, level = {level}");
        }
        assert!(
            cost(0.0, upper * (1.0 - 8.0 * f64::EPSILON)) <= level,
            "upper {upper}, n = {n}, level = {level}"
        );
        if lower > 0.0 {
            assert!(cost(1.0, lower) >= level, "lower {lower}, n = {n}, level = {level}");
            let inside = lower * (1.0 + 4.0 * f64::EPSILON * (2.0 + level / n));
            assert!(cost(1.0, inside.min(1.0)) <= level, "lower {lower}, n = {n}, level = {level}");
        }
    }
}

/// A level above zero leaves room on both sides of every mean, however small the level, or the
/// level of one observation.
#[test]
fn levels_that_underflow_leave_room() {
    let levels = [5e-324, 1e-320, f64::MIN_POSITIVE, 1e-300, 1e-250, 1e-200, 1e-100, 1e-40];
    for level in levels {
        for n in [1_u64, 3, 10, 1_000_000_007] {
            let count = n as f64;
            for p in
                [0.0, 5e-324, 1e-310, 1e-200, 1e-12, 0.3, 0.5, 1.0 - 1e-12, 1.0 - f64::EPSILON / 2.0, 1.0]
            {
                let case = format!("p = {p:e}, n = {n}, level = {level:e}");
                let (upper, lower) = (kl_ucb_upper(p, count, level), kl_ucb_lower(p, count, level));
                assert!(upper > p || p == 1.0 && upper == 1.0, "{upper:e}, {case}");
                assert!(lower < p || p == 0.0 && lower == 0.0, "{lower:e}, {case}");
                let narrow = Gaussian::with_variance(1e-20).unwrap();
                let inside = p > 0.0 && p < 1.0;
                let bounds =
                    |family: &dyn Divergence| [family.upper(p, count, level), family.lower(p, count, level)];
                for [upper, lower] in [bounds(&narrow), bounds(&Poisson), bounds(&Exponential)] {
                    assert!(!inside || upper > p && lower < p, "{lower:e} to {upper:e}, {case}");
                }
                let (mut many, mut few) = ([f64::NAN; 8], [f64::NAN; 8]);
                kl_ucb_upper_batch(&[p; 8], &[count; 8], level, &mut many);
                kl_ucb_lower_batch(&[p; 8], &[count; 8], level, &mut few);
                assert!(many == [upper; 8] && few == [lower; 8], "{case}");
            }
            for clicks in [0, 1, n / 3, n - 1, n].into_iter().filter(|clicks| *clicks <= n) {
                for kappa in [1.0, 0.4] {
                    let case = format!("{clicks} of {n} at {kappa}, level = {level:e}");
                    let item = (&[clicks, clicks], &[n, n], &[kappa, kappa]);
                    let theta = multi_position_minimum(item.0, item.1, item.2).unwrap().theta;
                    let upper = multi_position_upper(item.0, item.1, item.2, level);
                    let lower = multi_position_lower(item.0, item.1, item.2, level);
                    assert!(upper > theta || theta == 1.0 && upper == 1.0, "{upper:e}, {case}");
                    assert!(lower < theta || theta == 0.0 && lower == 0.0, "{lower:e}, {case}");
                }
            }
            for radius in [
                hoeffding_radius(count, level),
                ucb1_radius(count, level),
                rsf_ucb_radius(count, level),
                scaled_radius(count, level, 0.51),
                bernstein_radius(count, 0.25, level),
                pbm_ucb_radius(count, 0.5 * count, level),
            ] {
                // At least the smallest of these radii, the square root of level / (2 n).
                let least = 0.999 * level.sqrt() * (0.5 / count).sqrt();
                assert!(radius >= least, "{radius:e}, n = {n}, level = {level:e}");
            }
        }
    }
}

/// An item with random counts: (clicks, shows, examination).
fn item(numbers: &mut Numbers) -> (Vec<u64>, Vec<u64>, Vec<f64>) {
    let positions = 1 + (numbers.bits() % 12) as usize;
    let attraction = numbers.probability();
    let largest = numbers.power_of_ten(0.0, 5.0);
    let (mut clicks, mut shows, mut examination) = (vec![], vec![], vec![]);
    for _ in 0..positions {
        let kappa = if numbers.unit() < 0.2 { 1.0 } else { numbers.unit() };
        let n = if numbers.unit() < 0.3 { 0 } else { (largest * numbers.unit()) as u64 };
        // Noise on the mean, so that the data of the positions conflict a little.
        let mean = (kappa * attraction * n as f64 + (n as f64).sqrt() * (numbers.unit() - 0.5)).max(0.0);
        clicks.push((mean.round() as u64).min(n));
        shows.push(n);
        examination.push(kappa);
    }
    (clicks, shows, examination)
}

#[test]
fn multi_position_is_on_the_right_side_and_close() {
    let mut numbers = Numbers(0x0ddb_a11c_0ffe_e001);
    let mut solved = 0;
    for _ in 0..CASES {
        let (clicks, shows, examination) = item(&mut numbers);
        let level = numbers.power_of_ten(-3.0, 2.0);
        let Some(minimum) = multi_position_minimum(&clicks, &shows, &examination) else { continue };
        let upper = multi_position_upper(&clicks, &shows, &examination, level);
        let lower = multi_position_lower(&clicks, &shows, &examination, level);
        let case = format!("{clicks:?} {shows:?} {examination:?} {level}");
        let cost = |q| wide_phi(&clicks, &shows, &examination, q).to_f64();
        if minimum.divergence > level {
            assert!((upper - minimum.theta).abs() < 1e-12 && (lower - minimum.theta).abs() < 1e-12, "{case}");
            continue;
        }
        // If the level is only just reached, the root is as ill-conditioned as a square root at 0:
        // check the side, not the distance.
        let close = level - minimum.divergence > 1e-3 * level;
        solved += i32::from(close);
        if upper < 1.0 {
            assert!(cost(upper) >= level, "upper {upper}, {case}");
        }
        let inside = upper - 1e-12 * upper;
        if inside > minimum.theta && close {
            assert!(cost(inside) <= level, "upper {upper} too far out, {case}");
        }
        if lower > 0.0 {
            assert!(cost(lower) >= level, "lower {lower}, {case}");
        }
        let inside = lower + 1e-12 * minimum.theta;
        if inside < minimum.theta && close {
            assert!(cost(inside) <= level, "lower {lower} too far out, {case}");
        }
    }
    assert!(solved > 5_000, "only {solved} cases of interest");
}

#[test]
fn batched_indices_are_the_scalar_ones_bit_for_bit() {
    let mut numbers = Numbers(0x5eed_0f0d_d1ce_0001);
    for arms in (0..200).chain([10_000]) {
        let level = numbers.power_of_ten(-3.0, 2.0);
        let means: Vec<f64> =
            (0..arms).map(|_| if numbers.unit() < 0.1 { 0.0 } else { numbers.probability() }).collect();
        let n: Vec<f64> = (0..arms).map(|_| numbers.power_of_ten(-0.3, 6.0).floor()).collect();
        let (mut upper, mut lower) = (vec![f64::NAN; arms], vec![f64::NAN; arms]);
        kl_ucb_upper_batch(&means, &n, level, &mut upper);
        kl_ucb_lower_batch(&means, &n, level, &mut lower);
        for arm in 0..arms {
            assert_eq!(upper[arm].to_bits(), kl_ucb_upper(means[arm], n[arm], level).to_bits());
            assert_eq!(lower[arm].to_bits(), kl_ucb_lower(means[arm], n[arm], level).to_bits());
        }
    }
    // Lanes that are out of range do not disturb their neighbours.
    let means = [f64::NAN, -1.0, 2.0, 0.3, 1e-320, f64::INFINITY, 0.5, 0.5, 1.0];
    let n = [1.0, 2.0, 3.0, f64::NAN, 5.0, 6.0, -1.0, f64::INFINITY, 9.0];
    for level in [f64::NAN, -1.0, 0.0, 1.0, 1e300, f64::INFINITY] {
        let mut upper = [f64::NAN; 9];
        kl_ucb_upper_batch(&means, &n, level, &mut upper);
        assert_eq!(upper, core::array::from_fn(|arm| kl_ucb_upper(means[arm], n[arm], level)));
    }
}

#[test]
fn inverted_test_agrees_with_the_computed_index() {
    let mut numbers = Numbers(0xfeed_5eed_0bad_cafe);
    let mut undecided = 0;
    for _ in 0..CASES {
        let n = numbers.power_of_ten(0.0, 6.0).round();
        let clicks = (n * numbers.probability()).round();
        let level = numbers.power_of_ten(-2.0, 2.0);
        let upper = kl_ucb_upper(clicks / n, n, level);
        let entropy = kl_ucb_entropy(clicks, n - clicks);
        // Thresholds anywhere, at the index itself, and one rounding away from it.
        let at = [
            numbers.unit(),
            upper,
            upper * (1.0 + f64::EPSILON),
            upper * (1.0 - f64::EPSILON),
            clicks / n,
            1.0,
        ];
        for (i, q) in at.into_iter().enumerate() {
            let threshold = KlUcbThreshold::new(q);
            let excluded = threshold.excludes(entropy, clicks, n - clicks, level);
            let included = threshold.includes(entropy, clicks, n - clicks, level);
            assert!(!excluded || upper < q, "excluded, but {upper} >= {q}: {clicks} of {n} at {level}");
            assert!(!included || upper >= q, "included, but {upper} < {q}: {clicks} of {n} at {level}");
            undecided += i32::from(i == 0 && !excluded && !included);
        }
    }
    assert!(undecided <= 2, "{undecided} random thresholds undecided");
}

#[test]
fn scans_find_what_the_single_test_does_not_exclude() {
    let mut numbers = Numbers(0x0005_ca11_ab1e_0001);
    let (mut exact_finds, mut rough_finds) = (0, 0);
    for arms in (0..60).chain([2000; 20]) {
        let (mut clicks, mut failures, mut entropies) = (vec![], vec![], vec![]);
        for _ in 0..arms {
            let n = numbers.power_of_ten(0.0, 7.0).floor();
            clicks.push((n * numbers.probability()).round());
            failures.push(n - clicks.last().unwrap());
            entropies.push(kl_ucb_entropy(clicks[clicks.len() - 1], failures[failures.len() - 1]));
        }
        let level = numbers.power_of_ten(-3.0, 2.0);
        let small = |numbers: &[f64]| -> Vec<f32> { numbers.iter().map(|&x| x as f32).collect() };
        for q in [numbers.probability(), numbers.unit(), 0.0, 1.0, 2.0, 1e-40, 1e-300, f64::NAN] {
            let threshold = KlUcbThreshold::new(q);
            let mut rough = vec![];
            threshold.rough_candidates(
                &small(&entropies),
                &small(&clicks),
                &small(&failures),
                level,
                |arm| rough.push(arm),
            );
            let exact: Vec<usize> = (0..arms)
                .filter(|&i| !threshold.excludes(entropies[i], clicks[i], failures[i], level))
                .collect();
            assert!(exact.iter().all(|arm| rough.binary_search(arm).is_ok()), "{q} {level}");
            exact_finds += exact.len();
            rough_finds += rough.len();
        }
    }
    assert!(rough_finds - exact_finds < exact_finds / 100, "{rough_finds} instead of {exact_finds}");
}

#[test]
fn inverted_multi_position_test_agrees_with_the_computed_index() {
    let mut numbers = Numbers(0xabad_1dea_5ca1_ab1e);
    let mut undecided = 0;
    for _ in 0..CASES {
        let (clicks, shows, examination) = item(&mut numbers);
        let level = numbers.power_of_ten(-2.0, 2.0);
        let upper = multi_position_upper(&clicks, &shows, &examination, level);
        let failures: Vec<f64> = clicks.iter().zip(&shows).map(|(s, n)| (n - s) as f64).collect();
        let entropy: f64 = (0..clicks.len())
            .map(|l| multi_position_entropy(clicks[l] as f64, failures[l], examination[l]))
            .sum();
        let total = clicks.iter().sum::<u64>() as f64;
        let mut threshold = MultiPositionThreshold::new(&examination).unwrap();
        let at = [
            numbers.unit(),
            upper,
            upper * (1.0 + f64::EPSILON),
            upper * (1.0 - f64::EPSILON),
            0.0,
            1.0,
            1.5,
        ];
        for (i, q) in at.into_iter().enumerate() {
            threshold.set(q);
            let excluded = threshold.excludes(entropy, total, &failures, level);
            let included = threshold.includes(entropy, total, &failures, level);
            let case = format!("{clicks:?} {shows:?} {examination:?} {level}");
            assert!(!excluded || upper < q, "excluded, but {upper} >= {q}: {case}");
            assert!(!included || upper >= q, "included, but {upper} < {q}: {case}");
            undecided += i32::from(i == 0 && !excluded && !included);
        }
    }
    assert!(undecided <= 2, "{undecided} random thresholds undecided");
}
