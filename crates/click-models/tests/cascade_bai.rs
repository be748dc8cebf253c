//! The theory of `CascadeBAI`: reference values, and property tests of its theorems on the observations of a step.

use crate::support::{assert_close, cases, number, numbers};
use click_models::bounds::{self, CascadeBaiUpperTerms};
use quickcheck::quickcheck;

fn whole(value: &serde_json::Value) -> usize {
    usize::try_from(value.as_u64().unwrap()).unwrap()
}

#[test]
fn observations_of_a_step_match_the_reference_values() {
    for case in cases("cascade_mu.json") {
        let (input, output) = (&case["inputs"], &case["output"]);
        let (weights, k) = (numbers(&input["w"]), whole(&input["k"]));
        let fewest = bounds::cascade_fewest_observations(&weights, k);
        assert_close(fewest, number(&output["mu_k"]), 1e-12, "mu_k");
        let most = bounds::cascade_most_observations(&weights, k);
        assert_close(most, number(&output["mu_tilde_k"]), 1e-12, "mu~_k");
        let deviation = bounds::cascade_observations_deviation(&weights, k);
        assert_close(deviation, number(&output["v_k"]), 1e-12, "v_k");
        assert_close(deviation * deviation, number(&output["v_k_squared"]), 1e-12, "v_k^2");
    }
}

#[test]
fn observations_of_an_item_match_the_reference_values() {
    for case in cases("tbar.json") {
        let (input, output) = (&case["inputs"], &case["output"]);
        let (gap, delta, n_items) =
            (number(&input["delta_bar"]), number(&input["delta"]), whole(&input["L"]));
        assert_eq!(bounds::cascade_bai_observations(gap, delta, n_items), number(&output["T_bar"]));
        let corrected = bounds::cascade_bai_observations_corrected(gap, delta, n_items);
        assert_eq!(corrected, number(&output["T_bar_with_256"]));
    }
}

#[test]
fn terms_of_theorem_4_1_match_the_reference_values() {
    for case in cases("cascade_bai_upper_terms.json") {
        let (input, output) = (&case["inputs"], &case["output"]);
        let (weights, k) = (numbers(&input["w_sorted"]), whole(&input["K"]));
        let (epsilon, delta) = (number(&input["eps"]), number(&input["delta"]));
        let terms = bounds::cascade_bai_upper_terms(&weights, k, epsilon, delta).unwrap();
        let CascadeBaiUpperTerms { gaps, observations, fewest, k1, k2, n1, n2, n3, n3_rearranged } = terms;
        assert_eq!(gaps.n_acceptable, whole(&output["K_prime"]));
        assert_eq!([k1, k2], [whole(&output["K1"]), whole(&output["K2"])]);
        for (key, found, relative) in [
            // A difference of nearly equal numbers.
            ("delta_bar", &gaps.tolerant, 1e-9),
            ("T_bar_sigma", &observations, 0.0),
            ("mu", &fewest, 1e-12),
        ] {
            let wanted = numbers(&output[key]);
            assert_eq!(found.len(), wanted.len());
            for (&found, wanted) in found.iter().zip(wanted) {
                assert_close(found, wanted, relative, key);
            }
        }
        for (key, found) in [("N1", n1), ("N2", n2), ("N3_eq_4_1", n3), ("N3_eq_4_2", n3_rearranged)] {
            assert_close(found, number(&output[key]), 1e-12, key);
        }
        if epsilon == 0.0 {
            // The difference between the paper's two forms of N3.
            let difference = k as f64 / fewest[k - 1] * observations[weights.len() - k];
            assert!((n3_rearranged - n3 - difference).abs() <= 1e-9 * (n3 + difference));
        }
    }
}

