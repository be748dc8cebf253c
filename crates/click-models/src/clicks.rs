//! Which positions of a list were clicked.

use crate::parameters::parameters;
use crate::{Error, ListShape};
use serde::{Deserialize, Serialize};

/// A set of clicked positions among the first `len` of a list, at most 64.
///
/// # Examples
///
/// ```
/// use click_models::Clicks;
///
/// let clicks = Clicks::new(3).with(2);
/// assert_eq!((clicks.len(), clicks.count()), (3, 1));
/// assert!(clicks.get(2) && !clicks.get(0));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(try_from = "Parameters", into = "Parameters")]
pub struct Clicks {
    bits: u64,
    len: u8,
}

parameters! {
    Clicks as clicks {
        bits: u64 = clicks.bits,
        len: u8 = clicks.len,
    } by Self::from_bits(bits, usize::from(len))
}

impl Clicks {
    /// No click on any of `len` positions.
    ///
    /// # Panics
    ///
    /// If `len` is above 64; no [`ListShape`] allows that many positions.
    #[inline]
    pub const fn new(len: usize) -> Self {
        assert!(len <= ListShape::MAX_POSITIONS, "a list has at most 64 positions");
        #[expect(clippy::cast_possible_truncation, reason = "at most 64, checked above")]
        Self { bits: 0, len: len as u8 }
    }

    /// The clicks whose bits are set in `bits`, position 0 in the lowest.
    ///
    /// # Errors
    ///
    /// [`Error::TooManyPositions`] above 64 positions, [`Error::ClickBeyondList`] for a bit at or
    /// above `len`.
    #[inline]
    pub fn from_bits(bits: u64, len: usize) -> Result<Self, Error> {
        if len > ListShape::MAX_POSITIONS {
            return Err(Error::TooManyPositions(len));
        }
        if len < 64 && bits >> len != 0 {
            return Err(Error::ClickBeyondList { len });
        }
        Ok(Self { bits, ..Self::new(len) })
    }

    /// One bit per position, position 0 in the lowest.
    pub const fn bits(self) -> u64 {
        self.bits
    }

    /// Number of positions that the set covers.
    pub const fn len(self) -> usize {
        self.len as usize
    }

    /// Returns whether the set covers no position at all.
    pub const fn is_empty(self) -> bool {
        self.len == 0
    }

    /// Number of clicks.
    pub const fn count(self) -> u32 {
        self.bits.count_ones()
    }

    /// Returns whether the 0-based `position` was clicked; `false` beyond the list.
    pub const fn get(self, position: usize) -> bool {
        position < self.len() && self.bits >> position & 1 == 1
    }

    /// The same set with a click on the 0-based `position`, which must be below `len`.
    ///
    /// # Panics
    ///
    /// If `position` is not below `len`.
    #[inline]
    #[must_use]
    pub const fn with(self, position: usize) -> Self {
        assert!(position < self.len(), "a click beyond the list");
        Self { bits: self.bits | 1 << position, ..self }
    }

    /// The set cut after its last click; the whole set if there is no click.
    #[inline]
    pub(crate) const fn down_to_the_last(self) -> Self {
        if self.bits == 0 {
            return self;
        }
        #[expect(clippy::cast_possible_truncation, reason = "at most 64")]
        Self { len: (64 - self.bits.leading_zeros()) as u8, ..self }
    }

    /// The same clicks on a list of `n_positions`: cut, or extended by positions without a click.
    ///
    /// More than 64 positions, which no [`ListShape`] allows, count as 64.
    pub(crate) fn on_a_list_of(self, n_positions: usize) -> Self {
        let empty = Self::new(n_positions.min(ListShape::MAX_POSITIONS));
        let inside = if empty.len == 64 { u64::MAX } else { (1 << empty.len) - 1 };
        Self { bits: self.bits & inside, ..empty }
    }
}
