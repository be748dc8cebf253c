//! `rank1-gibbs`: Thompson sampling with a posterior of rows and columns.
//!
//! The probability of a click on cell (i, j) is `u_i v_j`. A round makes one Gibbs sweep: it draws every row given the columns, then
//! every column given the rows, and plays the largest row and the largest column. The draw of a row with `S` clicks in `N` plays, `N_j`
//! of them on column `j`, is
//!
//! ```text
//! b / (sum over j of v_j N_j + 1) Gamma((S + 1) / b),    b = 1 - S / (N + 1)
//! ```
//!
//! This is the posterior of a Poisson count with mean `u sum v_j N_j`, with its variance narrowed to that of Bernoulli clicks. Columns
//! are drawn likewise, and then divided by the largest of them, since clicks determine the products only.
//!
//! Reference: none, the policy is ours. There is no proof of logarithmic regret; its performance is measured. Deviations: none.
//!
//! | here | formula | shape | unit |
//! |---|---|---|---|
//! | `plays` | N of every cell | `n_rows` x `n_columns` | rounds |
//! | `row_clicks`, `column_clicks` | S | `n_rows`, `n_columns` | clicks |
//! | `rows`, `columns` | u, v | `n_rows`, `n_columns` | approximate probability |
//!
//! Numerics: sums of a row have four lanes, the same on every machine. The sampled columns are part of the saved state, since the next
//! sweep starts from them. Complexity: O(K L) multiply-adds and O(K + L) Gamma draws a round. Memory: 16 bytes a cell.
//!
//! # Examples
//!
//! ```
//! use click_models::{ClickModel, RankOneModel};
//! use policies::{Decision, Rank1Gibbs, Select, Update};
//! use rand::{SeedableRng, rngs::ChaCha8Rng};
//!
//! let users = RankOneModel::from_values(&[0.1, 0.9, 0.1], &[0.1, 0.1, 0.9])?;
//! let mut policy = Rank1Gibbs::new(users.shape());
//! let mut rng = ChaCha8Rng::seed_from_u64(1);
//! let mut decision = Decision::default();
//! let best = (0..1000)
//!     .filter(|_| {
//!         policy.select(&mut rng, &mut decision);
//!         policy.update(&decision, &users.respond(&decision.action, &mut rng));
//!         decision.action == users.optimal_action()
//!     })
//!     .count();
//! assert!(best > 900);
//! # Ok::<(), click_models::Error>(())
//! ```

use crate::error::check_counts;
use crate::exact::float;
use crate::sampling::{GammaShape, Sampler};
use crate::sizes::Sizes;
use crate::{Decision, Error, Select, Update};
use click_models::{Cell, CellClick, TableShape};
use rand::Rng;
use serde::{Deserialize, Serialize};

/// Thompson sampling with a posterior of rows and columns.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "Saved")]
pub struct Rank1Gibbs {
    shape: TableShape,
    /// Row by row.
    plays: Vec<u64>,
    row_clicks: Vec<u64>,
    column_clicks: Vec<u64>,
    /// The columns of the last sweep.
    columns: Vec<f64>,
    /// `plays` as floating-point numbers.
    #[serde(skip)]
    weights: Vec<f64>,
    #[serde(skip)]
    row_plays: Vec<u64>,
    #[serde(skip)]
    column_plays: Vec<u64>,
    #[serde(skip)]
    rows: Vec<f64>,
    /// Buffer: `sum over i of u_i N_i` of each column.
    #[serde(skip)]
    expected: Vec<f64>,
    #[serde(skip)]
    sampler: Sampler,
}

#[derive(Deserialize)]
struct Saved {
    shape: TableShape,
    plays: Vec<u64>,
    row_clicks: Vec<u64>,
    column_clicks: Vec<u64>,
    columns: Vec<f64>,
}

impl Rank1Gibbs {
    /// A fresh policy.
    pub fn new(shape: TableShape) -> Self {
        Self::assemble(Saved {
            shape,
            plays: vec![0; shape.n_cells()],
            row_clicks: vec![0; shape.n_rows()],
            column_clicks: vec![0; shape.n_columns()],
            columns: vec![1.0; shape.n_columns()],
        })
    }

