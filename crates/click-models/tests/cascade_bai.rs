//! The theory of `CascadeBAI`: reference values, and property tests of its theorems on the
//! observations of a step.

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

/// Computed from the paper's formulas with 50 digits.
#[test]
fn proposition_4_6_and_corollary_4_10_match_the_reference_values() {
    for case in cases("cascade_bai_two_levels.json") {
        let (input, output) = (&case["inputs"], &case["output"]);
        let (best, worst, delta) = (number(&input["best"]), number(&input["worst"]), number(&input["delta"]));
        let (n_items, k) = (whole(&input["L"]), whole(&input["K"]));
        let needed = bounds::cascade_bai_observations(best - worst, delta, n_items);
        assert_eq!(needed, number(&output["T_bar"]));
        let steps = bounds::cascade_bai_two_level_upper_bound(best, worst, n_items, k, delta);
        assert_close(steps, number(&output["proposition_4_6"]), 1e-13, "Proposition 4.6");
        let rates = bounds::cascade_bai_two_level_rates(best, worst, n_items, k);
        match &output["corollary_4_10"] {
            serde_json::Value::Null => assert_eq!(rates, None),
            wanted => {
                let (wanted, (lower, upper)) = (numbers(wanted), rates.unwrap());
                // A square of a difference.
                assert_close(lower, wanted[0], 1e-11, "Corollary 4.10, below");
                assert_close(upper, wanted[1], 1e-11, "Corollary 4.10, above");
            }
        }
    }
}

