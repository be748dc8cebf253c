//! A row of the table of formats.

use super::Format;
use crate::error::{Error, ErrorKind};

/// Facts about a format.
#[derive(Debug)]
pub struct FormatRow {
    /// Name on the command line and in experiments.
    pub name: &'static str,
    /// Content of the log, in a few words.
    pub holds: &'static str,
    /// Content of the log in full, with its columns. In Markdown.
    pub description: &'static str,
    /// Content of a line.
    pub line: &'static str,
    /// Name of a query.
    pub query: &'static str,
    /// Whether the format has sessions.
    pub sessions: SessionsOf,
    /// A log of a few lines; `None` for a binary format. If the user names the columns, they are called `query`, `item`, `position` and
    /// `click`.
    pub example: Option<&'static str>,
    pub(super) variant: &'static str,
    pub(super) making: Making,
}

/// Whether a format has sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionsOf {
    /// No.
    None,
    /// Yes.
    Log,
    /// If the user names a column for them.
    Column,
}

/// How a format is constructed.
#[derive(Debug)]
pub(super) enum Making {
    /// With fixed columns.
    Fixed(Format),
    /// From the columns that the user names.
    Columns(fn(&str) -> Result<Format, Error>),
}

/// Compares the names, which are unique.
impl PartialEq for FormatRow {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for FormatRow {}

impl FormatRow {
    /// Whether the user names the columns.
    pub fn names_columns(&self) -> bool {
        matches!(self.making, Making::Columns(_))
    }

    /// Constructs the format. `columns`, for formats whose columns the user names, are read by [`Columns::parse`](crate::Columns::parse).
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Settings`] if columns are given for fixed ones, are missing, or cannot be read.
    pub fn format(&self, columns: Option<&str>) -> Result<Format, Error> {
        let wrong = |message: String| Err(Error::of(ErrorKind::Settings, "columns", message));
        match (&self.making, columns) {
            (Making::Fixed(format), None) => Ok(format.clone()),
            (Making::Columns(make), Some(columns)) => make(columns),
            (Making::Fixed(_), Some(_)) => {
                wrong(format!("format `{}` says itself which column is what", self.name))
            }
            (Making::Columns(_), None) => wrong(format!(
                "format `{}` has to be told which column is what, query=..,item=..,position=..,click=..",
                self.name
            )),
        }
    }
}
