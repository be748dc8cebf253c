//! Sums up the runs of an experiment as a result.

mod answers;
mod curves;

use crate::Measured;
use crate::draws::DrawsOfRuns;
use crate::journal::JournalError;
use crate::models::Played;
use crate::result::{Difference, Paired, ResultFile, SCHEMA};
use crate::runs::Runs;
use crate::spec::Experiment;

/// Sums up the runs of an experiment.
pub(crate) struct SumUp<'a> {
    pub(crate) experiment: &'a Experiment,
    /// Label and name of every policy.
    pub(crate) names: Vec<(&'a str, &'a str)>,
}

impl SumUp<'_> {
    /// The result of these runs, together with the runs.
    pub(crate) fn measured(&self, played: Played) -> Result<Measured, JournalError> {
        let Played { runs, timing, drawn, n_new_runs } = played;
        let (result, spreads) = match drawn {
            Some(drawn) => curves::result(self, &runs, &drawn)?,
            None => (answers::result(self, &runs)?, Vec::new()),
        };
        Ok(Measured { result, runs, spreads, timing, n_new_runs })
    }

    /// Which of these runs meet the same users.
    fn draws(&self, runs: &Runs) -> DrawsOfRuns {
        DrawsOfRuns::new(self.experiment.runs_per_draw(), runs.instances())
    }

    /// Every pair of policies by their indices, the earlier one first.
    fn pairs(&self) -> Vec<(usize, usize)> {
        let n_policies = self.names.len();
        (0..n_policies).flat_map(|first| (first + 1..n_policies).map(move |second| (first, second))).collect()
    }

    /// The differences of these pairs.
    fn paired(&self, differences: impl Iterator<Item = ((usize, usize), Difference)>) -> Vec<Paired> {
        let paired = |((first, second), difference): ((usize, usize), Difference)| Paired {
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
            name: experiment.name.clone(),
            unit: experiment.instances.unit(),
            task: experiment.task,
            runs: experiment.runs,
            runs_per_draw: Some(experiment.runs_per_draw()).filter(|&runs| runs > 1),
            horizon: experiment.fixed_horizon(),
            max_steps: experiment.max_steps(),
            seed: experiment.seed,
            policies: Vec::new(),
            paired: Vec::new(),
            bounds: Vec::new(),
            optimum: None,
        }
    }
}
