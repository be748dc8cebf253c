//! Parquet with one (query, item, position) a row; the user names the columns.

#[cfg(feature = "parquet")]
mod rows;

#[cfg(feature = "parquet")]
pub(in crate::read) use self::rows::read_all as read;

use crate::error::{Error, ErrorKind};

#[cfg(not(feature = "parquet"))]
pub(in crate::read) fn read(
    _: &crate::columns::ColumnNames<'_>,
    _: &super::Reader,
    _: Vec<super::Input<'_>>,
    _: &super::Collector<'_>,
) -> Result<super::ReadReport, Error> {
    Err(not_built())
}

pub(super) fn not_built() -> Error {
    let message = "Parquet is not read: this was built without the feature `parquet`";
    Error::of(ErrorKind::Settings, "format", message)
}
