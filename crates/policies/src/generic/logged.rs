//! Logged: the lists of a log by their frequencies, today's ranking.
//!
//! Every round shows one of the lists, drawn with its frequency. Feedback is ignored.
//!
//! Reference: none needed. Deviations: none. Symbols: none. Numerics: frequencies are counts, so
//! draws are exact. Complexity: a draw and a binary search among the different lists a round.
//!
//! # Examples
//!
//! ```
//! use click_models::{ClickModel, ItemId, PositionBased, Ranking};
//! use policies::{Decision, Logged, Select};
//! use rand::{SeedableRng, rngs::ChaCha8Rng};
//!
//! let users = PositionBased::from_values(&[0.1, 0.3], &[1.0, 0.5])?;
//! let list = |items: [u32; 2]| items.map(ItemId::new).into_iter().collect::<Ranking>();
//! // The better item is on top in one list of four.
//! let mut today = Logged::new(vec![(list([0, 1]), 3), (list([1, 0]), 1)]).expect("two lists");
//! let mut decision = Decision::default();
//! today.select(&mut ChaCha8Rng::seed_from_u64(1), &mut decision);
//! assert!(today.mean(|list| users.expected_clicks(list)) < users.optimal_reward());
//! # Ok::<(), click_models::Error>(())
//! ```

use crate::{Decision, Select, Update};
use click_models::Ranking;
use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};

/// Shows the lists of a log with their frequencies.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Vec<(Ranking, u64)>", into = "Vec<(Ranking, u64)>")]
pub struct Logged {
    lists: Vec<Ranking>,
    /// For every list the number of times that it or one before it was shown; increasing.
    ends: Vec<u64>,
}

/// There is no list, or the counts exceed 2^64 - 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected at least one list that was shown, and at most 2^64 - 1 in all")]
pub struct NoLists;

impl Logged {
    /// Shows each list as often as it was counted. Lists that were never shown are left out.
    ///
    /// # Errors
    ///
    /// [`NoLists`] if no list was shown, or more than 2^64 - 1.
    pub fn new(counted: Vec<(Ranking, u64)>) -> Result<Self, NoLists> {
        let (mut lists, mut ends) = (Vec::new(), Vec::new());
        let mut end = 0_u64;
        for (list, count) in counted {
            if count > 0 {
                end = end.checked_add(count).ok_or(NoLists)?;
                lists.push(list);
                ends.push(end);
            }
        }
        if lists.is_empty() { Err(NoLists) } else { Ok(Self { lists, ends }) }
    }

    /// The different lists, each with its count.
    pub fn lists(&self) -> impl Iterator<Item = (&Ranking, u64)> {
        let before = std::iter::once(&0).chain(&self.ends);
        self.lists.iter().zip(self.ends.iter().zip(before).map(|(end, before)| end - before))
    }

    /// The number of lists in all.
    pub fn count(&self) -> u64 {
        self.ends.last().copied().unwrap_or(0)
    }

    /// The mean of a value over the lists, for instance of the expected clicks.
    pub fn mean(&self, value: impl Fn(&Ranking) -> f64) -> f64 {
        self.lists().map(|(list, count)| value(list) * count as f64).sum::<f64>() / self.count() as f64
    }
}

impl TryFrom<Vec<(Ranking, u64)>> for Logged {
    type Error = NoLists;

    fn try_from(lists: Vec<(Ranking, u64)>) -> Result<Self, NoLists> {
        Self::new(lists)
    }
}

impl From<Logged> for Vec<(Ranking, u64)> {
    fn from(logged: Logged) -> Self {
        logged.lists().map(|(list, count)| (list.clone(), count)).collect()
    }
}

impl Select<Ranking> for Logged {
    type Note = ();

    fn select<R: Rng + ?Sized>(&mut self, rng: &mut R, out: &mut Decision<Ranking>) {
        let drawn = rng.random_range(0..self.count());
        let place = self.ends.partition_point(|&end| end <= drawn);
        out.action.clone_from(&self.lists[place]);
    }

    fn repeat_round(&mut self) -> bool {
        true
    }
}

impl<F> Update<Ranking, F> for Logged {
    fn update(&mut self, _decision: &Decision<Ranking>, _feedback: &F) {}
}

#[cfg(test)]
mod tests;
