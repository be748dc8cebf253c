//! Whether an item's multi-position KL index reaches a threshold, with few solved indices.
//!
//! `confidence::threshold` decides it from sums over the item's counts. These are kept until the counts change, and the index is solved for
//! only if rounding could decide. So the answer is the one that solving for the index would give.

use super::counts::PbmCounts;
use confidence::{MultiPositionThreshold, multi_position_entropy, multi_position_upper};

/// The test, for all items of a policy.
#[derive(Debug, Clone)]
pub(super) struct IndexTest {
    /// Computed when an item is first tested after its counts changed: the items that are shown change most often, and are tested rarely.
    evidence: Vec<Option<Evidence>>,
    /// Failures of every item at every position, when its evidence was computed.
    failures: Vec<f64>,
    threshold: MultiPositionThreshold,
    /// The value of the threshold.
    value: f64,
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

impl IndexTest {
    pub(super) fn new(counts: &PbmCounts) -> Self {
        Self {
            evidence: vec![None; counts.n_items()],
            failures: vec![0.0; counts.n_items() * counts.n_positions()],
            threshold: MultiPositionThreshold::new(counts.examination())
                .expect("a list has at most as many positions as a threshold"),
            value: 0.0,
        }
    }

    /// Sets the threshold that indices have to reach.
    #[inline]
    pub(super) fn set(&mut self, value: f64) {
        self.value = value;
        self.threshold.set(value);
    }

    /// The counts of `item` changed.
    #[inline]
    pub(super) fn forget(&mut self, item: usize) {
        self.evidence[item] = None;
    }

    /// Whether the index of `item` is certainly below the threshold.
    #[inline]
    pub(super) fn excludes(&mut self, counts: &PbmCounts, item: usize, level: f64) -> bool {
        let (evidence, failures) = Self::evidence(&mut self.evidence, &mut self.failures, counts, item);
        self.threshold.excludes(evidence.entropy, evidence.clicks, failures, level)
    }

    /// Whether the index of `item` reaches the threshold.
    #[inline]
    pub(super) fn reaches(&mut self, counts: &PbmCounts, item: usize, level: f64) -> bool {
        let (evidence, failures) = Self::evidence(&mut self.evidence, &mut self.failures, counts, item);
        if self.threshold.excludes(evidence.entropy, evidence.clicks, failures, level) {
            return false;
        }
        self.threshold.includes(evidence.entropy, evidence.clicks, failures, level)
            || index(counts, item, level) >= self.value
    }

    #[inline]
    fn evidence<'a>(
        evidence: &mut [Option<Evidence>],
        failures: &'a mut [f64],
        counts: &PbmCounts,
        item: usize,
    ) -> (Evidence, &'a [f64]) {
        let failures = &mut failures[item * counts.n_positions()..][..counts.n_positions()];
        let evidence = *evidence[item].get_or_insert_with(|| Evidence::of(counts, item, failures));
        (evidence, failures)
    }
}
