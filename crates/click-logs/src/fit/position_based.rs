//! The position-based model (PBM) and the user browsing model (UBM): priors, and what to fit together.
//!
//! Both are products of attraction and examination ([`super::rank_one`]). In the UBM an impression at position `l` whose last
//! click above is at `m` (or nowhere) is a cell of its own, since its examination depends on both.
//!
//! Priors are pseudo-impressions. Every item is shown so many times more at the first position, and clicked at the rate that is usual in
//! the query ([`super::usual`]): that is a Beta prior on its attraction where the first position is examined. A typical item is shown at
//! every position as often as it takes for so many clicks at the first, and clicked as on the site: so examination is drawn to that of
//! the site where there are few clicks, and positions without a click in a query do not get examination 0. What is usual comes from a
//! first fit of all queries together, with one examination for all. How many pseudo-clicks a query has, where the log says, are those
//! under which queries' clicks at their positions are the most probable, at most the clicks of the other queries.
//!
//! Reference: see [`super`]. Deviations: priors are ours. Examination may exceed 1 below the first position, if it is larger
//! there.
//!
//! | here | meaning |
//! |---|---|
//! | `means` | rate at which pseudo-impressions of a query's items are clicked |
//! | `rates` | rate at which those of the typical item are clicked, by column |
//!
//! Numerics and complexity: those of [`super::rank_one`], two fits of everything, or one and one of every query.

use super::estimate::{Estimate, normal_quantile};
use super::in_order::in_order;
use super::options::{Method, Options, Scope};
use super::rank_one::{Cells, RankOne};
use super::usual::{Item, SAMPLE, Seen, Usual, most_probable};
use super::{Fit, ItemFit, Model, QueryFit, Site};
use crate::counts::{Counts, QueryCounts};
use crate::names::Id;
use crate::session::{QuerySessions, Sessions};
use confidence::math::ln;
use libm::{lgamma, log1p};
use std::iter::repeat;
use std::ops::Range;

/// More columns are left to EM: Newton's method would take their number cubed.
const MANY_COLUMNS: usize = 256;
/// Among which the log chooses how much the site's examination counts for in a query.
const EXAMINATIONS: [f64; 6] = [10.0, 20.0, 40.0, 80.0, 160.0, 400.0];
/// Pseudo-impressions that keep attraction inside (0, 1), and say nothing.
const NEXT_TO_NOTHING: f64 = 0.1;
/// Largest rate of pseudo-impressions: below 1, that the prior has a density everywhere.
const LARGEST_RATE: f64 = 0.99;
const SMALLEST_RATE: f64 = 1e-6;
/// The typical item is not shown more often than one that is clicked this rarely: a log without clicks at the first position
/// is still told by its impressions.
const SMALLEST_TYPICAL: f64 = 1e-3;

/// The column of an impression of the user browsing model; there is none for a last click that is not above.
pub(super) fn browsing_column(position: usize, last_click: Option<usize>) -> Option<usize> {
    match last_click {
        Some(above) if above >= position => None,
        Some(above) => Some(position * (position + 1) / 2 + above + 1),
        None => Some(position * (position + 1) / 2),
    }
}

#[derive(Debug, Clone, Copy)]
struct Count {
    item: Id,
    column: usize,
    clicks: u64,
    impressions: u64,
}

/// Where counts come from: cells of every query, by item, then column.
enum Source<'a> {
    Positions(Vec<QueryCounts<'a>>),
    Browsing(Vec<(Id, Vec<Count>)>),
}

impl Source<'_> {
    fn len(&self) -> usize {
        match self {
            Self::Positions(queries) => queries.len(),
            Self::Browsing(queries) => queries.len(),
        }
    }

    fn id(&self, query: usize) -> Id {
        match self {
            Self::Positions(queries) => queries[query].id(),
            Self::Browsing(queries) => queries[query].0,
        }
    }

    /// By item, then column.
    fn counts(&self, query: usize, out: &mut Vec<Count>) {
        out.clear();
        match self {
            Self::Positions(queries) => out.extend(queries[query].cells().map(|cell| Count {
                item: cell.item,
                column: cell.position,
                clicks: cell.clicks,
                impressions: cell.impressions,
            })),
            Self::Browsing(queries) => out.extend_from_slice(&queries[query].1),
        }
    }
}

