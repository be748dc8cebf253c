//! Errors of running an experiment.

use crate::journal::JournalError;
use crate::path_error::PathError;
use crate::tournament::EnterError;

documents::debug_is_display!(RunError);

/// Why an experiment cannot be run, or its result cannot be written.
#[derive(thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "messages say what the fields are")]
pub enum RunError {
    /// The experiment has no policies.
    #[error("no policies: expected at least one")]
    NoPolicies,
    /// A label is too long for figures and tables, or has characters that cannot be seen.
    #[error("label {label:?}: {fault}")]
    NotALabel { label: String, fault: String },
    /// Two contenders have the same label.
    #[error("label {0:?} is already used: expected another one for each contender")]
    LabelTaken(String),
    /// A contender cannot play on the users.
    #[error(transparent)]
    Enter(#[from] EnterError),
    /// The threads cannot be started.
    #[error("starting the threads: {0}")]
    Threads(rayon::ThreadPoolBuildError),
    /// The runs do not fit into memory.
    #[error("{0}")]
    TooLarge(String),
    /// An extra file has a name that is invalid or taken.
    #[error("{0:?} is not a name for one more file of a result: expected a plain one that is not taken")]
    FileName(String),
    /// The runs cannot be recorded or read.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A file cannot be written.
    #[error("writing a file: {0}")]
    File(#[from] std::io::Error),
    /// A table cannot be written.
    #[error("writing a table: {0}")]
    Table(#[from] csv::Error),
    /// A directory, or a part of an experiment in it, cannot be used.
    #[error(transparent)]
    Path(#[from] PathError),
}

impl RunError {
    /// Returns whether the caller stopped the runs
    /// ([`Runner::stop_when`](crate::Runner::stop_when)).
    pub fn is_stopped(&self) -> bool {
        matches!(self, Self::Journal(JournalError::Stopped))
    }
}
