//! The maximum of the likelihood, by Newton's method or by EM for many columns; the variance of the
//! walk; covariances of examination.

use super::super::item_prior::ItemPrior;
use super::super::linear::Cholesky;
use super::super::squarem::Convergence;
use super::sums::Sums;
use super::{Credibility, PSEUDO_CLICKS, PositionEffects};
use confidence::math::ln;
use libm::exp;

/// Largest number of Newton steps, and of EM steps.
const STEPS: usize = 60;
const EM_STEPS: usize = 1000;
/// Stops with a step that changes no logarithm by more, or by more than what ends alternations. A
/// Newton step leaves an error of about its square, unless examination is estimated from few
/// clicks.
const TOLERANCE: f64 = 1e-5;
const TOLERANCE_OF_EXAMINATION: f64 = 1e-10;
/// The tolerance of examination in that of alternations, if those stop early.
const SHARE_OF_TOLERANCE: f64 = 1e-4;
/// Candidates for the variance of the walk, per unit of the logarithm of rank. The first one means
/// random order.
pub(super) const VARIANCES: [f64; 12] = [1e-4, 1e-3, 4e-3, 0.016, 0.06, 0.12, 0.25, 0.5, 1.0, 2.0, 4.0, 16.0];
/// Logarithm of the prior odds of random order if clicks hardly determine the lifts: ten to one
/// against each other variance.
const ODDS_OF_RANDOM_ORDER: f64 = std::f64::consts::LN_10;
/// Clicks hardly determine a lift if its logarithm has a larger variance than this, which is that
/// of the logarithm of 20 clicks.
const HARDLY_DETERMINED: f64 = 0.05;
/// Precision of an unknown starting value.
const ANYWHERE: f64 = 1e-3;
/// The probability that lists are ranked although random order was chosen. Clicks never tell random
/// order from the smallest lifts.
const DOUBT: f64 = 0.5;

