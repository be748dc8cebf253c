//! The library's answer about a log. Only [`promised`] depends on the form of the answer.

use crate::users::POSITIONS;
pub(crate) use answer::HORIZON;
use answer::{Decision, Finding, PolicyGain, Settings};
use click_logs::fit::{Model, Options, Users};
use click_logs::study::{self, Checks, Study, study, with_users};
use click_models::PositionBased;
use experiment::Silent;
use log_reader::{Error, Format, Reader};
use serde::Serialize;
use std::num::NonZeroUsize;

/// A mean and the interval that holds the value with a probability of 95 %.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Interval {
    pub mean: f64,
    pub lower: f64,
    pub upper: f64,
}

impl Interval {
    pub(crate) fn holds(self, value: f64) -> bool {
        // Sums of the same numbers in another order.
        let rounding = 1e-9 * value.abs().max(1.0);
        self.lower - rounding <= value && value <= self.upper + rounding
    }
}

/// A list that is called better than today's, with its gain in clicks per 1,000 lists of its query.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Recommended {
    pub query: String,
    pub items: Vec<String>,
    pub gain: Interval,
}

/// The answer, in clicks per 1,000 lists of its queries together.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Promised {
    /// The answer's word for the evidence for lists outside the log.
    pub verdict: Option<String>,
    pub models: Vec<String>,
    /// The slope of the first model.
    pub slope: Option<Interval>,
    /// Queries of the answer, and their shares.
    pub queries: Vec<(String, f64)>,
    /// Queries on which the policy is played, and their shares.
    pub played: Vec<(String, f64)>,
    pub today: Interval,
    pub loss: Interval,
    /// Gain if each query shows its recommended list, or today's lists if it has none.
    pub gain: Interval,
    pub recommended: Vec<Recommended>,
    pub policy: String,
    pub policy_gain: Option<Interval>,
    /// Lists after which the policy has passed today's ranking; `None` beyond the horizon.
    pub passed: Option<u64>,
    /// Interval of this number.
    pub passed_within: Option<[u64; 2]>,
}

/// An answer, and what the position-based policies of its experiment are told.
pub(crate) struct Answered {
    pub promised: Promised,
    /// Examination by position, for each query on which the policy is played.
    pub examination: Vec<Vec<f64>>,
}

/// Reads, fits and answers as the program `fit` does. One thread. With `true_model`, all users
/// follow this model, and the slope is 1.
pub(crate) fn answer(
    log: &str,
    seed: u64,
    n_queries: usize,
    true_model: Option<Model>,
) -> Result<Option<Answered>, crate::Error> {
    let models = true_model.map_or_else(|| with_users().collect(), |model| vec![model]);
    let settings = study::Settings { models, ..study::Settings::default() };
    let reader = Reader::new(Format::Sessions).keep_sessions().threads(NonZeroUsize::MIN);
    let read = || reader.read("generated", log.as_bytes());
    let mut study = study(&settings, read, |_| Ok::<(), Error>(()))?;
    if let (Some(_), Some(transfers)) = (true_model, &mut study.transfer) {
        for transfer in &mut transfers.models {
            (transfer.slope, transfer.standard_error) = (Some(1.0), Some(0.0));
            (transfer.deviations, transfer.between_queries) = (Vec::new(), 0.0);
        }
    }
    let settings = Settings { n_queries, seed, threads: Some(1), observer: &Silent, stop: None };
    let options = Options::default();
    let checks = Checks::new(&study, &options)?;
    let decision = Decision::new(&study, &checks, &options, &settings)?;
    let Ok(promised) = decision.as_ref().map(promised) else { return Ok(None) };
    let examination = promised.played.iter().map(|(query, _)| examination(&study, query)).collect();
    Ok(Some(Answered { promised, examination }))
}

/// The fitted examination of a query's users.
fn examination(study: &Study, query: &str) -> Vec<f64> {
    let pbm = study.fits.iter().find(|fit| fit.model() == Model::Pbm);
    let query = study.log.counts.names().find(query);
    let of_query = pbm.and_then(|fit| fit.users(fit.query(query?)?, POSITIONS));
    let users = of_query.and_then(Users::model::<PositionBased>);
    users.map_or_else(Vec::new, |users| users.examination().iter().map(|p| p.get()).collect())
}

fn promised(decision: &Decision) -> Promised {
    let answer = &decision.answer;
    let interval = |of: answer::Interval| Interval { mean: of.mean, lower: of.lower, upper: of.upper };
    let Finding { today, loss, gain, .. } = &answer.all;
    let recommended = answer.queries.iter().filter_map(|query| {
        let list = query.recommended.clone()?;
        Some(Recommended { query: query.query.clone(), items: list.items, gain: interval(list.gain) })
    });
    let per_1000 = |value: f64| 1000.0 * value / HORIZON as f64;
    let verdict =
        if answer.is_reliable() { format!("{:?}", answer.verdict()) } else { "unreliable".to_owned() };
    let played = answer.played;
    let of_played = || answer.queries.iter().filter(|query| query.played.is_some());
    let lists: u64 = of_played().map(|query| query.lists).sum();
    Promised {
        verdict: Some(verdict),
        models: answer.models.iter().map(|model| model.model.to_owned()).collect(),
        slope: answer.models.first().and_then(|model| model.slope).map(interval),
        queries: answer.queries.iter().map(|query| (query.query.clone(), query.share)).collect(),
        played: of_played().map(|query| (query.query.clone(), query.lists as f64 / lists as f64)).collect(),
        today: interval(*today),
        loss: interval(*loss),
        gain: interval(*gain),
        recommended: recommended.collect(),
        policy: answer.policy.clone(),
        policy_gain: played.map(|PolicyGain { gained, .. }| Interval {
            mean: per_1000(gained.mean),
            lower: per_1000(gained.lower),
            upper: per_1000(gained.upper),
        }),
        passed: played.and_then(|played| played.passed.median),
        passed_within: played
            .map(|PolicyGain { passed, .. }| [passed.lower, passed.upper].map(|end| end.unwrap_or(u64::MAX))),
    }
}