pub(super) fn pbm(counts: &Counts, options: &Options) -> Fit {
    let source = Source::Positions(counts.queries().collect());
    let fitting = Fitting::new(&source, counts.n_positions(), options);
    fitting.fit(Model::Pbm, options.scope)
}

pub(super) fn ubm(sessions: &Sessions, options: &Options) -> Fit {
    let longest = sessions.queries().flat_map(|query| query.lists()).map(|list| list.items().len()).max();
    let longest = longest.unwrap_or(0);
    let source = Source::Browsing(sessions.queries().map(|query| (query.id(), browsing(&query))).collect());
    Fitting::new(&source, longest * (longest + 1) / 2, options).fit(Model::Ubm, Scope::Site)
}

/// Counts of one query by item and browsing column.
fn browsing(query: &QuerySessions<'_>) -> Vec<Count> {
    let mut counts = Vec::new();
    for list in query.lists() {
        for pattern in list.patterns() {
            let mut last_click = None;
            for (position, &item) in list.items().iter().enumerate() {
                let clicked = pattern.clicks.get(position);
                if let Some(column) = browsing_column(position, last_click) {
                    let clicks = if clicked { pattern.sessions } else { 0 };
                    counts.push(Count { item, column, clicks, impressions: pattern.sessions });
                }
                if clicked {
                    last_click = Some(position);
                }
            }
        }
    }
    counts.sort_unstable_by_key(|count| (count.item, count.column));
    counts.dedup_by(|next, kept| {
        let same = (next.item, next.column) == (kept.item, kept.column);
        if same {
            kept.clicks += next.clicks;
            kept.impressions += next.impressions;
        }
        same
    });
    counts
}

/// Pseudo-impressions of an item, and pseudo-clicks of the typical one at the first position.
#[derive(Debug, Clone, Copy)]
struct Prior {
    items: f64,
    examination: f64,
}

struct Fitting<'a> {
    source: &'a Source<'a>,
    options: &'a Options,
    method: Method,
    z: f64,
    /// Clicks and impressions of columns.
    columns: Vec<(f64, f64)>,
}

impl<'a> Fitting<'a> {
    fn new(source: &'a Source<'a>, n_columns: usize, options: &'a Options) -> Self {
        let mut columns = vec![(0.0, 0.0); n_columns];
        let mut counts = Vec::new();
        for query in 0..source.len() {
            source.counts(query, &mut counts);
            for count in &counts {
                columns[count.column].0 += count.clicks as f64;
                columns[count.column].1 += count.impressions as f64;
            }
        }
        let method = if n_columns > MANY_COLUMNS { Method::Em } else { options.method };
        Self { source, options, method, z: normal_quantile(options.level), columns }
    }

    fn fit(&self, model: Model, scope: Scope) -> Fit {
        let all = 0..self.source.len();
        let rate = |&(clicks, impressions): &(f64, f64)| (clicks + 0.5) / (impressions + 1.0);
        let rates: Vec<f64> = self.columns.iter().map(rate).collect();
        let given = self.options.given_strength();
        let chosen_by_log = self.options.prior_strength.is_none();
        // Where the log says what is usual, it is asked by examination that no prior of items has bent.
        let items = if chosen_by_log { NEXT_TO_NOTHING } else { given };
        let first = Prior { items, examination: given };
        let mut site = self.maximise(all.clone(), repeat(bounded(rates[0])), &rates, first);
        let seen = self.seen(&site.columns);
        let usual = Usual::new(&seen, self.options.prior_strength);
        let mut columns = site.columns.clone();
        let prior = Prior { items: usual.strength, ..first };
        if (scope == Scope::Site || chosen_by_log) && self.options.has_priors() {
            let rates: Vec<f64> = columns.iter().map(|g| bounded(usual.mean * g)).collect();
            site = self.maximise(all.clone(), usual.items.iter().copied(), &rates, prior);
            if chosen_by_log {
                columns.clone_from(&site.columns);
            }
        }
        let queries = match scope {
            Scope::Site => {
                let mut row = 0;
                let of_query = |query| QueryFit {
                    typical_examination: seen.examination(query),
                    ..self.query(query, &site, &mut row, usual.means[query])
                };
                all.map(of_query).collect()
            }
            Scope::Query => {
                let examination =
                    self.options.prior_strength.unwrap_or_else(|| self.examination(&site, &seen));
                let of_query = |query| {
                    let examination = self.at_most_of_others(query, examination);
                    let means = (usual.means[query], &usual.items[seen.items_of(query)]);
                    let prior = Prior { examination, ..prior };
                    QueryFit {
                        typical_examination: seen.examination(query),
                        ..self.alone(query, means, &columns, prior)
                    }
                };
                in_order(all.collect(), of_query)
            }
        };
        let site = Site {
            positions: self.positions(&site, &columns, &self.columns),
            typical: usual.mean,
            typical_examination: seen.examination_of_site(),
            slope: usual.slope,
            typical_leave: 0.0,
            prior_strength: usual.strength,
            convergence: Some(site.convergence),
        };
        Fit { model, scope, queries, site }
    }

