//! The keys of files as data, for readers, help, starting points and a schema.
//!
//! The rows describe what a reader accepts. Tests read each row's example, and compare the names
//! with those that the reader asks for.

use documents::number::grouped;
use documents::toml_reader::words;
use itertools::Itertools as _;
use serde_json::Value;
use std::fmt;
use std::ops::RangeInclusive;

/// A key of a table.
#[derive(Debug, Clone, Copy)]
pub struct Key {
    /// Name.
    pub name: &'static str,
    /// Accepted values.
    pub kind: KeyKind,
    /// Whether the table needs it, unless another key [replaces](Self::replaces) it.
    pub required: bool,
    /// The keys whose place it takes; a table has these or this one.
    pub replaces: &'static [&'static str],
    /// Meaning, one sentence. For an optional key, it includes the default.
    pub meaning: &'static str,
    /// A value in TOML. The examples of the required keys together are a valid table.
    pub example: &'static str,
}

/// The values that a key accepts.
#[derive(Debug, Clone, Copy)]
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
    /// A number in this range.
    Number {
        /// Least value.
        least: u64,
        /// Largest value.
        most: u64,
    },
    /// An integer in this range.
    Count {
        /// Least value.
        least: u64,
        /// Largest value.
        most: u64,
    },
    /// One of these names; the first one without the key.
    Choice(&'static [&'static str]),
    /// One of these names of a set that grows, with their meanings.
    Named(fn() -> Vec<(&'static str, &'static str)>),
    /// A text.
    Text,
    /// An array of texts, each once.
    Texts,
    /// An array of arrays of probabilities.
    Matrix(Shape),
    /// An array of indices of items, each once.
    Items,
    /// The name of a file, from the folder of the spec.
    File,
    /// A value of a type with this schema.
    Of(fn() -> Value),
    /// A table with these keys.
    Table(&'static [Key]),
    /// A value of one of these kinds.
    Either(&'static [KeyKind]),
    /// A value that the schema of experiments defines under a name.
    Defined {
        /// The name.
        definition: &'static str,
        /// The accepted values in words.
        words: &'static str,
    },
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

impl Key {
    /// A required key.
    pub const fn required(
        name: &'static str,
        kind: KeyKind,
        meaning: &'static str,
        example: &'static str,
    ) -> Self {
        Self { name, kind, required: true, replaces: &[], meaning, example }
    }

    /// A key that may be absent.
    pub const fn optional(
        name: &'static str,
        kind: KeyKind,
        meaning: &'static str,
        example: &'static str,
    ) -> Self {
        Self { required: false, ..Self::required(name, kind, meaning, example) }
    }

    /// Whether it has an entry for each item, position or the like.
    pub(crate) fn is_list(&self) -> bool {
        use KeyKind::{Numbers, Probabilities};
        matches!(
            self.kind,
            Probabilities(Length::OneForEach(_)) | Numbers { length: Length::OneForEach(_), .. }
        )
    }

    /// The key that may take the place of others.
    pub(crate) const fn in_place_of(self, replaces: &'static [&'static str]) -> Self {
        Self { required: false, replaces, ..self }
    }

    /// The integers that it accepts.
    pub fn range(&self) -> RangeInclusive<u64> {
        match self.kind {
            KeyKind::Count { least, most } => least..=most,
            _ => 0..=u64::MAX,
        }
    }

    /// The names of keys and their meanings.
    pub const fn meanings<const N: usize>(keys: &[Self; N]) -> [(&'static str, &'static str); N] {
        let (mut pairs, mut index) = ([("", ""); N], 0);
        while index < N {
            pairs[index] = (keys[index].name, keys[index].meaning);
            index += 1;
        }
        pairs
    }
}

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
    pub fn table(&self) -> Option<&'static [Key]> {
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
            Self::Number { least, most } => write!(f, "a number from {least} to {}", grouped(*most)),
            Self::Choice(names) => write!(f, "{}", quoted(names)),
            Self::Named(names) => {
                write!(f, "{}", quoted(&names().into_iter().map(|(name, _)| name).collect_vec()))
            }
            Self::Text => write!(f, "a text"),
            Self::Texts => write!(f, "texts, each once"),
            Self::Matrix(Shape::Square) => write!(f, "rows of probabilities, as many as columns"),
            Self::Matrix(Shape::Triangle) => write!(f, "rows of probabilities, each one longer than before"),
            Self::Items => write!(f, "indices of items, from 0"),
            Self::File => write!(f, "the name of a file, from the folder of the spec"),
            Self::Table(keys) => {
                write!(f, "a table {{ {} }}", keys.iter().map(|key| key.name).join(", "))
            }
            Self::Of(schema) => write!(f, "{}", words(&schema())),
            Self::Either(kinds) => write!(f, "{}", kinds.iter().join(", or ")),
            Self::Defined { words, .. } => write!(f, "{words}"),
        }
    }
}

/// Names in quotation marks, with "or" before the last one.
fn quoted(names: &[&str]) -> String {
    let (last, others) = names.split_last().map_or(("", &[][..]), |(last, others)| (*last, others));
    match others {
        [] => format!("{last:?}"),
        _ => format!("{} or {last:?}", others.iter().map(|name| format!("{name:?}")).join(", ")),
    }
}
