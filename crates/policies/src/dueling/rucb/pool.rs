//! A set of items with access by rank, for random draws.

/// Items by number.
#[derive(Debug, Clone)]
pub(super) struct Pool {
    /// 64 items a word.
    words: Vec<u64>,
    pub(super) len: usize,
}

impl Pool {
    /// The empty set, with room for the items below `n_items`.
    pub(super) fn new(n_items: usize) -> Self {
        Self { words: vec![0; n_items.div_ceil(64)], len: 0 }
    }

    pub(super) fn contains(&self, item: usize) -> bool {
        self.words[item / 64] >> (item % 64) & 1 == 1
    }

    /// Inserts or removes the item.
    #[inline]
    pub(super) fn set(&mut self, item: usize, within: bool) {
        match (self.contains(item), within) {
            (false, true) => self.len += 1,
            (true, false) => self.len -= 1,
            _ => return,
        }
        self.words[item / 64] ^= 1 << (item % 64);
    }

    /// The item of this rank, from 0, in the order of numbers. `place` is below the length.
    #[inline]
    pub(super) fn nth(&self, mut place: usize) -> usize {
        let mut at = 0;
        loop {
            let mut word = self.words[at];
            // The last word needs no counting, and up to 64 items have only one word.
            if at + 1 < self.words.len() {
                let ones = word.count_ones() as usize;
                if place >= ones {
                    place -= ones;
                    at += 1;
                    continue;
                }
            }
            for _ in 0..place {
                word &= word.wrapping_sub(1);
            }
            return at * 64 + word.trailing_zeros() as usize;
        }
    }
}

#[cfg(test)]
mod tests;
