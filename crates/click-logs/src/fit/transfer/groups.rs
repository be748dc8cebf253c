//! Sums over groups of sessions: a query, and a part of its lists. If the level of clicks changes
//! with time, also a tenth of its sessions.
//!
//! Within a group of `n` sessions, with `p` predicted and `y` observed clicks of a session,
//! `S_pp = sum p^2 - (sum p)^2 / n` and `S_py = sum p y - (sum p)(sum y) / n`. A list leaves its
//! groups by subtraction of its own sums, so a jackknife over lists is linear in them.
//!
//! The lists of a query are dealt into [`PARTS`] parts in the order of their sessions, most first.
//! Parts are not compared with each other: a list with many clicks raises the predictions of every
//! part but its own, so means of all parts would make the slope too small.
//!
//! Reference: Efron, *The jackknife, the bootstrap and other resampling plans*, 1982, chapter 3.
//! Deviations: none. Numerics: an `S_pp` below 1e-12 of `sum p^2` is 0. Complexity: O(lists in
//! tenths).

use confidence::math::sqrt;
use log_reader::{Id, QuerySessions, Sessions};
use std::cmp::Reverse;

/// Parts of the lists of a query.
pub(super) const PARTS: usize = 5;
/// Parts of the sessions of a query.
const TENTHS: usize = 10;
const GROUPS: usize = PARTS * TENTHS;
/// The least change of the level of clicks that matters, and its standard errors: as in the check
/// of the second half of a log.
const LEVEL_CHANGE: f64 = 0.05;
const LEVEL_ERRORS: f64 = 2.5;
/// The share of a sum of squares below which the rest of a subtraction is a rounding error.
const ROUNDING: f64 = 1e-12;

/// The sessions of one list in one group.
#[derive(Debug)]
struct Share {
    list: usize,
    group: usize,
    sessions: f64,
    clicks: f64,
}

/// The sessions of a query by list and group.
#[derive(Debug)]
pub(super) struct SessionGroups {
    pub(super) query: Id,
    pub(super) sessions: u64,
    /// The part of each list.
    pub(super) parts: Vec<usize>,
    /// Sorted by list.
    shares: Vec<Share>,
}

/// Sums over sessions.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    sessions: f64,
    predicted: f64,
    observed: f64,
    predicted_squared: f64,
    product: f64,
}

/// Sums over groups: sessions, `S_pp` and `S_py`.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Moments {
    pub(super) sessions: f64,
    pub(super) s_pp: f64,
    pub(super) s_py: f64,
}

/// A query's moments: all of them, and those that remain without each of its lists.
#[derive(Debug)]
pub(super) struct QueryMoments {
    pub(super) all: Moments,
    pub(super) without: Vec<Moments>,
}

/// Whether the sessions of queries have more or fewer clicks in their second half than in their
/// first: surely, and so that it matters. The order of rows is no time.
pub(super) fn level_changes(sessions: &Sessions) -> bool {
    if sessions.times().is_none() {
        return false;
    }
    let [mut more, mut variance, mut clicks] = [0.0; 3];
    for query in sessions.queries() {
        let n = query.in_order().len();
        let mut halves = [[0.0; 3]; 2];
        for (number, session) in query.in_order().enumerate() {
            let (half, clicks) = (&mut halves[2 * number / n], f64::from(session.clicks.count()));
            *half = [half[0] + 1.0, half[1] + clicks, half[2] + clicks * clicks];
        }
        let [[n_first, first, _], [n_second, second, _]] = halves;
        if n < 4 {
            continue;
        }
        let [n, sum, squares] = [0, 1, 2].map(|at| halves[0][at] + halves[1][at]);
        let weight = n_first * n_second / n;
        more += weight * (second / n_second - first / n_first);
        clicks += weight * sum / n;
        variance += weight * (squares - sum * sum / n) / (n - 1.0);
    }
    more.abs() > LEVEL_ERRORS * sqrt(variance) && more.abs() > LEVEL_CHANGE * clicks
}

impl SessionGroups {
    pub(super) fn new(query: &QuerySessions<'_>, level_changes: bool) -> Self {
        let n_sessions = query.in_order().len();
        let mut cells = vec![[(0_u64, 0_u64); TENTHS]; query.lists().len()];
        for (number, session) in query.in_order().enumerate() {
            let tenth = if level_changes { number * TENTHS / n_sessions } else { 0 };
            let cell = &mut cells[session.list][tenth];
            *cell = (cell.0 + 1, cell.1 + u64::from(session.clicks.count()));
        }
        let mut order: Vec<usize> = (0..cells.len()).collect();
        // A stable sort: lists with as many sessions stay in order.
        order.sort_by_key(|&list| Reverse(cells[list].iter().map(|cell| cell.0).sum::<u64>()));
        let mut parts = vec![0; order.len()];
        order.iter().enumerate().for_each(|(number, &list)| parts[list] = number % PARTS);
        let mut shares = Vec::new();
        for (list, cells) in cells.iter().enumerate() {
            for (tenth, &(sessions, clicks)) in cells.iter().enumerate().filter(|(_, cell)| cell.0 > 0) {
                let (sessions, clicks) = (sessions as f64, clicks as f64);
                shares.push(Share { list, group: tenth * PARTS + parts[list], sessions, clicks });
            }
        }
        Self { query: query.id(), sessions: n_sessions as u64, parts, shares }
    }

