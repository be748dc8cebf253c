//! Preference matrices: the probabilities with which each of K items is preferred to each other
//! item.
//!
//! `p_ij` is the probability that item `i` is preferred to item `j`: `p_ij + p_ji = 1` and
//! `p_ii = 1/2`. Its excess is `e_ij = p_ij - 1/2`, and `i` *beats* `j` if the excess is positive.
//! There are several notions of a best item:
//!
//! | winner | definition | exists | function |
//! |---|---|---|---|
//! | Condorcet | beats all others | often | [`PreferenceMatrix::condorcet_winner`] |
//! | Copeland | beats most others | always, may be several | [`PreferenceMatrix::copeland_winners`] |
//! | Borda | wins most often against an opponent drawn at random | always, may be several | [`PreferenceMatrix::borda_winners`] |
//! | von Neumann | a lottery that wins at least half of its duels with any item | always | [`PreferenceMatrix::von_neumann_winner`] |
//!
//! Reference: Zoghi, Whiteson, Munos, de Rijke, *Relative upper confidence bound for the K-armed
//! dueling bandit problem*, ICML 2014, sections 2 and 8.1; Dudik, Hofmann, Schapire, Slivkins,
//! Zoghi, *Contextual dueling bandits*, COLT 2015 (von Neumann winner, the maximal lottery of
//! Kreweras and Fishburn); Yue, Joachims, *Beat the mean bandit*, ICML 2011 (relaxed transitivity).
//! Deviations:
//!
//! - Transitivity is about the excesses: `gamma p_1k >= max{p_1j, p_jk}`, as section 8.1 prints it,
//!   would hold for any matrix with `gamma = 2`. It is taken over the pairs in which `j` beats `k`,
//!   which in a total order are those in which `j` comes first, so that cycles are covered.
//! - The number of subsets of K items whose Condorcet winner is `r` is `C(N_r, K - 1)`, where
//!   section 8.1 prints `C(N_r, K)`: the others come from the `N_r` items that `r` beats.
//!
//! | here | paper | shape | unit |
//! |---|---|---|---|
//! | `probabilities` | `p_ij` | K x K | probability |
//! | `excess` | `p_ij - 1/2` | K x K | probability |
//! | `n_beaten` | `N_r` | K | items |
//! | `gamma` | gamma | - | - |
//!
//! Numerics: an excess is `(p_ij - p_ji) / 2`, so exchanging the items changes only its sign. All
//! comparisons use excesses. Complexity: O(K^2) to check a matrix and for winners, O(K^3) for
//! triples, a linear program for the lottery.
//!
//! # Examples
//!
//! A matrix with a cycle below the best item:
//!
//! ```
//! use click_models::{ItemId, PreferenceMatrix};
//!
//! let text = ".5 .6 .6 .6\n .4 .5 .9 .1\n .4 .1 .5 .9\n .4 .9 .1 .5";
//! let matrix = PreferenceMatrix::parse(text, "four.txt")?;
//! assert_eq!(matrix.condorcet_winner(), Some(ItemId::new(0)));
//! assert_eq!(matrix.three_cycles().count(), 1);
//! assert_eq!(matrix.total_order(), None);
//! // max{e_1j, e_jk} / e_1k = .4 / .1
//! assert!((matrix.gamma().unwrap() - 4.0).abs() < 1e-12);
//! // Among the 4 subsets of three items, only the cycle has no Condorcet winner.
//! assert!((matrix.condorcet_share(3)? - 0.75).abs() < 1e-15);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod subsets;
mod text;
mod transitivity;
mod winners;

pub use text::TextError;

use crate::{DuelShape, Error, ItemId};
use confidence::Probability;
use serde::{Deserialize, Serialize};

/// How far `p_ij + p_ji` may be from 1, and `p_ii` from 1/2: enough for a matrix that was rounded
/// when printed.
pub const SKEW_TOLERANCE: f64 = 1e-5;
/// The tolerance for binary numbers: the nearest ones to decimals that are off by the tolerance may
/// be off by a few units more in their last place.
const SKEW_LIMIT: f64 = SKEW_TOLERANCE + 1e-15;

