//! A set of items in their order, with the n-th of them.

/// Words that are counted together.
const WORDS: usize = 64;
const BITS: usize = u64::BITS as usize;

/// The set: a bit for every item.
#[derive(Debug, Clone)]
pub(super) struct ItemSet {
    words: Vec<u64>,
    /// The number of items in every [`WORDS`] words.
    counts: Vec<usize>,
    len: usize,
}

impl ItemSet {
    /// Without any of `n_items` items.
    pub(super) fn new(n_items: usize) -> Self {
        let words = vec![0; n_items.div_ceil(BITS)];
        Self { counts: vec![0; words.len().div_ceil(WORDS)], words, len: 0 }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn clear(&mut self) {
        self.words.fill(0);
        self.counts.fill(0);
        self.len = 0;
    }

    #[inline]
    pub(super) fn contains(&self, item: usize) -> bool {
        self.words[item / BITS] >> (item % BITS) & 1 == 1
    }

    #[inline]
    pub(super) fn insert(&mut self, item: usize) {
        if !self.contains(item) {
            self.words[item / BITS] |= 1 << (item % BITS);
            self.counts[item / BITS / WORDS] += 1;
            self.len += 1;
        }
    }

    /// Removes an item. Returns whether it was there.
    #[inline]
    pub(super) fn remove(&mut self, item: usize) -> bool {
        let was_there = self.contains(item);
        if was_there {
            self.words[item / BITS] &= !(1 << (item % BITS));
            self.counts[item / BITS / WORDS] -= 1;
            self.len -= 1;
        }
        was_there
    }

    /// The item with `n` items below it.
    ///
    /// # Panics
    ///
    /// If there are not more than `n` items.
    #[inline]
    pub(super) fn nth(&self, mut n: usize) -> usize {
        let mut block = 0;
        while n >= self.counts[block] {
            n -= self.counts[block];
            block += 1;
        }
        let mut word = block * WORDS;
        loop {
            let items = self.words[word].count_ones() as usize;
            if n < items {
                break;
            }
            n -= items;
            word += 1;
        }
        let mut rest = self.words[word];
        for _ in 0..n {
            rest &= rest - 1;
        }
        word * BITS + rest.trailing_zeros() as usize
    }
}

#[cfg(test)]
mod tests;
