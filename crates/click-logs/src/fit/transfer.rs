//! Transfer: how much of the differences between lists that a model predicts happens on lists that
//! its fit has not seen.
//!
//! Lists of a query are dealt into five parts, with all their sessions, and the lists of each part
//! are predicted by a fit to the other four ([`folds`]). The *slope* is that of the clicks of a
//! session on their prediction. Both are centred within a query and a part; and within a tenth of
//! its sessions by time, if the log has times and its level of clicks changes ([`groups`]): a
//! season or a campaign that came later is then not taken for better lists. It is 1 if the
//! differences happen as predicted, and 0 if they are chance.
//!
//! Standard errors are those of a jackknife over queries; over lists if fewer than
//! [`FEWEST_QUERIES`] queries have lists to compare.
//!
//! The slope of a query is shrunk to that of the log: a normal prior, with the variance between
//! queries by the method of moments.
//!
//! The *squared error* of a model, per session and less that of predicting no differences, is `(sum
//! S_pp - 2 sum S_py) / sessions`. Two models are told apart by the jackknife error of the
//! difference, as in [`super::comparison`].
//!
//! Reference: Efron, *The jackknife, the bootstrap and other resampling plans*, 1982, chapter 3;
//! `DerSimonian`, Laird, *Meta-analysis in clinical trials*, Controlled Clinical Trials 7, 1986
//! (variance between queries). Deviations: none. Numerics: see [`groups`]. Complexity: that of five
//! fits to four fifths of the log; O(lists) for each pair of models.

mod folds;
mod groups;
mod lists;

pub use self::groups::jackknife;
pub use self::lists::{OwnVariance, SessionVariance};

use super::estimate::normal_quantile;
use super::{Difference, Fit, FitError, Model, Options};
use confidence::math::sqrt;
use groups::{Moments, QueryMoments, SessionGroups};
use lists::Lists;
use log_reader::{Id, Sessions};
use num_traits::ToPrimitive as _;
use serde::{Deserialize, Serialize};

/// With fewer queries, errors are those of a jackknife over lists.
const FEWEST_QUERIES: usize = 5;
/// A slope that is surely above 1 and at least this large says that more than the list decides the
/// clicks; if it is not surely above 1, that is in doubt. Smaller ones are those of models that are
/// a little wrong, or whose prior shrinks too much.
pub const EXCEEDED: f64 = 4.0 / 3.0;
/// A slope that is surely smaller contradicts a model.
const CONTRADICTED: f64 = 0.3;
/// A slope that a log should be able to tell from 0.
const TO_BE_TOLD: f64 = 0.5;

/// The transfer of models, on the same sessions.
///
/// Only lists of the same part are compared. A query with five lists or fewer has one in each part,
/// so it has nothing to compare, and is not used.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Transfers {
    /// The transfer of each model, in the order in which they were given.
    pub models: Vec<Transfer>,
    /// Number of queries with several lists to compare: those that are used.
    pub queries: usize,
    /// Number of their lists.
    pub lists: usize,
    /// Number of their sessions.
    pub sessions: u64,
    /// Observed clicks of a session.
    pub observed: f64,
    /// Differences of each pair of models, row minus column.
    differences: Vec<Vec<Difference>>,
}

/// The transfer of a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Transfer {
    /// The model.
    pub model: Model,
    /// Slope of the observed clicks of a session on the predicted ones; `None` if predictions do
    /// not differ between lists.
    pub slope: Option<f64>,
    /// Its standard error; `None` with too few lists.
    pub standard_error: Option<f64>,
    /// Mean squared error of the predicted clicks of a session, less that of predicting no
    /// differences, in clicks squared. The smallest is best; above 0, no differences are better.
    pub squared_error: f64,
    /// Mean predicted clicks of a session; compare [`Transfers::observed`].
    pub predicted: f64,
    /// The deviation of each query that is used, sorted by query.
    pub deviations: Vec<Deviation>,
    /// Standard deviation between queries.
    pub between_queries: f64,
    /// Mean predicted and observed differences of sessions from the mean of their group, in clicks:
    /// a pair for each tenth of the sessions, by the predicted difference.
    pub tenths: Vec<[f64; 2]>,
    /// How far lists differ from the scaled predictions.
    #[serde(default)]
    pub own_variance: OwnVariance,
}

