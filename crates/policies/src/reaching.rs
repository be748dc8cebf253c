//! One of the arms whose index reaches a threshold, drawn uniformly: what PIE and PBM-PIE explore.
//!
//! Few arms are all tested in every round. In a large catalogue nearly all tests have the answer of
//! the round before, since threshold and level move little. So tests are made for a *band* of
//! thresholds `low..=high` and a range of levels `from..=ceiling` at once. An index grows with the
//! level, hence an arm
//!
//! - whose index reaches `high` at `from` reaches every threshold of the band at every level of the
//!   range: it is *certain*;
//! - whose index is below `low` at `ceiling` reaches none of them;
//! - between the two is *open*, and is tested in every round.
//!
//! An arm is open as soon as its counts change. All arms are tested anew when the threshold or the
//! level leaves its range. The ranges are widened if they are left after few tests of open arms,
//! and narrowed if these tests cost more than testing all anew.
//!
//! The draw is that of testing all arms: the same arms in order, and one draw.

use crate::coin::pick;
use crate::exact::number;
use click_models::{ItemId, ItemSet, ListShape};
use rand::{Rng, RngExt};
use std::fmt::Debug;

/// Up to this number of arms testing all of them is faster.
const MOST_TESTED: usize = 32;
/// Marks an arm that is not open.
const CLOSED: u32 = u32::MAX;
/// Widths of band and range of levels, as shares: at first, least and most.
const WIDTHS: [f64; 3] = [1e-3, 1e-7, 0.25];

/// A threshold for the indices of arms.
pub(crate) trait Threshold: Clone + Debug {
    /// Moves the threshold to `q`.
    fn set(&mut self, q: f64);
}

/// Arms that can be compared with a threshold. An index grows with the level.
pub(crate) trait Arms {
    type Threshold: Threshold;

    /// Returns whether the index is certainly below the threshold, also after rounding.
    fn is_below(&mut self, item: usize, threshold: &Self::Threshold, level: f64) -> bool;

    /// Returns whether the index certainly reaches the threshold, also after rounding.
    fn is_above(&mut self, item: usize, threshold: &Self::Threshold, level: f64) -> bool;

    /// Returns whether the index reaches the threshold, whose value is `q`.
    fn reaches(&mut self, item: usize, threshold: &Self::Threshold, q: f64, level: f64) -> bool;
}

/// The question of a round.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Question<'a> {
    /// Arms that are not drawn.
    pub(crate) leaders: &'a [u32],
    /// The value that an index has to reach; infinite if only arms without displays reach it.
    pub(crate) q: f64,
    pub(crate) level: f64,
}

/// The arms that reach a threshold, round after round.
#[derive(Debug, Clone)]
pub(crate) struct Reaching<T> {
    n_arms: u32,
    threshold: T,
    /// Buffer: those that reach it, if all are tested; open ones that reach it, if not.
    found: Vec<ItemId>,
    ranges: Option<Box<Ranges<T>>>,
}

impl<T: Threshold> Reaching<T> {
    /// For this number of arms; any threshold.
    pub(crate) fn new(n_arms: usize, threshold: T) -> Self {
        let ranges = (n_arms > MOST_TESTED).then(|| Box::new(Ranges::new(n_arms, &threshold)));
        Self { n_arms: number(n_arms), threshold, found: Vec::with_capacity(n_arms), ranges }
    }

    /// The counts of `item` changed.
    pub(crate) fn changed(&mut self, item: usize) {
        if let Some(ranges) = &mut self.ranges {
            ranges.open(item);
        }
    }

    /// Draws one of the arms that reach the threshold and do not lead; `None` if there is none.
    pub(crate) fn draw<A: Arms<Threshold = T>, R: Rng + ?Sized>(
        &mut self,
        arms: &mut A,
        question: Question<'_>,
        rng: &mut R,
    ) -> Option<ItemId> {
        let Question { leaders, q, level } = question;
        self.threshold.set(q);
        self.found.clear();
        if let Some(ranges) = &mut self.ranges {
            if !ranges.hold(q, level) {
                ranges.make(arms, q, level);
            }
            ranges.test_open(arms, &self.threshold, question, &mut self.found);
            return ranges.draw(leaders, &self.found, rng);
        }
        for item in 0..self.n_arms {
            if !leaders.contains(&item) && arms.reaches(item as usize, &self.threshold, q, level) {
                self.found.push(ItemId::new(item));
            }
        }
        pick(&self.found, rng)
    }
}

/// Certain and open arms of a large catalogue.
#[derive(Debug, Clone)]
struct Ranges<T> {
    /// The ends of the band, as thresholds and as values.
    thresholds: [T; 2],
    band: [f64; 2],
    /// The first and the last level.
    levels: [f64; 2],
    /// Widths of the next band and the next range of levels.
    width: f64,
    growth: f64,
    /// Tests of open arms since all were tested.
    tests: usize,
    certain: ItemSet,
    open: Vec<u32>,
    /// The index of every arm in `open`.
    place: Vec<u32>,
    /// Whether the counts of an open arm changed since it was tested for the band.
    untested: Vec<bool>,
}

