//! The L largest of N independent posterior draws, without drawing all N: the same distribution.
//!
//! A threshold `tau` is fixed before the round, from past rounds only. `P(X_i > tau)` is at most
//! `q_i`, the mass of an envelope of the upper tail of item `i`'s posterior.
//!
//! 1. Items with `q_i > 0.25` are drawn in full. Such an item is drawn in full until the next
//!    search for a threshold, so its `q_i` need not be computed after every display.
//! 2. Every other item has a Poisson process of points with rate `-ln(1 - q_i)`. With probability
//!    `q_i` it has a point: a candidate. A candidate takes a proposal from its envelope, and
//!    accepts it with the ratio of posterior to envelope. So it exceeds `tau` with probability
//!    `P(X_i > tau)`, and its value is distributed as `X_i` given `X_i > tau`.
//! 3. If L draws exceed `tau`, the largest L of them are the answer: no other item is above `tau`.
//!    Otherwise every other item is drawn given that it is at most `tau`, and the answer is the
//!    largest L of all. Such a round is called short.
//!
//! All points of a round come from one Poisson process. Items stand in buckets, one for each power
//! of two. In the bucket of the rates in `(2^-(k+1), 2^-k]` each item has a cell of length `2^-k`,
//! and only points in the first part of the cell, of the length of the item's rate, count. The next
//! point is looked for from the end of the cell, since the process has no memory. So the expected
//! cost of a round is a few draws and does not depend on N. With few items, most rounds have no
//! point, which one comparison of a uniform draw shows.
//!
//! The threshold is the largest one at which about one round in 30 N is short (`search.rs`). It is
//! searched again after a time that grows with the number of rounds; with many items also after a
//! short round, and when the rates have changed too much.
//!
//! The threshold, the items that are drawn in full, and the order of items inside the buckets
//! depend on earlier rounds, and the random stream depends on all three, so they are saved. Rates,
//! the other buckets and sums are functions of the counts and the threshold.
//!
//! References: Lewis and Shedler, *Simulation of nonhomogeneous Poisson processes by thinning*,
//! Naval Research Logistics Quarterly 26, 1979; Devroye, *Non-Uniform Random Variate Generation*,
//! 1986, chapters II.3 and VI.1. Deviations: the buckets, and the choice of the threshold.
//!
//! Complexity: as many expected draws a round as items are drawn in full, which is O(L) once items
//! are settled, and a few more; O(N) in short rounds and for a search, each once in many rounds.
//! With few items and users who change, rounds stay short until the next search. Memory: 60 bytes
//! an item.

mod buckets;
mod present;
mod saved;
mod search;
mod threshold;

pub(crate) use present::Present;
pub(crate) use saved::SavedThinning;
pub(crate) use threshold::Threshold;

use super::Sampler;
use crate::live::present_items;
use crate::top_l::{Ties, TopL};
use buckets::Buckets;
use click_models::{ItemId, ItemSet};
use confidence::math::{ln, ln_1p};
use rand::{Rng, RngExt};
use search::Search;
use threshold::MOST_STEPS;

/// Items whose bound is larger are drawn in full: rejected candidates would cost more.
const IN_FULL: f64 = 0.25;

/// Independent posteriors on (0, 1), one an item.
///
/// The results for an item may depend only on its posterior and the threshold.
pub(crate) trait Posteriors {
    /// Number of items.
    fn n_items(&self) -> usize;

    /// A draw of the posterior of `item`.
    fn draw<R: Rng + ?Sized>(&self, item: usize, sampler: Sampler, rng: &mut R) -> f64;

    /// The mass `q` of the envelope: at least the probability that a draw exceeds the threshold.
    /// Any number above 0.25, or NaN, means that `item` is drawn in full.
    fn bound(&self, item: usize, threshold: &Threshold) -> f64;

    /// With probability `P(X > threshold) / q` a draw above the threshold, otherwise `None`. May be
    /// `None` also if the draw is below `least`. Called only if `q` is at most 0.25.
    fn draw_above<R: Rng + ?Sized>(
        &self,
        item: usize,
        threshold: &Threshold,
        least: f64,
        rng: &mut R,
    ) -> Option<f64>;