/// How far the slope of a query is from that of the log: the posterior distribution.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Deviation {
    /// The query.
    pub query: Id,
    /// The mean.
    pub mean: f64,
    /// The standard deviation.
    pub standard_deviation: f64,
}

/// The conclusion that a log allows from a slope.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The interval is above 0, and the slope is not exceeded.
    Supported,
    /// The interval lies above 1, and the slope is 4/3 or more: more than the list decides the
    /// clicks.
    Exceeded,
    /// The interval ends below .3.
    Contradicted,
    /// Neither.
    CannotTest,
}

impl Verdict {
    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Supported => "supported",
            Self::Exceeded => "more than predicted",
            Self::Contradicted => "contradicted",
            Self::CannotTest => "this log cannot test it",
        }
    }
}

impl Transfer {
    /// The interval of the slope at 95 %.
    pub fn interval(&self) -> Option<(f64, f64)> {
        let half = normal_quantile(0.95) * self.standard_error?;
        self.slope.map(|slope| (slope - half, slope + half))
    }

    /// The conclusion that the log allows.
    pub fn verdict(&self) -> Verdict {
        match self.interval() {
            Some((low, _)) if low > 1.0 && self.slope >= Some(EXCEEDED) => Verdict::Exceeded,
            Some((low, _)) if low > 0.0 => Verdict::Supported,
            Some((_, high)) if high < CONTRADICTED => Verdict::Contradicted,
            _ => Verdict::CannotTest,
        }
    }

    /// How many times the data would decide: sessions, lists and queries alike. With them the
    /// slope, or a slope of .5 if it is smaller, would be told from 0. If the log suffices for
    /// that, the slope itself from 0 or from .3. `None` if the verdict stands, or if the error is
    /// unknown.
    pub fn needed(&self) -> Option<f64> {
        let (slope, (low, _)) = (self.slope?, self.interval()?);
        let (half, told) = (slope - low, slope.max(TO_BE_TOLD));
        let told = if half > told { told } else { slope.max(CONTRADICTED - slope) };
        (self.verdict() == Verdict::CannotTest).then(|| (half / told) * (half / told))
    }

    /// The deviation of a query's slope from that of the log; of a query that is not used, the
    /// distribution of all queries.
    pub fn deviation(&self, query: Id) -> Deviation {
        let place = self.deviations.binary_search_by_key(&query, |deviation| deviation.query);
        let unknown = Deviation { query, mean: 0.0, standard_deviation: self.between_queries };
        place.map_or(unknown, |place| self.deviations[place])
    }

    fn new(model: Model, queries: &[&SessionGroups], of_model: &OfModel, own_variance: OwnVariance) -> Self {
        let OfModel { total, moments, predicted, .. } = of_model;
        let slope = Some(total.slope()).filter(|slope| slope.is_finite());
        let statistics: Vec<f64> = of_model.without.iter().map(Moments::slope).collect();
        let own: Vec<Option<(f64, f64)>> = moments.iter().map(QueryMoments::slope).collect();
        let between = variance_between(own.iter().flatten().copied());
        let deviation = |(of_query, own): (&&SessionGroups, &Option<(f64, f64)>)| {
            // Weight of the query's own slope.
            let weight = own.map_or(0.0, |(_, error)| between / (between + error * error));
            let mean = slope.zip(*own).map_or(0.0, |(slope, (own, _))| weight * (own - slope));
            let standard_deviation = sqrt(between * (1.0 - weight));
            Deviation { query: of_query.query, mean, standard_deviation }
        };
        Self {
            model,
            slope,
            // An error of 0 comes from a log where nothing varies, and makes nothing sure.
            standard_error: slope.and_then(|_| jackknife(&statistics)).filter(|error| *error > 0.0),
            squared_error: total.squared_error(),
            predicted: *predicted,
            deviations: queries.iter().zip(&own).map(deviation).collect(),
            between_queries: sqrt(between),
            tenths: of_model.tenths.clone(),
            own_variance,
        }
    }
}

