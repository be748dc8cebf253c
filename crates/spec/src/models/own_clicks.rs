//! The own clicks of lists: how far a list differs from what its model predicts.
//!
//! Lists differ from the scaled predictions by a deviation of their own, with a variance that was
//! estimated on lists that a fit had not seen. A list that was shown `n` times, of the `N` times
//! that lists of its query were, has clicks of its own. They tell its deviation with the variance
//! `v = s^2 (1/n - 1/N)`. So in a draw of users with variance `t` of lists, the deviation is normal
//! with mean `k r` and variance `t (1 - k)`: `k = t / (t + v)`, and `r` is the difference of its
//! clicks from those of all lists, less the same difference in the draw. A list that was not shown
//! has mean 0 and the variance `t (1 + d / 4)`. Its distance `d` is the number of its positions
//! whose item was never shown there, and of its neighbours that were never shown so.
//!
//! Reference: the posterior distribution of a random effect (Robinson, *That BLUP is a good thing*,
//! Statistical Science 6, 1991). Deviations: the growth by a quarter for each unknown position is
//! an assumption.

use super::transfer::normal;
use click_models::{ItemId, Ranking};
use confidence::math::sqrt;
use itertools::Itertools as _;
use policies::Logged;
use sim::SimRng;
use std::collections::{BTreeMap, BTreeSet};

/// A list that is farther from those that were shown by one position or pair varies so much more.
const PER_STEP: f64 = 0.25;

/// The lists of a query in a log, with their clicks, and how far lists differ from predictions.
#[derive(Debug, Clone, Default)]
pub struct OwnClicks {
    /// The sessions and the clicks of each list, by its items.
    lists: BTreeMap<Vec<ItemId>, [u64; 2]>,
    items: BTreeSet<(usize, ItemId)>,
    pairs: BTreeSet<(ItemId, ItemId)>,
    sessions: f64,
    clicks: f64,
    /// Variance of lists, and of sessions with the same list.
    variances: [f64; 2],
}

impl OwnClicks {
    /// The lists with their sessions and clicks; `of_lists` is the variance of lists around scaled
    /// predictions, `of_sessions` that of the clicks of sessions with the same list.
    pub fn new(
        lists: impl IntoIterator<Item = (Vec<ItemId>, [u64; 2])>,
        of_lists: f64,
        of_sessions: f64,
    ) -> Self {
        let mut own = Self { variances: [of_lists, of_sessions], ..Self::default() };
        for (list, [sessions, clicks]) in lists {
            own.items.extend(list.iter().copied().enumerate());
            own.pairs.extend(list.iter().copied().tuple_windows::<(_, _)>());
            own.sessions += sessions as f64;
            own.clicks += clicks as f64;
            let sums = own.lists.entry(list).or_default();
            *sums = [sums[0] + sessions, sums[1] + clicks];
        }
        own
    }

    pub(super) fn lists(&self) -> impl Iterator<Item = Ranking> {
        self.lists.keys().map(|list| list.iter().copied().collect())
    }

    /// Returns whether lists differ from predictions at all.
    pub(super) fn is_needed(&self) -> bool {
        self.variances[0] > 0.0
    }

    /// Draws the deviation of a list; `beyond` is how much more clicks than on all lists of the
    /// query a draw of users predicts on it.
    pub(super) fn draw(&self, list: &Ranking, beyond: f64, rng: &mut SimRng) -> f64 {
        let [of_lists, of_sessions] = self.variances;
        let (mean, variance) = match self.lists.get(list.as_slice()) {
            Some(&[sessions, clicks]) => {
                let sessions = sessions as f64;
                let chance = of_sessions * (1.0 / sessions - 1.0 / self.sessions).max(0.0);
                let weight = of_lists / (of_lists + chance);
                let own = clicks as f64 / sessions - self.clicks / self.sessions;
                (weight * (own - beyond), of_lists * (1.0 - weight))
            }
            None => (0.0, of_lists * (1.0 + PER_STEP * self.distance(list) as f64)),
        };
        mean + sqrt(variance) * normal(rng)
    }

    /// The positions whose item was never shown there, and the neighbours that never were.
    fn distance(&self, list: &Ranking) -> usize {
        let items = list.by_position().filter(|place| !self.items.contains(place)).count();
        let pairs = list.iter().tuple_windows().filter(|pair| !self.pairs.contains(pair)).count();
        items + pairs
    }
}

/// The lists of a query that a log shows.
#[derive(Debug, Clone, Default)]
pub struct LogLists {
    /// Those of the whole log, with their clicks.
    pub own: OwnClicks,
    /// Those of parts of the log that may be today.
    pub parts: Vec<Logged>,
    /// Further lists to value.
    pub others: Vec<Ranking>,
}

#[cfg(test)]
mod tests;
