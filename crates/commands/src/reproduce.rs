//! `click-bandits reproduce`: the experiment of a paper, from its files to a report with verdicts.
//!
//! Every panel is simulated into a directory of its own, its claims are judged, and the report is written:
//!
//! ```text
//! OUT/index.html                      the report
//! OUT/claims.json                     every claim with what was found, for programs
//! OUT/PANEL/result.json ...           what `simulate` writes of the panel, its figures among it
//! ```
//!
//! Of a panel with variants:
//!
//! ```text
//! OUT/PANEL/regret.svg ...            its figures
//! OUT/PANEL/VARIANT/result.json ...   what `simulate` writes of the variant
//! ```
//!
//! From a log:
//!
//! ```text
//! OUT/fitted/parameters.json ...      what `fit` writes
//! ```

mod log;

use crate::fit::queries_of_log;
use crate::preferences::{Estimate, EstimateArguments};
use crate::terminal::{self, say};
use anyhow::{Context, Result, bail};
use experiment::models::MatrixFile;
use experiment::{Experiment, Overrides, Queries, ResultDir, Runner, number};
use report::figure::{self, Figure, PolicyStyles};
use report::page::FITTED;
use report::report_dir::{self, Owner};
use report::reproduction::{Extent, Reproduction, Variant};
use report::{PanelRun, Report};
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What `reproduce` is asked for.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Arguments {
    /// Directory with `experiment.toml` and `claims.toml`
    pub(crate) experiment: PathBuf,
    /// Measured queries as JSON (a file that ends in .json), or the click log that they are fitted to first, into OUT/fitted: for the panels of an
    /// experiment that takes some; its other panels are not run then
    #[arg(long, value_name = "FILE", visible_alias = "log")]
    pub(crate) data: Option<PathBuf>,
    /// A preference matrix as text in the place of every matrix from a file, for the panels that have one; the others are not run then
    #[arg(long, value_name = "FILE", conflicts_with = "data")]
    pub(crate) matrix: Option<PathBuf>,
    /// The same, but estimated first from documents in LETOR format, into OUT/matrix
    #[arg(long, value_name = "FILE", conflicts_with_all = ["data", "matrix"])]
    pub(crate) letor: Option<PathBuf>,
    /// Where the report and the results go
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// About a minute: fewer runs, and smaller instances where a claim says so; at most a tenth of the claims may stay open
    #[arg(long)]
    pub(crate) quick: bool,
    /// Threads that simulate [default: one for each core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
    /// This panel and its claims only
    #[arg(long, value_name = "NAME")]
    pub(crate) panel: Option<String>,
    /// Another master seed for every panel, as for a run that a verdict is taken from
    #[arg(long, value_name = "S")]
    pub(crate) seed: Option<u64>,
    /// Another number of runs for every panel
    #[arg(long, value_name = "N")]
    pub(crate) runs: Option<u64>,
    /// No progress
    #[arg(long)]
    pub(crate) quiet: bool,
}

/// A panel, or a variant of one, to be run.
#[derive(Debug)]
pub(crate) struct Job<'a> {
    /// What is simulated.
    pub(crate) experiment: &'a Experiment,
    /// Where its files go.
    pub(crate) directory: PathBuf,
    /// What is drawn.
    pub(crate) figures: &'a [Figure],
    /// In which colours.
    pub(crate) styles: &'a PolicyStyles,
}

