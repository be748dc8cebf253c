//! Runs an experiment, and writes its results and figures.

use crate::program::program;
use crate::progress::Progress;
use anyhow::{Result, bail};
use experiment::{Experiment, Observer, ResultDir, RunError, Runner};
use report::PanelRun;
use report::figure::{self, Figure, PolicyStyles};
use std::path::Path;

/// Options of a run. Results do not depend on them.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Options {
    /// Number of threads; one per core if absent.
    pub(crate) threads: Option<usize>,
    /// Whether to print no progress.
    pub(crate) quiet: bool,
    /// Whether to write `runs.csv`.
    pub(crate) keep_runs: bool,
}

/// Runs `experiment`, and writes its files and `figures` to `dir`. `styles` are the styles of the policies in figures.
///
/// # Errors
///
/// Before the first run: the runs do not fit into memory, or the directory cannot be used. Afterwards: a file cannot be written.
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

/// Shows the number of runs that have ended.
#[derive(Debug)]
pub(crate) struct RunCounter(pub(crate) Progress);

impl Observer for RunCounter {
    fn run_done(&self, _policy: usize) {
        self.0.add(1);
    }
}
