//! The SQL statement of `docs/at-scale.md` counts the same as this crate, cell by cell, on other
//! engines.
//!
//! Needs `python3` with `duckdb` or `pyspark` (and Java for the latter). Without them the tests
//! print what they skip; if the variable `ENGINES` is `required`, they fail.

use crate::log_generator::{Traffic, kdd2012};
use click_models::PositionBased;
use log_reader::{Counts, Format, Reader};
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

const LINES: u64 = 200_000;

#[test]
fn duckdb_counts_the_same() {
    counts_the_same("duckdb", "import duckdb");
}

#[test]
fn spark_counts_the_same() {
    counts_the_same("spark", "import pyspark, shutil; assert shutil.which('java')");
}

fn counts_the_same(engine: &str, is_there: &str) {
    let has_engine =
        Command::new("python3").args(["-c", is_there]).output().is_ok_and(|run| run.status.success());
    if !has_engine {
        assert!(std::env::var("ENGINES").as_deref() != Ok("required"), "{engine} is not there");
        println!("skipped: {engine} is not there (pip install duckdb pyspark; Java 17)");
        return;
    }
    let dir = tempfile::tempdir().expect("a temporary directory");
    let (log, statement) = (dir.path().join("training.txt"), dir.path().join("counts.sql"));
    write_log(&log);
    fs::write(&statement, documented_statement()).expect("a temporary file");
    let run = Command::new("python3")
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/engines/count.py"))
        .arg(engine)
        .args([&statement, &log, dir.path()])
        .output()
        .expect("python3 starts");
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));

    let counted = counts(&Reader::new(Format::Kdd2012), &[log]);
    let columns = "query=query,item=item,position=position,click=clicks,impressions=impressions";
    let format = Format::parquet(columns).expect("columns");
    let theirs = counts(&Reader::new(format), &parquet_files(dir.path()));
    assert!(counted.n_cells() > 1_000 && counted.clicks() > 10_000);
    assert!(theirs == counted, "{engine} counts otherwise");

    // The comparison detects a single click.
    let mut csv = Vec::new();
    theirs.write_csv(&mut csv).expect("memory");
    let csv = String::from_utf8(csv).expect("text");
    let (head, last) = csv.trim_end().rsplit_once('\n').expect("lines");
    let (cell, impressions) = last.rsplit_once(',').expect("columns");
    let one_more: u64 = impressions.parse::<u64>().expect("a number") + 1;
    let other = format!("{head}\n{cell},{one_more}\n");
    let other = Reader::new(Format::counts()).read("other.csv", other.as_bytes()).expect("counts").counts;
    assert!(other != counted);
}

/// The first SQL block of the page.
fn documented_statement() -> &'static str {
    let page = include_str!("../../../docs/at-scale.md");
    let (_, rest) = page.split_once("```sql\n").expect("a statement");
    rest.split_once("```").expect("its end").0
}

/// Forty queries of different sizes.
fn write_log(path: &Path) {
    let traffic: Vec<Traffic<PositionBased>> = (1..=40_u64)
        .map(|query| {
            let n_items = 5 + query;
            let attraction: Vec<f64> = (0..n_items).map(|item| 0.9 / (1.0 + item as f64)).collect();
            Traffic {
                query: query * 1_000_003,
                items: (0..n_items).map(|item| query + 7 * item).collect(),
                weight: 1.0 / query as f64,
                users: PositionBased::from_values(&attraction, &[1.0, 0.6, 0.3]).expect("valid"),
            }
        })
        .collect();
    let mut out = BufWriter::new(File::create(path).expect("a temporary file"));
    kdd2012(&traffic, LINES, 12, &mut out).expect("room for the log");
    out.flush().expect("room for the log");
}

fn counts(reader: &Reader, files: &[PathBuf]) -> Counts {
    reader.read_files(files).expect("a log").counts
}

/// All Parquet files in a directory and in those in it.
fn parquet_files(dir: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(dir).expect("a directory") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files.extend(parquet_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "parquet") {
            files.push(path);
        }
    }
    files
}
