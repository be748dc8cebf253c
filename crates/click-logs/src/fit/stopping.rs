//! Users who scan from the top and may leave after a click: cascade, dependent click model (DCM),
//! simplified dynamic Bayesian network (SDBN).
//!
//! A session shows for every item down to its last click whether it attracted. Below, the user
//! left, or read the tail of the list without a click. With the probability `v` of leaving, the
//! tail has the likelihood
//!
//! ```text
//! v + (1 - v) product over the tail of (1 - attraction),
//! ```
//!
//! and in the EM step the user has left with the probability `v` divided by this. The DCM has `v`
//! by position, the SDBN by item. A cascade user always leaves after the first click, so nothing is
//! hidden: attraction = clicks / impressions at or above the first click. With [`Exit::LastClick`]
//! every user has left, and DCM and SDBN are in closed form.
//!
//! Reference: Guo, Liu, Wang, WSDM 2009 (DCM); Chapelle, Zhang, WWW 2009 (SDBN, appendix); Kveton
//! et al., *Cascading bandits*, ICML 2015. Deviations: maximum likelihood is the default, and the
//! closed forms of the papers are the option. Priors are ours. The prior mean of attraction is the
//! query's at the positions where the item was shown ([`super::credibility`]), that of leaving by
//! item is the site's. That of leaving by position comes from a model with one parameter for all
//! positions or, if queries have their own parameters, from the same position of the site.
//!
//! | here | meaning |
//! |---|---|
//! | `clicks`, `skips` | impressions that were certainly examined |
//! | `left`, `stayed` | clicks after which the user certainly left, or stayed |
//! | `Tail` | the positions below a last click |
//!
//! Numerics: a click at the end of its list has no tail, and no information about leaving. The
//! observed information is exact. It couples the items of a query, so it is inverted query by
//! query, bordered by shared parameters, for at most 800 items of a query. Complexity: an EM step
//! is linear in the tails of the lists; errors take O(items^3) per query.

pub(super) mod information;
mod problem;

use super::estimate::{Estimate, normal_quantile};
use super::options::{Exit, Options, Scope};
use super::scanned::{
    Certain, PASSES_OF_EM, ROUGH_TOLERANCE_OF_LIFTS, ScanData, TOLERANCE_OF_LIFTS, TOLERANCE_OF_TURNS, TURNS,
};
use super::squarem::{self, Convergence, Em};
use super::{Estimates, Fit, Model, Purpose};
use log_reader::{QuerySessions, Sessions};
use problem::{Problem, Tail};
use std::ops::Range;

/// Smallest prior mean of leaving, and its smallest distance from 1: a prior at the edge has its
/// maximum there, and a position without data would have a certain value.
const SMALLEST_LEAVE_MEAN: f64 = 0.1;
/// The index on which the probability of leaving depends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Leaving {
    /// Nothing.
    One,
    Position,
    Item,
}

/// The data with the prior of attraction.
struct Fitting<'a> {
    scanned: ScanData<'a>,
    /// Attraction of every row, and one probability of leaving, from the search for the prior.
    rough: Option<Vec<f64>>,
}

pub(super) fn cascade(sessions: &Sessions, options: &Options, purpose: Purpose<'_>) -> Fit {
    Fitting::new(Certain::FirstClick, sessions, options, purpose).cascade()
}

pub(super) fn by_item(sessions: &Sessions, options: &Options, purpose: Purpose<'_>) -> Fit {
    Fitting::new(Certain::LastClick, sessions, options, purpose).by_item()
}

pub(super) fn by_position(sessions: &Sessions, options: &Options, purpose: Purpose<'_>) -> Fit {
    Fitting::new(Certain::LastClick, sessions, options, purpose).by_position()
}

impl<'a> Fitting<'a> {
    fn new(until: Certain, sessions: &'a Sessions, options: &'a Options, purpose: Purpose<'a>) -> Self {
        let has_hidden =
            until == Certain::LastClick && options.exit == Exit::Hidden && options.prior_strength.is_none();
        let scanned = ScanData::new(sessions, options, until, has_hidden, purpose);
        let mut fitting = Self { scanned, rough: None };
        if has_hidden {
            fitting.find_item_prior_of_hidden(purpose.near);
        }
        fitting
    }

    /// Finds the prior with impressions below the last click, weighted by their probability of
    /// being examined.
    fn find_item_prior_of_hidden(&mut self, near: Option<&Fit>) {
        let em = self.scanned.options.em_of_priors();
        let mut problem = self.problem(0..self.scanned.queries.len(), Leaving::One, &[0.5]);
        let mut at = start(&problem);
        if let Some(leave) = near.and_then(|near| near.typical_leave) {
            at[self.scanned.rows.items.len()] = leave;
        }
        let (mut before, mut is_rough) = (1.0, near.is_none());
        for turn in 1..=TURNS {
            squarem::maximise(&problem, &mut at, &em);
            let (attraction, leave) = at.split_at(self.scanned.rows.items.len());
            let leave = leave[0];
            let stays = (leave - before).abs() < TOLERANCE_OF_TURNS;
            if stays && !is_rough {
                break;
            }
            is_rough &= !stays && turn < TURNS;
            let tolerance = if is_rough { ROUGH_TOLERANCE_OF_LIFTS } else { TOLERANCE_OF_LIFTS };
            self.scanned.find_item_prior(tolerance, |rows, last, weights| {
                let Some(last) = last else { return };
                let below = last + 1;
                let in_vain: f64 = rows[below..].iter().map(|&row| 1.0 - attraction[row]).product();
                let passed = (1.0 - leave) * in_vain;
                weights[below..].fill(passed / (leave + passed));
            });
            self.scanned.has_settled &= stays || turn < TURNS;
            (problem.clicks, problem.skips) = self.scanned.all_counted(0..problem.clicks.len());
            before = leave;
        }
        self.rough = Some(at);
    }

