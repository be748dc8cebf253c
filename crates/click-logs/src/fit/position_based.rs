//! The position-based model (PBM) and the user browsing model (UBM): priors, and which queries are
//! fitted together.
//!
//! Both are products of attraction and examination ([`super::rank_one`]). In the UBM an impression
//! belongs to the cell of its position `l` and of the position `m` of the last click above (or
//! none).
//!
//! Priors are pseudo-impressions. Every item gets additional impressions at the first position,
//! clicked at the query's mean rate ([`super::item_prior`]): a Beta prior on its attraction if the
//! first position is examined. The *typical item* gets impressions at every position, clicked at
//! the site's rates, and as many as give a certain number of clicks at the first position. They
//! shrink the examination of a query to the site's, so that no position without a click has
//! examination 0. The site's examination, and the mean rates, are estimated with the attraction of
//! items integrated out ([`super::credibility`]). By default the number of pseudo-clicks of a query
//! maximises the probability of the queries' clicks at their positions. It is divided by the share
//! of the clicks of other queries, since the site's examination contains the query's own clicks.
//!
//! Reference: see [`super`]. Deviations: the priors are ours. Examination below the first position
//! may exceed 1.
//!
//! | here | meaning |
//! |---|---|
//! | `means` | rate at which pseudo-impressions of a query's items are clicked |
//! | `rates` | rate at which pseudo-impressions of the typical item are clicked, by column |
//!
//! Numerics and complexity: without priors, or with an examination for every query, those of
//! [`super::rank_one`]; with priors those of [`super::credibility`].

use super::credibility::{
    Count, Credibility, MANY_COLUMNS, PositionEffects, attraction, items, merged, n_items, with_shares,
};
use super::estimate::{Estimate, binomial_log_likelihood, normal_quantile};
use super::fitted::FoundPrior;
use super::fitted::browsing_column;
use super::in_order::in_order;
use super::item_prior::{ItemPrior, SAMPLE, most_probable};
use super::options::{Method, Options, Scope};
use super::rank_one::{Cells, RankOne};
use super::squarem::Convergence;
use super::{Attractions, Estimates, Fit, ItemFit, Model, Purpose, QueryFit, Site};
use confidence::math::ln;
use libm::{lgamma, log1p};
use log_reader::{Cell, Counts, Id, Positions, QueryCounts, QuerySessions, Sessions};
use num_traits::ToPrimitive as _;
use std::iter::repeat;
use std::ops::Range;

/// Candidates for the pseudo-clicks by which a query is shrunk to the site's examination.
const PSEUDO_CLICKS: [f64; 8] = [10.0, 20.0, 40.0, 80.0, 160.0, 400.0, 1000.0, 10_000.0];
/// Largest rate of pseudo-impressions: below 1, so that the prior has a density everywhere.
const LARGEST_RATE: f64 = 0.99;
const SMALLEST_RATE: f64 = 1e-6;
/// Lower bound of the typical item's click-through rate at the first position, which bounds its
/// impressions. A log without clicks at the first position is still determined by its impressions.
const SMALLEST_TYPICAL: f64 = 1e-3;
/// Clicks at each of two positions, with fewer of which their ratio has no interval: it would span
/// orders of magnitude.
const FEWEST_CLICKS: f64 = 2.0;

/// The fit by position. The maximum is looked for near a fit to a similar log, if there is one.
pub(super) fn by_position(counts: &Counts, options: &Options, purpose: Purpose<'_>) -> Fit {
    let positions = counts.positions();
    let source = Impressions::by_position(counts);
    Fitting::new(&source, positions, positions.iter().collect(), options, purpose).fit(options.scope)
}

/// The fit by position and last click; with priors, near a fit to a similar log.
pub(super) fn by_last_click(sessions: &Sessions, options: &Options, purpose: Purpose<'_>) -> Fit {
    let longest = sessions.queries().map(|query| query.positions().end()).max().unwrap_or(0);
    let source = Impressions::browsing(sessions);
    let places = (0..longest).flat_map(|position| std::iter::repeat_n(position, position + 1)).collect();
    let near = purpose.near.filter(|_| options.has_priors());
    let purpose = Purpose { near, ..purpose };
    Fitting::new(&source, Positions::first(longest), places, options, purpose).fit(options.scope)
}

