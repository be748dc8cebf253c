//! The likelihood of the sessions, from certain events and from tails; and its EM steps.

use super::super::estimate::{binomial_log_likelihood, binomial_log_likelihoods};
use super::super::in_order::sum_in_order;
use super::super::scanned::Certain;
use super::super::squarem::Em;
use super::LONGEST;
use super::tails::{HiddenCounts, Tails};
use log_reader::Pattern;
use std::ops::Range;

/// How users continue after a click.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Dynamic Bayesian network: if not satisfied, with the probability of continuation after no
    /// click.
    Dbn,
    /// Click chain: with a mean of two probabilities, weighted by attraction.
    Ccm,
}

/// Parameters: attraction of rows; satisfaction (DBN), of rows or one for all; continuation, after
/// no click first.
#[derive(Debug, Clone)]
pub(super) struct Problem {
    pub(super) kind: Kind,
    /// Clicks and certainly examined skips, one per row, with pseudo-counts.
    pub(super) clicks: Vec<f64>,
    pub(super) skips: Vec<f64>,
    /// Sessions without a click, by the row of their first position. Its skip is in the tail.
    pub(super) tops: Vec<f64>,
    /// Clicks after which the user certainly continued, one per row.
    pub(super) went_on: Vec<f64>,
    /// Last clicks above the last position, one per row.
    pub(super) last_clicks: Vec<f64>,
    /// Pseudo-clicks that satisfied, and that did not, one per parameter of satisfaction.
    pub(super) satisfied: Vec<f64>,
    pub(super) unsatisfied: Vec<f64>,
    /// Skips above the last click.
    pub(super) skips_above: f64,
    /// Pseudo-counts of continuing and of stopping, one per probability.
    pub(super) prior: Vec<[f64; 2]>,
    pub(super) tails: Tails,
    /// Ranges of rows and of lists of every query.
    pub(super) queries: Vec<[Range<usize>; 2]>,
}

/// Parameters by their kind.
pub(super) struct Split<'a> {
    pub(super) attraction: &'a [f64],
    pub(super) satisfaction: &'a [f64],
    pub(super) continuation: &'a [f64],
}

