//! Counts, row by row; rows with equal counts are stored once.

use super::super::options::{EmOptions, Method};
use super::RankOne;
use hashbrown::HashTable;
use std::ops::Range;

/// From this number of rows on it pays to make rows with the same columns contiguous.
const MANY_ROWS: usize = 1 << 10;

/// Counts, row by row. Clicks are stored as sums, since the likelihood depends on sums only. Rows
/// with equal counts have the same maximum. Most rows of a log are rare items with equal counts, so
/// such rows are stored once, with their number.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cells {
    pub(super) starts: Vec<u32>,
    pub(super) columns: Vec<u16>,
    pub(super) skips: Vec<f64>,
    /// Clicks of rows.
    pub(super) rows: Vec<f64>,
    /// Number of equal rows.
    pub(super) times: Vec<f64>,
    /// The first rows of runs of rows with the same columns.
    pub(super) runs: Vec<u32>,
    /// For every row added, the index of the row that represents it.
    pub(super) row_of: Vec<u32>,
    /// Rows by a hash of their counts, with the hash.
    pub(super) index: HashTable<(u32, u32)>,
    pub(super) column_totals: Vec<Total>,
    pub(super) open: f64,
}

/// Clicks and impressions.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Total {
    pub(super) clicks: f64,
    pub(super) impressions: f64,
}

impl Total {
    pub(super) fn add(&mut self, clicks: f64, impressions: f64) {
        self.clicks += clicks;
        self.impressions += impressions;
    }

    /// The EM update of a parameter; `sum` times the parameter is the expected number of skips
    /// attributed to it.
    pub(super) fn mean(self, parameter: f64, sum: f64) -> f64 {
        if self.impressions > 0.0 { (self.clicks + parameter * sum) / self.impressions } else { parameter }
    }
}

impl Cells {
    pub(crate) fn new(n_columns: usize) -> Self {
        Self { starts: vec![0], column_totals: vec![Total::default(); n_columns], ..Self::default() }
    }

    /// Adds a cell to the current row. Impressions need not be whole numbers.
    pub(crate) fn push(&mut self, column: usize, clicks: f64, impressions: f64) {
        debug_assert!((0.0..=impressions).contains(&clicks));
        self.columns.push(u16::try_from(column).expect("there are at most 2,080 columns"));
        self.skips.push(impressions - clicks);
        self.open += clicks;
        self.column_totals[column].add(clicks, impressions);
    }

    pub(crate) fn end_row(&mut self) {
        let clicks = std::mem::take(&mut self.open);
        let start = self.starts[self.rows.len()] as usize;
        let hash = hash(clicks, &self.columns[start..], &self.skips[start..]);
        let same = self.index.find(spread(hash), |&(hash_of_row, row)| {
            let cells = self.cells_of(row as usize);
            hash_of_row == hash
                && self.rows[row as usize] == clicks
                && self.columns[cells.clone()] == self.columns[start..]
                && self.skips[cells] == self.skips[start..]
        });
        let row = if let Some(&(_, row)) = same {
            self.columns.truncate(start);
            self.skips.truncate(start);
            self.times[row as usize] += 1.0;
            row
        } else {
            let row = self.complete(clicks, 1.0);
            self.index.insert_unique(spread(hash), (hash, row), |&(hash, _)| spread(hash));
            row
        };
        self.row_of.push(row);
    }

    /// Makes the cells since the last row a row.
    fn complete(&mut self, clicks: f64, times: f64) -> u32 {
        let number = u32::try_from(self.rows.len()).expect("fewer than 2^32 rows, 40 GB");
        self.starts.push(u32::try_from(self.columns.len()).expect("fewer than 2^32 cells, 40 GB"));
        self.rows.push(clicks);
        self.times.push(times);
        let row = self.rows.len() - 1;
        if row == 0 || self.columns[self.cells_of(row - 1)] != self.columns[self.cells_of(row)] {
            self.runs.push(number);
        }
        number
    }

