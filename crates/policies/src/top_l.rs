//! The L largest of many scores, ties broken uniformly at random.
//!
//! One random draw a round is the key of its ties: among items of equal score the one with the
//! largest hash of (key, item) goes first. So ties do not depend on the order in which items are
//! offered. A policy that skips items which cannot win chooses as one that offers all items.
//!
//! A hash an item is too much where nearly all of a large catalogue are equal, as before the first
//! displays. Policies with a shortlist draw the first of more than [`MOST_HASHED`] equals by their
//! places in the order of items: also a uniformly random order, and also of the round's key alone.

use crate::Terms;
use crate::coin::place;
use crate::exact::number;
use click_models::{ItemId, ItemSet};
use rand::Rng;

/// Up to this number of equals their hashes decide.
pub(crate) const MOST_HASHED: usize = 1024;

/// The key of a round's ties.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ties {
    key: u64,
}

impl Ties {
    pub(crate) fn draw<R: Rng + ?Sized>(rng: &mut R) -> Self {
        Self { key: rng.next_u64() }
    }

    /// The ties of a key that was drawn before.
    pub(crate) fn of(key: u64) -> Self {
        Self { key }
    }

    /// The key whose first place is decided by `draw`.
    pub(crate) fn with_first(draw: u64) -> Self {
        // The inverse of the finaliser.
        let mut hash = draw ^ (draw >> 31) ^ (draw >> 62);
        hash = hash.wrapping_mul(0x3196_42b2_d24d_8ec3);
        hash = (hash ^ (hash >> 27) ^ (hash >> 54)).wrapping_mul(0x96de_1b17_3f11_9089);
        hash = hash ^ (hash >> 30) ^ (hash >> 60);
        Self { key: hash ^ u64::from(u32::MAX).wrapping_mul(0x9e37_79b9_7f4a_7c15) }
    }

    /// A random number for `item`.
    pub(crate) fn hash(self, item: u32) -> u64 {
        self.rank(item).0
    }

    /// Hash of `item`, the finaliser of `SplitMix64`: among equals the larger comes first.
    fn rank(self, item: u32) -> (u64, u32) {
        let mut hash = self.key ^ u64::from(item).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (hash ^ (hash >> 31), item)
    }

    /// A random place among `n`, by the `nth` draw.
    fn place(self, nth: usize, n: usize) -> usize {
        place(self.hash(u32::MAX - number(nth)), n)
    }

    /// Returns whether (`score`, `item`) goes before (`other_score`, `other`).
    #[inline]
    pub(crate) fn precedes(self, score: f64, item: u32, other_score: f64, other: u32) -> bool {
        score > other_score || (score == other_score && self.breaks_for(item, other))
    }

    /// The item of the largest score, which goes before its equals; `None` without items.
    #[inline]
    pub(crate) fn first(self, items: impl Iterator<Item = u32>, score: impl Fn(u32) -> f64) -> Option<u32> {
        let first = items.map(|item| (score(item), item)).reduce(|best, (score, item)| {
            if self.precedes(score, item, best.0, best.1) { (score, item) } else { best }
        });
        first.map(|(_, item)| item)
    }

    /// Returns whether `item` goes before `other` of the same score. Not inlined: ties are rare.
    #[cold]
    #[inline(never)]
    fn breaks_for(self, item: u32, other: u32) -> bool {
        self.rank(item) > self.rank(other)
    }
}

/// Room for equal items among which the first are found, for each of these.
const ROOM: usize = 4;

/// Keeps the best `capacity` of the items offered to it, in decreasing order of score.
///
/// Terms may limit the items of a group: a full group lets its last item go, a full list its last
/// one. The sets of items that they allow are independent sets of a matroid, so the items that stay
/// are those that the greedy choice takes, which skips full groups, in whatever order they are
/// offered. The list has items enough as soon as it is full.
#[derive(Debug, Clone, Default)]
pub(crate) struct TopL {
    pub(crate) capacity: usize,
    terms: Option<Box<Terms>>,
    /// Scores and items, best first.
    pub(crate) best: Vec<(f64, u32)>,
    /// At most this number of items as good as the last one were refused.
    n_equal: usize,
    /// Buffer of [`TopL::offer_equals`].
    first: Vec<(u64, u32)>,
}

impl TopL {
    pub(crate) fn new(capacity: usize) -> Self {
        let (best, first) = (Vec::with_capacity(capacity), Vec::with_capacity(ROOM * capacity));
        Self { capacity, terms: None, best, n_equal: 0, first }
    }

    /// Sets the terms of the next lists.
    #[inline]
    pub(crate) fn limit(&mut self, terms: Option<&Terms>) {
        if terms.is_some() || self.terms.is_some() {
            self.set_terms(terms);
        }
    }

    /// Returns whether the items of a group are limited.
    pub(crate) fn has_groups(&self) -> bool {
        self.terms.is_some()
    }

    #[cold]
    fn set_terms(&mut self, terms: Option<&Terms>) {
        self.terms = terms.filter(|terms| terms.most.is_some()).cloned().map(Box::new);
    }

    /// Makes room in the group of an item, if it is full. Returns whether the item may be offered.
    #[cold]
    #[inline(never)]
    fn has_room(&mut self, item: u32, score: f64, ties: Ties) -> bool {
        let Some(terms) = self.terms.as_deref() else { return true };
        if terms.admits(item, self.best.iter().map(|&(_, other)| other)) {
            return true;
        }
        let is_of_group = |&(_, other): &(f64, u32)| terms.group(other) == terms.group(item);
        match self.best.iter().rposition(is_of_group) {
            Some(last) if ties.precedes(score, item, self.best[last].0, self.best[last].1) => {
                self.best.remove(last);
                true
            }
            _ => false,
        }
    }