    fn assemble(Saved { shape, plays, row_clicks, column_clicks, columns }: Saved) -> Self {
        let mut column_plays = vec![0; shape.n_columns()];
        for row in plays.chunks_exact(shape.n_columns()) {
            column_plays.iter_mut().zip(row).for_each(|(sum, plays)| *sum += plays);
        }
        Self {
            weights: plays.iter().map(|&plays| float(plays)).collect(),
            row_plays: plays.chunks_exact(shape.n_columns()).map(|row| row.iter().sum()).collect(),
            column_plays,
            rows: vec![0.0; shape.n_rows()],
            expected: vec![0.0; shape.n_columns()],
            sampler: Sampler::new(),
            shape,
            plays,
            row_clicks,
            column_clicks,
            columns,
        }
    }

    /// Makes one Gibbs sweep.
    fn sweep<R: Rng + ?Sized>(&mut self, rng: &mut R) {
        let Self { sampler, rows, columns, expected, .. } = self;
        expected.fill(0.0);
        let counts = self.row_plays.iter().zip(&self.row_clicks);
        for ((row, weights), (&plays, &clicks)) in
            rows.iter_mut().zip(self.weights.chunks_exact(self.shape.n_columns())).zip(counts)
        {
            *row = draw(*sampler, plays, clicks, product(weights, columns), rng);
            if plays > 0 {
                for (sum, weight) in expected.iter_mut().zip(weights) {
                    *sum += *row * weight;
                }
            }
        }
        let mut largest = 0.0_f64;
        let counts = self.column_plays.iter().zip(&self.column_clicks);
        for ((column, &expected), (&plays, &clicks)) in columns.iter_mut().zip(&*expected).zip(counts) {
            *column = draw(*sampler, plays, clicks, expected, rng);
            largest = largest.max(*column);
        }
        // Gamma draws with a shape of at least 1 are positive.
        for column in columns {
            *column /= largest;
        }
    }
}

/// Draws a row or a column, given the expected clicks of its plays at probability 1.
#[inline]
fn draw<R: Rng + ?Sized>(sampler: Sampler, plays: u64, clicks: u64, expected: f64, rng: &mut R) -> f64 {
    let narrowed = 1.0 - float(clicks) / float(plays + 1);
    let shape = GammaShape::new(float(clicks + 1) / narrowed);
    narrowed / (expected + 1.0) * sampler.gamma(shape, rng)
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

#[expect(clippy::cast_possible_truncation, reason = "rows and columns are numbered by 32 bits")]
fn largest(side: &[f64]) -> u32 {
    (0..side.len()).fold(0, |best, place| if side[place] > side[best] { place } else { best }) as u32
}

impl TryFrom<Saved> for Rank1Gibbs {
    type Error = Error;

    fn try_from(saved: Saved) -> Result<Self, Error> {
        let (n_rows, n_columns) = (saved.shape.n_rows(), saved.shape.n_columns());
        let sizes =
            [saved.plays.len(), saved.row_clicks.len(), saved.column_clicks.len(), saved.columns.len()];
        if sizes != [n_rows * n_columns, n_rows, n_columns, n_columns] {
            return Err(Error::SavedSizes);
        }
        check_counts(0, &saved.plays, &saved.plays)?;
        let policy = Self::assemble(saved);
        check_counts(0, &policy.row_plays, &policy.row_clicks)?;
        check_counts(0, &policy.column_plays, &policy.column_clicks)?;
        if policy.columns.iter().any(|column| !(0.0..=1.0).contains(column)) {
            return Err(Error::SavedColumns);
        }
        Ok(policy)
    }
}

impl Sizes for Rank1Gibbs {
    fn sizes(&self) -> [usize; 2] {
        [self.shape.n_rows(), self.shape.n_columns()]
    }
}

impl Select<Cell> for Rank1Gibbs {
    type Note = ();

    #[inline]
    fn select<R: Rng + ?Sized>(&mut self, rng: &mut R, out: &mut Decision<Cell>) {
        self.sweep(rng);
        out.action = Cell::new(largest(&self.rows), largest(&self.columns));
    }
}

impl Update<Cell, CellClick> for Rank1Gibbs {
    #[inline]
    fn update(&mut self, decision: &Decision<Cell>, feedback: &CellClick) {
        let Some(cell) = self.shape.number(decision.action) else { return };
        let (row, column) = (decision.action.row as usize, decision.action.column as usize);
        self.plays[cell] += 1;
        self.weights[cell] = float(self.plays[cell]);
        self.row_plays[row] += 1;
        self.column_plays[column] += 1;
        self.row_clicks[row] += u64::from(feedback.clicked);
        self.column_clicks[column] += u64::from(feedback.clicked);
    }
}
