//! Posteriors of items of which some are absent: an absent item never exceeds a threshold.

use super::{Posteriors, Sampler, Threshold};
use click_models::{ItemId, ItemSet};
use rand::Rng;

/// The posteriors of all items, and which of these are absent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Present<'a, P> {
    pub(crate) posteriors: &'a P,
    pub(crate) absent: &'a ItemSet,
}

impl<P> Present<'_, P> {
    #[inline]
    fn is_absent(&self, item: usize) -> bool {
        #[expect(clippy::cast_possible_truncation, reason = "items are numbered by 32 bits")]
        let item = ItemId::new(item as u32);
        self.absent.contains(item)
    }
}

impl<P: Posteriors> Posteriors for Present<'_, P> {
    #[inline]
    fn n_items(&self) -> usize {
        self.posteriors.n_items()
    }

    #[inline]
    fn draw<R: Rng + ?Sized>(&self, item: usize, sampler: Sampler, rng: &mut R) -> f64 {
        self.posteriors.draw(item, sampler, rng)
    }

    #[inline]
    fn bound(&self, item: usize, threshold: &Threshold) -> f64 {
        if self.is_absent(item) { 0.0 } else { self.posteriors.bound(item, threshold) }
    }

    #[inline]
    fn draw_above<R: Rng + ?Sized>(
        &self,
        item: usize,
        threshold: &Threshold,
        least: f64,
        rng: &mut R,
    ) -> Option<f64> {
        self.posteriors.draw_above(item, threshold, least, rng)
    }

    fn chance(&self, item: usize, threshold: &Threshold) -> f64 {
        if self.is_absent(item) { 0.0 } else { self.posteriors.chance(item, threshold) }
    }

    #[inline]
    fn hash(&self, item: usize) -> u64 {
        if self.is_absent(item) { 0 } else { self.posteriors.hash(item) }
    }

    #[inline]
    fn is_like(&self, item: usize, other: usize) -> bool {
        match (self.is_absent(item), self.is_absent(other)) {
            (false, false) => self.posteriors.is_like(item, other),
            (absent, other_absent) => absent == other_absent,
        }
    }
}