    /// Where the search for parameters of these rows starts.
    fn start(&self, problem: &Problem, rows: Range<usize>) -> Vec<f64> {
        let Some(rough) = &self.rough else { return start(problem) };
        let leave = std::iter::repeat_n(&rough[rough.len() - 1], problem.left.len());
        rough[rows].iter().chain(leave).copied().collect()
    }

    /// The estimation problem of some queries; leaving has a prior with these means.
    fn problem(&self, queries: Range<usize>, leaving: Leaving, leave_means: &[f64]) -> Problem {
        let scanned = &self.scanned;
        let strength = scanned.options.strength_of_hidden();
        let first_row = scanned.rows.queries[queries.start].start;
        let last_row = scanned.rows.queries[queries.end - 1].end;
        let n_leave = match leaving {
            Leaving::One => 1,
            Leaving::Position => scanned.n_positions,
            Leaving::Item => last_row - first_row,
        };
        let mean = |place: usize| {
            leave_means[place.min(leave_means.len() - 1)]
                .clamp(SMALLEST_LEAVE_MEAN, 1.0 - SMALLEST_LEAVE_MEAN)
        };
        let (clicks, skips) = scanned.all_counted(first_row..last_row);
        let mut problem = Problem {
            clicks,
            skips,
            left: (0..n_leave).map(|place| strength * mean(place)).collect(),
            stayed: (0..n_leave).map(|place| strength * (1.0 - mean(place))).collect(),
            ..Problem::default()
        };
        for query in queries {
            let rows = scanned.rows.queries[query].clone();
            let rows = rows.start - first_row..rows.end - first_row;
            let first_tail = problem.tails.len();
            for (rows, list) in scanned.lists(query) {
                let leave = |position: usize| match leaving {
                    Leaving::One => 0,
                    Leaving::Position => position,
                    Leaving::Item => rows[position] - first_row,
                };
                let mut last_at = vec![0; rows.len()];
                for pattern in list.patterns {
                    let Some(last) = scanned.until.last(pattern.clicks) else { continue };
                    last_at[last] += pattern.sessions;
                    for position in (0..last).filter(|&position| pattern.clicks.get(position)) {
                        problem.stayed[leave(position)] += pattern.sessions as f64;
                    }
                }
                for (last, &sessions) in last_at.iter().enumerate() {
                    if sessions == 0 || last + 1 == rows.len() {
                        continue;
                    }
                    if scanned.options.exit == Exit::LastClick {
                        problem.left[leave(last)] += sessions as f64;
                        continue;
                    }
                    let start = problem.tail_rows.len();
                    problem.tail_rows.extend(rows[last + 1..].iter().map(|row| row - first_row));
                    let rows = start..problem.tail_rows.len();
                    problem.tails.push(Tail { leave: leave(last), rows, sessions: sessions as f64 });
                }
            }
            problem.queries.push([rows, first_tail..problem.tails.len()]);
        }
        problem
    }

    /// The maximum for the queries whose first row is this.
    fn maximise(&self, problem: &Problem, first_row: usize) -> (Vec<f64>, Convergence) {
        let mut at = self.start(problem, first_row..first_row + problem.clicks.len());
        if problem.tails.is_empty() {
            let start = at.clone();
            problem.step(&start, &mut at);
            let log_likelihood = problem.log_likelihood(&at);
            return (at, Convergence::closed_form(log_likelihood));
        }
        let convergence = squarem::maximise(problem, &mut at, &self.scanned.options.em);
        (at, convergence)
    }

    /// Variances of all parameters; infinite in a fit without errors.
    fn variances(&self, problem: &Problem, at: &[f64], leave_by_item: bool) -> Vec<f64> {
        if !self.scanned.options.has_errors() {
            return vec![f64::INFINITY; at.len()];
        }
        problem.variances(at, leave_by_item)
    }

    /// One probability of leaving for all clicks of all queries: the prior mean of later fits.
    fn leave_of_all(&self) -> f64 {
        let problem = self.problem(0..self.scanned.queries.len(), Leaving::One, &[0.5]);
        let (at, _) = self.maximise(&problem, 0);
        at[problem.clicks.len()].clamp(0.01, 0.99)
    }

