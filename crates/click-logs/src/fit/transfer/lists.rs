//! How far lists differ from the scaled predictions by something of their own: a model's error.
//!
//! A list with `n` sessions has the mean clicks `y` and the prediction `p` of a fit that has not
//! seen it. The residual `e = y - b p`, with slope `b`, is centred within a query and a part of
//! its lists, of `N` sessions. By chance its square has the mean `s^2 (1/n - 1/N)`, where `s^2` is
//! the variance between sessions with the same list of the query. The variance of lists is a moment
//! estimate over all queries, and its error that of chance alone:
//!
//! `sum n^2 (e^2 - chance) / s^4`, divided by `sum n^2 (1 - 2n/N + sum n^2 / N^2) / s^4`.
//!
//! The fit's own error is a part of it that draws of users contain already: that of the difference
//! between the fits of two halves of the log, with the same sums.
//!
//! Reference: none; `DerSimonian` and Laird's estimate has weights `n`, with which hundreds of
//! lists that were shown once drown the few that tell something. Numerics: the variance of a query
//! is shrunk to that of all, or a query with few sessions has nearly all of the weight. Complexity:
//! O(lists).

use super::groups::{PARTS, SessionGroups};
use super::{Fit, Transfer};
use crate::fit::Prediction;
use click_models::Clicks;
use confidence::math::sqrt;
use log_reader::{QuerySessions, Sessions};
use serde::{Deserialize, Serialize};

/// The variance of all queries counts as this number of sessions of a query.
const AS_SESSIONS: f64 = 20.0;
/// The variance of lists is taken for chance up to this number of its standard errors.
const CHANCE: f64 = 2.0;

/// The variance of lists around scaled predictions, in clicks squared: see the module.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct OwnVariance {
    /// The estimate, which contains the fit's own error; below 0 by chance.
    pub estimate: f64,
    /// Its standard error if lists differ by chance alone.
    pub standard_error: f64,
}

/// The lists of a query, sorted as in the log.
pub(super) struct Lists {
    parts: Vec<usize>,
    /// Sessions and mean clicks.
    shown: Vec<[f64; 2]>,
    variance: f64,
}

/// The variance of the clicks of sessions that show the same list of a query, shrunk to that of all
/// queries relative to their clicks: the variance of few sessions is often far too small.
#[derive(Debug, Clone, Copy)]
pub struct SessionVariance {
    /// The variance of all queries, divided by their clicks of a session.
    relative: f64,
}

impl SessionVariance {
    /// Reads the variance of all queries from a log.
    pub fn new(sessions: &Sessions) -> Self {
        let (mut squares, mut expected) = (0.0, 0.0);
        for query in sessions.queries() {
            let [of_query, freedom, mean] = within(&query);
            squares += of_query;
            expected += freedom * mean;
        }
        // Without repeated lists, that of a Poisson distribution.
        Self { relative: if squares > 0.0 && expected > 0.0 { squares / expected } else { 1.0 } }
    }

    /// The variance of a query, in clicks squared.
    pub fn of(&self, query: &QuerySessions<'_>) -> f64 {
        let [squares, freedom, mean] = within(query);
        (squares + AS_SESSIONS * self.relative * mean) / (freedom + AS_SESSIONS)
    }
}

/// The squared differences of sessions from the mean of their list, their degrees of freedom, and
/// the mean clicks of a session.
fn within(query: &QuerySessions<'_>) -> [f64; 3] {
    let [mut sessions, mut lists, mut all, mut squares, mut explained] = [0.0; 5];
    for list in query.lists() {
        let [mut shown, mut clicks] = [0.0; 2];
        for pattern in list.patterns() {
            let (times, of_session) = (pattern.sessions as f64, f64::from(pattern.clicks.count()));
            shown += times;
            clicks += times * of_session;
            squares += times * of_session * of_session;
        }
        sessions += shown;
        all += clicks;
        lists += 1.0;
        explained += clicks * clicks / shown;
    }
    [(squares - explained).max(0.0), sessions - lists, all / sessions]
}

impl Lists {
    pub(super) fn new(query: &QuerySessions<'_>, grouped: &SessionGroups, variance: SessionVariance) -> Self {
        let shown = query.lists().map(|list| {
            let [sessions, clicks] = list.patterns().iter().fold([0, 0], |[sessions, clicks], pattern| {
                let of_patterns = pattern.sessions * u64::from(pattern.clicks.count());
                [sessions + pattern.sessions, clicks + of_patterns]
            });
            [sessions as f64, clicks as f64 / sessions as f64]
        });
        let (parts, shown) = (grouped.parts.clone(), shown.collect());
        Self { parts, shown, variance: variance.of(query) }
    }