impl Problem {
    pub(super) fn split<'a>(&self, at: &'a [f64]) -> Split<'a> {
        let (attraction, rest) = at.split_at(self.clicks.len());
        let (satisfaction, continuation) = rest.split_at(self.satisfied.len());
        Split { attraction, satisfaction, continuation }
    }

    /// Certain successes and failures of a parameter of satisfaction or continuation, with its
    /// prior.
    pub(super) fn known(&self, parameter: usize) -> [f64; 2] {
        let place = parameter - self.clicks.len();
        match place.checked_sub(self.satisfied.len()) {
            None => [self.satisfied[place], self.unsatisfied[place]],
            Some(0) => [self.prior[0][0] + self.skips_above, self.prior[0][1]],
            Some(shared) => self.prior[shared],
        }
    }

    /// Adds the sessions of a list.
    pub(super) fn add(&mut self, rows: &[usize], patterns: &[Pattern], until: Certain) {
        let mut begin = [0.0; LONGEST + 1];
        for pattern in patterns {
            let (last, sessions) = (until.last(pattern.clicks), pattern.sessions as f64);
            for (position, &row) in rows.iter().enumerate().take(last.unwrap_or(0)) {
                if pattern.clicks.get(position) {
                    self.went_on[row] += sessions;
                } else {
                    self.skips_above += sessions;
                }
            }
            begin[last.map_or(0, |last| last + 1)] += sessions;
        }
        // A click at the end has no tail.
        let begin = &begin[..rows.len()];
        for (&clicked, &sessions) in rows.iter().zip(begin.iter().skip(1)) {
            self.last_clicks[clicked] += sessions;
        }
        if let Some((&row, &sessions)) = rows.first().zip(begin.first()) {
            self.tops[row] += sessions;
        }
        self.tails.push(rows, begin);
    }

    pub(super) fn of_satisfaction(&self, row: usize) -> usize {
        if self.satisfied.len() > 1 { row } else { 0 }
    }

    /// The probability of continuation after a click, one per row.
    pub(super) fn after_click(&self, at: &Split<'_>) -> Vec<f64> {
        let of_row = |(row, a): (usize, &f64)| match *at.continuation {
            [_, bad, good] if self.kind == Kind::Ccm => bad * (1.0 - a) + good * a,
            _ => at.continuation[0] * (1.0 - at.satisfaction[self.of_satisfaction(row)]),
        };
        at.attraction.iter().enumerate().map(of_row).collect()
    }

    /// Continuing and stopping after a click in the DBN: writes satisfaction, returns numbers of
    /// unsatisfied users who continued and stopped.
    fn satisfy(&self, at: &Split<'_>, went_on: &[f64], satisfaction: &mut [f64]) -> [f64; 2] {
        let stop = 1.0 - at.continuation[0];
        let mut satisfied = self.satisfied.clone();
        let mut unsatisfied = self.unsatisfied.clone();
        let mut all = [0.0; 2];
        for (row, &tails) in self.last_clicks.iter().enumerate() {
            let own = self.of_satisfaction(row);
            let s = at.satisfaction[own];
            let stopped = tails - went_on[row];
            let of_satisfied = stopped * s / (s + (1.0 - s) * stop).max(f64::MIN_POSITIVE);
            let on = self.went_on[row] + went_on[row];
            satisfied[own] += of_satisfied;
            unsatisfied[own] += on + stopped - of_satisfied;
            all = [all[0] + on, all[1] + stopped - of_satisfied];
        }
        for ((s, &yes), &no) in satisfaction.iter_mut().zip(&satisfied).zip(&unsatisfied) {
            *s = share(yes, no, *s);
        }
        all
    }

    /// Going on after a click in the click chain: returns the two probabilities, and adds clicks on
    /// items that attracted and that did not, a second time, to the counts of rows.
    ///
    /// The probabilities maximise the expected likelihood of continuation, given attraction. If the
    /// kind of each click were hidden for them as well, they would take thousands of steps where
    /// items are alike.
    fn chain(&self, at: &Split<'_>, went_on: &[f64], rows: &mut [[f64; 2]]) -> [f64; 2] {
        let users: Vec<AfterClick> = (0..rows.len())
            .map(|row| AfterClick {
                attraction: at.attraction[row],
                on: self.went_on[row] + went_on[row],
                stopped: self.last_clicks[row] - went_on[row],
            })
            .collect();
        let start = [at.continuation[1], at.continuation[2]];
        let [bad, good] = two_continuations(&users, [self.prior[1], self.prior[2]], start);
        for (user, counts) in users.iter().zip(rows) {
            let AfterClick { attraction: a, on, stopped } = *user;
            let q = bad * (1.0 - a) + good * a;
            let good_on = on * (a * good / q.max(f64::MIN_POSITIVE)).min(1.0);
            let good_stopped = stopped * (a * (1.0 - good) / (1.0 - q).max(f64::MIN_POSITIVE)).min(1.0);
            counts[0] += good_on + good_stopped;
            counts[1] += on - good_on + stopped - good_stopped;
        }
        [bad, good]
    }
}

/// The share of successes; without trials the old value.
fn share(successes: f64, failures: f64, old: f64) -> f64 {
    let trials = successes + failures;
    if trials > 0.0 { successes / trials } else { old }
}

/// Users after a click on an item: how many continued, and how many stopped.
struct AfterClick {
    attraction: f64,
    on: f64,
    stopped: f64,
}

/// Newton steps at most, and the change at which they end.
const NEWTON_STEPS: usize = 30;
const NEWTON_TOLERANCE: f64 = 1e-12;
/// Curvature added in every direction, as a share of the whole. Where all items are alike, clicks
/// tell one mean of the two probabilities, and this picks the nearest pair that has it.
const RIDGE: f64 = 1e-9;

