//! The L largest of many scores, ties broken uniformly at random.
//!
//! One random draw a round is the key of its ties: among items of equal score the one with the largest hash of (key, item) goes first. So
//! ties do not depend on the order in which items are offered. A policy that skips items which cannot win chooses as one that offers
//! all items.

use rand::Rng;

/// The key of a round's ties.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ties {
    key: u64,
}

impl Ties {
    #[inline]
    pub(crate) fn draw<R: Rng + ?Sized>(rng: &mut R) -> Self {
        Self { key: rng.next_u64() }
    }

    /// The ties of a key that was drawn before.
    #[inline]
    pub(crate) fn of(key: u64) -> Self {
        Self { key }
    }

    /// A random number for `item`.
    #[inline]
    pub(crate) fn hash(self, item: u32) -> u64 {
        self.rank(item).0
    }

    /// Hash of `item`: among equals the larger goes first. The mixing function is the finaliser of `SplitMix64`.
    fn rank(self, item: u32) -> (u64, u32) {
        let mut hash = self.key ^ u64::from(item).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (hash ^ (hash >> 31), item)
    }

    /// Whether (`score`, `item`) goes before (`other_score`, `other`).
    #[inline]
    pub(crate) fn precedes(self, score: f64, item: u32, other_score: f64, other: u32) -> bool {
        score > other_score || (score == other_score && self.breaks_for(item, other))
    }

    /// Whether `item` goes before `other` of the same score. Not inlined: ties are rare once every item has been shown.
    #[cold]
    #[inline(never)]
    fn breaks_for(self, item: u32, other: u32) -> bool {
        self.rank(item) > self.rank(other)
    }
}

/// Room for equal items among which the first are found, for each of these.
const ROOM: usize = 4;

/// Keeps the best `capacity` of the items offered to it, in decreasing order of score.
#[derive(Debug, Clone)]
pub(crate) struct TopL {
    capacity: usize,
    best: Vec<(f64, u32)>,
    /// Buffer of [`TopL::offer_equals`].
    first: Vec<(u64, u32)>,
}

impl TopL {
    pub(crate) fn new(capacity: usize) -> Self {
        Self { capacity, best: Vec::with_capacity(capacity), first: Vec::with_capacity(ROOM * capacity) }
    }

    #[inline]
    pub(crate) fn clear(&mut self) {
        self.best.clear();
    }

    /// The score that an item must reach to enter: the last one's, or minus infinity while there is room.
    #[inline]
    pub(crate) fn threshold(&self) -> f64 {
        if self.best.len() < self.capacity { f64::NEG_INFINITY } else { self.best[self.capacity - 1].0 }
    }

    /// Adds `item` if it is among the best so far. Each item is offered at most once between two calls of `clear`.
    #[inline]
    pub(crate) fn offer(&mut self, item: u32, score: f64, ties: Ties) {
        if self.best.len() == self.capacity {
            let (last_score, last) = self.best[self.capacity - 1];
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

    /// Offers many items of one score, some at a time. The result is the same as one by one, at the cost of little more than a hash for
    /// each.
    pub(crate) fn offer_equals<'a>(
        &mut self,
        equals: impl Iterator<Item = &'a [u32]> + Clone,
        score: f64,
        ties: Ties,
    ) {
        let n_items: usize = equals.clone().map(<[u32]>::len).sum();
        // Twice as many hashes as there are places are expected above this one.
        let likely = 2 * self.capacity as u64;
        let least = u64::MAX - (u64::MAX / (n_items as u64).max(likely)).saturating_mul(likely);
        self.find_first(equals.clone(), least, ties);
        if self.first.len() < self.capacity.min(n_items) {
            self.find_first(equals, 0, ties);
        }
        for place in 0..self.first.len() {
            self.offer(self.first[place].1, score, ties);
        }
    }

    /// Finds the first of the items whose hash is at least `least`.
    fn find_first<'a>(&mut self, equals: impl Iterator<Item = &'a [u32]>, mut least: u64, ties: Ties) {
        self.first.clear();
        for items in equals {
            for &item in items {
                let rank = ties.rank(item);
                // Rare, so that the loop is little more than a hash.
                if rank.0 >= least {
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

    /// Scores and items, best first.
    #[inline]
    pub(crate) fn best(&self) -> &[(f64, u32)] {
        &self.best
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quickcheck::quickcheck;
    use rand::SeedableRng;
    use rand_xoshiro::Xoshiro256PlusPlus;

    fn select(scores: &[f64], order: &[usize], capacity: usize, ties: Ties) -> Vec<u32> {
        let mut top = TopL::new(capacity);
        for &item in order {
            top.offer(u32::try_from(item).expect("small"), scores[item], ties);
        }
        top.best().iter().map(|&(_, item)| item).collect()
    }

    quickcheck! {
        /// The choice is the sorted prefix, and the order of the offers does not matter, ties included.
        fn is_a_sorted_prefix_whatever_the_order(scores: Vec<u8>, capacity: u8, key: u64) -> bool {
            let scores: Vec<f64> = scores.iter().map(|&score| f64::from(score % 4)).collect();
            let capacity = usize::from(capacity % 8) + 1;
            let ties = Ties { key };
            let forward: Vec<usize> = (0..scores.len()).collect();
            let backward: Vec<usize> = forward.iter().rev().copied().collect();
            let mut sorted: Vec<u32> = (0..u32::try_from(scores.len()).expect("small")).collect();
            sorted.sort_by(|&a, &b| {
                let by_score = scores[b as usize].total_cmp(&scores[a as usize]);
                by_score.then(ties.rank(b).cmp(&ties.rank(a)))
            });
            sorted.truncate(capacity);
            select(&scores, &forward, capacity, ties) == sorted
                && select(&scores, &backward, capacity, ties) == sorted
        }
    }

    quickcheck! {
        /// Many equals at once are offered one by one.
        fn equals_are_offered_one_by_one(scores: Vec<u8>, n_items: u8, capacity: u8, key: u64) -> bool {
            let capacity = usize::from(capacity % 8) + 1;
            let ties = Ties { key };
            let (mut together, mut apart) = (TopL::new(capacity), TopL::new(capacity));
            let mut item = 0;
            for score in scores.iter().map(|&score| f64::from(score % 4)) {
                let equals: Vec<u32> = (item..item + u32::from(n_items % 32)).collect();
                item += u32::from(n_items);
                together.offer_equals(equals.chunks(3), score, ties);
                for item in equals {
                    apart.offer(item, score, ties);
                }
            }
            together.best() == apart.best()
        }
    }

    /// Each of five equal items takes each of the five places equally often. A count over 100,000 rounds has mean 20,000
    /// and standard deviation 126.5; all 25 stay within 700 of the mean but for a probability of 1e-6. Ties that went
    /// to the lowest index would give 100,000.
    #[test]
    fn ties_are_uniform() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(7);
        let mut wins = [[0_u32; 5]; 5];
        for _ in 0..100_000 {
            let chosen = select(&[1.0; 5], &[0, 1, 2, 3, 4], 5, Ties::draw(&mut rng));
            for (place, &item) in chosen.iter().enumerate() {
                wins[place][item as usize] += 1;
            }
        }
        for count in wins.iter().flatten() {
            assert!(count.abs_diff(20_000) < 700, "{wins:?}");
        }
    }
}
