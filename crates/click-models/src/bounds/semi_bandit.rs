//! Lower bounds if the learner observes which positions were read: the multiple-play bandit and the
//! random semi-bandit.
//!
//! With the attractions in decreasing order, items `k >= n_positions` (0-based) are suboptimal.
//! Each must be explored until it can be distinguished from the last item of the best list:
//!
//! ```text
//! sum over k of (theta_last - theta_k) / d(theta_k, theta_last)
//! ```
//!
//! Reference: Anantharam, Varaiya and Walrand 1987, as equation (3) of the PBM paper; Vahabi,
//! Lagree, Vernade and Cappe, *Sequential ranking under random semi-bandit feedback*, 2016,
//! Theorem 4. Deviations: attractions may be tied and may be 0 or 1.
//!
//! | here | paper | shape | unit |
//! |---|---|---|---|
//! | `theta` | theta | `n_items` (K), any order | probability |
//! | `n_positions` | L | - | - |
//! | result | - | - | clicks per `ln T` |
//!
//! Examination does not appear: a position that is read half as often costs half as much and yields
//! half the information.

use super::Decreasing;
use super::nats_per_click::nats_per_click;

/// Lower bound on the regret of any uniformly efficient policy if every position of the list is
/// observed: equation (3) of the PBM paper, the bound of Anantharam et al., in clicks per `ln T`.
///
/// 0 if no item is suboptimal, NaN for [malformed input](crate::bounds#odd-input).
///
/// # Examples
///
/// ```
/// use click_models::bounds::multiple_play_lower_bound;
///
/// // One position and two items, one of them certain not to attract: 0.5 / d(0, 0.5) = 0.5 / ln 2.
/// let constant = multiple_play_lower_bound(&[0.0, 0.5], 1);
/// assert!((constant - 0.5 / std::f64::consts::LN_2).abs() < 1e-15);
/// ```
pub fn multiple_play_lower_bound(theta: &[f64], n_positions: usize) -> f64 {
    let Some(theta) = Decreasing::new(theta) else { return f64::NAN };
    let Some((threshold, rest)) = theta.threshold_and_rest(n_positions) else { return f64::NAN };
    rest.iter()
        .filter(|&&worse| worse < threshold)
        .map(|&worse| 1.0 / nats_per_click(1.0, worse, threshold))
        // A plain sum of no terms is -0.
        .fold(0.0, |sum, term| sum + term)
}

/// Lower bound on the regret of any uniformly efficient policy under random semi-bandit feedback:
/// Theorem 4 of the RSF paper, in clicks per `ln T`. It equals [`multiple_play_lower_bound`] for
/// every examination.
///
/// 0 if no item is suboptimal, NaN for [malformed input](crate::bounds#odd-input).
///
/// # Examples
///
/// The instance of the paper's section 6.2, in which two items tie below the list:
///
/// ```
/// use click_models::bounds::semi_bandit_lower_bound;
///
/// let constant = semi_bandit_lower_bound(&[0.6, 0.58, 0.55, 0.45, 0.45, 0.4], 3);
/// assert!((constant - 13.2831).abs() < 1e-4);
/// ```
pub fn semi_bandit_lower_bound(theta: &[f64], n_positions: usize) -> f64 {
    multiple_play_lower_bound(theta, n_positions)
}
