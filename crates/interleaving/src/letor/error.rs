//! Errors in a file, with their place.

use documents::toml_reader::{Error, Location};

/// An error in a file, displayed as `FILE:LINE:COLUMN: message`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{in_file}")]
pub struct ReadError {
    /// The kind of the error.
    pub kind: Kind,
    /// The place and the message.
    pub in_file: Error,
}

/// The kind of an error in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// The file cannot be read.
    Io,
    /// The file is compressed, and truncated or damaged.
    Gzip,
    /// The file has no documents.
    Empty,
    /// A line is too long.
    LineTooLong,
    /// Something other than a comment is not UTF-8.
    NotText,
    /// A label is not a grade of relevance.
    Label,
    /// A document has no query.
    QueryId,
    /// The documents of a query are not adjacent.
    QueryComesAgain,
    /// A field is not a feature, or its index is invalid.
    Feature,
    /// The features of a document are not in increasing order, or one occurs twice.
    FeatureOrder,
    /// The value of a feature is not a finite number.
    Value,
}

/// A line of a file, to construct errors with their place.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place<'line> {
    pub(super) file: &'line str,
    /// 1-based.
    pub(super) line: usize,
    pub(super) text: &'line [u8],
}

impl Place<'_> {
    /// 1-based column of the byte at `offset`, in characters.
    pub(super) fn column(self, offset: usize) -> usize {
        1 + String::from_utf8_lossy(&self.text[..offset]).chars().count()
    }

    pub(super) fn error(self, kind: Kind, column: usize, message: String) -> ReadError {
        ReadError { kind, in_file: Location::new(self.file, self.line, column, "").error(message) }
    }

    pub(super) fn error_at(self, kind: Kind, offset: usize, message: String) -> ReadError {
        self.error(kind, self.column(offset), message)
    }
}

/// The faulty text in quotes, cut if it is long: a damaged file may have a megabyte without a
/// space.
pub(super) fn quoted(text: &str) -> String {
    const MOST: usize = 60;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{:?}...", &text[..end]),
        None => format!("{text:?}"),
    }
}
