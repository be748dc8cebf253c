//! Users who scan from the top and may leave after a click: cascade, dependent click model (DCM), simplified dynamic Bayesian
//! network (SDBN).
//!
//! A session shows for every item down to its last click whether it attracted. What the user did below is hidden: left, or read the tail
//! of the list without a click. With `v` the probability of leaving, the tail has the likelihood
//!
//! ```text
//! v + (1 - v) product over the tail of (1 - attraction),
//! ```
//!
//! and in the EM step the user has left with the probability `v` divided by this. The DCM has `v` by position, the SDBN by item. A
//! cascade user always leaves after the first click, so nothing is hidden: attraction = clicks / impressions at or above the first click.
//! With [`Exit::LastClick`] every user has left, and the DCM and the SDBN are in closed form, too.
//!
//! Reference: Guo, Liu, Wang, WSDM 2009 (DCM); Chapelle, Zhang, WWW 2009 (SDBN, appendix); Kveton et al., *Cascading bandits*, ICML 2015.
//! Deviations: maximum likelihood is the default, and the closed forms of the papers are the option. Priors are ours. The prior mean of
//! attraction is the query's at the positions where the item was shown ([`super::credibility`]). The prior mean of leaving by item is the
//! site's. That of leaving by position comes from a model with one parameter for all positions or, if queries have their own parameters,
//! from the same position of the site.
//!
//! | here | meaning |
//! |---|---|
//! | `clicks`, `skips` | impressions that were certainly examined |
//! | `left`, `stayed` | clicks after which the user certainly left, or stayed |
//! | `Tail` | the positions below a last click |
//!
//! Numerics: a click at the end of its list has no tail, and no information about leaving. The observed information is exact. It couples
//! the items of a query, so it is inverted query by query, bordered by the parameters that queries share. It is not computed for more
//! than 800 items of a query. Complexity: an EM step is linear in the tails of the lists; errors take O(items^3) per query.

mod information;
mod problem;
mod rows;

use super::credibility::{Count, Credibility, Source, items, merged};
use super::estimate::{Estimate, normal_quantile};
use super::in_order::in_order;
use super::item_prior::ItemPrior;
use super::options::{Exit, Options, Scope};
use super::squarem::{self, Convergence, Em};
use super::{Attractions, ByPosition, Fit, ItemFit, Model, QueryFit, Site};
use crate::names::Id;
use crate::session::{QuerySessions, Sessions};
use problem::{Problem, Tail};
use rows::Rows;
use std::ops::Range;

/// Smallest prior mean of leaving, and its smallest distance from 1: a prior at the edge has its maximum there, and a position without
/// data would have a certain value.
const SMALLEST_LEAVE_MEAN: f64 = 0.1;
/// Largest number of alternations between the prior of attraction and leaving, and the change at which they stop.
const TURNS: usize = 10;
const TOLERANCE_OF_TURNS: f64 = 0.01;

/// What the probability of leaving depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Leaving {
    /// Nothing.
    One,
    Position,
    Item,
}

/// Counts of every query, sorted by item, then position.
struct Examined(Vec<Vec<Count>>);

impl Source for Examined {
    fn n_queries(&self) -> usize {
        self.0.len()
    }

    fn counts(&self, query: usize, out: &mut Vec<Count>) {
        out.clear();
        out.extend_from_slice(&self.0[query]);
    }
}

/// The data, query by query, and the prior of attraction.
struct Fitting<'a> {
    model: Model,
    options: &'a Options,
    rows: Rows,
    queries: Vec<QuerySessions<'a>>,
    n_positions: usize,
    /// Clicks and examined impressions of every row.
    certain: Vec<(u64, u64)>,
    item_prior: ItemPrior,
    /// The prior mean of attraction of every row.
    means: Vec<f64>,
    lift: Vec<f64>,
}

pub(super) fn fit(model: Model, sessions: &Sessions, options: &Options) -> Fit {
    let fitting = Fitting::new(model, sessions, options);
    match model {
        Model::Cascade => fitting.cascade(),
        Model::Sdbn => fitting.by_item(),
        _ => fitting.by_position(),
    }
}

impl<'a> Fitting<'a> {
    fn new(model: Model, sessions: &'a Sessions, options: &'a Options) -> Self {
        let rows = Rows::new(sessions);
        let queries: Vec<_> = sessions.queries().collect();
        let lists = queries.iter().flat_map(QuerySessions::lists);
        let n_positions = lists.map(|list| list.items().len()).max().unwrap_or(0);
        let mut fitting = Self {
            model,
            options,
            rows,
            queries,
            n_positions,
            certain: Vec::new(),
            item_prior: ItemPrior::default(),
            means: Vec::new(),
            lift: Vec::new(),
        };
        fitting.count_certain();
        fitting.find_item_prior(None);
        if model != Model::Cascade && options.exit == Exit::Hidden && options.prior_strength.is_none() {
            fitting.find_item_prior_of_hidden();
        }
        fitting
    }

