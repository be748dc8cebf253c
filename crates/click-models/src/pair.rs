//! Pairs of items to compare, and the number of items of a dueling problem.

use crate::parameters::parameters;
use crate::{Error, ItemId};
use serde::{Deserialize, Serialize};

/// Two items that a user compares, counted from 0 (the papers' arms count from 1). They may be the
/// same item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
pub struct Pair {
    /// The first item.
    pub first: ItemId,
    /// The second item.
    pub second: ItemId,
}

impl Pair {
    /// The pair of `first` and `second`.
    pub const fn new(first: ItemId, second: ItemId) -> Self {
        Self { first, second }
    }

    /// An item paired with itself.
    pub const fn of_one(item: ItemId) -> Self {
        Self { first: item, second: item }
    }
}

/// The number of items to compare: from 2 to 65,535, so that 32 bits can number all ordered pairs.
///
/// # Examples
///
/// ```
/// use click_models::{DuelShape, ItemId, Pair};
///
/// let shape = DuelShape::new(3)?;
/// assert_eq!(shape.number(Pair::new(ItemId::new(1), ItemId::new(2))), Some(5));
/// assert_eq!(shape.number(Pair::of_one(ItemId::new(3))), None);
/// assert!(DuelShape::new(1).is_err());
/// # Ok::<(), click_models::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Parameters", into = "Parameters")]
pub struct DuelShape {
    n_items: u16,
}

parameters! {
    DuelShape as shape {
        n_items: usize = shape.n_items(),
    } by Self::new(n_items)
}

impl DuelShape {
    pub(crate) const MAX_ITEMS: usize = u16::MAX as usize;

    /// A problem with `n_items` items.
    ///
    /// # Errors
    ///
    /// [`Error::TooFewToCompare`], [`Error::TooManyToCompare`].
    pub fn new(n_items: usize) -> Result<Self, Error> {
        if n_items < 2 {
            return Err(Error::TooFewToCompare(n_items));
        }
        u16::try_from(n_items).map(|n_items| Self { n_items }).map_err(|_| Error::TooManyToCompare(n_items))
    }

    /// Number of items (K).
    pub const fn n_items(self) -> usize {
        self.n_items as usize
    }

    /// Number of ordered pairs, including pairs of an item with itself.
    pub const fn n_pairs(self) -> usize {
        self.n_items() * self.n_items()
    }

    /// The items, in the order of their numbers.
    pub fn items(self) -> impl ExactSizeIterator<Item = ItemId> {
        (0..self.n_items).map(|number| ItemId::new(u32::from(number)))
    }

    /// Returns whether both are among the items.
    pub const fn contains(self, pair: Pair) -> bool {
        pair.first.index() < self.n_items() && pair.second.index() < self.n_items()
    }

    /// The index of a pair in row-major order, with the first item as row; `None` if an item is
    /// unknown.
    #[inline]
    pub const fn number(self, pair: Pair) -> Option<usize> {
        if self.contains(pair) {
            Some(pair.first.index() * self.n_items() + pair.second.index())
        } else {
            None
        }
    }
}
