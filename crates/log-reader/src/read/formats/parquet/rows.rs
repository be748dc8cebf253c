//! Whole numbers, texts, truth values, times, decimals (as the same text in CSV), and
//! floating-point numbers that are whole; lists where a row is one. Only the named columns are
//! read, a few thousand rows at a time. Compression may be Snappy, gzip, LZ4 or Zstandard. A stream
//! is read completely first, since the description of a file is at its end.
//!
//! Pages with checksums are compared with them. The library that decodes the pages may panic on
//! damaged pages. The panic becomes an error.

use crate::collect::{Batches, Collector};
use crate::columns::{ColumnNames, Places, ROLES, places};
use crate::error::{Error, ErrorKind};
use crate::list_cells::ListCells;
use crate::names::{lock, unlocked};
use crate::read::formats::table_rows::{Rows, TableOfRows, Value};
use crate::read::source::{Input, Watch, stopped};
use crate::read::thread_report::{ThreadReport, on_threads};
use crate::read::{Reader, check_files};
use crate::read_report::ReadReport;
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::reader::Length;
use parquet_columns::{Bytes, Cell, Cells, Table, unsupported};
use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::vec;

const CODECS: &str = "Snappy, gzip, LZ4 or Zstandard";

#[inline]
fn value(cell: &Cell) -> Value<'_> {
    match cell {
        Cell::Missing => Value::Missing,
        Cell::Whole(number) => (*number).into(),
        Cell::Unsigned(number) => Value::Number(*number),
        Cell::Number(number) => (*number).into(),
        Cell::Time(ticks, of_day) => Value::Time(*ticks, *of_day),
        Cell::Text(text) => Value::Text(text.data()),
    }
}

/// Reads all inputs on all cores.
pub(in crate::read) fn read_all(
    columns: &ColumnNames<'_>,
    reader: &Reader,
    inputs: Vec<Input<'_>>,
    collector: &Collector<'_>,
) -> Result<ReadReport, Error> {
    check_files(&inputs)?;
    let table = TableOfRows::new(columns, reader.meaning, reader.max_skipped.is_some(), collector);
    let names: Vec<Arc<str>> = inputs.iter().map(Input::name).collect();
    let untaken = PartQueue { table, inputs: inputs.into_iter(), open: None, totals: ReadReport::default() };
    let untaken = Mutex::new(untaken);
    let report = on_threads(reader, usize::MAX, collector, &|| {
        Box::new(|batches, report| {
            let Some(part) = lock(&untaken).take() else { return false };
            if let Err((row, error)) = part.and_then(|part| part.read(&table, batches, report)) {
                report.fail(row, error);
            }
            true
        })
    });
    reader.finish(report, collector, &names, &unlocked(untaken).totals)
}

/// An error, with its place among those of the log: file and row.
type PlacedError = ((usize, u64), Error);

enum Content {
    /// Opened by every thread, since a thread's place in a file must be its own.
    File,
    Stream(Bytes),
}

/// A file whose description was read.
struct FileOfRows<'a> {
    name: Arc<str>,
    number: usize,
    content: Content,
    places: Places,
    /// The places of the columns beyond roles.
    further: Vec<usize>,
    /// The number of rows before each row group, and of all.
    rows_before: Vec<u64>,
    bytes: u64,
    watch: Option<Watch<'a>>,
    stop: Option<&'a AtomicBool>,
}

/// A row group of a file.
struct Part<'a> {
    file: Arc<FileOfRows<'a>>,
    group: usize,
}

/// The parts that no thread has taken yet.
struct PartQueue<'a> {
    table: TableOfRows<'a>,
    inputs: vec::IntoIter<Input<'a>>,
    /// The file whose parts are taken, and its next group.
    open: Option<(Arc<FileOfRows<'a>>, usize)>,
    totals: ReadReport,
}

