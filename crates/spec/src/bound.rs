//! Bounds on regret and stopping time.

use crate::experiment::Experiment;
use crate::task::Task;
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

    /// The name for readers and the last value, with the formula of an asymptotic bound.
    pub fn line(&self) -> Option<String> {
        let last = *self.value.last()?;
        let formula = |t: u64| format!(" = {} ln {}", significant(last / ln(t as f64), 4), grouped(t));
        let t = self.t.last().filter(|&&t| self.is_asymptotic() && t > 1);
        let formula = t.copied().map_or_else(String::new, formula);
        Some(format!("{}: {}{formula}", self.reader_name(), significant(last, 4)))
    }
}

impl Experiment {
    /// The lower bound of these users, and proven upper bounds of the experiment's policies; bounds
    /// on the stopping time if policies stop by themselves. Users who are drawn from a fit have the
    /// mean factor of their lower bounds, `of_drawn`, and without it no lower bound.
    pub fn bounds(&self, of_drawn: Option<f64>) -> Vec<Bound> {
        let (instances, checkpoints) = (&self.instances, &self.checkpoints);
        match self.task {
            Task::Identify => instances.bounds_of_stopping(&self.policies),
            Task::Budget => vec![],
            // Proven for policies that nothing disturbs.
            Task::Regret if self.live.disturb() => vec![],
            Task::Regret => {
                let is_known = of_drawn.is_some() || instances.posterior().is_none();
                let lower = instances.lower_bound().filter(|_| is_known);
                let lower = lower.map(|(label, factor)| (label, of_drawn.unwrap_or(factor)));
                let lower = lower.filter(|(_, factor)| factor.is_finite()).map(|(label, factor)| Bound {
                    label: label.to_owned(),
                    t: checkpoints.clone(),
                    value: checkpoints.iter().map(|&t| factor * ln(t as f64)).collect(),
                });
                let of_policies = instances.bounds_of_policies(&self.policies, checkpoints);
                lower.into_iter().chain(of_policies).collect()
            }
        }
    }
}
