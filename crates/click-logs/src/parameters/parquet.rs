//! Parameters as Parquet: the rows of [`for_each_parameter`], the columns of `parameters.csv`.
//!
//! | column | type | content |
//! |---|---|---|
//! | `model` | text | name of the model |
//! | `query` | text or null | name of the query; null if all queries share the parameter |
//! | `kind` | text | what it is a parameter of, [`ParameterRow::kind`] |
//! | `item` | text or null | name of the item |
//! | `position` | INT64 or null | position, from 1 |
//! | `last_click` | INT64 or null | user browsing: position of the last click above; 0 without one |
//! | `estimate` | DOUBLE or null | estimate; null if it is unknown |
//! | `se` | DOUBLE or null | standard error |
//! | `lower`, `upper` | DOUBLE or null | ends of the interval; the upper one may be infinite |
//! | `clicks`, `impressions` | INT64 or null | what the log has on it |
//!
//! Names are those of the log, unchanged. Compressed with Snappy. Row groups are bounded, so
//! memory does not grow with the number of rows unless `out` keeps the file.

use super::rows::{ParameterRow, for_each_parameter};
use crate::fit::Fit;
use log_reader::{Counts, Id, Names};
use parquet_columns::{ByteArray, Bytes, Column, ParquetError, TableWriter};
use std::io::{self, Write};

/// Most rows of a row group. They are in memory at once, with their names: about 40 MB.
const ROWS: usize = 1 << 17;
/// The program that the file names, without a date or a build.
const CREATED_BY: &str = concat!("click-logs version ", env!("CARGO_PKG_VERSION"));
const SCHEMA: &str = "message parameters {
    required binary model (STRING);
    optional binary query (STRING);
    required binary kind (STRING);
    optional binary item (STRING);
    optional int64 position;
    optional int64 last_click;
    optional double estimate;
    optional double se;
    optional double lower;
    optional double upper;
    optional int64 clicks;
    optional int64 impressions;
}";

/// Writes the table, and returns the number of its rows. The same parameters give the same bytes.
///
/// # Errors
///
/// Errors of `out`; [`io::ErrorKind::InvalidData`] for a count of 2^63 or more.
///
/// # Examples
///
/// ```
/// use click_logs::fit::{Model, Options, fit};
/// use click_logs::parameters::write_table;
/// use log_reader::{Format, Reader};
///
/// let log = "query,item,position,clicks,impressions\nq,a,1,600,1000\nq,a,2,200,1000\nq,b,1,300,1000\nq,b,2,100,1000\n";
/// let log = Reader::new(Format::counts()).read("counts.csv", log.as_bytes())?;
/// let pbm = fit(Model::Pbm, &log.counts, &log.sessions, &Options::default())?;
/// let mut table = Vec::new();
/// // Attraction of two items, and examination of two positions: of the site and of the query.
/// assert_eq!(write_table(&log.counts, &[pbm], &mut table)?, 6);
/// assert!(table.starts_with(b"PAR1"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write_table(counts: &Counts, fits: &[Fit], mut out: impl Write + Send) -> io::Result<u64> {
    write_to(counts, fits, &mut out)
}

fn write_to(counts: &Counts, fits: &[Fit], out: &mut (dyn Write + Send)) -> io::Result<u64> {
    let mut writer = TableWriter::new(out, SCHEMA, CREATED_BY).map_err(of_library)?;
    let mut group = Group::default();
    let mut n_rows = 0;
    for_each_parameter(counts, fits, |row| {
        group.push(&row, counts.names())?;
        n_rows += 1;
        if group.len() == ROWS { group.write(&mut writer).map_err(of_library) } else { Ok(()) }
    })?;
    if group.len() > 0 {
        group.write(&mut writer).map_err(of_library)?;
    }
    writer.close().map_err(of_library)?;
    Ok(n_rows)
}

/// The error of `out`, if it is one.
fn of_library(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(error) => match error.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(other) => io::Error::other(other),
        },
        other => io::Error::other(other),
    }
}

/// The rows of a row group, by the type of their columns and in the order of the schema.
#[derive(Default)]
struct Group {
    texts: [Column<ByteArray>; 4],
    wholes: [Column<i64>; 4],
    numbers: [Column<f64>; 4],
    /// The query of the last row, and its name: rows of a query are adjacent.
    named: Option<(Id, ByteArray)>,
}

impl Group {
    fn len(&self) -> usize {
        self.texts[0].n_rows()
    }

    fn push(&mut self, row: &ParameterRow, names: &Names) -> io::Result<()> {
        let of_static = |text: &'static str| ByteArray::from(Bytes::from_static(text.as_bytes()));
        let query = row.query.map(|query| match &self.named {
            Some((last, name)) if *last == query => name.clone(),
            _ => self.named.insert((query, ByteArray::from(&*names.name(query)))).1.clone(),
        });
        let item = row.item.map(|item| ByteArray::from(&*names.name(item)));
        let texts = [Some(of_static(row.model.name())), query, Some(of_static(row.kind)), item];
        let [clicks, impressions] = row.counts.map_or([None; 2], |(clicks, shown)| [clicks, shown].map(Some));
        let places = [row.position, row.last_click].map(|place| place.map(|place| place as u64));
        let [lower, upper] =
            row.estimate.interval.map_or([None; 2], |(lower, upper)| [lower, upper].map(Some));
        let numbers = [Some(row.estimate.value), row.estimate.standard_error, lower, upper];
        for (column, text) in self.texts.iter_mut().zip(texts) {
            column.push(text);
        }
        for (column, whole) in self.wholes.iter_mut().zip([places[0], places[1], clicks, impressions]) {
            let too_large =
                |_| io::Error::new(io::ErrorKind::InvalidData, "a count does not fit into 63 bits");
            column.push(whole.map(i64::try_from).transpose().map_err(too_large)?);
        }
        for (column, number) in self.numbers.iter_mut().zip(numbers) {
            column.push(number.filter(|number| !number.is_nan()));
        }
        Ok(())
    }

    /// Writes the rows as a row group, and removes them.
    fn write(&mut self, writer: &mut TableWriter<'_>) -> Result<(), ParquetError> {
        writer.write(&self.texts, &self.wholes, &self.numbers)?;
        *self = Self { named: self.named.take(), ..Self::default() };
        Ok(())
    }
}
