//! The hidden part of sessions: whether the positions below the last click were examined.
//!
//! A tail begins below a last click, or at the first position without one. With `B_k` the
//! probability of no click from position `k` on, if `k` is examined,
//!
//! ```text
//! g_k = (1 - after_skip) + after_skip B_{k+1},    g_last = 1,    B_k = (1 - a_k) g_k.
//! ```
//!
//! A tail that begins at `k` below a click after which the user continues with probability `q` has
//! the likelihood `1 - q + q B_k`, and the user has continued with probability `q B_k` divided by
//! this. From there on, an examined position is followed by another one with probability
//! `after_skip B_{k+1} / g_k`, wherever the tail began. So one pass over a list serves all its
//! sessions.
//!
//! Reference: forward-backward recursions of a hidden Markov chain, specialised. Deviations: none.
//!
//! | here | meaning |
//! |---|---|
//! | `after_skip` | probability of continuation after no click |
//! | `after_click` | the same after a click, one per row |
//! | `sessions` | number of sessions whose tail begins at a position, one per position of a list |
//!
//! Numerics: sums and products of probabilities. Likelihoods of single sessions are multiplied
//! before their logarithm is taken. Complexity: O(length) for a list, from its first last click
//! down.

use super::super::in_order::{cut, in_order_each, tasks_of};
use super::super::log_product::LogProduct;
use super::LONGEST;
use std::ops::Range;

/// The tails of all lists. A list begins with the first click that is a last one, or at the top if
/// a session has no click.
#[derive(Debug, Clone, Default)]
pub(super) struct Tails {
    /// The end of each list in the next two.
    pub(super) ends: Vec<usize>,
    pub(super) rows: Vec<usize>,
    pub(super) sessions: Vec<f64>,
}

/// Expected numbers of hidden events.
#[derive(Debug, Clone)]
pub(super) struct HiddenCounts {
    /// Examined impressions in tails, one per row.
    pub(super) examined: Vec<f64>,
    /// Last clicks after which the user continued, one per row.
    pub(super) went_on: Vec<f64>,
    /// Examined impressions in tails after which the user continued, and after which the user
    /// stopped.
    pub(super) after_skip: [f64; 2],
}

/// Expected hidden events of some rows, as in [`HiddenCounts`].
struct OfRows<'a> {
    examined: &'a mut [f64],
    went_on: &'a mut [f64],
}

/// Hidden events of some lists whose sums are of all queries: the likelihood, and numbers of users
/// who continued and stopped after no click.
struct OfAll {
    likelihood: LogProduct,
    after_skip: [f64; 2],
}

/// Number of lists of one task for a thread.
const LISTS_OF_A_TASK: usize = 1 << 12;

/// `B` and `g` of a list, by position. Reused for all lists, since clearing it takes longer than a
/// short list.
pub(super) struct NoClick {
    pub(super) from: [f64; LONGEST + 1],
    pub(super) after: [f64; LONGEST + 1],
}

impl Default for NoClick {
    fn default() -> Self {
        Self { from: [1.0; LONGEST + 1], after: [1.0; LONGEST + 1] }
    }
}

impl NoClick {
    pub(super) fn set(&mut self, rows: &[usize], attraction: &[f64], after_skip: f64) {
        // Below the last position nothing is clicked.
        let mut below = 1.0;
        self.from[rows.len()] = below;
        let from = &mut self.from[..rows.len()];
        let after = &mut self.after[..rows.len()];
        for ((&row, from), after) in rows.iter().zip(from).zip(after).rev() {
            *after = 1.0 - after_skip + after_skip * below;
            below = (1.0 - attraction[row]) * *after;
            *from = below;
        }
    }

    /// The probability that an examined position is followed by another one, given no click below.
    fn goes_on(&self, position: usize, after_skip: f64) -> f64 {
        after_skip * self.from[position + 1] / self.after[position].max(f64::MIN_POSITIVE)
    }

    /// The likelihood of no click from `position` on, below a click.
    fn likelihood(&self, position: usize, after_click: f64) -> f64 {
        1.0 - after_click + after_click * self.from[position]
    }

    /// The probability that the user continued after a click, given no click from `position` on.
    fn went_on(&self, position: usize, after_click: f64) -> f64 {
        after_click * self.from[position] / self.likelihood(position, after_click).max(f64::MIN_POSITIVE)
    }
}

impl Tails {
    /// Rows and sessions of these lists.
    pub(super) fn lists(&self, lists: Range<usize>) -> impl Iterator<Item = (&[usize], &[f64])> {
        let before = lists.start.checked_sub(1);
        let starts = before.map(|last| self.ends[last]).into_iter().chain(before.is_none().then_some(0));
        let ends = &self.ends[lists];
        let starts = starts.chain(ends.iter().copied());
        starts.zip(ends).map(|(start, &end)| (&self.rows[start..end], &self.sessions[start..end]))
    }

