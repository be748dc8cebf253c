//! Reads `[log]`: how the log of an experiment is read.

#[cfg(test)]
mod tests;

use super::{Arguments, Changes};
use crate::embedded::Place;
use crate::fit::{self, queries_of_log};
use anyhow::{Context as _, bail};
use click_logs::settings::FitSettings;
use documents::toml_reader::{self, Error, Source, Table, collect};
use documents::without_byte_order_mark;
use log_reader::{ReadSettings, Ubi, formats};
use report::page::FITTED;
use report::report_dir::{self, Owner};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Deserialize;
use spec::Queries;
use spec::schema::{choice, described};
use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// The table `[log]`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct LogKeys {
    /// The format of the log.
    #[schemars(schema_with = "format_names", example = &"ubi")]
    format: String,
    /// The number of positions, from the top.
    #[schemars(range(min = 1, max = 64), example = 10)]
    positions: u8,
    /// The fewest impressions of an item at each of these positions; 0 by default.
    #[serde(default)]
    #[schemars(example = 10)]
    min_impressions: u64,
    /// The fewest items of a query; 1 by default.
    #[schemars(range(min = 1), example = 10)]
    min_items: Option<u32>,
    /// Only the queries with the most impressions.
    #[schemars(range(min = 1), example = 10)]
    top_queries: Option<u32>,
    /// The pseudo-impressions of every item's prior; by default the log decides.
    #[schemars(range(min = 0, max = 1e9), example = 2)]
    prior: Option<f64>,
    /// The application of a log in the format ubi; all by default.
    #[schemars(length(min = 1), example = &"shop")]
    application: Option<String>,
    /// The action of the format ubi that shows an item.
    #[schemars(length(min = 1), example = &"view")]
    impression: Option<String>,
    /// The action of the format ubi that is a click.
    #[schemars(length(min = 1), example = &"item_click")]
    click: Option<String>,
    /// The ordinal of the first position of the format ubi, where lists have no hit ids.
    #[schemars(range(max = 1), example = 0)]
    position_base: Option<u8>,
    /// Whether the format ubi keeps the words of queries as they are; false by default.
    #[serde(default)]
    #[schemars(example = true)]
    exact_queries: bool,
}

fn format_names(_: &mut SchemaGenerator) -> Schema {
    choice(&formats().map(|row| (row.name, row.holds)).collect::<Vec<_>>()).try_into().unwrap_or_default()
}

/// The formats that need no names of columns.
fn formats() -> impl Iterator<Item = &'static formats::FormatRow> {
    formats::rows().iter().filter(|row| !row.names_columns())
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
    let keys: LogKeys = table.build()?;
    let LogKeys { positions, min_impressions, top_queries, prior, .. } = keys;
    let LogKeys { application, impression, click, position_base, exact_queries, .. } = keys;
    let ubi = Ubi { application, impression, click, position_base, exact_queries };
    if keys.format != "ubi" {
        let only = |key: &String| {
            let field = table.field(&key.replace('_', "-"))?;
            Some(Err::<(), _>(field.error(format!("only for format \"ubi\", this is {:?}", keys.format))))
        };
        let of_ubi = toml_reader::schema::<Ubi>();
        collect::<_, ()>(
            of_ubi["properties"].as_object().into_iter().flatten().filter_map(|(key, _)| only(key)),
        )?;
    }
    let usual = FitSettings::default();
    Ok(fit::Arguments {
        format: formats().find(|row| row.name == keys.format),
        settings: FitSettings {
            min_impressions,
            min_items: keys.min_items.unwrap_or(usual.min_items),
            top_queries,
            positions: Some(positions),
            prior,
            ..usual
        },
        ubi,
        ..fit::Arguments::of_experiment()
    })
}

pub(crate) fn schema() -> serde_json::Value {
    described(&toml_reader::schema::<LogKeys>(), "How the log is read that `--data` gives.")
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
        let owner = Owner { data: Some(data), ..Changes::default().owner(&without_queries, arguments) };
        report_dir::check(&arguments.out, &owner, &without_queries.figures_of_variants())
    };
    may_write(report_dir::data_of(&arguments.out).unwrap_or_default())?;
    let how = fit::Arguments {
        logs: vec![file.to_owned()],
        out: arguments.out.join(FITTED),
        reading: ReadSettings { threads: arguments.threads, ..how.reading },
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
