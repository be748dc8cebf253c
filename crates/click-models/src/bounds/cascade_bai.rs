//! Best arm identification under cascade feedback: the number of observations per step, an upper
//! bound on the steps of `CascadeBAI`, and a lower bound for any policy. A step is a round.
//!
//! A list of the `k` best items, best first, yields `mu_k` observations on average; a list of the
//! `k` worst items, worst first, yields `mu~_k`. Any other list is in between (Theorem 5.1). An
//! item is distinguished from the others after `T-bar` observations, a number that depends on its
//! gap. Together:
//!
//! ```text
//! ln(1 / (2.4 delta)) / mu~_K (sum over i <= K of 1 / d(w_i, w_K+1) + sum over j > K of 1 / d(w_j, w_K)) <= E steps of any policy
//! steps of CascadeBAI <= c1 N1 + c2 N2 + c3 N3 with probability 1 - delta
//! ```
//!
//! Reference: Zhong, Cheung, Tan, *Best arm identification for cascading bandits in the fixed
//! confidence setting*, ICML 2020, section 4 and appendices C and D. `docs/errata.md` has the
//! inconsistencies in the paper. Terms that use `T-bar` use the printed version; Theorem 4.8 is
//! vacuous above `delta = 1 / 2.4`, and the bound is 0 there.
//!
//! | here | paper | shape | unit |
//! |---|---|---|---|
//! | `weights` | `w` | `n_items` (L), any order | probability |
//! | `n_positions` | K | - | items of a list, and items to find |
//! | `n_acceptable` | `K'_epsilon` | - | items |
//! | `gaps` | `Delta-bar` | L, by decreasing weight | probability |
//! | `observations` | `T-bar_sigma` | L, by decreasing gap | observations of an item |
//! | `fewest`, `most` | `mu_k`, `mu~_k` | - | observations per step |
//! | `deviation` | `v_k` | - | observations per step |
//! | `n1`, `n2`, `n3` | `N_1`, `N_2`, `N_3` | - | steps, up to constants |
//!
//! Numerics: plain sums and products of non-negative numbers. `T-bar` is an integer stored as a
//! floating-point number, since it exceeds every integer type as gaps go to 0. Complexity: a sort,
//! then O(L + K^2) at most.

use super::Decreasing;
use confidence::math::ln;
use confidence::{ErrorProbability, bernoulli_kl};

/// The mean number of observed items if users scan a list from the top until they click:
/// `sum_i prod_(j<i) (1 - w_j)`.
///
/// The weights are in the order of the list. NaN if one of them is not a probability.
///
/// # Examples
///
/// ```
/// use click_models::bounds::expected_observations;
///
/// // The first is always observed, the second if the first is not clicked, and so on: 1 + .5 + .5 * .8.
/// assert!((expected_observations(&[0.5, 0.2, 0.9]) - 1.9).abs() < 1e-15);
/// assert!(expected_observations(&[0.2, 0.5, 0.9]) > 1.9);
/// ```
pub fn expected_observations(list: &[f64]) -> f64 {
    if Decreasing::new(list).is_none() {
        return f64::NAN;
    }
    observations_of(list.iter().copied())
}

fn observations_of(list: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut goes_on) = (0.0, 1.0);
    for weight in list {
        sum += goes_on;
        goes_on *= 1.0 - weight;
    }
    sum
}

/// `mu_k`: the smallest mean number of observations of a step on `k` of these items, attained by
/// the most attractive items, best first.
///
/// NaN for [malformed input](crate::bounds#odd-input).
///
/// # Examples
///
/// ```
/// use click_models::bounds::{cascade_fewest_observations, cascade_most_observations};
///
/// // 1 + (1 - .8) and 1 + (1 - .1).
/// assert!((cascade_fewest_observations(&[0.1, 0.5, 0.8], 2) - 1.2).abs() < 1e-15);
/// assert!((cascade_most_observations(&[0.1, 0.5, 0.8], 2) - 1.9).abs() < 1e-15);
/// ```
pub fn cascade_fewest_observations(weights: &[f64], k: usize) -> f64 {
    list_of(weights, k).map_or(f64::NAN, |weights| observations_of(weights.values.iter().take(k).copied()))
}

