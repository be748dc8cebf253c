//! Sampled factors: a cell (i, j) of a table is clicked with probability `u_i v_j`.
//!
//! A Gibbs sweep draws every row given the columns, then every column given the rows, as
//! [`Rank1Gibbs`](crate::Rank1Gibbs) documents it. It plays one cell a round;
//! [`PbmGibbs`](crate::PbmGibbs) plays several, of items and positions. A row or a column may begin
//! with a belief: plays and clicks that are added to its own.
//!
//! Numerics: sums of a row have four lanes, the same on every machine. A row with few played cells
//! is summed over these alone: the others add 0, so the result has the same bits. The sampled
//! columns are part of the saved state, since the next sweep starts from them. Complexity: O(K L)
//! multiply-adds at most, and O(K + L) Gamma draws a sweep. Memory: 17 bytes a cell.

mod played;

use crate::Error;
use crate::checked::with_state;
use crate::error::{MAX_COUNT, check_up_to};
use crate::exact::float;
use crate::sampling::{GammaShape, Sampler};
use crate::setup::restored;
use played::PlayedColumns;
use rand::Rng;
use serde::{Deserialize, Serialize};

/// The largest sum of a row or a column: with one more play it is exact as a floating-point number,
/// so that no draw is narrowed to nothing.
const MAX_SUM: u64 = 1 << 50;

/// A prior worth `plays` with a certain partner, with `clicks` clicks.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Pseudo {
    pub(crate) plays: f64,
    pub(crate) clicks: f64,
}

with_state! {
/// Plays and clicks of a table, and the last sweep.
pub(crate) struct Products {
    /// Row by row.
    plays: Vec<u64>,
    row_clicks: Vec<u64>,
    column_clicks: Vec<u64>,
    /// The columns of the last sweep.
    columns: Vec<f64>,
} derived {
    /// `plays` as floating-point numbers.
    weights: Vec<f64> = plays.iter().map(|&plays| float(plays)).collect(),
    row_plays: Vec<u64> = plays.chunks_exact(columns.len()).map(|row| row.iter().sum()).collect(),
    column_plays: Vec<u64> = {
        let mut sums = vec![0; columns.len()];
        for row in plays.chunks_exact(columns.len()) {
            for (sum, &plays) in sums.iter_mut().zip(row) {
                *sum = u64::saturating_add(*sum, plays);
            }
        }
        sums
    },
    rows: Vec<f64> = vec![0.0; row_clicks.len()],
    row_prior: Vec<Pseudo> = vec![Pseudo::default(); rows.len()],
    column_prior: Vec<Pseudo> = vec![Pseudo::default(); columns.len()],
    row_laws: Vec<Law> = Vec::with_capacity(rows.len()),
    column_laws: Vec<Law> = Vec::with_capacity(columns.len()),
    played: PlayedColumns = PlayedColumns::new(&plays, columns.len()),
    /// Buffer: `sum over i of u_i N_i` of each column.
    expected: Vec<f64> = vec![0.0; columns.len()],
    sampler: Sampler = Sampler::new(),
}
}

/// The input of the draw of a row or a column.
#[derive(Debug, Clone, Copy)]
struct Law {
    narrowed: f64,
    shape: GammaShape,
    believed_plays: f64,
}

impl Law {
    fn new(plays: u64, clicks: u64, prior: Pseudo) -> Self {
        let (plays, clicks) = (float(plays) + prior.plays, float(clicks) + prior.clicks);
        let narrowed = 1.0 - clicks / (plays + 1.0);
        let shape = GammaShape::new((clicks + 1.0) / narrowed);
        Self { narrowed, shape, believed_plays: prior.plays }
    }

    /// A draw, given the expected clicks of its plays at probability 1.
    fn draw<R: Rng + ?Sized>(self, sampler: Sampler, expected: f64, rng: &mut R) -> f64 {
        self.narrowed / (expected + self.believed_plays + 1.0) * sampler.gamma(self.shape, rng)
    }
}