    pub(super) fn cells_of(&self, row: usize) -> Range<usize> {
        self.starts[row] as usize..self.starts[row + 1] as usize
    }

    /// Column and skips of the cells of a row.
    #[inline]
    pub(super) fn row(&self, row: usize) -> impl Iterator<Item = (usize, f64)> {
        let cells = self.cells_of(row);
        let columns = self.columns[cells.clone()].iter().map(|&column| usize::from(column));
        columns.zip(self.skips[cells].iter().copied())
    }

    /// Maximises the likelihood, with Newton's method first from parameters near the maximum, if
    /// they are known: those of all rows, and those of columns.
    pub(crate) fn maximise_from(
        mut self,
        near: Option<[Vec<f64>; 2]>,
        method: Method,
        em: &EmOptions,
        has_errors: bool,
    ) -> RankOne {
        self.index = HashTable::new();
        if self.rows.len() >= MANY_ROWS {
            self = self.by_columns();
        }
        let near = near.map(|[of_rows, columns]| {
            let mut at = vec![0.0; self.rows.len()];
            for (&row, a) in self.row_of.iter().zip(of_rows) {
                at[row as usize] = if self.rows[row as usize] > 0.0 { a } else { 0.0 };
            }
            let totals = self.column_totals.iter();
            at.extend(totals.zip(columns).map(|(total, g)| if total.clicks > 0.0 { g } else { 0.0 }));
            at
        });
        let mut found = self.climb(near, method, em, has_errors);
        let of_all = |numbers: &mut Vec<f64>| {
            *numbers = self.row_of.iter().map(|&row| numbers[row as usize]).collect();
        };
        of_all(&mut found.rows);
        if let Some([of_rows, _]) = &mut found.variances {
            of_all(of_rows);
        }
        found
    }

    /// Sorts rows so that rows with the same columns are contiguous.
    pub(super) fn by_columns(self) -> Self {
        let ends = self.runs.iter().skip(1).map(|&run| run as usize).chain([self.rows.len()]);
        let mut runs: Vec<Range<usize>> =
            self.runs.iter().zip(ends).map(|(&run, end)| run as usize..end).collect();
        runs.sort_by_key(|run| {
            let columns = &self.columns[self.cells_of(run.start)];
            (columns.len(), columns)
        });
        let mut sorted = Self::new(self.column_totals.len());
        let mut places = vec![0; self.rows.len()];
        for row in runs.into_iter().flatten() {
            let cells = self.cells_of(row);
            sorted.columns.extend_from_slice(&self.columns[cells.clone()]);
            sorted.skips.extend_from_slice(&self.skips[cells]);
            places[row] = sorted.complete(self.rows[row], self.times[row]);
        }
        sorted.row_of = self.row_of.iter().map(|&row| places[row as usize]).collect();
        Self { column_totals: self.column_totals, ..sorted }
    }
}

/// A hash of the counts of a row.
fn hash(clicks: f64, columns: &[u16], skips: &[f64]) -> u32 {
    let cells = columns.iter().zip(skips);
    let hash =
        cells.fold(clicks.to_bits(), |hash, (&column, skips)| mix(hash ^ u64::from(column), skips.to_bits()));
    (hash >> 32) as u32
}

/// Folds the halves of the product: every bit of the result depends on all bits of both.
fn mix(a: u64, b: u64) -> u64 {
    // Binary digits of pi and of the square root of 2, without structure.
    let product = u128::from(a ^ 0x243f_6a88_85a3_08d3) * u128::from(b ^ 0xf9de_6485_b504_f333);
    #[expect(clippy::cast_possible_truncation, reason = "the two halves")]
    let (low, high) = (product as u64, (product >> 64) as u64);
    low ^ high
}

/// Spreads a hash to both ends of 64 bits, which a hash table uses.
fn spread(hash: u32) -> u64 {
    mix(hash.into(), 0)
}