impl<'a> PartQueue<'a> {
    /// The next part, in the order of files and groups. `None` after the last one.
    fn take(&mut self) -> Option<Result<Part<'a>, PlacedError>> {
        loop {
            if let Some((file, next)) = &mut self.open {
                let (start, n_groups) = (*next, file.rows_before.len() - 1);
                if start < n_groups {
                    *next += 1;
                    return Some(Ok(Part { file: Arc::clone(file), group: start }));
                }
            }
            let input = self.inputs.next()?;
            let number = self.totals.files;
            self.totals.files += 1;
            match self.open(input, number) {
                Ok(file) => self.open = Some((Arc::new(file), 0)),
                Err(error) => return Some(Err(((number, 0), error))),
            }
        }
    }

    /// Reads the description of a file.
    fn open(&mut self, input: Input<'a>, number: usize) -> Result<FileOfRows<'a>, Error> {
        let Input { name, stream, watch, stop, .. } = input;
        if let Some(error) = stopped(stop, &name) {
            return Err(error);
        }
        let content = match stream {
            None => Content::File,
            Some(mut stream) => {
                let mut bytes = Vec::new();
                stream.read_to_end(&mut bytes).map_err(|error| Error::io(&name, error, false))?;
                Content::Stream(Bytes::from(bytes))
            }
        };
        let (rows_before, places, further) = (Vec::new(), [None; ROLES], Vec::new());
        let mut file =
            FileOfRows { name, number, content, places, further, rows_before, bytes: 0, watch, stop };
        let columns = &self.table.table.columns;
        ((file.places, file.further), file.rows_before, file.bytes) = file.caught(|| {
            let (reader, bytes) = file.opened()?;
            let (places, rows_before) = describe(&reader, &file.name, columns)?;
            Ok((places, rows_before, bytes))
        })?;
        self.totals.bytes += file.bytes;
        if file.n_rows() == 0 {
            self.totals.empty_files += 1;
            if !self.table.lenient {
                return Err(Error::of(ErrorKind::Empty, &file.name, "no row to read"));
            }
        }
        Ok(file)
    }
}

/// The part of the file's description in [`FileOfRows`]: places, and rows before.
type Description = ((Places, Vec<usize>), Vec<u64>);

fn describe(reader: &Table, name: &str, columns: &ColumnNames<'_>) -> Result<Description, Error> {
    let mut rows_before = vec![0];
    let mut sum: u64 = 0;
    for group in reader.metadata().row_groups() {
        sum = sum.saturating_add(u64::try_from(group.num_rows()).unwrap_or(0));
        rows_before.push(sum);
    }
    let declared = reader.metadata().file_metadata().num_rows();
    if u64::try_from(declared) != Ok(sum) {
        let message = format!("{declared} rows by the description of the file, but {sum} in its row groups");
        return Err(Error::of(ErrorKind::Parquet, name, message));
    }
    Ok((columns_of(reader, name, columns)?, rows_before))
}

fn wrong(name: &str, error: &ParquetError) -> Error {
    Error::of(ErrorKind::Parquet, name, error.to_string())
}

/// The column of each role, and those beyond.
fn columns_of(reader: &Table, file: &str, columns: &ColumnNames<'_>) -> Result<(Places, Vec<usize>), Error> {
    let schema = reader.metadata().file_metadata().schema_descr_ptr();
    // A list has two names of the format between its own and those of its elements.
    let names = schema.columns().iter().map(|column| match column.path().parts() {
        parts if column.max_rep_level() == 0 => parts.join("."),
        parts => [&parts[..1], parts.get(3..).unwrap_or_default()].concat().join("."),
    });
    let names: Vec<String> = names.collect();
    let header = |message: String| Error::of(ErrorKind::Header, file, message);
    let (places, further) = places(columns, &names).map_err(|message| {
        let there = names[..names.len().min(20)].join("`, `");
        header(format!("{message}, found `{there}` (columns must not be nested)"))
    })?;
    for (number, place) in places.into_iter().chain(further.iter().copied().map(Some)).enumerate() {
        let (Some(name), Some(place)) = (columns.name(number), place) else { continue };
        let of_column =
            |found: String| Error::of(ErrorKind::Parquet, file, format!("column `{name}` {found}"));
        let is_list = schema.column(place).max_rep_level() > 0;
        let may_be_list = columns.lists.is_some() && ListCells::ROLES.contains(&number);
        let found = (is_list && !may_be_list).then(|| "lists".to_owned());
        if let Some(found) = found.or_else(|| unsupported(&schema.column(place))) {
            return Err(of_column(format!("holds {found}, expected whole numbers or text")));
        }
        for group in reader.metadata().row_groups() {
            let codec = match group.column(place).compression() {
                Compression::BROTLI(_) => "Brotli",
                Compression::LZO => "LZO",
                _ => continue,
            };
            return Err(of_column(format!("is compressed with {codec}, expected {CODECS}")));
        }
    }
    Ok((places, further))
}

