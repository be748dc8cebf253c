//! Sessions with more clicks than any fitted model makes probable.
//!
//! Let `O(k)` be the number of sessions with more than `k` clicks, and `E(k)` the number that a
//! model expects on the lists of the log, and the largest of all models. The sessions above `k` are
//! too many if `O(k) >= 5 + 4 E(k)`, and if lists have more than 1 % fewer clicks without them. Of
//! several such `k`, the one with the largest `O(k) - E(k)` is the limit. A single session is no
//! evidence: among 100,000 users one clicks with a probability of 1e-5.
//!
//! In every model the probability of a click depends on the clicks above it only through the last
//! one. The distribution of the number of clicks on a list is therefore computed from position to
//! position, by the last click and the number of clicks so far.
//!
//! Numerics: sums and products of probabilities. Complexity: O(sessions); for at most
//! [`SAMPLE`] of them, evenly spread, O(length^3) for each model.

use crate::fit::{Fit, Model, Prediction};
use click_models::Clicks;
use log_reader::{Id, ListSessions, QuerySessions, Sessions};
use serde::Serialize;

/// Sessions whose lists are predicted.
const SAMPLE: u64 = 1000;
/// Fewer sessions are never too many.
const FEWEST: f64 = 5.0;
/// More sessions than this number for each expected one are too many: no model is right.
const TIMES: f64 = 4.0;
/// The share of the clicks that matters.
const SHARE: f64 = 0.01;

/// Sessions with too many clicks.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ManyClicks {
    /// They have more clicks.
    pub limit: usize,
    /// Their number.
    pub sessions: u64,
    /// Number of all sessions.
    pub of_sessions: u64,
    /// The largest number that a fitted model expects.
    pub expected: f64,
    /// That model.
    pub model: Model,
    /// Clicks per 1,000 lists of all sessions.
    pub clicks: f64,
    /// Clicks per 1,000 lists of the others.
    pub clicks_without: f64,
}

impl ManyClicks {
    pub(super) fn new(fits: &[&Fit], sessions: &Sessions) -> Option<Self> {
        let all = || sessions.queries().flat_map(|query| query.lists().map(move |list| (query, list)));
        let longest = sessions.queries().map(|query| query.positions().len()).max()?;
        // Sessions by their number of clicks.
        let mut observed = vec![0_u64; longest + 1];
        for pattern in all().flat_map(|(_, list)| list.patterns) {
            observed[pattern.clicks.count() as usize] += pattern.sessions;
        }
        let n_sessions: u64 = observed.iter().sum();
        let sample = sampled(all(), n_sessions.div_ceil(SAMPLE));
        let expected = fits.iter().map(|fit| (fit.model(), expected(fit, &sample, longest)));
        let expected: Vec<(Model, Vec<f64>)> = expected.collect();
        let mean = |numbers: &[u64]| {
            let clicks: f64 = numbers.iter().enumerate().map(|(clicks, &n)| clicks as f64 * n as f64).sum();
            1000.0 * clicks / numbers.iter().sum::<u64>() as f64
        };
        let found = (1..longest).filter_map(|limit| {
            let above = |of_model: &[f64]| n_sessions as f64 * of_model[limit + 1..].iter().sum::<f64>();
            let most = expected.iter().map(|(model, of_model)| (*model, above(of_model)));
            let (model, expected) = most.max_by(|a, b| a.1.total_cmp(&b.1))?;
            let found = Self {
                limit,
                sessions: observed[limit + 1..].iter().sum(),
                of_sessions: n_sessions,
                expected,
                model,
                clicks: mean(&observed),
                clicks_without: mean(&observed[..=limit]),
            };
            let are_many = found.sessions as f64 >= FEWEST + TIMES * expected;
            (are_many && found.clicks_without < (1.0 - SHARE) * found.clicks).then_some(found)
        });
        found.max_by(|a, b| a.excess().total_cmp(&b.excess()))
    }

    /// The sessions above those that are expected.
    fn excess(&self) -> f64 {
        self.sessions as f64 - self.expected
    }
}

/// Every `step`th session: each of their lists once, with the number of these sessions.
fn sampled<'a>(
    lists: impl Iterator<Item = (QuerySessions<'a>, ListSessions<'a>)>,
    step: u64,
) -> Vec<(Id, ListSessions<'a>, f64)> {
    let mut before = 0;
    let of_list = |(query, list): (QuerySessions<'a>, ListSessions<'a>)| {
        let end = before + list.patterns.iter().map(|pattern| pattern.sessions).sum::<u64>();
        let taken = end.div_ceil(step) - before.div_ceil(step);
        before = end;
        (taken > 0).then(|| (query.id(), list, taken as f64))
    };
    lists.filter_map(of_list).collect()
}

/// The probability of each number of clicks in a session of the sample.
fn expected(fit: &Fit, sample: &[(Id, ListSessions<'_>, f64)], longest: usize) -> Vec<f64> {
    let mut sum = vec![0.0; longest + 1];
    let all: f64 = sample.iter().map(|(.., times)| times).sum();
    for &(query, list, times) in sample {
        let numbers = numbers_of_clicks(fit, query, list);
        sum.iter_mut().zip(numbers).for_each(|(sum, probability)| *sum += times / all * probability);
    }
    sum
}

/// The probability of each number of clicks on a list, from 0 to its length.
fn numbers_of_clicks(fit: &Fit, query: Id, list: ListSessions<'_>) -> Vec<f64> {
    let n = list.items.len();
    let mut prediction = Prediction::default();
    // By the number of clicks so far, after each last click: 0 for none, or its position from 1.
    let mut after = vec![vec![0.0; n + 1]; n + 1];
    after[0][0] = 1.0;
    for last in 0..=n {
        let clicks = Clicks::new(n);
        let clicks = if last > 0 { clicks.with(last - 1) } else { clicks };
        fit.predict_at(query, list.items, list.positions, clicks, &mut prediction);
        let (here, below) = after[last..].split_at_mut(1);
        for (position, below) in (last..n).zip(below) {
            for (count, probability) in here[0].iter_mut().enumerate().take(n) {
                let click = *probability * prediction.conditional[position];
                *probability -= click;
                below[count + 1] += click;
            }
        }
    }
    (0..=n).map(|count| after.iter().map(|numbers| numbers[count]).sum()).collect()
}

#[cfg(test)]
mod tests;