    /// A query with examination of its own; its mean and those of its items.
    fn alone(&self, query: usize, (mean, of_items): (f64, &[f64]), site: &[f64], prior: Prior) -> QueryFit {
        let rates: Vec<f64> = site.iter().map(|g| bounded(mean * g)).collect();
        let found = self.maximise(query..query + 1, of_items.iter().copied(), &rates, prior);
        let mut counts = Vec::new();
        self.source.counts(query, &mut counts);
        let mut columns = vec![(0.0, 0.0); site.len()];
        for count in &counts {
            columns[count.column].0 += count.clicks as f64;
            columns[count.column].1 += count.impressions as f64;
        }
        let shown = columns.iter().rposition(|column| column.1 > 0.0).map_or(0, |last| last + 1);
        let mut fit = self.query(query, &found, &mut 0, mean);
        fit.positions = self.positions(&found, site, &columns);
        fit.positions.truncate(shown);
        fit.convergence = Some(found.convergence);
        fit
    }

    /// Estimates of columns; what was never shown is as on the site.
    fn positions(&self, found: &RankOne, site: &[f64], shown: &[(f64, f64)]) -> Vec<Estimate> {
        let estimate = |column: usize| {
            if shown[column].1 > 0.0 || self.options.has_priors() {
                let variance = found.variances.as_ref().map(|variances| variances[1][column]);
                Estimate::ratio(found.columns[column], variance, self.z)
            } else {
                Estimate::bare(site[column])
            }
        };
        (0..site.len()).map(estimate).collect()
    }

    /// The items of a query, which are rows from `row` on.
    fn query(&self, query: usize, found: &RankOne, row: &mut usize, typical: f64) -> QueryFit {
        let mut counts = Vec::new();
        self.source.counts(query, &mut counts);
        let of_items = || counts.chunk_by(|a, b| a.item == b.item);
        let mut items = Vec::with_capacity(of_items().count());
        for item in of_items() {
            let variance = found.variances.as_ref().map(|variances| variances[0][*row]);
            items.push(ItemFit {
                item: item[0].item,
                attraction: Estimate::probability(found.rows[*row], variance, self.z),
                clicks: item.iter().map(|count| count.clicks).sum(),
                impressions: item.iter().map(|count| count.impressions).sum(),
            });
            *row += 1;
        }
        let id = self.source.id(query);
        QueryFit {
            id,
            items,
            satisfaction: Vec::new(),
            positions: Vec::new(),
            typical,
            typical_examination: 1.0,
            convergence: None,
        }
    }

    /// What was seen of all items.
    fn seen(&self, examination: &[f64]) -> Seen {
        let logarithms: Vec<f64> = examination.iter().map(|&g| ln(g.max(SMALLEST_RATE))).collect();
        let mut counts = Vec::new();
        let mut seen = Seen::default();
        for query in 0..self.source.len() {
            self.source.counts(query, &mut counts);
            let sum = |of: &[Count], value: &[f64]| -> f64 {
                of.iter().map(|count| count.impressions as f64 * value[count.column]).sum()
            };
            let impressions =
                |of: &[Count]| of.iter().map(|count| count.impressions as f64).sum::<f64>().max(1.0);
            let of_query = sum(&counts, &logarithms) / impressions(&counts);
            let items = counts.chunk_by(|a, b| a.item == b.item).map(|item| Item {
                clicks: item.iter().map(|count| count.clicks as f64).sum(),
                impressions: sum(item, examination),
                placement: sum(item, &logarithms) / impressions(item) - of_query,
            });
            seen.push_query(of_query, items);
        }
        seen
    }