/// Runs an experiment with `simulate`, which runs a panel or a variant of one and writes its files.
///
/// The verdicts are printed; the answer is whether they are what is known.
///
/// # Errors
///
/// A file of the experiment is faulty, the output directory is another experiment's, or a simulation fails.
pub(crate) fn run(
    arguments: &Arguments,
    mut simulate: impl FnMut(&Job<'_>) -> Result<PanelRun>,
) -> Result<bool> {
    let queries = given_queries(arguments)?;
    let matrix = given_matrix(arguments)?.map(Arc::new);
    let reproduction = read(arguments, queries.as_ref(), matrix.as_ref())?;
    let experiments = experiments(&reproduction, arguments)?;
    let out = &arguments.out;
    let owner = Owner {
        data: queries.as_ref().map(|queries| queries.sha256().to_owned()),
        matrix: matrix.as_ref().map(|matrix| matrix.sha256().to_owned()),
        ..owner(&reproduction, arguments)
    };
    report_dir::check(out, &owner, &reproduction.figures_of_variants())?;
    for (panel, experiments) in reproduction.panels.iter().zip(&experiments) {
        for (variant, experiment) in panel.variants.iter().zip(experiments) {
            let folder = out.join(variant.folder(&panel.name));
            ResultDir::claim(
                &Runner::new(experiment),
                &folder,
                &figure::file_names(panel.own_figures()),
                false,
            )?;
        }
    }

    let is_whole = arguments.panel.is_none()
        && arguments.seed.is_none()
        && arguments.runs.is_none()
        && reproduction.measured.is_none();
    let mut report = Report::begin(&reproduction, arguments.quick, is_whole);
    for (panel, experiments) in reproduction.panels.iter().zip(&experiments) {
        let mut ran = Vec::new();
        for (variant, experiment) in panel.variants.iter().zip(experiments) {
            let directory = out.join(variant.folder(&panel.name));
            let figures = panel.own_figures();
            ran.push(simulate(&Job { experiment, directory, figures, styles: &report.styles })?);
        }
        report.add(panel, ran)?;
    }
    report.write(out, &owner)?;
    say(&verdicts(&report, out))?;
    Ok(report.is_as_known())
}

/// The experiment, or the panel of it that is asked for.
fn read(
    arguments: &Arguments,
    queries: Option<&Queries>,
    matrix: Option<&Arc<MatrixFile>>,
) -> Result<Reproduction> {
    let extent = if arguments.quick { Extent::Quick } else { Extent::Full };
    let mut reproduction =
        Reproduction::read(&arguments.experiment, queries, matrix, overrides(arguments), extent)?;
    if let Some(panel) = &arguments.panel {
        reproduction.keep_only(panel).with_context(|| format!("--panel {panel}"))?;
    }
    Ok(reproduction)
}

/// What the command line says in the place of the experiment.
fn overrides(arguments: &Arguments) -> Overrides {
    Overrides { seed: arguments.seed, runs: arguments.runs, ..Overrides::default() }
}

/// Whose the report is, but for what was given to the experiment.
fn owner(reproduction: &Reproduction, arguments: &Arguments) -> Owner {
    Owner {
        schema: report_dir::SCHEMA,
        experiment: reproduction.name.clone(),
        quick: arguments.quick,
        panel: arguments.panel.clone(),
        seed: arguments.seed,
        runs: arguments.runs,
        data: None,
        matrix: None,
    }
}

/// The queries that were measured.
fn given_queries(arguments: &Arguments) -> Result<Option<Queries>> {
    // A fault there is said whether a log is given or not.
    let how = log::how_to_read(&arguments.experiment)?;
    let Some(file) = &arguments.data else { return Ok(None) };
    if file.extension().is_some_and(|end| end.eq_ignore_ascii_case("json")) {
        return Queries::read(file).map(Some).context("--data");
    }
    let Some(how) = how else {
        bail!(
            "--data: {}: {} does not say how its log is read (`[log]`): expected measured queries, in a file that ends in .json",
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
    // What cannot be is found before a long log is read, as far as the data do not matter.
    let foreseen = read(arguments, Some(&Queries::default()), None)?;
    let may_write = |data: String| {
        let owner = Owner { data: Some(data), ..owner(&foreseen, arguments) };
        report_dir::check(&arguments.out, &owner, &foreseen.figures_of_variants())
    };
    may_write(report_dir::data_of(&arguments.out).unwrap_or_default())?;
    let out = arguments.out.join(FITTED);
    // The models beside a report are those that it is of.
    queries_of_log(file, &how, out, arguments.threads, arguments.quiet, |data| may_write(data.to_owned()))
        .map(Some)
        .context("--data")
}

/// Whether a file begins like JSON, which no log does. What cannot be read is told where it is read.
fn begins_like_json(file: &Path) -> bool {
    let mut beginning = [0; 64];
    let is_file = fs::metadata(file).is_ok_and(|metadata| metadata.is_file());
    let read = || File::open(file)?.read(&mut beginning);
    let Some(n) = is_file.then(read).and_then(Result::ok) else { return false };
    let text = beginning[..n].strip_prefix("\u{feff}".as_bytes()).unwrap_or(&beginning[..n]);
    matches!(text.trim_ascii_start().first(), Some(b'{' | b'['))
}

/// The preferences that stand for those of every file.
fn given_matrix(arguments: &Arguments) -> Result<Option<MatrixFile>> {
    if let Some(file) = &arguments.matrix {
        return MatrixFile::read(file).map(Some).context("--matrix");
    }
    let Some(file) = &arguments.letor else { return Ok(None) };
    let (settings, out) = (EstimateArguments::default(), arguments.out.join(ESTIMATED));
    let threads = arguments.threads.map(usize::from);
    let estimate =
        Estimate::make(Some(file), &settings, &out, threads, arguments.quiet).context("--letor")?;
    estimate.write(&[])?;
    Ok(Some(estimate.into_file()))
}

/// Where a matrix is estimated.
const ESTIMATED: &str = "matrix";

/// The variants of every panel as they are to be run.
fn experiments(reproduction: &Reproduction, arguments: &Arguments) -> Result<Vec<Vec<Experiment>>> {
    let as_run = |variant: &Variant| -> Result<Experiment> {
        let mut experiment = variant.experiment.clone();
        experiment.apply(overrides(arguments))?;
        Ok(experiment)
    };
    reproduction.panels.iter().map(|panel| panel.variants.iter().map(as_run).collect()).collect()
}

/// What is printed at the end.
fn verdicts(report: &Report<'_>, out: &Path) -> String {
    let heads = ["claim", "found", "known", "measured"].map(str::to_owned);
    let mut rows = vec![heads];
    for judged in &report.claims {
        let mark = if judged.agreement.fails(report.quick) { "! " } else { "  " };
        rows.push([
            format!("{mark}{}", judged.claim.name),
            judged.finding.verdict.words().to_owned(),
            judged.claim.known.words().to_owned(),
            judged.finding.summary.clone(),
        ]);
    }
    rows[0][0].insert_str(0, "  ");
    // A name of any length is printed whole, but does not push the others aside: formatting has a limit, too.
    let width =
        |column: usize| rows.iter().map(|row| terminal::width(&row[column])).max().unwrap_or(0).min(60);
    let widths = [0, 1, 2].map(width);
    let mut text = String::new();
    for row in &rows {
        for (cell, width) in row.iter().zip(widths) {
            let _ = write!(text, "{}  ", terminal::left(cell, width));
        }
        let _ = writeln!(text, "{}", terminal::in_line(&row[3]));
    }
    let scale = if report.quick { " (quick)" } else { "" };
    let mark = if report.is_as_known() { "" } else { " (marked with !)" };
    let _ = writeln!(
        text,
        "{}{scale}: {}{mark}. Report: {}",
        terminal::in_line(&report.reproduction.name),
        report.outcome(),
        out.join("index.html").display()
    );
    if let Some(seconds) = report.cpu_seconds() {
        let _ = writeln!(text, "simulated in {} CPU-seconds", number::significant(seconds, 3));
    }
    text
}

#[cfg(test)]
mod tests;
