//! Rows of tables that are stored by columns, in Parquet or in memory: from values to impressions and lists.
//!
//! A source decodes columns into [`Value`]s. What a value means, which row is at fault and where a list ends is the same for all of them.

use super::delimited::{
    CLICK, Columns, IMPRESSIONS, ITEM, ONE_QUERY, OpenList, POSITION, QUERY, ROLES, SESSION,
};
use crate::error::{Error, ErrorKind, Place};
use crate::fault::Fault;
use crate::names::Id;
use crate::read::fields::{MAX_POSITIONS, check_count, number};
use crate::read::line::{Lost, MAX_TEXT};
use crate::read::meaning::Meaning;
use crate::read::progress::Progress;
use crate::sink::Sink;
use crate::table::Shown;
use num_traits::ToPrimitive as _;

/// A value of a column. A floating-point number that is whole is a whole number, since some programs write sums so.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Value<'a> {
    /// None.
    Missing,
    /// A whole number.
    Number(u64),
    /// A whole number below 0.
    Negative(i64),
    /// A number that is not whole, above 2^53 or no number.
    Fraction(f64),
    /// A text.
    Text(&'a [u8]),
}

impl From<u64> for Value<'_> {
    #[inline]
    fn from(value: u64) -> Self {
        Self::Number(value)
    }
}

impl From<i64> for Value<'_> {
    #[inline]
    fn from(value: i64) -> Self {
        u64::try_from(value).map_or(Self::Negative(value), Self::Number)
    }
}

impl From<bool> for Value<'_> {
    #[inline]
    fn from(value: bool) -> Self {
        Self::Number(value.into())
    }
}

impl From<f64> for Value<'_> {
    #[inline]
    fn from(value: f64) -> Self {
        // Above 2^53 a neighbouring whole number may have been meant.
        if value.trunc() != value || value.abs() > 9_007_199_254_740_992.0 {
            return Self::Fraction(value);
        }
        // Whole and within 2^53.
        Self::from(value.to_i64().unwrap_or(i64::MAX))
    }
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(value: &'a str) -> Self {
        Self::Text(value.as_bytes())
    }
}

impl Value<'_> {
    fn number(self) -> Result<u64, Fault> {
        match self {
            Self::Missing => Err(Fault::Empty),
            Self::Number(number) => Ok(number),
            Self::Negative(_) => Err(Fault::Negative),
            Self::Fraction(_) => Err(Fault::NotANumber),
            Self::Text(text) => number(text),
        }
    }

    fn id<S: Sink>(self, sink: &mut S) -> Result<Id, Fault> {
        match self {
            Self::Missing => Err(Fault::Empty),
            Self::Number(number) if number < 1 << 63 => Ok(Id(number)),
            Self::Number(number) => sink.id(number.to_string().as_bytes()),
            Self::Negative(number) => sink.id(number.to_string().as_bytes()),
            Self::Fraction(_) => Err(Fault::NotANumber),
            Self::Text(text) => sink.id(text),
        }
    }

    /// Adds bytes that distinguish the value from every other.
    fn add_to(self, key: &mut Vec<u8>) {
        let (kind, bytes) = match self {
            Self::Missing => (0, 0),
            Self::Number(number) => (1, number),
            Self::Negative(number) => (2, number.cast_unsigned()),
            Self::Fraction(number) => (3, number.to_bits()),
            Self::Text(text) => (4, text.len() as u64),
        };
        key.push(kind);
        key.extend_from_slice(&bytes.to_le_bytes());
        if let Self::Text(text) = self {
            key.extend_from_slice(text);
        }
    }

    fn text(self) -> String {
        match self {
            Self::Missing => String::new(),
            Self::Number(number) => number.to_string(),
            Self::Negative(number) => number.to_string(),
            Self::Fraction(number) => number.to_string(),
            Self::Text(text) => {
                String::from_utf8_lossy(&text[..text.len().min(MAX_TEXT)]).escape_debug().to_string()
            }
        }
    }
}

/// The values of a row by role; `None` for a role without a column.
pub(super) type RowValues<'a> = [Option<Value<'a>>; ROLES];

/// The key of a row's list: its session, and its query if there is one.
pub(super) fn list_key(values: &RowValues<'_>, key: &mut Vec<u8>) {
    key.clear();
    for value in [values[SESSION], values[QUERY]].into_iter().flatten() {
        value.add_to(key);
    }
}