    /// Counts clicks and impressions that were certainly examined.
    fn count_certain(&mut self) {
        let mut certain = vec![(0, 0); self.rows.items.len()];
        for query in 0..self.queries.len() {
            for list in self.queries[query].lists() {
                let rows: Vec<usize> = list.items().iter().map(|&item| self.row(query, item)).collect();
                for pattern in list.patterns() {
                    let examined = self.last_certain(pattern.clicks).map_or(rows.len(), |last| last + 1);
                    for (position, &row) in rows[..examined].iter().enumerate() {
                        certain[row].0 += if pattern.clicks.get(position) { pattern.sessions } else { 0 };
                        certain[row].1 += pattern.sessions;
                    }
                }
            }
        }
        self.certain = certain;
    }

    /// Finds the prior with impressions below the last click, weighted by their probability of being examined. Certain impressions alone
    /// would contain all clicks and lack skips. The weights depend on the prior, so both are found in alternation.
    fn find_item_prior_of_hidden(&mut self) {
        let mut before = 1.0;
        for _ in 0..TURNS {
            let (at, _) = self.maximise(&self.problem(0..self.queries.len(), Leaving::One, &[0.5]));
            let (attraction, leave) = at.split_at(self.rows.items.len());
            self.find_item_prior(Some((attraction, leave[0])));
            if (leave[0] - before).abs() < TOLERANCE_OF_TURNS {
                break;
            }
            before = leave[0];
        }
    }

    /// Finds the prior of attraction from impressions that were examined certainly or, given attraction of rows and leaving, probably.
    fn find_item_prior(&mut self, hidden: Option<(&[f64], f64)>) {
        let all = in_order((0..self.queries.len()).collect(), |query| self.examined(query, hidden));
        let mut columns = vec![(0.0, 0.0); self.n_positions];
        for count in all.iter().flatten() {
            columns[count.column].0 += count.clicks as f64;
            columns[count.column].1 += count.impressions;
        }
        let positions: Vec<usize> = (0..self.n_positions).collect();
        let examined = Examined(all);
        let credibility = Credibility {
            source: &examined,
            positions: &positions,
            columns: &columns,
            examines: false,
            lifts: self.options.prior_strength.is_none(),
            trusts_means: true,
        };
        let (found, item_prior, _) = credibility.fit(self.options.prior_strength, false);
        let everywhere = vec![1.0; self.n_positions];
        self.means = vec![item_prior.mean; self.rows.items.len()];
        for (query, counts) in examined.0.iter().enumerate() {
            for of_item in items(counts) {
                let row = self.row(query, of_item[0].item);
                self.means[row] =
                    item_prior.of_item(query, credibility.placed(of_item, &everywhere, &found).1);
            }
        }
        self.lift = found.lift();
        self.item_prior = item_prior;
    }

    /// Examined impressions of a query, sorted by item, then position.
    fn examined(&self, query: usize, hidden: Option<(&[f64], f64)>) -> Vec<Count> {
        let mut counts = Vec::new();
        for list in self.queries[query].lists() {
            for pattern in list.patterns() {
                let examined = self.last_certain(pattern.clicks).map_or(list.items().len(), |last| last + 1);
                let below = hidden.map_or(0.0, |(attraction, leave)| {
                    let rows = list.items()[examined..].iter().map(|&item| self.row(query, item));
                    let passed = (1.0 - leave) * rows.map(|row| 1.0 - attraction[row]).product::<f64>();
                    passed / (leave + passed)
                });
                for (column, &item) in list.items().iter().enumerate() {
                    // Below, even an impression of weight 0 shows where rankers put the item.
                    let share = if column < examined { 1.0 } else { below };
                    let impressions = share * pattern.sessions as f64;
                    let clicks =
                        if column < examined && pattern.clicks.get(column) { pattern.sessions } else { 0 };
                    counts.push(Count { item, column, clicks, impressions });
                }
            }
        }
        merged(counts)
    }

    /// The row of an item.
    fn row(&self, query: usize, item: Id) -> usize {
        let rows = self.rows.queries[query].clone();
        // Every item of the sessions has its row.
        rows.start + self.rows.items[rows].binary_search(&item).unwrap_or(0)
    }

    /// The click below which examination is uncertain.
    fn last_certain(&self, clicks: click_models::Clicks) -> Option<usize> {
        let bits = clicks.bits();
        let place = if self.model == Model::Cascade {
            bits.trailing_zeros()
        } else {
            63 - bits.leading_zeros().min(63)
        };
        (bits != 0).then_some(place as usize)
    }

