//! The optimisation: an interior-point method that adds lists when it needs them.
//!
//! Information is homogeneous in the observations. So `T*` is the smallest number of steps, shared
//! out among lists, after which every pair of a best item and another one has given one nat:
//!
//! ```text
//! T* = min sum_c times_c   such that   nats_p(o) >= 1 for all pairs p,   o = sum_c times_c a_c,   times >= 0
//! ```
//!
//! with `a_c` the observations of list `c`. Multipliers `u_p >= 0` of the pairs give every
//! observation a price, `prices = sum_p u_p gradient_p`. Let `worth` be the value of the best list
//! at these prices. As `nats_p` is concave and homogeneous, `prices . o >= sum_p u_p nats_p(o)` for
//! every `o`, and `prices . o <= worth` times the number of steps. So for any multipliers and any
//! times
//!
//! ```text
//! sum_p u_p / worth <= T* <= sum_c times_c / min_p nats_p(o).
//! ```
//!
//! These two numbers decide when to stop; rounding in the linear algebra can delay that but not
//! make the result wrong. In between is the usual primal-dual method (Nocedal, Wright, *Numerical
//! Optimization*, chapter 19): Newton's method for `slack_p u_p = mu`, `times_c reduced_c = mu`,
//! with `slack_p` and `nats_p - 1` made equal on the way, and `reduced_c` and `1 - prices . a_c`.
//! The best list for the prices of an iteration joins the program if it is worth more than all
//! lists in it. `mu` falls unless the lists that are missing cost more than `mu` does.

use super::alternatives::Information;
use super::cholesky::Cholesky;
use super::lists::{Kind, Pattern, best_list, observations};

/// The promise: the upper bound is at most this share above the lower one.
const PROMISED: f64 = 1e-6;
/// Stop here at the latest.
const ENOUGH: f64 = 1e-10;
/// An iteration below this difference has to halve it, or is the last. A tenth of the promise is
/// left to [`Program::solution`].
const SLOW: f64 = 0.9 * PROMISED;
/// No instance is known that needs more than half as many.
const MAX_ITERATIONS: usize = 1000;
/// `mu` falls by this factor if no list is missing.
const FALL: f64 = 0.2;
/// `mu` rises by this factor at most, up to [`MISSING_SHARE`] of what the missing lists cost.
const RISE: f64 = 2.0;
const MISSING_SHARE: f64 = 0.2;
/// The part of the way to the boundary that a step goes at most.
const TO_BOUNDARY: f64 = 0.9;

#[derive(Debug)]
pub(super) struct Solution {
    /// A lower bound on `T*`, in steps per nat. NaN, without a mixture, if the promise is not kept:
    /// weights too small for doubles.
    pub(super) lower: f64,
    /// A mixture whose information shows that `T*` is at most `1 + PROMISED` times that.
    pub(super) mixture: Vec<(Pattern, f64)>,
}

/// A list of the program.
#[derive(Debug, Clone)]
struct Column {
    pattern: Pattern,
    observed: Vec<(usize, f64)>,
    times: f64,
    reduced: f64,
}

impl Column {
    fn dot(&self, of_kinds: &[f64]) -> f64 {
        self.observed.iter().map(|&(kind, each)| each * of_kinds[kind]).sum()
    }
}

/// The constraint that a pair of kinds has given one nat.
#[derive(Debug, Clone, Copy)]
struct Pair {
    kinds: [usize; 2],
    information: Information,
    slack: f64,
    multiplier: f64,
}

impl Pair {
    fn dot(&self, of_kinds: &[f64]) -> f64 {
        let [best, other] = self.kinds;
        self.information.gradient[0] * of_kinds[best] + self.information.gradient[1] * of_kinds[other]
    }

    /// How much the information exceeds one nat and the slack.
    fn residual(&self) -> f64 {
        self.information.nats - 1.0 - self.slack
    }
}