    /// About the probability of a draw above the threshold. It decides only the speed.
    fn chance(&self, item: usize, threshold: &Threshold) -> f64;

    /// A hash of the posterior of `item`.
    fn hash(&self, item: usize) -> u64;

    /// Returns whether the posteriors of two items are equal. Equal ones have equal hashes.
    fn is_like(&self, item: usize, other: usize) -> bool;
}

/// The rate of an item's points, infinite if it is drawn in full.
#[inline]
fn rate(bound: f64) -> f64 {
    if bound <= IN_FULL { -ln_1p(-bound) } else { f64::INFINITY }
}

/// An exponential variate with mean 1.
pub(crate) fn exponential<R: Rng + ?Sized>(rng: &mut R) -> f64 {
    // 1 - u is in (0, 1], so the logarithm is finite.
    -ln(1.0 - rng.random::<f64>())
}

/// `2^exponent`, for small exponents.
fn power_of_two(exponent: u8) -> f64 {
    f64::from_bits((1023 + u64::from(exponent)) << 52)
}

/// When thresholds are searched.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Pace {
    /// In the first round, and whenever rounds become slow: for many items.
    Eager,
    /// Not before round [`FIRST_SEARCH`], and then whenever the number of rounds has grown by a
    /// quarter; or has doubled, if at most a quarter of the items is thinned. Until then such a
    /// catalogue is drawn in full. For few items: a search costs as much as 30 rounds.
    Rare,
}

/// Earlier rounds draw all of few items: many of them can still reach the list.
const FIRST_SEARCH: u64 = 1024;

impl Pace {
    /// Rounds from a search in this round to the next, at most.
    fn longest_wait(self, rounds: u64, n_items: usize) -> u64 {
        match self {
            Self::Eager => (n_items as u64 / 16).max(rounds / 8),
            Self::Rare => rounds.max(FIRST_SEARCH),
        }
    }
}

/// After short rounds among some items, a search waits for this number of draws for every present
/// item.
const DRAWN_BEFORE_SEARCH: u64 = 4;

/// Among items that come and go, rounds from one look at the items that are drawn in full to the
/// next. New items are until they have been displayed some times, so a threshold that was searched
/// when they came would soon be too high.
const ROUNDS_TO_SETTLE: u64 = 256;

/// Late rounds among some items.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Late {
    /// Share of the present items that were available, over some hundred rounds: it changes slowly,
    /// so that thresholds are searched seldom.
    pub(crate) share: f64,
    /// Items drawn in short rounds since the last search.
    pub(crate) drawn: u64,
}

impl Late {
    /// Counts a round with this number of available items.
    #[inline]
    fn count(&mut self, n_available: usize, n_present: usize) {
        let share = (n_available as f64 / n_present.max(1) as f64).min(1.0);
        self.share += (share - self.share) * (1.0 / 256.0);
    }
}

/// A threshold, and all items in buckets by the rates of their points.
#[derive(Debug, Clone)]
pub(crate) struct Thinning {
    pub(crate) pace: Pace,
    threshold: Threshold,
    buckets: Buckets,
    search: Search,
    /// Rounds so far.
    rounds: u64,
    /// The round of the next search, unless it is due before.
    next_search: u64,
    /// A search is due when all rates sum to less than `least`, or more than `most` with those in
    /// full.
    least: u64,
    most: u64,
    /// Buffer: candidates above the threshold, in a short round.
    above: Vec<u32>,
}

impl Thinning {
    /// For lists of this length.
    pub(crate) fn new<P: Posteriors>(posteriors: &P, n_positions: usize, pace: Pace) -> Self {
        let mut thinning = Self::empty(posteriors.n_items(), n_positions, pace);
        if pace == Pace::Eager {
            thinning.restart(posteriors);
        }
        thinning
    }

