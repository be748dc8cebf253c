//! The likelihood of the sessions, from certain examinations and from the tails below last clicks;
//! and its EM steps.

use super::super::estimate::binomial_log_likelihoods;
use super::super::in_order::{cut, in_order_each, tasks_of};
use super::super::log_product::LogProduct;
use super::super::squarem::Em;
use std::ops::Range;

/// Number of tails of one task for a thread.
const TAILS_OF_A_TASK: usize = 1 << 15;

/// The tail below the last click of some sessions with the same list.
#[derive(Debug, Clone)]
pub(super) struct Tail {
    pub(super) leave: usize,
    pub(super) rows: Range<usize>,
    pub(super) sessions: f64,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Problem {
    /// One per row, which is an item of a query; with pseudo-counts.
    pub(super) clicks: Vec<f64>,
    pub(super) skips: Vec<f64>,
    /// One per parameter of leaving.
    pub(super) left: Vec<f64>,
    pub(super) stayed: Vec<f64>,
    pub(super) tails: Vec<Tail>,
    pub(super) tail_rows: Vec<usize>,
    /// Ranges of rows and tails of every query.
    pub(super) queries: Vec<[Range<usize>; 2]>,
}

impl Problem {
    pub(super) fn split<'a>(&self, at: &'a [f64]) -> (&'a [f64], &'a [f64]) {
        at.split_at(self.clicks.len())
    }

    /// The rows and the tails of consecutive queries.
    fn of_queries(&self, queries: &Range<usize>) -> [Range<usize>; 2] {
        let [first, last] = [queries.start, queries.end - 1].map(|query| &self.queries[query]);
        [0, 1].map(|kind| first[kind].start..last[kind].end)
    }

    /// The probability that a user who stays reads the tail without a click.
    pub(super) fn in_vain(&self, tail: &Tail, attraction: &[f64]) -> f64 {
        self.tail_rows[tail.rows.clone()].iter().map(|&row| 1.0 - attraction[row]).product()
    }
}

impl Em for Problem {
    fn step(&self, from: &[f64], to: &mut [f64]) {
        self.step_with::<false>(from, to);
    }

    fn step_and_log_likelihood(&self, from: &[f64], to: &mut [f64]) -> f64 {
        let (attraction, leave) = self.split(from);
        let of_certain = binomial_log_likelihoods(&self.clicks, &self.skips, attraction)
            + binomial_log_likelihoods(&self.left, &self.stayed, leave);
        of_certain + self.step_with::<true>(from, to)
    }

    fn log_likelihood(&self, at: &[f64]) -> f64 {
        self.step_and_log_likelihood(at, &mut at.to_vec())
    }
}

impl Problem {
    /// An EM step. Returns the log-likelihood of the tails at its start if it is wanted; 0
    /// otherwise.
    fn step_with<const LIKELIHOOD: bool>(&self, from: &[f64], to: &mut [f64]) -> f64 {
        let (attraction, leave) = self.split(from);
        let (next_attraction, next_leave) = to.split_at_mut(attraction.len());
        // The expected hidden data: examined impressions in tails, and sessions left.
        next_attraction.fill(0.0);
        next_leave.fill(0.0);
        let (mut all, mut log_likelihood) = (vec![0.0; leave.len()], 0.0);
        let tasks = tasks_of(&self.queries, TAILS_OF_A_TASK, |[_, tails]| tails.len());
        let rows = cut(next_attraction, tasks.iter().map(|queries| self.of_queries(queries)[0].len()));
        let examine = |(queries, examined): (Range<usize>, &mut [f64])| {
            let [rows, tails] = self.of_queries(&queries);
            let (mut of_leave, mut product) = (vec![(0.0, 0.0); leave.len()], LogProduct::default());
            for tail in &self.tails[tails] {
                let v = leave[tail.leave];
                let likelihood = v + (1.0 - v) * self.in_vain(tail, attraction);
                let left = tail.sessions * (v / likelihood.max(f64::MIN_POSITIVE));
                let stayed = tail.sessions - left;
                for &row in &self.tail_rows[tail.rows.clone()] {
                    examined[row - rows.start] += stayed;
                }
                let sums = &mut of_leave[tail.leave];
                *sums = (sums.0 + left, sums.1 + tail.sessions);
                if LIKELIHOOD {
                    product.multiply(likelihood, tail.sessions);
                }
            }
            (of_leave, product.ln())
        };
        in_order_each(tasks.into_iter().zip(rows).collect(), examine, |(of_leave, of_tails)| {
            log_likelihood += of_tails;
            for ((next, all), (left, sessions)) in next_leave.iter_mut().zip(&mut all).zip(of_leave) {
                *next += left;
                *all += sessions;
            }
        });
        for (((next, &old), clicks), skips) in
            next_attraction.iter_mut().zip(attraction).zip(&self.clicks).zip(&self.skips)
        {
            let shown = clicks + skips + *next;
            *next = if shown > 0.0 { clicks / shown } else { old };
        }
        for ((((next, &old), left), stayed), all) in
            next_leave.iter_mut().zip(leave).zip(&self.left).zip(&self.stayed).zip(&all)
        {
            let clicks = left + stayed + all;
            *next = if clicks > 0.0 { (left + *next) / clicks } else { old };
        }
        log_likelihood
    }
}
