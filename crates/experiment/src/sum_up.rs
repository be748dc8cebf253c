//! Sums up the runs of an experiment as a result.

mod answers;
mod curves;

use crate::Measurement;
use crate::draws::DrawsOfRuns;
use crate::journal::JournalError;
use crate::play::PlayOutcome;
use crate::result::{Contrast, Difference, ResultFile, SCHEMA};
use crate::runs::Runs;
use spec::{Experiment, Task};
use std::collections::BTreeSet;

/// The most policies of which every two are compared at every checkpoint.
const MOST_IN_FULL: usize = 30;

/// Sums up the runs of an experiment.
pub(crate) struct SumUp<'a> {
    pub(crate) experiment: &'a Experiment,
    /// Label and name of every policy.
    pub(crate) names: Vec<(&'a str, &'a str)>,
}

impl SumUp<'_> {
    /// The result of these runs, together with the runs.
    pub(crate) fn measured(&self, played: PlayOutcome) -> Result<Measurement, JournalError> {
        let PlayOutcome { runs, timing, n_new_runs } = played;
        let (result, spreads) = match self.experiment.task() {
            Task::Regret => curves::result(self, &runs)?,
            Task::Identify | Task::Budget => (answers::result(self, &runs)?, Vec::new()),
        };
        Ok(Measurement { result, runs, spreads, timing, n_new_runs })
    }

    /// Which of these runs are one observation.
    fn draws(&self, runs: &Runs) -> DrawsOfRuns {
        DrawsOfRuns::new(&self.head(), runs.instances())
    }

    /// Every pair of policies by their indices, the earlier one first.
    fn pairs(&self) -> Vec<(usize, usize)> {
        let n_policies = self.names.len();
        (0..n_policies).flat_map(|first| (first + 1..n_policies).map(move |second| (first, second))).collect()
    }

    /// The pairs that are compared at every checkpoint: all of them, or of many policies those that
    /// sentences are about, with the best policy, with a log's ranking, and of neighbours.
    /// `regrets` are the means at the end.
    fn pairs_of_curves(&self, regrets: &[f64]) -> Vec<(usize, usize)> {
        let mut pairs = self.pairs();
        if self.names.len() > MOST_IN_FULL {
            let (is_oracle, is_logged) =
                (|at: &usize| self.names[*at].1 == "oracle", |at: &usize| self.names[*at].1 == "logged");
            let mut order: Vec<usize> = (0..self.names.len()).filter(|at| !is_oracle(at)).collect();
            order.sort_by(|a, b| regrets[*a].total_cmp(&regrets[*b]));
            let hubs = [order.first().copied(), order.iter().copied().filter(is_logged).min()];
            let neighbours: BTreeSet<(usize, usize)> =
                order.windows(2).map(|two| (two[0].min(two[1]), two[0].max(two[1]))).collect();
            let is_hub = |at| hubs.contains(&Some(at));
            pairs.retain(|pair| is_hub(pair.0) || is_hub(pair.1) || neighbours.contains(pair));
        }
        pairs
    }

    fn paired(&self, differences: impl Iterator<Item = ((usize, usize), Difference)>) -> Vec<Contrast> {
        let paired = |((first, second), difference): ((usize, usize), Difference)| Contrast {
            a: self.names[first].0.to_owned(),
            b: self.names[second].0.to_owned(),
            difference,
        };
        differences.map(paired).collect()
    }

    /// A result that describes the experiment and has no measurements yet.
    fn head(&self) -> ResultFile {
        let experiment = self.experiment;
        ResultFile {
            schema: SCHEMA,
            name: experiment.name().to_owned(),
            unit: experiment.instances().unit(),
            task: experiment.task(),
            runs: experiment.runs(),
            runs_per_draw: Some(experiment.runs_per_draw()).filter(|&runs| runs > 1),
            instances: Some(experiment.instances().per_block() as u64).filter(|&instances| instances > 1),
            horizon: experiment.fixed_horizon(),
            max_steps: experiment.max_steps(),
            seed: experiment.seed(),
            policies: Vec::new(),
            paired: Vec::new(),
            bounds: Vec::new(),
            optimum: None,
        }
    }
}

#[cfg(test)]
mod tests;
