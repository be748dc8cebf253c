//! Users who scan from the top and may stop after any position: dynamic Bayesian network (DBN) and
//! click chain model (CCM).
//!
//! An examined position that shows item `u` is clicked with probability `a_u`. The next position is
//! then examined with a probability that depends on whether there was a click:
//!
//! | | after no click | after a click |
//! |---|---|---|
//! | DBN | `c` | `c (1 - s_u)`: the user leaves if satisfied |
//! | CCM | `c_1` | `c_2 (1 - a_u) + c_3 a_u` |
//!
//! Everything down to the last click was examined. The number of positions examined below it, or
//! below the first position without a click, is hidden ([`tails`]). The EM step also treats as
//! hidden, in the DBN, whether the last click satisfied; in the CCM, for attraction, which of the
//! two probabilities held after a click: the second one with the item's attraction as its
//! probability.
//!
//! Reference: Chapelle, Zhang, *A dynamic Bayesian network click model for web search ranking*, WWW
//! 2009, section 4 and appendix (DBN); Guo, Liu, Kannan, Minka, Taylor, Wang, Faloutsos, *Click
//! chain model in web search*, WWW 2009; both after Chuklin, Markov, de Rijke, *Click models for
//! web search*, 2015, sections 3.6 and 3.8. Deviations: maximum likelihood with priors, where the
//! papers have a fixed `c` (DBN) and a posterior (CCM). The prior mean of attraction is the query's
//! at the positions where the item was shown ([`super::credibility`]), that of satisfaction is the
//! site's. That of continuation is 1/2 or, if queries have their own, the site's.
//!
//! | here | meaning |
//! |---|---|
//! | `attraction` | `a`, one per item and query |
//! | `satisfaction` | `s` (DBN), one per item and query |
//! | `continuation` | `c` (DBN), or `c_1, c_2, c_3` (CCM), for the site or by query |
//!
//! Numerics: a click at the end of its list has no information about continuation. The observed
//! information is exact. It couples the items of a query, and is bordered by continuation; it is
//! not computed for more than 800 items of a query. The interval of continuation in the DBN also
//! contains that of a fit whose satisfaction may be negative. Without priors, a parameter without
//! data keeps its starting value, without an interval. Complexity: an EM step is linear in the
//! different lists; errors take O(items^3) per query, and O(length^3) per list.

mod information;
mod problem;
mod tails;

use super::estimate::{Estimate, normal_quantile};
use super::options::{Options, Scope};
use super::scanned::{Certain, PASSES_OF_EM, ScanData, TOLERANCE_OF_LIFTS, TOLERANCE_OF_TURNS, TURNS};
use super::squarem::{self, Convergence};
use super::{Estimates, Fit, Model, Purpose, QueryFit};
use click_models::ListShape;
use confidence::math::sqrt;
use log_reader::Sessions;
use problem::{Kind, Problem};
use std::ops::Range;
use tails::{Tails, examined_below};

/// Positions of the longest list.
const LONGEST: usize = ListShape::MAX_POSITIONS;
/// Prior of the site's continuation: its mean, and its pseudo-counts at most. More would move
/// probabilities near 0 or 1.
const CONTINUATION_MEAN: f64 = 0.5;
const CONTINUATION_STRENGTH: f64 = 1.0;
/// Smallest prior mean, and its smallest distance from 1: a prior at the edge has its maximum
/// there.
const SMALLEST_MEAN: f64 = 0.1;

struct Fitting<'a> {
    kind: Kind,
    scanned: ScanData<'a>,
}

/// Number of parameters of satisfaction, and prior means. Continuation without a mean has the prior
/// of the site.
#[derive(Debug, Clone)]
struct Prior {
    n_satisfactions: usize,
    satisfaction_mean: f64,
    continuation_mean: Vec<f64>,
}

impl Default for Prior {
    fn default() -> Self {
        Self { n_satisfactions: 0, satisfaction_mean: 0.5, continuation_mean: Vec::new() }
    }
}

/// Parameters with the errors of all of them.
struct Found {
    /// The strength of priors at most.
    strength: f64,
    at: Vec<f64>,
    variances: Vec<f64>,
    convergence: Convergence,
}

/// The fit of a query, satisfaction of its items, and continuation.
type OfQuery = (QueryFit, Vec<Estimate>, Vec<Estimate>);

pub(super) fn dbn(sessions: &Sessions, options: &Options, purpose: Purpose<'_>) -> Fit {
    let mut fitting = Fitting::new(Kind::Dbn, sessions, options, purpose);
    // One satisfaction for all items: the prior mean of each item's.
    let all = fitting.with_prior_of_items(purpose.near);
    let n_rows = fitting.scanned.rows.items.len();
    let typical = all[n_rows].clamp(0.01, 0.99);
    let satisfaction = std::iter::repeat_n(&all[n_rows], n_rows);
    let start = all[..n_rows].iter().chain(satisfaction).chain(&all[n_rows + 1..]).copied().collect();
    Fit { typical_leave: Some(typical), ..fitting.fit(Model::Dbn, start, typical) }
}

