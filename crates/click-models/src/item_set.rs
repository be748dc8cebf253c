//! A set of items, such as those that may be shown.

use crate::ItemId;
use std::iter::from_fn;

const BITS: usize = u64::BITS as usize;
/// Words whose items are counted together: a block.
const WORDS: usize = BITS;

/// A set of items of a catalogue, one bit an item, in the order of their numbers.
///
/// Items beyond the size of the catalogue belong to no set. Sets are equal if they have the same
/// items and the same size. Memory: a bit an item.
///
/// # Examples
///
/// ```
/// use click_models::{ItemId, ItemSet};
///
/// let mut available = ItemSet::all(3);
/// available.remove(ItemId::new(1));
/// available.grow(5);
/// assert!(available.insert(ItemId::new(4)) && !available.insert(ItemId::new(5)));
/// assert!(available.iter().eq([0, 2, 4].map(ItemId::new)));
/// assert_eq!((available.len(), available.size(), available.nth(1)), (3, 5, Some(ItemId::new(2))));
/// available.keep(&ItemSet::all(3));
/// assert!(available.iter().eq([0, 2].map(ItemId::new)));
/// ```
#[derive(Debug, PartialEq, Eq, Default, fieldwork::Fieldwork)]
#[fieldwork(opt_in, get(doc_template = "{}"))]
pub struct ItemSet {
    words: Vec<u64>,
    /// The number of items in every block, and which of its words have any.
    counts: Vec<usize>,
    used: Vec<u64>,
    /// Number of items in the set.
    #[field]
    len: usize,
    /// Number of items of the catalogue.
    #[field]
    size: usize,
}

impl Clone for ItemSet {
    fn clone(&self) -> Self {
        let mut clone = Self::default();
        clone.clone_from(self);
        clone
    }

    /// Keeps the memory of `self`.
    fn clone_from(&mut self, source: &Self) {
        self.words.clone_from(&source.words);
        self.counts.clone_from(&source.counts);
        self.used.clone_from(&source.used);
        (self.len, self.size) = (source.len, source.size);
    }
}

impl ItemSet {
    /// The empty set of a catalogue of `size` items.
    pub fn none(size: usize) -> Self {
        let mut set = Self::default();
        set.grow(size);
        set
    }

    /// All items of a catalogue of `size` items.
    pub fn all(size: usize) -> Self {
        let mut set = Self::none(size);
        for item in 0..size {
            set.insert(ItemId::from_index(item));
        }
        set
    }

    /// Returns whether the set has no items.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Makes the catalogue larger, up to `size` items. No new item is in the set.
    pub fn grow(&mut self, size: usize) {
        self.size = self.size.max(size);
        self.words.resize(self.size.div_ceil(BITS), 0);
        self.counts.resize(self.words.len().div_ceil(WORDS), 0);
        self.used.resize(self.counts.len(), 0);
    }

    /// Returns whether `item` is in the set.
    pub fn contains(&self, item: ItemId) -> bool {
        let item = item.index();
        self.words.get(item / BITS).is_some_and(|word| word >> (item % BITS) & 1 == 1)
    }

    /// Adds an item of the catalogue, and ignores others. Returns whether the item is new.
    #[inline]
    pub fn insert(&mut self, item: ItemId) -> bool {
        let is_new = item.index() < self.size && !self.contains(item);
        if is_new {
            let item = item.index();
            self.words[item / BITS] |= 1 << (item % BITS);
            self.counts[item / BITS / WORDS] += 1;
            self.used[item / BITS / WORDS] |= 1 << (item / BITS % WORDS);
            self.len += 1;
        }
        is_new
    }

    /// Removes an item. Returns whether it was there.
    #[inline]
    pub fn remove(&mut self, item: ItemId) -> bool {
        let was_there = self.contains(item);
        if was_there {
            let item = item.index();
            self.words[item / BITS] &= !(1 << (item % BITS));
            self.counts[item / BITS / WORDS] -= 1;
            if self.words[item / BITS] == 0 {
                self.used[item / BITS / WORDS] &= !(1 << (item / BITS % WORDS));
            }
            self.len -= 1;
        }
        was_there
    }

    /// Returns whether the set has all items of a catalogue of `size` items, and is a set of its
    /// items.
    pub fn is_all(&self, size: usize) -> bool {
        self.len == size && self.size == size
    }

    /// Returns whether the sets have no item in common.
    pub fn is_disjoint(&self, other: &Self) -> bool {
        self.words.iter().zip(&other.words).all(|(own, other)| own & other == 0)
    }

    /// Keeps the items that are also in `other`.
    pub fn keep(&mut self, other: &Self) {
        self.len = 0;
        for (block, words) in self.words.chunks_mut(WORDS).enumerate() {
            if other.counts.get(block) != Some(&(WORDS * BITS)) {
                (self.counts[block], self.used[block]) = (0, 0);
                let others = other.words.iter().skip(block * WORDS).chain(std::iter::repeat(&0));
                for (place, (word, other)) in words.iter_mut().zip(others).enumerate() {
                    *word &= other;
                    self.counts[block] += word.count_ones() as usize;
                    self.used[block] |= u64::from(*word != 0) << place;
                }
            }
            self.len += self.counts[block];
        }
    }

    /// Removes all items.
    pub fn clear(&mut self) {
        for (words, used) in self.words.chunks_mut(WORDS).zip(&mut self.used) {
            while *used != 0 {
                words[used.trailing_zeros() as usize] = 0;
                *used &= *used - 1;
            }
        }
        self.counts.fill(0);
        self.len = 0;
    }

    /// The items by number.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = ItemId> + Clone + '_ {
        let mut blocks = (0_u32..).step_by(WORDS).zip(&self.used);
        // The words of the block and the items of the word that are left.
        let (mut block, mut used, mut first, mut items) = (0_u32, 0_u64, 0_u32, 0_u64);
        from_fn(move || {
            while items == 0 {
                while used == 0 {
                    let (next, &words) = blocks.next()?;
                    (block, used) = (next, words);
                }
                let word = block + used.trailing_zeros();
                used &= used - 1;
                (first, items) = (word * u64::BITS, self.words[word as usize]);
            }
            let item = first + items.trailing_zeros();
            items &= items - 1;
            Some(ItemId::new(item))
        })
    }

    /// The item with `n` items of the set below it.
    #[inline]
    pub fn nth(&self, mut n: usize) -> Option<ItemId> {
        if n >= self.len {
            return None;
        }
        let mut block = 0;
        while n >= self.counts[block] {
            n -= self.counts[block];
            block += 1;
        }
        let mut place = block * WORDS;
        loop {
            let items = self.words[place].count_ones() as usize;
            if n < items {
                break;
            }
            n -= items;
            place += 1;
        }
        let mut word = self.words[place];
        for _ in 0..n {
            word &= word - 1;
        }
        #[expect(clippy::cast_possible_truncation, reason = "items are numbered by 32 bits")]
        let first = (place * BITS) as u32;
        Some(ItemId::new(first + word.trailing_zeros()))
    }
}