    /// The estimation problem of some queries; leaving has a prior with these means.
    fn problem(&self, queries: Range<usize>, leaving: Leaving, leave_means: &[f64]) -> Problem {
        let strength = self.options.given_strength();
        let first_row = self.rows.queries[queries.start].start;
        let last_row = self.rows.queries[queries.end - 1].end;
        let n_leave = match leaving {
            Leaving::One => 1,
            Leaving::Position => self.n_positions,
            Leaving::Item => last_row - first_row,
        };
        let mean = |of: usize| {
            leave_means[of.min(leave_means.len() - 1)].clamp(SMALLEST_LEAVE_MEAN, 1.0 - SMALLEST_LEAVE_MEAN)
        };
        let mut problem = Problem {
            clicks: self.certain[first_row..last_row].iter().map(|row| row.0 as f64).collect(),
            skips: self.certain[first_row..last_row].iter().map(|row| (row.1 - row.0) as f64).collect(),
            left: (0..n_leave).map(|of| strength * mean(of)).collect(),
            stayed: (0..n_leave).map(|of| strength * (1.0 - mean(of))).collect(),
            ..Problem::default()
        };
        for query in queries {
            let rows = self.rows.queries[query].start - first_row..self.rows.queries[query].end - first_row;
            for row in rows.clone() {
                let mean = self.means[first_row + row];
                problem.clicks[row] += self.item_prior.strength * mean;
                problem.skips[row] += self.item_prior.strength * (1.0 - mean);
            }
            let first_tail = problem.tails.len();
            for list in self.queries[query].lists() {
                let rows: Vec<usize> =
                    list.items().iter().map(|&item| self.row(query, item) - first_row).collect();
                let leave = |position: usize| match leaving {
                    Leaving::One => 0,
                    Leaving::Position => position,
                    Leaving::Item => rows[position],
                };
                let mut last_at = vec![0; rows.len()];
                for pattern in list.patterns() {
                    let Some(last) = self.last_certain(pattern.clicks) else { continue };
                    last_at[last] += pattern.sessions;
                    for position in (0..last).filter(|&position| pattern.clicks.get(position)) {
                        problem.stayed[leave(position)] += pattern.sessions as f64;
                    }
                }
                for (last, &sessions) in last_at.iter().enumerate() {
                    if sessions == 0 || last + 1 == rows.len() {
                        continue;
                    }
                    if self.options.exit == Exit::LastClick {
                        problem.left[leave(last)] += sessions as f64;
                        continue;
                    }
                    let start = problem.tail_rows.len();
                    problem.tail_rows.extend_from_slice(&rows[last + 1..]);
                    let rows = start..problem.tail_rows.len();
                    problem.tails.push(Tail { leave: leave(last), rows, sessions: sessions as f64 });
                }
            }
            problem.queries.push([rows, first_tail..problem.tails.len()]);
        }
        problem
    }

    fn maximise(&self, problem: &Problem) -> (Vec<f64>, Convergence) {
        let rate = |(successes, failures): (&f64, &f64)| {
            if *successes > 0.0 { (successes + 0.5) / (successes + failures + 1.0) } else { 0.0 }
        };
        let attraction = problem.clicks.iter().zip(&problem.skips).map(rate);
        let leave = problem.left.iter().zip(&problem.stayed);
        let leave = leave.map(|(left, stayed)| (left + 0.5) / (left + stayed + 1.0));
        let mut at: Vec<f64> = attraction.chain(leave).collect();
        if problem.tails.is_empty() {
            let start = at.clone();
            problem.step(&start, &mut at);
            let log_likelihood = problem.log_likelihood(&at);
            return (at, Convergence::closed_form(log_likelihood));
        }
        let convergence = squarem::maximise(problem, &mut at, &self.options.em, self.options.trace);
        (at, convergence)
    }

    /// One probability of leaving for all clicks of all queries: the prior mean of later fits.
    fn leave_of_all(&self) -> f64 {
        let problem = self.problem(0..self.queries.len(), Leaving::One, &[0.5]);
        let (at, _) = self.maximise(&problem);
        at[problem.clicks.len()].clamp(0.01, 0.99)
    }

    fn query(&self, query: usize, first_row: usize, at: &[f64], variances: &[f64], z: f64) -> QueryFit {
        let rows = self.rows.queries[query].clone();
        let items = rows
            .map(|row| ItemFit {
                item: self.rows.items[row],
                attraction: probability(at[row - first_row], variances[row - first_row], z),
                clicks: self.certain[row].0,
                impressions: self.certain[row].1,
            })
            .collect();
        QueryFit {
            id: self.queries[query].id(),
            items,
            typical: self.item_prior.means[query],
            convergence: None,
        }
    }

