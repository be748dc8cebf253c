//! The maximum of the likelihood: by Newton's method, or by EM for many columns.

use super::super::item_prior::ItemPrior;
use super::super::linear::Cholesky;
use super::super::squarem::{Convergence, Progress};
use super::counts::Source;
use super::sums::Sums;
use super::{Credibility, PSEUDO_CLICKS, PositionEffects};
use confidence::math::ln;
use libm::exp;

/// Largest number of steps, and the change of a logarithm at which they end. The Newton step after a
/// change is about its square.
const OF_NEWTON: (usize, f64) = (60, 1e-5);
const OF_EM: (usize, f64) = (1000, 1e-10);

impl<S: Source> Credibility<'_, S> {
    /// Finds the maximum from a point near it, and scales the first column's examination to 1.
    pub(in super::super) fn maximise(
        &self,
        found: &mut PositionEffects,
        item_prior: &ItemPrior,
        trace: bool,
    ) -> Convergence {
        if self.examines {
            found.scale = 0.0;
        }
        let before = found.clone();
        let mut kept = Vec::new();
        let many = self.has_many_columns();
        let matrices = usize::from(!many);
        let mut sums = self.sums(found, &before, item_prior, matrices);
        let (limit, tolerance) = if many { OF_EM } else { OF_NEWTON };
        let mut last = Progress { iterations: 0, log_likelihood: sums.value, change: 0.0 };
        let mut converged = self.n_parameters() == 0;
        while !converged && last.iterations < limit {
            let Some(step) = self.step(found, &sums, item_prior) else { break };
            let mut length = 1.0;
            let next = loop {
                let mut next = found.clone();
                self.go(&mut next, &step, length);
                let of_next = self.sums(&next, &before, item_prior, matrices);
                // Smaller differences are rounding errors.
                if of_next.value >= sums.value - 1e-13 * sums.value.abs() || length < 1e-6 {
                    break (next, of_next);
                }
                length /= 2.0;
            };
            (*found, sums) = next;
            let change = length * step.iter().map(|step| step.abs()).fold(0.0, f64::max);
            last = Progress { iterations: last.iterations + 1, log_likelihood: sums.value, change };
            kept.push(last);
            converged = change <= tolerance;
        }
        if self.examines {
            let first = found.examination.first().copied().unwrap_or(0.0);
            found.examination.iter_mut().for_each(|y| *y -= first);
            found.scale = first;
        }
        if self.has_lift() {
            self.choose_variance(found, &sums);
            let (mut sum, mut all) = (0.0, 0.0);
            for (&position, &(_, impressions)) in self.positions.iter().zip(self.columns) {
                sum += impressions * found.lift[position];
                all += impressions;
            }
            let middle = sum / f64::max(all, f64::MIN_POSITIVE);
            found.lift.iter_mut().for_each(|d| *d -= middle);
        }
        if !trace {
            kept.clear();
        }
        Convergence { converged, last, trace: kept }
    }

    /// A Newton step, or an EM step.
    fn step(&self, found: &PositionEffects, sums: &Sums, item_prior: &ItemPrior) -> Option<Vec<f64>> {
        let n = self.n_parameters();
        if self.has_many_columns() {
            let exposure = self.pseudo_exposure(found, item_prior.mean);
            let columns = found.examination.iter().zip(self.columns).zip(&sums.gradient);
            return Some(
                columns
                    .map(|((&y, of), &gradient)| {
                        let clicks = of.0 + PSEUDO_CLICKS;
                        let expected = clicks - gradient;
                        // The expected clicks include the pseudo-impressions.
                        ln(clicks / expected.max(exposure * exp(y)))
                    })
                    .collect(),
            );
        }
        let mut step = sums.gradient.clone();
        Cholesky::new(n, sums.information.clone())?.solve(&mut step);
        // The quadratic approximation is not valid for long steps.
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
