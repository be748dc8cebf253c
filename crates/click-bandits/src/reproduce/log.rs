//! Reads `[log]`: how the log of an experiment is read.

use super::Arguments;
use crate::embedded::Place;
use crate::fit::{self, queries_of_log};
use anyhow::{Context as _, bail};
use click_logs::formats;
use documents::without_byte_order_mark;
use experiment::Queries;
use experiment::schema::{choice as choice_of, described, integer, object_of};
use experiment::toml_reader::{Error, Field, Source, Table, choice};
use report::page::FITTED;
use report::report_dir::{self, Owner};
use serde_json::json;
use std::fs::{self, File};
use std::io::Read as _;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

const POSITIONS: RangeInclusive<u64> = 1..=64;
const SIZES: RangeInclusive<u64> = 1..=u32::MAX as u64;

/// How to read the log of an experiment; `None` if the experiment has no log.
pub(super) fn how_to_read(experiment: &Place, allowed: &[PathBuf]) -> Result<Option<fit::Arguments>, Error> {
    of_source(&experiment.source("experiment.toml", allowed)?)
}

fn of_source(source: &Source) -> Result<Option<fit::Arguments>, Error> {
    let document = source.parse()?;
    document.root().optional::<Table<'_>>("log")?.map(|table| read(&table)).transpose()
}

fn read(table: &Table<'_>) -> Result<fit::Arguments, Error> {
    // Only formats that need no names of columns.
    let formats = formats::rows().iter().filter(|row| !row.names_columns()).map(|row| (row.name, row));
    let format = choice(&table.required("format")?, &formats.collect::<Vec<_>>(), "format")?;
    let size = |key: &str, range: RangeInclusive<u64>| -> Result<Option<u64>, Error> {
        table.field(key).map(|field: Field<'_>| field.integer_in(&range)).transpose()
    };
    let small = |size: u64| u32::try_from(size).unwrap_or(u32::MAX);
    let positions = table.required::<Field<'_>>("positions")?.integer_in(&POSITIONS)?;
    let how = fit::Arguments {
        format: Some(format),
        min_impressions: size("min-impressions", 0..=u64::MAX)?.unwrap_or(0),
        min_items: size("min-items", SIZES)?.map_or(1, small),
        top_queries: size("top-queries", SIZES)?.map(small),
        positions: Some(u8::try_from(positions).unwrap_or(u8::MAX)),
        prior: read_prior(table)?,
        ..fit::Arguments::of_experiment()
    };
    table.finish()?;
    Ok(how)
}

pub(crate) fn schema() -> serde_json::Value {
    let formats = formats::rows().iter().filter(|row| !row.names_columns());
    let formats = choice_of(&formats.map(|row| (row.name, row.holds)).collect::<Vec<_>>());
    let prior = json!({ "type": "number", "minimum": 0, "maximum": 1e9 });
    let keys = [
        ("format", formats, "The format of the log."),
        ("positions", integer(&POSITIONS), "The number of positions, from the top."),
        (
            "min-impressions",
            integer(&(0..=u64::MAX)),
            "Of an item, at each of these positions; 0 by default.",
        ),
        ("min-items", integer(&SIZES), "Of a query; 1 by default."),
        ("top-queries", integer(&SIZES), "Only the queries with the most impressions."),
        ("prior", prior, "The pseudo-impressions of every item's prior; by default the log decides."),
    ];
    let keys = keys.map(|(key, schema, words)| (key, described(&schema, words)));
    described(&object_of(keys, &["format", "positions"]), "How the log is read that `--data` gives.")
}

fn read_prior(table: &Table<'_>) -> Result<Option<f64>, Error> {
    let Some(field) = table.field("prior") else { return Ok(None) };
    let prior: f64 = field.get()?;
    if (0.0..=1e9).contains(&prior) {
        return Ok(Some(prior));
    }
    Err(field
        .error(format!("{} is not a strength: expected pseudo-impressions, from 0 to 1e9", field.describe())))
}

/// The queries that are fitted to a log, which is read as the experiment specifies.
pub(super) fn fitted_queries(
    arguments: &Arguments,
    file: &Path,
    how: Option<fit::Arguments>,
) -> anyhow::Result<Queries> {
    let Some(how) = how else {
        bail!(
            "--data: {}: {} does not specify how its log is read (`[log]`): expected measured queries, in a file that ends in .json",
            file.display(),
            arguments.experiment.display()
        );
    };
    if begins_like_json(file) {
        bail!(
            "--data: {}: begins like JSON: measured queries are in a file that ends in .json",
            file.display()
        );
    }
    // Errors that do not depend on the data are found before a long log is read.
    let without_queries = super::read(arguments, Some(&Queries::default()), None)?;
    let may_write = |data: String| {
        let owner = Owner { data: Some(data), ..super::owner(&without_queries, arguments) };
        report_dir::check(&arguments.out, &owner, &without_queries.figures_of_variants())
    };
    may_write(report_dir::data_of(&arguments.out).unwrap_or_default())?;
    let how = fit::Arguments {
        logs: vec![file.to_owned()],
        out: arguments.out.join(FITTED),
        threads: arguments.threads,
        quiet: arguments.quiet,
        ..how
    };
    // The fitted models are written only if the report in the directory belongs to them.
    queries_of_log(&how, |data| Ok(may_write(data.to_owned())?)).context("--data")
}

/// Whether a file begins like JSON, which no log does. An unreadable file is left to its reader.
fn begins_like_json(file: &Path) -> bool {
    let mut beginning = [0; 64];
    let is_file = fs::metadata(file).is_ok_and(|metadata| metadata.is_file());
    let read = || File::open(file)?.read(&mut beginning);
    let Some(n) = is_file.then(read).and_then(Result::ok) else { return false };
    let text = without_byte_order_mark(&beginning[..n]);
    matches!(text.trim_ascii_start().first(), Some(b'{' | b'['))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(log: &str) -> String {
        let source = Source::from_text("experiment.toml", format!("name = \"x\"\n[log]\n{log}\n")).unwrap();
        of_source(&source).unwrap_err().to_string()
    }

    #[test]
    fn errors_name_their_place() {
        // (`[log]`, beginning of the message after the file)
        for (log, expected) in [
            (
                "format = \"parquet\"\npositions = 3",
                "3:10: log.format: unknown format \"parquet\": known: kdd2012, yandex,",
            ),
            ("format = \"obd\"", "2:1: log.positions: missing key"),
            ("format = \"obd\"\npositions = 65", "4:13: log.positions: 65 is too large"),
            ("format = \"obd\"\npositions = 3\nmin-items = 0", "5:13: log.min-items: 0 is too small"),
            (
                "format = \"obd\"\npositions = 3\nprior = -1",
                "5:9: log.prior: -1 is not a strength: expected pseudo-impressions",
            ),
            (
                "format = \"obd\"\npositions = 3\npiror = 0",
                "5:1: log.piror: unknown key: did you mean `prior`?",
            ),
        ] {
            let found = message(log);
            assert!(found.starts_with(&format!("experiment.toml:{expected}")), "{found}");
        }
    }
}
