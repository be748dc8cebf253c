//! Means, standard errors and quantiles over replications.
//!
//! Sums are taken in the order of the replications, so the bits of a summary depend only on the
//! data.

use num_traits::ToPrimitive as _;

/// Summary statistics of a sample of replications.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Summary {
    /// Mean.
    pub mean: f64,
    /// Standard error of the mean; NaN for a single replication, whose spread is unknown.
    pub standard_error: f64,
    /// Smallest value.
    pub min: f64,
    /// Largest value.
    pub max: f64,
    /// First decile.
    pub q10: f64,
    /// Last decile.
    pub q90: f64,
}

impl Summary {
    /// Summarises a sample; `None` if it is empty.
    ///
    /// # Examples
    ///
    /// ```
    /// let summary = sim::Summary::of(&[1.0, 2.0, 3.0, 4.0]).expect("not empty");
    /// assert_eq!(summary.mean, 2.5);
    /// // Squared deviations 2.25 + .25 + .25 + 2.25 = 5; 5 / 3 / 4.
    /// assert!((summary.standard_error - (5.0_f64 / 12.0).sqrt()).abs() < 1e-15);
    /// // Position 0.3 between 1 and 2.
    /// assert!((summary.q10 - 1.3).abs() < 1e-15);
    /// ```
    pub fn of(sample: &[f64]) -> Option<Self> {
        if sample.is_empty() {
            return None;
        }
        let mut sorted = sample.to_vec();
        sorted.sort_by(f64::total_cmp);
        let (mean, standard_error) = mean_and_error(sample);
        Some(Self {
            mean,
            standard_error,
            min: sorted[0],
            max: sorted[sorted.len() - 1],
            q10: quantile(&sorted, 0.1),
            q90: quantile(&sorted, 0.9),
        })
    }
}

/// Mean of a sample and its standard error. NaN for an empty sample; the error of a single value is
/// NaN, since nothing is known of it.
///
/// # Examples
///
/// ```
/// assert_eq!(sim::mean_and_error(&[1.0, 3.0]), (2.0, 1.0));
/// ```
pub fn mean_and_error(sample: &[f64]) -> (f64, f64) {
    let n = sample.len() as f64;
    let mean = sample.iter().sum::<f64>() / n;
    let squares: f64 = sample.iter().map(|value| (value - mean) * (value - mean)).sum();
    (mean, (squares / (n - 1.0) / n).sqrt())
}

/// Quantile of an increasing sample, by linear interpolation (type 7 of Hyndman and Fan 1996).
///
/// # Panics
///
/// If the sample is empty.
///
/// # Examples
///
/// ```
/// assert_eq!(sim::quantile(&[1.0, 2.0, 4.0], 0.75), 3.0);
/// ```
pub fn quantile(sorted: &[f64], probability: f64) -> f64 {
    let place = (sorted.len() - 1) as f64 * probability;
    let below = place.to_usize().unwrap_or(0);
    let above = (below + 1).min(sorted.len() - 1);
    sorted[below] + (place - below as f64) * (sorted[above] - sorted[below])
}

#[cfg(test)]
mod tests;
