//! `parameters.parquet`: its rows are the parameters, and its errors are those of the output.

use click_logs::fit::{Estimate, Fit, Model, Options, fit};
use click_logs::parameters::{for_each_parameter, write_table};
use log_reader::{Format, Id, Log, Reader};
use parquet::basic::{Compression, Encoding};
use parquet::errors::ParquetError;
use parquet::file::metadata::RowGroupMetaData;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::{Field, Row};
use std::fmt::Write as _;
use std::io::{self, Write};

/// Names that a spreadsheet, a CSV reader or a terminal would misread.
const ITEMS: [&str; 4] = ["=1+1", "\"shoes\", red", "a\u{1b}[2J 日本", "-7"];
const QUERIES: [&str; 2] = ["@SUM(A1)", "q,1"];

/// Every model of two queries. One estimate is unknown, and one interval unbounded.
fn fitted() -> (Log, Vec<Fit>) {
    let quoted = |name: &str| format!("\"{}\"", name.replace('"', "\"\""));
    let mut lines = "session,query,item,position,click\n".to_owned();
    for session in 0..60 {
        for position in 1..=3 {
            let item = quoted(ITEMS[(session + position) % ITEMS.len()]);
            let click = u8::from((session * 7 + position) % 5 < 2);
            let query = quoted(QUERIES[session % 2]);
            writeln!(lines, "{session},{query},{item},{position},{click}").unwrap();
        }
    }
    let columns = "session=session,query=query,item=item,position=position,click=click";
    let reader = Reader::new(Format::delimited(columns).unwrap()).keep_sessions();
    let log = reader.read("log.csv", lines.as_bytes()).unwrap();
    let options = Options { prior_strength: Some(5.0), ..Options::default() };
    let of = |&model: &Model| fit(model, &log.counts, &log.sessions, &options).unwrap();
    let mut fits: Vec<Fit> = Model::ALL.iter().map(of).collect();
    let items = &mut fits[0].attractions.queries[1].items;
    items[0].attraction = Estimate { value: f64::NAN, standard_error: None, interval: None };
    items[1].attraction.interval = Some((0.25, f64::INFINITY));
    (log, fits)
}

/// The rows as they are handed to a reader, from the definition of the columns.
fn expected(log: &Log, fits: &[Fit]) -> Vec<Vec<Field>> {
    let names = log.counts.names();
    let name = |id: Option<Id>| id.map_or(Field::Null, |id| Field::Str(names.name(id).into_owned()));
    let count =
        |count: Option<u64>| count.map_or(Field::Null, |count| Field::Long(i64::try_from(count).unwrap()));
    let place = |place: Option<usize>| count(place.map(|place| place as u64));
    let number = |number: Option<f64>| number.map_or(Field::Null, Field::Double);
    let mut rows = Vec::new();
    for_each_parameter(&log.counts, fits, |row| {
        let Estimate { value, standard_error, interval } = row.estimate;
        rows.push(vec![
            Field::Str(row.model.name().to_owned()),
            name(row.query),
            Field::Str(row.kind.to_owned()),
            name(row.item),
            place(row.position),
            place(row.last_click),
            if value.is_nan() { Field::Null } else { Field::Double(value) },
            number(standard_error),
            number(interval.map(|ends| ends.0)),
            number(interval.map(|ends| ends.1)),
            count(row.counts.map(|counts| counts.0)),
            count(row.counts.map(|counts| counts.1)),
        ]);
        Ok::<(), ()>(())
    })
    .unwrap();
    rows
}

fn opened(table: &[u8]) -> SerializedFileReader<bytes::Bytes> {
    SerializedFileReader::new(bytes::Bytes::copy_from_slice(table)).unwrap()
}

fn fields(row: Result<Row, ParquetError>) -> Vec<Field> {
    row.unwrap().get_column_iter().map(|(_, field)| field.clone()).collect()
}

fn rows(table: &[u8]) -> Vec<Vec<Field>> {
    opened(table).get_row_iter(None).unwrap().map(fields).collect()
}

