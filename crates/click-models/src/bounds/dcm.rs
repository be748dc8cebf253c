//! Lower bound for the dependent click model, reward satisfaction.
//!
//! With the attractions in decreasing order, items `k >= n_positions` (0-based) are suboptimal and each must be looked at until
//! it can be told from the last item of the best list:
//!
//! ```text
//! c * sum over k of (theta_last - theta_k) / d(theta_k, theta_last)
//! c = min over positions j of leave_j * prod over positions i below j of (1 - leave_i theta_i')
//! ```
//!
//! where `theta_i'` are the most attractive items, the more attractive where leaving is more likely. `c` is the least that a look
//! at an item costs, per gap to the last leader: where it stands a user leaves satisfied with probability `leave_j` times its
//! attraction, and who does not may still be satisfied further down.
//!
//! Why: put the leaders that a list lacks back into it, from the top down. Each time, satisfaction grows by at least the
//! probability of a look, times `leave_j`, times the gap to the last leader, times the probability that nobody below satisfies
//! the user, which the sorted pairing makes smallest. So no list, with however many suboptimal items, costs less.
//!
//! Reference: the general lower bound of Graves and Lai 1997; Katariya, Kveton, Szepesvari, Wen, *DCM bandits*, ICML 2016,
//! Theorem 3, to which it reduces for equal attractions and equal leave probabilities. Deviations: stated for any attractions and
//! leave probabilities, in any order, for which it is not tight. The learner is granted more than it has: it is told how far the user
//! read, also below the last click; what no policy can do then, none can without. No bound is known here for the number of clicks.
//!
//! | here | paper | shape | unit |
//! |---|---|---|---|
//! | `theta` | `w bar` | `n_items`, any order | probability |
//! | `leave` | `v bar` | `n_positions` | probability, given a click |
//! | result | - | - | satisfied users per `ln T` |
//!
//! Numerics: sums and products of positive terms. Complexity: O(`n_positions^2 log n_positions`) and a sort of the items.

use super::{Decreasing, multiple_play_lower_bound};

/// The regret that no uniformly efficient policy can avoid in the dependent click model, in satisfied users per `ln T`.
///
/// 0 if no item is suboptimal, if there is a position that nobody leaves, or if the best list satisfies everybody without its last
/// item; NaN for [malformed input](crate::bounds#what-the-functions-do-with-odd-input).
///
/// # Examples
///
/// Katariya et al., Theorem 3, with two positions of leave probability `g` = .5 and attractions p = .2, .2, .05, .05:
/// `g (L - K) (p - .05) (1 - g p)^(K - 1) / d(.05, p)`.
///
/// ```
/// use click_models::bounds::dcm_lower_bound;
/// use confidence::bernoulli_kl;
///
/// let constant = dcm_lower_bound(&[0.2, 0.2, 0.05, 0.05], &[0.5, 0.5]);
/// assert!((constant - 0.5 * 2.0 * 0.15 * 0.9 / bernoulli_kl(0.05, 0.2)).abs() < 1e-12);
/// ```
pub fn dcm_lower_bound(theta: &[f64], leave: &[f64]) -> f64 {
    let told = multiple_play_lower_bound(theta, leave.len());
    let (Some(theta), Some(sorted)) = (Decreasing::new(theta), Decreasing::new(leave)) else {
        return f64::NAN;
    };
    if told.is_nan() {
        return told;
    }
    // Where the other leaders leave nobody unsatisfied, a better item would make no difference: there is nothing to learn.
    let last = leave.len() - 1;
    if unsatisfied(&theta.values, &sorted.values[..last]) == 0.0 {
        return 0.0;
    }
    let cost = |position: usize| {
        let below = Decreasing::new(&leave[position + 1..]).map_or_else(Vec::new, |below| below.values);
        leave[position] * unsatisfied(&theta.values, &below)
    };
    (0..leave.len()).map(cost).fold(f64::INFINITY, f64::min) * told
}

/// Probability that no position satisfies a user who looks at all of them; both in decreasing order.
fn unsatisfied(theta: &[f64], leave: &[f64]) -> f64 {
    theta.iter().zip(leave).map(|(attracted, leave)| 1.0 - leave * attracted).product()
}
