//! Records the runs of an experiment while they are played.

use super::Journal;
use super::error::JournalError;
use super::state::StateFiles;
use super::sync::{Syncer, ToDisk, write_one};
use crate::observer::{Observer, Step};
use crate::runs::{Sequence, lock};
use crate::timing::{Span, Stopwatch};
use contenders::Record;
use sim::{Pause, StateError, StateStore};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Time between two states of a run.
const BETWEEN_STATES: Duration = Duration::from_secs(20);
/// Time between two reports of a run's progress.
const BETWEEN_REPORTS: Duration = Duration::from_millis(200);

/// Records runs: in the journal, if there is one, and in memory otherwise.
#[derive(Debug)]
pub(crate) struct Recorder<'a> {
    pub(crate) sequences: &'a [Mutex<Sequence>],
    pub(crate) journal: Option<&'a Journal>,
    pub(crate) syncer: Option<&'a Syncer>,
    pub(crate) observer: &'a dyn Observer,
    /// Whether the caller wants to stop.
    pub(crate) stop: Option<&'a AtomicBool>,
    /// The first error of a run, which stops the others.
    pub(crate) failed: Mutex<Option<JournalError>>,
    pub(crate) has_failed: AtomicBool,
}

/// Plays a run from a state, or from the beginning.
type PlayRun<'a> = dyn Fn(Option<&[u8]>, &mut dyn StateStore) -> Result<Record, StateError> + 'a;

impl Recorder<'_> {
    /// The first error of a run.
    pub(crate) fn first_error(&self) -> Option<JournalError> {
        self.failed.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Returns whether the caller has stopped all runs.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed))
    }

    /// Returns whether a run or the journal has failed, or the caller has stopped all runs.
    fn is_stopping(&self) -> bool {
        self.is_stopped()
            || self.has_failed.load(Ordering::Relaxed)
            || self.syncer.is_some_and(Syncer::has_failed)
    }

    /// Plays and records a run of the contender with this index, unless it is recorded.
    pub(crate) fn record(&self, contender: usize, run: u64, play: &PlayRun<'_>) -> Result<(), JournalError> {
        if lock(&self.sequences[contender]).has(run) {
            return Ok(());
        }
        self.play_and_record(contender, run, play).map_err(|error| self.note_failure(error))
    }

    /// Where states of a contender's runs are kept.
    fn states(&self, contender: usize) -> Option<&StateFiles> {
        self.journal.and_then(|journal| journal.states(contender))
    }

    /// Stops all runs after an error; returns the error for this one.
    fn note_failure(&self, error: JournalError) -> JournalError {
        if self.is_stopped() {
            return JournalError::Stopped;
        }
        let mut failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        let is_first = failed.is_none() && !matches!(error, JournalError::Run(_));
        self.has_failed.store(true, Ordering::Relaxed);
        if is_first {
            *failed = Some(error);
            return JournalError::Run(StateError::Stopped.to_string());
        }
        error
    }

    /// Returns whether a run may begin.
    fn check(&self) -> Result<(), JournalError> {
        if self.is_stopped() {
            Err(JournalError::Stopped)
        } else if self.is_stopping() {
            Err(JournalError::Run(StateError::Stopped.to_string()))
        } else {
            Ok(())
        }
    }

    fn play_and_record(&self, contender: usize, run: u64, play: &PlayRun<'_>) -> Result<(), JournalError> {
        self.check()?;
        let files = self.states(contender);
        let kept = files.map_or(Ok(None), |files| files.read(run))?;
        let (before, state) = kept.map_or((Span::default(), None), |(time, state)| (time, Some(state)));
        let mut store = JournalStates {
            recorder: self,
            files,
            contender,
            run,
            before,
            watch: Stopwatch::start(),
            kept_at: Duration::ZERO,
            reported_at: Duration::ZERO,
            has_state: state.is_some(),
            error: None,
        };
        let played = play(state.as_deref(), &mut store);
        if let Some(error) = store.error.take() {
            return Err(error);
        }
        let record = played.map_err(|error| match files {
            Some(files) if error != StateError::Stopped => files.fault(run, &error.to_string()),
            _ => JournalError::Run(error.to_string()),
        })?;
        store.report(true);
        let (elapsed, has_state) = (before + store.watch.elapsed(), store.has_state);
        let sequence = &self.sequences[contender];
        lock(sequence).record(run, elapsed, &record)?;
        if let Some(files) = files.filter(|_| has_state) {
            // The run must be on disk before its state is gone.
            write_one(sequence, ToDisk::Yes)?;
            files.remove(run);
        }
        Ok(())
    }
}

/// Keeps the states of one run, and reports its progress.
struct JournalStates<'a> {
    recorder: &'a Recorder<'a>,
    /// `None` if no states are kept.
    files: Option<&'a StateFiles>,
    contender: usize,
    run: u64,
    /// Time of this run in earlier processes.
    before: Span,
    watch: Stopwatch,
    /// When the last state was kept and the last progress reported, since the start of the watch.
    kept_at: Duration,
    reported_at: Duration,
    has_state: bool,
    error: Option<JournalError>,
}

impl JournalStates<'_> {
    fn report(&mut self, ends_run: bool) {
        self.recorder.observer.step(&Step { policy: self.contender, ends_run });
        self.reported_at = self.watch.wall();
    }
}

impl StateStore for JournalStates<'_> {
    fn pause(&mut self, _rounds: u64) -> Pause {
        let wall = self.watch.wall();
        if wall >= self.reported_at + BETWEEN_REPORTS {
            self.report(false);
        }
        // If the state could not be written, neither could the record at the end.
        if self.error.is_some() || self.recorder.is_stopping() {
            return Pause::Stop;
        }
        let is_due = self.files.is_some() && wall >= self.kept_at + BETWEEN_STATES;
        if is_due { Pause::Keep } else { Pause::GoOn }
    }

    fn keep(&mut self, state: &[u8]) {
        let Some(files) = self.files.filter(|_| self.error.is_none()) else { return };
        let elapsed = self.before + self.watch.elapsed();
        match files.write(self.run, elapsed, state) {
            Ok(()) => self.has_state = true,
            Err(error) => self.error = Some(error),
        }
        self.kept_at = self.watch.wall();
    }
}