impl<T: Threshold> Ranges<T> {
    fn new(n_arms: usize, threshold: &T) -> Self {
        Self {
            thresholds: [threshold.clone(), threshold.clone()],
            // Empty, so that the first round tests all arms.
            band: [f64::INFINITY, f64::NEG_INFINITY],
            levels: [f64::INFINITY, f64::NEG_INFINITY],
            width: WIDTHS[0],
            growth: WIDTHS[0],
            tests: 0,
            certain: ItemSet::none(n_arms),
            open: Vec::with_capacity(n_arms),
            place: vec![CLOSED; n_arms],
            untested: vec![false; n_arms],
        }
    }

    fn hold(&self, q: f64, level: f64) -> bool {
        self.band[0] <= q && q <= self.band[1] && self.levels[0] <= level && level <= self.levels[1]
    }

    /// Opens an arm whose counts changed.
    fn open(&mut self, item: usize) {
        self.untested[item] = true;
        if self.place[item] == CLOSED {
            self.certain.remove(ItemId::new(number(item)));
            self.push_open(item);
        }
    }

    fn push_open(&mut self, item: usize) {
        self.place[item] = number(self.open.len());
        self.open.push(number(item));
    }

    /// Closes the open arm at this place.
    fn close(&mut self, place: usize) {
        let closed = self.open.swap_remove(place);
        self.place[closed as usize] = CLOSED;
        if let Some(&moved) = self.open.get(place) {
            self.place[moved as usize] = number(place);
        }
    }

    /// Returns whether an arm is open; a certain one is noted.
    fn stays_open(&mut self, arms: &mut impl Arms<Threshold = T>, item: usize) -> bool {
        let [low, high] = &self.thresholds;
        let [from, ceiling] = self.levels;
        if arms.is_below(item, low, ceiling) {
            return false;
        }
        let is_certain = arms.is_above(item, high, from);
        if is_certain {
            self.certain.insert(ItemId::new(number(item)));
        }
        !is_certain
    }

    /// Tests all arms for new ranges.
    #[inline(never)]
    fn make(&mut self, arms: &mut impl Arms<Threshold = T>, q: f64, level: f64) {
        let [_, least, most] = WIDTHS;
        if self.tests > self.place.len() {
            self.width = (0.5 * self.width).max(least);
            self.growth = (0.5 * self.growth).max(least);
        } else if level > self.levels[1] {
            self.growth = (2.0 * self.growth).min(most);
        } else {
            self.width = (2.0 * self.width).min(most);
        }
        self.tests = 0;
        // Zero and infinity stay what they are.
        self.band = [q * (1.0 - self.width), q * (1.0 + self.width)];
        self.levels = [level, level * (1.0 + self.growth)];
        for (threshold, end) in self.thresholds.iter_mut().zip(self.band) {
            threshold.set(end);
        }
        self.certain.clear();
        self.open.clear();
        self.untested.fill(false);
        for item in 0..self.place.len() {
            self.place[item] = CLOSED;
            if self.stays_open(arms, item) {
                self.push_open(item);
            }
        }
    }

    /// Finds the open arms that reach the threshold.
    fn test_open(
        &mut self,
        arms: &mut impl Arms<Threshold = T>,
        threshold: &T,
        Question { leaders, q, level }: Question<'_>,
        found: &mut Vec<ItemId>,
    ) {
        self.tests += self.open.len();
        let mut place = 0;
        while let Some(&id) = self.open.get(place) {
            let item = id as usize;
            // Leaders change in nearly every round, and are not drawn.
            if leaders.contains(&id) {
                place += 1;
                continue;
            }
            if std::mem::take(&mut self.untested[item]) && !self.stays_open(arms, item) {
                self.close(place);
                continue;
            }
            if arms.reaches(item, threshold, q, level) {
                found.push(ItemId::new(id));
            }
            place += 1;
        }
    }

    /// Draws from the certain arms without the leaders, and the open ones that were found.
    fn draw<R: Rng + ?Sized>(&mut self, leaders: &[u32], found: &[ItemId], rng: &mut R) -> Option<ItemId> {
        let certain = &mut self.certain;
        let is_certain = |leader: &&u32| certain.contains(ItemId::new(**leader));
        let n_arms = certain.len() - leaders.iter().filter(is_certain).count() + found.len();
        if n_arms == 0 {
            return None;
        }
        let drawn = rng.random_range(0..n_arms);
        // The set is that of this round for a moment, since arms are drawn in the order of items.
        let mut led = [false; ListShape::MAX_POSITIONS];
        for (led, &leader) in led.iter_mut().zip(leaders) {
            *led = certain.remove(ItemId::new(leader));
        }
        for &item in found {
            certain.insert(item);
        }
        let item = certain.nth(drawn);
        for &item in found {
            certain.remove(item);
        }
        for (&leader, _) in leaders.iter().zip(led).filter(|&(_, led)| led) {
            certain.insert(ItemId::new(leader));
        }
        item
    }
}
