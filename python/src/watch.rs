//! Progress of runs, and how they stop.

use crate::interrupt;
use crate::message::{type_error, warn};
use experiment::{Observer, Plan, Step};
use pyo3::prelude::*;
use pyo3::types::PyBool;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// How progress is reported.
#[derive(Debug)]
enum ProgressCall {
    Nothing,
    /// A line on standard error.
    Line,
    Function(Py<PyAny>),
}

/// Progress of the runs, and whether they are to stop.
#[derive(Debug)]
pub(crate) struct Watch {
    told: ProgressCall,
    pub(crate) stop: Arc<AtomicBool>,
    /// Runs that have ended, and all of them.
    ended: AtomicU64,
    all: AtomicU64,
    notes: Mutex<Vec<String>>,
}

impl Watch {
    /// With the argument `progress` of `simulate`.
    pub(crate) fn new(py: Python<'_>, progress: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let told = match progress {
            None => ProgressCall::Nothing,
            Some(flag) if flag.is(PyBool::new(py, true)) => ProgressCall::Line,
            Some(flag) if flag.is_none() || flag.is_instance_of::<PyBool>() => ProgressCall::Nothing,
            Some(function) if function.is_callable() => ProgressCall::Function(function.clone().unbind()),
            Some(_) => return Err(type_error("progress: expected True, False or a function")),
        };
        // An interrupt that is already there is found before anything is played.
        py.check_signals()?;
        let (ended, all) = (AtomicU64::new(0), AtomicU64::new(0));
        Ok(Self { told, stop: Arc::default(), ended, all, notes: Mutex::default() })
    }

    /// Looks after signals, notes and progress. `last` are the runs that had ended at the last
    /// look.
    fn look(&self, py: Python<'_>, last: &mut Option<u64>) -> PyResult<()> {
        py.check_signals()?;
        let notes = std::mem::take(&mut *self.notes.lock().unwrap_or_else(PoisonError::into_inner));
        for note in notes {
            warn(py, note)?;
        }
        let (ended, all) = (self.ended.load(Ordering::Relaxed), self.all.load(Ordering::Relaxed));
        if all == 0 || last.replace(ended) == Some(ended) {
            return Ok(());
        }
        match &self.told {
            ProgressCall::Nothing => Ok(()),
            ProgressCall::Line => write(py, &format!("\r{ended} of {all} runs, {} %", 100 * ended / all)),
            ProgressCall::Function(function) => function.call1(py, (ended, all)).map(drop),
        }
    }
}

/// Writes to standard error, if there is one.
fn write(py: Python<'_>, text: &str) -> PyResult<()> {
    let stream = py.import("sys")?.getattr("stderr")?;
    if !stream.is_none() {
        stream.call_method1("write", (text,))?;
        stream.call_method0("flush")?;
    }
    Ok(())
}

impl Observer for Watch {
    fn begin(&self, plan: &Plan) {
        let recorded: u64 = plan.recorded.iter().sum();
        self.ended.store(recorded, Ordering::Relaxed);
        self.all.store(recorded + plan.runs.iter().sum::<u64>(), Ordering::Relaxed);
    }

    fn step(&self, step: &Step) {
        self.ended.fetch_add(step.ends_run.into(), Ordering::Relaxed);
    }

    fn note(&self, sentence: &str) {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner).push(sentence.to_owned());
    }
}

/// Plays without the interpreter's lock, and looks after signals and progress meanwhile. An
/// exception of these stops the runs.
pub(crate) fn watched<T: Send>(
    py: Python<'_>,
    watch: &Watch,
    play: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    followed(py, watch, |look| interrupt::watched(py, &watch.stop, look, play))
}

/// As [`watched`], for work that may not stop for a while: an exception leaves it to itself.
pub(crate) fn abandoning<T: Send + 'static>(
    py: Python<'_>,
    watch: &Watch,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    followed(py, watch, |look| interrupt::abandoning(py, &watch.stop, look, |_| work()))
}

/// A look after signals and progress.
type Look<'a> = dyn FnMut(Python<'_>) -> PyResult<()> + Send + 'a;

fn followed<T>(
    py: Python<'_>,
    watch: &Watch,
    play: impl FnOnce(&mut Look<'_>) -> PyResult<T>,
) -> PyResult<T> {
    let mut last = None;
    let played = play(&mut |py| watch.look(py, &mut last))?;
    watch.look(py, &mut last)?;
    if matches!(watch.told, ProgressCall::Line) && last.is_some() {
        write(py, "\n")?;
    }
    Ok(played)
}
