//! Forces runs to disk while an experiment is running.

use super::error::JournalError;
use crate::runs::{Sequence, lock};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

/// Time between two writes of what was gathered.
const BETWEEN_WRITES: Duration = Duration::from_secs(1);
/// Writes between two times that files are forced to disk.
const WRITES: u32 = 10;

/// A thread that writes gathered records every second and forces them to disk every ten seconds. It
/// ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Syncer {
    sequences: Arc<Vec<Mutex<Sequence>>>,
    /// Dropping it ends the thread.
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<Result<(), JournalError>>>,
}

impl Syncer {
    pub(crate) fn start(sequences: &Arc<Vec<Mutex<Sequence>>>) -> Self {
        let (stop, stopped) = channel();
        let of_thread = Arc::clone(sequences);
        let thread = std::thread::spawn(move || {
            let mut writes = 0;
            while stopped.recv_timeout(BETWEEN_WRITES) == Err(RecvTimeoutError::Timeout) {
                writes += 1;
                write(&of_thread, if writes % WRITES == 0 { ToDisk::IfWritten } else { ToDisk::No })?;
            }
            Ok(())
        });
        Self { sequences: Arc::clone(sequences), stop: Some(stop), thread: Some(thread) }
    }

    /// Returns whether the thread ended with an error.
    pub(crate) fn has_failed(&self) -> bool {
        self.thread.as_ref().is_some_and(JoinHandle::is_finished)
    }

    /// Ends the thread, and forces everything to disk.
    pub(crate) fn finish(mut self) -> Result<(), JournalError> {
        self.end()?;
        write(&self.sequences, ToDisk::Yes)
    }

    /// Ends the thread; returns its error, once.
    pub(crate) fn end(&mut self) -> Result<(), JournalError> {
        self.stop = None;
        self.thread.take().map_or(Ok(()), |thread| thread.join().unwrap_or(Ok(())))
    }
}

impl Drop for Syncer {
    fn drop(&mut self) {
        let _ = self.end();
        // After an error of a run, the runs that are finished are kept as far as possible.
        let _ = write(&self.sequences, ToDisk::IfWritten);
    }
}

/// Whether a file is forced to disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ToDisk {
    No,
    /// If something was written to it since the last time. Another thread may be forcing it to disk
    /// at this moment.
    IfWritten,
    /// In any case.
    Yes,
}

/// Writes what was gathered, and forces it to disk.
fn write(sequences: &[Mutex<Sequence>], to_disk: ToDisk) -> Result<(), JournalError> {
    for sequence in sequences {
        write_one(sequence, to_disk)?;
    }
    Ok(())
}

/// Writes what was gathered of one policy, and forces it to disk.
pub(super) fn write_one(sequence: &Mutex<Sequence>, to_disk: ToDisk) -> Result<(), JournalError> {
    let mut locked = lock(sequence);
    let Some(file) = locked.file() else { return Ok(()) };
    file.flush()?;
    let is_due = match to_disk {
        ToDisk::No => false,
        ToDisk::IfWritten => file.take_dirty(),
        ToDisk::Yes => true,
    };
    let (path, to_sync) = (file.path.clone(), is_due.then(|| file.to_sync()));
    // Other threads record runs in the meantime.
    drop(locked);
    let forced = to_sync.map_or(Ok(()), |file| file.sync_data());
    forced.map_err(JournalError::system(&path, "cannot be forced to disk"))
}
