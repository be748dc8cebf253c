//! Bernoulli rank-one model: the learner chooses a row and a column, and a click occurs if both
//! succeed.
//!
//! In every round row `i` is attractive with probability `rows[i]` and column `j` examined with
//! probability `columns[j]`, independently. Only the product is observed: a missing click does not
//! reveal which factor is zero. With items as rows and positions as columns, the model is one
//! display of one item in the position-based model with *unknown* examination.
//!
//! Reference: Katariya, Kveton, Szepesvari, Vernade, Wen, *Bernoulli rank-1 bandits for click
//! feedback*, IJCAI 2017, section 2. The instances of its experiments are [`RankOneModel::needle`]
//! (8) and [`RankOneModel::try_from`] a position-based model; [`RankOneModel::calibrated`]
//! substitutes one of which only the summary is known. Deviations: the rows of one round, which may
//! depend on each other in the paper, share one draw, and so do the columns. A policy observes one
//! cell per round, so it cannot see the difference.
//!
//! | here | paper | shape | unit |
//! |---|---|---|---|
//! | `rows`, `columns` | `u-bar`, `v-bar` | `n_rows` (K), `n_columns` (L) | probability |
//! | `Cell` | `(i_t, j_t)` | - | - |
//! | `gap` | expectation of `R(i, j, u_t, v_t)` | - | clicks |
//!
//! Degenerate instances are valid: with all rows (or columns) 0 every cell is optimal, and one row
//! or one column is an ordinary bandit. If several cells tie for the best, `optimal_action` is the
//! first.
//!
//! Numerics: two uniform draws per round for every cell. Complexity: constant.
//!
//! # Examples
//!
//! The paper's first experiment with K = L = 32:
//!
//! ```
//! use click_models::{Cell, ClickModel, RankOneModel, TableShape};
//!
//! let users = RankOneModel::needle(TableShape::new(32, 32)?, (0.25, 0.5), (0.25, 0.5))?;
//! assert_eq!(users.optimal_action(), Cell::new(0, 0));
//! assert_eq!(users.optimal_reward(), 0.5625);
//! // A wrong row: .75 * .75 - .25 * .75
//! assert_eq!(users.gap(&Cell::new(3, 0)), 0.375);
//! // mu = .25 + .5 / 32
//! assert_eq!(users.hardness().mu, 0.265625);
//! # Ok::<(), click_models::Error>(())
//! ```

use crate::bounds::{self, RankOneHardness, rank_one_hardness};
use crate::parameters::parameters;
use crate::{Cell, CellClick, ClickModel, Error, PositionBased, RankOne, TableShape};
use confidence::Probability;
use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};

/// Users of the rank-one model.
///
/// Saved as its two parameters, `rows` and `columns`, and checked again when it is loaded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, fieldwork::Fieldwork)]
#[serde(try_from = "Parameters", into = "Parameters")]
#[fieldwork(get(doc_template = "{}"))]
pub struct RankOneModel {
    /// Numbers of rows and columns.
    #[field(copy)]
    shape: TableShape,
    /// Probability of every row.
    rows: Vec<Probability>,
    /// Probability of every column.
    columns: Vec<Probability>,
    #[field(skip)]
    best: (Cell, f64),
}

parameters! {
    #[serde(deny_unknown_fields)]
    RankOneModel as users {
        rows: Vec<Probability> = users.rows,
        columns: Vec<Probability> = users.columns,
    } by Self::new(rows, columns)
}

impl RankOneModel {
    /// Users with these probabilities, one per row and one per column.
    ///
    /// # Errors
    ///
    /// As [`TableShape::new`].
    pub fn new(rows: Vec<Probability>, columns: Vec<Probability>) -> Result<Self, Error> {
        Ok(Self::of_shape(TableShape::new(rows.len(), columns.len())?, rows, columns))
    }

    /// [`RankOneModel::new`] from plain numbers.
    ///
    /// # Errors
    ///
    /// As [`RankOneModel::new`], and [`Error::NotAProbability`] for a number outside 0 to 1.
    pub fn from_values(rows: &[f64], columns: &[f64]) -> Result<Self, Error> {
        Self::new(Error::probabilities("rows", rows)?, Error::probabilities("columns", columns)?)
    }

    /// A needle in a haystack, equation (8): every row has the first probability of `rows`, except
    /// row 0, which has the sum of both. Columns are analogous.
    ///
    /// # Errors
    ///
    /// [`Error::NotAProbability`] if an entry or a sum is not a probability.
    pub fn needle(shape: TableShape, rows: (f64, f64), columns: (f64, f64)) -> Result<Self, Error> {
        let side = |(base, gap): (f64, f64), n: usize| {
            let mut side = vec![base; n];
            side[0] = base + gap;
            side
        };
        Self::from_values(&side(rows, shape.n_rows()), &side(columns, shape.n_columns()))
    }

    /// A random instance: every row and every column uniform on 0 to 1, drawn in this order.
    pub fn random<R: Rng + ?Sized>(shape: TableShape, rng: &mut R) -> Self {
        // Every sample from [0, 1) is a probability.
        let mut draw = |_| Probability::new(rng.random::<f64>()).unwrap_or_default();
        let rows: Vec<Probability> = (0..shape.n_rows()).map(&mut draw).collect();
        let columns: Vec<Probability> = (0..shape.n_columns()).map(&mut draw).collect();
        Self::of_shape(shape, rows, columns)
    }

