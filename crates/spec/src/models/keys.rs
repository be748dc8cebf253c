//! Keys that several models have.

use crate::key::{Key, Kind};
use crate::schema::{integer, list, probability};

/// The kind of `attraction` and the like.
pub(super) const OF_ITEMS: Kind = || list(&probability(), "item");
/// The kind of `kappa` and the like.
pub(super) const OF_POSITIONS: Kind = || list(&probability(), "position");

/// `attraction`, five items.
pub(crate) const ATTRACTION: Key = Key::required(
    "attraction",
    OF_ITEMS,
    "The probability that an item is clicked when it is examined.",
    "[0.45, 0.35, 0.25, 0.15, 0.05]",
)
.called("Attraction");

/// `positions`, three of them.
pub(super) const POSITIONS: Key = Key::required(
    "positions",
    // A list shows an item at most once, and its clicks are the bits of a word.
    || integer(&(1..=64)),
    "The number of positions of a list, at most the number of items.",
    "3",
)
.called("Positions");

/// A number of rows, columns or items that are not listed.
pub(super) const SIZE: Kind = || integer(&(1..=crate::fields::LONGEST_LIST));

#[cfg(test)]
mod tests;
