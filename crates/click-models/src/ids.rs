//! Identifiers of items.

use serde::{Deserialize, Serialize};

/// An item of the catalogue, counted from 0 (the papers' arms count from 1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ItemId(u32);

impl ItemId {
    /// The item with this 0-based number.
    pub const fn new(number: u32) -> Self {
        Self(number)
    }

    /// The item with this index.
    ///
    /// # Panics
    ///
    /// If `index` does not fit into 32 bits; no [`ListShape`](crate::ListShape) allows that many
    /// items.
    #[inline]
    pub fn from_index(index: usize) -> Self {
        Self(u32::try_from(index).expect("a catalogue has at most u32::MAX items"))
    }

    /// The 0-based number of the item.
    pub const fn number(self) -> u32 {
        self.0
    }

    /// The index of the item in a table of items.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}
