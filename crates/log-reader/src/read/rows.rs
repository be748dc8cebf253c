//! Rows of any table, handed over as they are, in the order of the log.

use super::formats::{TableRows, Ubi, Value, parquet, ubi};
use super::{Format, Input, Reader};
use crate::collect::Collector;
use crate::columns::{ColumnNames, READ, ROLES};
use crate::error::Error;
use crate::fault::Fault;
use crate::names::{Ids, lock};
use crate::read_report::ReadReport;
use std::num::NonZeroUsize;
use std::sync::Mutex;

/// A column whose values are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowColumn<'a> {
    /// Its name in the header; empty for a column that is left out.
    pub name: &'a str,
    /// Whether a table may lack it.
    pub optional: bool,
}

/// Takes the rows of a log.
pub trait TakeRows: Send {
    /// Takes a row: the values of the named columns, in their order; `None` for a column that the
    /// table lacks, and `further` for columns beyond the sixth. A fault is reported with the
    /// column's place. The first column may identify users: its values are never shown.
    ///
    /// # Errors
    ///
    /// The place of the column at fault among the named ones, and the fault. Reading ends there,
    /// unless rows at fault are skipped.
    fn row(&mut self, values: &[Option<Value<'_>>; 6], further: &[Value<'_>]) -> Result<(), (usize, Fault)>;
}

/// Reads tables with a header, delimited, Parquet or in memory, and hands every row to `rows`. Rows
/// at fault are skipped if their share is at most `max_skipped`; without it, the first one is an
/// error.
///
/// # Errors
///
/// Fails as [`Reader::read_files`] does, and by the faults that `rows` finds.
///
/// # Panics
///
/// If a column beyond the sixth may be lacking.
pub fn read_rows(
    columns: &[RowColumn<'_>],
    is_parquet: bool,
    inputs: Vec<Input<'_>>,
    max_skipped: Option<f64>,
    rows: &mut dyn TakeRows,
) -> Result<ReadReport, Error> {
    let further = further(columns);
    let columns = named(columns, &further);
    taken(max_skipped, rows, |reader, collector| {
        if let [Input { frame: Some(frame), name, stop, .. }] = &inputs[..] {
            reader.rows_of(&columns, name, frame, collector, *stop)
        } else if is_parquet {
            parquet::read(&columns, reader, inputs, collector)
        } else {
            reader.read_lines(&TableRows::new(columns, reader.meaning, collector), inputs, collector)
        }
    })
}

/// Hands the clicks of logs of User Behavior Insights to `rows`, in their order: user, the text at
/// the path `team`, position, time and query. A second click on an item of a list is left out.
///
/// # Errors
///
/// As [`read_rows`].
pub fn read_ubi_clicks(
    ubi: &Ubi,
    team: &str,
    inputs: Vec<Input<'_>>,
    max_skipped: Option<f64>,
    rows: &mut dyn TakeRows,
) -> Result<ReadReport, Error> {
    taken(max_skipped, rows, |reader, collector| ubi::read_clicks(ubi, team, reader, inputs, collector))
}

/// Reads with one thread, which keeps the order of rows.
fn taken(
    max_skipped: Option<f64>,
    rows: &mut dyn TakeRows,
    read: impl FnOnce(&Reader, &Collector<'_>) -> Result<ReadReport, Error>,
) -> Result<ReadReport, Error> {
    let reader = Reader::new(Format::counts()).threads(NonZeroUsize::MIN);
    let reader = max_skipped.map_or(Ok(reader.clone()), |share| reader.lenient(share))?;
    let rows = Mutex::new(rows);
    let take = |values: &[Option<Value<'_>>; READ], further: &[Value<'_>]| lock(&rows).row(values, further);
    read(&reader, &Collector::new(Ids::new(), false, None).taking(&take))
}

/// The names of the columns beyond the sixth.
fn further(columns: &[RowColumn<'_>]) -> Vec<String> {
    let further = columns.iter().skip(READ);
    further
        .inspect(|column| assert!(!column.optional, "needed"))
        .map(|column| column.name.to_owned())
        .collect()
}

fn named<'a>(columns: &[RowColumn<'a>], further: &'a [String]) -> ColumnNames<'a> {
    let mut named = ColumnNames {
        by_role: [None; ROLES],
        optional: [false; ROLES],
        further,
        is_timed: false,
        lists: None,
    };
    for (place, column) in columns.iter().take(READ).enumerate().filter(|(_, column)| !column.name.is_empty())
    {
        (named.by_role[place], named.optional[place]) = (Some(column.name), column.optional);
    }
    named
}
