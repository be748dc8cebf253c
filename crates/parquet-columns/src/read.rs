//! Columns of a file, as cells.

use crate::zstandard::ZstandardPages;
use bytes::Bytes;
use parquet::basic::{Compression, ConvertedType, LogicalType, TimeUnit, Type};
use parquet::column::page::PageReader;
use parquet::column::reader::{ColumnReader, get_column_reader};
use parquet::data_type::{ByteArray, FixedLenByteArray, Int96};
use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData, ParquetMetaDataReader};
use parquet::file::reader::ChunkReader;
use parquet::file::serialized_reader::SerializedPageReader;
use parquet::schema::types::ColumnDescriptor;
use std::fmt;
use std::fs::File;
use std::sync::Arc;

/// Number of rows that are decoded at once.
const ROWS: usize = 4096;

/// A value of a column.
#[derive(Debug, Clone)]
pub enum Cell {
    /// None.
    Missing,
    /// A whole number.
    Whole(i64),
    /// A whole number of a column without negative numbers.
    Unsigned(u64),
    /// A floating-point number.
    Number(f64),
    /// A date or a timestamp: a number of ticks since 1970, and the number of ticks of a day.
    Time(i64, i64),
    /// A text, or a decimal with all digits of its scale. A list has before each element the byte
    /// 0x1f or, if it is a number, 0x1e.
    Text(ByteArray),
}

/// The mark before each text of a list, and before each number.
const TEXTS: u8 = 0x1f;
const NUMBERS: u8 = 0x1e;

impl Cell {
    fn of_decimal(unscaled: i128, scale: usize) -> Self {
        if let (0, Ok(whole)) = (scale, i64::try_from(unscaled)) {
            return Self::Whole(whole);
        }
        let mut text = format!("{:0>width$}", unscaled.unsigned_abs(), width = scale + 1);
        if scale > 0 {
            text.insert(text.len() - scale, '.');
        }
        if unscaled < 0 {
            text.insert(0, '-');
        }
        Self::Text(text.as_str().into())
    }
}

/// The pages of a column in a row group with this number of rows.
type PagesOf = dyn Fn(&ColumnChunkMetaData, usize) -> Result<Box<dyn PageReader>, ParquetError>;

/// A file whose description was read.
pub struct Table {
    metadata: ParquetMetaData,
    pages: Box<PagesOf>,
}

impl fmt::Debug for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Table").field("metadata", &self.metadata).finish_non_exhaustive()
    }
}

impl Table {
    fn new<R: ChunkReader + 'static>(source: R) -> Result<Self, ParquetError> {
        // The reader would call it a corrupt footer.
        let end = source.len().checked_sub(4).map(|start| source.get_bytes(start, 4)).transpose()?;
        if !end.is_some_and(|end| matches!(&*end, b"PAR1" | b"PARE")) {
            let what = "it does not end as Parquet does: it has another format, or is cut off";
            return Err(ParquetError::General(what.to_owned()));
        }
        let metadata = ParquetMetaDataReader::new().parse_and_finish(&source)?;
        let source = Arc::new(source);
        let pages = move |column: &ColumnChunkMetaData, rows| -> Result<Box<dyn PageReader>, _> {
            Ok(Box::new(SerializedPageReader::new(Arc::clone(&source), column, rows, None)?))
        };
        Ok(Self { metadata, pages: Box::new(pages) })
    }

    /// A file.
    ///
    /// # Errors
    ///
    /// The file is not Parquet, or its description is damaged.
    pub fn of_file(file: File) -> Result<Self, ParquetError> {
        Self::new(file)
    }

    /// A file in memory.
    ///
    /// # Errors
    ///
    /// As [`of_file`](Self::of_file).
    pub fn of_bytes(bytes: Bytes) -> Result<Self, ParquetError> {
        Self::new(bytes)
    }

    /// The description of the file.
    pub fn metadata(&self) -> &ParquetMetaData {
        &self.metadata
    }

    /// The cells of the column at a place in a row group. A column that is [`unsupported`] has
    /// none.
    ///
    /// # Errors
    ///
    /// The column's first page cannot be found.
    pub fn cells(&self, group: usize, place: usize) -> Result<Cells, ParquetError> {
        let group = self.metadata.row_group(group);
        let (column, rows) = (group.column(place), usize::try_from(group.num_rows())?);
        let pages = if let Compression::ZSTD(_) = column.compression() {
            let compressed = column.clone().into_builder().set_compression(Compression::UNCOMPRESSED);
            Box::new(ZstandardPages::new((self.pages)(&compressed.build()?, rows)?))
        } else {
            (self.pages)(column, rows)?
        };
        let column = column.column_descr_ptr();
        let mut reader = get_column_reader(Arc::clone(&column), pages);
        Ok(Cells(Box::new(move || decode(&mut reader, &column))))
    }
}

