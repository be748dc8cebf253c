//! The outcome of an experiment: its result, and every run that the result sums up.

use crate::journal::JournalError;
use crate::play::PlayOutcome;
use crate::result::{EndValue, ResultFile, Spreads};
use crate::runs::{Quantity, Runs};
use crate::sum_up::SumUp;
use crate::timing::Timing;
use spec::Experiment;
use spec::models::OWN;
use std::time::Duration;

/// The outcome of an experiment: its result, and every run that the result sums up.
///
/// Experiments with the same seed meet the same users in each run, and can be compared run by run.
#[derive(Debug, Clone)]
pub struct Measurement {
    /// The content of `result.json`.
    pub result: ResultFile,
    /// Every run.
    pub runs: Runs,
    /// Statistics over the runs of each policy; empty if runs end with an answer.
    pub spreads: Vec<Spreads>,
    /// Time that each policy took.
    pub timing: Timing,
    /// The number of runs that were played now; the others were recorded already.
    pub n_new_runs: u64,
}

impl Measurement {
    /// The outcome of an experiment that was played before: `own` are the labels of the caller's
    /// contenders, after those of the experiment.
    ///
    /// # Errors
    ///
    /// There are more or fewer policies than labels; the runs cannot be read.
    pub fn of_runs(experiment: &Experiment, own: &[String], runs: Runs) -> Result<Self, JournalError> {
        let own = own.iter().map(|label| (label.as_str(), OWN));
        let policies = experiment.policies().iter().map(|entry| (entry.label.as_str(), entry.name.as_str()));
        let names: Vec<(&str, &str)> = policies.chain(own).collect();
        if names.len() != runs.n_policies() {
            let fault = format!("of {} policies: expected {}", runs.n_policies(), names.len());
            return Err(JournalError::Run(fault));
        }
        let timing = Timing::new(1, Duration::ZERO, &[]);
        SumUp { experiment, names }.measured(PlayOutcome { runs, timing, n_new_runs: 0 })
    }

    /// The index of the policy with this label.
    pub fn policy(&self, label: &str) -> Option<usize> {
        self.result.policies.iter().position(|policy| policy.label == label)
    }

    /// Cumulative regret of a policy in every run, by the indices of policy and checkpoint. Empty
    /// if runs end with an answer.
    ///
    /// # Errors
    ///
    /// The runs cannot be read.
    pub fn regret(&self, policy: usize, checkpoint: usize) -> Result<Vec<f64>, JournalError> {
        self.runs.column(policy, Quantity::Regret, checkpoint)
    }

    /// 1 for every run in which the policy would recommend the best item, 0 for every other run, by
    /// the indices of policy and checkpoint.
    ///
    /// # Errors
    ///
    /// The runs cannot be read.
    pub fn accuracy(&self, policy: usize, checkpoint: usize) -> Result<Vec<f64>, JournalError> {
        self.runs.column(policy, Quantity::Accuracy, checkpoint)
    }

    /// A value of a policy at the end of every run, by its index; empty if runs have no such value.
    ///
    /// # Errors
    ///
    /// The runs cannot be read.
    pub fn values(&self, policy: usize, value: EndValue) -> Result<Vec<f64>, JournalError> {
        let last = self.runs.n_checkpoints().and_then(|n| n.checked_sub(1));
        match value {
            EndValue::Regret => last.map_or(Ok(Vec::new()), |last| self.regret(policy, last)),
            EndValue::Accuracy => last.map_or(Ok(Vec::new()), |last| self.accuracy(policy, last)),
            EndValue::Answer(quantity) => {
                Ok(self.runs.answers(policy)?.iter().map(|run| quantity.of(run)).collect())
            }
        }
    }
}