    /// The sums of values of the lists: of weighted squares, of chance, and of its variance.
    fn sums(&self, value: &dyn Fn(usize) -> f64) -> [f64; 4] {
        let mut sums = [0.0; 4];
        for part in 0..PARTS {
            let of_part = || (0..self.parts.len()).filter(|&list| self.parts[list] == part);
            if self.variance <= 0.0 || of_part().count() < 2 {
                continue;
            }
            let over = |term: &dyn Fn(usize, f64) -> f64| -> f64 {
                of_part().map(|list| term(list, self.shown[list][0])).sum()
            };
            let all = over(&|_, n| n);
            let mean = over(&|list, n| n * value(list)) / all;
            let squares = over(&|_, n| n * n);
            let of_lists = over(&|_, n| n * n * (1.0 - 2.0 * n / all + squares / (all * all)));
            let chance = |n: f64| self.variance * (1.0 / n - 1.0 / all);
            let scale = self.variance * self.variance;
            let terms = [
                over(&|list, n| n * n * (value(list) - mean) * (value(list) - mean)),
                over(&|_, n| n * n * chance(n)),
                over(&|_, n| 2.0 * n * n * chance(n) * n * n * chance(n)) / scale,
                of_lists,
            ];
            sums.iter_mut().zip(terms).for_each(|(sum, term)| *sum += term / scale);
        }
        sums
    }
}

/// Sums over queries of the values of their lists.
fn total(queries: &[Lists], value: &dyn Fn(usize, usize) -> f64) -> [f64; 4] {
    let mut all = [0.0; 4];
    for (query, lists) in queries.iter().enumerate() {
        let of_query = lists.sums(&|list| value(query, list));
        all.iter_mut().zip(of_query).for_each(|(sum, of_query)| *sum += of_query);
    }
    all
}

impl OwnVariance {
    /// The variance around predictions, by query and list, that are multiplied by a slope.
    pub(super) fn new(queries: &[Lists], predicted: &[Vec<f64>], slope: f64) -> Self {
        let residual =
            |query: usize, list: usize| queries[query].shown[list][1] - slope * predicted[query][list];
        let [squares, chance, variance, of_lists] = total(queries, &residual);
        if of_lists > 0.0 && squares.is_finite() {
            Self { estimate: (squares - chance) / of_lists, standard_error: sqrt(variance) / of_lists }
        } else {
            Self::default()
        }
    }
}

impl Transfer {
    /// The variance of lists that neither chance nor the error of the fit explains, in clicks
    /// squared; 0 unless it exceeds them by two standard errors. `halves` are fits to two halves of
    /// the sessions.
    pub fn variance_of_lists(&self, sessions: &Sessions, halves: [&Fit; 2]) -> f64 {
        let OwnVariance { estimate, standard_error } = self.own_variance;
        if estimate <= CHANCE * standard_error {
            return 0.0;
        }
        let (changes, variance) = (super::groups::level_changes(sessions), SessionVariance::new(sessions));
        let all: Vec<SessionGroups> =
            sessions.queries().map(|query| SessionGroups::new(&query, changes)).collect();
        let (mut queries, mut differences) = (Vec::new(), Vec::new());
        let mut prediction = Prediction::default();
        for grouped in SessionGroups::differing(&all) {
            let Some(query) = sessions.query(grouped.query) else { continue };
            queries.push(Lists::new(&query, grouped, variance));
            let of_list = query.lists().map(|list| {
                let [first, second] = halves.map(|half| -> f64 {
                    let clicks = Clicks::new(list.items().len());
                    half.predict_at(query.id(), list.items(), list.positions(), clicks, &mut prediction);
                    prediction.marginal.iter().sum()
                });
                (first - second) / 2.0
            });
            differences.push(of_list.collect::<Vec<f64>>());
        }
        let slope = self.slope.unwrap_or(0.0).clamp(0.0, 1.0);
        let [squares, .., of_lists] = total(&queries, &|query, list| slope * differences[query][list]);
        let beyond = estimate - squares / of_lists;
        if beyond > CHANCE * standard_error { beyond - standard_error } else { 0.0 }
    }
}
