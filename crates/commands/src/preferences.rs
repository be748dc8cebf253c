//! `click-bandits preferences`: what a preference matrix is like, and how it is estimated from interleaved rankers.
//!
//! ```text
//! click-bandits preferences --matrix x.csv [--out DIR]
//! click-bandits preferences --letor collection.txt.gz --out DIR
//! ```
//!
//! Of a matrix: its winners, its cycles, how transitive it is, and how often a subset of the items has a winner. The same is printed, and in
//! DIR as `report.json` and `index.html`. Of an estimate also how sure that is: a winner is named if the comparisons tell. Of a LETOR collection: every feature ranks the documents of every query, every pair of
//! features is compared by interleaving, and the estimated matrix is reported; [`estimate`] says what else is written.

mod estimate;
mod page;
mod sampling;

pub(crate) use estimate::{Estimate, EstimateArguments};

use crate::program::program;
use crate::terminal::say;
use anyhow::{Context as _, Result, bail};
use experiment::Canonical;
use experiment::manifest::{Manifest, Moment};
use experiment::models::MatrixFile;
use experiment::output::OutputDir;
use page::MatrixReport;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// What `preferences` is asked for.
#[derive(Debug, Clone, clap::Args)]
#[command(group(clap::ArgGroup::new("source").required(true).args(["matrix", "letor", "synthetic"])))]
pub(crate) struct Arguments {
    /// A preference matrix as text: a line a row, separated by commas or white space
    #[arg(long, value_name = "FILE")]
    matrix: Option<PathBuf>,
    /// Documents with labels and features in LETOR format, plain or gzip: each feature is a ranker
    #[arg(long, value_name = "FILE")]
    letor: Option<PathBuf>,
    /// The synthetic collection in the place of a file: 64 features, 100 queries, seed 1
    #[arg(long)]
    synthetic: bool,
    #[command(flatten)]
    estimate: EstimateArguments,
    /// Where the report goes, and what is estimated
    #[arg(long, value_name = "DIR", required_unless_present = "matrix")]
    out: Option<PathBuf>,
    /// Threads to run on [default: one a core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// Show no progress, and no report at the end
    #[arg(long)]
    quiet: bool,
}

/// Reports a matrix, or estimates one and reports it.
///
/// # Errors
///
/// A file that cannot be read or is not what it should be, a directory of something else or that cannot be written, a standard output that
/// cannot either.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let report = match (&arguments.matrix, &arguments.out) {
        (Some(_), _) if arguments.estimate != EstimateArguments::default() => {
            bail!("--matrix is not estimated: leave out the options of an estimation")
        }
        (Some(file), out) => of_matrix(&MatrixFile::read(file)?, out.as_deref(), arguments.quiet)?,
        (None, Some(out)) => of_estimate(arguments, out)?,
        (None, None) => bail!("--out DIR is needed to estimate a matrix"),
    };
    if arguments.quiet {
        return Ok(());
    }
    let where_to = |out: &PathBuf| format!("\nReport and all numbers: {}\n", out.display());
    say(&format!("{report}{}", arguments.out.as_ref().map_or_else(String::new, where_to)))
}

const REPORT: &str = "report.json";
const PAGE: &str = "index.html";

/// The report of a matrix that was given, written if there is a directory for it.
fn of_matrix(file: &MatrixFile, out: Option<&Path>, quiet: bool) -> Result<MatrixReport> {
    let started = Moment::now();
    let canonical = json!({ "name": format!("preferences in {}", file.name()), "matrix": file.sha256() });
    let output = out.map(|out| claimed(out, &canonical, &[])).transpose()?;
    let report = MatrixReport::of(file, None, quiet)?;
    if let Some(output) = output {
        let (json, page) = (report.to_json()?, report.to_html()?);
        write(&output, &canonical, started, 1, &[(REPORT, json.as_bytes()), (PAGE, page.as_bytes())])?;
    }
    Ok(report)
}

/// The report of a matrix that is estimated, and written.
fn of_estimate(arguments: &Arguments, out: &Path) -> Result<MatrixReport> {
    let threads = arguments.threads.map(usize::from);
    let collection = arguments.letor.as_deref();
    let estimate = Estimate::make(collection, &arguments.estimate, out, threads, arguments.quiet)?;
    let report = MatrixReport::of(estimate.file(), Some(estimate.preferences()), arguments.quiet)?;
    let (json, page) = (report.to_json()?, report.to_html()?);
    estimate.write(&[(REPORT, json.as_bytes()), (PAGE, page.as_bytes())])?;
    Ok(report)
}

/// A directory for the report, and for `more` files, of what has this canonical form.
fn claimed(out: &Path, canonical: &Value, more: &[&str]) -> Result<OutputDir> {
    let name = canonical["name"].as_str().unwrap_or_default();
    let form = Canonical::of_json(canonical.to_string());
    Ok(OutputDir::claim(out, form.identity(), name, &[&[REPORT, PAGE], more].concat())?)
}

/// Writes files with their manifest.
fn write(
    output: &OutputDir,
    canonical: &Value,
    started: Moment,
    threads: usize,
    files: &[(&str, &[u8])],
) -> Result<()> {
    let canonical = Canonical::of_json(canonical.to_string());
    let manifest = Manifest::of(&canonical, started, threads, files, program());
    Ok(output.write_all(&manifest.to_json(), files)?)
}

/// The name of a file without its folder.
fn file_name(file: &Path) -> String {
    file.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// A pool of this number of threads, of one a core if absent.
fn pool(threads: Option<usize>) -> Result<rayon::ThreadPool> {
    let builder = rayon::ThreadPoolBuilder::new().num_threads(threads.unwrap_or(0));
    builder.build().context("starting the threads")
}
