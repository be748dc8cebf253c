//! Sessions of users who scan from the top: certain examinations, and the prior of attraction.
//!
//! Every impression down to some position of a session was certainly examined ([`Certain`]). Below,
//! examination has a probability under the model. The prior of attraction comes from all
//! impressions, weighted by this probability: certain impressions alone would contain all clicks
//! and lack skips. The weights depend on the model, so callers find both in alternation.
//!
//! Reference: see [`super::stopping`] and [`super::chain`]. Deviations: priors are ours
//! ([`super::credibility`]).
//!
//! | here | meaning |
//! |---|---|
//! | row | an item of a query |
//! | `certain` | clicks and certainly examined impressions of every row |
//! | `means` | the prior mean of attraction of every row |
//!
//! Numerics: sums in the order of the sessions. Complexity: linear in the impressions of different
//! sessions, and O(items times positions) for every query.

use super::credibility::{Count, Credibility, items, with_shares};
use super::estimate::Estimate;
use super::fitted::FoundPrior;
use super::in_order::{in_order, tasks_of};
use super::item_prior::ItemPrior;
use super::options::Options;
use super::squarem::Convergence;
use super::{Attractions, Fit, ItemFit, Model, Purpose, QueryFit, Site};
use click_models::Clicks;
use log_reader::{Id, ListSessions, QuerySessions, Sessions};
use std::ops::Range;

/// Largest number of alternations between the prior of attraction and the other parameters, and the
/// change at which they stop.
pub(super) const TURNS: usize = 10;
pub(super) const TOLERANCE_OF_TURNS: f64 = 0.01;
/// The change of a lift at which its alternations with the prior end, in the last turn and in those
/// before it. Each alternation leaves a small part of the error.
pub(super) const TOLERANCE_OF_LIFTS: f64 = 1e-3;
pub(super) const ROUGH_TOLERANCE_OF_LIFTS: f64 = 0.1;

/// About the number of EM steps of a query.
pub(super) const PASSES_OF_EM: usize = 32;
/// Number of items of lists of one task for a thread.
const ITEMS_OF_A_TASK: usize = 1 << 16;

/// The rows: items of queries, sorted by query and identifier.
pub(super) struct Rows {
    pub(super) items: Vec<Id>,
    pub(super) queries: Vec<Range<usize>>,
}

/// How far down a session was certainly examined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Certain {
    /// To the first click; the whole list without a click.
    FirstClick,
    /// To the last click; the whole list without a click.
    LastClick,
    /// To the last click; the first position without a click.
    LastClickOrTop,
}

impl Certain {
    /// The click below which examination is uncertain.
    pub(super) fn last(self, clicks: Clicks) -> Option<usize> {
        let bits = clicks.bits();
        let place = match self {
            Self::FirstClick => bits.trailing_zeros(),
            Self::LastClick | Self::LastClickOrTop => 63 - bits.leading_zeros().min(63),
        };
        (bits != 0).then_some(place as usize)
    }

    /// Number of certainly examined positions of a list of this length.
    fn examined(self, last: Option<usize>, length: usize) -> usize {
        match (self, last) {
            (_, Some(last)) => last + 1,
            (Self::LastClickOrTop, None) => length.min(1),
            (_, None) => length,
        }
    }
}

/// The data, query by query, and the prior of attraction.
pub(super) struct ScanData<'a> {
    pub(super) options: &'a Options,
    purpose: Purpose<'a>,
    pub(super) rows: Rows,
    pub(super) queries: Vec<QuerySessions<'a>>,
    /// The rows of the items of every list, one list after the other, by query.
    rows_of_lists: Vec<Vec<usize>>,
    pub(super) n_positions: usize,
    pub(super) until: Certain,
    /// Clicks and certainly examined impressions of every row.
    pub(super) certain: Vec<(u64, u64)>,
    pub(super) item_prior: ItemPrior,
    /// The prior mean of attraction of every row.
    pub(super) means: Vec<f64>,
    /// Where the next search for the prior of attraction starts.
    found: Option<FoundPrior>,
    /// Whether the alternation between the prior and the other parameters has come to its end.
    pub(super) has_settled: bool,
}

