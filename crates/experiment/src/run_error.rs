//! Errors of running an experiment.

use crate::journal::JournalError;
use crate::path_error::PathError;
use crate::tournament::EnterError;

documents::debug_is_display!(RunError);

/// Why an experiment cannot be run, or its result cannot be written.
#[derive(thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "described where the messages do not say all")]
pub enum RunError {
    #[error("no policies: expected at least one")]
    NoPolicies,
    /// A label is too long for figures and tables, or has characters that cannot be seen.
    #[error("label {label:?}: {fault}")]
    NotALabel { label: String, fault: String },
    #[error("label {0:?} is already used: expected another one for each contender")]
    LabelTaken(String),
    #[error(transparent)]
    Enter(#[from] EnterError),
    #[error("starting the threads: {0}")]
    Threads(rayon::ThreadPoolBuildError),
    /// The runs do not fit into memory.
    #[error("{0}")]
    TooLarge(String),
    #[error("{0:?} is not a name for one more file of a result: expected a plain one that is not taken")]
    FileName(String),
    #[error(transparent)]
    Journal(#[from] JournalError),
    #[error("writing a file: {0}")]
    File(#[from] std::io::Error),
    #[error("writing a table: {0}")]
    Table(#[from] csv::Error),
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
