//! Reads tables in memory: rows are read by several threads, without a copy of the columns.
//!
//! Results are those of the same rows in a Parquet file, for any number of threads and any division
//! into batches; a frame has no bytes and is no file, so [`ReadReport`] has 0 of both.

use super::Reader;
use super::formats::{Frame, Rows, TableOfRows, Value};
use super::source::{Input, stopped};
use super::thread_report::on_threads;
use crate::collect::Collector;
use crate::columns::{ColumnNames, ROLES, places};
use crate::error::{Error, ErrorKind};
use crate::list_cells::ListCells;
use crate::log::Log;
use crate::read_report::ReadReport;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Rows that a thread takes at once.
const ROWS_OF_A_THREAD: usize = 1 << 16;

impl Reader {
    /// Reads a table in memory, whose columns the reader's format names; errors call the table
    /// `name`, and count its rows from 1. Ends with [`ErrorKind::Read`] once `stop` is true, which
    /// another thread may set.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Settings`] if the format has fixed columns; [`ErrorKind::Header`] if a column
    /// is missing or there twice; [`ErrorKind::Empty`]; the errors of rows, as of lines.
    pub fn read_frame(&self, name: &str, frame: &Frame<'_>, stop: Option<&AtomicBool>) -> Result<Log, Error> {
        self.read_inputs(vec![Input { stop, ..Input::frame(name, frame) }])
    }

    pub(super) fn rows_of(
        &self,
        columns: &ColumnNames<'_>,
        name: &str,
        frame: &Frame<'_>,
        collector: &Collector<'_>,
        stop: Option<&AtomicBool>,
    ) -> Result<ReadReport, Error> {
        let (places, further) = places(columns, &frame.names).map_err(|message| {
            let there = frame.names[..frame.names.len().min(20)].join("`, `");
            Error::of(ErrorKind::Header, name, format!("{message}, found `{there}`"))
        })?;
        let all = (0..ROLES).zip(places).chain(further.iter().map(|&place| (ROLES, Some(place))));
        for (role, place) in all.filter_map(|(role, place)| Some((role, place?))) {
            let may_be_list = columns.lists.is_some() && ListCells::ROLES.contains(&role);
            if frame.has_lists(place) && !may_be_list {
                let message =
                    format!("column `{}` holds lists, expected a value for each row", frame.names[place]);
                return Err(Error::of(ErrorKind::Header, name, message));
            }
        }
        let table = TableOfRows::new(columns, self.meaning, self.max_skipped.is_some(), collector);
        let table = TableOfRows { places, further: &further, name, ..table };
        if frame.n_rows() == 0 {
            return Err(Error::of(ErrorKind::Empty, name, "no row to read"));
        }
        let next = AtomicUsize::new(0);
        let most = frame.n_rows().div_ceil(ROWS_OF_A_THREAD);
        let report = on_threads(self, most, collector, &|| {
            Box::new(|batches, report| {
                let start = next.fetch_add(ROWS_OF_A_THREAD, Ordering::Relaxed);
                if start >= frame.n_rows() {
                    return false;
                }
                if let Some(error) = stopped(stop, name) {
                    report.fail((0, 0), error);
                    return true;
                }
                let taken = start..frame.n_rows().min(start + ROWS_OF_A_THREAD);
                let mut rows = Rows::new(&table, batches, report);
                let counted = count(frame, taken, &table, &mut rows);
                rows.close();
                if let Err(error) = counted {
                    report.fail((0, start as u64), error);
                }
                true
            })
        });
        self.finish(report, collector, &[name.into()], &ReadReport::default())
    }
}

/// Counts rows; a strict reader stops at the first fault.
fn count(
    frame: &Frame<'_>,
    range: Range<usize>,
    table: &TableOfRows<'_>,
    rows: &mut Rows<'_, '_>,
) -> Result<(), Error> {
    let mut values: Vec<Vec<Value<'_>>> = vec![vec![]; table.n_columns()];
    for (batch, part) in frame.parts(range) {
        for (role, values) in values.iter_mut().enumerate() {
            values.clear();
            let Some(place) = table.place(role) else { continue };
            batch.columns[place].values(part.clone(), values);
            if values.len() != part.len() {
                let message = format!("column `{}` has fewer rows than others", frame.names[place]);
                return Err(Error::of(ErrorKind::Header, table.name, message));
            }
        }
        let first = (batch.start + part.start) as u64 + 1;
        for (row, place) in (first..).zip(0..part.len()) {
            if !rows.row(row, |role| values[role].get(place).copied()) {
                return Ok(());
            }
        }
    }
    Ok(())
}