#[test]
fn theorem_4_8_matches_the_reference_values() {
    for case in cases("cascade_bai_lower_bound.json") {
        let (input, output) = (&case["inputs"], &case["output"]);
        let (mut weights, k) = (numbers(&input["w_sorted"]), whole(&input["K"]));
        let delta = number(&input["delta"]);
        let most = bounds::cascade_most_observations(&weights, k);
        assert_close(most, number(&output["mu_tilde_K"]), 1e-12, "mu~_K");
        let bound = bounds::cascade_bai_lower_bound(&weights, k, delta);
        assert_close(bound, number(&output["theorem_4_8"]), 1e-12, "Theorem 4.8");
        let unrounded = bounds::cascade_bai_lower_bound_unrounded(&weights, k, delta);
        assert_close(unrounded, number(&output["with_kl_1_minus_delta"]), 1e-12, "with d(1 - delta, delta)");
        weights.reverse();
        assert_eq!(bounds::cascade_bai_lower_bound(&weights, k, delta), bound);
        // Corollary 4.9 where it applies.
        let (worst, best) = (weights[0], weights[weights.len() - 1]);
        let n_best = weights.iter().filter(|&&weight| weight == best).count();
        if n_best == k && weights.iter().all(|&weight| weight == best || weight == worst) {
            let two = bounds::cascade_bai_two_level_lower_bound(best, worst, weights.len(), k, delta);
            assert!(two <= unrounded * (1.0 + 1e-12));
            if weights.len() >= 2 * k {
                assert_close(two, unrounded, 1e-12, "Corollary 4.9");
            }
        }
    }
}

#[test]
fn odd_input_gives_the_documented_values() {
    let nan = |value: f64| assert!(value.is_nan(), "{value}");
    for weights in [&[][..], &[1.5, 0.5], &[f64::NAN, 0.5]] {
        nan(bounds::cascade_bai_lower_bound(weights, 1, 0.1));
        nan(bounds::cascade_fewest_observations(weights, 1));
        assert_eq!(bounds::cascade_bai_gaps(weights, 1, 0.0), None);
        assert_eq!(bounds::cascade_bai_upper_terms(weights, 1, 0.0, 0.1), None);
    }
    let weights = [0.5, 0.4, 0.1];
    for n_positions in [0, 4] {
        nan(bounds::cascade_bai_lower_bound(&weights, n_positions, 0.1));
        nan(bounds::cascade_most_observations(&weights, n_positions));
        nan(bounds::cascade_observations_deviation(&weights, n_positions));
        assert_eq!(bounds::cascade_bai_tolerant_upper_terms(&weights, n_positions, 0.0, 0.1), None);
    }
    for delta in [0.0, 1.0, -0.1, f64::NAN] {
        nan(bounds::cascade_bai_lower_bound(&weights, 1, delta));
        nan(bounds::cascade_bai_lower_bound_unrounded(&weights, 1, delta));
        nan(bounds::cascade_bai_observations(0.1, delta, 3));
        nan(bounds::cascade_bai_n1_bound(0.5, 0.1, 1, delta));
        nan(bounds::cascade_bai_two_level_upper_bound(0.5, 0.1, 3, 1, delta));
        nan(bounds::cascade_bai_two_level_lower_bound(0.5, 0.1, 3, 1, delta));
        assert_eq!(bounds::cascade_bai_upper_terms(&weights, 2, 0.0, delta), None);
    }
    for (best, worst) in [(0.5, 0.5), (0.5, 0.0), (1.5, 0.5), (0.1, 0.5), (f64::NAN, 0.1)] {
        nan(bounds::cascade_bai_n1_bound(best, worst, 1, 0.1));
        nan(bounds::cascade_bai_two_level_upper_bound(best, worst, 3, 1, 0.1));
        assert_eq!(bounds::cascade_bai_two_level_rates(best, worst, 3, 1), None);
    }
    assert_eq!(bounds::cascade_bai_gaps(&weights, 1, -0.1), None);
    // All items to be found; items that cannot be distinguished; a delta above 1 / 2.4.
    assert_eq!(bounds::cascade_bai_lower_bound(&weights, 3, 0.1), 0.0);
    assert_eq!(bounds::cascade_bai_gaps(&weights, 3, 0.0), None);
    assert_eq!(bounds::cascade_bai_lower_bound(&[0.5, 0.5, 0.1], 1, 0.1), f64::INFINITY);
    assert_eq!(bounds::cascade_bai_upper_terms(&[0.5, 0.5, 0.5, 0.1], 2, 0.0, 0.1), None);
    assert_eq!(bounds::cascade_bai_lower_bound(&weights, 1, 0.5), 0.0);
    // One observation distinguishes certain clicks from certain misses.
    assert_eq!(bounds::cascade_bai_lower_bound(&[1.0, 0.0], 1, 0.1), 0.0);
    // Either theorem applies, never both.
    for epsilon in [0.0, 0.15, 0.5] {
        let terms = bounds::cascade_bai_upper_terms(&weights, 2, epsilon, 0.1);
        let tolerant = bounds::cascade_bai_tolerant_upper_terms(&weights, 2, epsilon, 0.1);
        assert!(terms.is_some() != tolerant.is_some());
    }
}

