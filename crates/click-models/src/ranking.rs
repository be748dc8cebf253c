//! An ordered list of items, the action of every list bandit.

use crate::{ItemId, ListShape};
use serde::{Deserialize, Serialize};
use std::iter::Copied;
use std::ops::Index;
use std::{slice, vec};

/// A list of items from the top position down. Callers reuse it as a buffer from round to round.
///
/// # Examples
///
/// ```
/// use click_models::{ItemId, Ranking};
///
/// let ranking: Ranking = [2, 0, 1].map(ItemId::new).into_iter().collect();
/// assert_eq!(ranking[0], ItemId::new(2));
/// assert_eq!(ranking.len(), 3);
/// ```
#[derive(Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Ranking {
    items: Vec<ItemId>,
}

impl Ranking {
    /// Number of positions filled.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Returns whether no position is filled.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// The items from the top position down.
    pub fn as_slice(&self) -> &[ItemId] {
        &self.items
    }

    /// The items from the top position down.
    pub fn iter(&self) -> Copied<slice::Iter<'_, ItemId>> {
        self.items.iter().copied()
    }

    /// The items with their 0-based positions, from the top down.
    pub fn by_position(&self) -> impl ExactSizeIterator<Item = (usize, ItemId)> + '_ {
        self.items.iter().copied().enumerate()
    }

    /// Returns whether `item` is shown.
    #[inline]
    pub fn contains(&self, item: ItemId) -> bool {
        self.items.contains(&item)
    }

    /// Empties the list and keeps its memory.
    pub fn clear(&mut self) {
        self.items.clear();
    }

    /// Adds `item` below the last filled position.
    #[inline]
    pub fn push(&mut self, item: ItemId) {
        self.items.push(item);
    }

    /// Resizes the list to `n_positions` and returns its positions for writing; their content is
    /// unspecified.
    ///
    /// Allocates only if the list was never this long before.
    #[inline]
    pub fn positions_mut(&mut self, n_positions: usize) -> &mut [ItemId] {
        self.items.resize(n_positions, ItemId::default());
        &mut self.items
    }

    /// Returns whether this is a full list of distinct items of the catalogue.
    #[inline]
    pub fn fits(&self, shape: ListShape) -> bool {
        // Called in every round.
        let (items, n_items) = (&self.items, shape.n_items());
        items.len() == shape.n_positions()
            && if n_items <= 256 && items.len() >= 8 {
                are_distinct_below_256(items, n_items)
            } else {
                are_distinct(items, n_items)
            }
    }
}

/// Returns whether these are distinct items of a catalogue of at most 256.
#[inline]
fn are_distinct_below_256(items: &[ItemId], n_items: usize) -> bool {
    // Without a branch or a wait for the item above.
    let mut shown = [0_u8; 256];
    let (mut are_known, mut repeated) = (true, 0);
    for item in items {
        are_known &= item.index() < n_items;
        let shown = &mut shown[item.index() % 256];
        repeated |= *shown;
        *shown = 1;
    }
    are_known && repeated == 0
}

/// Returns whether these are distinct items of a catalogue of any size. A bit set filters: an item
/// is new if no item above has the same last bits. Only otherwise the items above are searched.
#[inline]
fn are_distinct(items: &[ItemId], n_items: usize) -> bool {
    let mut above = [0_u64; 4];
    items.iter().enumerate().all(|(position, item)| {
        let (word, bit) = (item.index() / 64 % 4, 1 << (item.index() % 64));
        let is_new = above[word] & bit == 0 || !items[..position].contains(item);
        above[word] |= bit;
        item.index() < n_items && is_new
    })
}

impl Clone for Ranking {
    fn clone(&self) -> Self {
        Self { items: self.items.clone() }
    }

    /// Reuses the memory of `self`, which a derived `Clone` would not.
    #[inline]
    fn clone_from(&mut self, source: &Self) {
        self.items.clone_from(&source.items);
    }
}

impl Index<usize> for Ranking {
    type Output = ItemId;

    fn index(&self, position: usize) -> &ItemId {
        &self.items[position]
    }
}

impl AsRef<[ItemId]> for Ranking {
    fn as_ref(&self) -> &[ItemId] {
        &self.items
    }
}

impl From<Vec<ItemId>> for Ranking {
    fn from(items: Vec<ItemId>) -> Self {
        Self { items }
    }
}

impl IntoIterator for Ranking {
    type Item = ItemId;
    type IntoIter = vec::IntoIter<ItemId>;

    /// The items from the top position down.
    fn into_iter(self) -> Self::IntoIter {
        self.items.into_iter()
    }
}

impl<'a> IntoIterator for &'a Ranking {
    type Item = ItemId;
    type IntoIter = Copied<slice::Iter<'a, ItemId>>;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl FromIterator<ItemId> for Ranking {
    fn from_iter<I: IntoIterator<Item = ItemId>>(items: I) -> Self {
        Self { items: items.into_iter().collect() }
    }
}