#[test]
fn the_table_has_every_parameter_with_its_name_unchanged() {
    let (log, fits) = fitted();
    let expected = expected(&log, &fits);
    let has = |column: usize, field: &Field| expected.iter().any(|row| row[column] == *field);
    for item in ITEMS {
        assert!(has(3, &Field::Str(item.to_owned())), "{item}");
    }
    assert!(QUERIES.iter().all(|query| has(1, &Field::Str((*query).to_owned()))) && has(1, &Field::Null));
    assert!(has(5, &Field::Long(0)) && has(6, &Field::Null) && has(9, &Field::Double(f64::INFINITY)));
    let mut table = Vec::new();
    assert_eq!(write_table(&log.counts, &fits, &mut table).unwrap(), expected.len() as u64);
    assert_eq!(rows(&table), expected);
}

/// A group has at most 131,072 rows, and none is empty. It may end within a fit; the next group
/// continues there.
#[test]
fn rows_are_in_groups() {
    const ROWS: usize = 131_072;
    let (log, fits) = fitted();
    let of_cascade = expected(&log, &fits[1..2]).len();
    assert!(fits[1].model() == Model::Cascade && ROWS.is_multiple_of(of_cascade));
    // Rows that fill a group exactly, one fit more, and fits of all models, of which the group's
    // end cuts one.
    let of_all = ROWS / expected(&log, &fits).len() + 100;
    for (repeated, times) in
        [(&fits[1..2], ROWS / of_cascade), (&fits[1..2], ROWS / of_cascade + 1), (&fits[..], of_all)]
    {
        let of_one = expected(&log, repeated);
        let n_rows = of_one.len() * times;
        let fits: Vec<Fit> = std::iter::repeat_n(repeated, times).flatten().cloned().collect();
        let mut table = Vec::new();
        let written = write_table(&log.counts, &fits, &mut table).unwrap();
        assert_eq!(written, n_rows as u64);
        let reader = opened(&table);
        let sizes = reader.metadata().row_groups().iter().map(RowGroupMetaData::num_rows);
        let sizes: Vec<usize> = sizes.map(|rows| rows.try_into().unwrap()).collect();
        let groups = [ROWS, n_rows - ROWS];
        assert_eq!(sizes, groups[..n_rows.div_ceil(ROWS)]);
        // Reading takes longer than writing, so only the table of all models is read.
        if repeated.len() > 1 {
            assert!(!ROWS.is_multiple_of(of_one.len()));
            let rows = reader.get_row_iter(None).unwrap().map(fields);
            assert!(rows.eq(of_one.iter().cycle().take(n_rows).cloned()));
        }
    }
}

#[test]
fn the_file_says_what_it_is_and_nothing_that_changes() {
    let (log, fits) = fitted();
    let mut table = Vec::new();
    write_table(&log.counts, &fits, &mut table).unwrap();
    let reader = opened(&table);
    let file = reader.metadata().file_metadata();
    assert_eq!(file.created_by(), Some(concat!("click-logs version ", env!("CARGO_PKG_VERSION"))));
    assert!(file.key_value_metadata().is_none());
    let columns: Vec<&str> = file.schema_descr().columns().iter().map(|column| column.name()).collect();
    let expected = "model query kind item position last_click estimate se lower upper clicks impressions";
    assert_eq!(columns.join(" "), expected);
    for column in reader.metadata().row_group(0).columns() {
        assert_eq!(column.compression(), Compression::SNAPPY, "{column:?}");
        assert!(column.encodings().any(|encoding| encoding == Encoding::RLE_DICTIONARY), "{column:?}");
    }
    let mut again = Vec::new();
    write_table(&log.counts, &fits, &mut again).unwrap();
    assert!(again == table);
}

/// Takes `left` bytes; then the disk is full.
struct Disk {
    left: usize,
}

impl Write for Disk {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.len() > self.left {
            return Err(io::Error::new(io::ErrorKind::StorageFull, "full"));
        }
        self.left -= bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn errors_are_those_of_the_output_and_of_counts_that_are_too_large() {
    let (log, mut fits) = fitted();
    for left in [0, 100, 3000] {
        let error = write_table(&log.counts, &fits, Disk { left }).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::StorageFull, "{left}: {error}");
    }
    fits[0].attractions.queries[0].items[0].impressions = 1 << 63;
    let error = write_table(&log.counts, &fits, Vec::new()).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::InvalidData);
}