/// Up to eight weights from bytes, the ends included.
fn weights_of(bytes: &[u8]) -> Vec<f64> {
    bytes.iter().take(8).map(|&byte| f64::from(byte) / 255.0).collect()
}

/// The distribution of the number of observed items of a list: its probability for 1, 2, ..
fn distribution(list: &[f64]) -> Vec<f64> {
    let mut goes_on = 1.0;
    let mut shares = vec![];
    for (place, &weight) in list.iter().enumerate() {
        let is_last = place + 1 == list.len();
        shares.push(if is_last { goes_on } else { goes_on * weight });
        goes_on *= 1.0 - weight;
    }
    shares
}

fn moment(values: &[f64], shares: &[f64], of: impl Fn(f64) -> f64) -> f64 {
    values.iter().zip(shares).map(|(&value, &share)| share * of(value)).sum()
}

/// Whether `ln E exp(lambda (X - E X)) <= v^2 lambda^2 / 2` for many `lambda <= 0`, with room for rounding.
fn is_left_sided_sub_gaussian(values: &[f64], shares: &[f64], v: f64) -> bool {
    let mean = moment(values, shares, |value| value);
    let possible = values.iter().zip(shares).filter(|&(_, &share)| share > 0.0);
    let least = possible.map(|(&value, _)| value).fold(f64::INFINITY, f64::min);
    (0..60).all(|step| {
        let lambda = -libm::exp2(f64::from(step) / 2.0 - 20.0);
        let left = moment(values, shares, |value| libm::exp(lambda * (value - least).max(0.0)));
        let log = lambda * (least - mean) + confidence::math::ln(left);
        log <= v * v * lambda * lambda / 2.0 + 1e-13 * (1.0 - lambda * mean)
    })
}

