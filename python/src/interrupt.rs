//! Long work without the interpreter's lock, which Ctrl-C ends.

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// Time between two looks.
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);

const PANICKED: &str = "a thread panicked: this is a defect, please report it";

/// The exception of a signal that has arrived, such as Ctrl-C, for code that has released the
/// interpreter's lock.
pub(crate) fn check_signals() -> PyResult<()> {
    #[expect(clippy::redundant_closure_for_method_calls, reason = "the method is of one lifetime only")]
    Python::attach(|py| py.check_signals())
}

/// Does `work` in another thread, and tells it to stop when a signal raises an exception.
pub(crate) fn interruptible<T: Send>(
    py: Python<'_>,
    work: impl FnOnce(&AtomicBool) -> T + Send,
) -> PyResult<T> {
    let stop = AtomicBool::new(false);
    watched(py, &stop, |_| check_signals(), || work(&stop))
}

/// As [`watched`], for work that may not stop for a while: an exception leaves it to itself.
pub(crate) fn abandoning<T: Send + 'static>(
    py: Python<'_>,
    stop: &Arc<AtomicBool>,
    mut look: impl FnMut(Python<'_>) -> PyResult<()> + Send,
    work: impl FnOnce(&AtomicBool) -> T + Send + 'static,
) -> PyResult<T> {
    let (sender, receiver) = channel();
    let of_work = Arc::clone(stop);
    // Nobody waits for work that was left to itself.
    thread::spawn(move || drop(sender.send(work(&of_work))));
    py.detach(move || {
        loop {
            match receiver.recv_timeout(BETWEEN_LOOKS) {
                Ok(done) => return Ok(done),
                Err(RecvTimeoutError::Timeout) => {
                    Python::attach(&mut look).inspect_err(|_| stop.store(true, Ordering::Relaxed))?;
                }
                Err(RecvTimeoutError::Disconnected) => return Err(PyRuntimeError::new_err(PANICKED)),
            }
        }
    })
}

/// Does `work` in another thread, while this one calls `look` now and then, which looks for
/// signals. An exception of `look` sets `stop`, and is raised when the work has ended.
pub(crate) fn watched<T: Send>(
    py: Python<'_>,
    stop: &AtomicBool,
    mut look: impl FnMut(Python<'_>) -> PyResult<()> + Send,
    work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    let (done, exception) = py.detach(|| {
        let (sender, receiver) = channel::<()>();
        thread::scope(|scope| {
            let worker = scope.spawn(move || {
                // Gone at the end of the work, which the receiver notices.
                let _sender = sender;
                work()
            });
            let mut exception = None;
            while receiver.recv_timeout(BETWEEN_LOOKS) == Err(RecvTimeoutError::Timeout) {
                if exception.is_none() {
                    exception = Python::attach(&mut look).err();
                    stop.fetch_or(exception.is_some(), Ordering::Relaxed);
                }
            }
            (worker.join(), exception)
        })
    });
    match exception {
        Some(exception) => Err(exception),
        None => done.map_err(|_| PyRuntimeError::new_err(PANICKED)),
    }
}
