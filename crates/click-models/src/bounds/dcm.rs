//! Lower bound for the dependent click model.
//!
//! With the attractions in decreasing order, items `k >= n_positions` (0-based) are suboptimal and each must be looked at until
//! it can be told from the least attractive item of the best list. Each at the position `l` where that costs least,
//!
//! ```text
//! sum over k of min over l of gap(v_kl) / (P(l is looked at) d(theta_k, theta_last))
//! ```
//!
//! where `v_kl` is the best list without its least attractive item and with item k at position l.
//!
//! Reference: the general lower bound of Graves and Lai 1997; for equal attractions and equal leave probabilities Katariya,
//! Kveton, Szepesvari, Wen, *DCM bandits*, ICML 2016, Theorem 3. Deviations: stated for any attractions and leave
//! probabilities that do not rise. The learner is granted more than it has: it is told how far the user read, also below the last
//! click; what no policy can do then, none can without. That lists with one suboptimal item are enough is not proven here:
//! the tests solve the linear program over all lists on random instances and find the same value.
//!
//! | here | paper | shape | unit |
//! |---|---|---|---|
//! | `theta` | `w bar` | `n_items`, any order | probability |
//! | `leave` | `v bar` | `n_positions`, not increasing | probability, given a click |
//! | result | - | - | reward per `ln T` |
//!
//! Numerics: gaps are sums of positive terms, one for each position that the item moves. Complexity: O(`n_items n_positions^2`).

use super::{Decreasing, nats_per_click};
use crate::{DcmReward, Error};

/// The regret that no uniformly efficient policy can avoid in the dependent click model, in satisfied users or clicks per `ln T`.
///
/// 0 if no item is suboptimal. NaN for [malformed input](crate::bounds#what-the-functions-do-with-odd-input), and where no
/// formula is known: leave probabilities that rise from one position to the next, and, for clicks, a best list with other than the
/// most attractive items.
///
/// # Examples
///
/// Katariya et al., Theorem 3, with two positions of leave probability `g` = .5 and attractions p = .2, .2, .05, .05:
/// `g (L - K) (p - .05) (1 - g p)^(K - 1) / d(.05, p)`.
///
/// ```
/// use click_models::{DcmReward, bounds::dcm_lower_bound};
/// use confidence::bernoulli_kl;
///
/// let constant = dcm_lower_bound(&[0.2, 0.2, 0.05, 0.05], &[0.5, 0.5], DcmReward::Satisfaction);
/// assert!((constant - 0.5 * 2.0 * 0.15 * 0.9 / bernoulli_kl(0.05, 0.2)).abs() < 1e-12);
/// ```
pub fn dcm_lower_bound(theta: &[f64], leave: &[f64], reward: DcmReward) -> f64 {
    let Some(theta) = Decreasing::new(theta) else { return f64::NAN };
    let Some((threshold, rest)) = theta.threshold_and_rest(leave.len()) else { return f64::NAN };
    if Error::probabilities("", leave).is_err() || !leave.is_sorted_by(|above, below| above >= below) {
        return f64::NAN;
    }
    let leaders = &theta.values[..leave.len() - 1];
    let costs = match reward {
        DcmReward::Satisfaction => satisfaction_costs(leaders, leave),
        DcmReward::Clicks => match click_costs(leaders, threshold, leave) {
            Some(costs) => costs,
            None => return f64::NAN,
        },
    };
    let cost = |worse: f64| {
        let swap = |place: usize| (leaders[place] - worse) / (threshold - worse);
        costs.cheapest(swap) / nats_per_click(1.0, worse, threshold)
    };
    // A plain sum of no terms is -0.
    rest.iter()
        .filter(|&&worse| worse < threshold)
        .map(|&worse| cost(worse))
        .fold(0.0, |sum, term| sum + term)
}

/// What it costs to show a suboptimal item, per gap between it and the least attractive leader. It starts where that leader
/// stood and then changes places with one leader after the other.
struct Costs {
    /// Cost where the least attractive leader stood.
    start: f64,
    /// For each change of places: which leader, and its cost per gap to that leader.
    swaps: Vec<(usize, f64)>,
    /// How many look at the item, at the start and after every change.
    examined: Vec<f64>,
}

impl Costs {
    /// The least cost per look; `swap` is the gap to a leader in units of the gap to the least attractive one.
    fn cheapest(&self, swap: impl Fn(usize) -> f64) -> f64 {
        let mut cost = self.start;
        let mut cheapest = f64::INFINITY;
        for (step, &examined) in self.examined.iter().enumerate() {
            if step > 0 {
                let (leader, per_gap) = self.swaps[step - 1];
                cost += per_gap * swap(leader);
            }
            if examined > 0.0 {
                cheapest = f64::min(cheapest, cost / examined);
            }
        }
        cheapest
    }
}

/// Satisfaction: the best list has the attractions in decreasing order; the item starts at the bottom and moves up.
///
/// Who is not satisfied by the two positions of a change of places, `(1 - v x)(1 - v' y)`, changes by `(v - v')(x - y)`; all
/// other positions are factors.
fn satisfaction_costs(leaders: &[f64], leave: &[f64]) -> Costs {
    let last = leaders.len();
    let mut above = vec![1.0];
    for (leader, leave) in leaders.iter().zip(leave) {
        above.push(above[above.len() - 1] * (1.0 - leave * leader));
    }
    let mut costs = Costs { start: above[last] * leave[last], swaps: vec![], examined: vec![above[last]] };
    let mut below = 1.0;
    for position in (0..last).rev() {
        costs.swaps.push((position, above[position] * (leave[position] - leave[position + 1]) * below));
        costs.examined.push(above[position]);
        // The leader now stands one position further down.
        below *= 1.0 - leave[position + 1] * leaders[position];
    }
    costs
}

/// Clicks: the best list has the attractions in increasing order; the item starts on top and moves down.
///
/// A change of places between `y`, above, and `x`, below, with `V` clicks to come further down costs `(v - v')(x - y) V`. None if
/// the best list has other items: where `v V > 1`, a less attractive item would be better.
fn click_costs(leaders: &[f64], threshold: f64, leave: &[f64]) -> Option<Costs> {
    let n_positions = leave.len();
    let attraction =
        |position: usize| if position == 0 { threshold } else { leaders[n_positions - 1 - position] };
    // Clicks to come from each position on, in the best list.
    let mut to_come = vec![0.0; n_positions + 1];
    for position in (0..n_positions).rev() {
        let attracted = attraction(position);
        to_come[position] = attracted + (1.0 - leave[position] * attracted) * to_come[position + 1];
        if leave[position] * to_come[position + 1] > 1.0 {
            return None;
        }
    }
    let mut costs = Costs { start: 1.0 - leave[0] * to_come[1], swaps: vec![], examined: vec![1.0] };
    let mut examined = 1.0;
    for position in 1..n_positions {
        let leader = n_positions - 1 - position;
        let per_gap = examined * (leave[position - 1] - leave[position]) * to_come[position + 1];
        costs.swaps.push((leader, per_gap));
        // The leader now stands one position further up.
        examined *= 1.0 - leave[position - 1] * leaders[leader];
        costs.examined.push(examined);
    }
    Some(costs)
}
