//! The position-based model (PBM) and the user browsing model (UBM): priors, and what to fit together.
//!
//! Both are products of attraction and examination ([`super::rank_one`]). In the UBM an impression at position `l` whose last
//! click above is at `m` (or nowhere) is a cell of its own, since its examination depends on both.
//!
//! Priors are pseudo-impressions. Every item is shown `prior_strength` times more at the first position, and clicked at the
//! rate that is usual in the query: that is a Beta prior on its attraction, of this mean and strength, where the first
//! position is examined. A typical item is shown at every position as often as it takes for `prior_strength` clicks at the
//! first, and clicked as on the site: so examination is drawn to that of the site where there are few clicks, and positions
//! without a click in a query do not get examination 0. What is usual comes from a first fit of all queries together, with
//! one examination for all: clicks for each examined impression, in the query and 10 of the site.
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
use super::{Fit, ItemFit, Model, QueryFit, Site, drawn_to_site};
use crate::counts::{Counts, QueryCounts};
use crate::names::Id;
use crate::session::{QuerySessions, Sessions};
use std::ops::Range;

/// More columns are left to EM: Newton's method would take their number cubed.
const MANY_COLUMNS: usize = 256;
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
        let means = vec![bounded(rates[0]); self.source.len()];
        let mut site = self.maximise(all.clone(), &means, &rates);
        // What is usual, now that examination is known.
        let (means, typical) = self.means(&site.columns);
        let columns = site.columns.clone();
        if scope == Scope::Site && self.options.prior_strength > 0.0 {
            let rates: Vec<f64> = columns.iter().map(|g| bounded(typical * g)).collect();
            site = self.maximise(all.clone(), &means, &rates);
        }
        let queries = match scope {
            Scope::Site => {
                let mut row = 0;
                let of_query = |query| self.query(query, &site, &mut row, means[query]);
                all.map(of_query).collect()
            }
            Scope::Query => in_order(all.collect(), |query| self.alone(query, means[query], &columns)),
        };
        let site = Site {
            positions: self.positions(&site, &columns, &self.columns),
            typical,
            typical_leave: 0.0,
            convergence: Some(site.convergence),
        };
        Fit { model, scope, queries, site }
    }

    /// A query with examination of its own.
    fn alone(&self, query: usize, mean: f64, site: &[f64]) -> QueryFit {
        let rates: Vec<f64> = site.iter().map(|g| bounded(mean * g)).collect();
        let found = self.maximise(query..query + 1, &[mean], &rates);
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
            if shown[column].1 > 0.0 || self.options.prior_strength > 0.0 {
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
        QueryFit { id, items, satisfaction: Vec::new(), positions: Vec::new(), typical, convergence: None }
    }

    /// Clicks for each examined impression, of every query and of all.
    fn means(&self, examination: &[f64]) -> (Vec<f64>, f64) {
        let mut counts = Vec::new();
        let mut sums = Vec::with_capacity(self.source.len());
        for query in 0..self.source.len() {
            self.source.counts(query, &mut counts);
            let clicks: f64 = counts.iter().map(|count| count.clicks as f64).sum();
            let examined: f64 =
                counts.iter().map(|count| count.impressions as f64 * examination[count.column]).sum();
            sums.push((clicks, examined));
        }
        let (clicks, examined) = sums.iter().fold((0.0, 0.0), |all, of| (all.0 + of.0, all.1 + of.1));
        let site = bounded((clicks + 0.5) / (examined + 1.0));
        let means =
            sums.iter().map(|&(clicks, examined)| bounded(drawn_to_site(clicks, examined, site))).collect();
        (means, site)
    }

    /// Fits queries together, with the priors.
    fn maximise(&self, queries: Range<usize>, means: &[f64], rates: &[f64]) -> RankOne {
        let strength = self.options.prior_strength;
        let mut cells = Cells::new(self.columns.len());
        let mut counts = Vec::new();
        for (query, mean) in queries.zip(means) {
            self.source.counts(query, &mut counts);
            for mut item in counts.chunk_by(|a, b| a.item == b.item) {
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
        if strength > 0.0 {
            let shown = (strength / rates[0]).min(strength / SMALLEST_TYPICAL);
            for (column, rate) in rates.iter().enumerate() {
                cells.push(column, shown * rate, shown);
            }
            cells.end_row();
        }
        cells.maximise(self.method, &self.options.em, self.options.trace)
    }
}

fn bounded(rate: f64) -> f64 {
    rate.clamp(SMALLEST_RATE, LARGEST_RATE)
}
