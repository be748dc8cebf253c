//! Lower bound for the cascade model, with or without weights.
//!
//! With the attractions in decreasing order, items `k >= n_positions` (0-based) are suboptimal and each must be looked at until
//! it can be told from the last item of the best list. Each at the position `l` where that costs least,
//!
//! ```text
//! sum over k of min over l of gap(v_kl) / (P(l is looked at) d(theta_k, theta_last))
//! ```
//!
//! where `v_kl` is the best list with item k inserted at position l and its last item dropped. Without weights the top position
//! costs least: everybody looks at it, and in which order the items stand does not matter for the reward. The bound then is
//! `prod over i < last of (1 - theta_i) * sum over k of (theta_last - theta_k) / d(theta_k, theta_last)`.
//!
//! Reference: the general lower bound of Graves and Lai 1997, as Combes, Magureanu, Proutiere and Laroche, SIGMETRICS 2015,
//! section 3, apply it; for equal attractions Kveton, Szepesvari, Wen, Ashkan, *Cascading bandits*, ICML 2015, Theorem 4.
//! Deviations: stated for any attractions and weights. That lists with one suboptimal item are enough is not proven here for
//! weights; the tests solve the linear program over all lists on random instances and find the same value.
//!
//! | here | paper (Kveton et al.) | shape | unit |
//! |---|---|---|---|
//! | `theta` | `w bar` | `n_items`, any order | probability |
//! | `weights` | `r(l)` (Combes et al.) | `n_positions`, not increasing | reward of a click |
//! | result | - | - | reward per `ln T` |
//!
//! Numerics: gaps are sums of positive terms, one for each position that the item moves up. Complexity: O(`n_items n_positions^2`).

use super::{Decreasing, nats_per_click};

/// The regret that no uniformly efficient policy can avoid in the cascade model, in clicks per `ln T`.
///
/// 0 if no item is suboptimal, NaN for [malformed input](crate::bounds#what-the-functions-do-with-odd-input).
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
    weighted_cascade_lower_bound(theta, &vec![1.0; n_positions])
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
    let Some(theta) = Decreasing::new(theta) else { return f64::NAN };
    let Some((threshold, rest)) = theta.threshold_and_rest(weights.len()) else { return f64::NAN };
    let falls = weights.is_sorted_by(|above, below| above >= below);
    if !(falls && weights.iter().all(|&weight| weight >= 0.0 && weight.is_finite())) {
        return f64::NAN;
    }
    let last = weights.len() - 1;
    let leaders = &theta.values[..last];
    // How many look at each position of the best list.
    let mut examined = vec![1.0];
    for leader in leaders {
        examined.push(examined[examined.len() - 1] * (1.0 - leader));
    }
    let cost = |worse: f64| {
        // Reward given up per gap between the item and the last leader, from the last position up: each step up swaps the
        // item with the leader above it.
        let mut given_up = examined[last] * weights[last];
        let mut cheapest = if examined[last] > 0.0 { given_up / examined[last] } else { f64::INFINITY };
        for position in (0..last).rev() {
            let swap = (leaders[position] - worse) / (threshold - worse);
            given_up += examined[position] * (weights[position] - weights[position + 1]) * swap;
            if examined[position] > 0.0 {
                cheapest = f64::min(cheapest, given_up / examined[position]);
            }
        }
        cheapest / nats_per_click(1.0, worse, threshold)
    };
    // A plain sum of no terms is -0.
    rest.iter()
        .filter(|&&worse| worse < threshold)
        .map(|&worse| cost(worse))
        .fold(0.0, |sum, term| sum + term)
}
