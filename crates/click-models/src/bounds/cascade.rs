//! Lower bound for the cascade model, with or without weights.
//!
//! With the attractions in decreasing order, items `k >= n_positions` (0-based) are suboptimal and each must be looked at until
//! it can be told from the last item of the best list:
//!
//! ```text
//! prod over i < last of (1 - theta_i) * sum over k of (theta_last - theta_k) / d(theta_k, theta_last)
//! ```
//!
//! In which order the items stand does not matter for the reward, so an item is best tried on top, where everybody looks at it;
//! the product is the share of users whom no other item of the list attracts, the only ones who miss the item it replaces.
//!
//! Why lists with several suboptimal items are no cheaper: let such a list show `k_1, k_2, ...` in the place of as many leaders.
//! Putting the leaders back one after the other, the reward grows each time by at least
//! `prod over i < j of (1 - theta_(k_i)) * (theta_last - theta_(k_j)) * prod over i < last of (1 - theta_i)`, and the first factor is the
//! most that can look at the item. So no list costs less, per look at each of its suboptimal items, than they cost one by one.
//!
//! Weights. A weighted reward is a sum of unweighted ones over the prefixes of the list, each as far below its best as it is, so the
//! regret is at least the smallest weight times the unweighted one, and so is the bound. It is the largest possible one if all
//! weights are the same, and a smaller one otherwise.
//!
//! Reference: the general lower bound of Graves and Lai 1997, as Combes, Magureanu, Proutiere and Laroche, SIGMETRICS 2015,
//! apply it; for equal attractions Kveton, Szepesvari, Wen, Ashkan, *Cascading bandits*, ICML 2015, Theorem 4. Deviations:
//! stated for any attractions; the weighted bound is ours, simple and not tight.
//!
//! | here | paper (Kveton et al.) | shape | unit |
//! |---|---|---|---|
//! | `theta` | `w bar` | `n_items`, any order | probability |
//! | `weights` | `r(l)` (Combes et al.) | `n_positions`, not increasing | reward of a click |
//! | result | - | - | reward per `ln T` |
//!
//! Numerics: sums and products of positive terms. Complexity: a sort.

use super::{Decreasing, multiple_play_lower_bound};

/// The regret that no uniformly efficient policy can avoid in the cascade model, in clicks per `ln T`.
///
/// 0 if no item is suboptimal, or an item of the best list attracts everybody, NaN for
/// [malformed input](crate::bounds#what-the-functions-do-with-odd-input).
///
/// # Examples
///
/// Kveton et al., Theorem 4, with `K = 2` positions and `L = 4` items of attraction p = .2, .2, .05, .05:
/// `(L - K) (p - .05) (1 - p)^(K - 1) / d(.05, p)`.
///
/// ```
/// use click_models::bounds::cascade_lower_bound;
/// use confidence::bernoulli_kl;
///
/// let constant = cascade_lower_bound(&[0.2, 0.2, 0.05, 0.05], 2);
/// assert!((constant - 2.0 * 0.15 * 0.8 / bernoulli_kl(0.05, 0.2)).abs() < 1e-12);
/// ```
pub fn cascade_lower_bound(theta: &[f64], n_positions: usize) -> f64 {
    let told = multiple_play_lower_bound(theta, n_positions);
    match Decreasing::new(theta) {
        // Malformed.
        _ if told.is_nan() => told,
        None => f64::NAN,
        Some(theta) => {
            let unattracted: f64 =
                theta.values[..n_positions - 1].iter().map(|leader| 1.0 - leader).product();
            unattracted * told
        }
    }
}

/// The same where a click on a position is worth its weight; weights do not rise from the top down.
///
/// 0 if no item is suboptimal or some position is worth nothing, NaN for
/// [malformed input](crate::bounds#what-the-functions-do-with-odd-input), weights that rise among it.
///
/// # Examples
///
/// A weight that is the same everywhere is a unit of the reward:
///
/// ```
/// use click_models::bounds::{cascade_lower_bound, weighted_cascade_lower_bound};
///
/// let theta = [0.5, 0.4, 0.2];
/// let constant = weighted_cascade_lower_bound(&theta, &[3.0, 3.0]);
/// assert!((constant - 3.0 * cascade_lower_bound(&theta, 2)).abs() < 1e-12);
/// ```
pub fn weighted_cascade_lower_bound(theta: &[f64], weights: &[f64]) -> f64 {
    let falls = weights.is_sorted_by(|above, below| above >= below);
    let finite = weights.iter().all(|&weight| weight >= 0.0 && weight.is_finite());
    match weights.last() {
        Some(smallest) if falls && finite => smallest * cascade_lower_bound(theta, weights.len()),
        _ => f64::NAN,
    }
}
