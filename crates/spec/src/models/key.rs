//! The keys of a click model's instances as data, for help, starting points and a schema.
//!
//! The rows describe what the models' readers accept. A test reads each row's example, and compares
//! the names with those that the reader asks for.

use documents::number::grouped;
use itertools::Itertools as _;
use std::fmt;

/// A key of an instance, or of a table inside one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ModelKey {
    /// Name.
    pub name: &'static str,
    /// Accepted values.
    pub kind: KeyKind,
    /// Whether the instance needs it, unless another key [replaces](Self::replaces) it.
    pub required: bool,
    /// The keys whose place it takes; an instance has these or this one.
    pub replaces: &'static [&'static str],
    /// Meaning, one sentence. For an optional key, it includes the default.
    pub meaning: &'static str,
    /// A value in TOML. The examples of a model's required keys together are an instance.
    pub example: &'static str,
}

/// The values that a key accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyKind {
    /// An array of probabilities.
    Probabilities(Length),
    /// An array of numbers in this range.
    Numbers {
        /// Number of entries.
        length: Length,
        /// Least value.
        least: u64,
        /// Largest value.
        most: u64,
    },
    /// A number from 0 to 1.
    Probability,
    /// An integer in this range.
    Count {
        /// Least value.
        least: u64,
        /// Largest value.
        most: u64,
    },
    /// One of these names; the first one without the key.
    Choice(&'static [&'static str]),
    /// An array of arrays of probabilities.
    Matrix(Shape),
    /// An array of indices of items, each once.
    Items,
    /// The name of a file, from the folder of the spec.
    File,
    /// A table with these keys.
    Table(&'static [ModelKey]),
    /// A value of one of these kinds.
    Either(&'static [KeyKind]),
}

/// The number of entries of an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Length {
    /// One entry for each of these, such as `item` or `position`.
    OneForEach(&'static str),
    /// This number.
    Exactly(usize),
}

/// The shape of an array of arrays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// As many rows as columns.
    Square,
    /// One entry in the first row, and one more in each further row.
    Triangle,
}

impl ModelKey {
    /// A required key.
    pub(super) const fn required(
        name: &'static str,
        kind: KeyKind,
        meaning: &'static str,
        example: &'static str,
    ) -> Self {
        Self { name, kind, required: true, replaces: &[], meaning, example }
    }

    /// A key that may be absent.
    pub(super) const fn optional(
        name: &'static str,
        kind: KeyKind,
        meaning: &'static str,
        example: &'static str,
    ) -> Self {
        Self { required: false, ..Self::required(name, kind, meaning, example) }
    }

    /// Whether it has an entry for each item, position or the like.
    pub(super) fn is_list(&self) -> bool {
        use KeyKind::{Numbers, Probabilities};
        matches!(
            self.kind,
            Probabilities(Length::OneForEach(_)) | Numbers { length: Length::OneForEach(_), .. }
        )
    }

    /// The key that may take the place of others.
    pub(super) const fn in_place_of(self, replaces: &'static [&'static str]) -> Self {
        Self { required: false, replaces, ..self }
    }
}

/// The kind of `attraction` and the like.
pub(super) const OF_ITEMS: KeyKind = KeyKind::Probabilities(Length::OneForEach("item"));
/// The kind of `kappa` and the like.
pub(super) const OF_POSITIONS: KeyKind = KeyKind::Probabilities(Length::OneForEach("position"));

/// `attraction`, five items.
pub(super) const ATTRACTION: ModelKey = ModelKey::required(
    "attraction",
    OF_ITEMS,
    "The probability that an item is clicked when it is examined.",
    "[0.45, 0.35, 0.25, 0.15, 0.05]",
);

/// `positions`, three of them.
pub(super) const POSITIONS: ModelKey = ModelKey::required(
    "positions",
    // A list shows an item at most once, and its clicks are the bits of a word.
    KeyKind::Count { least: 1, most: 64 },
    "The number of positions of a list, at most the number of items.",
    "3",
);

/// A number of rows, columns or items that are not listed.
pub(super) const SIZE: KeyKind = KeyKind::Count { least: 1, most: crate::fields::LONGEST_LIST };

impl fmt::Display for Length {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OneForEach(what) => write!(f, "one for each {what}"),
            Self::Exactly(n) => write!(f, "{n} of them"),
        }
    }
}

impl KeyKind {
    /// The keys of the table that it accepts; `None` if it accepts none.
    pub fn table(&self) -> Option<&'static [ModelKey]> {
        match self {
            Self::Table(keys) => Some(keys),
            Self::Either(kinds) => kinds.iter().find_map(Self::table),
            _ => None,
        }
    }
}

/// The accepted values in words, without those of the keys of a table.
impl fmt::Display for KeyKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Probabilities(length) => write!(f, "probabilities, {length}"),
            Self::Numbers { length, least, most } => {
                write!(f, "numbers from {least} to {}, {length}", grouped(*most))
            }
            Self::Probability => write!(f, "a probability"),
            Self::Count { least, most: u64::MAX } => write!(f, "an integer of at least {least}"),
            Self::Count { least, most } => write!(f, "an integer from {least} to {}", grouped(*most)),
            Self::Choice(names) => {
                write!(f, "{}", names.iter().map(|name| format!("{name:?}")).join(" or "))
            }
            Self::Matrix(Shape::Square) => write!(f, "rows of probabilities, as many as columns"),
            Self::Matrix(Shape::Triangle) => write!(f, "rows of probabilities, each one longer than before"),
            Self::Items => write!(f, "indices of items, from 0"),
            Self::File => write!(f, "the name of a file, from the folder of the spec"),
            Self::Table(keys) => {
                write!(f, "a table {{ {} }}", keys.iter().map(|key| key.name).join(", "))
            }
            Self::Either(kinds) => write!(f, "{}", kinds.iter().join(", or ")),
        }
    }
}

#[cfg(test)]
mod tests;