/// `mu~_k`: the largest mean number of observations of a step on `k` of these items, attained by
/// the least attractive items, worst first.
///
/// NaN for [malformed input](crate::bounds#odd-input).
pub fn cascade_most_observations(weights: &[f64], k: usize) -> f64 {
    list_of(weights, k)
        .map_or(f64::NAN, |weights| observations_of(weights.values.iter().rev().take(k).copied()))
}

/// `v_k = min(k, sqrt(2) / w')`, `w'` the smallest weight: the number of observations of a step on
/// `k` items is left-sided sub-Gaussian with this parameter, and its square bounds their second
/// moment (Theorem 5.4 and Lemma 5.5).
///
/// NaN for [malformed input](crate::bounds#odd-input).
///
/// # Examples
///
/// ```
/// use click_models::bounds::cascade_observations_deviation;
///
/// assert_eq!(cascade_observations_deviation(&[0.9, 0.5], 2), 2.0);
/// assert_eq!(cascade_observations_deviation(&[1.0, 1.0], 2), 2.0_f64.sqrt());
/// ```
pub fn cascade_observations_deviation(weights: &[f64], k: usize) -> f64 {
    list_of(weights, k).map_or(f64::NAN, |weights| deviation(&weights.values, k))
}

/// [`cascade_observations_deviation`] for weights in decreasing order.
fn deviation(weights: &[f64], k: usize) -> f64 {
    let worst = weights.last().copied().unwrap_or(0.0);
    (k as f64).min(std::f64::consts::SQRT_2 / worst)
}

/// The weights in decreasing order; `None` if there are fewer than `k`.
fn list_of(weights: &[f64], k: usize) -> Option<Decreasing> {
    Decreasing::new(weights).filter(|weights| (1..=weights.values.len()).contains(&k))
}

fn is_risk(delta: f64) -> bool {
    ErrorProbability::new(delta).is_ok()
}

/// `T-bar` as printed: after this number of observations of every item, an item with this gap is
/// accepted or rejected; with probability `1 - delta / 2` this is right for all items.
///
/// `1 + floor(216 / gap^2 ln(2 / rho log2(648 / (rho gap^2))))` with
/// `rho = sqrt(delta / (12 n_items))`. `+inf` for a gap of 0, NaN for a negative one, `delta`
/// outside 0 to 1, and without items.
///
/// # Examples
///
/// ```
/// use click_models::bounds::{cascade_bai_observations, cascade_bai_observations_corrected};
///
/// assert_eq!(cascade_bai_observations(0.05, 0.05, 10), 669_249.0);
/// assert_eq!(cascade_bai_observations_corrected(0.05, 0.05, 10), 794_241.0);
/// ```
pub fn cascade_bai_observations(gap: f64, delta: f64, n_items: usize) -> f64 {
    observations(gap, delta, n_items, 216.0)
}

/// [`cascade_bai_observations`] with the constants 256 and 768, which the proof requires.
pub fn cascade_bai_observations_corrected(gap: f64, delta: f64, n_items: usize) -> f64 {
    observations(gap, delta, n_items, 256.0)
}

fn observations(gap: f64, delta: f64, n_items: usize, constant: f64) -> f64 {
    if !is_risk(delta) || n_items == 0 || gap.is_nan() || gap < 0.0 {
        return f64::NAN;
    }
    let rho = (delta / (12.0 * n_items as f64)).sqrt();
    let squared = gap * gap;
    if squared == 0.0 {
        return f64::INFINITY;
    }
    let doublings = ln(3.0 * constant / (rho * squared)) * std::f64::consts::LOG2_E;
    1.0 + (constant / squared * ln(2.0 / rho * doublings)).floor()
}

/// The gaps of all items to acceptance or rejection.
#[derive(Debug, Clone, PartialEq)]
pub struct CascadeBaiGaps {
    /// `K'`: the number of items that are at most `epsilon` less attractive than the K-th.
    pub n_acceptable: usize,
    /// `Delta`: for the K best items the distance to the next one, for the others the distance to
    /// the K-th; by decreasing weight.
    pub plain: Vec<f64>,
    /// `Delta-bar`: the gaps with the tolerance, by decreasing weight.
    pub tolerant: Vec<f64>,
}

