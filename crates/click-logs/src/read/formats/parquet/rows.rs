//! Parquet with one (query, item, position) a row; the user names the columns.
//!
//! Supports whole numbers, texts, truth values, and floating-point numbers that are whole (some engines write sums so), but no nested
//! columns. Row groups are read one after another, a few thousand rows at a time, and only the named columns. Compression may be Snappy,
//! gzip, LZ4 or Zstandard. A stream is read completely first, since the description of a file is at its end. Sessions are as in
//! [`Columns::session`].
//!
//! The library that decodes the pages may panic on damaged pages. The panic is caught, and becomes an error.

use crate::error::{Error, ErrorKind, Place};
use crate::fault::Fault;
use crate::names::Id;
use crate::read::fields::{MAX_POSITIONS, check_count, number};
use crate::read::formats::delimited::{
    CLICK, Columns, IMPRESSIONS, ITEM, ONE_QUERY, OpenList, POSITION, QUERY, ROLES, SESSION,
};
use crate::read::line::{Lost, MAX_TEXT};
use crate::read::meaning::Meaning;
use crate::read::progress::Progress;
use crate::read::source::{Input, Totals, Watch};
use crate::read::{Keep, Reader, no_file};
use crate::read_report::ReadReport;
use crate::sink::Sink;
use crate::table::Shown;
use bytes::Bytes;
use num_traits::ToPrimitive as _;
use parquet::basic::{Compression, ConvertedType};
use parquet::column::reader::ColumnReader;
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, FileReader, SerializedFileReader};
use parquet::schema::types::ColumnDescriptor;
use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Number of rows that are decoded at once.
const ROWS: usize = 4096;
const CODECS: &str = "Snappy, gzip, LZ4 or Zstandard";

/// A value of a row.
enum Value {
    Missing,
    Number(u64),
    Negative(i64),
    /// Any other value.
    Fraction(f64),
    Text(ByteArray),
}

impl Value {
    fn of_i64(value: i64, unsigned: bool) -> Self {
        match u64::try_from(value) {
            Ok(number) => Self::Number(number),
            Err(_) if unsigned => Self::Number(value.cast_unsigned()),
            Err(_) => Self::Negative(value),
        }
    }

    fn of_f64(value: f64) -> Self {
        // Above 2^53 a neighbouring whole number may have been meant.
        if value.trunc() != value || value.abs() > 9_007_199_254_740_992.0 {
            return Self::Fraction(value);
        }
        // Whole and within 2^53.
        Self::of_i64(value.to_i64().unwrap_or(i64::MAX), false)
    }

    fn number(&self) -> Result<u64, Fault> {
        match self {
            Self::Missing => Err(Fault::Empty),
            Self::Number(number) => Ok(*number),
            Self::Negative(_) => Err(Fault::Negative),
            Self::Fraction(_) => Err(Fault::NotANumber),
            Self::Text(text) => number(text.data()),
        }
    }

    fn id<S: Sink>(&self, sink: &mut S) -> Result<Id, Fault> {
        match self {
            Self::Missing => Err(Fault::Empty),
            Self::Number(number) if *number < 1 << 63 => Ok(Id(*number)),
            Self::Number(number) => sink.id(number.to_string().as_bytes()),
            Self::Negative(number) => sink.id(number.to_string().as_bytes()),
            Self::Fraction(_) => Err(Fault::NotANumber),
            Self::Text(text) => sink.id(text.data()),
        }
    }

    /// Adds bytes that distinguish the value from every other.
    fn add_to(&self, key: &mut Vec<u8>) {
        let (kind, bytes) = match self {
            Self::Missing => (0, 0),
            Self::Number(number) => (1, *number),
            Self::Negative(number) => (2, number.cast_unsigned()),
            Self::Fraction(number) => (3, number.to_bits()),
            Self::Text(text) => (4, text.len() as u64),
        };
        key.push(kind);
        key.extend_from_slice(&bytes.to_le_bytes());
        if let Self::Text(text) = self {
            key.extend_from_slice(text.data());
        }
    }

