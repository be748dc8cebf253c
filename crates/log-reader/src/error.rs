//! Errors of a log, with their places.

use crate::fault::Fault;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Why a log could not be read, and where.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct Error(Box<Inner>);

#[derive(Debug, thiserror::Error)]
#[error("{place}")]
struct Inner {
    kind: ErrorKind,
    place: Place,
    source: Option<std::io::Error>,
}

/// The kind of an error.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A file could not be opened or read.
    Read,
    /// Compressed data are truncated or damaged.
    Compression,
    /// The file has no line, or none below its header.
    Empty,
    /// A line does not match the format.
    Line(Fault),
    /// The header does not match the format, or lacks a column.
    Header,
    /// More lines were skipped than the reader allows.
    TooManySkipped,
    /// A cell has more impressions than can be counted, 2^40 - 1.
    TooManyImpressions,
    /// Invalid settings: columns, shares, files.
    Settings,
    /// Parquet that is damaged or not supported.
    Parquet,
}

/// The text of a place whose value is not shown.
pub(crate) const HIDDEN: &str = "..";

/// A place in a log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The name of the file, as given.
    pub file: String,
    /// 1-based line; in Parquet the row; 0 for the whole file.
    pub line: u64,
    /// 1-based column of the line and its name in the format, if the fault is in one column.
    pub column: Option<(usize, String)>,
    /// The faulty text, shortened; `..` if it is a whole line, or may identify users.
    pub text: String,
    /// Description of the fault.
    pub message: String,
}

impl Error {
    pub(crate) fn at(kind: ErrorKind, place: Place) -> Self {
        Self(Box::new(Inner { kind, place, source: None }))
    }

    /// An error of a whole file, or of no file.
    pub(crate) fn of(kind: ErrorKind, file: &str, message: impl Into<String>) -> Self {
        let place =
            Place { file: file.into(), line: 0, column: None, text: String::new(), message: message.into() };
        Self::at(kind, place)
    }

    pub(crate) fn io(file: &str, error: std::io::Error, compressed: bool) -> Self {
        use std::io::ErrorKind as Io;
        let damaged =
            compressed && matches!(error.kind(), Io::UnexpectedEof | Io::InvalidInput | Io::InvalidData);
        let (kind, message) = match error.kind() {
            Io::UnexpectedEof if damaged => {
                (ErrorKind::Compression, "the compressed data end in the middle".into())
            }
            _ if damaged => (ErrorKind::Compression, format!("damaged compressed data ({error})")),
            _ => (ErrorKind::Read, error.to_string()),
        };
        let mut inner = Self::of(kind, file, message);
        inner.0.source = Some(error);
        inner
    }

    /// The kind of the error.
    pub fn kind(&self) -> &ErrorKind {
        &self.0.kind
    }

    /// The place of the error. Line 0 means the whole file.
    pub fn place(&self) -> &Place {
        &self.0.place
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.file.is_empty() {
            write!(f, "{}", self.file)?;
            if self.line > 0 {
                write!(f, ":{}", self.line)?;
            }
            write!(f, ": ")?;
        }
        if let Some((column, name)) = &self.column {
            write!(f, "column {column} ({name}): ")?;
        }
        write!(f, "{}", self.message)?;
        if self.line > 0 && !self.text.is_empty() && self.text != HIDDEN {
            write!(f, ", found `{}`", self.text)?;
        }
        Ok(())
    }
}
