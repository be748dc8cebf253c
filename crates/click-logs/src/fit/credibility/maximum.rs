//! The maximum of the likelihood: Newton's method, or EM where there are many columns.

use super::super::item_prior::ItemPrior;
use super::super::linear::Cholesky;
use super::super::squarem::{Convergence, Progress};
use super::counts::Source;
use super::sums::Sums;
use super::{Credibility, PSEUDO_CLICKS, PositionEffects};
use confidence::math::ln;
use libm::exp;

/// Newton steps, or EM steps, of one search.
const STEPS: usize = 60;
const EM_STEPS: usize = 1000;
/// Where a step changes no logarithm by more.
const TOLERANCE: f64 = 1e-10;

impl<S: Source> Credibility<'_, S> {
    /// The maximum, from a point near it; the first column's examination is 1 there.
    pub(in super::super) fn maximise(
        &self,
        found: &mut PositionEffects,
        item_prior: &ItemPrior,
        trace: bool,
    ) -> Convergence {
        let before = found.clone();
        let mut kept = Vec::new();
        let many = self.has_many_columns();
        let matrices = usize::from(!many);
        let mut sums = self.sums(found, &before, item_prior, matrices);
        let limit = if many { EM_STEPS } else { STEPS };
        let mut last = Progress { iterations: 0, log_likelihood: sums.value, change: 0.0 };
        let mut converged = self.n_parameters() == 0;
        while !converged && last.iterations < limit {
            let Some(step) = self.step(found, &sums, item_prior) else { break };
            let mut length = 1.0;
            let next = loop {
                let mut next = found.clone();
                self.go(&mut next, &step, length);
                let of_next = self.sums(&next, &before, item_prior, matrices);
                // Rounding leaves no more of the value.
                if of_next.value >= sums.value - 1e-13 * sums.value.abs() || length < 1e-6 {
                    break (next, of_next);
                }
                length /= 2.0;
            };
            (*found, sums) = next;
            let change = length * step.iter().map(|step| step.abs()).fold(0.0, f64::max);
            last = Progress { iterations: last.iterations + 1, log_likelihood: sums.value, change };
            kept.push(last);
            converged = change <= TOLERANCE;
        }
        if self.examines {
            let first = found.examination.first().copied().unwrap_or(0.0);
            found.examination.iter_mut().for_each(|y| *y -= first);
        }
        if self.has_lift() {
            self.choose_variance(found, &sums);
            let first = found.lift[0];
            found.lift.iter_mut().for_each(|d| *d -= first);
        }
        if !trace {
            kept.clear();
        }
        Convergence { converged, last, trace: kept }
    }

    /// Newton's, or that of EM.
    fn step(&self, found: &PositionEffects, sums: &Sums, item_prior: &ItemPrior) -> Option<Vec<f64>> {
        let n = self.n_parameters();
        if self.has_many_columns() {
            let targets = self.targets(item_prior.mean);
            let columns = found.examination.iter().zip(&targets).zip(self.columns).zip(&sums.gradient);
            return Some(
                columns
                    .map(|(((&y, &target), of), &gradient)| {
                        let clicks = of.0 + PSEUDO_CLICKS;
                        let expected = clicks - gradient;
                        // Pseudo-impressions are part of what is expected: at least these are there.
                        ln(clicks / expected.max(PSEUDO_CLICKS * exp(y - target)))
                    })
                    .collect(),
            );
        }
        let mut step = sums.gradient.clone();
        Cholesky::new(n, sums.information.clone())?.solve(&mut step);
        // A long step is one that a quadratic function knows nothing of.
        let longest = step.iter().map(|step| step.abs()).fold(0.0, f64::max);
        if longest > 2.0 {
            for part in &mut step {
                *part *= 2.0 / longest;
            }
        }
        Some(step)
    }

    pub(super) fn go(&self, found: &mut PositionEffects, step: &[f64], length: f64) {
        if self.examines {
            found.examination.iter_mut().zip(step).for_each(|(y, step)| *y += length * step);
        }
        for position in 0..found.lift.len() {
            if let Some(of) = self.position(position) {
                found.lift[position] += length * step[of];
            }
        }
    }
}