impl Credibility<'_> {
    /// Finds the maximum from a point near it, and scales the first column's examination to 1.
    pub(in super::super) fn maximise(
        &self,
        found: &mut PositionEffects,
        item_prior: &ItemPrior,
    ) -> Convergence {
        if self.examines {
            found.scale = 0.0;
        }
        let many = self.has_many_columns();
        let matrices = usize::from(!many);
        let mut sums = self.sums(found, None, item_prior, matrices);
        let lifts = std::mem::take(&mut sums.lifts);
        let limit = if many { EM_STEPS } else { STEPS };
        let of_examination = TOLERANCE_OF_EXAMINATION.max(SHARE_OF_TOLERANCE * self.tolerance);
        let tolerance = if self.examines { of_examination } else { TOLERANCE.max(self.tolerance) };
        let mut iterations = 0;
        let mut converged = self.n_parameters() == 0;
        while !converged && iterations < limit {
            let Some(step) = self.step(found, &sums, item_prior) else { break };
            let longest = step.iter().map(|step| step.abs()).fold(0.0, f64::max);
            let mut length = 1.0;
            let next = loop {
                let mut next = found.clone();
                self.go(&mut next, &step, length);
                if longest <= tolerance {
                    // The derivatives at the end are those before the step.
                    break (next, sums);
                }
                let of_next = self.sums(&next, Some(&lifts), item_prior, matrices);
                // Smaller differences are rounding errors.
                if of_next.value >= sums.value - 1e-13 * sums.value.abs() || length < 1e-6 {
                    break (next, of_next);
                }
                length /= 2.0;
            };
            (*found, sums) = next;
            iterations += 1;
            converged = length * longest <= tolerance;
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
        Convergence { converged, iterations, log_likelihood: sums.value }
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

    /// Chooses the variance of the walk that maximises the probability of the clicks, with
    /// examination eliminated, by a quadratic approximation in the lifts.
    pub(super) fn choose_variance(&self, found: &mut PositionEffects, sums: &Sums) {
        let n = self.n_parameters();
        let columns = if self.examines { self.columns.len() } else { 0 };
        let m = n - columns;
        let entry = |a: usize, b: usize| sums.information[a * n + b];
        let walk = |variance: f64| {
            let mut precision = vec![0.0; m * m];
            for position in 1..found.lift.len() {
                let of_step = 1.0 / (variance * step_of_rank(position));
                let ends = [(self.position(position - 1), -1.0), (self.position(position), 1.0)];
                for (a, sign) in ends.iter().filter_map(|&(end, sign)| Some((end? - columns, sign))) {
                    for (b, other) in ends.iter().filter_map(|&(end, sign)| Some((end? - columns, sign))) {
                        precision[a * m + b] += sign * other * of_step;
                    }
                }
            }
            precision
        };
        let now = walk(found.variance);
        let of_columns: Vec<f64> =
            (0..columns).flat_map(|a| (0..columns).map(move |b| entry(a, b))).collect();
        let Some(of_columns) = Cholesky::new(columns, of_columns) else { return };
        let mut information: Vec<f64> =
            (0..m * m).map(|place| entry(columns + place / m, columns + place % m) - now[place]).collect();
        for b in 0..m {
            let mut solved: Vec<f64> = (0..columns).map(|a| entry(a, columns + b)).collect();
            of_columns.solve(&mut solved);
            for a in 0..m {
                let cross: f64 = solved.iter().enumerate().map(|(c, x)| x * entry(c, columns + a)).sum();
                information[a * m + b] -= cross;
            }
        }
        // The gradient of the quadratic approximation at 0.
        let (fixed, lift) = found.lift.split_at(found.lift.len() - m);
        let origin = fixed.first().copied().unwrap_or(0.0);
        let gradient: Vec<f64> = (0..m)
            .map(|a| (0..m).map(|b| (information[a * m + b] + now[a * m + b]) * (lift[b] - origin)).sum())
            .collect();
        let evidence = |&variance: &f64| {
            let mut prior = walk(variance);
            // The start of the walk is unknown.
            if !self.examines {
                prior[0] += ANYWHERE;
            }
            let posterior: Vec<f64> = information.iter().zip(&prior).map(|(a, b)| a + b).collect();
            let [prior, posterior] = [prior, posterior].map(|matrix| Cholesky::new(m, matrix));
            let (Some(prior), Some(posterior)) = (prior, posterior) else { return f64::NEG_INFINITY };
            prior.half_ln_determinant() - posterior.half_ln_determinant()
                + 0.5 * posterior.form(&mut gradient.clone())
        };
        // If clicks determine the lifts, the more probable order wins. Odds would then take a weak
        // ranking for random order: its lifts would count as examination, and the intervals of
        // examination would miss the truth.
        let are_determined = || {
            let variances = Cholesky::new(m, information.clone()).map(|factor| factor.inverse_diagonal());
            variances.is_some_and(|variances| variances.iter().all(|variance| *variance <= HARDLY_DETERMINED))
        };
        found.tells_lifts = self.examines && are_determined();
        let odds = if self.examines && !found.tells_lifts { ODDS_OF_RANDOM_ORDER } else { 0.0 };
        let mut best = (VARIANCES[0], evidence(&VARIANCES[0]) + odds);
        for variance in &VARIANCES[1..] {
            let evidence = evidence(variance);
            if evidence > best.1 {
                best = (*variance, evidence);
            }
        }
        found.variance = best.0;
    }

    /// Covariances of the logarithms of examination; 0 for the first column. `None` if the
    /// information matrix is singular.
    pub(in super::super) fn covariances(
        &self,
        found: &PositionEffects,
        item_prior: &ItemPrior,
    ) -> Option<Vec<f64>> {
        if let Some(within) = self.within(found) {
            return within.covariances(found, item_prior);
        }
        let columns = self.columns.len();
        if !self.examines || self.has_many_columns() {
            return None;
        }
        let n = self.n_parameters();
        let mut sums = self.sums(found, None, item_prior, 2);
        // Unbiased estimates from few clicks may not form a positive definite matrix. The variance
        // of Poisson clicks does, and is an upper bound.
        if !self.trusts_means && Cholesky::new(n, sums.variance.clone()).is_none() {
            sums.variance.clone_from(&sums.information);
        }
        let factor = Cholesky::new(n, sums.information)?;
        // For ratios to the first column: differences of rows of the inverse.
        let row = |column: usize| {
            let mut row = vec![0.0; n];
            row[column] += 1.0;
            row[0] -= 1.0;
            factor.solve(&mut row);
            row
        };
        let rows: Vec<Vec<f64>> = (0..columns).map(row).collect();
        let times = |row: &Vec<f64>| -> Vec<f64> {
            (0..n).map(|a| (0..n).map(|b| sums.variance[a * n + b] * row[b]).sum()).collect()
        };
        let products: Vec<Vec<f64>> = rows.iter().map(times).collect();
        let covariance =
            |a: usize, b: usize| -> f64 { rows[a].iter().zip(&products[b]).map(|(x, y)| x * y).sum() };
        let covariances =
            (0..columns * columns).map(|place| covariance(place / columns, place % columns)).collect();
        Some(self.with_doubt(found, item_prior, covariances))
    }

    /// Covariances if the lists may be ranked after all: the mean of these covariances and of those
    /// of the estimate for ranked lists, plus the products of the differences of the two estimates.
    /// Intervals would otherwise ignore that the clicks chose between the two.
    fn with_doubt(
        &self,
        found: &PositionEffects,
        item_prior: &ItemPrior,
        mut covariances: Vec<f64>,
    ) -> Vec<f64> {
        if !self.has_lift() || !found.tells_lifts {
            return covariances;
        }
        let (of_ranked_lists, mut other) = (self.of_ranked_lists(), found.clone());
        of_ranked_lists.maximise(&mut other, item_prior);
        if let Some(of_other) = of_ranked_lists.covariances(&other, item_prior) {
            let columns = self.columns.len();
            let apart = |column: usize| other.examination[column] - found.examination[column];
            for (at, (covariance, of_other)) in covariances.iter_mut().zip(of_other).enumerate() {
                let bias = apart(at / columns) * apart(at % columns);
                *covariance = (1.0 - DOUBT) * *covariance + DOUBT * (of_other + bias);
            }
        }
        covariances
    }
}

/// The logarithm of the ratio of the rank of a position to that of the one above it.
pub(super) fn step_of_rank(position: usize) -> f64 {
    ln((position + 1) as f64 / position as f64)
}