/// Pseudo-impressions of an item and of the typical item at every position; and its click-through
/// rates by column.
#[derive(Debug, Clone)]
struct Prior {
    items: f64,
    typical_impressions: f64,
    rates: Vec<f64>,
}

struct Fitting<'a> {
    source: &'a Impressions,
    options: &'a Options,
    method: Method,
    z: f64,
    log_positions: Positions,
    /// The position of every column.
    places: Vec<usize>,
    /// The rank of this position among those of the log.
    ranks: Vec<usize>,
    /// Clicks and impressions of columns.
    columns: Vec<(f64, f64)>,
    purpose: Purpose<'a>,
}

/// Adds clicks and impressions by column.
fn add_totals(counts: &[Count], columns: &mut [(f64, f64)]) {
    for count in counts {
        columns[count.column].0 += count.clicks as f64;
        columns[count.column].1 += count.impressions;
    }
}

/// Queries, and the examination of each.
fn with_own(fits: Vec<(QueryFit, Vec<Estimate>)>) -> (Vec<QueryFit>, Option<Vec<Vec<Estimate>>>) {
    let (queries, own) = fits.into_iter().unzip();
    (queries, Some(own))
}

/// Estimates from all queries together.
struct OfSite {
    /// Examination of columns.
    examination: Vec<f64>,
    /// Covariances of the logarithms of examination.
    covariances: Option<Vec<f64>>,
    found: PositionEffects,
    item_prior: ItemPrior,
}

impl<'a> Fitting<'a> {
    fn new(
        source: &'a Impressions,
        log_positions: Positions,
        places: Vec<usize>,
        options: &'a Options,
        purpose: Purpose<'a>,
    ) -> Self {
        let ranks = places.iter().map(|&place| log_positions.rank(place)).collect();
        let n_columns = places.len();
        let mut columns = vec![(0.0, 0.0); n_columns];
        source.counts.iter().for_each(|counts| add_totals(counts, &mut columns));
        let method = if n_columns > MANY_COLUMNS { Method::Em } else { options.method };
        let z = normal_quantile(options.level);
        Self { source, options, method, z, log_positions, places, ranks, columns, purpose }
    }

