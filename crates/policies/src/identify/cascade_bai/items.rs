//! Counts and states of items.

use crate::exact::float;
use click_models::ItemId;

/// The counts of an item, and the counts up to which it cannot pass the levels.
#[derive(Debug, Clone, Copy)]
pub(super) struct Item {
    pub(super) n: u64,
    pub(super) s: u64,
    /// With at most these counts the item respects the levels.
    pub(super) quiet_n: u64,
    pub(super) quiet_s: u64,
}

/// The state of an item.
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