/// Computed from the paper's formulas with 50 digits.
#[test]
fn terms_of_proposition_c_1_match_the_reference_values() {
    for case in cases("cascade_bai_tolerant_terms.json") {
        let (input, output) = (&case["inputs"], &case["output"]);
        let (weights, k) = (numbers(&input["w_sorted"]), whole(&input["K"]));
        let (epsilon, delta) = (number(&input["eps"]), number(&input["delta"]));
        let gaps = bounds::cascade_bai_gaps(&weights, k, epsilon).unwrap();
        assert_eq!(gaps.n_acceptable, whole(&output["K_prime"]));
        let (n1, n2) = bounds::cascade_bai_tolerant_upper_terms(&weights, k, epsilon, delta).unwrap();
        assert_close(n1, number(&output["N1_prime"]), 1e-12, "N1'");
        assert_close(n2, number(&output["N2_prime"]), 1e-12, "N2'");
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

/// Returns whether `ln E exp(lambda (X - E X)) <= v^2 lambda^2 / 2` for many `lambda <= 0`, with
/// room for rounding.
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

    /// Theorem 5.4: a bounded variable that is not negative is left-sided sub-Gaussian with the
    /// root of its second moment.
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

// --- Corollary 4.3, Propositions 4.4 and 4.7
// ---------------------------------------------------------------------------

/// Weights, the largest at most `1 / K`, or the smallest at least 1/2, and the number K of items to
/// find, 2 to 7.
fn regime(bytes: &[u8], k: u8, is_rare: bool) -> Option<(Vec<f64>, usize)> {
    let k = usize::from(k % 6) + 2;
    let weight = |&byte: &u8| {
        let share = f64::from(byte) / 255.0;
        if is_rare { share / k as f64 } else { 0.5 + share / 2.0 }
    };
    (bytes.len() > k).then(|| (bytes.iter().map(weight).collect(), k))
}

/// `1/K sum over i <= L - K of value_i + value_(L - 1)` for rare clicks, `sum over i <= L - 1` for
/// frequent ones.
fn combined(values: &[f64], k: usize, is_rare: bool) -> f64 {
    let n = values.len();
    if is_rare {
        values[..n - k].iter().sum::<f64>() / k as f64 + values[n - 2]
    } else {
        values[..n - 1].iter().sum()
    }
}

/// `1 / gap^2 ln(L / delta ln(L / (delta gap^2)))`, the rate of Corollary 4.3.
fn rate(gap: f64, delta: f64, n_items: usize) -> f64 {
    let n = n_items as f64;
    libm::log(n / delta * libm::log(n / (delta * gap * gap))) / (gap * gap)
}

const RISKS: [f64; 5] = [0.999, 0.3, 0.05, 1e-6, 1e-100];

quickcheck! {
    /// Corollary 4.3 with a constant: in both regimes, the terms of Theorem 4.1 are at most 3 times
    /// the corollary's.
    fn corollary_4_3(bytes: Vec<u8>, k: u8, is_rare: bool) -> bool {
        let Some((weights, k)) = regime(&bytes, k, is_rare) else { return true };
        RISKS.iter().all(|&delta| {
            let Some(terms) = bounds::cascade_bai_upper_terms(&weights, k, 0.0, delta) else { return true };
            let stated = combined(&terms.observations, k, is_rare);
            terms.n1 + terms.n2 + terms.n3.max(terms.n3_rearranged) <= 3.0 * stated
        })
    }

    /// The second form of Corollary 4.3 with a constant: `T-bar` is at most 3,300 times its rate.
    fn observations_grow_as_corollary_4_3_states(gap: u16, n_items: u16) -> bool {
        let (gap, n_items) = ((f64::from(gap) + 1.0) / 65_536.0, usize::from(n_items) + 2);
        RISKS.iter().all(|&delta| bounds::cascade_bai_observations(gap, delta, n_items) <= 3300.0 * rate(gap, delta, n_items))
    }

    /// Proposition 4.4, the step that leads to the mean: for every risk up to 1/e, the steps that
    /// suffice with that probability are at most `A ln(1 / risk)`. Then the mean is at most
    /// `A ln(1 / delta) + A`, and at most twice the first term for `delta <= 1/e`.
    fn proposition_4_4_up_to_one_over_e(bytes: Vec<u8>, k: u8, is_rare: bool) -> bool {
        let Some((weights, k)) = regime(&bytes, k, is_rare) else { return true };
        [1.0 / std::f64::consts::E, 0.05, 1e-6, 1e-100].iter().all(|&risk| {
            let Some(terms) = bounds::cascade_bai_upper_terms(&weights, k, 0.0, risk) else { return true };
            let n = weights.len();
            let mut gaps = terms.gaps.plain.clone();
            gaps.sort_unstable_by(|a, b| b.total_cmp(a));
            let rates: Vec<f64> = gaps.iter().map(|&gap| rate(gap, 1.0, n)).collect();
            let factor = if is_rare { 21_220.0 } else { 21_260.0 };
            let sufficient = terms.n1 + k as f64 + 8.0 * combined(&terms.observations, k, is_rare);
            sufficient <= factor * combined(&rates, k, is_rare) * libm::log(1.0 / risk)
        })
    }
}

quickcheck! {
    /// The same step of Proposition 4.7: Proposition 4.6 at every risk up to 1/e.
    fn proposition_4_7_up_to_one_over_e(best: u16, worst: u16, k: u8, others: u8) -> bool {
        let (k, others) = (usize::from(k % 40) + 1, usize::from(others) + 1);
        let (best, worst) = (f64::from(best.max(worst)) / 65_535.0, f64::from(best.min(worst)) / 65_535.0);
        let (is_rare, n_items, gap) = (best * k as f64 <= 1.0, k + others, best - worst);
        if gap == 0.0 || worst == 0.0 || !(is_rare || worst >= 0.5 || best <= 2.0 * worst) {
            return true;
        }
        let factor = if is_rare { 10_576.0 / k as f64 } else { 10_624.0 * best };
        let per_nat = factor * n_items as f64 * rate(gap, 1.0, n_items);
        [1.0 / std::f64::consts::E, 0.05, 1e-6, 1e-100].iter().all(|&risk| {
            let steps = bounds::cascade_bai_two_level_upper_bound(best, worst, n_items, k, risk);
            steps <= per_nat * libm::log(1.0 / risk)
        })
    }
}

/// Proposition 4.7 (ii) allows every pair of weights with `best <= 2 worst`, also if both are far
/// below `1 / K`. Then a step has K observations, not `1 / best`, and the bound is too small by a
/// factor of about `best K`.
#[test]
fn proposition_4_7_is_false_for_close_weights_below_one_over_k() {
    let (best, worst, delta, n_items) = (2e-6, 1e-6, 0.1, 2);
    let gap: f64 = best - worst;
    let printed = 21_248.0 * best * n_items as f64 * rate(gap, 1.0, n_items) * libm::log(1.0 / delta);
    // With one observation a step. Neither item is decided while the means differ by less than both
    // radii; after that many observations, tens of millions of clicks, no mean is twice the weight.
    let rho = (delta / (12.0 * n_items as f64)).sqrt();
    let observations =
        (0..63).map(|power| 1_u64 << power).find(|&n| 2.0 * confidence::lil_radius(n, rho) < 2.0 * best);
    // Half of it is too little.
    let steps = n_items as f64 * observations.unwrap() as f64 / 2.0;
    assert!(steps > 10.0 * printed, "{steps} {printed}");
}

/// The largest possible difference of two means is 1, so no item is decided before its radius is
/// below 1. The propositions' bounds on the mean, with the constants of their proofs, fall below
/// that for `delta` near 1, as any constant times `ln(1 / delta)` does.
#[test]
fn propositions_4_4_and_4_7_are_false_for_a_risk_near_one() {
    let (delta, n_items, gap) = (1.0 - 1e-9, 2, 0.5);
    let rho = (delta / (12.0 * n_items as f64)).sqrt();
    let fewest = (1..1000).find(|&steps| confidence::lil_radius(steps, rho) < 1.0).unwrap();
    assert_eq!(fewest, 57);
    // Two items of weights 1 and 1/2, one to be found: case (ii) of both.
    let shape = rate(gap, 1.0, n_items);
    let proposition_4_4 = 42_520.0 * shape * libm::log(1.0 / delta);
    let proposition_4_7 = 21_248.0 * n_items as f64 * shape * libm::log(1.0 / delta);
    assert!(proposition_4_4 < 0.001 && proposition_4_7 < 0.001, "{proposition_4_4} {proposition_4_7}");
    // The inequality of D.5 between the observations and the rate: 1320 is too small here, with and
    // without the root in rho.
    let printed_rho = delta / (12.0 * n_items as f64);
    let without_root = 216.0 * libm::log(2.0 / printed_rho * libm::log2(648.0 / printed_rho));
    assert!(without_root > 1320.0 * rate(1.0, delta, n_items));
    assert!(bounds::cascade_bai_observations(1.0, delta, n_items) > 1320.0 * rate(1.0, delta, n_items));
}

// --- Lemma 5.6
// -------------------------------------------------------------------------------------------------

/// The largest probability, over all policies that choose each list by the past, that `n` lists of
/// `k` items have at most `limit` observations in all.
fn fewest_by_any_policy(weights: &[f64], k: usize, n: usize, limit: f64) -> f64 {
    let laws: Vec<Vec<f64>> = crate::support::all_lists(weights.len(), k)
        .iter()
        .map(|list| distribution(&list.iter().map(|item| weights[item.index()]).collect::<Vec<_>>()))
        .collect();
    let mut value: Vec<f64> = (0..=n * k).map(|sum| f64::from(sum as f64 <= limit)).collect();
    for round in (0..n).rev() {
        value = (0..=round * k)
            .map(|sum| {
                let after = |law: &Vec<f64>| {
                    law.iter().zip(&value[sum + 1..]).map(|(share, value)| share * value).sum::<f64>()
                };
                laws.iter().map(after).fold(0.0, f64::max)
            })
            .collect();
    }
    value[0]
}

/// The first part of Lemma 5.6: few observations are rare, for any policy.
#[test]
fn lemma_5_6_bounds_the_observations_of_any_policy() {
    let few = |weights: &[f64], k: usize, n: usize, delta: f64, factor: f64| {
        let mean = n as f64 * bounds::cascade_fewest_observations(weights, k);
        let v = factor * bounds::cascade_observations_deviation(weights, k);
        let limit = mean - (2.0 * n as f64 * v * v * libm::log(1.0 / delta)).sqrt();
        fewest_by_any_policy(weights, k, n, limit)
    };
    for weights in [&[0.9, 0.6, 0.5, 0.4][..], &[0.3, 0.2, 0.1, 0.05], &[0.5, 0.5, 0.5], &[1.0, 0.01, 0.01]] {
        for k in 1..=3 {
            for delta in [0.5, 0.1, 0.01] {
                let chance = few(weights, k, 25, delta, 1.0);
                assert!(chance <= delta * (1.0 + 1e-12), "{chance} above {delta} for {k} of {weights:?}");
            }
        }
    }
    // A fifth of the deviation is too little.
    assert!(few(&[0.5; 5], 5, 25, 0.1, 0.2) > 0.1);
}

quickcheck! {
    /// The second part of Lemma 5.6: more lists than stated have more observations than `T`.
    fn lemma_5_6_inverts(few: u16, mean: u8, deviation: u8, level: u8) -> bool {
        let (total, mean) = (f64::from(few) / 10.0, 1.0 + f64::from(mean) / 16.0);
        let (v, level) = (mean + f64::from(deviation) / 8.0, f64::from(level) / 10.0);
        let lists = 2.0 * total / mean + 2.0 * level * v * v / (mean * mean);
        lists * mean - (2.0 * lists * v * v * level).sqrt() >= total - 1e-9 * (1.0 + lists * mean)
    }

    /// Lemma D.2: if every mean is off by less than epsilon, so is the i-th largest of them from
    /// the i-th largest weight.
    fn lemma_d_2(pairs: Vec<(u8, i8)>) -> bool {
        let mut weights: Vec<f64> = pairs.iter().map(|&(weight, _)| f64::from(weight) / 255.0).collect();
        let mut means: Vec<f64> =
            weights.iter().zip(&pairs).map(|(weight, &(_, error))| weight + f64::from(error) / 1280.0).collect();
        let off = weights.iter().zip(&means).map(|(weight, mean)| (weight - mean).abs()).fold(0.0, f64::max);
        weights.sort_unstable_by(f64::total_cmp);
        means.sort_unstable_by(f64::total_cmp);
        weights.iter().zip(&means).all(|(weight, mean)| (weight - mean).abs() <= off)
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