restored!(Products, |saved| {
    let (n_rows, n_columns) = (saved.row_clicks.len(), saved.columns.len());
    let is_table = n_columns > 0 && n_rows.checked_mul(n_columns) == Some(saved.plays.len());
    if !is_table || saved.column_clicks.len() != n_columns {
        return Err(Error::SavedSizes);
    }
    check_up_to(MAX_COUNT, &saved.plays, &saved.plays)?;
    let mut products = Self::assemble(saved);
    check_up_to(MAX_SUM, &products.row_plays, &products.row_clicks)?;
    check_up_to(MAX_SUM, &products.column_plays, &products.column_clicks)?;
    if products.columns.iter().any(|column| !(0.0..=1.0).contains(column)) {
        return Err(Error::SavedColumns);
    }
    products.set_laws();
    Ok(products)
});

impl Products {
    /// A table without plays; the columns of the sweep before the first are 1.
    pub(crate) fn new(n_rows: usize, n_columns: usize) -> Self {
        let mut products = Self::assemble(State {
            plays: vec![0; n_rows * n_columns],
            row_clicks: vec![0; n_rows],
            column_clicks: vec![0; n_columns],
            columns: vec![1.0; n_columns],
        });
        products.set_laws();
        products
    }

    /// Sets the distributions of all draws. Counts must have been checked.
    fn set_laws(&mut self) {
        let Self { row_plays, row_clicks, row_prior, column_plays, column_clicks, column_prior, .. } = self;
        let laws = |plays: &[u64], clicks: &[u64], prior: &[Pseudo], laws: &mut Vec<Law>| {
            laws.clear();
            laws.extend(plays.iter().zip(clicks).zip(prior).map(|((&n, &s), &prior)| Law::new(n, s, prior)));
        };
        laws(row_plays, row_clicks, row_prior, &mut self.row_laws);
        laws(column_plays, column_clicks, column_prior, &mut self.column_laws);
    }

    /// Begins the first rows and columns with these beliefs, the others without any.
    pub(crate) fn set_prior(&mut self, rows: &[Pseudo], columns: &[Pseudo]) {
        for (beliefs, priors) in [(&mut self.row_prior, rows), (&mut self.column_prior, columns)] {
            beliefs.iter_mut().zip(priors).for_each(|(belief, prior)| *belief = *prior);
        }
        self.set_laws();
    }

    /// Clicks of every cell with these sums of rows, in the first cells: older states have the sums
    /// alone.
    pub(crate) fn some_clicks(&self) -> Vec<u64> {
        let rows = self.plays.chunks_exact(self.columns.len()).zip(&self.row_clicks);
        rows.flat_map(|(plays, &clicks)| {
            let mut left = clicks;
            plays.iter().map(move |&plays| {
                let clicks = left.min(plays);
                left -= clicks;
                clicks
            })
        })
        .collect()
    }

    /// Returns whether these clicks of every cell are possible, with the sums of all rows.
    pub(crate) fn may_have(&self, clicks: &[u64]) -> bool {
        let of_rows = clicks.chunks_exact(self.columns.len()).map(|row| row.iter().sum::<u64>());
        clicks.len() == self.plays.len()
            && clicks.iter().zip(&self.plays).all(|(clicks, plays)| clicks <= plays)
            && of_rows.eq(self.row_clicks.iter().copied())
    }

    /// Adds a row without plays, with this belief.
    pub(crate) fn push(&mut self, belief: Pseudo) {
        let n_cells = self.plays.len() + self.columns.len();
        self.plays.resize(n_cells, 0);
        self.weights.resize(n_cells, 0.0);
        self.row_plays.push(0);
        self.row_clicks.push(0);
        self.rows.push(0.0);
        self.row_prior.push(belief);
        self.row_laws.push(Law::new(0, 0, belief));
        self.played.push();
    }

    pub(crate) fn plays(&self, row: usize, column: usize) -> u64 {
        self.plays[row * self.columns.len() + column]
    }

    /// The most plays that a cell may be set to: what is counted can be restored.
    pub(crate) fn most_plays(&self, row: usize, column: usize) -> u64 {
        let sum = self.row_plays[row].max(self.column_plays[column]);
        MAX_SUM.saturating_sub(sum - self.plays(row, column))
    }