    /// The site's examination counts for no more than the clicks of other queries at the first position: a query is not drawn to itself.
    fn at_most_of_others(&self, query: usize, pseudo_clicks: f64) -> f64 {
        let mut counts = Vec::new();
        self.source.counts(query, &mut counts);
        let own: u64 = counts.iter().filter(|count| count.column == 0).map(|count| count.clicks).sum();
        pseudo_clicks.min((self.columns[0].0 - own as f64).max(self.options.given_strength()))
    }

    /// The pseudo-clicks under which the clicks of queries at their positions are the most probable: a query's examination is that of
    /// the site times a Gamma variable of mean 1, so that its clicks are negative binomial.
    fn examination(&self, site: &RankOne, seen: &Seen) -> f64 {
        let stride = site.rows.len().div_ceil(SAMPLE).max(1);
        let mut evidence = [0.0; EXAMINATIONS.len()];
        let mut counts = Vec::new();
        for query in (0..self.source.len()).step_by(stride) {
            self.source.counts(query, &mut counts);
            // Clicks, and how many there would be with the site's examination.
            let mut columns = vec![(0.0, 0.0); self.columns.len()];
            let attractions = &site.rows[seen.items_of(query)];
            for (item, attraction) in counts.chunk_by(|a, b| a.item == b.item).zip(attractions) {
                for &Count { column, clicks, impressions, .. } in item {
                    columns[column].0 += clicks as f64;
                    columns[column].1 += impressions as f64 * attraction * site.columns[column];
                }
            }
            for (&(clicks, expected), &g) in columns.iter().zip(&site.columns).skip(1) {
                for (sum, pseudo_clicks) in evidence.iter_mut().zip(EXAMINATIONS).filter(|_| expected > 0.0) {
                    *sum += negative_binomial(clicks, expected, pseudo_clicks * g);
                }
            }
        }
        most_probable(EXAMINATIONS.into_iter().zip(evidence))
    }

    /// Fits queries together, with the priors; a mean for each of their items.
    fn maximise(
        &self,
        queries: Range<usize>,
        mut means: impl Iterator<Item = f64>,
        rates: &[f64],
        prior: Prior,
    ) -> RankOne {
        let strength = prior.items;
        let mut cells = Cells::new(self.columns.len());
        let mut counts = Vec::new();
        for query in queries {
            self.source.counts(query, &mut counts);
            for (mut item, mean) in counts.chunk_by(|a, b| a.item == b.item).zip(means.by_ref()) {
                if strength > 0.0 {
                    let mut at_first = (strength * mean, strength);
                    if let [first, rest @ ..] = item
                        && first.column == 0
                    {
                        at_first = (at_first.0 + first.clicks as f64, at_first.1 + first.impressions as f64);
                        item = rest;
                    }
                    cells.push(0, at_first.0, at_first.1);
                }
                for count in item {
                    cells.push(count.column, count.clicks as f64, count.impressions as f64);
                }
                cells.end_row();
            }
        }
        if prior.examination > 0.0 {
            let shown = (prior.examination / rates[0]).min(prior.examination / SMALLEST_TYPICAL);
            for (column, rate) in rates.iter().enumerate() {
                cells.push(column, shown * rate, shown);
            }
            cells.end_row();
        }
        cells.maximise(self.method, &self.options.em, self.options.trace)
    }
}

/// The logarithm of the probability of `clicks`, Poisson with a mean of `expected` times a Gamma variable of this shape and of mean 1, but
/// for what depends on the clicks alone.
fn negative_binomial(clicks: f64, expected: f64, shape: f64) -> f64 {
    let of_clicks = if clicks > 0.0 { clicks * ln(expected / (shape + expected)) } else { 0.0 };
    lgamma(clicks + shape) - lgamma(shape) - shape * log1p(expected / shape) + of_clicks
}

fn bounded(rate: f64) -> f64 {
    rate.clamp(SMALLEST_RATE, LARGEST_RATE)
}