/// The probabilities with which items are preferred to each other.
///
/// Saved as its rows, and checked again when it is loaded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, fieldwork::Fieldwork)]
#[serde(try_from = "Vec<Vec<f64>>", into = "Vec<Vec<f64>>")]
#[fieldwork(opt_in, get(doc_template = "{}"))]
pub struct PreferenceMatrix {
    /// The number of items.
    #[field(copy)]
    shape: DuelShape,
    /// Row by row, as given.
    probabilities: Vec<Probability>,
    /// `(p_ij - p_ji) / 2`: the excess of `p_ij` over 1/2, exactly the negative of `e_ji` even if
    /// the entries were rounded.
    excess: Vec<f64>,
}

impl PreferenceMatrix {
    /// The matrix with these rows.
    ///
    /// # Errors
    ///
    /// [`Error::TooFewToCompare`], [`Error::TooManyToCompare`], [`Error::NotSquare`];
    /// [`Error::NotAPreference`] for an entry that is not a number from 0 to 1,
    /// [`Error::DiagonalNotHalf`] and [`Error::NotSkew`] for deviations above [`SKEW_TOLERANCE`].
    /// The first error in reading order is reported.
    pub fn new(rows: &[Vec<f64>]) -> Result<Self, Error> {
        let shape = DuelShape::new(rows.len())?;
        let n_items = shape.n_items();
        if let Some((row, entries)) = rows.iter().enumerate().find(|(_, entries)| entries.len() != n_items) {
            return Err(Error::NotSquare { row, found: entries.len(), expected: n_items });
        }
        let mut probabilities = Vec::with_capacity(shape.n_pairs());
        for (row, entries) in rows.iter().enumerate() {
            for (column, &value) in entries.iter().enumerate() {
                let probability =
                    Probability::new(value).map_err(|_| Error::NotAPreference { row, column, value })?;
                if row == column && (value - 0.5).abs() > SKEW_LIMIT {
                    return Err(Error::DiagonalNotHalf { item: row, value });
                }
                // Below the diagonal, both entries have been read.
                if column < row && (value + rows[column][row] - 1.0).abs() > SKEW_LIMIT {
                    return Err(Error::NotSkew { row, column, value, mirrored: rows[column][row] });
                }
                probabilities.push(probability);
            }
        }
        Ok(Self::of_shape(shape, probabilities))
    }

    /// The entries must have been checked and match `shape`.
    fn of_shape(shape: DuelShape, probabilities: Vec<Probability>) -> Self {
        let n_items = shape.n_items();
        let excess = (0..shape.n_pairs())
            .map(|pair| {
                let (row, column) = (pair / n_items, pair % n_items);
                (probabilities[pair].get() - probabilities[column * n_items + row].get()) / 2.0
            })
            .collect();
        Self { shape, probabilities, excess }
    }

    /// The entry as it was given, `p_ij`.
    ///
    /// # Panics
    ///
    /// If an item is unknown. [`excess`](Self::excess), [`beats`](Self::beats) and
    /// [`row`](Self::row) panic in the same case.
    #[inline]
    pub fn probability(&self, item: ItemId, other: ItemId) -> Probability {
        self.row(item)[other.index()]
    }

    /// The entries of an item as they were given.
    #[inline]
    pub fn row(&self, item: ItemId) -> &[Probability] {
        &self.probabilities[item.index() * self.shape.n_items()..][..self.shape.n_items()]
    }

    /// The excess of `p_ij` over 1/2: `e_ij = (p_ij - p_ji) / 2`, and `e_ij = -e_ji` to the last
    /// bit.
    #[inline]
    pub fn excess(&self, item: ItemId, other: ItemId) -> f64 {
        self.excess_row(item)[other.index()]
    }

    /// The excesses of an item against all items.
    pub(crate) fn excess_row(&self, item: ItemId) -> &[f64] {
        &self.excess[item.index() * self.shape.n_items()..][..self.shape.n_items()]
    }

    /// Returns whether `item` is preferred to `other` more often than not.
    #[inline]
    pub fn beats(&self, item: ItemId, other: ItemId) -> bool {
        self.excess(item, other) > 0.0
    }
}

impl TryFrom<Vec<Vec<f64>>> for PreferenceMatrix {
    type Error = Error;

    fn try_from(rows: Vec<Vec<f64>>) -> Result<Self, Error> {
        Self::new(&rows)
    }
}

impl From<PreferenceMatrix> for Vec<Vec<f64>> {
    fn from(matrix: PreferenceMatrix) -> Self {
        let plain = |row: &[Probability]| row.iter().map(|entry| entry.get()).collect();
        matrix.probabilities.chunks(matrix.shape.n_items()).map(plain).collect()
    }
}