/// The content of a column, if [`Cells`] cannot read it.
pub fn unsupported(column: &ColumnDescriptor) -> Option<String> {
    if column.max_rep_level() > 1 {
        return Some("lists of lists".into());
    }
    match column.physical_type() {
        _ if scale(column).is_some_and(|scale| scale.max(column.type_precision()) > 38) => {
            Some("decimals of more than 38 digits".into())
        }
        kind @ Type::FIXED_LEN_BYTE_ARRAY if scale(column).is_none() => Some(kind.to_string()),
        _ => None,
    }
}

/// The cells of a column in a row group.
pub struct Cells(Box<dyn FnMut() -> Result<Vec<Cell>, ParquetError>>);

impl fmt::Debug for Cells {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cells").finish_non_exhaustive()
    }
}

impl Cells {
    /// The cells of the next few thousand rows; none at the end.
    ///
    /// # Errors
    ///
    /// A page is damaged.
    pub fn next_rows(&mut self) -> Result<Vec<Cell>, ParquetError> {
        (self.0)()
    }
}

/// The number of digits after the point, if a column holds decimals.
fn scale(column: &ColumnDescriptor) -> Option<i32> {
    (column.converted_type() == ConvertedType::DECIMAL).then(|| column.type_scale())
}

/// A whole number from its bytes, the first of which has the sign.
fn whole(bytes: &[u8]) -> i128 {
    let sign = if bytes.first().is_some_and(|first| *first > 0x7f) { -1 } else { 0 };
    bytes.iter().fold(sign, |number, &byte| number << 8 | i128::from(byte))
}

/// Seconds of a day.
const DAY: i64 = 86_400;

/// The number of ticks of a day, if a column holds dates or timestamps. Local times are read as
/// those of UTC.
fn ticks_of_day(column: &ColumnDescriptor) -> Option<i64> {
    let of_unit = |unit: TimeUnit| match unit {
        TimeUnit::MILLIS => 1000,
        TimeUnit::MICROS => 1_000_000,
        TimeUnit::NANOS => 1_000_000_000,
    };
    match (column.logical_type_ref(), column.converted_type()) {
        (Some(LogicalType::Timestamp(of)), _) => Some(DAY * of_unit(of.unit)),
        (_, ConvertedType::TIMESTAMP_MICROS) => Some(DAY * 1_000_000),
        (_, ConvertedType::TIMESTAMP_MILLIS) => Some(DAY * 1000),
        (Some(LogicalType::Date), _) | (_, ConvertedType::DATE) => Some(1),
        _ => None,
    }
}

