//! Counts, states and radii of items.

use crate::Delta;
use crate::exact::float;
use click_models::ItemId;
use confidence::{NonNegative, lil_radius_scaled};

/// The counts of an item, and the counts up to which it cannot pass the levels.
#[derive(Debug, Clone, Copy)]
pub(super) struct Item {
    pub(super) n: u64,
    pub(super) s: u64,
    /// With at most these counts the item respects the levels.
    pub(super) quiet_n: u64,
    pub(super) quiet_s: u64,
}

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ItemState {
    pub(super) is_in_question: bool,
    /// When levels were set: whether it was among the first k + 1 by mean, and k-th or later.
    pub(super) is_high: bool,
    pub(super) is_low: bool,
}

impl Item {
    pub(super) fn mean(&self) -> f64 {
        if self.n == 0 { 0.0 } else { float(self.s) / float(self.n) }
    }
}

/// An undecided item during classification.
#[derive(Debug, Clone, Copy)]
pub(super) struct Candidate {
    pub(super) mean: f64,
    pub(super) radius: f64,
    pub(super) rank: u32,
    pub(super) item: ItemId,
}

impl Candidate {
    pub(super) fn upper(&self) -> f64 {
        self.mean + self.radius
    }

    pub(super) fn lower(&self) -> f64 {
        self.mean - self.radius
    }
}

/// Radii by number of observations, with a cache: most are requested repeatedly.
#[derive(Debug, Clone)]
pub(super) struct Radii {
    rho: f64,
    scale: f64,
    /// Cache: numbers of observations and their radii, at the index of the lowest bits.
    memory: Vec<(u64, f64)>,
}

impl Radii {
    const REMEMBERED: usize = 256;

    pub(super) fn new(delta: Delta, n_items: usize, scale: NonNegative) -> Self {
        let rho = (delta.get() / (12.0 * float(n_items as u64))).sqrt();
        Self { rho, scale: scale.get(), memory: vec![(0, f64::INFINITY); Self::REMEMBERED] }
    }

    /// `+inf` without an observation.
    #[inline]
    pub(super) fn radius(&self, n: u64) -> f64 {
        lil_radius_scaled(n, self.rho, self.scale)
    }

    /// The same radius, from the cache if it is there.
    #[inline]
    pub(super) fn remembered(&mut self, n: u64) -> f64 {
        #[expect(clippy::cast_possible_truncation, reason = "the lowest bits count")]
        let place = n as usize % Self::REMEMBERED;
        if self.memory[place].0 != n {
            self.memory[place] = (n, self.radius(n));
        }
        self.memory[place].1
    }
}