    /// Changes the plays of a cell, and its clicks, which are kept in sums only.
    pub(crate) fn set_cell(&mut self, row: usize, column: usize, plays: u64, clicks: [u64; 2]) {
        let n_columns = self.columns.len();
        let cell = row * n_columns + column;
        let before = std::mem::replace(&mut self.plays[cell], plays);
        self.weights[cell] = float(plays);
        if (before == 0) != (plays == 0) {
            self.played.set_row(row, &self.plays[row * n_columns..][..n_columns]);
        }
        let [clicks_before, clicks] = clicks;
        for (plays_of, clicks_of) in [
            (&mut self.row_plays[row], &mut self.row_clicks[row]),
            (&mut self.column_plays[column], &mut self.column_clicks[column]),
        ] {
            *plays_of = *plays_of - before + plays;
            *clicks_of = (clicks_of.saturating_sub(clicks_before) + clicks).min(*plays_of);
        }
        self.set_laws_of(row, column);
    }

    #[inline]
    fn set_laws_of(&mut self, row: usize, column: usize) {
        self.row_laws[row] = Law::new(self.row_plays[row], self.row_clicks[row], self.row_prior[row]);
        self.column_laws[column] =
            Law::new(self.column_plays[column], self.column_clicks[column], self.column_prior[column]);
    }

    /// Numbers of rows and columns.
    pub(crate) fn sizes(&self) -> [usize; 2] {
        [self.rows.len(), self.columns.len()]
    }

    /// The sampled rows.
    pub(crate) fn rows(&self) -> &[f64] {
        &self.rows
    }

    /// The sampled columns; the largest is 1.
    pub(crate) fn columns(&self) -> &[f64] {
        &self.columns
    }

    /// Counts a play of a cell of the table.
    #[inline]
    pub(crate) fn count(&mut self, row: usize, column: usize, clicked: bool) {
        let cell = row * self.columns.len() + column;
        self.plays[cell] += 1;
        if self.plays[cell] == 1 {
            self.played.add(row, column);
        }
        self.weights[cell] = float(self.plays[cell]);
        self.row_plays[row] += 1;
        self.column_plays[column] += 1;
        self.row_clicks[row] += u64::from(clicked);
        self.column_clicks[column] += u64::from(clicked);
        self.set_laws_of(row, column);
    }

    /// Makes one Gibbs sweep.
    #[inline]
    pub(crate) fn sweep<R: Rng + ?Sized>(&mut self, rng: &mut R) {
        let Self { sampler, rows, columns, expected, played, .. } = self;
        expected.fill(0.0);
        let weights = self.weights.chunks_exact(columns.len());
        for (number, ((row, weights), law)) in rows.iter_mut().zip(weights).zip(&self.row_laws).enumerate() {
            if let Some(played) = played.of_row(number) {
                *row = law.draw(*sampler, product_of(played, weights, columns), rng);
                for &column in played {
                    expected[column as usize] += *row * weights[column as usize];
                }
            } else {
                *row = law.draw(*sampler, product(weights, columns), rng);
                for (sum, weight) in expected.iter_mut().zip(weights) {
                    *sum += *row * weight;
                }
            }
        }
        let mut largest = 0.0_f64;
        for ((column, &expected), law) in columns.iter_mut().zip(&*expected).zip(&self.column_laws) {
            *column = law.draw(*sampler, expected, rng);
            largest = largest.max(*column);
        }
        // Gamma draws with a shape of at least 1 are positive.
        for column in columns {
            *column /= largest;
        }
    }
}

/// Sum of products, in four lanes.
#[inline]
fn product(a: &[f64], b: &[f64]) -> f64 {
    let mut lanes = [0.0; 4];
    let (a, b) = (a.chunks_exact(4), b.chunks_exact(4));
    let rest: f64 = a.remainder().iter().zip(b.remainder()).map(|(a, b)| a * b).sum();
    for (a, b) in a.zip(b) {
        for ((lane, a), b) in lanes.iter_mut().zip(a).zip(b) {
            *lane += a * b;
        }
    }
    (lanes[0] + lanes[2]) + (lanes[1] + lanes[3]) + rest
}

/// [`product`], if all `a` are 0 except at these places, which are in increasing order.
#[inline]
fn product_of(places: &[u32], a: &[f64], b: &[f64]) -> f64 {
    let mut lanes = [0.0; 4];
    let mut rest = 0.0;
    let end = a.len() - a.len() % 4;
    for &place in places {
        let place = place as usize;
        let lane = if place < end { &mut lanes[place % 4] } else { &mut rest };
        *lane += a[place] * b[place];
    }
    (lanes[0] + lanes[2]) + (lanes[1] + lanes[3]) + rest
}

#[cfg(test)]
mod tests;
