//! The characteristic time of identifying the best items under cascade feedback: what the weights
//! cost any policy, per nat.
//!
//! An item is *one of the best* if it is among the K most attractive; a step shows an ordered list
//! of K items. For `delta < 1/2`, a policy that is right with probability `1 - delta` or more on
//! every instance without a tie at K needs, on this one,
//!
//! ```text
//! E steps >= T* d(1 - delta, delta),
//! 1 / T* = max over mixtures of lists, of min over i best, j not best, x, of  o_i d(w_i, x) + o_j d(w_j, x)
//! ```
//!
//! where `o_i` is the mean number of observations of item `i` in a step: the product of `1 - w`
//! over the items above it, 0 if it is not shown. Proof: `docs/characteristic-time.md`. `T*` is at
//! least the coefficient of Theorem 4.8 of the `CascadeBAI` paper
//! ([`cascade_bai_lower_bound`](super::cascade_bai_lower_bound)), which counts the observations of
//! every item as if one list could be best for all items at once.
//!
//! Reference: the change of measure is that of Kaufmann, Cappe, Garivier, *On the complexity of
//! best-arm identification in multi-armed bandit models*, JMLR 2016; the game is that of Garivier,
//! Kaufmann, *Optimal best arm identification with fixed confidence*, COLT 2016, with lists in
//! place of arms. This application to cascades is this project's own. Deviations: none.
//!
//! | here | above | shape | unit |
//! |---|---|---|---|
//! | `weights` | `w` | `n_items` (L), any order | probability |
//! | `n_positions` | K | - | items of a list, and items to find |
//! | `kinds` | items of equal weight | decreasing weight | - |
//! | `nats` | the minimum over `x` | a pair of kinds | nats per step |
//! | `lower`, `upper` | what `T*` is between | - | steps per nat |
//!
//! Numerics: an interior-point method with lists added as they are needed ([`interior_point`],
//! private). Both sides of the optimum are evaluated from scratch: a mixture gives an upper bound
//! on `T*`, prices of observations a lower one. If they do not come within 1e-6 of each other, the
//! result is NaN. Complexity: a few hundred iterations; one costs O(P + n^3) for P pairs of kinds
//! and n lists, up to four for every kind. Two kinds take microseconds, 64 different weights a
//! tenth of a second, 128 a few seconds (VM, two cores, Intel Xeon, Sapphire Rapids).

mod alternatives;
mod cholesky;
mod interior_point;
mod lists;

use super::Decreasing;
use interior_point::{Solution, solve};
use lists::{Kind, placements};

/// `T*`: the characteristic time of identifying the `n_positions` most attractive items under
/// cascade feedback, in steps per nat.
///
/// For `delta < 1/2`, any policy that is right with probability at least `1 - delta` on every
/// instance without a tie at K takes `T* d(1 - delta, delta)` steps or more on average, where `d`
/// is [`bernoulli_kl`](confidence::bernoulli_kl). The result is at most `T*` up to rounding, and at
/// least `(1 - 1e-6) T*`.
///
/// 0 if all items are to be found; `+inf` if the K-th and the next item are equally attractive; NaN
/// for [malformed input](crate::bounds#odd-input), and if positive
/// weights are so small that `T*` is no double.
///
/// Time grows with the cube of the number of different weights: some hundreds of them take minutes.
///
/// # Examples
///
/// ```
/// use click_models::bounds::cascade_characteristic_time;
///
/// // One position: a bandit with two arms. By symmetry, both are shown half of the time, and x = .5.
/// let time = cascade_characteristic_time(&[0.25, 0.75], 1);
/// assert!((time * confidence::bernoulli_kl(0.75, 0.5) - 1.0).abs() < 1e-6);
/// ```
pub fn cascade_characteristic_time(weights: &[f64], n_positions: usize) -> f64 {
    match Problem::new(weights, n_positions) {
        None => f64::NAN,
        Some(Problem::AllItems(_)) => 0.0,
        Some(Problem::Tie(_)) => f64::INFINITY,
        Some(Problem::Identify { kinds, n_best }) => solve(&kinds, n_best, n_positions).lower,
    }
}

/// A mixture of lists that attains [`cascade_characteristic_time`]: lists of items, best position
/// first, and the share of steps of each.
///
/// Items are indices into `weights`. The shares are positive and add up to 1. With the mean
/// observations of these lists, the minimum in the definition is at least `(1 - 1e-6) / T*`. There
/// are other optimal mixtures; items of equal weight are shown equally often in this one.
///
/// If all items are to be found, or if the K-th and the next item are equally attractive, every
/// mixture is optimal, and the result is the list of the best items. Empty where
/// [`cascade_characteristic_time`] is NaN.
///
/// # Examples
///
/// ```
/// use click_models::bounds::cascade_optimal_mixture;
///
/// let mixture = cascade_optimal_mixture(&[0.25, 0.75], 1);
/// let share = |item: usize| mixture.iter().filter(|(list, _)| list[0] == item).map(|(_, share)| share).sum::<f64>();
/// assert!((share(0) - 0.5).abs() < 1e-3 && (share(1) - 0.5).abs() < 1e-3);
/// ```
pub fn cascade_optimal_mixture(weights: &[f64], n_positions: usize) -> Vec<(Vec<usize>, f64)> {
    match Problem::new(weights, n_positions) {
        None => Vec::new(),
        Some(Problem::AllItems(best) | Problem::Tie(best)) => vec![(best, 1.0)],
        Some(Problem::Identify { kinds, n_best }) => {
            let Solution { mixture, .. } = solve(&kinds, n_best, n_positions);
            mixture.iter().flat_map(|(pattern, share)| placements(&kinds, pattern, *share)).collect()
        }
    }
}

/// The problem of identifying the best items.
enum Problem {
    /// Nothing: the best items are all items, these.
    AllItems(Vec<usize>),
    /// The K-th and the next item are equally attractive. The best items, ties broken by index.
    Tie(Vec<usize>),
    /// The first `n_best` of the kinds are the best items.
    Identify { kinds: Vec<Kind>, n_best: usize },
}

impl Problem {
    /// `None` for malformed input.
    fn new(weights: &[f64], n_positions: usize) -> Option<Self> {
        let Decreasing { values, places } = Decreasing::new(weights)?;
        let last = *values.get(n_positions.checked_sub(1)?)?;
        let best = || places[..n_positions].to_vec();
        let Some(&next) = values.get(n_positions) else { return Some(Self::AllItems(best())) };
        if last == next {
            return Some(Self::Tie(best()));
        }
        let mut kinds: Vec<Kind> = Vec::new();
        for (&weight, &place) in values.iter().zip(&places) {
            match kinds.last_mut().filter(|kind| kind.weight == weight) {
                Some(kind) => kind.items.push(place),
                None => kinds.push(Kind { weight, items: vec![place] }),
            }
        }
        let n_best = kinds.iter().take_while(|kind| kind.weight >= last).count();
        Some(Self::Identify { kinds, n_best })
    }
}
