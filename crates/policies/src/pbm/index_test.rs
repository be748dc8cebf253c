//! Whether an item's multi-position KL index reaches a threshold, with few solved indices.
//!
//! `confidence::threshold` decides it from sums over the item's counts. These are kept until the
//! counts change, and the index is solved for only if rounding could decide. So the answer is the
//! one that solving for the index would give.

use super::counts::PbmCounts;
use crate::reaching::{Arms, Threshold};
use confidence::{MultiPositionThreshold, multi_position_entropy, multi_position_upper};

/// The test, for all items of a policy.
#[derive(Debug, Clone)]
pub(super) struct IndexTest {
    /// Computed at the first test after the counts changed; items that are shown are rarely tested.
    evidence: Vec<Option<Evidence>>,
    /// Failures of every item at every position, when its evidence was computed.
    failures: Vec<f64>,
}

/// The terms of an item's test, except its failures.
#[derive(Debug, Clone, Copy)]
struct Evidence {
    clicks: f64,
    entropy: f64,
}

impl Evidence {
    /// Reads the counts of `item` and writes its failures.
    fn of(counts: &PbmCounts, item: usize, failures: &mut [f64]) -> Self {
        let (mut entropy, mut informative_clicks) = (0.0, 0);
        let cells = counts.shows(item).iter().zip(counts.clicks(item)).zip(counts.examination());
        for (failure, ((&shows, &clicks), &examined)) in failures.iter_mut().zip(cells) {
            *failure = (shows - clicks) as f64;
            if examined > 0.0 {
                informative_clicks += clicks;
                entropy += multi_position_entropy(clicks as f64, *failure, examined);
            }
        }
        Self { clicks: informative_clicks as f64, entropy }
    }
}

/// The index (equation (7)), whose items have displays where users look.
#[inline]
pub(super) fn index(counts: &PbmCounts, item: usize, level: f64) -> f64 {
    multi_position_upper(counts.clicks(item), counts.shows(item), counts.examination(), level)
}

/// A threshold for indices, 0 at first.
pub(super) fn threshold(counts: &PbmCounts) -> MultiPositionThreshold {
    MultiPositionThreshold::new(counts.examination())
        .expect("a list has at most as many positions as a threshold")
}

impl Threshold for MultiPositionThreshold {
    fn set(&mut self, q: f64) {
        Self::set(self, q);
    }
}

impl IndexTest {
    pub(super) fn new(counts: &PbmCounts) -> Self {
        Self {
            evidence: vec![None; counts.n_items()],
            failures: vec![0.0; counts.n_items() * counts.n_positions()],
        }
    }

    /// Adds an item.
    pub(super) fn push(&mut self, n_positions: usize) {
        self.evidence.push(None);
        self.failures.resize(self.failures.len() + n_positions, 0.0);
    }

    /// The counts of `item` changed.
    pub(super) fn forget(&mut self, item: usize) {
        self.evidence[item] = None;
    }

    /// Returns whether the index of `item` is certainly below the threshold.
    #[inline]
    pub(super) fn excludes(
        &mut self,
        counts: &PbmCounts,
        item: usize,
        threshold: &MultiPositionThreshold,
        level: f64,
    ) -> bool {
        let (evidence, failures) = self.evidence(counts, item);
        threshold.excludes(evidence.entropy, evidence.clicks, failures, level)
    }

    fn includes(
        &mut self,
        counts: &PbmCounts,
        item: usize,
        threshold: &MultiPositionThreshold,
        level: f64,
    ) -> bool {
        let (evidence, failures) = self.evidence(counts, item);
        threshold.includes(evidence.entropy, evidence.clicks, failures, level)
    }

    #[inline]
    fn evidence(&mut self, counts: &PbmCounts, item: usize) -> (Evidence, &[f64]) {
        let failures = &mut self.failures[item * counts.n_positions()..][..counts.n_positions()];
        let evidence = *self.evidence[item].get_or_insert_with(|| Evidence::of(counts, item, failures));
        (evidence, failures)
    }
}

/// All items with their tests. An item without displays where users look has an infinite index.
#[derive(Debug)]
pub(super) struct ItemTests<'a> {
    pub(super) counts: &'a PbmCounts,
    pub(super) test: &'a mut IndexTest,
}

impl ItemTests<'_> {
    fn is_seen(&self, item: usize) -> bool {
        self.counts.weighted_shows(item) > 0.0
    }
}

impl Arms for ItemTests<'_> {
    type Threshold = MultiPositionThreshold;

    #[inline]
    fn is_below(&mut self, item: usize, threshold: &MultiPositionThreshold, level: f64) -> bool {
        self.is_seen(item) && self.test.excludes(self.counts, item, threshold, level)
    }

    #[inline]
    fn is_above(&mut self, item: usize, threshold: &MultiPositionThreshold, level: f64) -> bool {
        !self.is_seen(item) || self.test.includes(self.counts, item, threshold, level)
    }

    #[inline]
    fn reaches(&mut self, item: usize, threshold: &MultiPositionThreshold, q: f64, level: f64) -> bool {
        !self.is_below(item, threshold, level)
            && (self.is_above(item, threshold, level) || index(self.counts, item, level) >= q)
    }
}
