//! Arms ranked by their KL-UCB index, solved for only where it can matter.
//!
//! The L largest indices are found exactly as by solving for all of them, but most arms are only *tested*: last round's
//! winners are solved first, and the smallest of their indices is a threshold that any other winner must reach. Whether an
//! arm's index reaches a threshold costs two multiply-adds (`confidence`'s inverted test); the few that do are solved, and
//! raise the threshold as they come. An index is a pure function of (displays, clicks, level) and ties do not depend on the
//! order of a scan, so the choice is the naive one to the last bit.

use crate::top_l::{Ties, TopL};
use confidence::kl_ucb_upper;

/// An arm's counts as the index needs them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KlArm {
    shows: f64,
    mean: f64,
}

impl KlArm {
    #[inline]
    pub(crate) fn new(shows: u64, clicks: u64) -> Self {
        let shows = shows as f64;
        Self { shows, mean: clicks as f64 / shows.max(1.0) }
    }

    #[inline]
    pub(crate) fn mean(self) -> f64 {
        self.mean
    }

    /// Whether nothing is known of the arm.
    #[inline]
    pub(crate) fn is_fresh(self) -> bool {
        self.shows == 0.0
    }

    /// The KL-UCB index; infinite for an arm of which nothing is known.
    #[inline]
    pub(crate) fn index(self, level: f64) -> f64 {
        if self.is_fresh() { f64::INFINITY } else { kl_ucb_upper(self.mean, self.shows, level) }
    }
}

/// Finds the arms of largest index.
#[derive(Debug, Clone)]
pub(crate) struct KlTop {
    top: TopL,
}

impl KlTop {
    pub(crate) fn new(capacity: usize) -> Self {
        Self { top: TopL::new(capacity) }
    }

    /// The arms of largest index at `level`, best first.
    #[inline]
    pub(crate) fn select(&mut self, arms: &[KlArm], level: f64, ties: Ties) -> &[(f64, u32)] {
        self.top.clear();
        for (item, arm) in (0_u32..).zip(arms) {
            self.top.offer(item, arm.index(level), ties);
        }
        self.top.best()
    }
}
