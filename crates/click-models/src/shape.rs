//! Numbers of items and positions of a ranking problem.

use crate::Error;
use crate::parameters::parameters;
use serde::{Deserialize, Serialize};

/// The number of items and the number of positions of a list:
/// `1 <= n_positions <= min(n_items, 64)`.
///
/// The PBM paper calls them K and L; some papers swap the letters.
///
/// # Examples
///
/// ```
/// use click_models::ListShape;
///
/// let shape = ListShape::new(5, 3)?;
/// assert_eq!((shape.n_items(), shape.n_positions()), (5, 3));
/// assert!(ListShape::new(2, 3).is_err());
/// # Ok::<(), click_models::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Parameters", into = "Parameters")]
pub struct ListShape {
    n_items: usize,
    n_positions: usize,
}

parameters! {
    ListShape as shape {
        n_items: usize = shape.n_items,
        n_positions: usize = shape.n_positions,
    } by Self::new(n_items, n_positions)
}

impl ListShape {
    /// The largest number of positions, the width of a [`Clicks`](crate::Clicks) set.
    pub const MAX_POSITIONS: usize = 64;

    /// Checks that lists of `n_positions` distinct items can be drawn from `n_items`.
    ///
    /// # Errors
    ///
    /// [`Error::NoItems`], [`Error::TooManyItems`], [`Error::NoPositions`],
    /// [`Error::TooManyPositions`], [`Error::MorePositionsThanItems`].
    pub fn new(n_items: usize, n_positions: usize) -> Result<Self, Error> {
        if n_items == 0 {
            return Err(Error::NoItems);
        }
        if u32::try_from(n_items).is_err() {
            return Err(Error::TooManyItems(n_items));
        }
        if n_positions == 0 {
            return Err(Error::NoPositions);
        }
        if n_positions > n_items {
            return Err(Error::MorePositionsThanItems { n_positions, n_items });
        }
        if n_positions > Self::MAX_POSITIONS {
            return Err(Error::TooManyPositions(n_positions));
        }
        Ok(Self { n_items, n_positions })
    }

    /// The shape with one more item.
    ///
    /// # Panics
    ///
    /// If there are `u32::MAX` items, which need more memory than a catalogue is ever given.
    #[must_use]
    pub fn with_another_item(self) -> Self {
        Self::new(self.n_items + 1, self.n_positions).expect("fewer than 2^32 items")
    }

    /// Number of items (K in the PBM paper).
    pub const fn n_items(self) -> usize {
        self.n_items
    }

    /// Number of positions of a list (L in the PBM paper).
    pub const fn n_positions(self) -> usize {
        self.n_positions
    }
}
