use crate::checked::checked;
use crate::exact::number;
use crate::products::Products;
use crate::setup::setup;
use crate::{Decision, Error, Select, Update};
use click_models::{Cell, CellClick, TableShape};
use rand::Rng;
use serde::{Deserialize, Serialize};

/// `rank1-gibbs`: Thompson sampling with a posterior of rows and columns.
///
/// The probability of a click on cell (i, j) is `u_i v_j`. A round makes one Gibbs sweep: it draws
/// every row given the columns, then every column given the rows, and plays the largest row and the
/// largest column. The draw of a row with `S` clicks in `N` plays, `N_j` of them on column `j`, is
///
/// ```text
/// b / (sum over j of v_j N_j + 1) Gamma((S + 1) / b),    b = 1 - S / (N + 1)
/// ```
///
/// This is the posterior of a Poisson count with mean `u sum v_j N_j`, with its variance narrowed
/// to that of Bernoulli clicks. Columns are drawn likewise, and then divided by the largest of
/// them, since clicks determine the products only.
///
/// Reference: none, the policy is ours. Its performance is measured, not proven.
///
/// | here | formula | shape | unit |
/// |---|---|---|---|
/// | `products.plays` | N of every cell | `n_rows` x `n_columns` | rounds |
/// | `.row_clicks`, `.column_clicks` | S | `n_rows`, `n_columns` | clicks |
/// | `.rows`, `.columns` | u, v | `n_rows`, `n_columns` | approximate probability |
///
/// The sampled columns are saved, since the next sweep starts from them. Memory: 16 bytes a cell.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(remote = "Self")]
pub struct Rank1Gibbs {
    shape: TableShape,
    products: Products,
}

impl Rank1Gibbs {
    /// A fresh policy.
    pub fn new(shape: TableShape) -> Self {
        Self { shape, products: Products::new(shape.n_rows(), shape.n_columns()) }
    }
}

fn largest(side: &[f64]) -> u32 {
    number((0..side.len()).fold(0, |best, place| if side[place] > side[best] { place } else { best }))
}

checked!(Rank1Gibbs, |self| {
    let is_of_shape = self.products.sizes() == [self.shape.n_rows(), self.shape.n_columns()];
    if is_of_shape { Ok(self) } else { Err(Error::SavedSizes) }
});

setup!(Rank1Gibbs, &[], |policy| policy.products.sizes());

impl Select<Cell> for Rank1Gibbs {
    type Note = ();

    fn select<R: Rng + ?Sized>(&mut self, rng: &mut R, out: &mut Decision<Cell>) {
        self.products.sweep(rng);
        out.action = Cell::new(largest(self.products.rows()), largest(self.products.columns()));
    }
}

impl Update<Cell, CellClick> for Rank1Gibbs {
    #[inline]
    fn update(&mut self, decision: &Decision<Cell>, feedback: &CellClick) {
        if self.shape.number(decision.action).is_some() {
            let Cell { row, column } = decision.action;
            self.products.count(row as usize, column as usize, feedback.clicked);
        }
    }
}