    fn credibility(&self) -> Credibility<'_> {
        Credibility {
            counts: &self.source.counts,
            positions: &self.ranks,
            columns: &self.columns,
            examines: true,
            lifts: self.options.prior_strength.is_none(),
            trusts_means: true,
            tolerance: (10.0 * self.options.em.tolerance).max(1e-6),
        }
    }

    fn fit(&self, scope: Scope) -> Fit {
        if self.options.has_priors() { self.with_priors(scope) } else { self.most_likely(scope) }
    }

    fn with_priors(&self, scope: Scope) -> Fit {
        let credibility = self.credibility();
        let fits = |(found, _): &&FoundPrior| {
            [found.examination.len(), found.lift.len()] == [self.columns.len(), credibility.n_positions()]
        };
        let near = self.purpose.near.and_then(|near| near.prior.as_ref()).filter(fits).cloned();
        let (found, item_prior, mut convergence) = credibility.fit(self.options.prior_strength, near);
        let has_errors = self.options.has_errors();
        let covariances = has_errors.then(|| credibility.covariances(&found, &item_prior)).flatten();
        let n = self.columns.len();
        let examination = found.examination();
        let of_column = |column: usize| {
            let variance = covariances.as_ref().map(|covariances| covariances[column * n + column]);
            self.ratio([0, column], examination[column], variance)
        };
        let positions = self.placed((0..n).map(|column| (column, of_column(column))));
        let site = OfSite { examination, covariances, found, item_prior };
        let all = self.predicted();
        // In the function that was maximised, attraction is integrated out. Other models have no
        // such likelihood.
        let of_query = in_order(all.clone(), |query| self.log_likelihood(query, &site));
        convergence.log_likelihood = of_query.iter().sum();
        let (queries, own) = match scope {
            Scope::Site => (in_order(all, |query| self.of_site(query, &site)), None),
            Scope::Query => {
                let pseudo_clicks = self.options.prior_strength.unwrap_or_else(|| self.pseudo_clicks(&site));
                let alone = |query| self.alone(query, &site, self.without_own(query, pseudo_clicks));
                with_own(in_order(all, alone))
            }
        };
        let fit = self.fitted(queries, own, positions, &site.item_prior, convergence);
        Fit { prior: Some((site.found, site.item_prior)), ..fit }
    }

    /// The queries that are predicted.
    fn predicted(&self) -> Vec<usize> {
        (0..self.source.counts.len())
            .filter(|&query| self.purpose.has(self.source.queries[query].0))
            .collect()
    }

    /// Maximum likelihood, without priors.
    fn most_likely(&self, scope: Scope) -> Fit {
        let all = 0..self.source.counts.len();
        let columns: Vec<usize> = (0..self.columns.len()).collect();
        let near = self.purpose.near.and_then(|near| self.parameters(near));
        let found = self.maximise(all.clone(), &columns, repeat(0.0), None, near);
        let examination = found.columns.clone();
        let credibility = Credibility { lifts: false, ..self.credibility() };
        let known = PositionEffects::known(&examination, credibility.n_positions());
        let item_prior = credibility.item_prior(&known, Some(0.0));
        let site = OfSite { examination, covariances: None, found: known, item_prior };
        let (queries, own) = match scope {
            Scope::Site => {
                let mut row = 0;
                let of_site = |query| self.query(query, &found, &mut row, &site, 1.0);
                (all.map(of_site).collect(), None)
            }
            Scope::Query => with_own(in_order(self.predicted(), |query| self.alone(query, &site, 0.0))),
        };
        let positions = self.positions(&found, &site.examination, &self.columns, &columns);
        self.fitted(queries, own, positions, &site.item_prior, found.convergence)
    }

    /// The parameters of a fit with an examination for all queries: those of all items, and those
    /// of columns. `None` if it lacks one.
    fn parameters(&self, of: &Fit) -> Option<[Vec<f64>; 2]> {
        let mut rows = Vec::new();
        for ((query, _), counts) in self.source.queries.iter().zip(&self.source.counts) {
            let known = &of.query(*query)?.items;
            for item in items(counts) {
                let place = known.binary_search_by_key(&item[0].item, |known| known.item).ok()?;
                rows.push(known[place].attraction.value);
            }
        }
        let examination = |&place: &usize| Some(of.positions.site.get(place)?.value);
        Some([rows, self.places.iter().map(examination).collect::<Option<_>>()?])
    }

    fn fitted(
        &self,
        queries: Vec<QueryFit>,
        own: Option<Vec<Vec<Estimate>>>,
        positions: Vec<Estimate>,
        item_prior: &ItemPrior,
        convergence: Convergence,
    ) -> Fit {
        let site = Site {
            lift: self.lift(item_prior),
            typical: item_prior.typical_of_site(),
            prior_strength: item_prior.strength,
            convergence: Some(convergence),
        };
        let model = if self.source.is_browsing { Model::Ubm } else { Model::Pbm };
        let positions = Estimates { site: positions, queries: own };
        Fit { positions, ..Fit::new(model, Attractions { queries, site }) }
    }

    /// The prior mean of an item's attraction.
    fn mean(&self, query: usize, counts: &[Count], site: &OfSite) -> f64 {
        let (_, lift) = self.credibility().placed(counts, &site.examination, &site.found);
        site.item_prior.of_item(query, lift)
    }

    /// The attraction of a query's items with this examination, of which `first` is the scale.
    fn attractions(&self, query: usize, site: &OfSite, examination: &[f64], first: f64) -> Vec<(f64, f64)> {
        let strength = site.item_prior.strength;
        let counts = &self.source.counts[query];
        let attraction_of = |item: &[Count]| {
            let mean = bounded(self.mean(query, item, site) * first);
            let skips =
                item.iter().map(|count| (count.impressions - count.clicks as f64, examination[count.column]));
            let cells: Vec<(f64, f64)> =
                std::iter::once((strength * (1.0 - mean), 1.0)).chain(skips).collect();
            let clicks = item.iter().map(|count| count.clicks as f64).sum::<f64>();
            attraction(clicks + strength * mean, &cells)
        };
        items(counts).map(attraction_of).collect()
    }

    /// The attraction of a query's items, given the site's examination.
    fn attractions_of_site(&self, query: usize, site: &OfSite) -> Vec<(f64, f64)> {
        self.attractions(query, site, &site.examination, 1.0)
    }

    /// The log-likelihood of the clicks of a query, given the site's examination.
    fn log_likelihood(&self, query: usize, site: &OfSite) -> f64 {
        let counts = &self.source.counts[query];
        let items = self.attractions_of_site(query, site).into_iter().zip(items(counts));
        let cells =
            items.flat_map(|((attraction, _), cells)| cells.iter().map(move |cell| (attraction, cell)));
        cells
            .map(|(attraction, cell)| {
                let (clicks, p) = (cell.clicks as f64, attraction * site.examination[cell.column]);
                binomial_log_likelihood(clicks, cell.impressions - clicks, p)
            })
            .sum()
    }

    /// The fit of a query with the site's examination.
    fn of_site(&self, query: usize, site: &OfSite) -> QueryFit {
        let n = self.columns.len();
        let counts = &self.source.counts[query];
        let (mut rows, mut variances) = (Vec::new(), Vec::new());
        for ((value, variance), item) in self.attractions_of_site(query, site).into_iter().zip(items(counts))
        {
            // The decrease of attraction with examination.
            let shares: Vec<(usize, f64)> = item
                .iter()
                .map(|count| {
                    let p = value * site.examination[count.column];
                    let skips = count.impressions - count.clicks as f64;
                    (count.column, variance * skips * p / ((1.0 - p) * (1.0 - p)))
                })
                .collect();
            let of_pair = |&(a, of_a): &(usize, f64)| -> f64 {
                let covariance = |b: usize| site.covariances.as_ref().map_or(0.0, |all| all[a * n + b]);
                shares.iter().map(|&(b, of_b)| of_a * of_b * covariance(b)).sum()
            };
            rows.push(value);
            variances.push(variance + shares.iter().map(of_pair).sum::<f64>());
        }
        let convergence = Convergence::closed_form(0.0);
        let found =
            RankOne { rows, columns: Vec::new(), variances: Some([variances, Vec::new()]), convergence };
        self.query(query, &found, &mut 0, site, 1.0)
    }

    /// The columns of the positions of a query.
    fn own_columns(&self, query: usize) -> Vec<usize> {
        let positions = self.source.queries[query].1;
        (0..self.places.len()).filter(|&column| positions.contains(self.places[column])).collect()
    }

    /// The fit of a query with its own examination, relative to its own first position, and shrunk
    /// to the site's by this number of clicks there.
    fn alone(&self, query: usize, site: &OfSite, pseudo_clicks: f64) -> (QueryFit, Vec<Estimate>) {
        let own = self.own_columns(query);
        let first = own.first().map(|&first| site.examination[first]).filter(|g| *g > 0.0).unwrap_or(1.0);
        let mean = bounded(site.item_prior.typical(query) * first);
        let examination: Vec<f64> = own.iter().map(|&column| site.examination[column] / first).collect();
        let counts = &self.source.counts[query];
        let mut columns = vec![(0.0, 0.0); self.columns.len()];
        add_totals(counts, &mut columns);
        // `own_column` is an index of `own`.
        let is_fitted = |&own_column: &usize| {
            own_column == 0 || columns[own[own_column]].1 > 0.0 || !self.options.has_priors()
        };
        let fitted = || (0..own.len()).filter(is_fitted);
        let rate = |own_column: usize| bounded(mean * examination[own_column]);
        let prior = self.options.has_priors().then(|| Prior {
            items: site.item_prior.strength,
            typical_impressions: (pseudo_clicks / rate(0)).min(pseudo_clicks / SMALLEST_TYPICAL),
            rates: fitted().map(rate).collect(),
        });
        let means = items(counts).map(|item| bounded(self.mean(query, item, site) * first));
        let fitted_columns: Vec<usize> = fitted().map(|own_column| own[own_column]).collect();
        let mut found = self.maximise(query..query + 1, &fitted_columns, means, prior.as_ref(), None);
        if let Some(Prior { typical_impressions, .. }) = prior {
            // Only the typical item, the last row, is in columns that were never shown; its clicks
            // there have their rate.
            let typical = found.rows.len() - 1;
            for own_column in (0..own.len()).filter(|own_column| !is_fitted(own_column)) {
                let rate = rate(own_column);
                found.columns.insert(own_column, rate / found.rows[typical]);
                if let Some([rows, columns]) = &mut found.variances {
                    let variance = rows[typical] + (1.0 - rate) / (typical_impressions * rate);
                    columns.insert(own_column, variance);
                }
            }
            // The mean given examination; the maximum over both is a mode.
            let mut own_examination = vec![0.0; self.columns.len()];
            own.iter().zip(&found.columns).for_each(|(&column, g)| own_examination[column] = *g);
            let attractions = self.attractions(query, site, &own_examination, first);
            found.rows.iter_mut().zip(attractions).for_each(|(row, (attraction, _))| *row = attraction);
        }
        if let (Some([_, variances]), Some(covariances)) = (&mut found.variances, &site.covariances) {
            let covariance = |a: usize, b: usize| covariances[own[a] * self.columns.len() + own[b]];
            for (own_column, variance) in variances.iter_mut().enumerate() {
                // The prior's mean is also uncertain, and rests in part on the query's own clicks.
                let of_site =
                    covariance(own_column, own_column) - 2.0 * covariance(own_column, 0) + covariance(0, 0);
                let clicks = columns[own[own_column]].0;
                let share = clicks / (clicks + pseudo_clicks * examination[own_column]);
                *variance += (1.0 - share * share) * of_site.max(0.0);
            }
        }
        let mut fit = self.query(query, &found, &mut 0, site, first);
        let positions = self.positions(&found, &examination, &columns, &own);
        fit.convergence = Some(found.convergence);
        (fit, positions)
    }

    /// Estimates of these columns; columns never shown get the site's.
    fn positions(
        &self,
        found: &RankOne,
        site: &[f64],
        totals: &[(f64, f64)],
        columns: &[usize],
    ) -> Vec<Estimate> {
        let estimate = |(place, &column): (usize, &usize)| {
            let estimate = if totals[column].1 > 0.0 || self.options.has_priors() {
                let variance = found.variances.as_ref().map(|variances| variances[1][place]);
                let estimate = self.ratio([columns[0], column], found.columns[place], variance);
                // A parameter that never occurred has the value of the prior, and no interval.
                Estimate { interval: estimate.interval.filter(|_| totals[column].1 > 0.0), ..estimate }
            } else {
                Estimate::bare(site[place])
            };
            (column, estimate)
        };
        self.placed(columns.iter().enumerate().map(estimate))
    }

    /// The estimates of columns as those of positions; NaN at positions that are not shown. The
    /// columns of user browsing have no gaps.
    fn placed(&self, estimates: impl Iterator<Item = (usize, Estimate)>) -> Vec<Estimate> {
        let is_browsing = self.source.is_browsing;
        let mut placed = Vec::with_capacity(self.places.len());
        for (column, estimate) in estimates {
            placed.resize(if is_browsing { column } else { self.places[column] }, Estimate::bare(f64::NAN));
            placed.push(estimate);
        }
        placed
    }

    /// Examination of the second column relative to the first one, with an interval if the site's
    /// clicks suffice for it.
    fn ratio(&self, [first, column]: [usize; 2], value: f64, variance: Option<f64>) -> Estimate {
        let estimate = Estimate::ratio(value, variance, self.z);
        let clicks = self.columns[first].0.min(self.columns[column].0);
        let interval = estimate.interval.filter(|_| column == first || clicks >= FEWEST_CLICKS);
        Estimate { interval, ..estimate }
    }

    /// The lift of positions; NaN at those that are not shown.
    fn lift(&self, item_prior: &ItemPrior) -> Vec<f64> {
        let lift = item_prior.lift();
        let of_position = |place| {
            if self.log_positions.contains(place) { lift[self.log_positions.rank(place)] } else { f64::NAN }
        };
        (0..self.log_positions.end()).map(of_position).collect()
    }

    /// The items of a query, which are the rows from `row` on. `first` is the examination of the
    /// first position, relative to which they are.
    fn query(&self, query: usize, found: &RankOne, row: &mut usize, site: &OfSite, first: f64) -> QueryFit {
        let counts = &self.source.counts[query];
        let has_priors = self.options.has_priors();
        let mut fits = Vec::with_capacity(items(counts).count());
        for item in items(counts) {
            let variance = found.variances.as_ref().map(|variances| variances[0][*row]);
            let impressions: f64 = item.iter().map(|count| count.impressions).sum();
            // A sum of whole numbers.
            let impressions = impressions.to_u64().unwrap_or(u64::MAX);
            fits.push(ItemFit {
                item: item[0].item,
                attraction: Estimate::probability(found.rows[*row], variance, self.z),
                prior: has_priors.then(|| bounded(self.mean(query, item, site) * first)),
                clicks: item.iter().map(|count| count.clicks).sum(),
                impressions,
            });
            *row += 1;
        }
        let (id, positions) = self.source.queries[query];
        let typical = bounded(site.item_prior.typical(query) * first);
        QueryFit { id, items: fits, positions, typical, convergence: None }
    }

    /// The pseudo-clicks that draw a query to the site's examination: so that the other queries
    /// have this number, although the site's examination contains the query's own clicks.
    fn without_own(&self, query: usize, pseudo_clicks: f64) -> f64 {
        let counts = &self.source.counts[query];
        let first = self.own_columns(query)[0];
        let own: u64 = counts.iter().filter(|count| count.column == first).map(|count| count.clicks).sum();
        let others = self.columns[first].0 - own as f64;
        if self.options.prior_strength.is_none() && others > 0.0 {
            pseudo_clicks * self.columns[first].0 / others
        } else {
            self.options.given_strength()
        }
    }

    /// The pseudo-clicks that maximise the probability of the queries' clicks at their positions. A
    /// query's examination is that of the other queries times a Gamma variable of mean 1, so its
    /// clicks are negative binomial.
    fn pseudo_clicks(&self, site: &OfSite) -> f64 {
        let stride = n_items(&self.source.counts).div_ceil(SAMPLE).max(1);
        let mut evidence = [0.0; PSEUDO_CLICKS.len()];
        for query in (0..self.source.counts.len()).step_by(stride) {
            let counts = &self.source.counts[query];
            // Clicks, and their expected number with the site's examination.
            let mut columns = vec![(0.0, 0.0); self.columns.len()];
            for (item, (attraction, _)) in items(counts).zip(self.attractions_of_site(query, site)) {
                for &Count { column, clicks, impressions, .. } in item {
                    columns[column].0 += clicks as f64;
                    columns[column].1 += impressions * attraction * site.examination[column];
                }
            }
            let columns = columns.iter().zip(&self.columns).zip(&site.examination).skip(1);
            for ((&(clicks, expected), &(all, _)), &g) in columns {
                // With the examination of the other queries. The site's contains the query's own
                // clicks, and would agree too well.
                let others = all - clicks;
                let expected = expected * others / (all - expected);
                for (sum, pseudo_clicks) in evidence.iter_mut().zip(PSEUDO_CLICKS).filter(|_| expected > 0.0)
                {
                    let shape = 1.0 / (1.0 / (pseudo_clicks * g) + 1.0 / others);
                    *sum += negative_binomial(clicks, expected, shape);
                }
            }
        }
        most_probable(PSEUDO_CLICKS.into_iter().zip(evidence))
    }

    /// Fits queries, which have these columns, together with the priors; `means` has a mean for
    /// each item. `near` are parameters near the maximum.
    fn maximise(
        &self,
        queries: Range<usize>,
        columns: &[usize],
        mut means: impl Iterator<Item = f64>,
        prior: Option<&Prior>,
        near: Option<[Vec<f64>; 2]>,
    ) -> RankOne {
        let strength = prior.map_or(0.0, |prior| prior.items);
        let mut cells = Cells::new(columns.len());
        let mut places = vec![0; self.columns.len()];
        columns.iter().enumerate().for_each(|(place, &column)| places[column] = place);
        for query in queries {
            for (mut item, mean) in items(&self.source.counts[query]).zip(means.by_ref()) {
                if strength > 0.0 {
                    let mut at_first = (strength * mean, strength);
                    if let [first, rest @ ..] = item
                        && places[first.column] == 0
                    {
                        at_first = (at_first.0 + first.clicks as f64, at_first.1 + first.impressions);
                        item = rest;
                    }
                    cells.push(0, at_first.0, at_first.1);
                }
                for count in item {
                    cells.push(places[count.column], count.clicks as f64, count.impressions);
                }
                cells.end_row();
            }
        }
        if let Some(Prior { typical_impressions, rates, .. }) = prior {
            for (column, rate) in rates.iter().enumerate() {
                cells.push(column, typical_impressions * rate, *typical_impressions);
            }
            cells.end_row();
        }
        cells.maximise_from(near, self.method, &self.options.em, self.options.has_errors())
    }
}

