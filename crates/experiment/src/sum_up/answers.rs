//! Sums up runs that end with an answer.

use super::SumUp;
use crate::draws::DrawsOfRuns;
use crate::journal::JournalError;
use crate::result::{Answers, Contrast, Difference, PolicyResult, PolicySummary, Quantity, ResultFile};
use crate::runs::Runs;
use contenders::Entrant;
use serde_json::Value;
use sim::Identification;
use spec::Task;
use std::iter;

pub(super) fn result(sum_up: &SumUp<'_>, runs: &Runs) -> Result<ResultFile, JournalError> {
    let experiment = sum_up.experiment;
    let stops = experiment.task() == Task::Identify;
    let draws = sum_up.draws(runs);
    let answers = (0..runs.n_policies()).map(|policy| runs.answers(policy));
    let answers = answers.collect::<Result<Vec<_>, _>>()?;
    // The caller's own contenders, which come last, are given none.
    let delta = |entry: &Entrant| entry.spec.parameters().get("delta").and_then(Value::as_f64);
    let deltas = experiment.policies().iter().map(delta).chain(iter::repeat(None));
    let policy = |((delta, (label, policy)), runs): ((_, &(&str, &str)), &Vec<_>)| PolicyResult {
        label: (*label).to_owned(),
        policy: (*policy).to_owned(),
        delta,
        summary: PolicySummary::Answers(
            Answers::of(runs, stops, &draws).expect("an experiment has at least one run"),
        ),
    };
    Ok(ResultFile {
        policies: deltas.zip(&sum_up.names).zip(&answers).map(policy).collect(),
        paired: paired(sum_up, stops, &answers, &draws),
        bounds: experiment.bounds(None),
        ..sum_up.head()
    })
}

/// Differences between every pair of policies over the same runs.
fn paired(
    sum_up: &SumUp<'_>,
    stops: bool,
    records: &[Vec<Identification>],
    draws: &DrawsOfRuns,
) -> Vec<Contrast> {
    let of_pair = |(first, second): (usize, usize)| {
        let sample = |value: fn(&Identification) -> f64| -> Vec<f64> {
            records[first].iter().zip(&records[second]).map(|(a, b)| value(a) - value(b)).collect()
        };
        let times = sample(|run| Quantity::StoppingTime.of(run));
        let correct = sample(|run| f64::from(u8::from(run.correct)));
        Difference::Answers {
            stopping_time: stops.then(|| draws.mean_and_error(&times)),
            observations: draws.mean_and_error(&sample(|run| Quantity::Observations.of(run))),
            correct: draws.mean_and_error(&correct),
            share_of_users: draws.share_of_users(if stops { &times } else { &correct }),
        }
    };
    sum_up.paired(sum_up.pairs().into_iter().map(|pair| (pair, of_pair(pair))))
}
