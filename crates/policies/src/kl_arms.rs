//! Arms ranked by their KL-UCB index; an index is solved for only if it can matter.
//!
//! The choice is the one that solving for all indices would give. A few arms are found by a
//! [`scan`] of all arms, unless the last choice is certain to stand.

mod scan;
#[cfg(test)]
mod tests;

use crate::reaching::{Arms, Threshold};
use crate::shortlist::{Arm, Filter};
use confidence::{KlUcbThreshold, kl_ucb_entropy, kl_ucb_upper};
use scan::Scan;

/// An arm's counts, as the index and the threshold test need them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KlArm {
    clicks: f64,
    failures: f64,
    shows: f64,
    mean: f64,
    /// Further terms of the test, computed when first needed: arms that win round after round are
    /// solved for and never tested, and their counts change most often.
    entropy: Option<f64>,
}

impl KlArm {
    #[inline]
    pub(crate) fn new(shows: u64, clicks: u64) -> Self {
        let (clicks, failures, shows) = (clicks as f64, (shows - clicks) as f64, shows as f64);
        Self { clicks, failures, shows, mean: clicks / shows.max(1.0), entropy: None }
    }

    fn entropy(&mut self) -> f64 {
        *self.entropy.get_or_insert_with(|| kl_ucb_entropy(self.clicks, self.failures))
    }

    /// Returns whether [`KlArm::index`] is certainly below the threshold.
    fn is_excluded(&mut self, threshold: &KlUcbThreshold, level: f64) -> bool {
        !self.is_fresh() && threshold.excludes(self.entropy(), self.clicks, self.failures, level)
    }

    /// Returns whether [`KlArm::index`] certainly reaches the threshold.
    fn is_included(&mut self, threshold: &KlUcbThreshold, level: f64) -> bool {
        self.is_fresh() || threshold.includes(self.entropy(), self.clicks, self.failures, level)
    }
}

impl Threshold for KlUcbThreshold {
    fn set(&mut self, q: f64) {
        *self = Self::new(q);
    }
}

impl Arms for Vec<KlArm> {
    type Threshold = KlUcbThreshold;

    #[inline]
    fn is_below(&mut self, item: usize, threshold: &KlUcbThreshold, level: f64) -> bool {
        self[item].is_excluded(threshold, level)
    }

    #[inline]
    fn is_above(&mut self, item: usize, threshold: &KlUcbThreshold, level: f64) -> bool {
        self[item].is_included(threshold, level)
    }

    #[inline]
    fn reaches(&mut self, item: usize, threshold: &KlUcbThreshold, q: f64, level: f64) -> bool {
        let arm = &mut self[item];
        !arm.is_excluded(threshold, level) && (arm.is_included(threshold, level) || arm.index(level) >= q)
    }
}

impl Arm for KlArm {
    type Few = Scan;
    type Filter = KlFilter;
    const IS_SOLVED: bool = true;

    fn key(&self) -> (u64, u64) {
        (self.shows.to_bits(), self.clicks.to_bits())
    }

    /// Returns whether the arm has no displays.
    fn is_fresh(&self) -> bool {
        self.shows == 0.0
    }

    fn mean(&self) -> f64 {
        self.mean
    }

    /// The KL-UCB index; infinite for an arm without displays.
    #[inline]
    fn index(&self, level: f64) -> f64 {
        if self.is_fresh() { f64::INFINITY } else { kl_ucb_upper(self.mean, self.shows, level) }
    }
}

/// Which arms have an index below a floor, two multiply-adds an arm: the floor, and rounded clicks,
/// failures and entropies of all arms.
#[derive(Debug, Clone)]
pub(crate) struct KlFilter {
    threshold: KlUcbThreshold,
    clicks: Vec<f32>,
    failures: Vec<f32>,
    entropies: Vec<f32>,
}

impl Filter<KlArm> for KlFilter {
    fn new(n_arms: usize) -> Self {
        let zeros = vec![0.0; n_arms];
        Self {
            threshold: KlUcbThreshold::new(f64::INFINITY),
            clicks: zeros.clone(),
            failures: zeros.clone(),
            entropies: zeros,
        }
    }

    fn set_floor(&mut self, floor: f64) {
        self.threshold = KlUcbThreshold::new(floor);
    }

    fn push(&mut self) {
        for terms in [&mut self.clicks, &mut self.failures, &mut self.entropies] {
            terms.push(0.0);
        }
    }

    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "rounding to f32 is the point")]
    fn set(&mut self, item: usize, arm: &mut KlArm) {
        self.clicks[item] = arm.clicks as f32;
        self.failures[item] = arm.failures as f32;
        self.entropies[item] = arm.entropy() as f32;
    }

    #[inline]
    fn excludes(&self, arm: &mut KlArm, ceiling: f64) -> bool {
        arm.is_excluded(&self.threshold, ceiling)
    }

    fn list(&self, _: &[KlArm], ceiling: f64, list: impl FnMut(usize)) {
        self.threshold.rough_candidates(&self.entropies, &self.clicks, &self.failures, ceiling, list);
    }
}