/// The moments of a model.
struct OfModel {
    /// Predicted clicks of a session.
    predicted: f64,
    total: Moments,
    moments: Vec<QueryMoments>,
    /// The total without each query or list.
    without: Vec<Moments>,
    tenths: Vec<[f64; 2]>,
}

impl OfModel {
    fn new(queries: &[&SessionGroups], predicted: &[Vec<f64>]) -> Self {
        let moments: Vec<QueryMoments> =
            queries.iter().zip(predicted).map(|(query, predicted)| query.moments(predicted)).collect();
        let total = moments.iter().fold(Moments::default(), |sum, query| sum.plus(&query.all));
        let without = if queries.len() >= FEWEST_QUERIES {
            moments.iter().map(|query| total.minus(&query.all)).collect()
        } else {
            let of_query = |query: &QueryMoments| {
                let others = total.minus(&query.all);
                query.without.iter().map(|rest| others.plus(rest)).collect::<Vec<_>>()
            };
            moments.iter().flat_map(of_query).collect()
        };
        let clicks = queries.iter().zip(predicted).map(|(query, predicted)| query.clicks_of(predicted));
        let differences =
            queries.iter().zip(predicted).flat_map(|(query, predicted)| query.differences(predicted));
        let tenths = tenths(differences.collect());
        Self { predicted: clicks.sum::<f64>() / total.sessions, total, moments, without, tenths }
    }
}

/// Means of predicted and observed differences in each tenth of the sessions.
fn tenths(mut differences: Vec<[f64; 3]>) -> Vec<[f64; 2]> {
    differences.sort_by(|a, b| a[0].total_cmp(&b[0]));
    let all: f64 = differences.iter().map(|[.., sessions]| sessions).sum();
    let (mut sums, mut before) = ([[0.0; 3]; 10], 0.0);
    for [predicted, observed, sessions] in differences {
        let place = 10.0 * (before + sessions / 2.0) / all;
        let sum = &mut sums[place.to_usize().unwrap_or(0).min(9)];
        before += sessions;
        *sum = [sum[0] + sessions * predicted, sum[1] + sessions * observed, sum[2] + sessions];
    }
    let mean = |sum: &[f64; 3]| (sum[2] > 0.0).then(|| [sum[0] / sum[2], sum[1] / sum[2]]);
    sums.iter().filter_map(mean).collect()
}

impl QueryMoments {
    /// The slope of a query with its standard error.
    fn slope(&self) -> Option<(f64, f64)> {
        let statistics: Vec<f64> = self.without.iter().map(Moments::slope).collect();
        let error = jackknife(&statistics).filter(|error| *error > 0.0)?;
        Some((self.all.slope(), error))
    }
}

/// The variance of slopes between queries, from slopes with their errors: the method of moments.
fn variance_between(slopes: impl Iterator<Item = (f64, f64)> + Clone) -> f64 {
    let weighted = slopes.map(|(slope, error)| (1.0 / (error * error), slope));
    let [n, weight, squared, first] = weighted.clone().fold([0.0; 4], |[n, w, ww, ws], (weight, slope)| {
        [n + 1.0, w + weight, ww + weight * weight, ws + weight * slope]
    });
    let mean = first / weight;
    let q: f64 = weighted.map(|(weight, slope)| weight * (slope - mean) * (slope - mean)).sum();
    let variance = (q - (n - 1.0)) / (weight - squared / weight);
    if variance.is_finite() { variance.max(0.0) } else { 0.0 }
}

