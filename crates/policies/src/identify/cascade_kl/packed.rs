//! Sort keys of places in one word each.
//!
//! A key is a flag, a number and a place; equal numbers are in the order of their places. The word
//! has the flag in its highest bit, the upper bits of the number below it, in an encoding that
//! keeps their order, and the place in the lowest bits. So words are ordered as their keys, unless
//! two numbers differ only in the bits that the place has displaced. This is noticed, and then the
//! keys themselves are compared. Comparing words is several times as fast.

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

    pub(super) fn pack(self, (flag, number): Key, place: usize) -> u64 {
        u64::from(flag) << 63 | (in_order(number) >> 1) & !self.places | place as u64
    }

    #[expect(clippy::cast_possible_truncation, reason = "packed from a place")]
    pub(super) fn place(self, word: u64) -> usize {
        (word & self.places) as usize
    }

    /// Returns whether the two words do not order their keys.
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
#[expect(clippy::cast_possible_wrap, clippy::cast_sign_loss, reason = "bit patterns")]
fn in_order(number: f64) -> u64 {
    let bits = number.to_bits();
    bits ^ (((bits as i64) >> 63) as u64 | 1 << 63)
}

#[cfg(test)]
mod tests;