    /// A random instance that matches the paper's summary: `mu` (3), `p_max` (4), and hence `gamma`
    /// (5).
    ///
    /// For a real query the paper prints only these and the sizes. Our choices for the rest:
    ///
    /// - Rows (items) have the smaller average, `mu`; columns (positions) have a larger average.
    ///   Both sides reach `p_max`.
    /// - Row `i` is `p_max u_i^e`, where the `u_i` are uniform draws divided by the largest of
    ///   them, and `e` is the power that makes the average `mu`.
    /// - Columns fall from `p_max` in equal steps, the last one to `p_max / n_columns`: on average
    ///   `p_max (n_columns + 1) / (2 n_columns)`.
    ///
    /// # Errors
    ///
    /// [`Error::NotCalibrated`] unless `p_max / n_rows < mu <= p_max / 2`: otherwise all rows but
    /// one would have to be 0 or less, or the columns could have the smaller average.
    pub fn calibrated<R: Rng + ?Sized>(
        shape: TableShape,
        mu: Probability,
        p_max: Probability,
        rng: &mut R,
    ) -> Result<Self, Error> {
        let (n_rows, n_columns) = (shape.n_rows(), shape.n_columns());
        let (mu, p_max) = (mu.get(), p_max.get());
        if !(mu > p_max / n_rows as f64 && mu <= p_max / 2.0) {
            return Err(Error::NotCalibrated { mu, p_max, n_rows });
        }
        // In (0, 1], so that every power is positive.
        let draws: Vec<f64> = (0..n_rows).map(|_| 1.0 - rng.random::<f64>()).collect();
        let largest = draws.iter().copied().fold(0.0, f64::max);
        let shares: Vec<f64> = draws.iter().map(|draw| draw / largest).collect();
        let exponent = exponent_of_average(&shares, mu / p_max);
        let rows: Vec<f64> = shares.iter().map(|&share| p_max * libm::pow(share, exponent)).collect();
        let step = |column: usize| p_max * (n_columns - column) as f64 / n_columns as f64;
        let columns: Vec<f64> = (0..n_columns).map(step).collect();
        Self::from_values(&rows, &columns)
    }

    /// `shape` must match the numbers of rows and columns.
    fn of_shape(shape: TableShape, rows: Vec<Probability>, columns: Vec<Probability>) -> Self {
        let (row, column) = (first_of_largest(&rows), first_of_largest(&columns));
        let best = shape.cell(row * shape.n_columns() + column);
        let reward = rows[row].get() * columns[column].get();
        Self { shape, rows, columns, best: (best, reward) }
    }

    /// Lower bound on the regret of any uniformly efficient policy on this instance, in clicks per
    /// `ln T`: [`bounds::rank_one_lower_bound`].
    pub fn lower_bound(&self) -> f64 {
        bounds::rank_one_lower_bound(&plain(&self.rows), &plain(&self.columns))
    }

    /// The quantities that determine the hardness of an instance in the paper's analysis.
    #[expect(clippy::missing_panics_doc, reason = "the model holds probabilities, at least one a side")]
    pub fn hardness(&self) -> RankOneHardness {
        rank_one_hardness(&plain(&self.rows), &plain(&self.columns))
            .expect("probabilities, at least one a side")
    }
}

fn plain(side: &[Probability]) -> Vec<f64> {
    side.iter().map(|probability| probability.get()).collect()
}

fn first_of_largest(side: &[Probability]) -> usize {
    let better = |best: usize, place: usize| if side[place] > side[best] { place } else { best };
    (0..side.len()).fold(0, better)
}

/// The power to which the shares have to be raised so that they have this average. The largest
/// share is 1, and the average must be above that of a single 1 among zeros.
fn exponent_of_average(shares: &[f64], average: f64) -> f64 {
    let above = |exponent: f64| {
        let sum: f64 = shares.iter().map(|&share| libm::pow(share, exponent)).sum();
        sum > average * shares.len() as f64
    };
    // The average falls from 1 as the power grows. If several shares are 1, it may never reach the
    // target.
    let (mut low, mut high) = (0.0, 1.0);
    while above(high) && high < 1e9 {
        (low, high) = (high, 2.0 * high);
    }
    // Bisect until no number lies between the ends.
    loop {
        let middle = low + (high - low) / 2.0;
        if middle <= low || middle >= high {
            return high;
        }
        if above(middle) { low = middle } else { high = middle }
    }
}

impl TryFrom<&PositionBased> for RankOneModel {
    type Error = Error;

    /// One item shown at one position: items become rows, positions columns.
    ///
    /// # Errors
    ///
    /// As [`RankOneModel::new`]: a table has at most `u32::MAX` cells.
    fn try_from(users: &PositionBased) -> Result<Self, Error> {
        Self::new(users.attraction().to_vec(), users.examination().to_vec())
    }
}

impl ClickModel for RankOneModel {
    type Interaction = RankOne;
    type Known<'a> = TableShape;

    fn known(&self) -> TableShape {
        self.shape
    }

    fn admits(&self, action: &Cell) -> bool {
        self.shape.contains(*action)
    }

    #[inline]
    fn respond<R: Rng + ?Sized>(&self, action: &Cell, rng: &mut R) -> CellClick {
        let row = rng.random::<f64>() < self.rows[action.row as usize].get();
        let column = rng.random::<f64>() < self.columns[action.column as usize].get();
        CellClick { clicked: row && column }
    }

    fn expected_reward(&self, action: &Cell) -> f64 {
        self.rows[action.row as usize].get() * self.columns[action.column as usize].get()
    }

    fn best(&self) -> &(Cell, f64) {
        &self.best
    }
}
