//! What can go wrong when an experiment is run.

use crate::output::OutputError;

/// An experiment that cannot be run, or whose result cannot be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// There is nothing to compare.
    #[error("no policies: expected at least one")]
    NoPolicies,
    /// Two contenders have one label.
    #[error("label {0:?} is already used: expected another one for each contender")]
    LabelTaken(String),
    /// A contender of the caller's is of other users, or another task, than the experiment.
    #[error("contender {label:?} plays {plays}, but the experiment is of {users}")]
    OtherUsers {
        /// The contender.
        label: String,
        /// Types of its users and task.
        plays: &'static str,
        /// Those of the experiment.
        users: &'static str,
    },
    /// A policy of the catalogue cannot be played on the users.
    #[error(transparent)]
    CannotPlay(#[from] contenders::CannotPlay),
    /// The checkpoints make no schedule.
    #[error(transparent)]
    Schedule(#[from] sim::ScheduleError),
    /// The threads cannot be started.
    #[error("starting the threads: {0}")]
    Threads(rayon::ThreadPoolBuildError),
    /// More than memory holds.
    #[error("{0}")]
    TooLarge(String),
    /// A table cannot be written.
    #[error("writing a table: {0}")]
    Table(#[from] csv::Error),
    /// The directory cannot be used.
    #[error(transparent)]
    Output(#[from] OutputError),
}
