//! Wins of every item against every other one: the statistics of dueling policies.

use crate::Error;
use crate::checked::checked;
use crate::error::MAX_COUNT;
use crate::rounds::Rounds;
use click_models::{DuelOutcome, DuelShape, ItemId, Pair};
use serde::{Deserialize, Serialize};

/// Wins of every item against every other one; comparisons with itself do not count.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self")]
pub(super) struct DuelCounts {
    pub(super) shape: DuelShape,
    pub(super) rounds: Rounds,
    /// One row per winner.
    wins: Vec<u64>,
}

impl DuelCounts {
    pub(super) fn new(shape: DuelShape) -> Self {
        Self { shape, rounds: Rounds::default(), wins: vec![0; shape.n_pairs()] }
    }

    /// Number of items.
    pub(super) fn sizes(&self) -> [usize; 2] {
        [self.shape.n_items(), 2]
    }

    /// Number of duels in which `item` was preferred to `other`; both must be known.
    pub(super) fn wins(&self, item: usize, other: usize) -> u64 {
        self.wins[item * self.shape.n_items() + other]
    }

    /// Number of duels of the two; both must be known.
    #[inline]
    pub(super) fn duels(&self, item: usize, other: usize) -> u64 {
        self.wins(item, other) + self.wins(other, item)
    }

    /// Counts a duel. Returns winner and loser; `None` if an item is unknown or both are the same.
    #[inline]
    pub(super) fn record(&mut self, played: Pair, seen: DuelOutcome) -> Option<(usize, usize)> {
        let Pair { first, second } = played;
        if first == second || !self.shape.contains(played) {
            return None;
        }
        let (winner, loser) = if seen.first_won() { (first, second) } else { (second, first) };
        let (winner, loser) = (winner.index(), loser.index());
        self.wins[winner * self.shape.n_items() + loser] += 1;
        Some((winner, loser))
    }

    /// Number of other items that an item beat in more than half of their duels.
    pub(super) fn n_beaten(&self, item: ItemId) -> usize {
        let item = item.index();
        (0..self.shape.n_items()).filter(|&other| self.wins(item, other) > self.wins(other, item)).count()
    }
}

checked!(DuelCounts, |self| {
    if self.wins.len() != self.shape.n_pairs() {
        return Err(Error::SavedSizes);
    }
    let too_large = self.wins.iter().copied().chain([self.rounds.get()]).find(|&count| count > MAX_COUNT);
    too_large.map_or(Ok(self), |count| Err(Error::TooManyRounds(count)))
});