    fn text(&self) -> String {
        match self {
            Self::Missing => String::new(),
            Self::Number(number) => number.to_string(),
            Self::Negative(number) => number.to_string(),
            Self::Fraction(number) => number.to_string(),
            Self::Text(text) => {
                let text = text.data();
                String::from_utf8_lossy(&text[..text.len().min(MAX_TEXT)]).escape_debug().to_string()
            }
        }
    }
}

/// Reads all inputs with one thread.
pub(in super::super) fn read_all<K: Keep>(
    columns: &Columns,
    reader: &Reader,
    inputs: Vec<Input<'_>>,
    keep: &K,
) -> Result<ReadReport, Error> {
    let (mut sink, mut progress) = (keep.sink(), Progress::default());
    if inputs.is_empty() {
        return Err(no_file());
    }
    let lenient = reader.max_skipped.is_some();
    let totals = read(columns, reader.meaning, inputs, lenient, &mut sink, &mut progress);
    progress.absorb(Progress::default(), &K::done(sink));
    progress.finish(totals, reader.max_skipped)
}

/// Reads all inputs; a strict reader stops at the first fault.
fn read<S: Sink>(
    columns: &Columns,
    meaning: Meaning,
    inputs: Vec<Input<'_>>,
    lenient: bool,
    sink: &mut S,
    progress: &mut Progress,
) -> Totals {
    let mut totals = Totals::default();
    for (number, input) in inputs.into_iter().enumerate() {
        totals.files += 1;
        let (name, stream, watch) = input.into_parts();
        let (list, key) = (OpenList::default(), Vec::new());
        let mut rows =
            Rows { columns, meaning, name: &name, number, lenient, watch, list, key, sink, progress };
        let in_file = |error| Error::io(&name, error, false);
        let result = catch_unwind(AssertUnwindSafe(|| match stream {
            None => rows.read(File::open(name.as_ref()).map_err(in_file)?),
            Some(mut stream) => {
                let mut bytes = Vec::new();
                stream.read_to_end(&mut bytes).map_err(in_file)?;
                rows.read(Bytes::from(bytes))
            }
        }));
        rows.list.close(rows.sink);
        let result = result.unwrap_or_else(|_| Err(Error::of(ErrorKind::Parquet, &name, "damaged Parquet")));
        match result {
            Ok(read) => {
                totals.bytes += read.bytes;
                totals.empty_files += u64::from(read.rows == 0);
            }
            Err(error) => progress.fail((number, u64::MAX), error),
        }
        if progress.failed() {
            break;
        }
    }
    totals
}

struct Rows<'a, S> {
    columns: &'a Columns,
    meaning: Meaning,
    name: &'a str,
    number: usize,
    lenient: bool,
    watch: Option<Watch<'a>>,
    /// The open list, if a column names sessions, and the key of its rows.
    list: OpenList,
    key: Vec<u8>,
    sink: &'a mut S,
    progress: &'a mut Progress,
}

struct HowMuch {
    rows: u64,
    bytes: u64,
}

