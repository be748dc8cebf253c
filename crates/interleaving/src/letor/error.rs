//! Errors in a file, with their place.

use std::fmt;

/// An error in a file, displayed as `FILE:LINE:COLUMN: message`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadError {
    /// The file's name, as given.
    pub file: String,
    /// 1-based line and column; `None` if the error concerns the file as a whole.
    place: Option<(usize, usize)>,
    /// The kind of the error.
    pub kind: Kind,
    /// The message, without the place.
    pub message: String,
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

impl ReadError {
    /// An error about the file as a whole.
    pub(super) fn whole_file(file: String, kind: Kind, message: String) -> Self {
        Self { file, place: None, kind, message }
    }

    /// An error at a 1-based line and column.
    pub(super) fn at(file: String, line: usize, column: usize, kind: Kind, message: String) -> Self {
        Self { file, place: Some((line, column)), kind, message }
    }

    /// 1-based line; `None` if the error concerns the file as a whole.
    pub fn line(&self) -> Option<usize> {
        self.place.map(|(line, _)| line)
    }

    /// 1-based column in characters; `None` if the error concerns the file as a whole.
    pub fn column(&self) -> Option<usize> {
        self.place.map(|(_, column)| column)
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:", self.file)?;
        if let Some((line, column)) = self.place {
            write!(formatter, "{line}:{column}:")?;
        }
        write!(formatter, " {}", self.message)
    }
}

impl std::error::Error for ReadError {}

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
        ReadError::at(self.file.to_owned(), self.line, column, kind, message)
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
