//! Items of large catalogues that a hybrid policy never learned from: hardly any of them is drawn.
//!
//! Before its first answer an item has the log-odds `s_i + sd N` for a user, with the same `sd` for
//! all such items, and `s_i` from the features. Only values above a floor can enter the list. In a
//! block of 32 items with the largest sum `s`, each exceeds it with a probability of at most
//!
//! ```text
//! phi(z) / z  >=  P(N > z),      z <= (floor - s) / sd
//! ```
//!
//! So the next item that may exceed the floor is some geometric number of items ahead, its value is
//! drawn from the exponential that bounds the normal tail, `phi(z) exp(-z (x - z))`, and kept with
//! the ratio of the item's own density to that. Items of a block with `z < 1` are drawn.
//!
//! The floor is about what `2 L + 6` values exceed, by mean and variance of some items. If fewer
//! than L do, all other items are drawn below it. The largest `s_i` come from features in single
//! precision, with a margin for rounding; what is kept is exact. All is a function of the features,
//! so nothing is saved.
//!
//! Complexity: one multiply-add for each feature, 32 items at a time, and as many draws as
//! positions, apart from constants.

use crate::exact::number;
use crate::sampling::Sampler;
use crate::sampling::thinning::exponential;
use crate::top_l::{Ties, TopL};
use confidence::normal_quantile;
use rand::{Rng, RngExt};

/// From this number of items on, those that were never learned from are thinned.
pub(super) const LARGE: usize = 256;
const LANES: usize = 32;
/// Steps of `z` in 1: a block has that of the step below its own.
const STEPS: f64 = 4.0;
/// The range of `z`: below it items are drawn.
const RANGE: [f64; 2] = [1.0, 6.0];

/// Features of all items in single precision: block by block, feature by feature, item by item.
#[derive(Debug, Clone, Default)]
pub(super) struct Blocks {
    n_items: usize,
    n_features: usize,
    features: Vec<f32>,
    /// The largest feature of each block, in size.
    largest: Vec<f32>,
    /// `-ln(1 - phi(z) / z)` of each step of `z`.
    rates: Vec<f64>,
}

/// A user to whom items that were never learned from may be shown.
pub(super) struct Unlearned<'a, O, S> {
    /// Coefficients of `(1, z)`.
    pub(super) weights: &'a [f64],
    pub(super) deviation: f64,
    /// About the number of items that are offered.
    pub(super) n_offered: usize,
    pub(super) is_offered: O,
    /// `s_i`.
    pub(super) sum: S,
}

impl<O: Fn(usize) -> bool, S: Fn(usize) -> f64> Unlearned<'_, O, S> {
    fn draw<R: Rng + ?Sized>(&self, item: usize, rng: &mut R) -> f64 {
        (self.sum)(item) + self.deviation * Sampler::new().normal(rng)
    }
}

