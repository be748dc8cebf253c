//! Expectation-maximisation (EM), and its acceleration by squared extrapolation (SQUAREM).
//!
//! Two EM steps `x1 = M(x0)`, `x2 = M(x1)` give `r = x1 - x0` and `v = (x2 - x1) - r`. With `alpha = -|r| / |v|`, at most -1,
//!
//! ```text
//! x' = x0 - 2 alpha r + alpha^2 v,      then one EM step from x'.
//! ```
//!
//! If that has a lower likelihood than `x0`, the cycle ends at `x2`, where EM alone would be: no cycle makes the likelihood fall.
//!
//! Reference: Varadhan, Roland, *Simple and globally convergent methods for accelerating the convergence of any EM algorithm*,
//! Scandinavian Journal of Statistics 35, 2008, scheme S3 with the EM step that stabilises it. Deviations: a coordinate that the
//! extrapolation would take out of (0, 1) stays where the second EM step put it; a fall is told by the likelihood itself.
//!
//! | here | paper |
//! |---|---|
//! | `change` | largest coordinate of `abs(M(x) - x)` |
//! | `iterations` | evaluations of `M` |
//!
//! Numerics: parameters are probabilities, and are left on their own scale. Complexity: a cycle is three EM steps, one of
//! which also evaluates the likelihood, and one more where it falls back.

use super::in_order::in_order;
use super::options::EmOptions;
use confidence::math::sqrt;

/// What EM works on: parameters are probabilities.
pub(crate) trait Em {
    /// One EM step; never lowers [`log_likelihood`](Em::log_likelihood).
    fn step(&self, from: &[f64], to: &mut [f64]);
    /// The same, and the log-likelihood where it starts from.
    fn step_and_log_likelihood(&self, from: &[f64], to: &mut [f64]) -> f64 {
        self.step(from, to);
        self.log_likelihood(from)
    }
    /// The logarithm of the likelihood, with that of the prior if there is one.
    fn log_likelihood(&self, at: &[f64]) -> f64;
}

/// Where a maximisation was after some iterations.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// EM steps or Newton steps so far.
    pub iterations: usize,
    /// Log-likelihood with that of the prior, in nats, up to a constant that depends on the counts alone.
    pub log_likelihood: f64,
    /// EM: the largest change of a parameter in one step. Newton: the largest relative change.
    pub change: f64,
}

/// How a maximisation ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Convergence {
    /// Whether the criterion was met; if not, the iterations were used up.
    pub converged: bool,
    /// The end.
    pub last: Progress,
    /// The way there, where it was asked for.
    pub trace: Vec<Progress>,
}

impl Convergence {
    /// Of an estimate in closed form.
    pub(crate) fn closed_form(log_likelihood: f64) -> Self {
        let last = Progress { iterations: 0, log_likelihood, change: 0.0 };
        Self { converged: true, last, trace: Vec::new() }
    }

    /// Of a maximisation that went on in another one.
    pub(crate) fn then(mut self, next: Self) -> Self {
        let before = self.last.iterations;
        let later = |progress: Progress| Progress { iterations: before + progress.iterations, ..progress };
        self.trace.extend(next.trace.into_iter().map(later));
        Self { converged: next.converged, last: later(next.last), trace: self.trace }
    }
}

/// Climbs from `at` until one EM step changes no parameter by more than the tolerance.
pub(crate) fn maximise(
    problem: &impl Em,
    at: &mut Vec<f64>,
    options: &EmOptions,
    trace: bool,
) -> Convergence {
    let mut climb = Climb { options, trace: Vec::new(), keep_trace: trace, iterations: 0 };
    let (converged, change) =
        if options.accelerate { climb.squarem(problem, at) } else { climb.plain(problem, at) };
    let log_likelihood = problem.log_likelihood(at);
    let last = Progress { iterations: climb.iterations, log_likelihood, change };
    if trace {
        climb.trace.push(last);
    }
    Convergence { converged, last, trace: climb.trace }
}

struct Climb<'a> {
    options: &'a EmOptions,
    trace: Vec<Progress>,
    keep_trace: bool,
    iterations: usize,
}

