//! Lower bound for the cascade model, with or without weights.
//!
//! With the attractions in decreasing order, items `k >= n_positions` (0-based) are suboptimal.
//! Each must be observed until it can be distinguished from the last item of the best list:
//!
//! ```text
//! prod over i < last of (1 - theta_i) * sum over k of (theta_last - theta_k) / d(theta_k, theta_last)
//! ```
//!
//! The order of the items does not affect the reward, so an item is best explored at the top, where
//! all users examine it. The product is the share of users who are attracted by no other item of
//! the list; only these users miss the replaced item.
//!
//! Lists with several suboptimal items are no cheaper. Let such a list show `k_1, k_2, ...` in
//! place of as many leaders. If the leaders are put back one after the other, the reward grows each
//! time by at least `prod over i < j of (1 - theta_(k_i)) * (theta_last - theta_(k_j)) * prod over
//! i < last of (1 - theta_i)`, and the first factor is an upper bound on the share of users who
//! observe the item. So no list costs less, per observation of its suboptimal items, than lists
//! with one suboptimal item each.
//!
//! Weights `r(1) >= .. >= r(last)`, and `r(last + 1) = 0`. Let `D` be the smallest step
//! `r(l) - r(l + 1)`, at most `r(last)`:
//!
//! ```text
//! (D + (r(last) - D) prod over i < last of (1 - theta_i)) * sum over k of (theta_last - theta_k) / d(theta_k, theta_last)
//! ```
//!
//! It equals the value of the program of Graves and Lai in two cases. If every step is at least
//! `r(last)`, as in a convex sequence that ends in `r(last + 1) = 0`, it is `r(last)` times the
//! sum, the bound that Combes et al. quote. If all weights are equal, it is `r(last)` times the
//! bound without weights. In other cases it is a lower bound that is not tight.
//!
//! Proof. For a list let `Q_l` be the share of users who are attracted by none of its first `l`
//! items, and `Q*_l` the same share for the best list.
//!
//! 1. The reward is the sum of the steps times `1 - Q_l`, so the gap of a list is the sum of the
//!    steps times `Q_l - Q*_l >= 0`, at least
//!    `D sum_l (Q_l - Q*_l) + (r(last) - D) (Q_last - Q*_last)`.
//! 2. The share `Q_(p-1)` of users observes a suboptimal item `k` at position `p`. With `x_l` the
//!    attraction at `l`, and `y_l` the larger of `x_l` and `theta_last`, `sum_l Q_l - sum over
//!    suboptimal k of Q_(p-1) (theta_last - theta_k) = sum_l Q_(l-1) (1 - y_l)`. `Q` does not grow
//!    if attractions do, so this is at least `sum_l prod over i <= l of (1 - y_i)`. That is at
//!    least `sum_l Q*_l`, since the i-th largest of the `y` is at most `theta_i`. So
//!    `sum_l (Q_l - Q*_l)` is at least the sum of `Q_(p-1) (theta_last - theta_k)`.
//! 3. `Q_last - Q*_last` is the gap without weights: at least the product over all leaders except
//!    the last, times that sum, as shown above.
//! 4. So no list costs less, per observation of each of its suboptimal items, than the factor times
//!    `theta_last - theta_k`, and every item needs `1 / d` observations. If every step is at least
//!    `r(last)`, the list with `k` in the last place costs exactly that.
//!
//! Reference: the general lower bound of Graves and Lai 1997, as Combes, Magureanu, Proutiere and
//! Laroche, SIGMETRICS 2015, apply it; for equal attractions Kveton, Szepesvari, Wen, Ashkan,
//! *Cascading bandits*, ICML 2015, Theorem 4. Deviations: stated for any attractions, and for any
//! non-increasing weights.
//!
//! | here | paper (Kveton et al.) | shape | unit |
//! |---|---|---|---|
//! | `theta` | `w bar` | `n_items`, any order | probability |
//! | `weights` | `r(l)` (Combes et al.) | `n_positions`, not increasing | reward of a click |
//! | result | - | - | reward per `ln T` |
//!
//! Numerics: sums and products of positive terms. Complexity: a sort.

use super::{Decreasing, multiple_play_lower_bound};

/// Lower bound on the regret of any uniformly efficient policy in the cascade model, in clicks per
/// `ln T`.
///
/// 0 if no item is suboptimal, or if an item of the best list other than its last attracts all
/// users; NaN for [malformed input](crate::bounds#odd-input).
///
/// # Examples
///
/// Kveton et al., Theorem 4, with `K = 2` positions and `L = 4` items of attraction p = .2, .2,
/// .05, .05: `(L - K) (p - .05) (1 - p)^(K - 1) / d(.05, p)`.
///
/// ```
/// use click_models::bounds::cascade_lower_bound;
/// use confidence::bernoulli_kl;
///
/// let constant = cascade_lower_bound(&[0.2, 0.2, 0.05, 0.05], 2);
/// assert!((constant - 2.0 * 0.15 * 0.8 / bernoulli_kl(0.05, 0.2)).abs() < 1e-12);
/// ```
pub fn cascade_lower_bound(theta: &[f64], n_positions: usize) -> f64 {
    let observed = multiple_play_lower_bound(theta, n_positions);
    match Decreasing::new(theta) {
        // Malformed.
        _ if observed.is_nan() => observed,
        None => f64::NAN,
        Some(theta) => {
            let unattracted: f64 =
                theta.values[..n_positions - 1].iter().map(|leader| 1.0 - leader).product();
            unattracted * observed
        }
    }
}

/// Lower bound on the regret of any uniformly efficient policy in the cascade model with weights,
/// in reward per `ln T`. `weights` holds the reward of a click at each position and must not rise
/// from the top down.
///
/// It equals the value of the program of Graves and Lai if every weight exceeds the next one by at
/// least the last weight, or if all weights are equal; otherwise it is not tight. 0 if no item is
/// suboptimal, the last weight is 0, or an item of the best list other than its last attracts all
/// users; NaN for [malformed input](crate::bounds#odd-input), including rising weights.
///
/// # Examples
///
/// Equal weights only scale the reward. If weights fall steeply enough, items are explored at the
/// bottom:
///
/// ```
/// use click_models::bounds::{cascade_lower_bound, multiple_play_lower_bound, weighted_cascade_lower_bound};
///
/// let theta = [0.5, 0.4, 0.2];
/// let constant = weighted_cascade_lower_bound(&theta, &[3.0, 3.0]);
/// assert!((constant - 3.0 * cascade_lower_bound(&theta, 2)).abs() < 1e-12);
/// let convex = weighted_cascade_lower_bound(&theta, &[1.0, 0.5]);
/// assert!((convex - 0.5 * multiple_play_lower_bound(&theta, 2)).abs() < 1e-12);
/// ```
pub fn weighted_cascade_lower_bound(theta: &[f64], weights: &[f64]) -> f64 {
    let falls = weights.is_sorted_by(|above, below| above >= below);
    let finite = weights.iter().all(|&weight| weight >= 0.0 && weight.is_finite());
    let Some(&last) = weights.last().filter(|_| falls && finite) else { return f64::NAN };
    let plain = cascade_lower_bound(theta, weights.len());
    if plain.is_nan() || plain == 0.0 {
        return plain;
    }
    let smallest_step = weights.windows(2).map(|pair| pair[0] - pair[1]).fold(last, f64::min);
    smallest_step * multiple_play_lower_bound(theta, weights.len()) + (last - smallest_step) * plain
}