/// The program and the current point.
#[derive(Debug)]
struct Program<'a> {
    kinds: &'a [Kind],
    columns: Vec<Column>,
    pairs: Vec<Pair>,
    /// The number of nats that counts as one: half of what the first mixture gives, so that the
    /// numbers are of order 1.
    unit: f64,
}

/// Bounds on `T*` from the current point, and the list that is worth most.
struct Check {
    lower: f64,
    upper: f64,
    worth: f64,
    best: Option<Column>,
}

/// Solves the program; the first `n_best` of the kinds, which are in decreasing order of weight,
/// are the items to find.
pub(super) fn solve(kinds: &[Kind], n_best: usize, n_positions: usize) -> Solution {
    let mut program = Program::new(kinds, n_best, n_positions);
    let (mut lower, mut upper, mut columns) = (0.0_f64, f64::INFINITY, Vec::new());
    for _ in 0..MAX_ITERATIONS {
        let before = upper / lower - 1.0;
        let check = program.check(n_positions);
        lower = lower.max(check.lower);
        if check.upper < upper {
            upper = check.upper;
            columns.clone_from(&program.columns);
        }
        let difference = upper / lower - 1.0;
        if difference <= ENOUGH || (difference <= SLOW && difference > 0.5 * before) {
            break;
        }
        program.advance(check);
    }
    let is_kept = upper <= lower * (1.0 + PROMISED);
    if !is_kept {
        return Solution { lower: f64::NAN, mixture: Vec::new() };
    }
    program.columns = columns;
    program.solution(lower, upper)
}

impl<'a> Program<'a> {
    /// One list for each kind: it is on top, and the least attractive items are below.
    fn new(kinds: &'a [Kind], n_best: usize, n_positions: usize) -> Self {
        let list = |first: usize| {
            let others = (0..kinds.len()).rev().flat_map(|kind| {
                std::iter::repeat_n(kind, kinds[kind].items.len() - usize::from(kind == first))
            });
            let pattern: Pattern = std::iter::once(first).chain(others).take(n_positions).collect();
            let times = 1.0 / kinds.len() as f64;
            Column { observed: observations(kinds, &pattern), pattern, times, reduced: 0.0 }
        };
        let columns: Vec<Column> = (0..kinds.len()).map(list).collect();
        let pairs = (0..n_best)
            .flat_map(|best| (n_best..kinds.len()).map(move |other| [best, other]))
            .map(|kinds| Pair { kinds, information: Information::NONE, slack: 0.0, multiplier: 0.0 })
            .collect();
        let mut program = Self { kinds, columns, pairs, unit: 1.0 };
        program.evaluate();
        program.unit = program.least_nats() / 2.0;
        program.evaluate();
        let mu = 1.0 / program.n_products();
        for pair in &mut program.pairs {
            pair.slack = pair.information.nats - 1.0;
            pair.multiplier = mu / pair.slack;
        }
        for column in &mut program.columns {
            column.reduced = mu / column.times;
        }
        program
    }

    /// Observations of each kind, if the columns are shown so often.
    fn observed(&self, times: impl Iterator<Item = f64>) -> Vec<f64> {
        let mut sums = vec![0.0; self.kinds.len()];
        for (column, times) in self.columns.iter().zip(times) {
            for &(kind, each) in &column.observed {
                sums[kind] += times * each;
            }
        }
        sums
    }

    /// Information of all pairs at the current times.
    fn evaluate(&mut self) {
        let observed = self.observed(self.columns.iter().map(|column| column.times));
        for pair in &mut self.pairs {
            let weights = pair.kinds.map(|kind| self.kinds[kind].weight);
            pair.information = Information::new(weights, pair.kinds.map(|kind| observed[kind]), self.unit);
        }
    }

    fn least_nats(&self) -> f64 {
        self.pairs.iter().map(|pair| pair.information.nats).fold(f64::INFINITY, f64::min)
    }

    fn total_times(&self) -> f64 {
        self.columns.iter().map(|column| column.times).sum()
    }