/// The gaps of section 4.1, by decreasing weight.
///
/// `None` for malformed input, a negative `epsilon`, and if all items are to be found, since there
/// is no next item then.
///
/// # Examples
///
/// ```
/// use click_models::bounds::cascade_bai_gaps;
///
/// let gaps = cascade_bai_gaps(&[0.75, 0.5, 0.25], 1, 0.25).expect("probabilities");
/// assert_eq!((gaps.n_acceptable, &gaps.plain[..]), (2, &[0.25, 0.25, 0.5][..]));
/// // .25 + .25, .25 - .25 + .25 and .5 - .25.
/// assert_eq!(gaps.tolerant, [0.5, 0.25, 0.25]);
/// ```
pub fn cascade_bai_gaps(weights: &[f64], n_positions: usize, epsilon: f64) -> Option<CascadeBaiGaps> {
    let weights = list_of(weights, n_positions)?.values;
    let (last, next) = (weights[n_positions - 1], *weights.get(n_positions)?);
    if epsilon.is_nan() || epsilon < 0.0 {
        return None;
    }
    let n_acceptable = weights.iter().filter(|&&weight| weight >= last - epsilon).count();
    let gap =
        |(place, &weight): (usize, &f64)| if place < n_positions { weight - next } else { last - weight };
    let plain: Vec<f64> = weights.iter().enumerate().map(gap).collect();
    let tolerant = |(place, &gap): (usize, &f64)| {
        if place < n_positions {
            gap + epsilon
        } else if place < n_acceptable {
            // The K-th item and the next one differ by `last - next`.
            (last - next) - gap + epsilon
        } else {
            gap - epsilon
        }
    };
    let tolerant = plain.iter().enumerate().map(tolerant).collect();
    Some(CascadeBaiGaps { n_acceptable, plain, tolerant })
}

/// The terms of Theorem 4.1's upper bound on the steps of `CascadeBAI`.
#[derive(Debug, Clone, PartialEq)]
pub struct CascadeBaiUpperTerms {
    /// `K'`, `Delta` and `Delta-bar`.
    pub gaps: CascadeBaiGaps,
    /// `T-bar_sigma` as printed: the number of observations that an item needs, by decreasing gap.
    pub observations: Vec<f64>,
    /// `mu_1` to `mu_K`.
    pub fewest: Vec<f64>,
    /// `K_1`: the paper bounds `k / mu_k` by 2 for lists up to this length.
    pub k1: usize,
    /// `K_2`, the number of items left at the end.
    pub k2: usize,
    /// `N_1`, the cost of the random number of observations per step.
    pub n1: f64,
    /// `N_2`, for all items except the K of smallest gap.
    pub n2: f64,
    /// `N_3` as in (4.1), for the K items of smallest gap.
    pub n3: f64,
    /// `N_3` as in (4.2), which the paper states to be equal.
    pub n3_rearranged: f64,
}

/// The terms of Theorem 4.1.
///
/// `None` if the theorem does not apply: malformed input, all items to be found, a gap of 0, and
/// `K' >= 2 K - 1`, which [`cascade_bai_tolerant_upper_terms`] covers.
///
/// # Examples
///
/// ```
/// use click_models::bounds::cascade_bai_upper_terms;
///
/// let terms = cascade_bai_upper_terms(&[0.9, 0.9, 0.1, 0.1], 2, 0.0, 0.1).expect("a gap");
/// // All items need equally many observations, so nothing remains to be done after two are eliminated.
/// assert_eq!((terms.n2 * 1.1, terms.n3), (2.0 * terms.observations[0], 0.0));
/// ```
pub fn cascade_bai_upper_terms(
    weights: &[f64],
    n_positions: usize,
    epsilon: f64,
    delta: f64,
) -> Option<CascadeBaiUpperTerms> {
    let (gaps, observations) = needed(weights, n_positions, epsilon, delta)?;
    let weights = list_of(weights, n_positions)?.values;
    let (n_items, k, acceptable) = (weights.len(), n_positions, gaps.n_acceptable);
    if acceptable >= 2 * k - 1 {
        return None;
    }
    let fewest: Vec<f64> =
        (1..=k).map(|length| observations_of(weights.iter().take(length).copied())).collect();
    let mu = |length: usize| fewest[length - 1];
    // `T-bar_sigma(i)`, counted from 1.
    let needs = |place: usize| observations[place - 1];
    // List length per expected observation; 0 for an empty list.
    let waste = |length: usize| if length == 0 { 0.0 } else { length as f64 / mu(length) };
    let below_one_over_best = (1..k).take_while(|&length| weights[0] * length as f64 <= 1.0).count();
    let (k1, k2) = ((acceptable - k).max(below_one_over_best), (acceptable - k).max(1));
    let ratio = |length: usize| {
        let root = deviation(&weights, length) / mu(length);
        root * root
    };
    let ratios: f64 = (1..=k - k2).map(|step| ratio(k - step + 1)).sum();
    let n1 = ratios * ln(ratios / delta);
    let n2 = (1..=n_items - k).map(needs).sum::<f64>() / mu(k);
    let n3 = (2..=2 * k - acceptable)
        .map(|step| waste(k - step + 1) * (needs(n_items - k + step) - needs(n_items - k + step - 1)))
        .sum();
    let n3_rearranged = (1..k - k1)
        .map(|step| (waste(k + 1 - step) - waste(k - step)) * needs(n_items - k + step))
        .sum::<f64>()
        + (waste(k1 + 1) - 2.0) * needs(n_items - k1)
        + 2.0 * needs(n_items - k2);
    Some(CascadeBaiUpperTerms { gaps, observations, fewest, k1, k2, n1, n2, n3, n3_rearranged })
}

