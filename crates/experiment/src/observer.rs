//! Progress of a running experiment.

use std::fmt::Debug;

/// The runs that are left to play when an experiment begins.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// For every policy, the runs that are missing.
    pub runs: Vec<u64>,
    /// For every policy, the runs that are recorded already.
    pub recorded: Vec<u64>,
    /// Bytes that the missing runs will take on disk; `None` if they are kept in memory.
    pub bytes: Option<u64>,
    /// Unfinished runs that continue from a state.
    pub continued: u64,
    /// Labels of contenders whose unfinished runs cannot be kept: an interrupted run begins again.
    pub restarting: Vec<String>,
}

/// Progress of one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// The policy's index in the result.
    pub policy: usize,
    /// Whether the run is finished.
    pub ends_run: bool,
}

/// Receives the progress of a running experiment. Any thread may call it.
pub trait Observer: Debug + Sync {
    /// The experiment begins.
    fn begin(&self, _plan: &Plan) {}

    /// A run advanced or ended.
    fn step(&self, step: &Step);

    /// A sentence for the user.
    fn note(&self, _sentence: &str) {}
}

/// Ignores all progress.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Observer for Silent {
    fn step(&self, _step: &Step) {}
}