/// A table whose rows are read: its columns, the meaning of its numbers, and its place among the files.
#[derive(Debug, Clone, Copy)]
pub(super) struct TableOfRows<'a> {
    pub(super) columns: &'a Columns,
    /// The 0-based column of each role.
    pub(super) places: [Option<usize>; ROLES],
    pub(super) meaning: Meaning,
    pub(super) name: &'a str,
    /// The file's number.
    pub(super) number: usize,
    pub(super) lenient: bool,
}

/// Counts rows, one after another.
pub(super) struct Rows<'a, S: Sink> {
    table: TableOfRows<'a>,
    /// The open list, if a column names sessions, and the key of its rows.
    list: OpenList,
    key: Vec<u8>,
    sink: &'a mut S,
    progress: &'a mut Progress,
}

impl<'a, S: Sink> Rows<'a, S> {
    pub(super) fn new(table: TableOfRows<'a>, sink: &'a mut S, progress: &'a mut Progress) -> Self {
        Self { table, list: OpenList::default(), key: Vec::new(), sink, progress }
    }

    /// Ends the open list, after the last row.
    pub(super) fn close(&mut self) {
        self.list.close(self.sink);
    }

    /// Counts a row, from 1. Returns whether to go on.
    #[inline]
    pub(super) fn row(&mut self, row: u64, values: &RowValues<'_>) -> bool {
        self.progress.lines += 1;
        if values[SESSION].is_some() {
            list_key(values, &mut self.key);
            self.list.enter(&self.key, self.sink);
        }
        // The place of the row in the log, as for a line.
        let at = row ^ (self.table.number as u64).rotate_right(16);
        let counted = shown(values, self.table.meaning, self.sink).and_then(|shown| match values[SESSION] {
            None => {
                self.sink.shown(shown, at);
                Ok(())
            }
            Some(Value::Missing | Value::Text(b"")) => Err((SESSION, Fault::Empty)),
            Some(_) => self.list.push(&shown, self.table.meaning, at).map_err(|fault| (POSITION, fault)),
        });
        match counted {
            Ok(()) => true,
            Err((role, fault)) => self.at_fault(row, values, role, fault),
        }
    }

    #[cold]
    fn at_fault(&mut self, row: u64, values: &RowValues<'_>, role: usize, fault: Fault) -> bool {
        let TableOfRows { columns, places, name, number, lenient, .. } = self.table;
        let column = columns.by_role()[role].unwrap_or_default().to_owned();
        let place = Place {
            file: name.to_owned(),
            line: row,
            column: places[role].map(|place| (place + 1, column)),
            text: values[role].map(Value::text).unwrap_or_default(),
            message: fault.to_string(),
        };
        if lenient {
            self.list.skip();
            let of_role = |role: usize| values[role].and_then(|value| value.number().ok());
            let impressions = if values[IMPRESSIONS].is_some() { of_role(IMPRESSIONS) } else { Some(1) };
            let [clicks, impressions] = [of_role(CLICK), impressions].map(|count| count.unwrap_or(0));
            self.progress.skip(fault, Lost { clicks, impressions }, (number, row), place);
        } else {
            self.progress.fail((number, row), Error::at(ErrorKind::Line(fault), place));
        }
        lenient
    }
}

/// The content of a row, or the role at fault.
#[inline]
fn shown<S: Sink>(values: &RowValues<'_>, meaning: Meaning, sink: &mut S) -> Result<Shown, (usize, Fault)> {
    let of_role = |role: usize| move |fault| (role, fault);
    let value = |role: usize| values[role].unwrap_or(Value::Missing);
    let query = match values[QUERY] {
        Some(query) => query.id(sink),
        None => sink.id(ONE_QUERY),
    };
    let query = query.map_err(of_role(QUERY))?;
    let item = value(ITEM).id(sink).map_err(of_role(ITEM))?;
    let number = |role: usize| value(role).number().map_err(of_role(role));
    let position = meaning.position(number(POSITION)?, MAX_POSITIONS).map_err(of_role(POSITION))?;
    let clicks = check_count(number(CLICK)?).map_err(of_role(CLICK))?;
    let impressions = if values[IMPRESSIONS].is_some() { number(IMPRESSIONS)? } else { 1 };
    let impressions = check_count(impressions).map_err(of_role(IMPRESSIONS))?;
    let clicks = meaning.clicks(clicks, impressions, sink).map_err(of_role(CLICK))?;
    Ok(Shown { query, item, clicks, impressions, position })
}
