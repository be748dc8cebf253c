//! Runs an experiment, or a part of one, and writes its results and figures.

use crate::program::program;
use crate::progress::RunCounter;
use anyhow::{Result, bail};
use experiment::{Claim, JOURNAL, Measurement, Parts, ResultDir, Runner, Shard, interrupt};
use report::report_dir::CLAIMS;
use report::{Drawing, PanelRun, write_simulation};
use spec::Experiment;
use std::path::Path;

/// Options of a run. Results do not depend on them.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Options<'a> {
    pub(crate) threads: Option<usize>,
    pub(crate) quiet: bool,
    pub(crate) keep_runs: bool,
    pub(crate) fresh: bool,
    /// Parts from which to take the runs.
    pub(crate) parts: Option<&'a Parts>,
    /// The title of the variant that is played, in a quick check.
    pub(crate) shown: &'a str,
}

impl<'a> Options<'a> {
    fn counter(&self, experiment: &Experiment) -> RunCounter {
        let shown = if self.shown.is_empty() { String::new() } else { format!(" ({})", self.shown) };
        RunCounter::new(&format!("{}{shown}", experiment.name()), self.quiet)
    }

    /// The claim on a directory for a result with these further files.
    pub(crate) fn claim(&self, extra: Vec<String>) -> Claim<'a> {
        let Self { keep_runs, fresh, parts, .. } = *self;
        Claim { extra, keep_runs, fresh, parts, ..Claim::by(program()) }
    }
}

/// Runs an experiment, and writes its files and the drawing's to `dir`. Runs that the directory has
/// already are not played again.
pub(crate) fn simulate(
    experiment: &Experiment,
    dir: &Path,
    drawing: &Drawing<'_>,
    options: Options<'_>,
) -> Result<(PanelRun, bool)> {
    refuse_report(dir)?;
    let progress = options.counter(experiment);
    let runner = runner(experiment, options).observer(&progress);
    let claimed = ResultDir::claim(&runner, dir, options.claim(drawing.files()))?;
    tell_what_is_kept(dir);
    let measured = runner.run_in(&claimed)?;
    let simulation = write_simulation(claimed, measured, drawing)?;
    progress.end();
    Ok(simulation)
}

/// Runs `experiment` in memory. Nothing is written, so the runs cannot be resumed.
pub(crate) fn simulate_in_memory(experiment: &Experiment, options: Options<'_>) -> Result<Measurement> {
    let progress = options.counter(experiment);
    let measured = runner(experiment, options).observer(&progress).run()?;
    progress.end();
    Ok(measured)
}

/// Plays one shard of `experiment` into `dir`.
pub(crate) fn play_part(
    experiment: &Experiment,
    dir: &Path,
    shard: Shard,
    options: Options<'_>,
) -> Result<()> {
    refuse_report(dir)?;
    let progress = options.counter(experiment);
    runner(experiment, options).check_part(dir, shard, &options.claim(Vec::new()))?;
    tell_what_is_kept(dir);
    runner(experiment, options).observer(&progress).run_part(dir, shard, &options.claim(Vec::new()))?;
    progress.end();
    interrupt::hold().complete(dir);
    Ok(())
}

/// The message when a part is finished.
pub(crate) fn finished_part(out: &Path, shard: Shard) -> String {
    format!(
        "shard {shard} is complete: {}\njoin all shards with `click-bandits merge DIR.. --out DIR`\n",
        out.display()
    )
}

/// Refuses the directory of a reproduction's report.
fn refuse_report(dir: &Path) -> Result<()> {
    if dir.join(CLAIMS).exists() {
        bail!("{}: holds the report of a reproduction: give another --out", dir.display());
    }
    Ok(())
}

fn runner<'a>(experiment: &'a Experiment, options: Options<'_>) -> Runner<'a> {
    let runner = Runner::new(experiment);
    match options.threads {
        Some(threads) => runner.threads(threads),
        None => runner,
    }
}

/// Sets what an interrupted program says: the runs that have ended are kept.
fn tell_what_is_kept(dir: &Path) {
    let journal = dir.join(JOURNAL);
    interrupt::hold().begun(format!(
        "finished runs and states of long ones are kept in {}: the same command continues",
        journal.display()
    ));
}
