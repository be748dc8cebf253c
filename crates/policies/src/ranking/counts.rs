//! Observed displays and clicks of every item: all that a prefix tells.

use crate::Error;
use crate::error::check_counts;
use click_models::{Clicks, ItemId, ListShape, Ranking};
use serde::{Deserialize, Serialize};

/// What a prefix policy has seen. Only observed displays count: positions inside the prefix.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Saved")]
pub(crate) struct PrefixCounts {
    n_positions: usize,
    /// Rounds decided so far.
    rounds: u64,
    shows: Vec<u64>,
    clicks: Vec<u64>,
}

#[derive(Deserialize)]
struct Saved {
    n_positions: usize,
    rounds: u64,
    shows: Vec<u64>,
    clicks: Vec<u64>,
}

impl PrefixCounts {
    pub(crate) fn new(shape: ListShape) -> Self {
        let fresh = vec![0; shape.n_items()];
        Self { n_positions: shape.n_positions(), rounds: 0, shows: fresh.clone(), clicks: fresh }
    }

    pub(crate) fn n_positions(&self) -> usize {
        self.n_positions
    }

    pub(crate) fn n_items(&self) -> usize {
        self.shows.len()
    }

    /// Counts a new round and gives its 1-based number.
    #[inline]
    pub(crate) fn next_round(&mut self) -> u64 {
        self.rounds += 1;
        self.rounds
    }

    #[inline]
    pub(crate) fn shows(&self, item: usize) -> u64 {
        self.shows[item]
    }

    #[inline]
    pub(crate) fn clicks(&self, item: usize) -> u64 {
        self.clicks[item]
    }

    /// Counts one round's observed displays and clicks, then calls `changed` with every item that was observed. Items that
    /// do not exist are ignored.
    #[inline]
    pub(crate) fn record(
        &mut self,
        shown: &Ranking,
        observed: Clicks,
        mut changed: impl FnMut(&Self, usize),
    ) {
        for (position, item) in shown.iter().take(observed.len()) {
            if item.index() < self.n_items() {
                self.shows[item.index()] += 1;
                self.clicks[item.index()] += u64::from(observed.get(position));
                changed(self, item.index());
            }
        }
    }
}

/// Shows `best` (scores and items, best first) from the top position down.
#[inline]
pub(crate) fn show(best: &[(f64, u32)], out: &mut Ranking) {
    for (place, &(_, item)) in out.positions_mut(best.len()).iter_mut().zip(best) {
        *place = ItemId::new(item);
    }
}

impl TryFrom<Saved> for PrefixCounts {
    type Error = Error;

    fn try_from(saved: Saved) -> Result<Self, Error> {
        ListShape::new(saved.shows.len(), saved.n_positions)?;
        check_counts(saved.rounds, &saved.shows, &saved.clicks)?;
        Ok(Self {
            n_positions: saved.n_positions,
            rounds: saved.rounds,
            shows: saved.shows,
            clicks: saved.clicks,
        })
    }
}