/// The gaps, and the numbers of observations that they require, by decreasing gap; `None` if a gap
/// is 0.
fn needed(
    weights: &[f64],
    n_positions: usize,
    epsilon: f64,
    delta: f64,
) -> Option<(CascadeBaiGaps, Vec<f64>)> {
    let gaps = cascade_bai_gaps(weights, n_positions, epsilon)?;
    let mut observations: Vec<f64> =
        gaps.tolerant.iter().map(|&gap| cascade_bai_observations(gap, delta, weights.len())).collect();
    observations.sort_unstable_by(f64::total_cmp);
    observations.iter().all(|needed| needed.is_finite()).then_some((gaps, observations))
}

/// The terms `N_1'` and `N_2'` of Proposition C.1's upper bound on the steps of `CascadeBAI`, for a
/// tolerance so large that `K' >= 2 K - 1`.
///
/// `None` if the proposition does not apply, as for [`cascade_bai_upper_terms`].
///
/// # Examples
///
/// ```
/// use click_models::bounds::{cascade_bai_observations, cascade_bai_tolerant_upper_terms};
///
/// // K = K' = 1, mu_1 = v_1 = 1: 2 ln(2 / .1), and twice the observations of both items.
/// let (n1, n2) = cascade_bai_tolerant_upper_terms(&[0.75, 0.25], 1, 0.0, 0.1).expect("K' = 1");
/// assert!((n1 - 2.0 * 20.0_f64.ln()).abs() < 1e-14);
/// assert_eq!(n2, 4.0 * cascade_bai_observations(0.5, 0.1, 2));
/// ```
pub fn cascade_bai_tolerant_upper_terms(
    weights: &[f64],
    n_positions: usize,
    epsilon: f64,
    delta: f64,
) -> Option<(f64, f64)> {
    let (gaps, observations) = needed(weights, n_positions, epsilon, delta)?;
    let weights = list_of(weights, n_positions)?.values;
    let spare = gaps.n_acceptable - n_positions;
    if gaps.n_acceptable < 2 * n_positions - 1 {
        return None;
    }
    let fewest = observations_of(weights.iter().take(n_positions).copied());
    let root = deviation(&weights, n_positions) / fewest;
    // `L - K' + K`, counted from 1.
    let last = weights.len() - spare;
    let all = observations[..last - 1].iter().sum::<f64>()
        + (spare + 1) as f64 * observations[last - 1]
        + spare as f64;
    Some((2.0 * root * root * ln(2.0 / delta), 2.0 / fewest * all))
}