    /// The number of products that should be `mu`.
    fn n_products(&self) -> f64 {
        (self.pairs.len() + self.columns.len()) as f64
    }

    fn prices(&self) -> Vec<f64> {
        let mut prices = vec![0.0; self.kinds.len()];
        for pair in &self.pairs {
            for (&kind, gradient) in pair.kinds.iter().zip(pair.information.gradient) {
                prices[kind] += pair.multiplier * gradient;
            }
        }
        prices
    }

    fn check(&self, n_positions: usize) -> Check {
        let prices = self.prices();
        let pattern = best_list(self.kinds, &prices, n_positions);
        let best = Column { observed: observations(self.kinds, &pattern), pattern, times: 0.0, reduced: 0.0 };
        let worth = best.dot(&prices);
        let multipliers: f64 = self.pairs.iter().map(|pair| pair.multiplier).sum();
        let known = self.columns.iter().map(|column| column.dot(&prices)).fold(0.0, f64::max);
        Check {
            lower: multipliers / worth / self.unit,
            upper: self.total_times() / self.least_nats() / self.unit,
            worth,
            // The margin keeps out a list that is in the program and differs by rounding.
            best: (worth > known * (1.0 + 1e-9)).then_some(best),
        }
    }

    /// One iteration: the next `mu`, the missing list, a step of Newton's method.
    fn advance(&mut self, check: Check) {
        let products = self.pairs.iter().map(|pair| pair.slack * pair.multiplier).sum::<f64>()
            + self.columns.iter().map(|column| column.times * column.reduced).sum::<f64>();
        let missing = (check.worth - 1.0).max(0.0) * self.total_times();
        let factor =
            if missing > products { (MISSING_SHARE * missing / products).clamp(1.0, RISE) } else { FALL };
        let mu = factor * products / self.n_products();
        if let Some(column) = check.best {
            let reduced = (check.worth - 1.0).abs().max(mu.sqrt());
            self.columns.push(Column { times: mu / reduced, reduced, ..column });
            self.evaluate();
        }
        self.step(mu);
    }

    /// A step of Newton's method, as far as the signs allow.
    fn step(&mut self, mu: f64) {
        let curvature = self.curvature();
        let pull = self.pull(mu);
        let side: Vec<f64> =
            self.columns.iter().map(|column| column.dot(&pull) + mu / column.times - 1.0).collect();
        let system = self.system(&curvature);
        let mut times = side.clone();
        system.solve(&mut times);
        // One correction: near the end the system is ill-conditioned.
        let mut missing = self.residual_of(&curvature, &side, &times);
        system.solve(&mut missing);
        for (times, missing) in times.iter_mut().zip(&missing) {
            *times += missing;
        }

        let observed = self.observed(times.iter().copied());
        let slacks: Vec<f64> = self.pairs.iter().map(|pair| pair.dot(&observed) + pair.residual()).collect();
        let multiplier =
            |(pair, slack): (&Pair, &f64)| (mu - pair.multiplier * (pair.slack + slack)) / pair.slack;
        let multipliers: Vec<f64> = self.pairs.iter().zip(&slacks).map(multiplier).collect();
        let reduced =
            |(column, step): (&Column, &f64)| (mu - column.reduced * (column.times + step)) / column.times;
        let reduced: Vec<f64> = self.columns.iter().zip(&times).map(reduced).collect();

        let primal = reach(self.columns.iter().map(|column| column.times), &times)
            .min(reach(self.pairs.iter().map(|pair| pair.slack), &slacks));
        let dual = reach(self.pairs.iter().map(|pair| pair.multiplier), &multipliers)
            .min(reach(self.columns.iter().map(|column| column.reduced), &reduced));
        for (pair, (slack, multiplier)) in self.pairs.iter_mut().zip(slacks.iter().zip(&multipliers)) {
            pair.slack += primal * slack;
            pair.multiplier += dual * multiplier;
        }
        for (column, (times, reduced)) in self.columns.iter_mut().zip(times.iter().zip(&reduced)) {
            column.times += primal * times;
            column.reduced += dual * reduced;
        }
        self.evaluate();
    }

