//! Bernoulli rank-one model: a row and a column are chosen, and there is a click if both do their part.
//!
//! In every round row `i` is attractive with probability `rows[i]` and column `j` examined with probability `columns[j]`,
//! independently. The click on the chosen cell is the product, and nothing else is seen: without a click nobody can tell whose fault
//! it was. The mean rewards of all cells are a matrix of rank one. With items as rows and positions as columns it is one display of one
//! item in the position-based model whose examination is *not* known.
//!
//! Reference: Katariya, Kveton, Szepesvari, Vernade, Wen, *Bernoulli rank-1 bandits for click feedback*, IJCAI 2017, section 2;
//! the instances of its experiments are [`RankOneModel::needle`] (8) and [`RankOneModel::try_from`] a position-based model.
//! Deviations: the paper's rows of one round may depend on each other in any way; here they share one draw (row `i` is
//! attractive if the draw is below `rows[i]`), and so do the columns. A policy sees one cell a round and cannot tell.
//!
//! | here | paper | shape | unit |
//! |---|---|---|---|
//! | `rows` | `u-bar` | `n_rows` (K) | probability |
//! | `columns` | `v-bar` | `n_columns` (L) | probability |
//! | `Cell` | `(i_t, j_t)` | - | - |
//! | `gap` | expectation of `R(i, j, u_t, v_t)` | - | clicks |
//!
//! Degenerate instances are instances: where all rows (or columns) are 0 every cell is optimal and no regret is possible; one row or
//! one column is an ordinary bandit; where several rows and columns tie for the best, each of their cells has regret 0, and
//! `optimal_action` is the first of them.
//!
//! Numerics: two uniform draws a round, whatever is chosen. Complexity: constant.
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

use crate::bounds::{RankOneHardness, rank_one_hardness};
use crate::{Cell, CellClick, ClickModel, Error, PositionBased, RankOne, TableShape};
use confidence::Probability;
use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};

/// Users of the rank-one model.
///
/// Saved as its two parameters, `rows` and `columns`, and checked again when it is loaded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Parameters", into = "Parameters")]
pub struct RankOneModel {
    shape: TableShape,
    rows: Vec<Probability>,
    columns: Vec<Probability>,
    optimal: Cell,
    optimal_reward: f64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Parameters {
    rows: Vec<Probability>,
    columns: Vec<Probability>,
}

impl RankOneModel {
    /// Users with these probabilities, one a row and one a column.
    ///
    /// # Errors
    ///
    /// What [`TableShape::new`] refuses.
    pub fn new(rows: Vec<Probability>, columns: Vec<Probability>) -> Result<Self, Error> {
        Ok(Self::of_shape(TableShape::new(rows.len(), columns.len())?, rows, columns))
    }

    /// The same from plain numbers.
    ///
    /// # Errors
    ///
    /// As [`RankOneModel::new`], and [`Error::NotAProbability`] for a number outside 0 to 1.
    pub fn from_values(rows: &[f64], columns: &[f64]) -> Result<Self, Error> {
        Self::new(Error::probabilities("rows", rows)?, Error::probabilities("columns", columns)?)
    }

    /// A needle in a haystack, equation (8): every row has the first probability of `rows`, but row 0 has the sum of the two; the
    /// columns likewise.
    ///
    /// # Errors
    ///
    /// [`Error::NotAProbability`] when a probability or a sum is none.
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
        // A sample of [0, 1) is a probability.
        let mut draw = |_| Probability::new(rng.random::<f64>()).unwrap_or_default();
        let rows: Vec<Probability> = (0..shape.n_rows()).map(&mut draw).collect();
        let columns: Vec<Probability> = (0..shape.n_columns()).map(&mut draw).collect();
        Self::of_shape(shape, rows, columns)
    }

    /// `shape` counts the parameters.
    fn of_shape(shape: TableShape, rows: Vec<Probability>, columns: Vec<Probability>) -> Self {
        let (row, column) = (first_of_largest(&rows), first_of_largest(&columns));
        let optimal_reward = rows[row].get() * columns[column].get();
        let optimal = shape.cell(row * shape.n_columns() + column);
        Self { shape, rows, columns, optimal, optimal_reward }
    }

    /// Numbers of rows and columns.
    pub fn shape(&self) -> TableShape {
        self.shape
    }

    /// Probability of every row.
    pub fn rows(&self) -> &[Probability] {
        &self.rows
    }

    /// Probability of every column.
    pub fn columns(&self) -> &[Probability] {
        &self.columns
    }

    /// The quantities in which the paper's analysis measures how hard an instance is.
    #[expect(clippy::missing_panics_doc, reason = "the model holds probabilities, at least one a side")]
    pub fn hardness(&self) -> RankOneHardness {
        let plain =
            |side: &[Probability]| side.iter().map(|probability| probability.get()).collect::<Vec<_>>();
        rank_one_hardness(&plain(&self.rows), &plain(&self.columns))
            .expect("probabilities, at least one a side")
    }
}

fn first_of_largest(side: &[Probability]) -> usize {
    let better = |best: usize, place: usize| if side[place] > side[best] { place } else { best };
    (0..side.len()).fold(0, better)
}

impl TryFrom<Parameters> for RankOneModel {
    type Error = Error;

    fn try_from(raw: Parameters) -> Result<Self, Error> {
        Self::new(raw.rows, raw.columns)
    }
}

impl From<RankOneModel> for Parameters {
    fn from(model: RankOneModel) -> Self {
        Self { rows: model.rows, columns: model.columns }
    }
}

impl TryFrom<&PositionBased> for RankOneModel {
    type Error = Error;

    /// One item shown at one position: items are rows, positions columns. Refuses more cells than a table can have.
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

    #[inline]
    fn admits(&self, action: &Cell) -> bool {
        self.shape.contains(*action)
    }

    #[inline]
    fn respond<R: Rng + ?Sized>(&self, action: &Cell, rng: &mut R) -> CellClick {
        let row = rng.random::<f64>() < self.rows[action.row as usize].get();
        let column = rng.random::<f64>() < self.columns[action.column as usize].get();
        CellClick { clicked: row && column }
    }

    #[inline]
    fn clicks(&self, feedback: &CellClick) -> f64 {
        f64::from(u8::from(feedback.clicked))
    }

    #[inline]
    fn expected_reward(&self, action: &Cell) -> f64 {
        self.rows[action.row as usize].get() * self.columns[action.column as usize].get()
    }

    #[inline]
    fn optimal_reward(&self) -> f64 {
        self.optimal_reward
    }

    fn optimal_action(&self) -> Cell {
        self.optimal
    }
}
