//! Reads `[log]`: how the log of an experiment is read.

#[cfg(test)]
mod tests;

use super::Arguments;
use crate::embedded::Place;
use crate::fit::{self, UbiArguments, queries_of_log};
use anyhow::{Context as _, bail};
use click_logs::formats;
use documents::without_byte_order_mark;
use experiment::Queries;
use experiment::key::{Key, KeyKind};
use experiment::schema::{described, table};
use experiment::toml_reader::{Error, Field, Source, Table, choice};
use report::page::FITTED;
use report::report_dir::{self, Owner};
use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};

const POSITIONS: KeyKind = KeyKind::Count { least: 1, most: 64 };
const IMPRESSIONS: KeyKind = KeyKind::Count { least: 0, most: u64::MAX };
const SIZE: KeyKind = KeyKind::Count { least: 1, most: u32::MAX as u64 };

/// The keys of `[log]`.
pub(crate) const KEYS: [Key; 9] = [
    Key::required("format", KeyKind::Named(named), "The format of the log.", "\"yandex\""),
    Key::required("positions", POSITIONS, "The number of positions, from the top.", "10"),
    Key::optional(
        "min-impressions",
        IMPRESSIONS,
        "Of an item, at each of these positions; 0 by default.",
        "10",
    ),
    Key::optional("min-items", SIZE, "Of a query; 1 by default.", "10"),
    Key::optional("top-queries", SIZE, "Only the queries with the most impressions.", "10"),
    Key::optional(
        "prior",
        KeyKind::Number { least: 0, most: 1_000_000_000 },
        "The pseudo-impressions of every item's prior; by default the log decides.",
        "2",
    ),
    Key::optional("application", KeyKind::Text, "Format ubi: only what it logged.", "\"shop\""),
    Key::optional("impression", KeyKind::Text, "Format ubi: the action that shows an item.", "\"view\""),
    Key::optional("click", KeyKind::Text, "Format ubi: the action that is a click.", "\"item_click\""),
];

/// The formats that need no names of columns.
fn formats() -> impl Iterator<Item = &'static formats::FormatRow> {
    formats::rows().iter().filter(|row| !row.names_columns())
}

fn named() -> Vec<(&'static str, &'static str)> {
    formats().map(|row| (row.name, row.holds)).collect()
}

/// How to read the log of an experiment; `None` if the experiment has no log.
pub(super) fn how_to_read(experiment: &Place, allowed: &[PathBuf]) -> Result<Option<fit::Arguments>, Error> {
    of_source(&experiment.source("experiment.toml", allowed)?)
}

fn of_source(source: &Source) -> Result<Option<fit::Arguments>, Error> {
    let document = source.parse()?;
    document.root().optional::<Table<'_>>("log")?.map(|table| read(&table)).transpose()
}

fn read(table: &Table<'_>) -> Result<fit::Arguments, Error> {
    let formats: Vec<_> = formats().map(|row| (row.name, row)).collect();
    let format = choice(&table.required("format")?, &formats, "format")?;
    let size = |key: Key| -> Result<Option<u64>, Error> {
        table.field(key.name).map(|field| field.integer_in(&key.range())).transpose()
    };
    let small = |size: u64| u32::try_from(size).unwrap_or(u32::MAX);
    let [_, positions, min_impressions, min_items, top_queries, _, application, impression, click] = KEYS;
    let text = |key: Key| table.optional::<String>(key.name);
    let positions = table.required::<Field<'_>>(positions.name)?.integer_in(&positions.range())?;
    let how = fit::Arguments {
        format: Some(format),
        min_impressions: size(min_impressions)?.unwrap_or(0),
        min_items: size(min_items)?.map_or(1, small),
        top_queries: size(top_queries)?.map(small),
        positions: Some(u8::try_from(positions).unwrap_or(u8::MAX)),
        prior: read_prior(table)?,
        ubi: UbiArguments {
            application: text(application)?,
            impression: text(impression)?,
            click: text(click)?,
            ..UbiArguments::default()
        },
        ..fit::Arguments::of_experiment()
    };
    table.finish()?;
    Ok(how)
}

pub(crate) fn schema() -> serde_json::Value {
    described(&table(&KEYS), "How the log is read that `--data` gives.")
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
    queries_of_log(&how, &|data| Ok(may_write(data.to_owned())?)).context("--data")
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
