//! The knowledge of a policy of the positions of a list.

use super::counts::order_of;
use crate::PrefixKnown;
use click_models::{ListShape, PbmKnown};

/// The knowledge of a policy of the positions of a list: their examination, or at most their order.
///
/// # Examples
///
/// ```
/// use click_models::{ClickModel, PositionBased};
/// use policies::PositionsKnown;
///
/// let users = PositionBased::from_values(&[0.5, 0.2, 0.1], &[0.3, 0.9, 0.6])?;
/// // The best item belongs to the second position.
/// assert_eq!(PositionsKnown::from(users.known()).places(), [1, 2, 0]);
/// // Who knows the sizes alone fills lists from the top down.
/// assert_eq!(PositionsKnown::from(users.shape()).places(), [0, 1, 2]);
/// # Ok::<(), click_models::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub enum PositionsKnown<'a> {
    /// The probability that a position is examined.
    Examination(PbmKnown<'a>),
    /// Which positions are examined more than others.
    Order(PrefixKnown<'a>),
}

impl<'a> From<PbmKnown<'a>> for PositionsKnown<'a> {
    fn from(known: PbmKnown<'a>) -> Self {
        Self::Examination(known)
    }
}

impl<'a> From<PrefixKnown<'a>> for PositionsKnown<'a> {
    fn from(known: PrefixKnown<'a>) -> Self {
        Self::Order(known)
    }
}

impl From<ListShape> for PositionsKnown<'_> {
    fn from(shape: ListShape) -> Self {
        Self::Order(shape.into())
    }
}

impl PositionsKnown<'_> {
    /// Numbers of items and positions.
    pub fn shape(&self) -> ListShape {
        match self {
            Self::Examination(known) => known.shape(),
            Self::Order(known) => known.shape(),
        }
    }

    /// Position of the best item, of the second best, and so on; upper ones first among equals.
    pub fn places(&self) -> Vec<usize> {
        match self {
            Self::Examination(known) => order_of(known.examination()),
            Self::Order(known) => known.order(),
        }
    }
}
