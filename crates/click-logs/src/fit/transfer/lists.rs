//! How far lists differ from the scaled predictions by something of their own: a model's error.
//!
//! A list with `n` sessions has the mean clicks `y` and the prediction `p` of a fit that has not
//! seen it. The residual `e = y - b p`, with slope `b`, is centred within a query and a part of
//! its lists, of `N` sessions. By chance its square has the mean `s^2 (1/n - 1/N)`, where `s^2` is
//! the variance between sessions with the same list of the part. The variance of lists is a moment
//! estimate over all parts, and its error that of chance alone:
//!
//! `sum w n^2 (e^2 - chance)`, divided by `sum w n^2 (1 - 2n/N + sum n^2 / N^2)`.
//!
//! A variance grows about in proportion to its mean, so the weight `w` is `1 / m^2`. The mean
//! clicks `m` are those of the query's *other* parts, shrunk to those of all: weights that follow
//! the clicks that they weigh would make chance too small where a part has few of them.
//! The variance `s^2` is the part's own, shrunk to its clicks times the weighted relative variance
//! of all parts, and so unbiased with these weights.
//!
//! The fit's own error is a part of it that draws of users contain already: that of the difference
//! between the fits of two halves of the log, with the same sums.
//!
//! Reference: none; `DerSimonian` and Laird's estimate has weights `n`, with which hundreds of
//! lists that were shown once drown the few that tell something. Numerics: none. Complexity:
//! O(lists).

use super::groups::{PARTS, SessionGroups};
use super::{Fit, Transfer};
use crate::fit::Prediction;
use click_models::Clicks;
use confidence::math::sqrt;
use log_reader::{ListSessions, QuerySessions, Sessions};
use serde::{Deserialize, Serialize};

/// The clicks of all queries count as this number of sessions of one.
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
    lists: Vec<Within>,
}

/// Sessions that are compared with others of the same list.
#[derive(Debug, Clone, Copy, Default)]
struct Within {
    sessions: f64,
    clicks: f64,
    /// Squared differences from the mean of their list, and the degrees of freedom.
    squares: f64,
    freedom: f64,
}

impl Within {
    fn new(list: &ListSessions<'_>) -> Self {
        let [mut sessions, mut clicks, mut squares] = [0.0; 3];
        for pattern in list.patterns {
            let (times, of_session) = (pattern.sessions as f64, f64::from(pattern.clicks.count()));
            sessions += times;
            clicks += times * of_session;
            squares += times * of_session * of_session;
        }
        let squares = (squares - clicks * clicks / sessions).max(0.0);
        Self { sessions, clicks, squares, freedom: sessions - 1.0 }
    }

    fn plus(self, more: &Self, times: f64) -> Self {
        Self {
            sessions: self.sessions + times * more.sessions,
            clicks: self.clicks + times * more.clicks,
            squares: self.squares + times * more.squares,
            freedom: self.freedom + times * more.freedom,
        }
    }

    fn sum<'a>(all: impl IntoIterator<Item = &'a Self>) -> Self {
        all.into_iter().fold(Self::default(), |sum, of| sum.plus(of, 1.0))
    }

    fn mean(&self) -> f64 {
        self.clicks / self.sessions
    }

    /// The mean, shrunk to that of all sessions.
    fn shrunk_mean(&self, of_all: f64) -> f64 {
        (self.clicks + AS_SESSIONS * of_all) / (self.sessions + AS_SESSIONS)
    }

    /// The variance, shrunk to another one.
    fn variance(&self, of_all: f64) -> f64 {
        (self.squares + AS_SESSIONS * of_all) / (self.freedom + AS_SESSIONS)
    }
}

/// The variance of sessions that show the same list, divided by their mean clicks; with weights.
fn relative_variance(all: impl Iterator<Item = (Within, f64)>) -> f64 {
    let [squares, expected] = all.fold([0.0; 2], |[squares, expected], (of, weight)| {
        [squares + weight * of.squares, expected + weight * of.freedom * of.mean()]
    });
    // Without repeated lists, that of a Poisson distribution.
    if squares > 0.0 && expected > 0.0 { squares / expected } else { 1.0 }
}

/// The variance of the clicks of sessions that show the same list of a query, shrunk to that of all
/// queries relative to their clicks: the variance of few sessions is often far too small.
#[derive(Debug, Clone, Copy)]
pub struct SessionVariance {
    relative: f64,
    mean: f64,
}

impl SessionVariance {
    /// Reads the variance of all queries from a log.
    pub fn new(sessions: &Sessions) -> Self {
        let all: Vec<Within> = sessions.queries().map(|query| of_query(&query)).collect();
        let relative = relative_variance(all.iter().map(|of| (*of, 1.0)));
        Self { relative, mean: Within::sum(&all).mean() }
    }

    /// The variance of a query, in clicks squared.
    pub fn of(&self, query: &QuerySessions<'_>) -> f64 {
        let within = of_query(query);
        within.variance(self.relative * within.shrunk_mean(self.mean))
    }
}

fn of_query(query: &QuerySessions<'_>) -> Within {
    query.lists().fold(Within::default(), |sum, list| sum.plus(&Within::new(&list), 1.0))
}

