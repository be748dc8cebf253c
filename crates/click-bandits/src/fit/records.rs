//! `comparison.json`: the comparison of models. Unknown values are left out or null.

use super::arguments::Arguments;
use super::transfer;
use click_logs::fit::{Choice, Difference, Score};
use click_logs::study::{Checks, Study};
use serde::Serialize;
use serde_json::{Value, json};

/// The content of `comparison.json`.
#[derive(Debug, Serialize)]
pub(super) struct ComparisonRecord {
    schema: u32,
    /// One session in `held_out` was held out; one impression if lines are not sessions. Or `last`:
    /// the second half of the sessions.
    held_out: Value,
    seed: u64,
    /// Standard errors are clustered by `session`, or by `cell` without sessions.
    #[serde(skip_serializing_if = "Option::is_none")]
    clusters: Option<Value>,
    /// Models are told apart if they differ by more than this number of standard errors.
    told_apart_at: f64,
    /// The choice among all models.
    #[serde(skip_serializing_if = "Option::is_none")]
    choice: Option<Choice>,
    /// The choice among models whose users can be simulated and whose transfer is not told apart
    /// from the best: the model of `spec.toml`.
    #[serde(skip_serializing_if = "Option::is_none")]
    users: Option<Choice>,
    /// Whether predicted differences between lists happen.
    #[serde(skip_serializing_if = "Option::is_none")]
    transfer: Option<Value>,
    /// Doubts about the log.
    checks: Checks,
    /// All models, the best first; empty if nothing was held out.
    models: Vec<ScoreRecord>,
}

#[derive(Debug, Serialize)]
struct ScoreRecord {
    #[serde(flatten)]
    score: Score,
    /// The log-likelihood minus the log-likelihood of the best model.
    difference: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    difference_se: Option<f64>,
}

impl ComparisonRecord {
    pub(super) fn new(arguments: &Arguments, study: &Study, checks: &Checks) -> Self {
        let comparison = study.comparison.as_ref();
        let models = comparison.into_iter().flat_map(|comparison| {
            let record = |(place, score): (usize, &Score)| {
                let Difference { mean, standard_error, .. } = comparison.difference(place, 0);
                ScoreRecord { score: score.clone(), difference: mean, difference_se: standard_error }
            };
            comparison.scores.iter().enumerate().map(record)
        });
        Self {
            schema: 1,
            held_out: json!(arguments.settings.held_out),
            seed: arguments.settings.seed,
            clusters: comparison.map(|comparison| {
                let by = if comparison.by_session { "session" } else { "cell" };
                json!({ "by": by, "number": comparison.n_clusters })
            }),
            told_apart_at: Difference::TOLD_APART_AT,
            choice: comparison.and_then(|comparison| comparison.choice(&|_| true)),
            users: study.choice.clone(),
            transfer: study.transfer.as_ref().map(transfer::record),
            checks: checks.clone(),
            models: models.collect(),
        }
    }
}
