//! `click-bandits preferences`: reports the properties of a preference matrix.
//!
//! The matrix may be estimated from a LETOR collection, whose features are rankers that are
//! compared by interleaving. The report then has the sampling error, and names a winner only if the
//! comparisons suffice. [`estimate`] lists the files.

mod estimate;
mod page;
mod sampling;

use estimate::{EstimateArguments, estimate};

use crate::output::Output;
use crate::terminal::{json as as_json, say};
use crate::usage::{bail_usage, threads};
use anyhow::Result;
use experiment::manifest::Moment;
use page::MatrixReport;
use serde_json::json;
use spec::models::MatrixFile;
use std::path::{Path, PathBuf};

#[derive(Debug, Clone, clap::Args)]
#[command(group(clap::ArgGroup::new("source").required(true).args(["matrix", "letor", "synthetic"])))]
pub(crate) struct Arguments {
    /// Report this preference matrix: text, one line for each row, separated by commas or white
    /// space
    #[arg(long, value_name = "FILE")]
    matrix: Option<PathBuf>,
    /// Estimate a matrix from documents with labels and features in LETOR format, plain or gzip;
    /// each feature is a ranker
    #[arg(long, value_name = "FILE")]
    letor: Option<PathBuf>,
    /// Estimate a matrix from a synthetic collection: 64 features, 100 queries, seed 1
    #[arg(long)]
    synthetic: bool,
    #[command(flatten)]
    estimate: EstimateArguments,
    /// Directory for the report and the estimated matrix; needed for an estimate
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Number of threads [default: one per core]
    #[arg(long, value_name = "N", value_parser = threads)]
    threads: Option<u16>,
    /// Print no progress and no report
    #[arg(long)]
    quiet: bool,
}

/// Reports a matrix, or estimates one and reports it.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let report = match (&arguments.matrix, &arguments.out) {
        (Some(_), _) if arguments.estimate != EstimateArguments::default() => {
            bail_usage!("--matrix gives the matrix: leave out the options for estimating one")
        }
        (Some(file), out) => of_matrix(&MatrixFile::read(file)?, out.as_deref(), arguments.quiet)?,
        (None, Some(out)) => estimate(arguments, out)?,
        (None, None) => bail_usage!("--out DIR is needed to estimate a matrix"),
    };
    if arguments.quiet {
        return Ok(());
    }
    let where_to = |out: &PathBuf| format!("\nReport and all numbers: {}\n", out.display());
    say(&format!("{report}{}", arguments.out.as_ref().map_or_else(String::new, where_to)))
}

const REPORT: &str = "report.json";
const PAGE: &str = "index.html";

/// The report of a given matrix. It is written if there is a directory for it.
fn of_matrix(file: &MatrixFile, out: Option<&Path>, quiet: bool) -> Result<MatrixReport> {
    let started = Moment::now();
    let canonical = json!({ "name": format!("preferences in {}", file.name()), "matrix": file.sha256 });
    let output = out.map(|out| Output::claim(out, &canonical, started, &[REPORT, PAGE], &[])).transpose()?;
    let report = MatrixReport::of(file, None, quiet)?;
    if let Some(output) = output {
        write(&output, 1, &report, &[])?;
    }
    Ok(report)
}

fn write(output: &Output, threads: usize, report: &MatrixReport, more: &[(&str, &[u8])]) -> Result<()> {
    let (json, page) = (as_json(report)?, report.to_html());
    output.write(threads, &[more, &[(REPORT, json.as_bytes()), (PAGE, page.as_bytes())]].concat())
}
