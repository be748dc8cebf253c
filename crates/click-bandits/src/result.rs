//! `result.json`: what an experiment found, the same bytes wherever and however it was run.

use serde::{Deserialize, Serialize};

/// The whole file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct ResultFile {
    /// Version of this layout.
    pub(crate) schema: u32,
    /// The experiment's name.
    pub(crate) name: String,
    /// What was done: `"regret"`.
    pub(crate) task: String,
    /// Independent runs.
    pub(crate) runs: u64,
    /// Rounds of a run.
    pub(crate) horizon: u64,
    /// Master seed.
    pub(crate) seed: u64,
    /// One entry a policy, in the order of the spec.
    pub(crate) policies: Vec<PolicyResult>,
    /// One entry for every pair of policies, the earlier one of the spec first.
    pub(crate) paired: Vec<Paired>,
    /// Theoretical bounds, mean over the instances.
    pub(crate) bounds: Vec<Bound>,
    /// What always playing a best list collects on the instances that the runs drew, in expected clicks.
    pub(crate) optimum: Optimum,
}

/// What one policy did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct PolicyResult {
    /// Name in this experiment.
    pub(crate) label: String,
    /// The policy's own name.
    pub(crate) policy: String,
    /// Checkpoints, 1-based rounds.
    pub(crate) t: Vec<u64>,
    /// Cumulative expected regret at the checkpoints, over the runs.
    pub(crate) regret: Spread,
    /// Cumulative realised clicks at the checkpoints, over the runs.
    pub(crate) clicks: MeanSe,
}

/// Mean, standard error of the mean, and spread over runs, at every checkpoint.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Spread {
    pub(crate) mean: Vec<f64>,
    pub(crate) se: Vec<f64>,
    pub(crate) min: Vec<f64>,
    pub(crate) max: Vec<f64>,
    pub(crate) q10: Vec<f64>,
    pub(crate) q90: Vec<f64>,
}

/// Mean and standard error of the mean over runs, at every checkpoint.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct MeanSe {
    pub(crate) mean: Vec<f64>,
    pub(crate) se: Vec<f64>,
}

/// Difference of two policies' regrets, `a - b`, over the same runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Paired {
    pub(crate) a: String,
    pub(crate) b: String,
    pub(crate) t: Vec<u64>,
    pub(crate) regret: MeanSe,
}

/// A bound on the cumulative regret.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Bound {
    pub(crate) label: String,
    pub(crate) t: Vec<u64>,
    pub(crate) value: Vec<f64>,
}

/// Cumulative expected clicks of a best list over the runs' instances.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Optimum {
    pub(crate) t: Vec<u64>,
    pub(crate) clicks: MeanSe,
}
