//! Plays and clicks of every cell: the statistics of policies that treat cells as arms.

use crate::Error;
use crate::checked::checked;
use crate::error::check_counts;
use crate::rounds::Rounds;
use click_models::{Cell, CellClick, TableShape};
use serde::{Deserialize, Serialize};

/// Plays and clicks of every cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self")]
pub(super) struct CellCounts {
    pub(super) shape: TableShape,
    pub(super) rounds: Rounds,
    plays: Vec<u64>,
    clicks: Vec<u64>,
}

impl CellCounts {
    pub(super) fn new(shape: TableShape) -> Self {
        let fresh = vec![0; shape.n_cells()];
        Self { shape, rounds: Rounds::default(), plays: fresh.clone(), clicks: fresh }
    }

    /// Numbers of rows and columns.
    pub(super) fn sizes(&self) -> [usize; 2] {
        [self.shape.n_rows(), self.shape.n_columns()]
    }

    pub(super) fn plays(&self, cell: usize) -> u64 {
        self.plays[cell]
    }

    pub(super) fn clicks(&self, cell: usize) -> u64 {
        self.clicks[cell]
    }

    /// Plays and clicks of all cells.
    pub(super) fn all(&self) -> impl ExactSizeIterator<Item = (u64, u64)> + '_ {
        self.plays.iter().copied().zip(self.clicks.iter().copied())
    }

    /// Counts a round. Returns the number of the cell; `None` if there is no such cell.
    #[inline]
    pub(super) fn record(&mut self, played: Cell, seen: CellClick) -> Option<usize> {
        let cell = self.shape.number(played)?;
        self.plays[cell] += 1;
        self.clicks[cell] += u64::from(seen.clicked);
        Some(cell)
    }
}

checked!(CellCounts, |self| {
    if self.plays.len() != self.shape.n_cells() {
        return Err(Error::SavedSizes);
    }
    check_counts(self.rounds.get(), &self.plays, &self.clicks)?;
    Ok(self)
});