quickcheck! {
    /// Theorem 5.1 (i): best first gives the fewest observations, worst first the most.
    fn order_bounds_the_observations(bytes: Vec<u8>, swaps: Vec<(u8, u8)>) -> bool {
        let mut list = weights_of(&bytes);
        if list.is_empty() {
            return true;
        }
        for (a, b) in swaps {
            let n = list.len();
            list.swap(usize::from(a) % n, usize::from(b) % n);
        }
        let shown = bounds::expected_observations(&list);
        list.sort_unstable_by(|a, b| b.total_cmp(a));
        let decreasing = bounds::expected_observations(&list);
        list.reverse();
        let increasing = bounds::expected_observations(&list);
        decreasing <= shown * (1.0 + 1e-14) && shown <= increasing * (1.0 + 1e-14)
    }

    /// Theorem 5.1 (ii): more attractive items give fewer observations.
    fn weight_lowers_the_observations(pairs: Vec<(u8, u8)>) -> bool {
        let of = |pick: fn(&(u8, u8)) -> u8| weights_of(&pairs.iter().map(pick).collect::<Vec<u8>>());
        let (low, high) = (of(|&(a, b)| a.min(b)), of(|&(a, b)| a.max(b)));
        bounds::expected_observations(&low) >= bounds::expected_observations(&high)
    }

    /// Lemmas 5.2 and 5.5, and Theorem 5.4 for the number of observations.
    fn observations_satisfy_lemmas_5_2_and_5_5(bytes: Vec<u8>, k: u8) -> bool {
        let weights = weights_of(&bytes);
        if weights.is_empty() {
            return true;
        }
        let k = usize::from(k) % weights.len() + 1;
        let (best, worst) = (weights.iter().copied().fold(0.0, f64::max), weights.iter().copied().fold(1.0, f64::min));
        let list = &weights[..k];
        let shares = distribution(list);
        let values: Vec<f64> = (1..=k).map(|value| value as f64).collect();
        let mean = moment(&values, &shares, |value| value);
        let chain = [
            (k as f64 / 2.0).min(1.0 / (2.0 * best)),
            bounds::cascade_fewest_observations(&weights, k),
            bounds::expected_observations(list),
            bounds::cascade_most_observations(&weights, k),
            (k as f64).min(1.0 / worst),
        ];
        let deviation = bounds::cascade_observations_deviation(&weights, k);
        (mean / chain[2] - 1.0).abs() < 1e-12
            && chain.windows(2).all(|pair| pair[0] <= pair[1] * (1.0 + 1e-12))
            && moment(&values, &shares, |value| value * value) <= deviation * deviation * (1.0 + 1e-12)
            && is_left_sided_sub_gaussian(&values, &shares, deviation)
    }

    /// Theorem 5.4: a bounded variable that is not negative is left-sided sub-Gaussian with the root of its second moment.
    fn second_moments_make_left_sided_sub_gaussians(outcomes: Vec<(u16, u16)>) -> bool {
        let total: f64 = outcomes.iter().map(|&(_, weight)| f64::from(weight)).sum();
        if total == 0.0 {
            return true;
        }
        let values: Vec<f64> = outcomes.iter().map(|&(value, _)| f64::from(value) / 100.0).collect();
        let shares: Vec<f64> = outcomes.iter().map(|&(_, weight)| f64::from(weight) / total).collect();
        let second = moment(&values, &shares, |value| value * value);
        is_left_sided_sub_gaussian(&values, &shares, second.sqrt())
    }

    /// Proposition 4.2 bounds the first term for two weights and no tolerance.
    fn proposition_4_2(best: u8, worst: u8, k: u8, others: u8) -> bool {
        let (best, worst) = (f64::from(best.max(worst)) / 255.0, f64::from(best.min(worst)) / 255.0);
        let (k, others) = (usize::from(k % 30) + 2, usize::from(others % 60) + 1);
        if worst == 0.0 || best == worst {
            return true;
        }
        let weights: Vec<f64> =
            std::iter::repeat_n(best, k).chain(std::iter::repeat_n(worst, others)).collect();
        let terms = bounds::cascade_bai_upper_terms(&weights, k, 0.0, 0.1).expect("a gap");
        terms.n1 <= bounds::cascade_bai_n1_bound(best, worst, k, 0.1) * (1.0 + 1e-12)
    }
}

/// The property tests fail for modified theorems that do not hold.
#[test]
fn wrong_theorems_are_noticed() {
    // Half of the second moment is too little.
    let (values, shares) = ([0.0, 1.0], [0.5, 0.5]);
    assert!(is_left_sided_sub_gaussian(&values, &shares, 0.5_f64.sqrt()));
    assert!(!is_left_sided_sub_gaussian(&values, &shares, 0.2));
    // With 216 the radius is not below a quarter of the gap; with 256 it is.
    let (gap, delta, n_items) = (0.05, 0.05, 10);
    let rho = (delta / (12.0 * n_items as f64)).sqrt();
    let quarter = |observations: u64| 4.0 * confidence::lil_radius(observations, rho) < gap;
    assert_eq!(bounds::cascade_bai_observations(gap, delta, n_items), 669_249.0);
    assert_eq!(bounds::cascade_bai_observations_corrected(gap, delta, n_items), 794_241.0);
    assert!(!quarter(669_249) && quarter(794_241));
}
