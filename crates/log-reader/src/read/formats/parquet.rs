//! Parquet with one (query, item, position) a row; the user names the columns.

#[cfg(feature = "parquet")]
mod rows;

#[cfg(feature = "parquet")]
pub(super) use self::rows::read_all as read;

use super::{Columns, Format};
use crate::error::{Error, ErrorKind};

#[cfg(not(feature = "parquet"))]
pub(super) fn read(
    _: &Columns,
    _: &super::Reader,
    _: Vec<super::Input<'_>>,
    _: &super::Collector,
) -> Result<super::ReadReport, Error> {
    Err(not_built())
}

fn not_built() -> Error {
    let message = "Parquet is not read: this was built without the feature `parquet`";
    Error::of(ErrorKind::Settings, "format", message)
}

impl Format {
    /// A Parquet table; columns are named as for [`delimited`](Self::delimited).
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Settings`] if the names cannot be read, and without the feature `parquet`.
    pub fn parquet(columns: &str) -> Result<Self, Error> {
        Self::parquet_of(Columns::parse(columns)?)
    }

    /// A Parquet table with these columns.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Settings`] without the feature `parquet`.
    pub fn parquet_of(columns: Columns) -> Result<Self, Error> {
        if cfg!(feature = "parquet") { Ok(Self::Parquet(columns)) } else { Err(not_built()) }
    }
}
