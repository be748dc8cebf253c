//! Lower bound for the dependent click model, reward satisfaction.
//!
//! With the attractions in decreasing order, items `k >= n_positions` (0-based) are suboptimal.
//! Each must be observed until it can be distinguished from the last item of the best list:
//!
//! ```text
//! c * sum over k of (theta_last - theta_k) / d(theta_k, theta_last)
//! c = min over positions j of leave_j * prod over positions i below j of (1 - leave_i theta_i')
//! ```
//!
//! where `theta_i'` are the most attractive items, with the more attractive ones where leaving is
//! more likely. `c` is the smallest cost of an observation of an item, divided by its gap to the
//! last leader: at position `j` a user leaves satisfied with probability `leave_j` times the item's
//! attraction, and otherwise may still be satisfied further down.
//!
//! Proof idea: put the missing leaders back into a list, from the top down. Each time, satisfaction
//! grows by at least the probability of an observation, times `leave_j`, times the gap to the last
//! leader, times the probability that no item below satisfies the user. The sorted pairing
//! minimises the last factor. So no list costs less, for any number of suboptimal items.
//!
//! Reference: the general lower bound of Graves and Lai 1997; Katariya, Kveton, Szepesvari, Wen,
//! *DCM bandits*, ICML 2016, Theorem 3, to which it reduces for equal attractions and equal leave
//! probabilities. Deviations: stated for any attractions and leave probabilities, in any order, for
//! which it is not tight. The bound gives the learner extra information: how far the user read,
//! also below the last click. A lower bound with this information also holds without it. No bound
//! is implemented for the number of clicks.
//!
//! | here | paper | shape | unit |
//! |---|---|---|---|
//! | `theta` | `w bar` | `n_items`, any order | probability |
//! | `leave` | `v bar` | `n_positions` | probability, given a click |
//! | result | - | - | satisfied users per `ln T` |
//!
//! Numerics: sums and products of positive terms. Complexity: O(`n_positions^2 log n_positions`)
//! and a sort of the items.

use super::{Decreasing, multiple_play_lower_bound};

/// Lower bound on the regret of any uniformly efficient policy in the dependent click model, in
/// satisfied users per `ln T`.
///
/// 0 if no item is suboptimal, if the leave probability of some position is 0, or if the best list
/// satisfies all users without its last item; NaN for [malformed input](crate::bounds#odd-input).
///
/// # Examples
///
/// Katariya et al., Theorem 3, with two positions of leave probability `g` = .5 and attractions p =
/// .2, .2, .05, .05: `g (L - K) (p - .05) (1 - g p)^(K - 1) / d(.05, p)`.
///
/// ```
/// use click_models::bounds::dcm_lower_bound;
/// use confidence::bernoulli_kl;
///
/// let constant = dcm_lower_bound(&[0.2, 0.2, 0.05, 0.05], &[0.5, 0.5]);
/// assert!((constant - 0.5 * 2.0 * 0.15 * 0.9 / bernoulli_kl(0.05, 0.2)).abs() < 1e-12);
/// ```
pub fn dcm_lower_bound(theta: &[f64], leave: &[f64]) -> f64 {
    let observed = multiple_play_lower_bound(theta, leave.len());
    let (Some(theta), Some(sorted)) = (Decreasing::new(theta), Decreasing::new(leave)) else {
        return f64::NAN;
    };
    if observed.is_nan() {
        return observed;
    }
    // If the other leaders satisfy all users, a better last item makes no difference, and there is
    // nothing to learn.
    let last = leave.len() - 1;
    if unsatisfied(&theta.values, &sorted.values[..last]) == 0.0 {
        return 0.0;
    }
    let cost = |position: usize| {
        let below = Decreasing::new(&leave[position + 1..]).map_or_else(Vec::new, |below| below.values);
        leave[position] * unsatisfied(&theta.values, &below)
    };
    (0..leave.len()).map(cost).fold(f64::INFINITY, f64::min) * observed
}

/// Probability that no position satisfies a user who examines all of them; both slices are in
/// decreasing order.
fn unsatisfied(theta: &[f64], leave: &[f64]) -> f64 {
    theta.iter().zip(leave).map(|(attracted, leave)| 1.0 - leave * attracted).product()
}