impl<S: Sink> Rows<'_, S> {
    fn wrong(&self, error: &ParquetError) -> Error {
        Error::of(ErrorKind::Parquet, self.name, error.to_string())
    }

    fn read<R: ChunkReader + 'static>(&mut self, file: R) -> Result<HowMuch, Error> {
        let bytes = file.len();
        let reader = SerializedFileReader::new(file).map_err(|error| self.wrong(&error))?;
        let schema = reader.metadata().file_metadata().schema_descr_ptr();
        let mut places = [None; ROLES];
        for (place, name) in places.iter_mut().zip(self.columns.by_role()) {
            let Some(name) = name else { continue };
            let paths = || schema.columns().iter().map(|column| column.path().string());
            let mut places = (0..).zip(paths()).filter(|(_, path)| path == name).map(|(column, _)| column);
            let header = |message: String| Error::of(ErrorKind::Header, self.name, message);
            let Some(found) = places.next() else {
                if paths().any(|path| path.starts_with(&format!("{name}."))) {
                    return Err(header(format!("column `{name}` is nested, expected whole numbers or text")));
                }
                let there: Vec<String> = paths().take(20).collect();
                return Err(header(format!("no column `{name}`, found `{}`", there.join("`, `"))));
            };
            if places.next().is_some() {
                return Err(header(format!("two columns `{name}`")));
            }
            check(&schema.column(found)).map_err(|found| {
                let message = format!("column `{name}` holds {found}, expected whole numbers or text");
                Error::of(ErrorKind::Parquet, self.name, message)
            })?;
            for group in reader.metadata().row_groups() {
                let codec = match group.column(found).compression() {
                    Compression::BROTLI(_) => "Brotli",
                    Compression::LZO => "LZO",
                    _ => continue,
                };
                let message = format!("column `{name}` is compressed with {codec}, expected {CODECS}");
                return Err(Error::of(ErrorKind::Parquet, self.name, message));
            }
            *place = Some(found);
        }
        let n_rows = u64::try_from(reader.metadata().file_metadata().num_rows()).unwrap_or(0);
        let (mut row, mut told) = (0, 0);
        for group in 0..reader.num_row_groups() {
            let group = reader.get_row_group(group).map_err(|error| self.wrong(&error))?;
            let mut readers: [Option<ColumnReader>; ROLES] = Default::default();
            for (reader, place) in readers.iter_mut().zip(places) {
                if let Some(place) = place {
                    *reader = Some(group.get_column_reader(place).map_err(|error| self.wrong(&error))?);
                }
            }
            loop {
                let mut values: [Option<Vec<Value>>; ROLES] = Default::default();
                for ((values, reader), place) in values.iter_mut().zip(&mut readers).zip(places) {
                    if let (Some(reader), Some(place)) = (reader, place) {
                        let column = schema.column(place);
                        *values = Some(decode(reader, &column).map_err(|error| self.wrong(&error))?);
                    }
                }
                let n_rows = values.iter().flatten().map(Vec::len).max().unwrap_or(0);
                if n_rows == 0 {
                    break;
                }
                if values.iter().flatten().any(|values| values.len() != n_rows) {
                    let message = "columns of different lengths";
                    return Err(Error::of(ErrorKind::Parquet, self.name, message));
                }
                for place in 0..n_rows {
                    row += 1;
                    let of_row = values.each_ref().map(|values| values.as_ref().map(|values| &values[place]));
                    if !self.row(row, of_row, places) {
                        return Ok(HowMuch { rows: row, bytes });
                    }
                }
            }
            if let Some(watch) = self.watch {
                // The library reads pages directly, and only those of named columns: the share of rows gives the progress.
                let share = u128::from(bytes) * u128::from(row) / u128::from(n_rows.max(1));
                let now = u64::try_from(share).unwrap_or(bytes).min(bytes);
                watch(now.saturating_sub(told));
                told = now;
            }
        }
        if row == 0 && !self.lenient {
            return Err(Error::of(ErrorKind::Empty, self.name, "no row to read"));
        }
        Ok(HowMuch { rows: row, bytes })
    }

    /// Counts a row. Returns whether to go on.
    fn row(&mut self, row: u64, values: [Option<&Value>; ROLES], places: [Option<usize>; ROLES]) -> bool {
        self.progress.lines += 1;
        if values[SESSION].is_some() {
            self.key.clear();
            for value in [values[SESSION], values[QUERY]].into_iter().flatten() {
                value.add_to(&mut self.key);
            }
            self.list.enter(&self.key, self.sink);
        }
        // The place of the row in the log, as for a line.
        let at = row ^ (self.number as u64).rotate_right(16);
        let counted = shown(values, self.meaning, self.sink).and_then(|shown| match values[SESSION] {
            None => {
                self.sink.shown(shown, at);
                Ok(())
            }
            Some(Value::Missing) => Err((SESSION, Fault::Empty)),
            Some(Value::Text(text)) if text.is_empty() => Err((SESSION, Fault::Empty)),
            Some(_) => self.list.push(&shown, self.meaning, at).map_err(|fault| (POSITION, fault)),
        });
        let Err((role, fault)) = counted else {
            return true;
        };
        let name = self.columns.by_role()[role].unwrap_or_default().to_owned();
        let place = Place {
            file: self.name.to_owned(),
            line: row,
            column: places[role].map(|column| (column + 1, name)),
            text: values[role].map(Value::text).unwrap_or_default(),
            message: fault.to_string(),
        };
        if self.lenient {
            self.list.skip();
            let number = |role: usize| values[role].and_then(|value| value.number().ok());
            let impressions = if values[IMPRESSIONS].is_some() { number(IMPRESSIONS) } else { Some(1) };
            let [clicks, impressions] = [number(CLICK), impressions].map(|count| count.unwrap_or(0));
            self.progress.skip(fault, Lost { clicks, impressions }, (self.number, row), place);
        } else {
            self.progress.fail((self.number, row), Error::at(ErrorKind::Line(fault), place));
        }
        self.lenient
    }
}

