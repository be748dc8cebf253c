//! `click-bandits export`: writes a table of a finished result, or of all panels of a reproduction.
//! Values are those of `result.json` and the journal, without rounding.

mod tables;

use crate::destination::Destination;
use crate::panels;
use crate::usage::Usage;
use anyhow::{Error, Result, anyhow};
use clap::ValueEnum;
use experiment::tables::{EachRow, Rows, cell, write_csv};
use std::io::Write;
use std::path::PathBuf;

#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Arguments {
    /// Directory of a finished experiment, or of a reproduction: then of all its panels
    dir: PathBuf,
    /// The table to write
    #[arg(long, value_enum, default_value_t = Table::Curves)]
    table: Table,
    /// Format [default: by the end of FILE's name; otherwise csv]
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// File to write [default: standard output]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Replace FILE if it exists
    #[arg(long)]
    force: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Table {
    /// A row for each policy, checkpoint and statistic: mean, standard error, range and deciles
    /// over the runs
    Curves,
    /// A row for each policy and statistic at the end of the runs
    Final,
    /// A row for each run, policy and checkpoint; for each run and policy if runs end with an
    /// answer
    Runs,
    /// A row for every two policies, checkpoint and statistic: the difference run by run
    Paired,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Comma-separated values; a missing value is empty
    Csv,
    /// An array with an object for each row; a missing value is null
    Json,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let destination = Destination::of(arguments.out.as_deref(), arguments.force)?;
    let format = match arguments.format {
        Some(format) => format,
        None => by_name(&destination)?,
    };
    let panels = panels::open(&arguments.dir)?;
    let (table, is_runs) = (arguments.table, arguments.table == Table::Runs);
    let columns = tables::columns(table, &panels)?;
    let runs = panels.iter().filter(|_| is_runs).map(|panel| panel.finished.runs());
    let runs = runs.collect::<Result<Vec<_>, _>>()?;
    let rows = |each: &mut EachRow<'_, Error>| tables::write(table, &panels, &runs, each);
    destination.write(|output| match format {
        Format::Csv => write_csv(&columns, &rows, output),
        Format::Json => write_json(&columns, &rows, output),
    })
}

/// The format by the end of a file's name; csv for a name without one.
fn by_name(destination: &Destination) -> Result<Format> {
    let Destination::File(path) = destination else { return Ok(Format::Csv) };
    let Some(end) = path.extension().map(|end| end.to_string_lossy()) else { return Ok(Format::Csv) };
    Format::from_str(&end, true).map_err(|_| {
        anyhow!(Usage(format!(
            "{}: no format is called {end:?}: expected a name that ends in .csv or .json, or --format",
            path.display()
        )))
    })
}

/// Writes a JSON array with one object a row, one row a line.
fn write_json(columns: &[&str], rows: &Rows<'_, Error>, output: &mut dyn Write) -> Result<()> {
    let mut begins = "[\n{";
    rows(&mut |row| {
        output.write_all(begins.as_bytes())?;
        begins = ",\n{";
        for (index, column) in columns.iter().enumerate() {
            write!(output, "{}\"{column}\":", if index > 0 { "," } else { "" })?;
            serde_json::to_writer(&mut *output, &cell(column, row))?;
        }
        Ok(write!(output, "}}")?)
    })?;
    output.write_all(if begins.starts_with('[') { b"[\n]\n" } else { b"\n]\n" })?;
    Ok(output.flush()?)
}