impl Blocks {
    pub(super) fn new<'a>(n_features: usize, items: impl Iterator<Item = &'a [f64]>) -> Self {
        let steps = 0..=whole((RANGE[1] - RANGE[0]) * STEPS);
        let rates = steps.map(|step| rate(RANGE[0] + step as f64 / STEPS)).collect();
        let mut blocks = Self { n_features, rates, ..Self::default() };
        items.for_each(|features| blocks.push(features));
        blocks
    }

    pub(super) fn push(&mut self, features: &[f64]) {
        self.n_items += 1;
        let n_blocks = self.n_items.div_ceil(LANES);
        self.features.resize(n_blocks * self.n_features * LANES, 0.0);
        self.largest.resize(n_blocks, 0.0);
        self.set(self.n_items - 1, features);
    }

    pub(super) fn set(&mut self, item: usize, features: &[f64]) {
        let (block, lane, n) = (item / LANES, item % LANES, self.n_features * LANES);
        let of_block = &mut self.features[block * n..(block + 1) * n];
        for (column, &feature) in of_block.chunks_exact_mut(LANES).zip(features) {
            column[lane] = single(feature);
        }
        self.largest[block] = of_block.iter().fold(0.0, |most, feature| most.max(feature.abs()));
    }

    /// The largest `s_i` of a block, but for rounding.
    #[inline]
    fn largest_sum(&self, block: usize, weights: &[f64]) -> f64 {
        let mut sums = [single(weights[0]); LANES];
        let n = self.n_features * LANES;
        let columns = self.features[block * n..(block + 1) * n].chunks_exact(LANES);
        for (&weight, column) in weights[1..].iter().zip(columns) {
            let weight = single(weight);
            for (sum, feature) in sums.iter_mut().zip(column) {
                *sum += weight * feature;
            }
        }
        f64::from(sums.iter().fold(f32::NEG_INFINITY, |most, &sum| if sum > most { sum } else { most }))
    }

    /// Offers the largest values of the items that are offered, drawn.
    pub(super) fn offer<R: Rng + ?Sized>(
        &self,
        user: &Unlearned<'_, impl Fn(usize) -> bool, impl Fn(usize) -> f64>,
        top: &mut TopL,
        ties: Ties,
        rng: &mut R,
    ) {
        let floor = self.floor(user, top.capacity);
        let size: f64 = user.weights.iter().map(|weight| weight.abs()).sum();
        let margin = size * (user.weights.len() + 2) as f64 * f64::from(f32::EPSILON);
        let bound = |block: usize, largest: f64| {
            // Sums beyond single precision bound nothing.
            let is_bounded = size * (1.0 + largest) < f64::from(f32::MAX);
            if is_bounded {
                self.largest_sum(block, user.weights) + margin * (1.0 + largest)
            } else {
                f64::INFINITY
            }
        };
        // Up to the next item that may exceed the floor, in sums of `-ln(1 - share)`.
        let mut ahead = exponential(rng);
        for (block, &largest) in self.largest.iter().enumerate() {
            let items = block * LANES..self.n_items.min((block + 1) * LANES);
            let floor = floor.max(top.threshold());
            let z = (floor - bound(block, f64::from(largest))) / user.deviation;
            if z >= RANGE[0] {
                let step = whole((z.min(RANGE[1]) - RANGE[0]) * STEPS);
                let (z, rate) = (RANGE[0] + step as f64 / STEPS, self.rates[step]);
                let mut item = items.start;
                while ahead < rate * (items.end - item) as f64 {
                    item += whole(ahead / rate);
                    propose(item, [floor, z], user, top, ties, rng);
                    item += 1;
                    ahead = exponential(rng);
                }
                ahead -= rate * (items.end - item) as f64;
            } else {
                for item in items.filter(|&item| (user.is_offered)(item)) {
                    let value = user.draw(item, rng);
                    if value > floor {
                        top.offer(number(item), value, ties);
                    }
                }
            }
        }
        if top.threshold() < floor {
            self.offer_below(floor, user, top, ties, rng);
        }
    }

    /// Draws all items that did not exceed the floor.
    #[cold]
    fn offer_below<R: Rng + ?Sized>(
        &self,
        floor: f64,
        user: &Unlearned<'_, impl Fn(usize) -> bool, impl Fn(usize) -> f64>,
        top: &mut TopL,
        ties: Ties,
        rng: &mut R,
    ) {
        let above: Vec<u32> = top.best.iter().map(|&(_, item)| item).collect();
        for item in (0..self.n_items).filter(|&item| (user.is_offered)(item)) {
            if !above.contains(&number(item)) {
                let mut value = user.draw(item, rng);
                while value > floor {
                    value = user.draw(item, rng);
                }
                top.offer(number(item), value, ties);
            }
        }
    }

    /// The floor, or minus infinity if it would spare few draws.
    fn floor(
        &self,
        user: &Unlearned<'_, impl Fn(usize) -> bool, impl Fn(usize) -> f64>,
        n_positions: usize,
    ) -> f64 {
        let share = (2 * n_positions + 6) as f64 / user.n_offered.max(1) as f64;
        if share >= 0.3 {
            return f64::NEG_INFINITY;
        }
        let (mut n, mut mean, mut squares) = (0.0, 0.0, 0.0);
        for item in (0..self.n_items).step_by((self.n_items / 64).max(1)) {
            n += 1.0;
            let difference = (user.sum)(item) - mean;
            mean += difference / n;
            squares += difference * difference * (n - 1.0) / n;
        }
        mean + (user.deviation * user.deviation + squares / n).sqrt() * normal_quantile(1.0 - 2.0 * share)
    }
}

/// Offers a value beyond the floor for an item whose `s_i` is at most `floor - z sd`, or none.
#[inline(never)]
fn propose<R: Rng + ?Sized>(
    item: usize,
    [floor, z]: [f64; 2],
    user: &Unlearned<'_, impl Fn(usize) -> bool, impl Fn(usize) -> f64>,
    top: &mut TopL,
    ties: Ties,
    rng: &mut R,
) {
    let (beyond, uniform) = (exponential(rng) / z, rng.random::<f64>());
    if (user.is_offered)(item) {
        let value = floor + user.deviation * beyond;
        let own = (value - (user.sum)(item)) / user.deviation;
        if uniform < libm::exp(0.5 * (z * z - own * own) + z * beyond) {
            top.offer(number(item), value, ties);
        }
    }
}

/// `-ln(1 - phi(z) / z)`.
fn rate(z: f64) -> f64 {
    const DENSITY_AT_0: f64 = 0.398_942_280_401_432_7;
    -libm::log1p(-DENSITY_AT_0 * libm::exp(-0.5 * z * z) / z)
}

#[expect(clippy::cast_possible_truncation, reason = "a margin allows for rounding")]
fn single(number: f64) -> f32 {
    number as f32
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small, not below 0")]
fn whole(number: f64) -> usize {
    number as usize
}