    /// Whether any group has two lists: other queries have nothing to compare.
    fn differs(&self) -> bool {
        let mut lists = [0; GROUPS];
        self.shares.iter().for_each(|share| lists[share.group] += 1);
        lists.iter().any(|&lists| lists > 1)
    }

    /// The queries that have lists to compare.
    pub(super) fn differing(queries: &[Self]) -> impl Iterator<Item = &Self> {
        queries.iter().filter(|query| query.differs())
    }

    pub(super) fn clicks(&self) -> f64 {
        self.shares.iter().map(|share| share.clicks).sum()
    }

    /// The clicks of all sessions if those of each list have this mean.
    pub(super) fn clicks_of(&self, predicted: &[f64]) -> f64 {
        self.shares.iter().map(|share| share.sessions * predicted[share.list]).sum()
    }

    fn groups(&self, predicted: &[f64]) -> [Sums; GROUPS] {
        let mut groups = [Sums::default(); GROUPS];
        for share in &self.shares {
            groups[share.group].add(&share.sums(predicted), 1.0);
        }
        groups
    }

    /// Predicted and observed clicks of a session of each list in each group, both less the mean of
    /// the group, and the number of its sessions.
    pub(super) fn differences(&self, predicted: &[f64]) -> Vec<[f64; 3]> {
        let groups = self.groups(predicted);
        let difference = |share: &Share| {
            let group = &groups[share.group];
            let of_group = [group.predicted, group.observed].map(|sum| sum / group.sessions);
            [predicted[share.list] - of_group[0], share.clicks / share.sessions - of_group[1], share.sessions]
        };
        self.shares.iter().map(difference).collect()
    }

    /// The moments, with the predicted clicks of a session of each list.
    pub(super) fn moments(&self, predicted: &[f64]) -> QueryMoments {
        let groups = self.groups(predicted);
        let of_groups = groups.map(|group| group.moments(group.predicted_squared));
        let all = of_groups.iter().fold(Moments::default(), |sum, group| sum.plus(group));
        let mut lost = vec![Moments::default(); self.parts.len()];
        for share in &self.shares {
            let group = &groups[share.group];
            let mut rest = *group;
            rest.add(&share.sums(predicted), -1.0);
            let of_list = of_groups[share.group].minus(&rest.moments(group.predicted_squared));
            lost[share.list] = lost[share.list].plus(&of_list);
        }
        QueryMoments { all, without: lost.iter().map(|lost| all.minus(lost)).collect() }
    }
}

impl Share {
    fn sums(&self, predicted: &[f64]) -> Sums {
        let Self { sessions, clicks, .. } = *self;
        let p = predicted[self.list];
        Sums {
            sessions,
            predicted: sessions * p,
            observed: clicks,
            predicted_squared: sessions * p * p,
            product: p * clicks,
        }
    }
}

impl Sums {
    fn add(&mut self, more: &Self, times: f64) {
        self.sessions += times * more.sessions;
        self.predicted += times * more.predicted;
        self.observed += times * more.observed;
        self.predicted_squared += times * more.predicted_squared;
        self.product += times * more.product;
    }

    /// The moments; `scale` is the `sum p^2` that rounding errors are relative to.
    fn moments(&self, scale: f64) -> Moments {
        let Self { sessions, predicted, observed, predicted_squared, product } = *self;
        let s_pp = predicted_squared - predicted * predicted / sessions;
        if s_pp > ROUNDING * scale {
            Moments { sessions, s_pp, s_py: product - predicted * observed / sessions }
        } else {
            Moments { sessions, ..Moments::default() }
        }
    }
}

impl Moments {
    pub(super) fn plus(&self, more: &Self) -> Self {
        Self {
            sessions: self.sessions + more.sessions,
            s_pp: self.s_pp + more.s_pp,
            s_py: self.s_py + more.s_py,
        }
    }

    /// The remainder without a part; exactly 0 if nothing remains.
    pub(super) fn minus(&self, part: &Self) -> Self {
        let sessions = self.sessions - part.sessions;
        let (s_pp, s_py) = (self.s_pp - part.s_pp, self.s_py - part.s_py);
        if s_pp.abs() > ROUNDING * self.s_pp {
            Self { sessions, s_pp, s_py }
        } else {
            Self { sessions, ..Self::default() }
        }
    }

    /// The slope of observed on predicted clicks; NaN if predictions do not differ.
    pub(super) fn slope(&self) -> f64 {
        self.s_py / self.s_pp
    }

    /// The squared error of predicted clicks of a session, less that of predicting no differences.
    pub(super) fn squared_error(&self) -> f64 {
        (self.s_pp - 2.0 * self.s_py) / self.sessions
    }
}

/// The standard error from the statistics without one unit each; `None` if one of them is unknown,
/// or if there are fewer than two.
pub fn jackknife(statistics: &[f64]) -> Option<f64> {
    let n = statistics.len() as f64;
    let mean = statistics.iter().sum::<f64>() / n;
    let squares: f64 = statistics.iter().map(|statistic| (statistic - mean) * (statistic - mean)).sum();
    (n > 1.0 && squares.is_finite()).then(|| sqrt((n - 1.0) / n * squares))
}
