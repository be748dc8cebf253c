//! Posteriors of items of which some are absent: an absent item never exceeds a threshold. Items
//! with values have posteriors of what a display earns.

use super::{Posteriors, Sampler, Threshold};
use crate::exact::number;
use crate::live::Values;
use click_models::value::index;
use click_models::{ItemId, ItemSet};
use rand::Rng;

/// The posteriors of all items, which of these are absent, and their values.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Present<'a, P> {
    pub(crate) posteriors: &'a P,
    pub(crate) absent: &'a ItemSet,
    pub(crate) values: &'a Values,
}

impl<P> Present<'_, P> {
    fn is_absent(&self, item: usize) -> bool {
        self.absent.contains(ItemId::new(number(item)))
    }

    /// The value of an item over the scale.
    fn value(&self, item: usize) -> f64 {
        self.values.value(ItemId::from_index(item)) / self.values.scale
    }
}

impl<P: Posteriors> Posteriors for Present<'_, P> {
    fn n_items(&self) -> usize {
        self.posteriors.n_items()
    }

    fn draw<R: Rng + ?Sized>(&self, item: usize, sampler: Sampler, rng: &mut R) -> f64 {
        let draw = self.posteriors.draw(item, sampler, rng);
        if self.values.scale == 0.0 { draw } else { index(draw, self.value(item)) }
    }

    fn bound(&self, item: usize, threshold: &Threshold) -> f64 {
        if self.is_absent(item) {
            return 0.0;
        }
        let of_item = threshold.over(self.values.share(item));
        of_item.map_or(0.0, |threshold| self.posteriors.bound(item, &threshold))
    }

    fn draw_above<R: Rng + ?Sized>(
        &self,
        item: usize,
        threshold: &Threshold,
        least: f64,
        rng: &mut R,
    ) -> Option<f64> {
        if self.values.scale == 0.0 {
            return self.posteriors.draw_above(item, threshold, least, rng);
        }
        let value = self.value(item);
        let of_item = threshold.over(self.values.share(item))?;
        let draw = value * self.posteriors.draw_above(item, &of_item, least / value, rng)?;
        (draw > threshold.value).then_some(draw)
    }

    fn chance(&self, item: usize, threshold: &Threshold) -> f64 {
        // By the value itself: with a larger one the threshold would be too high.
        let share = if self.values.scale == 0.0 { 1.0 } else { self.value(item) };
        let of_item = threshold.over(share).filter(|_| !self.is_absent(item));
        of_item.map_or(0.0, |threshold| self.posteriors.chance(item, &threshold))
    }

    fn hash(&self, item: usize) -> u64 {
        let has_value = self.values.scale != 0.0;
        let of_value = || if has_value { self.values.share(item).to_bits().rotate_left(17) } else { 0 };
        if self.is_absent(item) { 0 } else { self.posteriors.hash(item) ^ of_value() }
    }

    fn is_like(&self, item: usize, other: usize) -> bool {
        match (self.is_absent(item), self.is_absent(other)) {
            (false, false) => {
                let [share, other_share] = [item, other].map(|item| self.values.share(item));
                self.posteriors.is_like(item, other) && share == other_share
            }
            (absent, other_absent) => absent == other_absent,
        }
    }
}