/// Proposition 4.2's upper bound on `N_1`, from the largest and the smallest weight alone.
///
/// `4 K ln(4 K / delta)` if the best weight is at most `1 / K`, otherwise
/// `8 K b^2 / w^2 ln(8 K b^2 / (delta w^2))` where `b` is the best and `w` the worst weight. NaN
/// unless `0 < worst < best <= 1`, `0 < delta < 1` and there is a position.
///
/// # Examples
///
/// ```
/// use click_models::bounds::cascade_bai_n1_bound;
///
/// assert!((cascade_bai_n1_bound(0.25, 0.125, 4, 0.1) - 16.0 * 160.0_f64.ln()).abs() < 1e-13);
/// assert!((cascade_bai_n1_bound(0.5, 0.25, 4, 0.1) - 128.0 * 1280.0_f64.ln()).abs() < 1e-12);
/// ```
pub fn cascade_bai_n1_bound(best: f64, worst: f64, n_positions: usize, delta: f64) -> f64 {
    if !are_levels(best, worst) || n_positions == 0 || !is_risk(delta) {
        return f64::NAN;
    }
    let k = n_positions as f64;
    let factor = if best * k <= 1.0 { 4.0 * k } else { 8.0 * k * (best / worst) * (best / worst) };
    factor * ln(factor / delta)
}

/// `0 < worst < best <= 1`, Assumption 4.5.
fn are_levels(best: f64, worst: f64) -> bool {
    0.0 < worst && worst < best && best <= 1.0
}

/// Upper bound, with probability `1 - delta`, on the steps of `CascadeBAI` if K items have the
/// weight `best` and all others `worst`: Proposition 4.6 with the constants of its proof (D.4) and
/// `T-bar` as printed.
///
/// `4 (L T - L + 1) / K + 8 ln(2 / delta)` if `best` is at most `1 / K`, otherwise
/// `4 best (L T - L + 1) + 16 (best / worst)^2 ln(2 / delta)`. NaN unless `0 < worst < best <= 1`,
/// `1 <= K < L` and `0 < delta < 1`.
///
/// # Examples
///
/// ```
/// use click_models::bounds::{cascade_bai_observations, cascade_bai_two_level_upper_bound};
///
/// let needed = cascade_bai_observations(0.25, 0.1, 10);
/// let bound = cascade_bai_two_level_upper_bound(0.5, 0.25, 10, 2, 0.1);
/// assert!((bound - 2.0 * (10.0 * needed - 9.0) - 8.0 * 20.0_f64.ln()).abs() < 1e-8);
/// ```
pub fn cascade_bai_two_level_upper_bound(
    best: f64,
    worst: f64,
    n_items: usize,
    n_positions: usize,
    delta: f64,
) -> f64 {
    if !are_levels(best, worst) || n_positions == 0 || n_positions >= n_items || !is_risk(delta) {
        return f64::NAN;
    }
    let (n, k) = (n_items as f64, n_positions as f64);
    let observed = n * cascade_bai_observations(best - worst, delta, n_items) - n + 1.0;
    let log = ln(2.0 / delta);
    if best * k <= 1.0 {
        4.0 * observed / k + 8.0 * log
    } else {
        4.0 * best * observed + 16.0 * (best / worst) * (best / worst) * log
    }
}

/// Lower bound on the mean number of steps of any policy that is right with probability
/// `1 - delta`: Theorem 4.8, for `epsilon = 0`.
///
/// 0 if all items are to be found, and for `delta >= 1 / 2.4`; `+inf` if the K-th and the next item
/// are equally attractive; NaN for [malformed input](crate::bounds#odd-input) and `delta` not
/// strictly between 0 and 1.
///
/// # Examples
///
/// ```
/// use click_models::bounds::cascade_bai_lower_bound;
///
/// // d(.75, .25) = .5 ln 3, one observation a step: ln(1 / .24) (2 / ln 3 + 2 / ln 3).
/// let bound = cascade_bai_lower_bound(&[0.25, 0.75], 1, 0.1);
/// assert!((bound - (1.0 / 0.24_f64).ln() * 4.0 / 3.0_f64.ln()).abs() < 1e-14);
/// ```
pub fn cascade_bai_lower_bound(weights: &[f64], n_positions: usize, delta: f64) -> f64 {
    if !is_risk(delta) {
        return f64::NAN;
    }
    steps_at_least(weights, n_positions, -ln(2.4 * delta))
}

/// [`cascade_bai_lower_bound`] with `d(1 - delta, delta)` instead of the smaller
/// `ln(1 / (2.4 delta))`: the bound before the last step of the proof rounds down.
pub fn cascade_bai_lower_bound_unrounded(weights: &[f64], n_positions: usize, delta: f64) -> f64 {
    if !is_risk(delta) {
        return f64::NAN;
    }
    steps_at_least(weights, n_positions, bernoulli_kl(1.0 - delta, delta))
}

