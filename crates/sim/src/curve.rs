//! The record of a replication that measures regret.

use serde::{Deserialize, Serialize};

/// The record of one replication, with one entry per checkpoint.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Curve {
    /// Cumulative expected regret, in clicks.
    pub regret: Vec<f64>,
    /// Cumulative realised clicks.
    pub clicks: Vec<f64>,
    /// Whether the policy's recommendation is a best one; empty if the policy recommends nothing.
    pub accurate: Vec<bool>,
}
