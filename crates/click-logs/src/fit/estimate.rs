//! A number with its standard error and interval.
//!
//! Standard errors come from the observed information at the maximum, with the prior. Intervals
//! hold the values whose log-likelihood is at most `z^2 / 2` below the maximum. Three shapes of it
//! are used, of which each has the observed information at the estimate:
//!
//! | parameter | shape of the log-likelihood | interval |
//! |---|---|---|
//! | attraction, rates | binomial | `trials d(value, p) <= z^2 / 2`, the Kullback-Leibler bounds |
//! | leaving, satisfaction, continuation | binomial for the prior and certain events, a parabola for hidden ones | to 0 or 1 if the log does not rule it out |
//! | examination, a ratio that may exceed 1 | a parabola in the logarithm | Wald |
//!
//! Wald intervals of probabilities near 0 or 1 miss the truth: neither shape is a parabola in the
//! log-odds there. There is no interval where the log has no information: of a probability of
//! hidden events without any, and of examination with fewer than two clicks at either position
//! ([`super::position_based`]).
//!
//! | here | meaning |
//! |---|---|
//! | `relative` | standard error of the logarithm |
//!
//! Numerics: the normal quantile by Newton's method on `erfc`, to a few units in the last place;
//! ends for hidden events by bisection, to 1e-9. Complexity: constant.

use super::in_order::sum_in_order;
use confidence::math::{ln, sqrt};
pub(crate) use confidence::normal_quantile;
use confidence::{kl_ucb_lower, kl_ucb_upper};
use serde::{Deserialize, Serialize};

/// Halvings of the range of an end of an interval.
const HALVINGS: usize = 30;
/// A smaller share of an information is a rounding error.
const ROUNDING: f64 = 1e-9;

/// An estimated parameter.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The estimate.
    pub value: f64,
    /// Its standard error; 0 for a fixed value. `None` if the information is singular: at 0 and at
    /// 1, and if nothing fixes the scale.
    pub standard_error: Option<f64>,
    /// Ends of the interval.
    pub interval: Option<(f64, f64)>,
}

impl Estimate {
    /// An estimate without standard error.
    pub(crate) fn bare(value: f64) -> Self {
        Self { value, standard_error: None, interval: None }
    }

    /// A probability, from the variance of its logarithm: of as many independent trials as have it.
    pub(crate) fn probability(value: f64, variance_of_ln: Option<f64>, z: f64) -> Self {
        Self::of_logarithm(value, variance_of_ln.filter(|_| value < 1.0), z, |variance| {
            let (trials, level) = ((1.0 - value) / (value * variance), 0.5 * z * z);
            (kl_ucb_lower(value, trials, level), kl_ucb_upper(value, trials, level))
        })
    }

    /// A positive number, from the variance of its logarithm and the interval given it.
    fn of_logarithm(
        value: f64,
        variance: Option<f64>,
        z: f64,
        interval: impl FnOnce(f64) -> (f64, f64),
    ) -> Self {
        let is_known = |variance: &f64| variance.is_finite() && *variance >= 0.0 && z > 0.0 && value > 0.0;
        variance.filter(is_known).map_or(Self::bare(value), |variance| Self {
            value,
            standard_error: Some(value * sqrt(variance)),
            interval: Some(interval(variance)),
        })
    }

    /// A probability that hidden events tell of, from its variance. `known` are the prior and
    /// certain events, `[successes, failures]`; the log-likelihood of hidden events is a parabola,
    /// whose maximum may lie outside of 0 and 1. No interval if there is nothing but a prior of
    /// `strength`.
    pub(crate) fn hidden(value: f64, variance: f64, known: [f64; 2], strength: f64, z: f64) -> Self {
        let [successes, failures] = known;
        let of_known = curvature(successes, failures, value);
        let rest = 1.0 / variance - of_known;
        let by_known = Self::probability(value, Some(variance / (value * value)), z);
        let tells = ROUNDING * of_known;
        if by_known.interval.is_none() || rest <= tells {
            let is_prior = rest.abs() <= tells && successes + failures <= strength * (1.0 + ROUNDING);
            return Self { interval: by_known.interval.filter(|_| !is_prior), ..by_known };
        }
        let slope = failures / (1.0 - value) - successes / value;
        let at_value = binomial_log_likelihood(successes, failures, value);
        let is_inside = |at: f64| {
            let (step, of_known) = (at - value, binomial_log_likelihood(successes, failures, at));
            at_value - of_known - step * (slope - 0.5 * rest * step) <= 0.5 * z * z
        };
        let end = |mut outside: f64| {
            let mut inside = if is_inside(outside) { outside } else { value };
            for _ in 0..HALVINGS {
                let middle = inside.midpoint(outside);
                *(if is_inside(middle) { &mut inside } else { &mut outside }) = middle;
            }
            outside
        };
        Self { interval: Some((end(0.0), end(1.0))), ..by_known }
    }

    /// A positive ratio, from the variance of its logarithm.
    pub(crate) fn ratio(value: f64, variance_of_ln: Option<f64>, z: f64) -> Self {
        Self::of_logarithm(value, variance_of_ln, z, |variance| {
            let factor = libm::exp(z * sqrt(variance));
            (value / factor, value * factor)
        })
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

/// Minus the second derivative of a binomial log-likelihood.
pub(super) fn curvature(successes: f64, failures: f64, p: f64) -> f64 {
    let term = |count: f64, p: f64| if count > 0.0 { count / (p * p) } else { 0.0 };
    term(successes, p) + term(failures, 1.0 - p)
}

/// The log-likelihood of these successes and failures; a count of 0 contributes 0.
#[inline]
pub(crate) fn binomial_log_likelihood(successes: f64, failures: f64, probability: f64) -> f64 {
    let term = |count: f64, p: f64| if count > 0.0 { count * ln(p) } else { 0.0 };
    term(successes, probability) + term(failures, 1.0 - probability)
}

pub(super) fn binomial_log_likelihoods(successes: &[f64], failures: &[f64], parameters: &[f64]) -> f64 {
    let term = |place| binomial_log_likelihood(successes[place], failures[place], parameters[place]);
    sum_in_order(parameters.len(), term)
}

#[cfg(test)]
mod tests;
