//! The outcome of an experiment: its result, and every run that the result sums up.

use crate::result::{EndValue, ResultFile};
use crate::spreads::Spreads;
use crate::timing::Timing;
use sim::{Curve, Identification, Outcome};

/// The outcome of an experiment: its result, and every run that the result sums up.
///
/// Experiments with the same seed meet the same users in the same run, so they can be compared run by run.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// The content of `result.json`.
    pub result: ResultFile,
    /// Every run.
    pub runs: Runs,
    /// Time that each policy took.
    pub timing: Timing,
}

/// Every run of every policy, policies in the order of the result.
#[derive(Debug, Clone, PartialEq)]
pub enum Runs {
    /// Regret and clicks at checkpoints.
    Curves {
        /// Every run.
        outcome: Outcome<Curve>,
        /// Statistics over the runs of each policy.
        spreads: Vec<Spreads>,
    },
    /// Answers to the question which items are best.
    Answers(Outcome<Identification>),
}

impl Measured {
    /// The index of the policy with this label.
    pub fn policy(&self, label: &str) -> Option<usize> {
        self.result.policies.iter().position(|policy| policy.label == label)
    }

    /// Cumulative regret of a policy in every run, by the indices of policy and checkpoint. Empty if runs end with an answer.
    pub fn regret(&self, policy: usize, checkpoint: usize) -> Vec<f64> {
        self.curves(policy).iter().filter_map(|run| run.regret.get(checkpoint).copied()).collect()
    }

    /// 1 for every run in which the policy would recommend the best item, 0 for every other run, by the indices of policy and checkpoint.
    pub fn accuracy(&self, policy: usize, checkpoint: usize) -> Vec<f64> {
        let accurate = self.curves(policy).iter().filter_map(|run| run.accurate.get(checkpoint));
        accurate.map(|&accurate| f64::from(u8::from(accurate))).collect()
    }

    /// A value of a policy at the end of every run, by the policy's index. Empty if runs have no such value.
    pub fn values(&self, policy: usize, value: EndValue) -> Vec<f64> {
        let last = self.curves(policy).first().and_then(|run| run.regret.len().checked_sub(1));
        match value {
            EndValue::Regret => last.map_or_else(Vec::new, |last| self.regret(policy, last)),
            EndValue::Accuracy => last.map_or_else(Vec::new, |last| self.accuracy(policy, last)),
            EndValue::Answer(quantity) => self.answers(policy).iter().map(|run| quantity.of(run)).collect(),
        }
    }

    fn curves(&self, policy: usize) -> &[Curve] {
        match &self.runs {
            Runs::Curves { outcome, .. } => outcome.records.get(policy).map_or(&[], Vec::as_slice),
            Runs::Answers(_) => &[],
        }
    }

    fn answers(&self, policy: usize) -> &[Identification] {
        match &self.runs {
            Runs::Curves { .. } => &[],
            Runs::Answers(outcome) => outcome.records.get(policy).map_or(&[], Vec::as_slice),
        }
    }
}
