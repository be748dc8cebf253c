//! Scanning users who continue with a probability that depends on the item alone: the value of a
//! list, and the best list.
//!
//! At an examined position that shows item `u` the list earns `r_u`, and the user examines the next
//! position with probability `q_u`. So a list `u_1, .., u_L` earns
//!
//! ```text
//! V = r_1 + q_1 (r_2 + q_2 (r_3 + ..))
//! ```
//!
//! **The best list.** Let `u` stand directly above `v`, and let `W` be the value of the list below.
//! Then `u, v` earns `r_u + q_u r_v + q_u q_v W`, at least as much as `v, u` exactly if
//! `r_u (1 - q_v) >= r_v (1 - q_u)`. So the items of some best list stand in decreasing order of
//! `r / (1 - q)`, with items of `q = 1` first, and of these the items with `r = 0`, which cost
//! nothing anywhere, last. Which items to show is a dynamic program over the items in this order:
//! `V(i, l)`, the most that `l` positions earn with items from the `i`-th on, is the larger of
//! `V(i + 1, l)` and `r_i + q_i V(i + 1, l - 1)`.
//!
//! Complexity: O(`n_items` (`n_positions` + log `n_items`)), at construction.

use crate::linear_list::decreasing_numbers;
use crate::{ItemId, ListShape, Ranking};

/// The reward of every item and the probability that the user continues, by item.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Chain {
    /// Reward at an examined position.
    pub(crate) rewards: Vec<f64>,
    /// Probability that the user examines the next position.
    pub(crate) continuations: Vec<f64>,
}

impl Chain {
    /// The mean reward of a list.
    #[inline]
    pub(crate) fn value(&self, list: &Ranking) -> f64 {
        let (mut value, mut examined) = (0.0, 1.0);
        for item in list {
            value += examined * self.rewards[item.index()];
            examined *= self.continuations[item.index()];
        }
        value
    }

    /// A list with the largest mean reward, and this reward.
    pub(crate) fn best_list(&self, shape: ListShape) -> (Ranking, f64) {
        let n_positions = shape.n_positions();
        let ratios: Vec<f64> = (0..self.rewards.len()).map(|item| self.ratio(item)).collect();
        let items = decreasing_numbers(&ratios);
        // `values[l]`: the most that `l` positions earn with the items that were looked at, the
        // last ones of the order.
        let mut values = vec![f64::NEG_INFINITY; n_positions + 1];
        values[0] = 0.0;
        let mut is_shown = vec![false; items.len() * (n_positions + 1)];
        for (place, &item) in items.iter().enumerate().rev() {
            for length in (1..=n_positions).rev() {
                let with = self.rewards[item] + self.continuations[item] * values[length - 1];
                // 0 times an impossible list is not a number.
                if values[length - 1] > f64::NEG_INFINITY && with >= values[length] {
                    values[length] = with;
                    is_shown[place * (n_positions + 1) + length] = true;
                }
            }
        }
        let mut length = n_positions;
        let mut list = Ranking::default();
        for (place, &item) in items.iter().enumerate() {
            if length > 0 && is_shown[place * (n_positions + 1) + length] {
                list.push(ItemId::from_index(item));
                length -= 1;
            }
        }
        let value = self.value(&list);
        (list, value)
    }

    fn ratio(&self, item: usize) -> f64 {
        let (reward, stop) = (self.rewards[item], 1.0 - self.continuations[item]);
        // Items that are free to show go first, those that earn something before those that do not.
        if stop > 0.0 {
            reward / stop
        } else if reward > 0.0 {
            f64::INFINITY
        } else {
            f64::MAX
        }
    }
}