/// The number of observations that yield these nats for every item, divided by the largest mean
/// number of observations per step.
fn steps_at_least(weights: &[f64], n_positions: usize, nats: f64) -> f64 {
    let Some(weights) = list_of(weights, n_positions).map(|weights| weights.values) else { return f64::NAN };
    let (top, rest) = weights.split_at(n_positions);
    let (Some(&last), Some(&next)) = (top.last(), rest.first()) else { return 0.0 };
    if nats <= 0.0 {
        return 0.0;
    }
    let needed = top.iter().map(|&weight| 1.0 / bernoulli_kl(weight, next)).sum::<f64>()
        + rest.iter().map(|&weight| 1.0 / bernoulli_kl(weight, last)).sum::<f64>();
    nats / observations_of(weights.iter().rev().take(n_positions).copied()) * needed
}

/// Corollary 4.9: the lower bound with `d(1 - delta, delta)` if K items have the weight `best` and
/// all others `worst`.
///
/// `mu~_K` is `(1 - (1 - worst)^K) / worst` even if there are fewer than K items of the weight
/// `worst`; then [`cascade_bai_lower_bound_unrounded`] is larger. NaN unless
/// `0 < worst < best <= 1`, `1 <= K < L` and `0 < delta < 1`.
///
/// # Examples
///
/// ```
/// use click_models::bounds::cascade_bai_two_level_lower_bound;
///
/// // d(.9, .1) = .8 ln 9; 1 + .75 observations a step at most; d(.75, .25) = d(.25, .75) = .5 ln 3.
/// let bound = cascade_bai_two_level_lower_bound(0.75, 0.25, 4, 2, 0.1);
/// assert!((bound - 0.8 * 9.0_f64.ln() / 1.75 * 4.0 / (0.5 * 3.0_f64.ln())).abs() < 1e-13);
/// ```
pub fn cascade_bai_two_level_lower_bound(
    best: f64,
    worst: f64,
    n_items: usize,
    n_positions: usize,
    delta: f64,
) -> f64 {
    if !are_levels(best, worst) || n_positions == 0 || n_positions >= n_items || !is_risk(delta) {
        return f64::NAN;
    }
    let most = observations_of(std::iter::repeat_n(worst, n_positions));
    let of_each = n_positions as f64 / bernoulli_kl(best, worst)
        + (n_items - n_positions) as f64 / bernoulli_kl(worst, best);
    bernoulli_kl(1.0 - delta, delta) / most * of_each
}

/// Corollary 4.10: growth rates of the lower bound and of the steps of `CascadeBAI`, without
/// constants and logarithms, if K items have the weight `best` and all others `worst`.
///
/// The lower and the upper rate: `L w^2 / gap^2` and `L / (K gap^2)` if `best <= 1 / K`, with `w`
/// the worst weight; `L w (1 - best) / gap^2` and `best L / gap^2` if `1/2 <= w` and `best < 1` or
/// `best = 1`. `None` in between, which the corollary does not cover, and unless
/// `0 < worst < best <= 1` and `1 <= K < L`.
///
/// # Examples
///
/// ```
/// use click_models::bounds::cascade_bai_two_level_rates;
///
/// assert_eq!(cascade_bai_two_level_rates(0.5, 0.25, 10, 2), Some((10.0, 80.0)));
/// assert_eq!(cascade_bai_two_level_rates(0.75, 0.5, 10, 2), Some((20.0, 120.0)));
/// assert_eq!(cascade_bai_two_level_rates(0.75, 0.25, 10, 2), None);
/// ```
pub fn cascade_bai_two_level_rates(
    best: f64,
    worst: f64,
    n_items: usize,
    n_positions: usize,
) -> Option<(f64, f64)> {
    if !are_levels(best, worst) || n_positions == 0 || n_positions >= n_items {
        return None;
    }
    let (n, k, gap) = (n_items as f64, n_positions as f64, best - worst);
    let scale = n / (gap * gap);
    if best * k <= 1.0 {
        Some((scale * worst * worst, scale / k))
    } else if worst >= 0.5 {
        Some((scale * worst * (1.0 - best), scale * best))
    } else {
        None
    }
}
