//! Covariances of examination.

use super::super::item_prior::ItemPrior;
use super::super::linear::Cholesky;
use super::counts::Source;
use super::{Credibility, PositionEffects};

/// The probability that lists are ranked although random order was chosen. Clicks never tell random order from the smallest lifts.
const DOUBT: f64 = 0.5;

impl<S: Source> Credibility<'_, S> {
    /// Covariances of the logarithms of examination; 0 for the first column. `None` if the information matrix is singular.
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
        let mut sums = self.sums(found, found, item_prior, 2);
        // Unbiased estimates from few clicks may not form a positive definite matrix. The variance of Poisson clicks does, and is an
        // upper bound.
        if !self.trusts_means && Cholesky::new(n, sums.variance.clone()).is_none() {
            sums.variance.clone_from(&sums.information);
        }
        let factor = Cholesky::new(n, sums.information)?;
        // Of ratios to the first column: differences of rows of the inverse.
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
        let covariances = (0..columns * columns).map(|at| covariance(at / columns, at % columns)).collect();
        Some(self.with_doubt(found, item_prior, covariances))
    }

    /// Covariances if the lists may be ranked after all: the mean of these covariances and of those of the estimate for ranked lists, plus
    /// the products of the differences of the two estimates. Intervals would otherwise ignore that the clicks chose between the two.
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
        of_ranked_lists.maximise(&mut other, item_prior, false);
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
