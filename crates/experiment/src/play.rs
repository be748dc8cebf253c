//! Plays the runs of an experiment that are not recorded yet, on all cores.

use crate::journal::{Journal, Recorder, Syncer};
use crate::observer::Plan;
use crate::run::Runner;
use crate::run_error::RunError;
use crate::runs::{Layout, Runs, Sequence, lock};
use crate::timing::{Stopwatch, Timing};
use crate::tournament::{EnterError, tournament};
use std::ops::Range;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

/// The runs of an experiment and their timing.
#[derive(Debug)]
pub(crate) struct PlayOutcome {
    pub(crate) runs: Runs,
    pub(crate) timing: Timing,
    /// The number of runs that were played now.
    pub(crate) n_new_runs: u64,
}

/// Plays the runs that are missing, of those with these numbers, and records them in the journal
/// or, without one, in memory. `recorded` has those of every contender that are recorded already.
pub(crate) fn play(
    runner: &Runner<'_>,
    runs: Range<u64>,
    recorded: &Arc<Vec<Mutex<Sequence>>>,
    journal: Option<&Journal>,
) -> Result<PlayOutcome, RunError> {
    let (experiment, observer) = (runner.experiment, runner.observer);
    let tournament = tournament(experiment, &runner.own, runs.end)?;
    let labels = tournament.labels();
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(runner.threads.unwrap_or(0))
        .build()
        .map_err(RunError::Threads)?;
    let layout = Layout::of(experiment);
    let counts = |count: fn(&Sequence) -> u64| recorded.iter().map(|one| count(&lock(one))).collect();
    let restarting = (0..labels.len()).filter(|&contender| !tournament.is_saved(contender));
    let missing: Vec<u64> = counts(Sequence::n_missing);
    let n_new_runs: u64 = missing.iter().sum();
    if n_new_runs > 0 && !experiment.instances().can_answer() {
        return Err(EnterError::NoAnswers(experiment.instances().model().name).into());
    }
    observer.begin(&Plan {
        recorded: counts(Sequence::n_recorded),
        bytes: journal.map(|_| n_new_runs * experiment.record_bytes() as u64),
        continued: journal.map_or(0, Journal::n_states),
        restarting: restarting.map(|contender| labels[contender].to_owned()).collect(),
        runs: missing,
    });
    let wall = Stopwatch::start();
    let syncer = journal.map(|_| Syncer::start(recorded));
    let recorder = Recorder {
        sequences: recorded,
        journal,
        syncer: syncer.as_ref(),
        observer,
        stop: runner.stop,
        failed: Mutex::default(),
        has_failed: AtomicBool::new(false),
    };
    let (instances, first) = (tournament.draw_instances(runs.clone()), runs.start);
    let instance = |run: u64| instances[usize::try_from(run - first).unwrap_or(0)];
    let played = pool.install(|| {
        sim::try_for_each(labels.len(), runs, &|contender, run| {
            recorder.record(contender, run, &|state, store| {
                tournament.play(contender, run, instance(run), state, store)
            })
        })
    });
    if let Err(error) = played {
        // A run that was stopped is the consequence of another error.
        let first = recorder.first_error();
        let of_syncer = || syncer.and_then(|mut syncer| syncer.end().err());
        return Err(first.or_else(of_syncer).unwrap_or(error).into());
    }
    syncer.map_or(Ok(()), Syncer::finish)?;
    let wall = wall.elapsed().wall;

    let runs = Runs::new(layout, instances, Arc::clone(recorded))?;
    let mut speeds = Vec::new();
    for (contender, label) in labels.into_iter().enumerate() {
        let rounds = match layout {
            Layout::Curves(_) => runs.n_runs() as u64 * experiment.horizon(),
            Layout::Answers => runs.answers(contender)?.iter().map(|answer| answer.steps).sum(),
        };
        speeds.push((label, lock(&recorded[contender]).elapsed, rounds));
    }
    let timing = Timing::new(pool.current_num_threads(), wall, &speeds);
    Ok(PlayOutcome { runs, timing, n_new_runs })
}