impl<'a> ScanData<'a> {
    /// With the prior of certain impressions, which is rough if `has_hidden`: the start of a
    /// search.
    pub(super) fn new(
        sessions: &'a Sessions,
        options: &'a Options,
        until: Certain,
        has_hidden: bool,
        purpose: Purpose<'a>,
    ) -> Self {
        let queries: Vec<_> = sessions.queries().collect();
        let mut rows = Rows { items: Vec::new(), queries: Vec::new() };
        for query in &queries {
            let mut items: Vec<Id> = query.lists().flat_map(|list| list.items.iter().copied()).collect();
            items.sort_unstable();
            items.dedup();
            let start = rows.items.len();
            rows.items.extend(items);
            rows.queries.push(start..rows.items.len());
        }
        let lists = queries.iter().flat_map(QuerySessions::lists);
        let n_positions = lists.map(|list| list.items.len()).max().unwrap_or(0);
        let mut scanned = Self {
            options,
            purpose,
            rows,
            rows_of_lists: Vec::new(),
            queries,
            n_positions,
            until,
            certain: Vec::new(),
            item_prior: ItemPrior::default(),
            means: Vec::new(),
            found: None,
            has_settled: true,
        };
        let rows_of_lists = |query: usize| {
            let items = scanned.queries[query].lists().flat_map(|list| list.items);
            items.map(|&item| scanned.row(query, item)).collect()
        };
        scanned.rows_of_lists = (0..scanned.queries.len()).map(rows_of_lists).collect();
        scanned.count_certain();
        let near = purpose.near.filter(|_| has_hidden).and_then(|near| near.prior.as_ref());
        if let Some(found) = near.filter(|(effects, _)| effects.lift.len() == n_positions) {
            // Means of its queries and items would tell of sessions that this log lacks.
            scanned.means = vec![found.1.mean; scanned.rows.items.len()];
            scanned.item_prior = found.1.clone();
            scanned.found = Some(found.clone());
        } else {
            let tolerance = if has_hidden { ROUGH_TOLERANCE_OF_LIFTS } else { TOLERANCE_OF_LIFTS };
            scanned.find_item_prior(tolerance, |_, _, _| ());
        }
        scanned
    }

    /// Counts clicks and impressions that were certainly examined.
    fn count_certain(&mut self) {
        let mut certain = vec![(0, 0); self.rows.items.len()];
        for query in 0..self.queries.len() {
            for (rows, list) in self.lists(query) {
                for pattern in list.patterns {
                    let examined = self.until.examined(self.until.last(pattern.clicks), rows.len());
                    for (position, &row) in rows[..examined].iter().enumerate() {
                        certain[row].0 += if pattern.clicks.get(position) { pattern.sessions } else { 0 };
                        certain[row].1 += pattern.sessions;
                    }
                }
            }
        }
        self.certain = certain;
    }

    /// Finds the prior of attraction. `below` gets the rows of a list, the last certain click, and
    /// the probability of examination of every position, which is 1 where it is certain and 0
    /// elsewhere; it writes the probabilities of the other positions. The search ends at a change
    /// of `tolerance` in the logarithm of a lift.
    pub(super) fn find_item_prior(
        &mut self,
        tolerance: f64,
        below: impl Fn(&[usize], Option<usize>, &mut [f64]) + Sync,
    ) {
        let examined = self.by_query(1, |query| self.examined(query, &below));
        let mut columns = vec![(0.0, 0.0); self.n_positions];
        for count in examined.iter().flatten() {
            columns[count.column].0 += count.clicks as f64;
            columns[count.column].1 += count.impressions;
        }
        let positions: Vec<usize> = (0..self.n_positions).collect();
        let credibility = Credibility {
            counts: &examined,
            positions: &positions,
            columns: &columns,
            examines: false,
            lifts: self.options.prior_strength.is_none(),
            trusts_means: true,
            tolerance,
        };
        let before = self.found.take();
        let (found, item_prior, convergence) = credibility.fit(self.options.prior_strength, before);
        self.has_settled = convergence.converged;
        let everywhere = vec![1.0; self.n_positions];
        self.means = vec![item_prior.mean; self.rows.items.len()];
        for (query, counts) in examined.iter().enumerate() {
            for of_item in items(counts) {
                let row = self.row(query, of_item[0].item);
                self.means[row] =
                    item_prior.of_item(query, credibility.placed(of_item, &everywhere, &found).1);
            }
        }
        self.item_prior = item_prior.clone();
        self.found = Some((found, item_prior));
    }