/// The lists of elements whose levels of repetition and definition these are.
fn lists(
    starts: &[i16],
    levels: &[i16],
    column: &ColumnDescriptor,
    values: &mut dyn Iterator<Item = Cell>,
) -> Vec<Cell> {
    let highest = column.max_def_level();
    let lowest = highest - i16::from(column.self_type().is_optional());
    let mut lists: Vec<Vec<u8>> = Vec::new();
    for (start, level) in starts.iter().zip(levels) {
        if *start == 0 {
            lists.push(Vec::new());
        }
        let Some(list) = lists.last_mut().filter(|_| *level >= lowest) else { continue };
        let value = if *level == highest { values.next() } else { None };
        let (mark, text) = match value.unwrap_or(Cell::Missing) {
            Cell::Missing => (TEXTS, Vec::new()),
            Cell::Whole(number) | Cell::Time(number, _) => (NUMBERS, number.to_string().into_bytes()),
            Cell::Unsigned(number) => (NUMBERS, number.to_string().into_bytes()),
            Cell::Number(number) => (NUMBERS, number.to_string().into_bytes()),
            Cell::Text(text) => (TEXTS, text.data().to_vec()),
        };
        // An element that is missing has the mark of the others.
        list.push(list.first().copied().unwrap_or(mark));
        list.extend(text);
    }
    lists.into_iter().map(|list| Cell::Text(list.into())).collect()
}

fn decode(reader: &mut ColumnReader, column: &ColumnDescriptor) -> Result<Vec<Cell>, ParquetError> {
    /// Decodes with a reader of one type, and inserts missing values.
    macro_rules! rows {
        ($reader:expr, $value:expr) => {{
            let (mut values, mut levels, mut starts) = (Vec::new(), Vec::new(), Vec::new());
            let highest = column.max_def_level();
            let wanted = (highest > 0).then_some(&mut levels);
            let is_list = column.max_rep_level() > 0;
            let wanted_starts = is_list.then_some(&mut starts);
            let (rows, _, _) = $reader.read_records(ROWS, wanted, wanted_starts, &mut values)?;
            let mut values = values.into_iter().map($value);
            if is_list {
                lists(&starts, &levels, column, &mut values)
            } else if highest == 0 {
                values.collect()
            } else {
                let value = |level: &i16| if *level == highest { values.next() } else { None };
                levels.iter().take(rows).map(value).map(|value| value.unwrap_or(Cell::Missing)).collect()
            }
        }};
    }
    let unsigned = matches!(
        column.converted_type(),
        ConvertedType::UINT_8 | ConvertedType::UINT_16 | ConvertedType::UINT_32 | ConvertedType::UINT_64
    );
    let scale = scale(column).map(|scale| usize::try_from(scale).unwrap_or(0));
    let ticks = ticks_of_day(column);
    let signed = |value: i64| ticks.map_or(Cell::Whole(value), |of_day| Cell::Time(value, of_day));
    Ok(match reader {
        ColumnReader::BoolColumnReader(reader) => rows!(reader, |value: bool| Cell::Whole(value.into())),
        ColumnReader::Int32ColumnReader(reader) => rows!(reader, |value: i32| match scale {
            Some(scale) => Cell::of_decimal(value.into(), scale),
            None if unsigned => Cell::Unsigned(value.cast_unsigned().into()),
            None => signed(value.into()),
        }),
        ColumnReader::Int64ColumnReader(reader) => rows!(reader, |value: i64| match scale {
            Some(scale) => Cell::of_decimal(value.into(), scale),
            None if unsigned => Cell::Unsigned(value.cast_unsigned()),
            None => signed(value),
        }),
        ColumnReader::FloatColumnReader(reader) => rows!(reader, |value: f32| Cell::Number(value.into())),
        ColumnReader::DoubleColumnReader(reader) => rows!(reader, Cell::Number),
        ColumnReader::ByteArrayColumnReader(reader) => rows!(reader, |value: ByteArray| match scale {
            Some(scale) => Cell::of_decimal(whole(value.data()), scale),
            None => Cell::Text(value),
        }),
        ColumnReader::FixedLenByteArrayColumnReader(reader) => rows!(reader, |value: FixedLenByteArray| {
            Cell::of_decimal(whole(value.data()), scale.unwrap_or(0))
        }),
        // Microseconds hold every day that has a number there; nanoseconds would not.
        ColumnReader::Int96ColumnReader(reader) => {
            rows!(reader, |value: Int96| Cell::Time(value.to_micros(), DAY * 1_000_000))
        }
    })
}
