//! Sums up runs that end with an answer.

use super::SumUp;
use crate::result::{
    Answers, Difference, Estimate, Paired, PolicyResult, PolicySummary, Quantity, ResultFile,
};
use crate::task::Task;
use sim::{Identification, Outcome, mean_and_error};

/// The result of these runs.
pub(super) fn result(sum_up: &SumUp<'_>, outcome: &Outcome<Identification>) -> ResultFile {
    let experiment = sum_up.experiment;
    let stops = experiment.task == Task::Identify;
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
    ResultFile {
        policies: sum_up.names.iter().zip(&outcome.records).map(policy).collect(),
        paired: paired(sum_up, stops, &outcome.records),
        bounds,
        ..sum_up.head()
    }
}

/// Differences between every pair of policies over the same runs.
fn paired(sum_up: &SumUp<'_>, stops: bool, records: &[Vec<Identification>]) -> Vec<Paired> {
    sum_up.pairs(|first, second| {
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
    })
}