    /// Examined impressions of a query, sorted by item, then position.
    fn examined(&self, query: usize, below: impl Fn(&[usize], Option<usize>, &mut [f64])) -> Vec<Count> {
        let n_positions = self.n_positions;
        let first_row = self.rows.queries[query].start;
        let mut cells = vec![None::<(u64, f64)>; self.rows.queries[query].len() * n_positions];
        let mut weights = Vec::new();
        for (rows, list) in self.lists(query) {
            for pattern in list.patterns {
                let last = self.until.last(pattern.clicks);
                let examined = self.until.examined(last, rows.len());
                weights.clear();
                weights.resize(examined, 1.0);
                weights.resize(rows.len(), 0.0);
                below(rows, last, &mut weights);
                for (column, (&row, weight)) in rows.iter().zip(&weights).enumerate() {
                    // Below, even an impression of weight 0 shows where rankers put the item.
                    let cell = cells[(row - first_row) * n_positions + column].get_or_insert_default();
                    cell.1 += weight * pattern.sessions as f64;
                    if column < examined && pattern.clicks.get(column) {
                        cell.0 += pattern.sessions;
                    }
                }
            }
        }
        let shown = |(place, cell): (usize, Option<(u64, f64)>)| {
            let item = self.rows.items[first_row + place / n_positions];
            let column = place % n_positions;
            cell.map(|(clicks, impressions)| Count { item, column, clicks, impressions, share: 0.0 })
        };
        with_shares(cells.into_iter().enumerate().filter_map(shown).collect())
    }

    /// Runs work for every query on all cores, which passes over its lists about `times` times. A
    /// small log is one task and starts no thread.
    pub(super) fn by_query<R: Send>(&self, times: usize, work: impl Fn(usize) -> R + Sync) -> Vec<R> {
        let size = |rows: &Vec<usize>| times * rows.len();
        let tasks = tasks_of(&self.rows_of_lists, ITEMS_OF_A_TASK, size);
        in_order(tasks, |queries| queries.map(&work).collect::<Vec<R>>()).into_iter().flatten().collect()
    }

    /// [`by_query`](Self::by_query) for the queries that are predicted.
    pub(super) fn fits<R: Send>(&self, times: usize, work: impl Fn(usize) -> R + Sync) -> Vec<R> {
        let fit = |query: usize| self.purpose.has(self.queries[query].id()).then(|| work(query));
        self.by_query(times, fit).into_iter().flatten().collect()
    }

    /// The lists of a query, each with the rows of its items.
    pub(super) fn lists(&self, query: usize) -> impl Iterator<Item = (&[usize], ListSessions<'a>)> {
        let mut rows = self.rows_of_lists[query].as_slice();
        self.queries[query].lists().map(move |list| {
            let (of_list, rest) = rows.split_at(list.items.len());
            rows = rest;
            (of_list, list)
        })
    }

    fn row(&self, query: usize, item: Id) -> usize {
        let rows = self.rows.queries[query].clone();
        // Every item of the sessions has its row.
        rows.start + self.rows.items[rows].binary_search(&item).unwrap_or(0)
    }

    /// Number of clicks and of skips of a row's certain impressions and of its prior.
    pub(super) fn counted(&self, row: usize) -> (f64, f64) {
        let (clicks, impressions) = self.certain[row];
        let (strength, mean) = (self.item_prior.strength, self.means[row]);
        (clicks as f64 + strength * mean, (impressions - clicks) as f64 + strength * (1.0 - mean))
    }

    /// The same of some rows.
    pub(super) fn all_counted(&self, rows: Range<usize>) -> (Vec<f64>, Vec<f64>) {
        rows.map(|row| self.counted(row)).unzip()
    }

    /// The fit of a query; `at` and `variances` begin with its rows.
    pub(super) fn query(&self, query: usize, at: &[f64], variances: &[f64], z: f64) -> QueryFit {
        let rows = self.rows.queries[query].clone();
        let has_prior = self.options.has_priors();
        let items = rows.zip(at.iter().zip(variances)).map(|(row, (&value, &variance))| ItemFit {
            item: self.rows.items[row],
            attraction: probability(value, variance, z),
            prior: has_prior.then_some(self.means[row]),
            clicks: self.certain[row].0,
            impressions: self.certain[row].1,
        });
        let items = items.collect();
        let counts = &self.queries[query];
        let (id, positions) = (counts.id(), counts.positions());
        QueryFit { id, items, positions, typical: self.item_prior.typical(query), convergence: None }
    }

    /// Combines the fits of queries with the parameters and the prior of the site.
    pub(super) fn fit(&self, model: Model, queries: Vec<QueryFit>, convergence: Option<Convergence>) -> Fit {
        let of_all = convergence.unwrap_or(Convergence::closed_form(f64::NAN));
        let unsettled = (!self.has_settled).then_some(Convergence { converged: false, ..of_all });
        let site = Site {
            typical: self.item_prior.typical_of_site(),
            lift: self.item_prior.lift(),
            prior_strength: self.item_prior.strength,
            convergence: unsettled.or(convergence),
        };
        Fit { prior: self.found.clone(), ..Fit::new(model, Attractions { queries, site }) }
    }
}

/// An estimate from the variance of the parameter itself.
pub(super) fn probability(value: f64, variance: f64, z: f64) -> Estimate {
    Estimate::probability(value, Some(variance / (value * value)), z)
}
