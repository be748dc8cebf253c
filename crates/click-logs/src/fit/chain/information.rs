//! Variances of the parameters from the observed information.
//!
//! The likelihood of a tail is `T = 1 - q + q B`: `q` depends on the click above it, `B` on the
//! items below and on continuation after no click ([`super::tails`]). With `R_i` the probability of
//! examining position `i` and skipping everything above it in the tail,
//!
//! ```text
//! dB/da_i = -R_i g_i,      d2B/da_i da_j = R_j g_j / (1 - a_i)  for i above j.
//! ```
//!
//! Numerics: parameters at 0 or 1 are moved inside by 1e-9, so that every quotient is finite.
//! Complexity: O(length^2) for a tail.

use super::super::bordered::{Arrowhead, Block, SharedTerms};
use super::super::estimate::curvature;
use super::super::stopping::information::{LARGEST_BLOCK, size_of_block};
use super::problem::{Kind, Problem, Split};
use super::tails::NoClick;
use std::ops::Range;

/// Distance from 0 and 1.
const EDGE: f64 = 1e-9;

/// Probability of continuation after a click, and its derivatives: by the row's own parameter, by
/// continuation, and by both.
struct GoingOn {
    q: f64,
    own: f64,
    shared: [f64; 3],
    mixed: [f64; 3],
}

/// The first position of a tail: everybody examines it.
const EXAMINED: GoingOn = GoingOn { q: 1.0, own: 0.0, shared: [0.0; 3], mixed: [0.0; 3] };

/// A function's value, gradient, and second derivatives, by local parameters. Local parameters: the
/// one of the click above, the attraction of positions, continuation.
struct Local {
    n: usize,
    value: f64,
    gradient: Vec<f64>,
    second: Vec<f64>,
}

impl Local {
    fn new(n: usize, value: f64) -> Self {
        Self { n, value, gradient: vec![0.0; n], second: vec![0.0; n * n] }
    }

    fn set(&mut self, a: usize, b: usize, value: f64) {
        self.second[a * self.n + b] = value;
        self.second[b * self.n + a] = value;
    }

    /// The probability of continuation after a click; local parameters are the row's own one and
    /// the shared ones.
    fn of_going_on(going: &GoingOn, n_shared: usize) -> Self {
        let mut local = Self::new(1 + n_shared, going.q);
        local.gradient[0] = going.own;
        for parameter in 0..n_shared {
            local.gradient[1 + parameter] = going.shared[parameter];
            local.set(0, 1 + parameter, going.mixed[parameter]);
        }
        local
    }

    /// `B` of the tail of these rows; the parameter of the click above has no part in it.
    fn of_no_click(rows: &[usize], attraction: &[f64], after_skip: f64, n_shared: usize) -> Self {
        let length = rows.len();
        let mut no_click = NoClick::default();
        no_click.set(rows, attraction, after_skip);
        let first_shared = 1 + length;
        let mut local = Self::new(first_shared + n_shared, no_click.from[0]);
        // Derivatives of B by continuation, from the last position up.
        let (mut once, mut twice) = ([0.0; super::LONGEST + 1], 0.0);
        for (position, &row) in rows.iter().enumerate().rev() {
            let skip = 1.0 - attraction[row];
            twice = skip * (2.0 * once[position + 1] + after_skip * twice);
            if position + 1 < length {
                once[position] = skip * (no_click.from[position + 1] - 1.0 + after_skip * once[position + 1]);
            }
        }
        local.gradient[first_shared] = once[0];
        local.set(first_shared, first_shared, twice);
        let mut reached = 1.0;
        for (position, &row) in rows.iter().enumerate() {
            let by_attraction = -reached * no_click.after[position];
            local.gradient[1 + position] = by_attraction;
            for (above, &row_above) in rows[..position].iter().enumerate() {
                local.set(1 + above, 1 + position, -by_attraction / (1.0 - attraction[row_above]));
            }
            // The derivative of `g` by continuation; `R` is in proportion to its power.
            let of_after = if position + 1 < length {
                no_click.from[position + 1] - 1.0 + after_skip * once[position + 1]
            } else {
                0.0
            };
            let mixed = position as f64 * by_attraction / after_skip - reached * of_after;
            local.set(1 + position, first_shared, mixed);
            reached *= (1.0 - attraction[row]) * after_skip;
        }
        local
    }

