//! Dueling bandits: a lower bound on the regret of any policy, and upper bounds for RUCB.
//!
//! With the Condorcet winner 1, gaps `Delta_i = p_1i - 1/2`, their largest `Delta*`, and
//!
//! ```text
//! C(delta) = ((4 alpha - 1) K^2 / ((2 alpha - 1) delta))^(1 / (2 alpha - 1)),    D_ij = 4 alpha / min{Delta_i^2, Delta_j^2},
//! R(t) <= C(delta) Delta* + sum_(i > j) D_ij (Delta_i + Delta_j) / 2 ln t    for all t, with probability 1 - delta,
//! E R(t) <= C(1) Delta* (2 alpha - 1) / (2 alpha - 2) + the same sum,
//! lim inf E R(t) / ln t >= sum_(i > 1) min { (Delta_i + Delta_j) / (2 d(p_ij, 1/2)) : j beats i }.
//! ```
//!
//! Reference: Zoghi, Whiteson, Munos, de Rijke, *Relative upper confidence bound for the K-armed
//! dueling bandit problem*, ICML 2014, Theorems 2 and 3 (alpha above 1/2 and above 1); Komiyama,
//! Honda, Kashima, Nakagawa, *Regret lower bound and optimal algorithm in dueling bandit problem*,
//! COLT 2015, Theorem 2 (the last line). Deviations: `D_1j` as printed is infinite, since
//! `Delta_1 = 0`. Here the minimum is over the non-zero gaps, so `D_1j = 4 alpha / Delta_j^2`;
//! `docs/errata.md` has the step that the proof omits for this pair.
//!
//! | here | paper | shape | unit |
//! |---|---|---|---|
//! | `preferences` | `P = [p_ij]` | K x K | probability |
//! | `alpha`, `delta`, `rounds` | alpha, delta, t | - | -, probability, rounds |
//! | [`rucb_settled_after`] | C(delta) | - | rounds |
//! | [`rucb_duels`] | `D_ij` | K x K | duels for each `ln t` |
//! | [`rucb_log_coefficient`] | the sum over pairs | - | probability for each `ln t` |
//! | bounds | `R_t` | - | probability, summed over rounds |
//!
//! Cases that the papers leave undefined: the result is NaN (`None` from [`rucb_duels`]) without a
//! Condorcet winner, for alpha at most 1/2, delta at most 0, and 0 rounds. For alpha at most 1, the
//! bound on the mean is infinite, because the integral in its proof diverges. With `alpha = 0.51`,
//! as in the paper's experiments, `C(delta)` is a 50th power and the bound is vacuous:
//! `(1300 / delta)^50` rounds for 5 items, 5e205 with `delta = 0.1`.
//!
//! Numerics: gaps are differences of opposite entries; divergences from 1/2 are computed from the
//! gap, not from the rounded probability. Complexity: O(K^2).
//!
//! # Examples
//!
//! Two items, the first of which wins three duels in four. With alpha = 2, `D = 8 / (1/16)` duels
//! for each `ln t`, at regret 1/8 each.
//!
//! ```
//! use click_models::{PreferenceMatrix, bounds};
//!
//! let two = PreferenceMatrix::new(&[vec![0.5, 0.75], vec![0.25, 0.5]])?;
//! assert_eq!(bounds::rucb_log_coefficient(&two, 2.0), 16.0);
//! // (7 * 4 / (3 * .5))^(1/3) = 2.6527 rounds at regret 1/4, and 16 ln 1000
//! let bound = bounds::rucb_high_probability_bound(&two, 2.0, 0.5, 1000);
//! assert!((bound - (0.25 * 2.652_704_8 + 16.0 * 6.907_755_3)).abs() < 1e-5);
//! // 1/4 / (2 d(1/4, 1/2)) = .125 / .1308
//! assert!((bounds::dueling_lower_bound(&two) - 0.9556).abs() < 1e-4);
//! # Ok::<(), click_models::Error>(())
//! ```

use crate::{ItemId, PreferenceMatrix};
use confidence::math::{ln, relative_entropy};

/// `C(delta)`, the round after which all confidence intervals of RUCB hold with probability
/// `1 - delta` (Lemma 1). A `delta` above 1 counts as 1.
pub fn rucb_settled_after(n_items: usize, alpha: f64, delta: f64) -> f64 {
    if !(alpha > 0.5 && delta > 0.0 && n_items >= 2) {
        return f64::NAN;
    }
    let exponent = 2.0 * alpha - 1.0;
    // (4 alpha - 1) / (2 alpha - 1) = 2 + 1 / (2 alpha - 1); no product overflows.
    let logarithm = ln(2.0 + 1.0 / exponent) + 2.0 * ln(n_items as f64) - ln(delta.min(1.0));
    libm::exp(logarithm / exponent)
}

