//! States of unfinished replications: a long replication can be kept while it is played, and
//! continued later.
//!
//! The round loops call [`StateStore::pause`] about every [`ROUNDS_BETWEEN`] rounds, and hand over
//! the state if it is to be kept. This crate has no clock, so the caller decides when that is.

/// Rounds between two calls of [`StateStore::pause`]. A policy that plays rounds in stretches calls
/// it at the end of a stretch.
pub const ROUNDS_BETWEEN: u64 = 1 << 10;

/// The decision at a pause of a replication.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pause {
    /// It continues.
    GoOn,
    /// Its state is kept, if its contender can be saved, and it continues.
    Keep,
    /// Its state is kept, if its contender can be saved, and it ends with [`StateError::Stopped`].
    Stop,
}

/// Decides when the state of a replication is kept, and keeps it.
pub trait StateStore {
    /// Decides how the replication continues, of which `rounds` rounds have been played.
    fn pause(&mut self, rounds: u64) -> Pause;

    /// Keeps the state of the replication. It replaces an earlier one.
    fn keep(&mut self, state: &[u8]);
}

/// A store that keeps nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoStore;

impl StateStore for NoStore {
    fn pause(&mut self, _rounds: u64) -> Pause {
        Pause::GoOn
    }

    fn keep(&mut self, _state: &[u8]) {}
}

/// Why a replication has no record: it cannot be continued from a state, or was stopped.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "described where the messages do not say all")]
pub enum StateError {
    /// The store stopped the replication.
    #[error("stopped")]
    Stopped,
    #[error("contender {0:?} cannot be saved")]
    NotSaved(String),
    #[error("not a state of contender {label:?}: {fault}")]
    NotAState { label: String, fault: String },
}