/// The content of a row, or the role at fault.
fn shown<S: Sink>(
    values: [Option<&Value>; ROLES],
    meaning: Meaning,
    sink: &mut S,
) -> Result<Shown, (usize, Fault)> {
    let of_role = |role: usize| move |fault| (role, fault);
    let value = |role: usize| values[role].unwrap_or(&Value::Missing);
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

/// Description of the content of a column that is not supported.
fn check(column: &ColumnDescriptor) -> Result<(), String> {
    use parquet::basic::Type;
    if column.max_rep_level() > 0 {
        return Err("lists".into());
    }
    match column.physical_type() {
        kind @ (Type::INT96 | Type::FIXED_LEN_BYTE_ARRAY) => Err(kind.to_string()),
        _ if column.converted_type() == ConvertedType::DECIMAL && column.type_scale() != 0 => {
            Err("decimal fractions".into())
        }
        Type::BYTE_ARRAY if column.converted_type() == ConvertedType::DECIMAL => Err("long decimals".into()),
        _ => Ok(()),
    }
}

/// Some rows of a column; none at its end.
fn decode(reader: &mut ColumnReader, column: &ColumnDescriptor) -> Result<Vec<Value>, ParquetError> {
    /// Decodes with a reader of one type, and inserts missing values.
    macro_rules! rows {
        ($reader:expr, $value:expr) => {{
            let (mut values, mut levels) = (Vec::new(), Vec::new());
            let highest = column.max_def_level();
            let wanted = (highest > 0).then_some(&mut levels);
            let (rows, _, _) = $reader.read_records(ROWS, wanted, None, &mut values)?;
            let mut values = values.into_iter().map($value);
            if highest == 0 {
                values.collect()
            } else {
                let value = |level: &i16| if *level == highest { values.next() } else { None };
                levels.iter().take(rows).map(value).map(|value| value.unwrap_or(Value::Missing)).collect()
            }
        }};
    }
    let unsigned = matches!(
        column.converted_type(),
        ConvertedType::UINT_8 | ConvertedType::UINT_16 | ConvertedType::UINT_32 | ConvertedType::UINT_64
    );
    Ok(match reader {
        ColumnReader::BoolColumnReader(reader) => rows!(reader, |value| Value::Number(value.into())),
        ColumnReader::Int32ColumnReader(reader) => rows!(reader, |value: i32| {
            let value = if unsigned { value.cast_unsigned().into() } else { value.into() };
            Value::of_i64(value, false)
        }),
        ColumnReader::Int64ColumnReader(reader) => rows!(reader, |value| Value::of_i64(value, unsigned)),
        ColumnReader::FloatColumnReader(reader) => rows!(reader, |value| Value::of_f64(value.into())),
        ColumnReader::DoubleColumnReader(reader) => rows!(reader, Value::of_f64),
        ColumnReader::ByteArrayColumnReader(reader) => rows!(reader, Value::Text),
        // The caller refused other types.
        ColumnReader::Int96ColumnReader(_) | ColumnReader::FixedLenByteArrayColumnReader(_) => Vec::new(),
    })
}
