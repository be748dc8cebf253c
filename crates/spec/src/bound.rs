//! Bounds on regret and stopping time.

use confidence::math::ln;
use documents::number::{grouped, significant};
use serde::{Deserialize, Serialize};

/// A bound on the regret at every checkpoint; without checkpoints, on the mean stopping time. On
/// users who differ, also the regret of lists that are not personal.
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
    /// The label of what the list of the largest mean attractions of all users loses.
    pub const BEST_LIST: &'static str = "one list for all users";
    /// The label of what the lists of the largest mean attractions of each segment lose.
    pub const BEST_OF_SEGMENT: &'static str = "one list for each segment";

    /// The name for readers. A lower bound on regret is called asymptotic: after finitely many
    /// rounds regret may be below it.
    pub fn reader_name(&self) -> String {
        let asymptotic = if self.is_asymptotic() { "asymptotic " } else { "" };
        format!("{asymptotic}{}", self.label)
    }

    /// Whether it is a lower bound on regret, which is a constant times ln t.
    pub fn is_asymptotic(&self) -> bool {
        !self.t.is_empty() && self.label.starts_with("lower bound")
    }

    /// The last value, with the formula of an asymptotic bound.
    pub fn end(&self) -> Option<String> {
        let last = *self.value.last()?;
        let formula = |t: u64| format!(" = {} ln {}", significant(last / ln(t as f64), 4), grouped(t));
        let t = self.t.last().filter(|&&t| self.is_asymptotic() && t > 1);
        Some(significant(last, 4) + &t.copied().map_or_else(String::new, formula))
    }
}