    /// Combines the fits of queries with the parameters of the site.
    fn attractions(&self, queries: Vec<QueryFit>, convergence: Option<Convergence>) -> Attractions {
        let site = Site {
            typical: self.item_prior.mean,
            lift: self.lift.clone(),
            prior_strength: self.item_prior.strength,
            convergence,
        };
        Attractions { queries, site }
    }

    fn cascade(&self) -> Fit {
        let z = normal_quantile(self.options.level);
        let strength = self.item_prior.strength;
        let mut below = (0.0, 0.0);
        for list in self.queries.iter().flat_map(QuerySessions::lists) {
            for pattern in list.patterns() {
                if let Some(first) = self.last_certain(pattern.clicks) {
                    below.0 += f64::from(pattern.clicks.count() - 1) * pattern.sessions as f64;
                    below.1 += (list.items().len() - 1 - first) as f64 * pattern.sessions as f64;
                }
            }
        }
        let queries = (0..self.queries.len())
            .map(|query| {
                let rows = self.rows.queries[query].clone();
                let mut fit =
                    self.query(query, rows.start, &vec![0.0; rows.len()], &vec![0.0; rows.len()], z);
                for (item, mean) in fit.items.iter_mut().zip(&self.means[rows]) {
                    let shown = item.impressions as f64 + strength;
                    let clicks = item.clicks as f64 + strength * mean;
                    item.attraction = Estimate::share(clicks, shown, z);
                }
                fit
            })
            .collect();
        let below_first_click = (below.0 + 0.5) / (below.1 + 1.0);
        Fit::Cascade { attractions: self.attractions(queries, None), below_first_click }
    }

    fn by_item(&self) -> Fit {
        let z = normal_quantile(self.options.level);
        let typical_satisfaction = self.leave_of_all();
        let queries = in_order((0..self.queries.len()).collect(), |query| {
            let problem = self.problem(query..query + 1, Leaving::Item, &[typical_satisfaction]);
            let (at, convergence) = self.maximise(&problem);
            let variances = problem.variances(&at, true);
            let mut fit = self.query(query, self.rows.queries[query].start, &at, &variances, z);
            let n_items = fit.items.len();
            let satisfaction: Vec<Estimate> =
                (n_items..2 * n_items).map(|of| probability(at[of], variances[of], z)).collect();
            fit.convergence = Some(convergence);
            (fit, satisfaction)
        });
        let (queries, satisfaction) = queries.into_iter().unzip();
        Fit::Sdbn { attractions: self.attractions(queries, None), satisfaction, typical_satisfaction }
    }

    fn by_position(&self) -> Fit {
        let z = normal_quantile(self.options.level);
        let typical_leave = self.leave_of_all();
        let all = 0..self.queries.len();
        let problem = self.problem(all.clone(), Leaving::Position, &[typical_leave]);
        let (at, convergence) = self.maximise(&problem);
        let n_rows = problem.clicks.len();
        let of_site = &at[n_rows..];
        let variances = problem.variances(&at, false);
        let positions = (n_rows..at.len()).map(|of| probability(at[of], variances[of], z)).collect();
        let (queries, own) = match self.options.scope {
            Scope::Site => (all.map(|query| self.query(query, 0, &at, &variances, z)).collect(), None),
            Scope::Query => {
                let fits = in_order(all.collect(), |query| {
                    let means: Vec<f64> = of_site.iter().map(|leave| leave.clamp(0.01, 0.99)).collect();
                    let problem = self.problem(query..query + 1, Leaving::Position, &means);
                    let (at, convergence) = self.maximise(&problem);
                    let variances = problem.variances(&at, false);
                    let mut fit = self.query(query, self.rows.queries[query].start, &at, &variances, z);
                    let longest =
                        self.queries[query].lists().map(|list| list.items().len()).max().unwrap_or(0);
                    let n_rows = fit.items.len();
                    let estimate = |of| probability(at[of], variances[of], z);
                    let positions: Vec<Estimate> = (n_rows..n_rows + longest).map(estimate).collect();
                    fit.convergence = Some(convergence);
                    (fit, positions)
                });
                let (queries, own) = fits.into_iter().unzip();
                (queries, Some(own))
            }
        };
        let attractions = self.attractions(queries, Some(convergence));
        Fit::Dcm { attractions, leave: ByPosition { site: positions, queries: own }, typical_leave }
    }
}

/// An estimate from the variance of the parameter itself.
fn probability(value: f64, variance: f64, z: f64) -> Estimate {
    Estimate::probability(value, Some(variance / (value * value)), z)
}

#[cfg(test)]
mod tests;
