//! Keys that several models have.

use super::fields::LogNormal;
use crate::key::{Key, Kind};
use crate::schema::{either, integer, list, number, probability};
use documents::toml_reader::schema;

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

/// The attraction of items, of `pbm` and `semi-bandit`.
pub(crate) const THETA: Key = Key::required(
    "theta",
    OF_ITEMS,
    "The attraction of an item: the probability of a click when it is examined.",
    "[0.45, 0.35, 0.25, 0.15, 0.05]",
)
.called("Attraction theta");

/// `attraction` in the place of `theta`.
pub(super) const ALSO_ATTRACTION: Key = ATTRACTION.in_place_of(&[THETA.name]);
/// `theta` in the place of `attraction`.
pub(super) const ALSO_THETA: Key = THETA.in_place_of(&[ATTRACTION.name]);

/// `positions`, three of them.
pub(super) const POSITIONS: Key = Key::required(
    "positions",
    // A list shows an item at most once, and its clicks are the bits of a word.
    || integer(&(1..=64)),
    "The number of positions of a list, at most the number of items.",
    "3",
)
.called("Positions");

/// `values`, five of them.
pub(super) const VALUES: Key = Key::optional(
    "values",
    || either(&[list(&number(0, 1_000_000_000), "item"), schema::<LogNormal>()]),
    "The value of a click on each item. Regret, clicks and optimum are in value; a policy that takes no values plays for clicks.",
    "[2.0, 1.0, 8.5, 0.5, 30.0]",
)
.called("Values of clicks");

/// A number of rows, columns or items that are not listed.
pub(super) const SIZE: Kind = || integer(&(1..=crate::fields::LONGEST_LIST));

#[cfg(test)]
mod tests;
