//! What can be wrong with a log, and where.

use crate::fault::Fault;
use std::fmt;

/// Why a log could not be read: what ([`kind`](Error::kind)) and where ([`place`](Error::place)).
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

/// What is wrong.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A file could not be opened or read.
    Read,
    /// Compressed data end in the middle, or are damaged.
    Compression,
    /// There is no line in the file, or none below its header.
    Empty,
    /// A line is not what the format says.
    Line(Fault),
    /// The header is not what the format says, or lacks a column.
    Header,
    /// More lines were skipped than the stated share.
    TooManySkipped,
    /// A cell has more impressions than are counted, 2^40 - 1.
    TooManyImpressions,
    /// Settings that cannot be: columns, shares, files.
    Settings,
    /// Damaged Parquet, or Parquet that is not read here.
    Parquet,
}

/// Where in a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The file's name, as it was given.
    pub file: String,
    /// 1-based line; in Parquet the row.
    pub line: u64,
    /// 1-based column of the line and the format's name for it, where one column is at fault.
    pub column: Option<(usize, String)>,
    /// The text at fault, shortened. Never a column that names users.
    pub text: String,
    /// What is wrong with it.
    pub message: String,
}

impl Error {
    pub(crate) fn at(kind: ErrorKind, place: Place) -> Self {
        Self(Box::new(Inner { kind, place, source: None }))
    }

    /// An error of a whole file, or of none.
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

    /// What is wrong.
    pub fn kind(&self) -> &ErrorKind {
        &self.0.kind
    }

    /// Where it is wrong. Line 0: the file as a whole.
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
        if self.line > 0 {
            write!(f, ", found `{}`", self.text)?;
        }
        Ok(())
    }
}
