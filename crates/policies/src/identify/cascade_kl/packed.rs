//! Sort keys of places in one word each.
//!
//! A key is a flag, a number and a place; equal numbers are in the order of their places. The word has the flag in its highest bit, the
//! upper bits of the number below it, in an encoding that keeps their order, and the place in the lowest bits. So words are ordered as
//! their keys, unless two numbers differ only in the bits that the place has displaced. This is noticed, and then the keys themselves are
//! compared. Comparing words is several times as fast.

use std::cmp::Ordering;

/// The flag and the number of a key.
pub(super) type Key = (bool, f64);

/// How keys are packed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Packing {
    /// The bits of the place.
    places: u64,
}

impl Packing {
    /// For places below `size`.
    pub(super) fn new(size: usize) -> Self {
        Self { places: size.next_power_of_two() as u64 - 1 }
    }

    #[inline]
    pub(super) fn pack(self, (flag, number): Key, place: usize) -> u64 {
        u64::from(flag) << 63 | (in_order(number) >> 1) & !self.places | place as u64
    }

    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "packed from a place")]
    pub(super) fn place(self, word: u64) -> usize {
        (word & self.places) as usize
    }

    /// Whether the two words do not order their keys.
    #[inline]
    fn are_alike(self, a: u64, b: u64) -> bool {
        (a ^ b) & !self.places == 0
    }

    /// Keeps the `n` smallest, in any order.
    #[inline]
    pub(super) fn keep_smallest(self, words: &mut Vec<u64>, n: usize, key: impl Fn(usize) -> Key) {
        if n >= words.len() {
            return;
        }
        let (kept, cut) = part(words, n);
        if kept.iter().any(|&word| self.are_alike(word, cut)) {
            let cut_key = key(self.place(cut));
            let differs =
                |&word: &u64| self.are_alike(word, cut) && !are_equal(key(self.place(word)), cut_key);
            if words.iter().any(differs) {
                self.part_by_keys(words, n, &key);
            }
        }
        words.truncate(n);
    }

    /// Sorts in increasing order.
    #[inline]
    pub(super) fn sort(self, words: &mut [u64], key: impl Fn(usize) -> Key) {
        sort(words);
        let in_doubt = |pair: &[u64]| {
            let (a, b) = (pair[0], pair[1]);
            self.are_alike(a, b) && !are_equal(key(self.place(a)), key(self.place(b)))
        };
        if words.windows(2).any(in_doubt) {
            self.sort_by_keys(words, &key);
        }
    }

    #[cold]
    fn part_by_keys(self, words: &mut [u64], n: usize, key: &dyn Fn(usize) -> Key) {
        words.select_nth_unstable_by(n, |&a, &b| self.compare(a, b, key));
    }

    #[cold]
    fn sort_by_keys(self, words: &mut [u64], key: &dyn Fn(usize) -> Key) {
        words.sort_unstable_by(|&a, &b| self.compare(a, b, key));
    }

    /// The order of the keys themselves.
    fn compare(self, a: u64, b: u64, key: &dyn Fn(usize) -> Key) -> Ordering {
        let ((flag, number), (other_flag, other_number)) = (key(self.place(a)), key(self.place(b)));
        let by_number = number.total_cmp(&other_number);
        flag.cmp(&other_flag).then(by_number).then(self.place(a).cmp(&self.place(b)))
    }
}

/// The `n` smallest words, in any order, and the next.
fn part(words: &mut [u64], n: usize) -> (&[u64], u64) {
    let (smallest, &mut next, _) = words.select_nth_unstable(n);
    (smallest, next)
}

/// Sorts words. Not generic, so that it is compiled once.
fn sort(words: &mut [u64]) {
    words.sort_unstable();
}

fn are_equal(a: Key, b: Key) -> bool {
    a.0 == b.0 && a.1.to_bits() == b.1.to_bits()
}

/// The bits of a number, in the order of [`f64::total_cmp`].
#[inline]
#[expect(clippy::cast_possible_wrap, clippy::cast_sign_loss, reason = "bit patterns")]
fn in_order(number: f64) -> u64 {
    let bits = number.to_bits();
    bits ^ (((bits as i64) >> 63) as u64 | 1 << 63)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    /// Keys of which many are equal, and many differ in their lowest bits only.
    fn keys(rng: &mut Xoshiro256PlusPlus) -> Vec<Key> {
        let bases = [0.0, -0.0, 1.0, -1.0, 3e-300, 0.7, f64::INFINITY, f64::MIN];
        let n_bases = rng.random_range(1..=bases.len());
        let span = [1, 4, 1 << 20][rng.random_range(0..3)];
        (0..rng.random_range(1..300))
            .map(|_| {
                let base = bases[rng.random_range(0..n_bases)].to_bits();
                // Below an infinity there are numbers, above there are none.
                let low = if base == f64::INFINITY.to_bits() { 0 } else { rng.random_range(0..span) };
                (rng.random(), f64::from_bits(base + low))
            })
            .collect()
    }

    fn sorted(keys: &[Key]) -> Vec<usize> {
        let mut places: Vec<usize> = (0..keys.len()).collect();
        places.sort_by(|&a, &b| keys[a].0.cmp(&keys[b].0).then(keys[a].1.total_cmp(&keys[b].1)));
        places
    }

    /// As sorting the keys. Sorting the words alone gives another order in more than a hundred of these cases.
    #[test]
    fn words_are_ordered_as_their_keys() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut unsure = 0;
        for _ in 0..2000 {
            let keys = keys(&mut rng);
            let packing = Packing::new(keys.len());
            let mut words: Vec<u64> =
                keys.iter().enumerate().map(|(place, &key)| packing.pack(key, place)).collect();
            let places = |words: &[u64]| words.iter().map(|&word| packing.place(word)).collect::<Vec<_>>();
            let right = sorted(&keys);

            let mut alone = words.clone();
            alone.sort_unstable();
            unsure += usize::from(places(&alone) != right);

            let n = rng.random_range(0..=keys.len() + 1);
            let mut kept = words.clone();
            packing.keep_smallest(&mut kept, n, |place| keys[place]);
            let mut smallest = right[..n.min(keys.len())].to_vec();
            let mut kept = places(&kept);
            smallest.sort_unstable();
            kept.sort_unstable();
            assert_eq!(kept, smallest);

            packing.sort(&mut words, |place| keys[place]);
            assert_eq!(places(&words), right);
        }
        assert!(unsure > 100, "{unsure}");
    }
}
