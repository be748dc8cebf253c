//! Binomial and multinomial variates with the same bits on every machine.
//!
//! A small number of trials is drawn one by one. If few successes (or failures) are expected, the
//! distribution function is inverted from 0 upwards. Otherwise, transformed rejection is used.
//!
//! Reference: Hormann, *The generation of binomial random variates*, J. Stat. Comput. Simul. 46,
//! 1993, algorithm BTRS. Deviations: none.
//!
//! Numerics: `libm` and our own logarithm. The acceptance test compares logarithms of the order of
//! `trials` times rounding, below 1e-8 for 10^7 trials and about 1e-3 for 10^13. Complexity:
//! constant; one to two pairs of draws from 10 expected successes on.

use confidence::math::{ln, stirling_error};
use num_traits::ToPrimitive as _;
use rand::{Rng, RngExt};

/// Up to this number, trials are drawn one by one.
const FEW_TRIALS: u64 = 16;
/// Rejection is used from this number of expected successes; it is not valid below.
const MANY: f64 = 10.0;

/// Number of successes in `trials` independent trials with probability `success`, from 0 to 1.
pub(crate) fn binomial<R: Rng + ?Sized>(trials: u64, success: f64, rng: &mut R) -> u64 {
    if success > 0.5 {
        return trials - binomial_of_rare(trials, 1.0 - success, rng);
    }
    binomial_of_rare(trials, success, rng)
}

/// [`binomial`] for probabilities up to a half.
fn binomial_of_rare<R: Rng + ?Sized>(trials: u64, success: f64, rng: &mut R) -> u64 {
    if success <= 0.0 {
        return 0;
    }
    if trials <= FEW_TRIALS {
        return (0..trials).filter(|_| rng.random::<f64>() < success).count() as u64;
    }
    if trials as f64 * success < MANY {
        return walk(trials, success, rng);
    }
    transformed_rejection(trials, success, rng)
}

/// Inversion from 0 upwards.
fn walk<R: Rng + ?Sized>(trials: u64, success: f64, rng: &mut R) -> u64 {
    let odds = success / (1.0 - success);
    // At least exp(-14): fewer than ten successes are expected, at odds of at most 1.
    let none = libm::exp(trials as f64 * libm::log1p(-success));
    loop {
        let mut left = rng.random::<f64>();
        let mut mass = none;
        let mut count = 0;
        while left >= mass {
            if count == trials {
                break;
            }
            left -= mass;
            mass *= odds * (trials - count) as f64 / (count + 1) as f64;
            count += 1;
            // The masses have underflowed to 0, so their sum falls short of 1 by rounding.
            if mass < 1e-300 {
                break;
            }
        }
        if left < mass {
            return count;
        }
    }
}

/// Algorithm BTRS.
fn transformed_rejection<R: Rng + ?Sized>(trials: u64, success: f64, rng: &mut R) -> u64 {
    let n = trials as f64;
    let odds = success / (1.0 - success);
    let deviation = (n * success * (1.0 - success)).sqrt();
    let b = 1.15 + 2.53 * deviation;
    let a = -0.0873 + 0.0248 * b + 0.01 * success;
    let centre = n * success + 0.5;
    let squeeze = 0.92 - 4.2 / b;
    let alpha = (2.83 + 5.1 / b) * deviation;
    let mode = ((n + 1.0) * success).floor();
    loop {
        let u = rng.random::<f64>() - 0.5;
        let v = rng.random::<f64>();
        let us = 0.5 - u.abs();
        let k = ((2.0 * a / us + b) * u + centre).floor();
        let accepted = if us >= 0.07 && v <= squeeze {
            true
        } else if !(0.0..=n).contains(&k) {
            false
        } else {
            let scaled = v * alpha / (a / (us * us) + b);
            let bound = (mode + 0.5) * ln((mode + 1.0) / (odds * (n - mode + 1.0)))
                + (n + 1.0) * ln((n - mode + 1.0) / (n - k + 1.0))
                + (k + 0.5) * ln(odds * (n - k + 1.0) / (k + 1.0))
                + (stirling_error(mode + 1.0) + stirling_error(n - mode + 1.0))
                - (stirling_error(k + 1.0) + stirling_error(n - k + 1.0));
            // A product of 0 has the logarithm -inf, which is always accepted.
            scaled <= 0.0 || ln(scaled) <= bound
        };
        if accepted {
            return k.max(0.0).to_u64().unwrap_or(trials);
        }
    }
}

/// Distributes `trials` over categories with these weights, in order.
pub(crate) fn multinomial<R: Rng + ?Sized>(trials: u64, weights: &[u64], rng: &mut R, counts: &mut Vec<u64>) {
    counts.clear();
    let mut left = trials;
    let mut weight_left: u64 = weights.iter().sum();
    for &weight in weights {
        let count = if weight == weight_left {
            left
        } else {
            binomial(left, weight as f64 / weight_left as f64, rng)
        };
        counts.push(count);
        left -= count;
        weight_left -= weight;
    }
}

#[cfg(test)]
mod tests;
