//! Expectation-maximisation (EM), and its acceleration by squared extrapolation (SQUAREM).
//!
//! Two EM steps `x1 = M(x0)`, `x2 = M(x1)` give `r = x1 - x0` and `v = (x2 - x1) - r`. With `alpha
//! = -|r| / |v|`, at most -1,
//!
//! ```text
//! x' = x0 - 2 alpha r + alpha^2 v,      then one EM step from x'.
//! ```
//!
//! If the result has a lower likelihood than `x0`, by more than a rounding error, the cycle ends at
//! `x2`, the result of EM alone. So no cycle lowers the likelihood.
//!
//! Reference: Varadhan, Roland, *Simple and globally convergent methods for accelerating the
//! convergence of any EM algorithm*, Scandinavian Journal of Statistics 35, 2008, scheme S3 with
//! the EM step that stabilises it. Deviations: a coordinate that the extrapolation would move out
//! of (0, 1) keeps the value of the second EM step; the likelihood itself decides whether it fell.
//!
//! | here | paper |
//! |---|---|
//! | `change` | largest coordinate of `abs(M(x) - x)` |
//! | `iterations` | evaluations of `M` |
//!
//! Numerics: parameters are probabilities on their own scale. Complexity: a cycle has three EM
//! steps, one of which also evaluates the likelihood, and one more step if it falls back.

use super::in_order::in_order;
use super::options::EmOptions;
use confidence::math::sqrt;
pub use documents::parameters::Convergence;

/// A fall of the likelihood by a smaller share is a rounding error.
const ROUNDING: f64 = 1e-13;

/// A problem for EM; its parameters are probabilities.
pub(crate) trait Em {
    /// One EM step; never lowers [`log_likelihood`](Em::log_likelihood).
    fn step(&self, from: &[f64], to: &mut [f64]);
    /// An EM step, and the log-likelihood at its start.
    fn step_and_log_likelihood(&self, from: &[f64], to: &mut [f64]) -> f64 {
        self.step(from, to);
        self.log_likelihood(from)
    }
    /// The log-likelihood, with the log-prior if there is one.
    fn log_likelihood(&self, at: &[f64]) -> f64;
}

/// Climbs from `at` until an EM step changes no parameter by more than the tolerance.
pub(crate) fn maximise(problem: &impl Em, at: &mut Vec<f64>, options: &EmOptions) -> Convergence {
    let mut iterations = 0;
    let mut first = at.clone();
    // The point to which the cycle falls back if it lowered the likelihood.
    let mut second = at.clone();
    let mut before = f64::NEG_INFINITY;
    loop {
        // The step also returns the likelihood, which saves a pass over the counts.
        let mut log_likelihood = problem.step_and_log_likelihood(at, &mut first);
        iterations += 1;
        if log_likelihood.is_nan() || log_likelihood < before - ROUNDING * before.abs() {
            std::mem::swap(at, &mut second);
            log_likelihood = problem.step_and_log_likelihood(at, &mut first);
            iterations += 1;
        }
        before = log_likelihood;
        problem.step(&first, &mut second);
        iterations += 1;
        let (r2, v2, change) = distances(at, &first, &second);
        let converged = change <= options.tolerance;
        if converged || change.is_nan() || iterations >= options.max_iterations {
            std::mem::swap(at, &mut second);
            return Convergence { converged, iterations, log_likelihood: problem.log_likelihood(at) };
        }
        // 1 if the steps vanish at once: the second step is as good then.
        let alpha = if v2 > 0.0 { sqrt(r2 / v2) } else { 1.0 };
        if alpha > 1.0 {
            extrapolate(alpha, at, &first, &second);
            problem.step(at, &mut first);
            iterations += 1;
            std::mem::swap(at, &mut first);
        } else {
            std::mem::swap(at, &mut second);
        }
    }
}

/// Number of parameters of one task for a thread.
const TASK: usize = 1 << 15;

/// The larger number, or NaN if one is NaN; `f64::max` ignores NaN.
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

/// Extrapolates into `at`; parameters that would leave (0, 1) keep the values of the second step.
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
mod tests;