    /// Turns `B` into `T = 1 - q + q B`.
    fn into_tail(mut self, going: &GoingOn, n_shared: usize) -> Self {
        let first_shared = self.n - n_shared;
        let by_q = self.value - 1.0;
        let mut q = vec![0.0; self.n];
        q[0] = going.own;
        q[first_shared..].copy_from_slice(&going.shared[..n_shared]);
        for a in 0..self.n {
            let row = &mut self.second[a * self.n..(a + 1) * self.n];
            for (b, both) in row.iter_mut().enumerate() {
                *both = going.q * *both + q[a] * self.gradient[b] + q[b] * self.gradient[a];
            }
        }
        for (shared, mixed) in (first_shared..self.n).zip(going.mixed) {
            self.second[shared] += mixed * by_q;
            self.second[shared * self.n] += mixed * by_q;
        }
        for (slope, q) in self.gradient.iter_mut().zip(&q) {
            *slope = going.q * *slope + q * by_q;
        }
        self.value = 1.0 + going.q * by_q;
        self
    }

    /// Adds minus the second derivatives of `times` its logarithm. Local parameters have these
    /// places in the block and, after it, in the shared part.
    fn add_to(
        &self,
        times: f64,
        places: &[usize],
        block: &mut Block,
        shared: &mut SharedTerms,
        n_shared: usize,
    ) {
        let (n, inverse) = (block.n, 1.0 / self.value);
        for (a, &of_a) in places.iter().enumerate() {
            let (slope, second) = (self.gradient[a] * inverse, &self.second[a * self.n..]);
            for (b, &of_b) in places.iter().enumerate() {
                let term = times * inverse * (slope * self.gradient[b] - second[b]);
                match (of_a.checked_sub(n), of_b.checked_sub(n)) {
                    (None, None) if of_b <= of_a => block.matrix[of_a * n + of_b] += term,
                    (Some(of_a), None) => block.border[of_a * n + of_b] += term,
                    (Some(of_a), Some(of_b)) => shared.push((of_a * n_shared + of_b, term)),
                    // The transpose is there already.
                    (None, _) => {}
                }
            }
        }
    }
}

impl Problem {
    /// Variances of all parameters, with a satisfaction for each row; infinite without information.
    pub(super) fn variances(&self, at: &[f64]) -> Vec<f64> {
        let inside: Vec<f64> = at.iter().map(|p| p.clamp(EDGE, 1.0 - EDGE)).collect();
        let split = self.split(&inside);
        let n_shared = self.prior.len();
        let mut bordered = Arrowhead::new(n_shared);
        for (parameter, (&[on, stopped], &c)) in self.prior.iter().zip(split.continuation).enumerate() {
            let on = if parameter == 0 { on + self.skips_above } else { on };
            bordered.shared[parameter * n_shared + parameter] = curvature(on, stopped, c);
        }
        let block = |[rows, lists]: &[Range<usize>; 2], shared: &mut SharedTerms| {
            (rows.len() <= LARGEST_BLOCK).then(|| self.block(&split, rows.clone(), lists.clone(), shared))
        };
        bordered.push_all(&self.queries, size_of_block, block);
        bordered.variances().by_parameter(at, self.queries.iter().map(|[rows, _]| rows))
    }