impl Transfers {
    /// Fits the models to four fifths of the lists in turn, starting near their fits to the whole
    /// log, if there are any; and predicts the others. `None` if no query has several lists to
    /// compare, or if the order of the log is unknown.
    ///
    /// # Errors
    ///
    /// Fails as [`fit`](super::fit()) does.
    pub fn new(
        models: &[Model],
        whole: &[Fit],
        sessions: &Sessions,
        options: &Options,
    ) -> Result<Option<Self>, FitError> {
        options.check()?;
        let changes = groups::level_changes(sessions);
        let all: Vec<SessionGroups> =
            sessions.queries().map(|query| SessionGroups::new(&query, changes)).collect();
        let queries: Vec<&SessionGroups> = SessionGroups::differing(&all).collect();
        if queries.is_empty() {
            return Ok(None);
        }
        let predicted = folds::predicted(models, whole, sessions, &all, &options.of_folds())?;
        let own = |grouped: &&SessionGroups| Some(Lists::new(&sessions.query(grouped.query)?, grouped));
        let lists: Vec<Lists> = queries.iter().filter_map(own).collect();
        Ok(predicted.map(|predicted| Self::of_predictions(models, &queries, &lists, &predicted)))
    }

    /// The transfer of predictions, by model, query and list.
    fn of_predictions(
        models: &[Model],
        queries: &[&SessionGroups],
        lists: &[Lists],
        predicted: &[Vec<Vec<f64>>],
    ) -> Self {
        let all: Vec<OfModel> = predicted.iter().map(|predicted| OfModel::new(queries, predicted)).collect();
        let difference = |first: &OfModel, second: &OfModel| {
            let statistics = first.without.iter().zip(&second.without);
            let statistics: Vec<f64> =
                statistics.map(|(a, b)| b.squared_error() - a.squared_error()).collect();
            let mean = second.total.squared_error() - first.total.squared_error();
            Difference { mean, standard_error: jackknife(&statistics) }
        };
        let sessions: u64 = queries.iter().map(|query| query.sessions).sum();
        let transfer = |((&model, of_model), predicted): ((&Model, &OfModel), &Vec<Vec<f64>>)| {
            let slope = of_model.total.slope();
            let slope = if slope.is_finite() { slope.clamp(0.0, 1.0) } else { 0.0 };
            Transfer::new(model, queries, of_model, OwnVariance::new(lists, predicted, slope))
        };
        Self {
            models: models.iter().zip(&all).zip(predicted).map(transfer).collect(),
            queries: queries.len(),
            lists: queries.iter().map(|query| query.parts.len()).sum(),
            sessions,
            observed: queries.iter().map(|query| query.clicks()).sum::<f64>() / sessions as f64,
            differences: all.iter().map(|a| all.iter().map(|b| difference(a, b)).collect()).collect(),
        }
    }

    /// The transfer of a model.
    pub fn of(&self, model: Model) -> Option<&Transfer> {
        self.models.iter().find(|transfer| transfer.model == model)
    }

    /// How much smaller the squared error of the first model is: positive if it is better.
    pub fn difference(&self, first: Model, second: Model) -> Option<Difference> {
        let place = |model| self.models.iter().position(|transfer| transfer.model == model);
        Some(self.differences[place(first)?][place(second)?])
    }

    /// The models for which `passes` is true and which are not told apart from that of the least
    /// squared error, which is the first.
    pub fn alike(&self, passes: &dyn Fn(Model) -> bool) -> Vec<Model> {
        let mut places: Vec<usize> =
            (0..self.models.len()).filter(|&place| passes(self.models[place].model)).collect();
        places.sort_by(|&a, &b| self.models[a].squared_error.total_cmp(&self.models[b].squared_error));
        let alike = |place: &&usize| !self.differences[places[0]][**place].is_told_apart();
        places.iter().filter(alike).map(|&place| self.models[place].model).collect()
    }
}

#[cfg(test)]
mod tests;