pub(super) fn ccm(sessions: &Sessions, options: &Options, purpose: Purpose<'_>) -> Fit {
    let mut fitting = Fitting::new(Kind::Ccm, sessions, options, purpose);
    let start = fitting.with_prior_of_items(purpose.near);
    Fit { satisfaction: Vec::new(), ..fitting.fit(Model::Ccm, start, 0.5) }
}

impl<'a> Fitting<'a> {
    fn new(kind: Kind, sessions: &'a Sessions, options: &'a Options, purpose: Purpose<'a>) -> Self {
        let (until, has_hidden) = (Certain::LastClickOrTop, options.prior_strength.is_none());
        Self { kind, scanned: ScanData::new(sessions, options, until, has_hidden, purpose) }
    }

    /// Finds the prior of attraction in alternation with the other parameters, with one
    /// satisfaction for all items. Returns parameters.
    fn with_prior_of_items(&mut self, near: Option<&Fit>) -> Vec<f64> {
        let options = self.scanned.options;
        let prior = Prior { n_satisfactions: usize::from(self.kind == Kind::Dbn), ..Prior::default() };
        let em = options.em_of_priors();
        let all = 0..self.scanned.queries.len();
        let mut problem = self.problem(all, &prior);
        let mut at = start(&problem);
        if let Some(near) = near.filter(|_| options.prior_strength.is_none()) {
            let values = near.continuation.site.iter().map(|continuation| continuation.value);
            let satisfaction = near.typical_leave.filter(|_| prior.n_satisfactions > 0);
            at.truncate(problem.clicks.len());
            at.extend(satisfaction.into_iter().chain(values));
        }
        let mut before = f64::INFINITY;
        for turn in 1..=TURNS {
            squarem::maximise(&problem, &mut at, &em);
            let split = problem.split(&at);
            let after_skip = split.continuation[0];
            if options.prior_strength.is_some() || (after_skip - before).abs() < TOLERANCE_OF_TURNS {
                break;
            }
            before = after_skip;
            let after_click = problem.after_click(&split);
            self.scanned.find_item_prior(TOLERANCE_OF_LIFTS, |rows, last, weights| {
                examined_below(rows, last, [split.attraction, &after_click], after_skip, weights);
            });
            self.scanned.has_settled &= turn < TURNS;
            self.count(&mut problem, 0);
        }
        at
    }

    /// Fits all queries together and, if they have their own continuation, each of them.
    fn fit(&self, model: Model, start: Vec<f64>, satisfaction_mean: f64) -> Fit {
        let options = self.scanned.options;
        let z = normal_quantile(options.level);
        let rows = &self.scanned.rows;
        let n_queries = self.scanned.queries.len();
        let n_satisfactions = if self.kind == Kind::Dbn { rows.items.len() } else { 0 };
        let prior = Prior { n_satisfactions, satisfaction_mean, ..Prior::default() };
        let problem = self.problem(0..n_queries, &prior);
        let found = self.maximise(&problem, start);
        let together = problem.split(&found.at);
        let of_site = together.continuation;
        let first = found.at.len() - of_site.len();
        let site = (first..found.at.len()).map(|place| found.estimate(&problem, place, z)).collect();
        let of_query = |query: usize| -> OfQuery {
            let of_rows = rows.queries[query].clone();
            match options.scope {
                Scope::Site => {
                    let (at, variances) = (&found.at[of_rows.start..], &found.variances[of_rows.start..]);
                    let fit = self.scanned.query(query, at, variances, z);
                    let of_row = |row| found.estimate(&problem, rows.items.len() + row, z);
                    let satisfaction = of_rows.take(n_satisfactions).map(of_row).collect();
                    (fit, satisfaction, Vec::new())
                }
                Scope::Query => {
                    let n = of_rows.len();
                    let continuation_mean = of_site.to_vec();
                    let n_satisfactions = n_satisfactions.min(n);
                    let problem = self.problem(
                        query..query + 1,
                        &Prior { n_satisfactions, continuation_mean, ..prior.clone() },
                    );
                    let satisfaction = together.satisfaction.get(of_rows.clone()).unwrap_or(&[]);
                    let start = together.attraction[of_rows].iter().chain(satisfaction).chain(of_site);
                    let found = self.maximise(&problem, start.copied().collect());
                    let mut fit = self.scanned.query(query, &found.at, &found.variances, z);
                    fit.convergence = Some(found.convergence);
                    let estimate = |place: usize| found.estimate(&problem, place, z);
                    let satisfaction = (n..n + n_satisfactions).map(estimate).collect();
                    (fit, satisfaction, (n + n_satisfactions..found.at.len()).map(estimate).collect())
                }
            }
        };
        let mut queries = Vec::with_capacity(n_queries);
        let (mut satisfaction, mut own) = (Vec::new(), Vec::new());
        for (fit, of_items, of_query) in self.scanned.fits(PASSES_OF_EM, of_query) {
            queries.push(fit);
            satisfaction.push(of_items);
            own.push(of_query);
        }
        let own = (options.scope == Scope::Query).then_some(own);
        let continuation = Estimates { site, queries: own };
        Fit { satisfaction, continuation, ..self.scanned.fit(model, queries, Some(found.convergence)) }
    }