impl Climb<'_> {
    fn plain(&mut self, problem: &impl Em, at: &mut Vec<f64>) -> (bool, f64) {
        let mut next = at.clone();
        loop {
            let log_likelihood = if self.keep_trace {
                problem.step_and_log_likelihood(at, &mut next)
            } else {
                problem.step(at, &mut next);
                0.0
            };
            let change = at.iter().zip(&next).map(|(from, to)| (to - from).abs()).fold(0.0, larger);
            if self.keep_trace {
                self.trace.push(Progress { iterations: self.iterations, log_likelihood, change });
            }
            self.iterations += 1;
            std::mem::swap(at, &mut next);
            if change <= self.options.tolerance {
                return (true, change);
            }
            if change.is_nan() || self.iterations >= self.options.max_iterations {
                return (false, change);
            }
        }
    }

    fn squarem(&mut self, problem: &impl Em, at: &mut Vec<f64>) -> (bool, f64) {
        let mut first = at.clone();
        // Where the last cycle goes back to, should it turn out to have lost.
        let mut second = at.clone();
        let mut before = f64::NEG_INFINITY;
        loop {
            // The likelihood comes with the step: a pass over the counts less.
            let mut log_likelihood = problem.step_and_log_likelihood(at, &mut first);
            self.iterations += 1;
            if log_likelihood.is_nan() || log_likelihood < before {
                std::mem::swap(at, &mut second);
                log_likelihood = problem.step_and_log_likelihood(at, &mut first);
                self.iterations += 1;
            }
            before = log_likelihood;
            problem.step(&first, &mut second);
            self.iterations += 1;
            let (r2, v2, change) = distances(at, &first, &second);
            if self.keep_trace {
                self.trace.push(Progress { iterations: self.iterations - 2, log_likelihood, change });
            }
            let is_over = change.is_nan() || self.iterations >= self.options.max_iterations;
            if change <= self.options.tolerance || is_over {
                std::mem::swap(at, &mut second);
                return (change <= self.options.tolerance, change);
            }
            // 1 where the steps shrink to nothing at once: then the second step is as good.
            let alpha = if v2 > 0.0 { sqrt(r2 / v2) } else { 1.0 };
            if alpha > 1.0 {
                extrapolate(alpha, at, &first, &second);
                problem.step(at, &mut first);
                self.iterations += 1;
                std::mem::swap(at, &mut first);
            } else {
                std::mem::swap(at, &mut second);
            }
        }
    }
}

/// Parameters of one task for a thread.
const TASK: usize = 1 << 15;

/// NaN, if one of them is: `f64::max` takes it for no number at all.
fn larger(a: f64, b: f64) -> f64 {
    if b > a || b.is_nan() { b } else { a }
}

/// Squared lengths of `r` and `v`, and the largest change of the first step.
fn distances(at: &[f64], first: &[f64], second: &[f64]) -> (f64, f64, f64) {
    let tasks = at.chunks(TASK).zip(first.chunks(TASK)).zip(second.chunks(TASK)).collect();
    let parts = in_order(tasks, |((at, first), second)| {
        let (mut r2, mut v2, mut change) = (0.0, 0.0, 0.0_f64);
        for ((x0, x1), x2) in at.iter().zip(first).zip(second) {
            let (r, v) = (x1 - x0, x2 - 2.0 * x1 + x0);
            r2 += r * r;
            v2 += v * v;
            change = larger(change, r.abs());
        }
        (r2, v2, change)
    });
    parts
        .into_iter()
        .fold((0.0, 0.0, 0.0), |sum, part| (sum.0 + part.0, sum.1 + part.1, larger(sum.2, part.2)))
}

/// Leaves the extrapolated parameters where the first ones are.
fn extrapolate(alpha: f64, at: &mut [f64], first: &[f64], second: &[f64]) {
    let tasks = at.chunks_mut(TASK).zip(first.chunks(TASK)).zip(second.chunks(TASK)).collect();
    in_order(tasks, |((at, first), second)| {
        for ((x, x1), x2) in at.iter_mut().zip(first).zip(second) {
            let (r, v) = (x1 - *x, x2 - 2.0 * x1 + *x);
            let far = *x + 2.0 * alpha * r + alpha * alpha * v;
            *x = if far > 0.0 && far < 1.0 { far } else { *x2 };
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    struct NoNumber;

    impl Em for NoNumber {
        fn step(&self, _: &[f64], to: &mut [f64]) {
            to.fill(f64::NAN);
        }

        fn log_likelihood(&self, _: &[f64]) -> f64 {
            f64::NAN
        }
    }

    #[test]
    fn steps_that_are_no_numbers_do_not_converge() {
        for accelerate in [false, true] {
            let options = EmOptions { accelerate, ..EmOptions::default() };
            let end = maximise(&NoNumber, &mut vec![0.5; 3], &options, false);
            assert!(!end.converged && end.last.change.is_nan() && end.last.iterations < 5, "{end:?}");
        }
    }
}