/// The log-probability of `clicks`, without terms that depend on the clicks alone. Clicks are
/// Poisson with a mean of `expected` times a Gamma variable of this shape and of mean 1.
fn negative_binomial(clicks: f64, expected: f64, shape: f64) -> f64 {
    let of_clicks = if clicks > 0.0 { clicks * ln(expected / (shape + expected)) } else { 0.0 };
    lgamma(clicks + shape) - lgamma(shape) - shape * log1p(expected / shape) + of_clicks
}

fn bounded(rate: f64) -> f64 {
    rate.clamp(SMALLEST_RATE, LARGEST_RATE)
}

struct Impressions {
    queries: Vec<(Id, Positions)>,
    /// The cells of each, sorted by item, then column.
    counts: Vec<Vec<Count>>,
    is_browsing: bool,
}

impl Impressions {
    /// With the positions of the log, which are the columns.
    fn by_position(counts: &Counts) -> Self {
        let all = counts.positions();
        let of_query = |query: QueryCounts<'_>| {
            let count = |cell: Cell| Count {
                item: cell.item,
                column: all.rank(cell.position),
                clicks: cell.clicks,
                impressions: cell.impressions as f64,
                share: 0.0,
            };
            ((query.id(), query.positions()), with_shares(query.cells().map(count).collect()))
        };
        let (queries, counts) = counts.queries().map(of_query).unzip();
        Self { queries, counts, is_browsing: false }
    }

    /// The impressions of sessions, by item and browsing column.
    fn browsing(sessions: &Sessions) -> Self {
        let of_query = |query: QuerySessions<'_>| ((query.id(), query.positions()), browsing(&query));
        let (queries, counts) = in_order(sessions.queries().collect(), of_query).into_iter().unzip();
        Self { queries, counts, is_browsing: true }
    }
}

/// The counts of one query by item and browsing column.
fn browsing(query: &QuerySessions<'_>) -> Vec<Count> {
    let mut counts = Vec::new();
    for list in query.lists() {
        for pattern in list.patterns {
            let mut last_click = None;
            for (position, &item) in list.items.iter().enumerate() {
                let clicked = pattern.clicks.get(position);
                if let Some(column) = browsing_column(position, last_click) {
                    let clicks = if clicked { pattern.sessions } else { 0 };
                    let impressions = pattern.sessions as f64;
                    counts.push(Count { item, column, clicks, impressions, share: 0.0 });
                }
                if clicked {
                    last_click = Some(position);
                }
            }
        }
    }
    merged(counts)
}
