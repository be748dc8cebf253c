//! The posteriors of all items of PBM-TS.

use super::super::counts::PbmCounts;
use super::posterior::{DisplaySums, Posterior};
use super::tail::Tail;
use crate::sampling::Sampler;
use crate::sampling::largest_draws::Large;
use crate::sampling::thinning::{Posteriors, Threshold};
use crate::sampling::thompson::PosteriorsOf;
use crate::{Error, Prior};
use rand::Rng;

/// Posteriors, made from the counts.
#[derive(Debug, Clone)]
pub(crate) struct Items {
    prior: Prior,
    /// Examination of every position, from the most to the least examined: the order of all arrays
    /// below. With a prior, a position with the examination 1 comes first, for the displays that it
    /// is worth.
    pub(super) examination: Vec<f64>,
    pub(super) posteriors: Vec<Posterior>,
    /// Excess of the proposal in each position's factor: the exponents of `1 - kappa_l theta` in
    /// the ratio of posterior to proposal; item by item, every position.
    pub(super) exponents: Vec<f64>,
    /// Upper tails, item by item; none if every item is drawn in every round.
    pub(super) tails: Vec<Tail>,
    /// Displays without a click at examined positions, of items with tails.
    pub(super) failures: Vec<f64>,
}

impl PosteriorsOf<PbmCounts> for Items {
    const LARGE: Large = Large { items: 30, per_position: 27, settled_per_position: 6 };

    /// With tails if draws are thinned. The prior's first shape is at least 1.
    fn of(counts: &PbmCounts, prior: Prior, is_thinned: bool) -> Self {
        let n_positions = counts.n_positions() + usize::from(prior != Prior::UNIFORM);
        let cells = counts.n_items() * n_positions;
        let mut items = Self {
            prior,
            examination: vec![1.0; n_positions],
            posteriors: vec![Posterior::no_failures(0.0); counts.n_items()],
            exponents: vec![0.0; cells],
            tails: if is_thinned { vec![Tail::default(); counts.n_items()] } else { vec![] },
            failures: if is_thinned { vec![0.0; cells] } else { vec![] },
        };
        items.prepare(counts);
        items
    }

    #[inline]
    fn learn(&mut self, counts: &PbmCounts, item: usize) {
        let Self { prior, examination, posteriors, exponents, tails, failures } = self;
        let positions = examination.len();
        let range = item * positions..(item + 1) * positions;
        let exponents = &mut exponents[range.clone()];
        let seen = DisplaySums::of(counts, item, *prior, examination, exponents);
        if !tails.is_empty() {
            failures[range].copy_from_slice(exponents);
        }
        let (posterior, at) = Posterior::of(&seen, exponents, examination);
        posteriors[item] = posterior;
        if let Some(tail) = tails.get_mut(item) {
            *tail = Tail::of(&seen, at);
        }
    }

    fn add(&mut self, counts: &PbmCounts, prior: Prior, is_thinned: bool) {
        if is_thinned == self.tails.is_empty() {
            *self = Self::of(counts, prior, is_thinned);
            return;
        }
        let cells = counts.n_items() * self.examination.len();
        self.posteriors.push(Posterior::no_failures(0.0));
        self.exponents.resize(cells, 0.0);
        if is_thinned {
            self.tails.push(Tail::default());
            self.failures.resize(cells, 0.0);
        }
        self.learn(counts, counts.n_items() - 1);
    }

    fn check(prior: Prior) -> Result<(), Error> {
        prior.at_least_1().map(drop)
    }
}

impl Items {
    /// Makes all posteriors from the counts.
    pub(super) fn prepare(&mut self, counts: &PbmCounts) {
        let before = self.examination.len() - counts.n_positions();
        for (examined, &position) in self.examination[before..].iter_mut().zip(&counts.order) {
            *examined = counts.examination()[position];
        }
        for item in 0..counts.n_items() {
            self.learn(counts, item);
        }
    }

    #[inline]
    fn positions_of<'a>(&self, values: &'a [f64], item: usize) -> &'a [f64] {
        let positions = self.examination.len();
        &values[item * positions..][..positions]
    }

    #[inline]
    fn failures_of(&self, item: usize) -> &[f64] {
        self.positions_of(&self.failures, item)
    }
}

impl Posteriors for Items {
    fn n_items(&self) -> usize {
        self.posteriors.len()
    }

    fn draw<R: Rng + ?Sized>(&self, item: usize, sampler: Sampler, rng: &mut R) -> f64 {
        self.posteriors[item].draw(self.positions_of(&self.exponents, item), &self.examination, sampler, rng)
    }

    #[inline]
    fn bound(&self, item: usize, threshold: &Threshold) -> f64 {
        self.tails[item].bound(threshold, self.failures_of(item), &self.examination)
    }

    fn draw_above<R: Rng + ?Sized>(
        &self,
        item: usize,
        threshold: &Threshold,
        least: f64,
        rng: &mut R,
    ) -> Option<f64> {
        let (tail, failures) = (&self.tails[item], self.failures_of(item));
        let draw = tail.propose(threshold, failures, &self.examination, least, rng)?;
        let is_above = tail.has_no_failures() || {
            let any = self.draw(item, Sampler::new(), rng);
            tail.accepts(any, failures, &self.examination, rng)
        };
        is_above.then_some(draw)
    }

    fn chance(&self, item: usize, threshold: &Threshold) -> f64 {
        self.tails[item].chance(threshold)
    }

    #[inline]
    fn hash(&self, item: usize) -> u64 {
        let [clicks, weighted_shows] = self.tails[item].sums();
        let mut hash = clicks.to_bits() ^ weighted_shows.to_bits().rotate_left(32);
        for failures in self.failures_of(item) {
            hash = hash.rotate_left(23).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ failures.to_bits();
        }
        hash
    }

    #[inline]
    fn is_like(&self, item: usize, other: usize) -> bool {
        self.tails[item].sums() == self.tails[other].sums()
            && self.failures_of(item) == self.failures_of(other)
    }
}
