//! Clicks whose probability is a product: of a number of the row, attraction, and a number of the column, examination.
//!
//! In a cell with `n` impressions there are Binomial(`n`, `a g`) clicks. This is the position-based model with items as rows
//! and positions as columns, and the user browsing model with (position, last click) as columns. Priors are rows and counts
//! that were never seen; the maximum does not tell them from others.
//!
//! Two ways to the maximum. *EM*: after a skip `P(attractive) = a (1 - g) / (1 - a g)` and `P(examined) = g (1 - a) / (1 - a
//! g)`, after a click both are 1; each parameter becomes the mean of its posterior. *Newton*: in `x = ln a`, `y = ln g` the
//! log-likelihood `c (x + y) + (n - c) ln(1 - exp(x + y))` is concave in all parameters together, so that a maximum is the
//! only one; rows are eliminated from the equations, which leaves one for each column.
//!
//! Reference: EM, Chuklin, Markov, de Rijke, *Click models for web search*, 2015, chapter 4; Newton is ours. Deviations: EM
//! leaves the examination of the first position free and scales at the end; the likelihood depends on products alone, and the
//! larger family climbs faster.
//!
//! | here | meaning |
//! |---|---|
//! | `a`, `g` | attraction of the row, examination of the column |
//! | `clicks`, `skips` | of a cell |
//! | `h` | minus the second derivative of a cell's log-likelihood by `x + y`: `skips a g / (1 - a g)^2` |
//! | `pins` | columns that set the scale: the first one of each connected part |
//!
//! Numerics: the end of Newton's method is told by its decrement, the gain that one more step promises, 1e-12 nats; the step
//! is then taken still. Where the maximum is on the edge (an item that was clicked whenever shown; no prior) Newton's method
//! gives up and EM goes on. Complexity: a cell and EM step one division, on all cores where there are many; a row with `m`
//! cells and Newton step O(`m`^2), and O(columns^3) for all; rows with the same counts are one row in all of this.

mod cells;
mod em;
mod newton;

use super::connected_columns::ConnectedColumns;
use super::options::{EmOptions, Method};
use super::squarem::{self, Convergence};
use cells::Total;

pub(crate) use cells::Cells;

/// The maximum.
#[derive(Debug, Clone)]
pub(crate) struct RankOne {
    pub(crate) rows: Vec<f64>,
    /// 1 for the first column of each connected part.
    pub(crate) columns: Vec<f64>,
    /// Variances of the logarithms of the parameters, rows then columns, 0 for those that set the scale; none where the
    /// information does not tell.
    pub(crate) variances: Option<[Vec<f64>; 2]>,
    pub(crate) convergence: Convergence,
}

pub(crate) struct Problem<'a> {
    cells: &'a Cells,
}

impl Problem<'_> {
    fn n_rows(&self) -> usize {
        self.cells.rows.len()
    }

    /// Rates of rows, and of columns relative to a bit more than the largest; all inside (0, 1) but where there are no clicks, 0.
    pub(crate) fn start(&self) -> Vec<f64> {
        let rate =
            |of: &Total| if of.clicks > 0.0 { (of.clicks + 0.5) / (of.impressions + 1.0) } else { 0.0 };
        let of_row = |row: usize| {
            let clicks = self.cells.rows[row];
            let impressions = clicks + self.cells.row(row).map(|(_, skips)| skips).sum::<f64>();
            rate(&Total { clicks, impressions })
        };
        let columns: Vec<f64> = self.cells.column_totals.iter().map(rate).collect();
        let largest = columns.iter().copied().fold(f64::MIN_POSITIVE, f64::max) / 0.9;
        (0..self.n_rows()).map(of_row).chain(columns.iter().map(|rate| rate / largest)).collect()
    }

    fn maximise(&self, method: Method, em: &EmOptions, trace: bool) -> RankOne {
        let pins = self.pins();
        let mut at = self.start();
        let direct = if method == Method::Direct { self.newton(&at, &pins, trace) } else { None };
        let convergence = match direct {
            Some((found, convergence)) => {
                at = found;
                convergence
            }
            None => squarem::maximise(self, &mut at, em, trace),
        };
        self.scale(&mut at, &pins);
        let information = self.information(&at, &pins);
        let variances = information.and_then(|information| information.variances(self, &at, &pins));
        let columns = at.split_off(self.n_rows());
        RankOne { rows: at, columns, variances, convergence }
    }

    /// For every column the first of its connected part; rows and columns without clicks connect nothing.
    fn pins(&self) -> Vec<usize> {
        let mut parts = ConnectedColumns::new(self.cells.column_totals.len());
        for (row, &clicks) in self.cells.rows.iter().enumerate() {
            if clicks > 0.0 {
                let mut first = None;
                for (column, ..) in
                    self.cells.row(row).filter(|cell| self.cells.column_totals[cell.0].clicks > 0.0)
                {
                    parts.join(*first.get_or_insert(column), column);
                }
            }
        }
        (0..self.cells.column_totals.len()).map(|column| parts.first(column)).collect()
    }

    /// Divides columns by their pin, and multiplies rows.
    fn scale(&self, at: &mut [f64], pins: &[usize]) {
        let (rows, columns) = at.split_at_mut(self.n_rows());
        for (row, a) in rows.iter_mut().enumerate() {
            if let Some((column, ..)) =
                self.cells.row(row).find(|cell| self.cells.column_totals[cell.0].clicks > 0.0)
            {
                *a *= columns[pins[column]];
            }
        }
        let scales: Vec<f64> = pins.iter().map(|&pin| columns[pin]).collect();
        for (g, scale) in columns.iter_mut().zip(scales) {
            if scale > 0.0 {
                *g /= scale;
            }
        }
    }
}

#[cfg(test)]
mod tests;
