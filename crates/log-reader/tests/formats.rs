//! The table of formats: properties of every row.

use log_reader::formats::{FormatRow, find, rows, table};
use log_reader::{Error, ErrorKind, Format, Log, Reader};
use std::num::NonZeroUsize;

/// Columns with the names of their keys, as in the examples.
const COLUMNS: &str = "query=query,item=item,position=position,click=click";

fn format(row: &FormatRow) -> Format {
    row.format(row.names_columns().then_some(COLUMNS)).unwrap()
}

fn read(reader: &Reader, log: &str) -> Result<Log, Error> {
    reader.clone().keep_sessions().read(log, log.as_bytes())
}

#[test]
fn names_find_their_formats() {
    for row in rows() {
        assert_eq!(find(row.name).map(|found| found.name), Some(row.name), "two rows of one name");
        assert_eq!((format(row).name(), format(row).row().name), (row.name, row.name));
    }
    assert!(find("parchment").is_none());
}

#[test]
fn columns_are_named_where_the_format_has_none() {
    for row in rows() {
        let wrong = row.format((!row.names_columns()).then_some(COLUMNS)).unwrap_err();
        assert_eq!(*wrong.kind(), ErrorKind::Settings);
        assert!(wrong.to_string().starts_with(&format!("columns: format `{}` ", row.name)), "{wrong}");
    }
}

#[test]
fn examples_are_read() {
    for (row, example) in rows().iter().filter_map(|row| Some((row, row.example?))) {
        let reader = Reader::new(format(row));
        let log = read(&reader, example).unwrap_or_else(|error| panic!("{error}"));
        assert!(log.counts.impressions() > 0, "{}", row.name);
        assert_eq!(log.sessions.is_empty(), !format(row).has_sessions(), "{}", row.name);
        let small = reader.clone().block_bytes(NonZeroUsize::MIN);
        let parts = read(&small, example).unwrap();
        assert!(parts.counts == log.counts && parts.sessions == log.sessions, "{}", row.name);
        assert_eq!(parts.report, log.report);

        // An additional faulty line is refused with its place, and can be skipped.
        let more = format!("{example}?\n");
        let error = read(&reader, &more).unwrap_err();
        let place = (*error.kind() != ErrorKind::Header).then(|| error.place().line);
        assert_eq!(place, Some(1 + example.lines().count() as u64), "{error}");
        let lenient = read(&reader.lenient(0.9).unwrap(), &more).unwrap();
        assert!(lenient.counts == log.counts && lenient.report.n_skipped() == 1, "{}", row.name);
    }
}

#[test]
fn the_readmes_table_is_that_of_the_rows() {
    let begin = "<!-- table: formats -->\n";
    let (_, rest) = include_str!("../README.md").split_once(begin).unwrap();
    let written = rest.split_once("<!-- end: formats -->").unwrap().0;
    assert_eq!(written, table(), "write the table anew: cargo xtask tables");
}
