//! Sums up the runs of an experiment as a result.

mod answers;
mod curves;

use crate::models::{Played, RunOutcomes};
use crate::result::{Difference, Paired, ResultFile, SCHEMA};
use crate::spec::Experiment;
use crate::{Measured, Runs};

/// Sums up the runs of an experiment.
pub(crate) struct SumUp<'a> {
    pub(crate) experiment: &'a Experiment,
    /// Label and name of every policy.
    pub(crate) names: Vec<(&'a str, &'a str)>,
}

impl SumUp<'_> {
    /// The result of these runs, together with the runs.
    pub(crate) fn measured(&self, Played { runs, timing }: Played) -> Measured {
        let (result, runs) = match runs {
            RunOutcomes::Curves { outcome, optimal_clicks, lower_bound } => {
                let (result, spreads) = curves::result(self, &outcome, &optimal_clicks, lower_bound);
                (result, Runs::Curves { outcome, spreads })
            }
            RunOutcomes::Answers(outcome) => (answers::result(self, &outcome), Runs::Answers(outcome)),
        };
        Measured { result, runs, timing }
    }

    /// The difference of every pair of policies, the earlier one first.
    fn pairs(&self, difference: impl Fn(usize, usize) -> Difference) -> Vec<Paired> {
        let n_policies = self.names.len();
        let pairs =
            (0..n_policies).flat_map(|first| (first + 1..n_policies).map(move |second| (first, second)));
        let paired = |(first, second): (usize, usize)| Paired {
            a: self.names[first].0.to_owned(),
            b: self.names[second].0.to_owned(),
            difference: difference(first, second),
        };
        pairs.map(paired).collect()
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
