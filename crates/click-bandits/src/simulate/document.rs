//! The document of `simulate --json`: the standing, and the final values of every policy.

use experiment::ResultFile;
use experiment::result::{Answers, EndValue, MeanAndError};
use report::Leaderboard;
use serde::Serialize;
use spec::Task;

/// The content. Policies are in the order of the standing.
#[derive(Debug, Serialize)]
pub(super) struct Document<'a> {
    schema: u32,
    name: &'a str,
    task: Task,
    seed: u64,
    policies: Vec<FinalValues<'a>>,
    bounds: Vec<FinalBound>,
    standing: &'a Leaderboard,
    sentences: Vec<String>,
}

/// The final values of a policy. Values that do not apply are absent.
#[derive(Debug, Serialize)]
struct FinalValues<'a> {
    label: &'a str,
    policy: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    regret: Option<MeanAndError>,
    #[serde(skip_serializing_if = "Option::is_none")]
    clicks: Option<MeanAndError>,
    #[serde(skip_serializing_if = "Option::is_none")]
    accuracy: Option<f64>,
    #[serde(flatten)]
    answers: Option<Answers>,
}

#[derive(Debug, Serialize)]
struct FinalBound {
    label: String,
    value: f64,
}

impl<'a> Document<'a> {
    pub(super) fn of(result: &'a ResultFile, standing: &'a Leaderboard) -> Self {
        let values = |label: &str| -> Option<FinalValues<'a>> {
            let policy = result.policy(label)?;
            let clicks = policy.curves().map(|curves| &curves.clicks);
            let clicks = clicks.and_then(|clicks| Some((*clicks.mean.last()?, *clicks.se.last()?)));
            let estimate = |(mean, se)| MeanAndError { mean, se };
            Some(FinalValues {
                label: &policy.label,
                policy: &policy.policy,
                regret: result.at_the_end(label, EndValue::Regret).map(estimate),
                clicks: clicks.map(estimate),
                accuracy: result.at_the_end(label, EndValue::Accuracy).map(|(share, _)| share),
                answers: policy.answers().copied(),
            })
        };
        let bound = |bound: &experiment::result::Bound| {
            Some(FinalBound { label: bound.label.clone(), value: *bound.value.last()? })
        };
        Self {
            schema: 1,
            name: &result.name,
            task: result.task,
            seed: result.seed,
            policies: standing.places.iter().filter_map(|place| values(&place.label)).collect(),
            bounds: result.bounds.iter().filter_map(bound).collect(),
            sentences: standing.sentences(),
            standing,
        }
    }
}