    /// The estimation problem of some queries.
    fn problem(&self, queries: Range<usize>, prior: &Prior) -> Problem {
        let scanned = &self.scanned;
        let first_row = scanned.rows.queries[queries.start].start;
        let n_rows = scanned.rows.queries[queries.end - 1].end - first_row;
        let strength = scanned.options.given_strength();
        let pseudo = |strength: f64, mean: f64| {
            let mean = mean.clamp(SMALLEST_MEAN, 1.0 - SMALLEST_MEAN);
            [strength * mean, strength * (1.0 - mean)]
        };
        let [satisfied, unsatisfied] = pseudo(scanned.options.strength_of_hidden(), prior.satisfaction_mean);
        let of_continuation = |place: usize| match prior.continuation_mean.get(place) {
            Some(&mean) if place == 0 => pseudo(strength, mean),
            // Items of a query hardly differ enough to tell these apart.
            Some(&mean) => pseudo(scanned.options.strength_of_hidden(), mean),
            None => pseudo(strength.min(CONTINUATION_STRENGTH), CONTINUATION_MEAN),
        };
        let n_continuations = if self.kind == Kind::Dbn { 1 } else { 3 };
        let mut problem = Problem {
            kind: self.kind,
            clicks: Vec::new(),
            skips: Vec::new(),
            tops: vec![0.0; n_rows],
            went_on: vec![0.0; n_rows],
            last_clicks: vec![0.0; n_rows],
            satisfied: vec![satisfied; prior.n_satisfactions],
            unsatisfied: vec![unsatisfied; prior.n_satisfactions],
            skips_above: 0.0,
            prior: (0..n_continuations).map(of_continuation).collect(),
            tails: Tails::default(),
            queries: Vec::new(),
        };
        let mut of_list = Vec::new();
        for query in queries {
            let first_list = problem.tails.ends.len();
            for (rows, list) in scanned.lists(query) {
                of_list.clear();
                of_list.extend(rows.iter().map(|row| row - first_row));
                problem.add(&of_list, list.patterns, scanned.until);
            }
            let rows = scanned.rows.queries[query].clone();
            let rows = rows.start - first_row..rows.end - first_row;
            problem.queries.push([rows, first_list..problem.tails.ends.len()]);
        }
        self.count(&mut problem, first_row);
        problem
    }

    /// Sets clicks and skips, with the prior of attraction as it is now.
    fn count(&self, problem: &mut Problem, first_row: usize) {
        let rows = first_row..first_row + problem.tops.len();
        (problem.clicks, problem.skips) = self.scanned.all_counted(rows);
        problem.skips.iter_mut().zip(&problem.tops).for_each(|(skips, tops)| *skips -= tops);
    }

    fn maximise(&self, problem: &Problem, mut at: Vec<f64>) -> Found {
        let options = self.scanned.options;
        let convergence = squarem::maximise(problem, &mut at, &options.em);
        let has_errors = options.has_errors();
        let variances = if has_errors { problem.variances(&at) } else { vec![f64::INFINITY; at.len()] };
        Found { strength: options.given_strength(), at, variances, convergence }
    }
}

impl Found {
    fn estimate(&self, problem: &Problem, place: usize, z: f64) -> Estimate {
        let known = problem.known(place);
        let mut estimate = Estimate::hidden(self.at[place], self.variances[place], known, self.strength, z);
        let is_shared = problem.kind == Kind::Dbn && place + 1 == self.at.len();
        if let Some((low, high)) = estimate.interval.as_mut().filter(|_| is_shared)
            && let Some((c, variance)) = problem.unbounded_continuation(&self.at)
        {
            let half = z * sqrt(variance);
            (*low, *high) = (low.min(c - half).max(0.0), high.max(c + half).min(1.0));
        }
        estimate
    }
}

/// Starting values inside (0, 1), except for items that were never clicked and have no prior.
fn start(problem: &Problem) -> Vec<f64> {
    let rate = |(clicks, skips): (&f64, &f64)| {
        if *clicks > 0.0 { (clicks + 0.5) / (clicks + skips.max(0.0) + 1.0) } else { 0.0 }
    };
    let attraction = problem.clicks.iter().zip(&problem.skips).map(rate);
    let rest = problem.satisfied.len() + problem.prior.len();
    attraction.chain(std::iter::repeat_n(0.5, rest)).collect()
}

#[cfg(test)]
mod tests;
