//! Parquet with one (query, item, position) a row; the user names the columns.
//!
//! Supports whole numbers, texts, truth values, and floating-point numbers that are whole (some engines write sums so), but no nested
//! columns. Row groups are read one after another, a few thousand rows at a time, and only the named columns. Compression may be Snappy,
//! gzip, LZ4 or Zstandard. A stream is read completely first, since the description of a file is at its end. Sessions are as in
//! [`Columns::session`].
//!
//! The library that decodes the pages may panic on damaged pages. The panic is caught, and becomes an error.

use crate::error::{Error, ErrorKind};
use crate::read::formats::delimited::{Columns, ROLES};
use crate::read::formats::rows::{Rows, TableOfRows, Value};
use crate::read::meaning::Meaning;
use crate::read::progress::Progress;
use crate::read::source::{Input, InputParts, Totals, Watch, stopped};
use crate::read::{Keep, Reader, no_file};
use crate::read_report::ReadReport;
use crate::sink::Sink;
use bytes::Bytes;
use parquet::basic::{Compression, ConvertedType};
use parquet::column::reader::ColumnReader;
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, FileReader, SerializedFileReader};
use parquet::schema::types::ColumnDescriptor;
use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::AtomicBool;

/// Number of rows that are decoded at once.
const ROWS: usize = 4096;
const CODECS: &str = "Snappy, gzip, LZ4 or Zstandard";

/// A value of a row, with its text.
enum Owned {
    Plain(Value<'static>),
    Text(ByteArray),
}

impl Owned {
    fn of_i64(value: i64, unsigned: bool) -> Self {
        Self::Plain(if unsigned { Value::Number(value.cast_unsigned()) } else { value.into() })
    }

    #[inline]
    fn value(&self) -> Value<'_> {
        match self {
            Self::Plain(value) => *value,
            Self::Text(text) => Value::Text(text.data()),
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
        let InputParts { name, stream, watch, stop } = input.into_parts();
        let table = TableOfRows { columns, places: [None; ROLES], meaning, name: &name, number, lenient };
        let mut file = FileOfRows { table, watch, stop };
        let in_file = |error| Error::io(&name, error, false);
        let result = catch_unwind(AssertUnwindSafe(|| match stream {
            None => file.read(File::open(name.as_ref()).map_err(in_file)?, sink, progress),
            Some(mut stream) => {
                let mut bytes = Vec::new();
                stream.read_to_end(&mut bytes).map_err(in_file)?;
                file.read(Bytes::from(bytes), sink, progress)
            }
        }));
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

struct FileOfRows<'a> {
    table: TableOfRows<'a>,
    watch: Option<Watch<'a>>,
    stop: Option<&'a AtomicBool>,
}

struct HowMuch {
    rows: u64,
    bytes: u64,
}

impl FileOfRows<'_> {
    fn wrong(&self, error: &ParquetError) -> Error {
        Error::of(ErrorKind::Parquet, self.table.name, error.to_string())
    }

    /// Finds the columns and reads the rows. The last list ends with the file, also if it is damaged.
    fn read<R: ChunkReader + 'static>(
        &mut self,
        file: R,
        sink: &mut impl Sink,
        progress: &mut Progress,
    ) -> Result<HowMuch, Error> {
        let bytes = file.len();
        let reader = SerializedFileReader::new(file).map_err(|error| self.wrong(&error))?;
        let schema = reader.metadata().file_metadata().schema_descr_ptr();
        let mut places = [None; ROLES];
        for (place, name) in places.iter_mut().zip(self.table.columns.by_role()) {
            let Some(name) = name else { continue };
            let paths = || schema.columns().iter().map(|column| column.path().string());
            let mut places = (0..).zip(paths()).filter(|(_, path)| path == name).map(|(column, _)| column);
            let header = |message: String| Error::of(ErrorKind::Header, self.table.name, message);
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
                Error::of(ErrorKind::Parquet, self.table.name, message)
            })?;
            for group in reader.metadata().row_groups() {
                let codec = match group.column(found).compression() {
                    Compression::BROTLI(_) => "Brotli",
                    Compression::LZO => "LZO",
                    _ => continue,
                };
                let message = format!("column `{name}` is compressed with {codec}, expected {CODECS}");
                return Err(Error::of(ErrorKind::Parquet, self.table.name, message));
            }
            *place = Some(found);
        }
        self.table.places = places;
        let mut rows = Rows::new(self.table, sink, progress);
        let result = self.groups(&reader, bytes, &mut rows);
        rows.close();
        result
    }

    fn groups<R: ChunkReader + 'static>(
        &self,
        reader: &SerializedFileReader<R>,
        bytes: u64,
        rows: &mut Rows<'_, impl Sink>,
    ) -> Result<HowMuch, Error> {
        let schema = reader.metadata().file_metadata().schema_descr_ptr();
        let places = self.table.places;
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
                if let Some(error) = stopped(self.stop, self.table.name) {
                    return Err(error);
                }
                let mut values: [Option<Vec<Owned>>; ROLES] = Default::default();
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
                    return Err(Error::of(ErrorKind::Parquet, self.table.name, message));
                }
                for place in 0..n_rows {
                    row += 1;
                    let of_row =
                        values.each_ref().map(|values| values.as_ref().map(|values| values[place].value()));
                    if !rows.row(row, &of_row) {
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
        if row == 0 && !self.table.lenient {
            return Err(Error::of(ErrorKind::Empty, self.table.name, "no row to read"));
        }
        Ok(HowMuch { rows: row, bytes })
    }
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
fn decode(reader: &mut ColumnReader, column: &ColumnDescriptor) -> Result<Vec<Owned>, ParquetError> {
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
                levels
                    .iter()
                    .take(rows)
                    .map(value)
                    .map(|value| value.unwrap_or(Owned::Plain(Value::Missing)))
                    .collect()
            }
        }};
    }
    let unsigned = matches!(
        column.converted_type(),
        ConvertedType::UINT_8 | ConvertedType::UINT_16 | ConvertedType::UINT_32 | ConvertedType::UINT_64
    );
    Ok(match reader {
        ColumnReader::BoolColumnReader(reader) => rows!(reader, |value: bool| Owned::Plain(value.into())),
        ColumnReader::Int32ColumnReader(reader) => rows!(reader, |value: i32| {
            let value: i64 = if unsigned { value.cast_unsigned().into() } else { value.into() };
            Owned::Plain(value.into())
        }),
        ColumnReader::Int64ColumnReader(reader) => rows!(reader, |value| Owned::of_i64(value, unsigned)),
        ColumnReader::FloatColumnReader(reader) => {
            rows!(reader, |value: f32| Owned::Plain(f64::from(value).into()))
        }
        ColumnReader::DoubleColumnReader(reader) => rows!(reader, |value: f64| Owned::Plain(value.into())),
        ColumnReader::ByteArrayColumnReader(reader) => rows!(reader, Owned::Text),
        // The caller refused other types.
        ColumnReader::Int96ColumnReader(_) | ColumnReader::FixedLenByteArrayColumnReader(_) => Vec::new(),
    })
}