/// The probabilities `b, g` of continuation, `q = b (1 - a) + g a`, that maximise the likelihood of
/// users after a click with pseudo-counts of continuing and of stopping. It is concave. A step goes
/// to the maximum of its quadratic approximation in the square [0, 1]^2, bounds included, so it
/// leads uphill inside the square; it is halved until it does not lower the likelihood.
///
/// A short step is not checked, which saves most logarithms: if `b`, `1 - b`, `g` and `1 - g`
/// change by at most a tenth, so do all `q` and `1 - q`, which are means of them. Second
/// derivatives along the step then grow by at most `1 / .9^2 < 2`, and a Newton step climbs if they
/// less than double.
fn two_continuations(users: &[AfterClick], prior: [[f64; 2]; 2], start: [f64; 2]) -> [f64; 2] {
    let value = |at: [f64; 2]| -> f64 {
        let of_users: f64 = users
            .iter()
            .map(|user| {
                let q = at[0] * (1.0 - user.attraction) + at[1] * user.attraction;
                binomial_log_likelihood(user.on, user.stopped, q)
            })
            .sum();
        let of_prior =
            at.iter().zip(prior).map(|(&c, [on, stopped])| binomial_log_likelihood(on, stopped, c));
        of_users + of_prior.sum::<f64>()
    };
    let mut at = start;
    for _ in 0..NEWTON_STEPS {
        let (mut gradient, mut curvature) = ([0.0; 2], [0.0; 3]);
        let mut add = |on: f64, stopped: f64, q: f64, [x, y]: [f64; 2]| {
            let (q, rest) = (q.max(1e-60), (1.0 - q).max(1e-60));
            let (first, second) = (on / q - stopped / rest, on / q / q + stopped / rest / rest);
            gradient = [gradient[0] + first * x, gradient[1] + first * y];
            let [xx, xy, yy] = curvature;
            curvature = [xx + second * x * x, xy + second * x * y, yy + second * y * y];
        };
        for user in users.iter().filter(|user| user.on + user.stopped > 0.0) {
            let weights = [1.0 - user.attraction, user.attraction];
            add(user.on, user.stopped, at[0] * weights[0] + at[1] * weights[1], weights);
        }
        add(prior[0][0], prior[0][1], at[0], [1.0, 0.0]);
        add(prior[1][0], prior[1][1], at[1], [0.0, 1.0]);
        let [xx, xy, yy] = curvature;
        let ridge = RIDGE * (xx + yy);
        if !(ridge > 0.0 && ridge.is_finite()) {
            return at;
        }
        let step = highest_in_square(at, gradient, [xx + ridge, xy, yy + ridge]);
        let mut length = 1.0;
        let is_short = at.iter().zip(step).all(|(&c, step)| step.abs() <= 0.1 * c.min(1.0 - c));
        let before = if is_short { 0.0 } else { value(at) };
        let next = loop {
            let next = [0, 1].map(|axis| (at[axis] + length * step[axis]).clamp(0.0, 1.0));
            if is_short || value(next) >= before {
                break next;
            }
            length /= 2.0;
            if length < 1e-6 {
                return at;
            }
        };
        let change = (next[0] - at[0]).abs().max((next[1] - at[1]).abs());
        at = next;
        if change < NEWTON_TOLERANCE {
            break;
        }
    }
    at
}

/// The step from `at` to the maximum of a concave quadratic function in the square [0, 1]^2: its
/// own maximum, if that is inside, and otherwise the highest point of the four edges.
fn highest_in_square(at: [f64; 2], gradient: [f64; 2], [xx, xy, yy]: [f64; 3]) -> [f64; 2] {
    let determinant = xx * yy - xy * xy;
    let free = [
        (yy * gradient[0] - xy * gradient[1]) / determinant,
        (xx * gradient[1] - xy * gradient[0]) / determinant,
    ];
    if at.iter().zip(free).all(|(c, step)| (0.0..=1.0).contains(&(c + step))) {
        return free;
    }
    let gain = |[x, y]: [f64; 2]| {
        gradient[0] * x + gradient[1] * y - 0.5 * (xx * x * x + 2.0 * xy * x * y + yy * y * y)
    };
    let on_edge = |(axis, bound): (usize, f64)| {
        let (fixed, free) = (bound - at[axis], 1 - axis);
        let best = (gradient[free] - xy * fixed) / [xx, yy][free];
        let other = best.clamp(-at[free], 1.0 - at[free]);
        if axis == 0 { [fixed, other] } else { [other, fixed] }
    };
    let edges = [(0, 0.0), (0, 1.0), (1, 0.0), (1, 1.0)].map(on_edge);
    edges.into_iter().max_by(|a, b| gain(*a).total_cmp(&gain(*b))).unwrap_or(free)
}

