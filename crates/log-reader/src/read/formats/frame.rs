//! Tables in memory, by columns.

use super::table_rows::Value;
use crate::error::{Error, ErrorKind};
use std::fmt;
use std::ops::Range;

/// Rows that are decoded at once.
const ROWS_AT_ONCE: usize = 1 << 12;

/// A column of a table in memory.
pub trait ReadColumn: Send + Sync {
    /// Appends the values of these rows, in order, except for rows that the column does not have.
    fn values<'a>(&'a self, rows: Range<usize>, into: &mut Vec<Value<'a>>);

    /// Returns whether the values are lists: texts with a mark before each element,
    /// [`TEXTS`](crate::TEXTS) or [`NUMBERS`](crate::NUMBERS).
    fn is_list(&self) -> bool {
        false
    }
}

impl<T: Copy + Send + Sync> ReadColumn for Vec<T>
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
#[derive(fieldwork::Fieldwork)]
#[fieldwork(opt_in, get(doc_template = "{}"))]
pub struct Frame<'a> {
    pub(in crate::read) names: Vec<String>,
    batches: Vec<Batch<'a>>,
    /// The number of rows.
    #[field]
    n_rows: usize,
}

pub(in crate::read) struct Batch<'a> {
    /// Its first row.
    pub(in crate::read) start: usize,
    n_rows: usize,
    pub(in crate::read) columns: Vec<Box<dyn ReadColumn + 'a>>,
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

    /// Returns whether the values of a column are lists.
    pub(in crate::read) fn has_lists(&self, place: usize) -> bool {
        self.batches.iter().any(|batch| batch.columns[place].is_list())
    }

    /// The rows of each batch within a range of rows, cut into parts of limited length.
    pub(in crate::read) fn parts(
        &self,
        rows: Range<usize>,
    ) -> impl Iterator<Item = (&Batch<'a>, Range<usize>)> {
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
