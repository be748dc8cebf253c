//! Clicks with a probability that is a product: the attraction of a row times the examination of a
//! column.
//!
//! A cell with `n` impressions has Binomial(`n`, `a g`) clicks. The position-based model has items
//! as rows and positions as columns; the user browsing model has pairs (position, last click) as
//! columns. Priors are additional rows and counts.
//!
//! There are two ways to the maximum. *EM*: after a skip `P(attractive) = a (1 - g) / (1 - a g)`
//! and `P(examined) = g (1 - a) / (1 - a g)`, after a click both are 1; each parameter becomes the
//! mean of its posterior. *Newton's method*: in `x = ln a`, `y = ln g` the log-likelihood `c (x +
//! y) + (n - c) ln(1 - exp(x + y))` is jointly concave in all parameters, so a local maximum is the
//! global one. Rows are eliminated from the equations, which leaves one equation per column.
//!
//! Reference: EM, Chuklin, Markov, de Rijke, *Click models for web search*, 2015, chapter 4;
//! Newton's method is ours. Deviations: EM leaves the examination of the first position free and
//! scales at the end. The likelihood depends on products only, and EM climbs faster in the larger
//! family.
//!
//! | here | meaning |
//! |---|---|
//! | `a`, `g` | attraction of the row, examination of the column |
//! | `clicks`, `skips` | counts of a cell |
//! | `h` | minus the second derivative of a cell's log-likelihood by `x + y`: `skips a g / (1 - a g)^2` |
//! | `pins` | columns that set the scale: the first column of each connected part |
//!
//! Numerics: Newton's method stops when its decrement, the gain that one more step promises, is
//! below 1e-12 nats; it still takes that step. If the maximum is on the edge (without priors, an
//! item that was clicked at every impression), Newton's method gives up and EM takes over.
//! Complexity: an EM step costs one division per cell, on all cores for many cells. A Newton step
//! costs O(`m`^2) for a row with `m` cells, and O(columns^3) for all. Rows with equal counts are
//! treated as one row. Variances cost the cube of the number of rows or of columns, the smaller
//! one; there are none if it exceeds [`MANY`].

mod cells;
mod em;
mod newton;

use super::connected_columns::ConnectedColumns;
use super::options::{EmOptions, Method};
use super::squarem::{self, Convergence};
use cells::Total;

pub(crate) use cells::Cells;

/// Largest size of the matrix that variances come from.
const MANY: usize = 512;

/// The maximum.
#[derive(Debug, Clone)]
pub(crate) struct RankOne {
    pub(crate) rows: Vec<f64>,
    /// 1 for the first column of each connected part.
    pub(crate) columns: Vec<f64>,
    /// Variances of the logarithms of the parameters, rows then columns; 0 for those that set the
    /// scale. `None` if they are not wanted, or if the information matrix is singular.
    pub(crate) variances: Option<[Vec<f64>; 2]>,
    pub(crate) convergence: Convergence,
}

impl Cells {
    /// Starting point: rates of rows, and rates of columns relative to slightly more than the
    /// largest. All are inside (0, 1), except for 0 without clicks.
    pub(crate) fn start(&self) -> Vec<f64> {
        let rate = |total: &Total| {
            if total.clicks > 0.0 { (total.clicks + 0.5) / (total.impressions + 1.0) } else { 0.0 }
        };
        let of_row = |row: usize| {
            let clicks = self.rows[row];
            let impressions = clicks + self.row(row).map(|(_, skips)| skips).sum::<f64>();
            rate(&Total { clicks, impressions })
        };
        let columns: Vec<f64> = self.column_totals.iter().map(rate).collect();
        let largest = columns.iter().copied().fold(f64::MIN_POSITIVE, f64::max) / 0.9;
        (0..self.rows.len()).map(of_row).chain(columns.iter().map(|rate| rate / largest)).collect()
    }

    fn climb(&self, near: Option<Vec<f64>>, method: Method, em: &EmOptions, has_errors: bool) -> RankOne {
        let pins = self.pins();
        let mut at = self.start();
        let direct = (method == Method::Direct).then(|| {
            // Newton's method leaves parameters without clicks at 0.
            let is_same = |near: &[f64]| near.iter().zip(&at).all(|(near, at)| (*near > 0.0) == (*at > 0.0));
            let near = near.filter(|near| is_same(near) && self.is_inside(near));
            let near = near.and_then(|near| self.newton_near(&near, 0, &pins));
            near.or_else(|| self.newton(&at, &pins))
        });
        let convergence = match direct.flatten() {
            Some((found, convergence)) => {
                at = found;
                convergence
            }
            None => squarem::maximise(self, &mut at, em),
        };
        self.scale(&mut at, &pins);
        let n_rows = self.row_of.len();
        let variances = if !has_errors || n_rows.min(pins.len()) > MANY {
            None
        } else if n_rows < pins.len() {
            self.variances_by_rows(&at, &pins)
        } else {
            self.information(&at, &pins).and_then(|information| information.variances(self, &at, &pins))
        };
        let columns = at.split_off(self.rows.len());
        RankOne { rows: at, columns, variances, convergence }
    }

    /// For every column the first one of its connected part; rows and columns without clicks
    /// connect nothing.
    fn pins(&self) -> Vec<usize> {
        let mut parts = ConnectedColumns::new(self.column_totals.len());
        for (row, &clicks) in self.rows.iter().enumerate() {
            if clicks > 0.0 {
                let mut first = None;
                for (column, ..) in self.row(row).filter(|cell| self.column_totals[cell.0].clicks > 0.0) {
                    parts.join(*first.get_or_insert(column), column);
                }
            }
        }
        (0..self.column_totals.len()).map(|column| parts.first(column)).collect()
    }

    /// Divides columns by their pin, and multiplies rows by it.
    fn scale(&self, at: &mut [f64], pins: &[usize]) {
        let (rows, columns) = at.split_at_mut(self.rows.len());
        for (row, a) in rows.iter_mut().enumerate() {
            if let Some((column, ..)) = self.row(row).find(|cell| self.column_totals[cell.0].clicks > 0.0) {
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
