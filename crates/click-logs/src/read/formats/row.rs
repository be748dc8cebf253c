//! What the table says of a format.

use super::Format;
use crate::error::{Error, ErrorKind};

/// A format, as the table has it.
#[derive(Debug)]
pub struct FormatRow {
    /// Its name on the command line and in experiments.
    pub name: &'static str,
    /// What it holds, in a few words.
    pub holds: &'static str,
    /// What a line is.
    pub line: &'static str,
    /// What a query is called.
    pub query: &'static str,
    /// Whether it tells sessions apart.
    pub sessions: SessionsOf,
    /// A log of a few lines, none where a log is not text. Where the user names columns, they are called `query`, `item`, `position` and
    /// `click`.
    pub example: Option<&'static str>,
    pub(super) variant: &'static str,
    pub(super) making: Making,
}

/// Where a format tells sessions apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionsOf {
    /// Nowhere.
    None,
    /// In every log.
    Log,
    /// Where the user names the column that says so.
    Column,
}

/// What a format is made of.
#[derive(Debug)]
pub(super) enum Making {
    /// Its columns are its own.
    Fixed(Format),
    /// Of the columns that the user names.
    Columns(fn(&str) -> Result<Format, Error>),
}

/// Rows have different names.
impl PartialEq for FormatRow {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for FormatRow {}

impl FormatRow {
    /// Whether the user says which column is what.
    pub fn names_columns(&self) -> bool {
        matches!(self.making, Making::Columns(_))
    }

    /// The format; with `columns` as [`Columns::parse`](crate::Columns::parse) reads them, where the user names them.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Settings`]: columns of a format that has its own, none of one that has not, or columns that cannot be read.
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
