//! Displays and clicks of every item at every position, for policies that know the sizes only.

use crate::Error;
use crate::checked::checked;
use crate::error::check_counts;
use crate::rounds::Rounds;
use click_models::{ListShape, Ranking, RenderedClicks};
use serde::{Deserialize, Serialize};

/// The counts of a policy that does not know examination.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self")]
pub(super) struct CellCounts {
    pub(super) n_positions: usize,
    pub(super) rounds: Rounds,
    /// Item by item, every position.
    shows: Vec<u64>,
    clicks: Vec<u64>,
}

impl CellCounts {
    pub(super) fn new(shape: ListShape) -> Self {
        let fresh = vec![0; shape.n_items() * shape.n_positions()];
        Self {
            n_positions: shape.n_positions(),
            rounds: Rounds::default(),
            shows: fresh.clone(),
            clicks: fresh,
        }
    }

    pub(super) fn n_items(&self) -> usize {
        self.shows.len() / self.n_positions
    }

    /// Numbers of items and positions.
    pub(super) fn sizes(&self) -> [usize; 2] {
        [self.n_items(), self.n_positions]
    }

    /// Displays and clicks of every cell.
    pub(super) fn all(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.shows.iter().copied().zip(self.clicks.iter().copied())
    }

    /// Displays and clicks of a cell: item times `n_positions` plus position.
    pub(super) fn cell(&self, cell: usize) -> (u64, u64) {
        (self.shows[cell], self.clicks[cell])
    }

    /// Counts one round's displays and clicks at the rendered positions, then calls `changed` for
    /// every cell there. Ignores unknown items and positions beyond the list.
    #[inline]
    pub(super) fn record(
        &mut self,
        shown: &Ranking,
        seen: &impl RenderedClicks,
        mut changed: impl FnMut(&Self, usize),
    ) {
        let clicks = seen.rendered_clicks(self.n_positions);
        for (position, item) in shown.by_position().take(clicks.len()) {
            if item.index() < self.n_items() {
                let cell = item.index() * self.n_positions + position;
                self.shows[cell] += 1;
                self.clicks[cell] += u64::from(clicks.get(position));
                changed(self, cell);
            }
        }
    }
}

checked!(CellCounts, |self| {
    if self.n_positions == 0 || !self.shows.len().is_multiple_of(self.n_positions) {
        return Err(Error::SavedSizes);
    }
    ListShape::new(self.n_items(), self.n_positions)?;
    check_counts(self.rounds.get(), &self.shows, &self.clicks)?;
    Ok(self)
});