    /// `W`, the second derivatives of the pairs in the observations, row by row.
    fn curvature(&self) -> Vec<f64> {
        let n = self.kinds.len();
        let mut curvature = vec![0.0; n * n];
        for pair in &self.pairs {
            let Information { gradient, bend, .. } = pair.information;
            let stiffness = pair.multiplier / pair.slack;
            for (row, &kind) in pair.kinds.iter().enumerate() {
                for (column, &other) in pair.kinds.iter().enumerate() {
                    curvature[kind * n + other] += stiffness * gradient[row] * gradient[column]
                        + pair.multiplier * bend[row] * bend[column];
                }
            }
        }
        curvature
    }

    /// The value of one more observation of each kind to the pairs, by the slacks that `mu` asks
    /// for.
    fn pull(&self, mu: f64) -> Vec<f64> {
        let mut pull = vec![0.0; self.kinds.len()];
        for pair in &self.pairs {
            let worth = (mu - pair.multiplier * pair.residual()) / pair.slack;
            for (&kind, gradient) in pair.kinds.iter().zip(pair.information.gradient) {
                pull[kind] += worth * gradient;
            }
        }
        pull
    }

    /// `A^T W A + D`, the system of a step of the times, where `D` is diagonal with
    /// `reduced / times`.
    fn system(&self, curvature: &[f64]) -> Cholesky {
        let (n, size) = (self.kinds.len(), self.columns.len());
        let mut rows = vec![0.0; size * size];
        for (index, column) in self.columns.iter().enumerate() {
            let mut bent = vec![0.0; n];
            for &(kind, each) in &column.observed {
                for (bent, curvature) in bent.iter_mut().zip(&curvature[kind * n..]) {
                    *bent += each * curvature;
                }
            }
            let row = &mut rows[index * size..];
            for (entry, other) in row.iter_mut().zip(&self.columns[..=index]) {
                *entry = other.dot(&bent);
            }
            row[index] += column.reduced / column.times;
        }
        Cholesky::new(rows, size)
    }

    fn residual_of(&self, curvature: &[f64], side: &[f64], times: &[f64]) -> Vec<f64> {
        let observed = self.observed(times.iter().copied());
        let row = |row: &[f64]| row.iter().zip(&observed).map(|(entry, observed)| entry * observed).sum();
        let bent: Vec<f64> = curvature.chunks_exact(self.kinds.len()).map(row).collect();
        let left = |((column, side), times): ((&Column, &f64), &f64)| {
            side - column.dot(&bent) - column.reduced / column.times * times
        };
        self.columns.iter().zip(side).zip(times).map(left).collect()
    }

    /// The columns as a mixture, without those that are not needed for the promise.
    fn solution(mut self, lower: f64, upper: f64) -> Solution {
        let all = self.columns.clone();
        for smallest in [1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 0.0] {
            let total: f64 = all.iter().map(|column| column.times).sum();
            self.columns = all.iter().filter(|column| column.times >= smallest * total).cloned().collect();
            self.evaluate();
            let needed = self.total_times() / self.least_nats() / self.unit;
            if needed <= (lower * (1.0 + PROMISED)).max(upper) {
                break;
            }
        }
        let total = self.total_times();
        let share = |column: Column| (column.pattern, column.times / total);
        Solution { lower, mixture: self.columns.into_iter().map(share).collect() }
    }
}

/// The largest step, 1 at most, that takes no positive value more than [`TO_BOUNDARY`] of the way
/// to 0.
fn reach(values: impl Iterator<Item = f64>, steps: &[f64]) -> f64 {
    let towards_zero = values.zip(steps).filter(|(_, step)| **step < 0.0);
    towards_zero.map(|(value, step)| -TO_BOUNDARY * value / step).fold(1.0, f64::min)
}
