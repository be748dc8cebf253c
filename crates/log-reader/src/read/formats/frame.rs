//! Tables in memory, by columns: rows are read by several threads, without a copy of the columns.
//!
//! Results are those of the same rows in a Parquet file, for any number of threads and any division
//! into batches; a frame has no bytes and is no file, so [`ReadReport`] has 0 of both.

use super::delimited::{ROLES, places};
use super::table_rows::{Rows, TableOfRows, Value};
use super::{ReadReport, Reader};
use crate::collect::Collector;
use crate::error::{Error, ErrorKind};
use crate::log::Log;
use crate::read::open_lists::KeyHash;
use crate::read::source::stopped;
use std::fmt;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Rows that a thread takes at once, and rows that it decodes at once.
const ROWS_OF_A_THREAD: usize = 1 << 16;
const ROWS_AT_ONCE: usize = 1 << 12;

/// A column of a table in memory.
pub trait ReadColumn: Sync {
    /// Appends the values of these rows, in order, except for rows that the column does not have.
    fn values<'a>(&'a self, rows: Range<usize>, into: &mut Vec<Value<'a>>);
}

impl<T: Copy + Sync> ReadColumn for Vec<T>
where
    for<'a> Value<'a>: From<T>,
{
    fn values<'a>(&'a self, rows: Range<usize>, into: &mut Vec<Value<'a>>) {
        into.extend(self.get(rows).unwrap_or_default().iter().map(|&value| Value::from(value)));
    }
}

/// A table in memory: names of columns, and batches of rows.
///
/// # Examples
///
/// ```
/// use log_reader::{Format, Frame, Reader};
///
/// let format = Format::delimited("item=ad,position=rank,click=clicked")?;
/// let frame = Frame::new(["ad", "rank", "clicked"])
///     .batch(2, vec![Box::new(vec![7_u64, 8]), Box::new(vec![1.0, 2.0]), Box::new(vec![true, false])])?;
/// let log = Reader::new(format.clone()).read_frame("log", &frame, None)?;
/// assert_eq!((log.counts.n_cells(), log.counts.clicks()), (2, 1));
///
/// let wrong = Frame::new(["ad", "rank", "clicked"])
///     .batch(1, vec![Box::new(vec![7_u64]), Box::new(vec![1.5]), Box::new(vec![true])])?;
/// let error = Reader::new(format).read_frame("log", &wrong, None).unwrap_err();
/// assert_eq!(error.to_string(), "log:1: column 2 (rank): expected a whole number, found `1.5`");
/// # Ok::<(), log_reader::Error>(())
/// ```
pub struct Frame<'a> {
    names: Vec<String>,
    batches: Vec<Batch<'a>>,
    n_rows: usize,
}

struct Batch<'a> {
    /// Its first row.
    start: usize,
    n_rows: usize,
    columns: Vec<Box<dyn ReadColumn + 'a>>,
}

impl fmt::Debug for Frame<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Frame")
            .field("names", &self.names)
            .field("n_rows", &self.n_rows)
            .finish_non_exhaustive()
    }
}

impl<'a> Frame<'a> {
    /// A table of these columns, without rows.
    pub fn new(names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { names: names.into_iter().map(Into::into).collect(), batches: Vec::new(), n_rows: 0 }
    }

    /// Adds rows: one column for each name.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Header`] for another number of columns.
    pub fn batch(mut self, n_rows: usize, columns: Vec<Box<dyn ReadColumn + 'a>>) -> Result<Self, Error> {
        if columns.len() != self.names.len() {
            let message = format!("{} columns for {} names", columns.len(), self.names.len());
            return Err(Error::of(ErrorKind::Header, "", message));
        }
        if n_rows > 0 {
            self.batches.push(Batch { start: self.n_rows, n_rows, columns });
            self.n_rows += n_rows;
        }
        Ok(self)
    }

    /// The number of rows.
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// The rows of each batch within a range of rows, cut into parts of limited length.
    fn parts(&self, rows: Range<usize>) -> impl Iterator<Item = (&Batch<'a>, Range<usize>)> {
        let first = self.batches.partition_point(|batch| batch.start + batch.n_rows <= rows.start);
        self.batches[first..].iter().take_while(move |batch| batch.start < rows.end).flat_map(move |batch| {
            let end = rows.end.min(batch.start + batch.n_rows) - batch.start;
            let start = rows.start.saturating_sub(batch.start);
            (start..end)
                .step_by(ROWS_AT_ONCE)
                .map(move |start| (batch, start..end.min(start.saturating_add(ROWS_AT_ONCE))))
        })
    }
}

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
        let Some(columns) = self.format.columns() else {
            let message = format!("format `{}` is no table of named columns", self.format.name());
            return Err(Error::of(ErrorKind::Settings, "format", message));
        };
        let places = places(columns, &frame.names).map_err(|message| {
            let there = frame.names[..frame.names.len().min(20)].join("`, `");
            Error::of(ErrorKind::Header, name, format!("{message}, found `{there}`"))
        })?;
        let lenient = self.max_skipped.is_some();
        let table = TableOfRows {
            columns,
            places,
            meaning: self.meaning,
            name,
            number: 0,
            lenient,
            hash: KeyHash::default(),
        };
        let collector = self.collector();
        let report = self.read_rows(frame, table, &collector, stop)?;
        collector.finish(self.threads, report)
    }

    fn read_rows(
        &self,
        frame: &Frame<'_>,
        table: TableOfRows<'_>,
        collector: &Collector,
        stop: Option<&AtomicBool>,
    ) -> Result<ReadReport, Error> {
        if frame.n_rows == 0 {
            return Err(Error::of(ErrorKind::Empty, table.name, "no row to read"));
        }
        let next = AtomicUsize::new(0);
        let most = frame.n_rows.div_ceil(ROWS_OF_A_THREAD);
        let report = self.on_threads(collector, most, |batches, report, ()| {
            let start = next.fetch_add(ROWS_OF_A_THREAD, Ordering::Relaxed);
            if start >= frame.n_rows {
                return false;
            }
            if let Some(error) = stopped(stop, table.name) {
                report.fail((0, 0), error);
                return true;
            }
            let taken = start..frame.n_rows.min(start + ROWS_OF_A_THREAD);
            let mut rows = Rows::new(table, batches, report);
            let counted = count(frame, taken, &table, &mut rows);
            rows.close();
            if let Err(error) = counted {
                report.fail((0, start as u64), error);
            }
            true
        });
        self.finish(report, collector, &[table.name.into()], &ReadReport::default())
    }
}

/// Counts rows; a strict reader stops at the first fault.
fn count(
    frame: &Frame<'_>,
    range: Range<usize>,
    table: &TableOfRows<'_>,
    rows: &mut Rows<'_, '_>,
) -> Result<(), Error> {
    let mut values: [Vec<Value<'_>>; ROLES] = Default::default();
    for (batch, part) in frame.parts(range) {
        for (values, place) in values.iter_mut().zip(table.places) {
            values.clear();
            let Some(place) = place else { continue };
            batch.columns[place].values(part.clone(), values);
            if values.len() != part.len() {
                let message = format!("column `{}` has fewer rows than others", frame.names[place]);
                return Err(Error::of(ErrorKind::Header, table.name, message));
            }
        }
        let first = (batch.start + part.start) as u64 + 1;
        for (row, place) in (first..).zip(0..part.len()) {
            if !rows.row(row, &values.each_ref().map(|values| values.get(place).copied())) {
                return Ok(());
            }
        }
    }
    Ok(())
}
