//! What an experiment's runs say of the best items, summed up.

use crate::models::Playing;
use crate::result::{Answers, Difference, Estimate, Found, Paired, PolicyResult, Quantity, ResultFile};
use crate::spec::Task;
use crate::timing::Timing;
use crate::{Measured, Runs};
use sim::{Identification, Outcome, mean_and_error};

/// What these runs measured.
pub(crate) fn measured(playing: &Playing<'_>, outcome: Outcome<Identification>, timing: Timing) -> Measured {
    let experiment = playing.experiment;
    let stops = experiment.task == Task::Identify;
    let policy = |((label, policy), runs): ((&str, &str), &Vec<Identification>)| PolicyResult {
        label: label.to_owned(),
        policy: policy.to_owned(),
        found: Found::Answers(Answers::of(runs, stops).expect("an experiment has at least one run")),
    };
    let bounds = if stops {
        experiment.instances.users().bounds_of_stopping(&experiment.policies)
    } else {
        Vec::new()
    };
    let result = ResultFile {
        policies: playing.names().zip(&outcome.records).map(policy).collect(),
        paired: paired(playing, stops, &outcome.records),
        bounds,
        ..playing.head()
    };
    Measured { result, runs: Runs::Answers(outcome), timing }
}

/// Differences between every two policies over the same runs.
fn paired(playing: &Playing<'_>, stops: bool, records: &[Vec<Identification>]) -> Vec<Paired> {
    playing.pairs(|first, second| {
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
