//! `comparison.json`: the comparison of models. Unknown values are left out or null.

use super::arguments::Arguments;
use super::transfer::TransferRecord;
use click_logs::fit::{Choice, Difference, Score};
use click_logs::study::{Checks, Study};
use serde::Serialize;
use serde_json::Value;

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
    clusters: Option<ClustersRecord>,
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
    transfer: Option<TransferRecord>,
    /// Doubts about the log.
    checks: Checks,
    /// All models, the best first; empty if nothing was held out.
    models: Vec<ScoreRecord>,
}

#[derive(Debug, Serialize)]
struct ClustersRecord {
    by: &'static str,
    number: u64,
}

#[derive(Debug, Serialize)]
struct ScoreRecord {
    model: &'static str,
    impressions: u64,
    log_likelihood: f64,
    /// The log-likelihood minus the log-likelihood of the best model.
    difference: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    difference_se: Option<f64>,
    perplexity: f64,
    conditional_perplexity: f64,
    perplexity_by_rank: Vec<f64>,
    conditional_by_rank: Vec<f64>,
}

impl ComparisonRecord {
    pub(super) fn new(arguments: &Arguments, study: &Study, checks: &Checks) -> Self {
        let comparison = study.comparison.as_ref();
        let models = comparison.into_iter().flat_map(|comparison| {
            let record = |(place, score)| ScoreRecord::new(score, comparison.difference(place, 0));
            comparison.scores().iter().enumerate().map(record)
        });
        Self {
            schema: 1,
            held_out: serde_json::json!(arguments.settings.held_out),
            seed: arguments.settings.seed,
            clusters: comparison.map(|comparison| ClustersRecord {
                by: if comparison.is_by_session() { "session" } else { "cell" },
                number: comparison.n_clusters(),
            }),
            told_apart_at: Difference::TOLD_APART_AT,
            choice: comparison.and_then(|comparison| comparison.choice(&|_| true)),
            users: study.choice.clone(),
            transfer: study.transfer.as_ref().map(TransferRecord::new),
            checks: checks.clone(),
            models: models.collect(),
        }
    }
}

impl ScoreRecord {
    fn new(score: &Score, from_best: Difference) -> Self {
        Self {
            model: score.model.name(),
            impressions: score.impressions,
            log_likelihood: score.log_likelihood,
            difference: from_best.mean,
            difference_se: from_best.standard_error,
            perplexity: score.perplexity,
            conditional_perplexity: score.conditional_perplexity,
            perplexity_by_rank: score.perplexity_by_rank.clone(),
            conditional_by_rank: score.conditional_by_rank.clone(),
        }
    }
}