impl Em for Problem {
    fn step(&self, from: &[f64], to: &mut [f64]) {
        let at = self.split(from);
        let after_click = self.after_click(&at);
        let (expected, _) = self.expect::<false>(&at, &after_click);
        self.maximise(&at, &expected, from, to);
    }

    fn step_and_log_likelihood(&self, from: &[f64], to: &mut [f64]) -> f64 {
        let at = self.split(from);
        let (expected, log_likelihood) = self.expect_with_likelihood(&at);
        self.maximise(&at, &expected, from, to);
        log_likelihood
    }

    fn log_likelihood(&self, at: &[f64]) -> f64 {
        self.expect_with_likelihood(&self.split(at)).1
    }
}

impl Problem {
    /// The first half of an EM step.
    fn expect<const LIKELIHOOD: bool>(&self, at: &Split<'_>, after_click: &[f64]) -> (HiddenCounts, f64) {
        self.tails.expect::<LIKELIHOOD>(&self.queries, at.attraction, after_click, at.continuation[0])
    }

    /// The first half of an EM step, and the log-likelihood.
    fn expect_with_likelihood(&self, at: &Split<'_>) -> (HiddenCounts, f64) {
        let after_click = self.after_click(at);
        let (expected, of_tails) = self.expect::<true>(at, &after_click);
        (expected, self.certain_log_likelihood(at, &after_click) + of_tails)
    }

    /// The second half of an EM step.
    fn maximise(&self, at: &Split<'_>, expected: &HiddenCounts, from: &[f64], to: &mut [f64]) {
        to.copy_from_slice(from);
        let (attraction, rest) = to.split_at_mut(at.attraction.len());
        let (satisfaction, continuation) = rest.split_at_mut(at.satisfaction.len());
        let skips = self.skips.iter().zip(&expected.examined).map(|(skips, examined)| skips + examined);
        let mut rows: Vec<[f64; 2]> =
            self.clicks.iter().zip(skips).map(|(&clicks, skips)| [clicks, skips]).collect();
        let [on, stopped] = expected.after_skip;
        let mut users = vec![[self.skips_above + on, stopped]];
        match self.kind {
            Kind::Dbn => {
                let [on, stopped] = self.satisfy(at, &expected.went_on, satisfaction);
                users[0] = [users[0][0] + on, users[0][1] + stopped];
            }
            Kind::Ccm => {
                let found = self.chain(at, &expected.went_on, &mut rows);
                continuation[1..].copy_from_slice(&found);
            }
        }
        for (a, [clicks, skips]) in attraction.iter_mut().zip(rows) {
            *a = share(clicks, skips, *a);
        }
        for ((c, [on, stopped]), prior) in continuation.iter_mut().zip(users).zip(&self.prior) {
            *c = share(on + prior[0], stopped + prior[1], *c);
        }
    }

    /// The log-likelihood of what was certainly examined, with the log-prior.
    fn certain_log_likelihood(&self, at: &Split<'_>, after_click: &[f64]) -> f64 {
        let went_on = |row: usize| binomial_log_likelihood(self.went_on[row], 0.0, after_click[row]);
        let prior = self.prior.iter().zip(at.continuation);
        binomial_log_likelihoods(&self.clicks, &self.skips, at.attraction)
            + binomial_log_likelihoods(&self.satisfied, &self.unsatisfied, at.satisfaction)
            + binomial_log_likelihood(self.skips_above, 0.0, at.continuation[0])
            + sum_in_order(after_click.len(), went_on)
            + prior.map(|(&[on, stopped], &c)| binomial_log_likelihood(on, stopped, c)).sum::<f64>()
    }
}