    fn cascade(&self) -> Fit {
        let scanned = &self.scanned;
        let z = normal_quantile(scanned.options.level);
        let mut below = (0.0, 0.0);
        for list in scanned.queries.iter().flat_map(QuerySessions::lists) {
            for pattern in list.patterns {
                if let Some(first) = scanned.until.last(pattern.clicks) {
                    below.0 += f64::from(pattern.clicks.count() - 1) * pattern.sessions as f64;
                    below.1 += (list.items.len() - 1 - first) as f64 * pattern.sessions as f64;
                }
            }
        }
        let queries = scanned.fits(1, |query| {
            let rows = scanned.rows.queries[query].clone();
            let nothing = vec![0.0; rows.len()];
            let mut fit = scanned.query(query, &nothing, &nothing, z);
            for (item, row) in fit.items.iter_mut().zip(rows) {
                let (clicks, skips) = scanned.counted(row);
                item.attraction = Estimate::share(clicks, clicks + skips, z);
            }
            fit
        });
        let below_first_click = (below.0 + 0.5) / (below.1 + 1.0);
        let fit = scanned.fit(Model::Cascade, queries, None);
        Fit { below_first_click: Some(below_first_click), prior: None, ..fit }
    }

    /// Some parameters of leaving.
    fn leaving(&self, problem: &Problem, at: &[f64], variances: &[f64], some: Range<usize>) -> Vec<Estimate> {
        let options = self.scanned.options;
        let (n_rows, z) = (problem.clicks.len(), normal_quantile(options.level));
        let estimate = |place: usize| {
            let known = [problem.left[place], problem.stayed[place]];
            let (value, variance) = (at[n_rows + place], variances[n_rows + place]);
            Estimate::hidden(value, variance, known, options.strength_of_hidden(), z)
        };
        some.map(estimate).collect()
    }

    fn by_item(&self) -> Fit {
        let z = normal_quantile(self.scanned.options.level);
        let typical_leave = self.leave_of_all();
        let queries = self.scanned.fits(PASSES_OF_EM, |query| {
            let problem = self.problem(query..query + 1, Leaving::Item, &[typical_leave]);
            let (at, convergence) = self.maximise(&problem, self.scanned.rows.queries[query].start);
            let variances = self.variances(&problem, &at, true);
            let mut fit = self.scanned.query(query, &at, &variances, z);
            let n_items = fit.items.len();
            let satisfaction = self.leaving(&problem, &at, &variances, 0..n_items);
            fit.convergence = Some(convergence);
            (fit, satisfaction)
        });
        let (queries, satisfaction) = queries.into_iter().unzip();
        let fit = self.scanned.fit(Model::Sdbn, queries, None);
        Fit { satisfaction, typical_leave: Some(typical_leave), ..fit }
    }

    fn by_position(&self) -> Fit {
        let z = normal_quantile(self.scanned.options.level);
        let typical_leave = self.leave_of_all();
        let all = 0..self.scanned.queries.len();
        let problem = self.problem(all, Leaving::Position, &[typical_leave]);
        let (at, convergence) = self.maximise(&problem, 0);
        let n_rows = problem.clicks.len();
        let of_site = &at[n_rows..];
        let variances = self.variances(&problem, &at, false);
        let positions = self.leaving(&problem, &at, &variances, 0..problem.left.len());
        let of_site_query = |query: usize| {
            let first = self.scanned.rows.queries[query].start;
            self.scanned.query(query, &at[first..], &variances[first..], z)
        };
        let (queries, own) = match self.scanned.options.scope {
            Scope::Site => (self.scanned.fits(1, of_site_query), None),
            Scope::Query => {
                let fits = self.scanned.fits(PASSES_OF_EM, |query| {
                    let means: Vec<f64> = of_site.iter().map(|leave| leave.clamp(0.01, 0.99)).collect();
                    let problem = self.problem(query..query + 1, Leaving::Position, &means);
                    let (at, convergence) = self.maximise(&problem, self.scanned.rows.queries[query].start);
                    let variances = self.variances(&problem, &at, false);
                    let mut fit = self.scanned.query(query, &at, &variances, z);
                    let longest =
                        self.scanned.queries[query].lists().map(|list| list.items.len()).max().unwrap_or(0);
                    let positions = self.leaving(&problem, &at, &variances, 0..longest);
                    fit.convergence = Some(convergence);
                    (fit, positions)
                });
                let (queries, own) = fits.into_iter().unzip();
                (queries, Some(own))
            }
        };
        let positions = Estimates { site: positions, queries: own };
        let fit = self.scanned.fit(Model::Dcm, queries, Some(convergence));
        Fit { positions, typical_leave: Some(typical_leave), ..fit }
    }
}

/// Rates of what is certain.
fn start(problem: &Problem) -> Vec<f64> {
    let rate = |(successes, failures): (&f64, &f64)| {
        if *successes > 0.0 { (successes + 0.5) / (successes + failures + 1.0) } else { 0.0 }
    };
    let attraction = problem.clicks.iter().zip(&problem.skips).map(rate);
    let leave = problem.left.iter().zip(&problem.stayed);
    let leave = leave.map(|(left, stayed)| (left + 0.5) / (left + stayed + 1.0));
    attraction.chain(leave).collect()
}

#[cfg(test)]
mod tests;
