//! What an experiment measured: its result, and every run that the result sums up.

use crate::result::{EndValue, ResultFile};
use crate::spreads::Spreads;
use crate::timing::Timing;
use sim::{Curve, Identification, Outcome};

/// What an experiment measured: its result, and every run that the result sums up.
///
/// Experiments with the same seed meet the same users run by run, so what is compared across them is compared on the runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// What the file says.
    pub result: ResultFile,
    /// What every run left.
    pub runs: Runs,
    /// How long each policy took.
    pub timing: Timing,
}

/// What every run of every policy left, policies in the order of the result.
#[derive(Debug, Clone, PartialEq)]
pub enum Runs {
    /// Regret and clicks.
    Curves {
        /// Every run.
        outcome: Outcome<Curve>,
        /// What the runs of each policy are summed up to.
        spreads: Vec<Spreads>,
    },
    /// What they said of the best items.
    Answers(Outcome<Identification>),
}

impl Measured {
    /// Index of a policy by its label.
    pub fn policy(&self, label: &str) -> Option<usize> {
        self.result.policies.iter().position(|policy| policy.label == label)
    }

    /// Regret of a policy in every run, by the indices of policy and checkpoint; nothing where runs end with an answer.
    pub fn regret(&self, policy: usize, checkpoint: usize) -> Vec<f64> {
        self.curves(policy).iter().filter_map(|run| run.regret.get(checkpoint).copied()).collect()
    }

    /// 1 for every run in which a policy would recommend the best item and 0 for every other, by the indices of policy and checkpoint.
    pub fn accuracy(&self, policy: usize, checkpoint: usize) -> Vec<f64> {
        let accurate = self.curves(policy).iter().filter_map(|run| run.accurate.get(checkpoint));
        accurate.map(|&accurate| f64::from(u8::from(accurate))).collect()
    }

    /// What a policy has at the end of every run, by its index; nothing where runs have no such value.
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
