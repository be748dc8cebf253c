//! Uniform: a fresh random list, or a random cell of a table, in every round.
//!
//! Every ordered list of `n_positions` distinct items has the same probability, and so has every
//! cell.
//!
//! Reference: none needed; the lower baseline of every comparison. Deviations: none. Symbols: none.
//! Numerics: items are drawn without modulo bias. Complexity: O(`n_positions`^2) a round; up to
//! `n_positions` ln `n_positions` draws when all items are shown.
//!
//! # Examples
//!
//! ```
//! use click_models::{ListShape, Ranking};
//! use policies::{Decision, Select, Uniform};
//! use rand::{SeedableRng, rngs::ChaCha8Rng};
//!
//! let shape = ListShape::new(5, 3)?;
//! let mut decision = Decision::<Ranking>::default();
//! Uniform::new(shape).select(&mut ChaCha8Rng::seed_from_u64(1), &mut decision);
//! assert!(decision.action.fits(shape));
//! // One list of 5 * 4 * 3 = 60.
//! # Ok::<(), click_models::Error>(())
//! ```

use crate::setup::Setup;
use crate::{Decision, Recommend, Select, Update};
use click_models::{Cell, DuelShape, ItemId, ListShape, Pair, Ranking, TableShape};
use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};

/// Shows a uniformly random list.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Uniform {
    shape: ListShape,
}

impl Uniform {
    /// A uniform policy for lists of this shape.
    pub fn new(shape: ListShape) -> Self {
        Self { shape }
    }
}

impl Setup for Uniform {
    fn sizes(&self) -> [usize; 2] {
        [self.shape.n_items(), self.shape.n_positions()]
    }
}

impl Select<Ranking> for Uniform {
    type Note = ();

    #[inline]
    fn select<R: Rng + ?Sized>(&mut self, rng: &mut R, out: &mut Decision<Ranking>) {
        out.action.clear();
        while out.action.len() < self.shape.n_positions() {
            // Redrawing an item is cheap: a list has at most 64 positions.
            let item = ItemId::from_index(rng.random_range(0..self.shape.n_items()));
            if !out.action.contains(item) {
                out.action.push(item);
            }
        }
    }
}

impl<F> Update<Ranking, F> for Uniform {
    #[inline]
    fn update(&mut self, _decision: &Decision<Ranking>, _feedback: &F) {}
}

/// Plays a uniformly random cell.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct UniformCell {
    shape: TableShape,
}

impl UniformCell {
    /// A uniform policy for tables of this shape.
    pub fn new(shape: TableShape) -> Self {
        Self { shape }
    }
}

impl Setup for UniformCell {
    fn sizes(&self) -> [usize; 2] {
        [self.shape.n_rows(), self.shape.n_columns()]
    }
}

impl Select<Cell> for UniformCell {
    type Note = ();

    #[inline]
    fn select<R: Rng + ?Sized>(&mut self, rng: &mut R, out: &mut Decision<Cell>) {
        out.action = self.shape.cell(rng.random_range(0..self.shape.n_cells()));
    }
}

impl<F> Update<Cell, F> for UniformCell {
    #[inline]
    fn update(&mut self, _decision: &Decision<Cell>, _feedback: &F) {}
}

/// Compares two uniformly random items, which may be the same one.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct UniformPair {
    shape: DuelShape,
}

impl UniformPair {
    /// A uniform policy for pairs of these items.
    pub fn new(shape: DuelShape) -> Self {
        Self { shape }
    }

    fn item<R: Rng + ?Sized>(&self, rng: &mut R) -> ItemId {
        ItemId::from_index(rng.random_range(0..self.shape.n_items()))
    }
}

impl Setup for UniformPair {
    fn sizes(&self) -> [usize; 2] {
        [self.shape.n_items(), 2]
    }
}

impl Select<Pair> for UniformPair {
    type Note = ();

    #[inline]
    fn select<R: Rng + ?Sized>(&mut self, rng: &mut R, out: &mut Decision<Pair>) {
        out.action = Pair::new(self.item(rng), self.item(rng));
    }
}

impl<F> Update<Pair, F> for UniformPair {
    #[inline]
    fn update(&mut self, _decision: &Decision<Pair>, _feedback: &F) {}
}

impl Recommend<ItemId> for UniformPair {
    /// A random item: the policy has learnt nothing.
    fn recommend<R: Rng + ?Sized>(&self, rng: &mut R, out: &mut ItemId) {
        *out = self.item(rng);
    }
}
