//! The formats of tables: each is a file that writes rows.

mod csv;
mod json;
#[cfg(feature = "parquet")]
mod parquet;

use super::Format;
use super::tables::{Cell, Column};
use anyhow::Result;
use std::io::Write;

/// Writes a table in one format.
pub(super) trait Sink {
    /// Writes a row: a cell for each column.
    fn row(&mut self, cells: &[Cell<'_>]) -> Result<()>;

    /// Writes what is left.
    fn end(self: Box<Self>) -> Result<()>;
}

/// Begins a table with these columns.
///
/// # Errors
///
/// The output cannot be written; this program was built without Parquet.
pub(super) fn open<'a>(
    format: Format,
    output: &'a mut (dyn Write + Send),
    columns: &'a [Column],
) -> Result<Box<dyn Sink + 'a>> {
    Ok(match format {
        Format::Csv => Box::new(csv::Csv::open(output, columns)?),
        Format::Json => Box::new(json::Json::open(output, columns)?),
        #[cfg(feature = "parquet")]
        Format::Parquet => Box::new(parquet::Parquet::open(output, columns)?),
        #[cfg(not(feature = "parquet"))]
        Format::Parquet => anyhow::bail!("this program was built without Parquet"),
    })
}
