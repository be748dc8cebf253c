//! What can go wrong when an experiment is run.

use crate::models::PlayError;
use crate::output::OutputError;

/// An experiment that cannot be run, or whose result cannot be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// There is nothing to compare.
    #[error("no policies: expected at least one")]
    NoPolicies,
    /// A label that figures and tables have no room for, or that cannot be seen.
    #[error("label {label:?}: {fault}")]
    NotALabel {
        /// The label.
        label: String,
        /// What is wrong.
        fault: String,
    },
    /// Two contenders have one label.
    #[error("label {0:?} is already used: expected another one for each contender")]
    LabelTaken(String),
    /// It cannot be played.
    #[error(transparent)]
    Play(#[from] PlayError),
    /// More than memory holds.
    #[error("{0}")]
    TooLarge(String),
    /// Not the name of one more file of a result.
    #[error("{0:?} is not a name for one more file of a result: expected a plain one that is not taken")]
    FileName(String),
    /// A table cannot be written.
    #[error("writing a table: {0}")]
    Table(#[from] csv::Error),
    /// The directory cannot be used.
    #[error(transparent)]
    Output(#[from] OutputError),
}
