//! Keys that several models have.

use crate::key::{Key, KeyKind, Length};

/// The kind of `attraction` and the like.
pub(super) const OF_ITEMS: KeyKind = KeyKind::Probabilities(Length::OneForEach("item"));
/// The kind of `kappa` and the like.
pub(super) const OF_POSITIONS: KeyKind = KeyKind::Probabilities(Length::OneForEach("position"));

/// `attraction`, five items.
pub(super) const ATTRACTION: Key = Key::required(
    "attraction",
    OF_ITEMS,
    "The probability that an item is clicked when it is examined.",
    "[0.45, 0.35, 0.25, 0.15, 0.05]",
);

/// `positions`, three of them.
pub(super) const POSITIONS: Key = Key::required(
    "positions",
    // A list shows an item at most once, and its clicks are the bits of a word.
    KeyKind::Count { least: 1, most: 64 },
    "The number of positions of a list, at most the number of items.",
    "3",
);

/// A number of rows, columns or items that are not listed.
pub(super) const SIZE: KeyKind = KeyKind::Count { least: 1, most: crate::fields::LONGEST_LIST };

#[cfg(test)]
mod tests;