    /// Before any search: all items are drawn in full.
    fn empty(n_items: usize, n_positions: usize, pace: Pace) -> Self {
        Self {
            pace,
            // No draw is below it.
            threshold: Threshold::at(-MOST_STEPS),
            buckets: Buckets::new(n_items),
            search: Search::new(n_items, n_positions),
            rounds: 0,
            next_search: FIRST_SEARCH,
            least: 0,
            most: u64::MAX,
            above: Vec::with_capacity(n_positions),
        }
    }

    /// Forgets all rounds, as if made anew, for the same number of items.
    pub(crate) fn restart<P: Posteriors>(&mut self, posteriors: &P) {
        self.rounds = 0;
        self.move_threshold(posteriors, None, 1.0);
    }

    /// There is a further item, whose posterior has not been seen.
    pub(crate) fn push(&mut self) {
        self.buckets.push();
        self.search.push();
    }

    /// `item` left: it is no longer drawn in full.
    pub(crate) fn leave(&mut self, item: usize) {
        self.buckets.set(item, 0.0);
    }

    /// The posterior of `item` has changed.
    pub(crate) fn update<P: Posteriors>(&mut self, posteriors: &P, item: usize) {
        if !self.buckets.is_in_full(item) {
            self.buckets.set(item, rate(posteriors.bound(item, &self.threshold)));
        }
    }

    /// Counts the next round if the caller draws all items in it; otherwise [`Thinning::select`]
    /// does.
    #[inline]
    pub(crate) fn counts_as_full(&mut self) -> bool {
        let is_full = self.rounds < self.next_search && self.buckets.all_in_full();
        self.rounds += u64::from(is_full);
        is_full
    }

    /// One round: the largest draws, and their items, in `top`.
    #[inline]
    pub(crate) fn select<P: Posteriors, R: Rng + ?Sized>(
        &mut self,
        posteriors: &P,
        top: &mut TopL,
        rng: &mut R,
    ) {
        self.begin_round(posteriors, 1.0, true);
        let ties = Ties::draw(rng);
        top.clear();
        self.draw_above(posteriors, top, ties, rng, |_| true);
        if top.threshold() <= self.threshold.value {
            self.draw_below(posteriors, (0..posteriors.n_items()).map(ItemId::from_index), top, ties, rng);
            if self.pace == Pace::Eager {
                self.next_search = self.rounds;
            }
        }
    }

    /// One round among the items of `available` that are present.
    ///
    /// A short round draws the available items only, which may be few in every round. So the next
    /// search, whose cost is that of drawing all items some times, waits for as many draws.
    #[inline]
    pub(crate) fn select_among<P: Posteriors, R: Rng + ?Sized>(
        &mut self,
        posteriors: &Present<'_, P>,
        available: &ItemSet,
        late: &mut Late,
        top: &mut TopL,
        rng: &mut R,
    ) {
        let n_items = posteriors.n_items();
        let n_present = n_items - posteriors.absent.len();
        late.count(available.len(), n_present);
        let settles = self.rounds.is_multiple_of(ROUNDS_TO_SETTLE);
        if settles {
            self.settle(posteriors);
        }
        if self.begin_round(posteriors, late.share, settles) {
            late.drawn = 0;
        }
        let ties = Ties::draw(rng);
        top.clear();
        let is_offered = |item| available.contains(item) && !posteriors.absent.contains(item);
        self.draw_above(posteriors, top, ties, rng, is_offered);
        if top.threshold() <= self.threshold.value {
            self.draw_below(posteriors, present_items(available, posteriors.absent, n_items), top, ties, rng);
            late.drawn += available.len() as u64;
            if late.drawn > DRAWN_BEFORE_SEARCH * n_present as u64 {
                self.next_search = self.rounds;
            }
        }
    }

    /// Thins the items that need not be drawn in full any longer.
    #[cold]
    #[inline(never)]
    fn settle<P: Posteriors>(&mut self, posteriors: &P) {
        // An item that leaves its bucket is exchanged with the last, which has been looked at.
        for place in (0..self.buckets.in_full().len()).rev() {
            let item = self.buckets.in_full()[place] as usize;
            self.buckets.set(item, rate(posteriors.bound(item, &self.threshold)));
        }
    }

