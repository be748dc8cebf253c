//! Bounds on regret and stopping time.

use serde::{Deserialize, Serialize};

/// A bound on the regret at every checkpoint; without checkpoints, on the mean stopping time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Bound {
    /// The name of the bound.
    pub label: String,
    /// Checkpoints, 1-based rounds; empty for a bound on the stopping time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub t: Vec<u64>,
    /// One number for each checkpoint; a single number for a bound on the stopping time.
    pub value: Vec<f64>,
}

impl Bound {
    /// The name for readers. A lower bound on regret is called asymptotic: after finitely many
    /// rounds regret may be below it.
    pub fn reader_name(&self) -> String {
        let is_of_regret = !self.t.is_empty();
        let asymptotic =
            if is_of_regret && self.label.starts_with("lower bound") { "asymptotic " } else { "" };
        format!("{asymptotic}{}", self.label)
    }
}
