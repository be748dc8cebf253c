//! A number with its standard error and interval.
//!
//! Standard errors come from the observed information at the maximum, with the prior. Intervals are Wald intervals on a scale where the
//! likelihood is nearly quadratic: log-odds for probabilities, and logarithms for examination, which is a ratio and may exceed 1.
//!
//! | here | meaning |
//! |---|---|
//! | `relative` | standard error of the logarithm |
//!
//! Numerics: the normal quantile by Newton's method on `erfc`, to a few units in the last place. Complexity: constant.

use confidence::math::ln;
use confidence::math::sqrt;

/// An estimated parameter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The estimate.
    pub value: f64,
    /// Its standard error; 0 for a fixed value. `None` if the information is singular: at 0 and at 1, and if nothing fixes the
    /// scale.
    pub standard_error: Option<f64>,
    /// Ends of the interval.
    pub interval: Option<(f64, f64)>,
}

impl Estimate {
    /// An estimate without standard error.
    pub(crate) fn bare(value: f64) -> Self {
        Self { value, standard_error: None, interval: None }
    }

    /// A probability, from the variance of its logarithm.
    pub(crate) fn probability(value: f64, variance_of_ln: Option<f64>, z: f64) -> Self {
        let inside = value > 0.0 && value < 1.0;
        match variance_of_ln.filter(|variance| inside && variance.is_finite() && *variance >= 0.0) {
            None => Self::bare(value),
            Some(variance) => {
                let relative = sqrt(variance);
                // The derivative of the log-odds by the logarithm is 1 / (1 - value).
                let odds = value / (1.0 - value);
                let factor = libm::exp(z * relative / (1.0 - value));
                let (low, high) = (odds / factor, odds * factor);
                let upper = if high.is_finite() { high / (1.0 + high) } else { 1.0 };
                Self {
                    value,
                    standard_error: Some(value * relative),
                    interval: Some((low / (1.0 + low), upper)),
                }
            }
        }
    }

    /// A positive ratio, from the variance of its logarithm.
    pub(crate) fn ratio(value: f64, variance_of_ln: Option<f64>, z: f64) -> Self {
        match variance_of_ln.filter(|variance| value > 0.0 && variance.is_finite() && *variance >= 0.0) {
            None => Self::bare(value),
            Some(variance) => {
                let relative = sqrt(variance);
                let factor = libm::exp(z * relative);
                Self {
                    value,
                    standard_error: Some(value * relative),
                    interval: Some((value / factor, value * factor)),
                }
            }
        }
    }

    /// The mean of independent trials, prior included: `clicks` of `trials`.
    pub(crate) fn share(clicks: f64, trials: f64, z: f64) -> Self {
        if trials > 0.0 {
            let value = clicks / trials;
            Self::probability(value, Some((1.0 - value) / clicks), z)
        } else {
            Self::bare(f64::NAN)
        }
    }

    /// Whether the interval contains this number.
    pub fn covers(&self, value: f64) -> bool {
        self.interval.is_some_and(|(low, high)| low <= value && value <= high)
    }
}

/// Number of standard errors from the estimate to each end of an interval of this level.
pub(crate) fn normal_quantile(level: f64) -> f64 {
    // erfc(z / sqrt 2) = 1 - level is convex and falls for z > 0, so Newton's method from the left never overshoots.
    let tail = 1.0 - level;
    let mut z = 0.0_f64;
    for _ in 0..200 {
        let scaled = z * std::f64::consts::FRAC_1_SQRT_2;
        let density = 2.0 / sqrt(2.0 * std::f64::consts::PI) * libm::exp(-scaled * scaled);
        let step = (libm::erfc(scaled) - tail) / density;
        z += step;
        if step <= 1e-15 * z {
            break;
        }
    }
    z
}

/// The log-likelihood of these successes and failures; a count of 0 contributes 0.
#[inline]
pub(crate) fn binomial_log_likelihood(successes: f64, failures: f64, probability: f64) -> f64 {
    let term = |count: f64, p: f64| if count > 0.0 { count * ln(p) } else { 0.0 };
    term(successes, probability) + term(failures, 1.0 - probability)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normal_quantiles_are_the_tabulated_ones() {
        for (level, z) in
            [(0.95, 1.959_963_984_540_054), (0.5, 0.674_489_750_196_081_7), (0.999, 3.290_526_731_491_895)]
        {
            assert!((normal_quantile(level) - z).abs() < 1e-12, "{level}");
        }
    }

    #[test]
    fn a_share_has_the_hand_computed_error_and_interval() {
        // 20 of 100: standard error sqrt(.2 * .8 / 100) = .04; on the log-odds 1 / sqrt(100 * .2 * .8) = .25.
        let share = Estimate::share(20.0, 100.0, 1.0);
        assert!((share.standard_error.unwrap() - 0.04).abs() < 1e-15);
        let odds = 0.25 * libm::exp(0.25);
        assert!((share.interval.unwrap().1 - odds / (1.0 + odds)).abs() < 1e-15);
        assert!(share.covers(0.2) && !share.covers(0.3));
        assert_eq!(Estimate::share(0.0, 10.0, 1.0).interval, None);
    }
}
