//! Runs an experiment, and writes what it found with its figures.

use crate::program::program;
use crate::progress::Progress;
use anyhow::{Result, bail};
use experiment::{Experiment, Observer, ResultDir, RunError, Runner};
use report::PanelRun;
use report::figure::{self, Figure, PolicyStyles};
use std::path::Path;

/// How to run, none of which changes a result.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Options {
    /// Threads; all cores when absent.
    pub(crate) threads: Option<usize>,
    /// Whether to keep quiet about progress.
    pub(crate) quiet: bool,
    /// Whether to keep every run in `runs.csv`.
    pub(crate) keep_runs: bool,
}

/// Runs `experiment` and writes its files to `dir`, `figures` among them, in which policies have the given `styles`.
///
/// # Errors
///
/// More than memory holds; an unusable directory, which is found out before the first run; a file that cannot be written.
pub(crate) fn simulate(
    experiment: &Experiment,
    dir: &Path,
    figures: &[Figure],
    styles: &PolicyStyles,
    options: Options,
) -> Result<PanelRun> {
    let n_runs = experiment.runs() * experiment.policies().len() as u64;
    let mut runner = Runner::new(experiment);
    if let Some(threads) = options.threads {
        runner = runner.threads(threads);
    }
    let claimed = ResultDir::claim(&runner, dir, &figure::file_names(figures), options.keep_runs);
    let claimed = match claimed {
        Err(RunError::TooLarge(fault)) => bail!("--keep-runs: {fault}"),
        claimed => claimed?,
    };
    let progress = RunCounter(Progress::start(experiment.name(), n_runs, "runs", options.quiet));
    let measured = runner.observer(&progress).run()?;
    drop(progress);
    let figures = figure::draw(figures, &measured.result, styles)?;
    let files = figures.iter().map(|(name, drawing)| (name.clone(), drawing.clone().into_bytes())).collect();
    let manifest = claimed.write(&measured, files, program())?;
    Ok(PanelRun { measured, figures, manifest })
}

/// Counts runs.
#[derive(Debug)]
struct RunCounter(Progress);

impl Observer for RunCounter {
    fn run_done(&self, _policy: usize) {
        self.0.add(1);
    }
}