    /// Continuation of the DBN if satisfaction might be negative, and its variance: a Newton step,
    /// with a normal prior of satisfaction of the same mean and strength. `None` without a prior.
    ///
    /// Where satisfaction is near 0 and by chance more users continue after a click, it cannot
    /// fall, and continuation rises.
    pub(super) fn unbounded_continuation(&self, at: &[f64]) -> Option<(f64, f64)> {
        let at = self.split(at);
        let (yes, no) = (*self.satisfied.first().filter(|yes| **yes > 0.0)?, *self.unsatisfied.first()?);
        let (strength, c) = (yes + no, at.continuation[0]);
        let precision = strength * strength * strength / (yes * no);
        // The gradient is eliminated as the mixed derivatives of a second shared parameter.
        let mut bordered = Arrowhead::new(2);
        bordered.shared[0] = curvature(self.prior[0][0] + self.skips_above, self.prior[0][1], c);
        let block = |[rows, lists]: &[Range<usize>; 2], shared: &mut SharedTerms| {
            let mut block = self.block(&at, rows.clone(), lists.clone(), shared);
            block.border.resize(2 * block.n, 0.0);
            for (own, &s) in (rows.len()..block.n).zip(&at.satisfaction[rows.clone()]) {
                block.matrix[own * block.n + own] += precision - curvature(yes, no, s);
                block.border[block.n + own] = precision * (yes / strength - s) - yes / s + no / (1.0 - s);
            }
            Some(block)
        };
        bordered.push_all(&self.queries, size_of_block, block);
        Some((c + bordered.shared[2] / bordered.shared[0], 1.0 / bordered.shared[0]))
    }

    fn going_on(&self, at: &Split<'_>, row: usize) -> GoingOn {
        match *at.continuation {
            [_, bad, good] if self.kind == Kind::Ccm => {
                let a = at.attraction[row];
                let q = bad * (1.0 - a) + good * a;
                GoingOn { q, own: good - bad, shared: [0.0, 1.0 - a, a], mixed: [0.0, -1.0, 1.0] }
            }
            _ => {
                let (c, stay) = (at.continuation[0], 1.0 - at.satisfaction[row]);
                GoingOn { q: c * stay, own: -c, shared: [stay, 0.0, 0.0], mixed: [-1.0, 0.0, 0.0] }
            }
        }
    }

    /// The information of a query.
    fn block(
        &self,
        at: &Split<'_>,
        rows: Range<usize>,
        lists: Range<usize>,
        shared: &mut SharedTerms,
    ) -> Block {
        let (n_rows, n_shared) = (rows.len(), self.prior.len());
        let n = if self.kind == Kind::Dbn { 2 * n_rows } else { n_rows };
        let mut block = Block::new(n, n_shared);
        // The parameter on which continuation after a click depends: satisfaction, or attraction.
        let own = |row: usize| n - n_rows + row - rows.start;
        for row in rows.clone() {
            let place = row - rows.start;
            block.matrix[place * n + place] +=
                curvature(self.clicks[row], self.skips[row], at.attraction[row]);
            if self.kind == Kind::Dbn {
                let [satisfied, not] = [self.satisfied[row], self.unsatisfied[row]];
                block.matrix[own(row) * n + own(row)] += curvature(satisfied, not, at.satisfaction[row]);
            }
            if self.went_on[row] > 0.0 {
                let places: Vec<usize> = std::iter::once(own(row)).chain(n..n + n_shared).collect();
                let local = Local::of_going_on(&self.going_on(at, row), n_shared);
                local.add_to(self.went_on[row], &places, &mut block, shared, n_shared);
            }
        }
        for (of_list, sessions) in self.tails.lists(lists) {
            for (position, &sessions) in sessions.iter().enumerate().filter(|(_, sessions)| **sessions > 0.0)
            {
                let tail = &of_list[position..];
                let clicked = position.checked_sub(1).map(|above| of_list[above]);
                let going = clicked.map_or(EXAMINED, |row| self.going_on(at, row));
                // Without a click, the place of the parameter does not matter.
                let places = std::iter::once(own(clicked.unwrap_or(tail[0])))
                    .chain(tail.iter().map(|row| row - rows.start))
                    .chain(n..n + n_shared);
                let places: Vec<usize> = places.collect();
                let local = Local::of_no_click(tail, at.attraction, at.continuation[0], n_shared);
                let local = local.into_tail(&going, n_shared);
                local.add_to(sessions, &places, &mut block, shared, n_shared);
            }
        }
        block.separate_unknown();
        block
    }
}
