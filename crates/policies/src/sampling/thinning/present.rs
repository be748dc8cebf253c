//! Posteriors of items of which some are absent: an absent item never exceeds a threshold. Items
//! with values have posteriors of what a display earns.

use super::{Posteriors, Sampler, Threshold};
use click_models::value::index;
use click_models::{ItemId, ItemSet};
use rand::Rng;

/// The posteriors of all items, which of these are absent, and their values.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Present<'a, P> {
    pub(crate) posteriors: &'a P,
    pub(crate) absent: &'a ItemSet,
    pub(crate) values: &'a [f64],
    /// Draws are multiplied by the value over this number; 0 if they are not multiplied.
    pub(crate) scale: f64,
}

impl<P> Present<'_, P> {
    #[inline]
    fn is_absent(&self, item: usize) -> bool {
        #[expect(clippy::cast_possible_truncation, reason = "items are numbered by 32 bits")]
        let item = ItemId::new(item as u32);
        self.absent.contains(item)
    }

    /// The value of an item over the scale, at most 1.
    #[inline]
    fn share(&self, item: usize) -> f64 {
        if self.scale == 0.0 { 1.0 } else { self.values[item] / self.scale }
    }
}

impl<P: Posteriors> Posteriors for Present<'_, P> {
    #[inline]
    fn n_items(&self) -> usize {
        self.posteriors.n_items()
    }

    #[inline]
    fn draw<R: Rng + ?Sized>(&self, item: usize, sampler: Sampler, rng: &mut R) -> f64 {
        let draw = self.posteriors.draw(item, sampler, rng);
        if self.scale == 0.0 { draw } else { index(draw, self.share(item)) }
    }

    #[inline]
    fn bound(&self, item: usize, threshold: &Threshold) -> f64 {
        if self.is_absent(item) {
            return 0.0;
        }
        let of_item = threshold.over(self.share(item));
        of_item.map_or(0.0, |threshold| self.posteriors.bound(item, &threshold))
    }

    #[inline]
    fn draw_above<R: Rng + ?Sized>(
        &self,
        item: usize,
        threshold: &Threshold,
        least: f64,
        rng: &mut R,
    ) -> Option<f64> {
        let share = self.share(item);
        let threshold = threshold.over(share)?;
        Some(share * self.posteriors.draw_above(item, &threshold, least / share, rng)?)
    }

    fn chance(&self, item: usize, threshold: &Threshold) -> f64 {
        let of_item = threshold.over(self.share(item)).filter(|_| !self.is_absent(item));
        of_item.map_or(0.0, |threshold| self.posteriors.chance(item, &threshold))
    }

    #[inline]
    fn hash(&self, item: usize) -> u64 {
        let of_value = || if self.scale == 0.0 { 0 } else { self.values[item].to_bits().rotate_left(17) };
        if self.is_absent(item) { 0 } else { self.posteriors.hash(item) ^ of_value() }
    }

    #[inline]
    fn is_like(&self, item: usize, other: usize) -> bool {
        match (self.is_absent(item), self.is_absent(other)) {
            (false, false) => self.posteriors.is_like(item, other) && self.share(item) == self.share(other),
            (absent, other_absent) => absent == other_absent,
        }
    }
}
