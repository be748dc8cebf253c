//! Wins of every item against every other one: the statistics of dueling policies.

use crate::Error;
use crate::checked::checked;
use crate::error::MAX_COUNT;
use crate::rounds::Rounds;
use crate::top_l::Ties;
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

    /// Returns whether an item won more than half of its duels with another one.
    pub(super) fn leads(&self, item: usize, other: usize) -> bool {
        self.wins(item, other) > self.wins(other, item)
    }

    /// Number of other items that an item beat in more than half of their duels.
    pub(super) fn n_beaten(&self, item: ItemId) -> usize {
        (0..self.shape.n_items()).filter(|&other| self.leads(item.index(), other)).count()
    }

    /// The one of these items that beat most of the others in more than half of their duels; ties
    /// are random.
    pub(super) fn most_beating(&self, items: &[u32], ties: Ties) -> u32 {
        let beaten = |item: u32| {
            items.iter().filter(|&&other| self.leads(item as usize, other as usize)).count() as f64
        };
        ties.first(items.iter().copied(), beaten).unwrap_or(0)
    }

    /// A number for every ordered pair, row by row, by the wins of the row's item and its losses.
    pub(super) fn table<T>(&self, of_pair: impl Fn(u64, u64) -> T) -> Vec<T> {
        let items = 0..self.shape.n_items();
        let pairs = items.clone().flat_map(|item| items.clone().map(move |other| (item, other)));
        pairs.map(|(item, other)| of_pair(self.wins(item, other), self.wins(other, item))).collect()
    }
}

checked!(DuelCounts, |self| {
    if self.wins.len() != self.shape.n_pairs() {
        return Err(Error::SavedSizes);
    }
    let too_large = self.wins.iter().copied().chain([self.rounds.get()]).find(|&count| count > MAX_COUNT);
    too_large.map_or(Ok(self), |count| Err(Error::TooManyRounds(count)))
});

/// Checks saved remaining items: at least one, all known, distinct, and sorted by number.
pub(super) fn check_left(left: &[u32], shape: DuelShape) -> Result<(), Error> {
    let in_order = left.windows(2).all(|pair| pair[0] < pair[1]);
    let known = left.last().is_some_and(|&item| (item as usize) < shape.n_items());
    if in_order && known { Ok(()) } else { Err(Error::SavedLeft) }
}

/// Removes an item from items sorted by number. Returns whether it was there.
pub(super) fn remove(left: &mut Vec<u32>, item: usize) -> bool {
    let place = left.binary_search_by(|&other| (other as usize).cmp(&item));
    place.map(|place| left.remove(place)).is_ok()
}