impl FileOfRows<'_> {
    fn n_rows(&self) -> u64 {
        self.rows_before.last().copied().unwrap_or(0)
    }

    /// A reader for one thread, and the number of bytes.
    fn opened(&self) -> Result<(Table, u64), Error> {
        let wrong = |error: ParquetError| wrong(&self.name, &error);
        match &self.content {
            Content::File => {
                let file = File::open(self.name.as_ref());
                let file = file.map_err(|error| Error::io(&self.name, error, false))?;
                let bytes = file.len();
                Ok((Table::of_file(file).map_err(wrong)?, bytes))
            }
            Content::Stream(stream) => {
                Ok((Table::of_bytes(stream.clone()).map_err(wrong)?, Length::len(stream)))
            }
        }
    }

    /// Turns a panic of the library into an error.
    fn caught<T>(&self, read: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
        catch_unwind(AssertUnwindSafe(read))
            .unwrap_or_else(|_| Err(Error::of(ErrorKind::Parquet, &self.name, "damaged Parquet")))
    }

    /// The share of its first rows in the file's bytes: the library reads pages by itself.
    fn share(&self, rows: u64) -> u64 {
        let share = u128::from(self.bytes) * u128::from(rows) / u128::from(self.n_rows().max(1));
        u64::try_from(share).unwrap_or(self.bytes).min(self.bytes)
    }
}

impl Part<'_> {
    fn read(
        &self,
        table: &TableOfRows<'_>,
        batches: &mut Batches<'_>,
        report: &mut ThreadReport,
    ) -> Result<(), PlacedError> {
        let file = &*self.file;
        let table = TableOfRows {
            places: file.places,
            further: &file.further,
            name: &file.name,
            number: file.number,
            ..*table
        };
        let mut rows = Rows::new(&table, batches, report);
        // The row at which reading ends, which gives an error its place.
        let mut row = file.rows_before[self.group];
        let result = file.caught(|| {
            let (reader, _) = file.opened()?;
            self.rows(&reader, &table, &mut row, &mut rows)
        });
        rows.close();
        result.map_err(|error| ((file.number, row + 1), error))
    }

    fn rows(
        &self,
        reader: &Table,
        table: &TableOfRows<'_>,
        row: &mut u64,
        rows: &mut Rows<'_, '_>,
    ) -> Result<(), Error> {
        let file = &*self.file;
        let wrong = |error: ParquetError| wrong(&file.name, &error);
        let (before, declared) = (*row, file.rows_before[self.group + 1]);
        let cells = |role| table.place(role).map(|place| reader.cells(self.group, place)).transpose();
        let mut columns: Vec<Option<Cells>> =
            (0..table.n_columns()).map(cells).collect::<Result<_, _>>().map_err(wrong)?;
        loop {
            if let Some(error) = stopped(file.stop, &file.name) {
                return Err(error);
            }
            let next_rows = |column: &mut Option<Cells>| column.as_mut().map(Cells::next_rows).transpose();
            let values: Vec<Option<Vec<Cell>>> =
                columns.iter_mut().map(next_rows).collect::<Result<_, _>>().map_err(wrong)?;
            let n_rows = values.iter().flatten().map(Vec::len).max().unwrap_or(0);
            if n_rows == 0 {
                break;
            }
            if values.iter().flatten().any(|values| values.len() != n_rows) {
                let message = "columns of different lengths";
                return Err(Error::of(ErrorKind::Parquet, &file.name, message));
            }
            for place in 0..n_rows {
                *row += 1;
                if !rows.row(*row, |role| values[role].as_ref().map(|values| value(&values[place]))) {
                    return Ok(());
                }
            }
            rows.forget_texts();
        }
        if *row != declared {
            let (number, found) = (self.group + 1, *row - before);
            let message = format!(
                "row group {number} has {found} rows, but {} by the description of the file",
                declared - before
            );
            return Err(Error::of(ErrorKind::Parquet, &file.name, message));
        }
        if let Some(watch) = file.watch {
            watch(file.share(declared) - file.share(before));
        }
        Ok(())
    }
}