/// `D_ij`, in duels for each `ln t`: RUCB compares items `i` and `j` at most
/// `max{C(delta), D_ij ln t}` times (Theorem 2). K x K entries, row by row; 0 on the diagonal.
/// `None` without a Condorcet winner, and for alpha at most 1/2 or infinite.
pub fn rucb_duels(preferences: &PreferenceMatrix, alpha: f64) -> Option<Vec<f64>> {
    if !(alpha > 0.5 && alpha.is_finite()) {
        return None;
    }
    let gaps = gaps(preferences)?;
    let duels = |i: usize, j: usize| {
        // Only the winner's gap is 0.
        let smaller = if gaps[i].min(gaps[j]) > 0.0 { gaps[i].min(gaps[j]) } else { gaps[i].max(gaps[j]) };
        if i == j { 0.0 } else { 4.0 * alpha / (smaller * smaller) }
    };
    let items = 0..gaps.len();
    Some(items.clone().flat_map(|i| items.clone().map(move |j| (i, j))).map(|(i, j)| duels(i, j)).collect())
}

/// The sum over pairs of `D_ij (Delta_i + Delta_j) / 2`: the factor of `ln t` in RUCB's regret
/// bounds. NaN without a Condorcet winner, and for alpha at most 1/2.
pub fn rucb_log_coefficient(preferences: &PreferenceMatrix, alpha: f64) -> f64 {
    let (Some(gaps), Some(duels)) = (gaps(preferences), rucb_duels(preferences, alpha)) else {
        return f64::NAN;
    };
    let pairs = (0..gaps.len()).flat_map(|i| (0..i).map(move |j| (i, j)));
    pairs.map(|(i, j)| duels[i * gaps.len() + j] * f64::midpoint(gaps[i], gaps[j])).sum()
}

/// Upper bound on the regret of RUCB after `rounds` rounds; with probability `1 - delta` it holds
/// for all rounds simultaneously (Theorem 2).
pub fn rucb_high_probability_bound(
    preferences: &PreferenceMatrix,
    alpha: f64,
    delta: f64,
    rounds: u64,
) -> f64 {
    let settled_after = rucb_settled_after(preferences.shape().n_items(), alpha, delta);
    settled_after * largest_gap(preferences) + logarithmic(preferences, alpha, rounds)
}

/// Upper bound on the mean regret of RUCB after `rounds` rounds (Theorem 3); infinite for alpha at
/// most 1.
pub fn rucb_expected_bound(preferences: &PreferenceMatrix, alpha: f64, rounds: u64) -> f64 {
    let factor = if alpha <= 1.0 { f64::INFINITY } else { (2.0 * alpha - 1.0) / (2.0 * alpha - 2.0) };
    let settled_after = rucb_settled_after(preferences.shape().n_items(), alpha, 1.0);
    largest_gap(preferences) * settled_after * factor + logarithmic(preferences, alpha, rounds)
}

/// Lower bound on the regret of any uniformly efficient policy, per `ln t` (Komiyama et al. 2015,
/// Theorem 2). NaN without a Condorcet winner.
///
/// Every other item has to be distinguished from the winner by comparing it with an item that beats
/// it: the winner, or another item that beats it more clearly.
pub fn dueling_lower_bound(preferences: &PreferenceMatrix) -> f64 {
    let Some(gaps) = gaps(preferences) else { return f64::NAN };
    let items = preferences.shape().items();
    items
        .map(|item| {
            let per_nat = |other: ItemId| {
                let excess = preferences.excess(item, other);
                f64::midpoint(gaps[item.index()], gaps[other.index()]) / divergence_from_half(excess)
            };
            let better = preferences.shape().items().filter(|&other| preferences.beats(other, item));
            // No item beats the winner.
            better.map(per_nat).reduce(f64::min).unwrap_or(0.0)
        })
        .sum()
}

/// `Delta_i`, 0 for the winner.
fn gaps(preferences: &PreferenceMatrix) -> Option<Vec<f64>> {
    preferences.condorcet_winner().map(|winner| preferences.excess_row(winner).to_vec())
}

/// `Delta*`; NaN without a winner.
fn largest_gap(preferences: &PreferenceMatrix) -> f64 {
    gaps(preferences).map_or(f64::NAN, |gaps| gaps.into_iter().fold(0.0, f64::max))
}

fn logarithmic(preferences: &PreferenceMatrix, alpha: f64, rounds: u64) -> f64 {
    if rounds == 0 { f64::NAN } else { rucb_log_coefficient(preferences, alpha) * ln(rounds as f64) }
}

/// `d(1/2 + excess, 1/2)`.
pub(super) fn divergence_from_half(excess: f64) -> f64 {
    relative_entropy(0.5 + excess, 0.5, -excess) + relative_entropy(0.5 - excess, 0.5, excess)
}
