//! For tests of EM: climbs that assert that the likelihood never falls.

use super::options::EmOptions;
use super::squarem::{Convergence, Em, maximise};
use std::cell::{Cell, RefCell};

/// A problem that notes the log-likelihood at the start of every cycle. A cycle that lowered it is
/// taken back before any other step, and forgotten.
struct Noted<'a, E> {
    problem: &'a E,
    values: RefCell<Vec<f64>>,
    stepped: Cell<bool>,
}

impl<E: Em> Em for Noted<'_, E> {
    fn step(&self, from: &[f64], to: &mut [f64]) {
        self.stepped.set(true);
        self.problem.step(from, to);
    }

    fn step_and_log_likelihood(&self, from: &[f64], to: &mut [f64]) -> f64 {
        let value = self.problem.step_and_log_likelihood(from, to);
        if !self.stepped.replace(false) {
            self.values.borrow_mut().pop();
        }
        self.values.borrow_mut().push(value);
        value
    }

    fn log_likelihood(&self, at: &[f64]) -> f64 {
        self.problem.log_likelihood(at)
    }
}

/// The accelerated climb; at least three cycles.
pub(super) fn accelerated(problem: &impl Em, at: &mut Vec<f64>, options: &EmOptions) -> Convergence {
    let noted = Noted { problem, values: RefCell::default(), stepped: Cell::new(true) };
    let convergence = maximise(&noted, at, options);
    let mut values = noted.values.into_inner();
    values.push(convergence.log_likelihood);
    assert!(values.len() > 3 && !falls(&values), "{values:?}");
    convergence
}

/// The climb by EM steps alone.
pub(super) fn plain(problem: &impl Em, at: &mut Vec<f64>, options: &EmOptions) -> Convergence {
    let (convergence, values) = steps(problem, at, options);
    assert!(values.len() > 3 && !falls(&values), "{values:?}");
    convergence
}

/// The climb by EM steps alone, and the log-likelihood before every step and at the end.
pub(super) fn steps(problem: &impl Em, at: &mut Vec<f64>, options: &EmOptions) -> (Convergence, Vec<f64>) {
    let (mut next, mut values) = (at.clone(), Vec::new());
    loop {
        values.push(problem.step_and_log_likelihood(at, &mut next));
        let change = at.iter().zip(&next).map(|(from, to)| (to - from).abs()).fold(0.0, f64::max);
        std::mem::swap(at, &mut next);
        let (converged, iterations) = (change <= options.tolerance, values.len());
        if converged || iterations >= options.max_iterations {
            let log_likelihood = problem.log_likelihood(at);
            values.push(log_likelihood);
            return (Convergence { converged, iterations, log_likelihood }, values);
        }
    }
}

/// Whether the likelihood falls by more than a rounding error.
pub(super) fn falls(values: &[f64]) -> bool {
    values.windows(2).any(|pair| pair[1] < pair[0] - 1e-13 * pair[0].abs())
}
