#![doc = include_str!("../README.md")]

mod contexts;
mod decision;
mod gain;
mod lists;
mod strata;
mod today;
mod users;
mod without;
mod words;

pub use contexts::{ContextError, ContextSettings, TakeList, fit_contexts};
pub use decision::{Decision, Error, Settings};
pub use gain::{PassingTime, PolicyGain};
pub use strata::Strata;
pub use today::Today;
pub use users::FittedUsers;
pub use without::Without;

use click_logs::fit::{EXCEEDED, Verdict};
use click_logs::study::ListsAlone;
use decision::is_alarm;
use serde::ser::SerializeStruct as _;
use serde::{Serialize, Serializer};

/// The file with the parameters of a fit.
pub const PARAMETERS: &str = "parameters.json";
/// The files with the parameters of two halves of the log, which the experiment of an answer names.
pub const HALVES: [&str; 2] = ["first-half.json", "second-half.json"];
/// The file with today's lists, which the experiment of an answer names.
pub const LOGGED: &str = "logged.csv";
/// The lists of a run, after which gains are stated.
pub const HORIZON: u64 = 10_000;
/// The version of `answer.json`.
const VERSION: u32 = 2;
/// The largest relative difference between the clicks of today's lists and those of a fit that is
/// relied on.
const RELIED_ON: f64 = 0.05;
/// The same in standard errors of a few clicks.
const ERRORS: f64 = 2.5;
/// Below this p of the test of the lists, it is in doubt that they decide the clicks alone.
const DOUBT: f64 = 0.05;

/// A mean, and an interval that contains the value with a probability of 95 %. If all draws agree,
/// as on a query without a click, nothing tells how sure the mean is: as JSON, the ends are null.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Mean.
    pub mean: f64,
    /// Lower end, the 2.5 % quantile.
    pub lower: f64,
    /// Upper end, the 97.5 % quantile.
    pub upper: f64,
}

impl Interval {
    /// The interval of draws of a value.
    fn of_draws(draws: &[f64]) -> Self {
        let mut sorted = draws.to_vec();
        sorted.sort_by(f64::total_cmp);
        let [lower, upper] = [0.025, 0.975].map(|probability| sim::quantile(&sorted, probability));
        Self { mean: draws.iter().sum::<f64>() / draws.len() as f64, lower, upper }
    }

    /// The interval with the mean of other draws.
    fn around(self, draws: &[f64]) -> Self {
        Self { mean: draws.iter().sum::<f64>() / draws.len() as f64, ..self }
    }

    /// The ends, if draws differ.
    fn ends(self) -> Option<(f64, f64)> {
        (self.lower < self.upper).then_some((self.lower, self.upper))
    }

    /// Whether the interval contains 0.
    pub fn cannot_tell(self) -> bool {
        self.lower <= 0.0 && self.upper >= 0.0
    }
}

impl Serialize for Interval {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut record = serializer.serialize_struct("Interval", 3)?;
        record.serialize_field("mean", &self.mean)?;
        record.serialize_field("lower", &self.ends().map(|ends| ends.0))?;
        record.serialize_field("upper", &self.ends().map(|ends| ends.1))?;
        record.end()
    }
}

/// The clicks of today's lists, their loss and the gain of others, in expected clicks per 1,000
/// lists.
#[derive(Debug, Clone, Serialize)]
pub struct Finding {
    /// Clicks of today's lists.
    pub today: Interval,
    /// Observed clicks: of all queries together those of the whole log, not of a sample.
    pub observed: f64,
    /// Loss of today's lists against the best ones for the drawn users, which nobody knows. The
    /// lower end is that of the gain of the recommended lists.
    pub loss: Interval,
    /// Gain of the recommended lists; today's lists stay where there are none.
    pub gain: Interval,
}

/// A list to show in place of today's.
#[derive(Debug, Clone, Serialize)]
pub struct Recommendation {
    /// Its items, from the top.
    pub items: Vec<String>,
    /// Gain over today's lists that the fit predicts, in clicks per 1,000 lists.
    pub predicted: f64,
    /// Gain over today's lists, in clicks per 1,000 lists.
    pub gain: Interval,
    /// Gain over the best list that the log shows, in clicks per 1,000 lists.
    pub beyond: Interval,
    /// Share of its items that the log shows at least 20 times within two positions of their new
    /// ones.
    pub known_share: f64,
    /// Those of its items that the log no longer shows at its end.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub gone: Vec<String>,
    /// Whether it is a guess to be tested: it lies outside of what the log shows, or the log does
    /// not show that lists decide the clicks alone, or items are gone.
    pub is_guess: bool,
}

impl Recommendation {
    /// Whether it lies far beyond what the log shows.
    pub(crate) fn is_far(&self) -> bool {
        self.known_share < 1.0 || self.beyond.mean > 0.5 * self.gain.mean
    }
}

/// A query's part of the answer.
#[derive(Debug, Clone, Serialize)]
pub struct QueryFinding {
    /// Name of the query.
    pub query: String,
    /// Lists in the log.
    pub lists: u64,
    /// Those of today's part of the log.
    pub lists_today: u64,
    /// Share of what it stands for among all lists of the answer.
    pub share: f64,
    /// Standard deviation of the clicks of sessions with the same list.
    pub deviation: f64,
    /// Losses and gains.
    #[serde(flatten)]
    pub finding: Finding,
    /// The list to show; `None` if none is better than today's for most users that the log leaves
    /// possible, and worse for hardly any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recommended: Option<Recommendation>,
    /// The gain of a policy; `None` if none was played for the query.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub played: Option<PolicyGain>,
}

