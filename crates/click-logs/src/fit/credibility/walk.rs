//! The random walk of lifts over the logarithm of rank.

use super::super::linear::Cholesky;
use super::counts::Source;
use super::sums::Sums;
use super::{Credibility, PositionEffects};
use confidence::math::ln;

/// Candidates for the variance of the walk, per unit of the logarithm of rank. The first one means random order.
pub(super) const VARIANCES: [f64; 12] = [1e-4, 1e-3, 4e-3, 0.016, 0.06, 0.12, 0.25, 0.5, 1.0, 2.0, 4.0, 16.0];
/// Logarithm of the prior odds of random order if clicks hardly determine the lifts: ten to one against each other variance.
const ODDS_OF_RANDOM_ORDER: f64 = std::f64::consts::LN_10;
/// Clicks hardly determine a lift if its logarithm has a larger variance than this, which is that of the logarithm of 20 clicks.
const HARDLY_DETERMINED: f64 = 0.05;
/// Precision of an unknown starting value.
const ANYWHERE: f64 = 1e-3;

impl<S: Source> Credibility<'_, S> {
    /// Chooses the variance of the walk that maximises the probability of the clicks, with examination eliminated, by a quadratic
    /// approximation in the lifts.
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
            (0..m * m).map(|at| entry(columns + at / m, columns + at % m) - now[at]).collect();
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
        // If clicks determine the lifts, the more probable order wins. Odds would then take a weak ranking for random order: its lifts
        // would count as examination, and the intervals of examination would miss the truth.
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
}

/// The logarithm of the ratio of the rank of a position to that of the one above it.
pub(super) fn step_of_rank(position: usize) -> f64 {
    ln((position + 1) as f64 / position as f64)
}