    pub(crate) fn clear(&mut self) {
        self.best.clear();
        self.n_equal = 0;
    }

    /// The score needed to enter: the last one's, or minus infinity while there is room.
    pub(crate) fn threshold(&self) -> f64 {
        if self.best.len() < self.capacity { f64::NEG_INFINITY } else { self.best[self.capacity - 1].0 }
    }

    /// Adds `item` if it is among the best; each item at most once between calls of `clear`.
    #[inline]
    pub(crate) fn offer(&mut self, item: u32, score: f64, ties: Ties) {
        if self.terms.is_some() && !self.has_room(item, score, ties) {
            return;
        }
        if self.best.len() == self.capacity {
            let (last_score, last) = self.best[self.capacity - 1];
            self.n_equal += usize::from(score == last_score);
            if !ties.precedes(score, item, last_score, last) {
                return;
            }
            self.best.pop();
        }
        let mut place = self.best.len();
        self.best.push((score, item));
        while place > 0 {
            let (above_score, above) = self.best[place - 1];
            if !ties.precedes(score, item, above_score, above) {
                break;
            }
            self.best[place] = (above_score, above);
            place -= 1;
        }
        self.best[place] = (score, item);
    }

    /// Offers many items of one score, as one by one, for little more than a hash each.
    pub(crate) fn offer_equals<'a>(
        &mut self,
        equals: impl Iterator<Item = &'a [u32]> + Clone,
        is_offered: impl Fn(u32) -> bool,
        score: f64,
        ties: Ties,
    ) {
        if self.terms.is_some() {
            let items = equals.flatten().filter(|&&item| is_offered(item));
            return items.for_each(|&item| self.offer(item, score, ties));
        }
        let n_items: usize = equals.clone().map(<[u32]>::len).sum();
        // Twice as many hashes as there are places are expected above this one.
        let likely = 2 * self.capacity as u64;
        let least = u64::MAX - (u64::MAX / (n_items as u64).max(likely)).saturating_mul(likely);
        self.find_first(equals.clone(), &is_offered, least, ties);
        if self.first.len() < self.capacity.min(n_items) {
            self.find_first(equals, &is_offered, 0, ties);
        }
        for place in 0..self.first.len() {
            self.offer(self.first[place].1, score, ties);
        }
    }

    /// Adds as many as `wanted` of `n` items of one score, more than there are places, in random
    /// order, behind better ones. `nth` knows the order of their numbers.
    pub(crate) fn draw_equals(
        &mut self,
        wanted: usize,
        n: usize,
        score: f64,
        ties: Ties,
        nth: impl Fn(usize) -> Option<ItemId>,
    ) {
        self.first.clear();
        for number in 0..wanted {
            let mut place = ties.place(number, n - number) as u64;
            // Places that were drawn before, in order.
            let mut below = 0;
            while self.first.get(below).is_some_and(|&(drawn, _)| drawn <= place) {
                (below, place) = (below + 1, place + 1);
            }
            self.first.insert(below, (place, 0));
            #[expect(clippy::cast_possible_truncation, reason = "below `n`")]
            let item = nth(place as usize).expect("a place among the items");
            self.best.push((score, item.number()));
        }
    }

    /// Draws the last ones of the items that were offered anew, by [`TopL::draw_equals`], if more
    /// than [`MOST_HASHED`] are equal. `equals` gets these.
    pub(crate) fn redraw_equals(
        &mut self,
        items: impl Iterator<Item = ItemId>,
        ties: Ties,
        equals: &mut ItemSet,
        is_equal: impl Fn(usize, f64) -> bool,
    ) {
        if self.n_equal + self.capacity <= MOST_HASHED || self.terms.is_some() {
            return;
        }
        let last = self.threshold();
        equals.clear();
        for item in items.filter(|item| is_equal(item.index(), last)) {
            equals.insert(item);
        }
        if equals.len() > MOST_HASHED {
            self.best.retain(|&(score, _)| score > last);
            let wanted = self.capacity - self.best.len();
            self.draw_equals(wanted, equals.len(), last, ties, |place| equals.nth(place));
        }
    }

    /// Finds the first of the items whose hash is at least `least`.
    fn find_first<'a>(
        &mut self,
        equals: impl Iterator<Item = &'a [u32]>,
        is_offered: &impl Fn(u32) -> bool,
        mut least: u64,
        ties: Ties,
    ) {
        self.first.clear();
        for items in equals {
            for &item in items {
                let rank = ties.rank(item);
                // Rare, so that the loop is little more than a hash.
                if rank.0 >= least && is_offered(item) {
                    if self.first.len() == ROOM * self.capacity {
                        least = self.keep_first();
                    }
                    self.first.push(rank);
                }
            }
        }
        self.keep_first();
    }

    /// Keeps as many as there are places, in order, and returns the hash of the last one.
    #[cold]
    fn keep_first(&mut self) -> u64 {
        self.first.sort_unstable_by(|one, other| other.cmp(one));
        self.first.truncate(self.capacity);
        self.first.last().map_or(0, |last| last.0)
    }
}

#[cfg(test)]
mod tests;