    /// Counts a round, after a search if one is due; because rounds have become slow only if
    /// `may_be_slow`.
    #[inline]
    fn begin_round<P: Posteriors>(&mut self, posteriors: &P, share: f64, may_be_slow: bool) -> bool {
        let total = self.buckets.total;
        let load = total.saturating_add((self.buckets.in_full().len() as u64) << 32);
        let is_due = self.rounds >= self.next_search || total < self.least || may_be_slow && load > self.most;
        if is_due {
            let before = (self.pace == Pace::Eager).then_some(self.threshold);
            self.move_threshold(posteriors, before, share);
        }
        self.rounds += 1;
        is_due
    }

    /// Offers all draws of offered items that may exceed the threshold.
    fn draw_above<P: Posteriors, R: Rng + ?Sized>(
        &self,
        posteriors: &P,
        top: &mut TopL,
        ties: Ties,
        rng: &mut R,
        is_offered: impl Fn(ItemId) -> bool,
    ) {
        let sampler = Sampler::new();
        for &item in self.buckets.in_full() {
            if is_offered(ItemId::new(item)) {
                top.offer(item, posteriors.draw(item as usize, sampler, rng), ties);
            }
        }
        if self.buckets.all_in_full() {
            return;
        }
        // The rate to the next point is the exponential variate -ln(1 - u), at least u.
        let uniform = rng.random::<f64>();
        if uniform >= self.buckets.most_cells() {
            return;
        }
        let mut left = -ln(1.0 - uniform);
        for (exponent, items) in self.buckets.with_rate() {
            let (cells, cell_size) = (items.len() as f64, power_of_two(exponent));
            // In cells.
            let mut point = left * cell_size;
            while point < cells {
                #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below a length")]
                let cell = point as usize;
                let item = items[cell];
                let counts = point - (cell as f64) < self.buckets.rate(item as usize) * cell_size;
                if counts && is_offered(ItemId::new(item)) {
                    let least = top.threshold();
                    if let Some(draw) = posteriors.draw_above(item as usize, &self.threshold, least, rng) {
                        top.offer(item, draw, ties);
                    }
                }
                point = (cell + 1) as f64 + exponential(rng) * cell_size;
            }
            left = (point - cells) / cell_size;
        }
    }

    /// Offers all others of the items, drawn given that they do not exceed the threshold.
    #[cold]
    #[inline(never)]
    fn draw_below<P: Posteriors, R: Rng + ?Sized>(
        &mut self,
        posteriors: &P,
        items: impl Iterator<Item = ItemId>,
        top: &mut TopL,
        ties: Ties,
        rng: &mut R,
    ) {
        let sampler = Sampler::new();
        self.above.clear();
        let candidates = top.best.iter().map(|&(_, item)| item);
        self.above.extend(candidates.filter(|&item| !self.buckets.is_in_full(item as usize)));
        self.above.sort_unstable();
        let mut above = self.above.iter().copied().peekable();
        for item in items {
            let (index, item) = (item.index(), item.number());
            if above.next_if_eq(&item).is_some() || self.buckets.is_in_full(index) {
                continue;
            }
            let draw = loop {
                let draw = posteriors.draw(index, sampler, rng);
                if draw <= self.threshold.value {
                    break draw;
                }
            };
            top.offer(item, draw, ties);
        }
    }

    /// Searches another threshold, and puts all items into their buckets.
    #[cold]
    #[inline(never)]
    fn move_threshold<P: Posteriors>(&mut self, posteriors: &P, before: Option<Threshold>, share: f64) {
        let found = self.search.find(posteriors, before, share);
        self.threshold = found.threshold;
        let search = &self.search;
        self.buckets.fill(|item| search.rate(item));
        let n_items = posteriors.n_items();
        let mut wait = self.pace.longest_wait(self.rounds, n_items);
        match self.pace {
            Pace::Eager => (self.least, self.most) = (found.least, found.most),
            Pace::Rare if 4 * self.buckets.in_full().len() < 3 * n_items => wait /= 4,
            Pace::Rare => self.buckets.fill(|_| f64::INFINITY),
        }
        self.next_search = self.rounds + wait;
    }
}

#[cfg(test)]
pub(crate) mod tests;