/// Sums over the lists of a part of a query.
struct PartSums {
    within: Within,
    weight: f64,
    /// Of `n^2` times squared values, the chance in them for a variance of 1, twice the square of
    /// the chance in each, and what a variance of lists of 1 adds.
    squares: f64,
    chance: f64,
    of_chance: f64,
    of_lists: f64,
}

impl Lists {
    pub(super) fn new(query: &QuerySessions<'_>, grouped: &SessionGroups) -> Self {
        let lists = query.lists().map(|list| Within::new(&list)).collect();
        Self { parts: grouped.parts.clone(), lists }
    }

    /// The sums of values of the lists, where the sessions of all queries have this mean.
    fn sums(&self, mean: f64, value: &dyn Fn(usize) -> f64) -> Vec<PartSums> {
        let all = Within::sum(&self.lists);
        let of_part = |part: usize| -> Option<PartSums> {
            let lists: Vec<usize> = (0..self.lists.len()).filter(|&list| self.parts[list] == part).collect();
            let within = Within::sum(lists.iter().map(|&list| &self.lists[list]));
            let over = |term: &dyn Fn(f64, usize) -> f64| -> f64 {
                lists.iter().map(|&list| term(self.lists[list].sessions, list)).sum()
            };
            let centre = over(&|n, list| n * value(list)) / within.sessions;
            let squares = over(&|n, _| n * n);
            let chance = |n: f64| n * n * (1.0 / n - 1.0 / within.sessions);
            let others = all.plus(&within, -1.0).shrunk_mean(mean);
            (lists.len() > 1).then(|| PartSums {
                within,
                weight: 1.0 / (others * others),
                squares: over(&|n, list| n * n * (value(list) - centre) * (value(list) - centre)),
                chance: over(&|n, _| chance(n)),
                of_chance: over(&|n, _| 2.0 * chance(n) * chance(n)),
                of_lists: over(&|n, _| {
                    n * n * (1.0 - 2.0 * n / within.sessions + squares / (within.sessions * within.sessions))
                }),
            })
        };
        (0..PARTS).filter_map(of_part).collect()
    }
}

/// Weighted sums over queries of the values of their lists: of squares, of chance, of its variance,
/// and of what a variance of lists of 1 adds.
fn total(queries: &[Lists], value: &dyn Fn(usize, usize) -> f64) -> [f64; 4] {
    let mean = Within::sum(queries.iter().flat_map(|query| &query.lists)).mean();
    let of_query = |(query, lists): (usize, &Lists)| lists.sums(mean, &|list| value(query, list));
    let parts: Vec<PartSums> = queries.iter().enumerate().flat_map(of_query).collect();
    let relative = relative_variance(parts.iter().map(|part| (part.within, part.weight)));
    parts.iter().fold([0.0; 4], |[squares, chance, error, of_lists], part| {
        let variance = part.weight * part.within.variance(relative * part.within.mean());
        [
            squares + part.weight * part.squares,
            chance + variance * part.chance,
            error + variance * variance * part.of_chance,
            of_lists + part.weight * part.of_lists,
        ]
    })
}

impl OwnVariance {
    /// The variance around predictions, by query and list, that are multiplied by a slope.
    pub(super) fn new(queries: &[Lists], predicted: &[Vec<f64>], slope: f64) -> Self {
        let residual =
            |query: usize, list: usize| queries[query].lists[list].mean() - slope * predicted[query][list];
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
    /// the sessions, whose copies multiply chance by the overdispersion.
    pub fn variance_of_lists(&self, sessions: &Sessions, halves: [&Fit; 2], overdispersion: f64) -> f64 {
        let OwnVariance { estimate, standard_error } = self.own_variance;
        if estimate <= CHANCE * standard_error {
            return 0.0;
        }
        let changes = super::groups::level_changes(sessions);
        let all: Vec<SessionGroups> =
            sessions.queries().map(|query| SessionGroups::new(&query, changes)).collect();
        let (mut queries, mut differences) = (Vec::new(), Vec::new());
        let mut prediction = Prediction::default();
        for grouped in SessionGroups::differing(&all) {
            let Some(query) = sessions.query(grouped.query) else { continue };
            queries.push(Lists::new(&query, grouped));
            let of_list = query.lists().map(|list| {
                let [first, second] = halves.map(|half| -> f64 {
                    let clicks = Clicks::new(list.items.len());
                    half.predict_at(query.id(), list.items, list.positions, clicks, &mut prediction);
                    prediction.marginal.iter().sum()
                });
                (first - second) / 2.0
            });
            differences.push(of_list.collect::<Vec<f64>>());
        }
        let slope = self.slope.unwrap_or(0.0).clamp(0.0, 1.0);
        let [squares, chance, _, of_lists] = total(&queries, &|query, list| slope * differences[query][list]);
        let beyond = estimate - (squares + (overdispersion - 1.0) * chance) / of_lists;
        let standard_error = overdispersion * standard_error;
        if beyond > CHANCE * standard_error { beyond - standard_error } else { 0.0 }
    }
}
