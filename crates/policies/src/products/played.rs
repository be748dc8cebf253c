//! The played cells of rows that have few.

use crate::exact::number;

/// With a larger share of its cells played, a row is summed faster over all cells.
const SHARE: usize = 4;
/// With fewer columns every row is summed over all cells.
const FEWEST_COLUMNS: usize = 16;

/// The columns of the played cells of every row, up to a number of cells.
#[derive(Debug, Clone)]
pub(super) struct PlayedColumns {
    /// At most this number of cells of a row is kept.
    pub(super) most: usize,
    /// `most` columns a row, of which the first are used; in increasing order.
    pub(super) columns: Vec<u32>,
    /// Played cells of each row.
    pub(super) lens: Vec<usize>,
}

impl PlayedColumns {
    /// From the plays of all cells, row by row.
    pub(super) fn new(plays: &[u64], n_columns: usize) -> Self {
        let n_rows = plays.len() / n_columns;
        let most = if n_columns < FEWEST_COLUMNS { 0 } else { n_columns / SHARE };
        let mut played = Self { most, columns: vec![0; n_rows * most], lens: vec![0; n_rows] };
        for (cell, _) in plays.iter().enumerate().filter(|&(_, &plays)| plays > 0) {
            played.add(cell / n_columns, cell % n_columns);
        }
        played
    }

    /// Adds a row without played cells.
    pub(super) fn push(&mut self) {
        self.columns.resize(self.columns.len() + self.most, 0);
        self.lens.push(0);
    }

    pub(super) fn set_row(&mut self, row: usize, plays: &[u64]) {
        self.lens[row] = 0;
        for (column, _) in plays.iter().enumerate().filter(|&(_, &plays)| plays > 0) {
            self.add(row, column);
        }
    }

    /// A cell is played for the first time.
    #[inline]
    pub(super) fn add(&mut self, row: usize, column: usize) {
        let column = number(column);
        let len = self.lens[row];
        self.lens[row] += 1;
        if len < self.most {
            let columns = &mut self.columns[row * self.most..][..=len];
            let place = columns[..len].partition_point(|&other| other < column);
            columns.copy_within(place..len, place + 1);
            columns[place] = column;
        }
    }

    /// The columns of a row's played cells, in order; `None` if there are too many.
    #[inline]
    pub(super) fn of_row(&self, row: usize) -> Option<&[u32]> {
        let len = self.lens[row];
        // Without columns also a row without plays is summed over all cells.
        (len <= self.most && self.most > 0).then(|| &self.columns[row * self.most..][..len])
    }
}