/// How far a model's differences between lists happen on lists that its fit has not seen.
#[derive(Debug, Clone, Serialize)]
pub struct TransferSlope {
    /// The model.
    pub model: &'static str,
    /// The part that happens: estimate and 95 % interval; `None` if the log does not tell it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slope: Option<Interval>,
    /// Whether the log supports the model.
    pub verdict: Verdict,
    /// How many times as much data, of as many sessions and lists for each query, would tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub needed: Option<f64>,
    /// Queries, lists and sessions that tell it.
    pub queries: u64,
    /// See `queries`.
    pub lists: u64,
    /// See `queries`.
    pub sessions: u64,
}

/// The answer.
#[derive(Debug, Clone, Serialize)]
pub struct Answer {
    /// The version of this form.
    pub version: u32,
    /// The model of the users, then the models that are not told apart from it, each with its
    /// transfer.
    pub models: Vec<TransferSlope>,
    /// The test whether the lists alone decide the clicks; `None` if the log cannot test it. If
    /// they do not, the loss is that of users for whom they would.
    pub lists_alone: Option<ListsAlone>,
    /// The part of the log whose lists are today's ranking.
    pub today: Today,
    /// Lists of the log.
    pub lists_of_log: u64,
    /// Queries of the log with lists that can be simulated.
    pub queries_of_log: u64,
    /// Whether these are queries within strata.
    pub are_strata: bool,
    /// Lists of the answer's queries.
    pub lists: u64,
    /// Lists that are left out: shorter than others of their query, or with an item that is not
    /// fitted or shown twice.
    pub left_out: u64,
    /// Lists that are better by the users, and not recommended: they put items together that
    /// today's ranking keeps apart.
    pub kept_apart: u64,
    /// Clicks that the fitted users make on 1,000 of today's lists, of the whole log.
    pub fitted_clicks: f64,
    /// All queries of the log together.
    pub all: Finding,
    /// The policy that plays against today's lists, for the queries with the most lists: the one
    /// with the least regret.
    pub policy: String,
    /// Its gain on these queries together, each with its share of the lists; `None` if
    /// no gain is promised.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub played: Option<PolicyGain>,
    /// Query by query, in the order of the fit.
    pub queries: Vec<QueryFinding>,
    /// The queries of which several strata are in the answer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub strata: Vec<Strata>,
    /// The gain without what each warning about the log is about.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub without: Vec<Without>,
    /// Every refusal, reason of "not decided" and warning, with its code.
    pub remarks: Vec<documents::remark::Remark>,
}

impl Answer {
    /// Whether fitted users make about as many clicks as the log has: they differ by at most 5 %,
    /// or 2.5 standard errors of a count of the log's clicks.
    pub fn is_reliable(&self) -> bool {
        let lists = self.lists_of_log.saturating_sub(self.left_out).max(1) as f64;
        let observed = self.all.observed;
        let clicks = (observed * lists / 1000.0).max(1.0);
        let error = 1000.0 * clicks.sqrt() / lists;
        (self.fitted_clicks - observed).abs() <= (RELIED_ON * observed).max(ERRORS * error)
    }

    /// Whether the log shows that more than the list decides the clicks: who sees it, or what
    /// stands beside an item.
    pub fn is_alarmed(&self) -> bool {
        is_alarm(self.verdict(), self.lists_alone.as_ref())
    }

    /// Whether the log makes it doubtful that lists decide the clicks alone, denied or not, or has
    /// too little to tell.
    pub(crate) fn is_in_doubt(&self) -> bool {
        self.is_untested() || !self.doubts().is_empty()
    }

    /// The signs of it.
    pub(crate) fn doubts(&self) -> Vec<&'static str> {
        let slope = self.models.first().and_then(|model| model.slope);
        let below = self.lists_alone.as_ref().filter(|test| test.p < DOUBT);
        let below = below.map(|_| "those at the first two places seem to depend on what stands below");
        let differ = slope.filter(|slope| slope.mean >= EXCEEDED).map(|_| "lists differ more than predicted");
        below.into_iter().chain(differ).collect()
    }

    /// Whether the log has too little to tell whether lists decide the clicks alone.
    pub(crate) fn is_untested(&self) -> bool {
        self.lists_alone.as_ref().is_none_or(ListsAlone::is_weak)
    }

    /// Whether a gain is promised and lists are recommended.
    pub fn promises(&self) -> bool {
        self.is_reliable() && self.verdict() != Verdict::Contradicted && !self.is_alarmed()
    }

    /// The queries with a recommended list, and that list; none unless a gain is promised.
    pub fn recommended(&self) -> impl Iterator<Item = (&QueryFinding, &Recommendation)> {
        let queries = if self.promises() { &*self.queries } else { &[] };
        queries.iter().filter_map(|query| Some((query, query.recommended.as_ref()?)))
    }

    /// Whether the log supports the model of the users.
    pub fn verdict(&self) -> Verdict {
        self.models.first().map_or(Verdict::CannotTest, |model| model.verdict)
    }
}