    /// Adds the tails of a list; `sessions` begin at each of its positions.
    pub(super) fn push(&mut self, rows: &[usize], sessions: &[f64]) {
        let first = sessions.iter().position(|&sessions| sessions > 0.0).unwrap_or(rows.len());
        // The click above the first tail belongs to it.
        let first = first.saturating_sub(1);
        self.rows.extend_from_slice(&rows[first..]);
        self.sessions.extend_from_slice(&sessions[first..]);
        self.ends.push(self.rows.len());
    }

    /// Expected hidden events and, if it is wanted, the log-likelihood; 0 otherwise. `queries` are
    /// ranges of rows and of lists.
    pub(super) fn expect<const LIKELIHOOD: bool>(
        &self,
        queries: &[[Range<usize>; 2]],
        attraction: &[f64],
        after_click: &[f64],
        after_skip: f64,
    ) -> (HiddenCounts, f64) {
        let mut log_likelihood = 0.0;
        let mut expected = HiddenCounts {
            examined: vec![0.0; attraction.len()],
            went_on: vec![0.0; attraction.len()],
            after_skip: [0.0; 2],
        };
        let tasks = tasks_of(queries, LISTS_OF_A_TASK, |[_, lists]| lists.len());
        let tasks: Vec<[Range<usize>; 2]> = tasks
            .into_iter()
            .map(|task| [0, 1].map(|kind| queries[task.start][kind].start..queries[task.end - 1][kind].end))
            .collect();
        let n_rows = || tasks.iter().map(|[rows, _]| rows.len());
        let examined = cut(&mut expected.examined, n_rows());
        let went_on = cut(&mut expected.went_on, n_rows());
        let of_rows =
            examined.into_iter().zip(went_on).map(|(examined, went_on)| OfRows { examined, went_on });
        let tasks = tasks.iter().zip(of_rows).collect();
        let expect = |([rows, lists], of_rows): (&[Range<usize>; 2], OfRows<'_>)| {
            let known = (attraction, after_click, after_skip);
            self.expect_lists::<LIKELIHOOD>(lists.clone(), known, rows.start, of_rows)
        };
        let sums = &mut expected.after_skip;
        in_order_each(tasks, expect, |of_all| {
            log_likelihood += of_all.likelihood.ln();
            let [on, stopped] = of_all.after_skip;
            *sums = [sums[0] + on, sums[1] + stopped];
        });
        (expected, log_likelihood)
    }

    /// Expected hidden events of some lists: adds to those of the rows from `first_row` on, and
    /// returns those of all queries.
    fn expect_lists<const LIKELIHOOD: bool>(
        &self,
        lists: Range<usize>,
        (attraction, after_click, after_skip): (&[f64], &[f64], f64),
        first_row: usize,
        OfRows { examined, went_on: all_went_on }: OfRows<'_>,
    ) -> OfAll {
        let mut of_all = OfAll { likelihood: LogProduct::default(), after_skip: [0.0; 2] };
        let mut no_click = NoClick::default();
        for (rows, sessions) in self.lists(lists) {
            no_click.set(rows, attraction, after_skip);
            // Sessions in which the position was examined, without a click from there on.
            let mut here = 0.0;
            for (position, (&row, &begin)) in rows.iter().zip(sessions).enumerate() {
                if begin > 0.0 {
                    if let Some(above) = position.checked_sub(1) {
                        let clicked = rows[above];
                        if LIKELIHOOD {
                            let likelihood = no_click.likelihood(position, after_click[clicked]);
                            of_all.likelihood.multiply(likelihood, begin);
                        }
                        let went_on = begin * no_click.went_on(position, after_click[clicked]);
                        all_went_on[clicked - first_row] += went_on;
                        here += went_on;
                    } else {
                        if LIKELIHOOD {
                            of_all.likelihood.multiply(no_click.from[0], begin);
                        }
                        here += begin;
                    }
                }
                examined[row - first_row] += here;
                if position + 1 < rows.len() {
                    let next = here * no_click.goes_on(position, after_skip);
                    let [on, stopped] = &mut of_all.after_skip;
                    (*on, *stopped) = (*on + next, *stopped + (here - next));
                    here = next;
                }
            }
        }
        of_all
    }
}

/// Writes the probability that each position of a list was examined, given that its last click (or
/// none) is the last one.
pub(super) fn examined_below(
    rows: &[usize],
    last: Option<usize>,
    [attraction, after_click]: [&[f64]; 2],
    after_skip: f64,
    weights: &mut [f64],
) {
    let first = last.map_or(1, |last| last + 1);
    if first >= rows.len() {
        return;
    }
    let mut no_click = NoClick::default();
    no_click.set(rows, attraction, after_skip);
    let mut here = match last {
        Some(last) => no_click.went_on(first, after_click[rows[last]]),
        None => no_click.goes_on(0, after_skip),
    };
    for (position, weight) in weights.iter_mut().enumerate().skip(first) {
        *weight = here;
        here *= no_click.goes_on(position, after_skip);
    }
}
