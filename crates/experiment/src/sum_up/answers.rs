//! Sums up runs that end with an answer.

use super::SumUp;
use crate::journal::JournalError;
use crate::result::{
    Answers, Difference, Estimate, Paired, PolicyResult, PolicySummary, Quantity, ResultFile,
};
use crate::runs::Runs;
use crate::task::Task;
use sim::{Identification, mean_and_error};

/// The result of these runs.
pub(super) fn result(sum_up: &SumUp<'_>, runs: &Runs) -> Result<ResultFile, JournalError> {
    let experiment = sum_up.experiment;
    let stops = experiment.task == Task::Identify;
    let answers = (0..runs.n_policies()).map(|policy| runs.answers(policy));
    let answers = answers.collect::<Result<Vec<_>, _>>()?;
    let policy = |((label, policy), runs): (&(&str, &str), &Vec<Identification>)| PolicyResult {
        label: (*label).to_owned(),
        policy: (*policy).to_owned(),
        summary: PolicySummary::Answers(
            Answers::of(runs, stops).expect("an experiment has at least one run"),
        ),
    };
    let bounds = if stops {
        experiment.instances.users().bounds_of_stopping(&experiment.policies)
    } else {
        Vec::new()
    };
    Ok(ResultFile {
        policies: sum_up.names.iter().zip(&answers).map(policy).collect(),
        paired: paired(sum_up, stops, &answers),
        bounds,
        ..sum_up.head()
    })
}

/// Differences between every pair of policies over the same runs.
fn paired(sum_up: &SumUp<'_>, stops: bool, records: &[Vec<Identification>]) -> Vec<Paired> {
    let of_pair = |(first, second): (usize, usize)| {
        let difference = |value: &dyn Fn(&Identification) -> f64| {
            let runs = records[first].iter().zip(&records[second]);
            let sample: Vec<f64> = runs.map(|(a, b)| value(a) - value(b)).collect();
            let (mean, se) = mean_and_error(&sample);
            Estimate { mean, se }
        };
        Difference::Answers {
            stopping_time: stops.then(|| difference(&|run| Quantity::StoppingTime.of(run))),
            observations: difference(&|run| Quantity::Observations.of(run)),
            correct: difference(&|run| f64::from(u8::from(run.correct))),
        }
    };
    sum_up.paired(sum_up.pairs().into_iter().map(|pair| (pair, of_pair(pair))))
}
