//! Which arms have a KL-UCB index below a floor: two multiply-adds an arm.

use super::KlArm;
use crate::shortlist::Filter;
use confidence::KlUcbThreshold;

/// The floor, and rounded clicks, failures and entropies of all arms, for the scan.
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
