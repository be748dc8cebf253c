//! Beta posteriors of items, as they are drawn and thinned.
//!
//! After `s` successes and `f` failures an item has the posterior Beta(`s + 1`, `f + 1`), with
//! density `p`. In terms of `y = ln((1 - tau) / (1 - x))` its logarithm is concave. Above a
//! threshold `tau` the density is therefore below its tangent there,
//!
//! ```text
//! p(x) <= p(tau) ((1 - x) / (1 - tau))^(c - 1),      c = f + 1 - s (1 - tau) / tau
//! ```
//!
//! whose mass is `q = p(tau) (1 - tau) / c`, if `c > 0`. A draw of this envelope is
//! `1 - x = (1 - tau) exp(-E / c)` with an exponential `E`. It is accepted with probability
//! `exp(s (ln(x / tau) - (1 - tau) / tau y))`. Without successes the envelope is the density
//! itself. Without failures `P(X > tau) = 1 - tau^(s + 1)`, and a draw above `tau` is
//! `(1 - q U)^(1 / (s + 1))`.
//!
//! A prior Beta(`a`, `b`) adds `a - 1` to `s` and `b - 1`, which is at least 0, to `f`. While `s`
//! is negative, `x^s` falls: above the threshold the density is below its factor of failures,
//!
//! ```text
//! p(x) <= p(tau) ((1 - x) / (1 - tau))^(c - 1),      c = f + 1
//! ```
//!
//! and a draw is accepted with probability `(x / tau)^s`. Then `p(tau)` comes from the density
//! after another success, which is `p(tau) tau (s + f + 2) / (s + 1)`.
//!
//! Numerics: `p(tau)` from a product of `s + 1` factors up to 12 successes, and above, or if `s` is
//! not whole, by Stirling's formula (Loader 2000), with relative errors of about 1e-12 in both
//! cases.

use super::thinning::{Posteriors, Threshold, exponential};
use super::{BetaShape, Sampler, draw_beta};
use crate::Prior;
use crate::touched::touch;
use confidence::math::{ln, ln_1p, relative_entropy, stirling_error};
use rand::{Rng, RngExt};

/// Successes and failures of an item.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Evidence {
    /// Above -1; below 0 only by a prior.
    pub(crate) successes: f64,
    pub(crate) failures: f64,
}

#[derive(Debug, Clone)]
pub(crate) struct BetaPosteriors {
    prior: Prior,
    evidence: Vec<Evidence>,
    /// Of items with a negative number of successes, those of none.
    shapes: Vec<BetaShape>,
}

impl BetaPosteriors {
    /// After these successes and failures of every item, from a uniform prior.
    pub(crate) fn new(counts: impl Iterator<Item = (f64, f64)>) -> Self {
        Self::with_prior(Prior::UNIFORM, counts)
    }

    /// After these successes and failures of every item.
    pub(crate) fn with_prior(prior: Prior, counts: impl Iterator<Item = (f64, f64)>) -> Self {
        let mut posteriors = Self { prior, evidence: vec![], shapes: vec![] };
        counts.for_each(|seen| posteriors.push(seen));
        posteriors
    }

    /// Adds an item.
    pub(crate) fn push(&mut self, seen: (f64, f64)) {
        self.evidence.push(Evidence { successes: 0.0, failures: 0.0 });
        self.shapes.push(BetaShape::after(0.0, 0.0));
        self.set(self.shapes.len() - 1, seen);
    }

    pub(crate) fn set(&mut self, item: usize, (successes, failures): (f64, f64)) {
        let (successes, failures) = (successes + self.prior.clicks(), failures + self.prior.failures());
        self.evidence[item] = Evidence { successes, failures };
        self.shapes[item] = BetaShape::after(if successes > 0.0 { successes } else { 0.0 }, failures);
    }
}

impl Posteriors for BetaPosteriors {
    fn n_items(&self) -> usize {
        self.shapes.len()
    }

    #[inline]
    fn draw<R: Rng + ?Sized>(&self, item: usize, sampler: Sampler, rng: &mut R) -> f64 {
        touch();
        if self.prior.a() < 1.0 && self.evidence[item].successes < 0.0 {
            return self.evidence[item].draw_below_0(rng);
        }
        sampler.beta(self.shapes[item], rng)
    }

    #[inline]
    fn bound(&self, item: usize, threshold: &Threshold) -> f64 {
        touch();
        self.evidence[item].bound(threshold)
    }

    fn draw_above<R: Rng + ?Sized>(
        &self,
        item: usize,
        threshold: &Threshold,
        least: f64,
        rng: &mut R,
    ) -> Option<f64> {
        self.evidence[item].draw_above(threshold, least, rng)
    }

    fn chance(&self, item: usize, threshold: &Threshold) -> f64 {
        self.evidence[item].chance(threshold)
    }

    fn hash(&self, item: usize) -> u64 {
        touch();
        let Evidence { successes, failures } = self.evidence[item];
        successes.to_bits() ^ failures.to_bits().rotate_left(32)
    }

    fn is_like(&self, item: usize, other: usize) -> bool {
        self.evidence[item] == self.evidence[other]
    }
}

impl Evidence {
    /// A draw after fewer than 0 successes. Not inlined, so that other draws are not slower.
    #[cold]
    #[inline(never)]
    fn draw_below_0<R: Rng + ?Sized>(self, rng: &mut R) -> f64 {
        draw_beta(self.successes + 1.0, self.failures + 1.0, rng)
    }

    /// The exponent `c` of the envelope.
    fn exponent(self, threshold: &Threshold) -> f64 {
        self.failures + 1.0 - self.successes.max(0.0) * threshold.odds
    }

    /// The mass of the envelope.
    #[inline]
    pub(crate) fn bound(self, threshold: &Threshold) -> f64 {
        if self.successes == 0.0 {
            return libm::exp((self.failures + 1.0) * threshold.ln_miss);
        }
        if self.failures == 0.0 {
            return -libm::expm1((self.successes + 1.0) * threshold.ln_value);
        }
        let exponent = self.exponent(threshold);
        if exponent <= 0.0 { 1.0 } else { self.density(threshold) * threshold.miss / exponent }
    }

    /// The density at the threshold, with successes and failures.
    #[inline]
    fn density(self, threshold: &Threshold) -> f64 {
        self.density_times(threshold, 0.0)
    }

    /// The density at the threshold, times the exponential of `logarithm`.
    #[inline]
    pub(crate) fn density_times(self, threshold: &Threshold, logarithm: f64) -> f64 {
        const FACTORIALS: [f64; 13] = [
            1.0,
            1.0,
            2.0,
            6.0,
            24.0,
            120.0,
            720.0,
            5_040.0,
            40_320.0,
            362_880.0,
            3_628_800.0,
            39_916_800.0,
            479_001_600.0,
        ];
        let Self { successes, failures } = self;
        if successes < 0.0 {
            let after = Self { successes: successes + 1.0, failures };
            let factor = (successes + 1.0) / (threshold.value * (successes + failures + 2.0));
            return factor * after.density_times(threshold, logarithm);
        }
        if successes > 12.0 || successes.fract() != 0.0 {
            return self.density_by_stirling(threshold, logarithm);
        }
        // (s + f + 1)! / (s! f!), in s + 1 factors.
        let mut product = failures + 1.0;
        let mut factor = failures + 2.0;
        let last = failures + successes + 1.5;
        while factor < last {
            product *= factor;
            factor += 1.0;
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 12")]
        let factorial = FACTORIALS[successes as usize];
        let powers = successes * threshold.ln_value + failures * threshold.ln_miss;
        product / factorial * libm::exp(powers + logarithm)
    }

    #[inline]
    fn density_by_stirling(self, threshold: &Threshold, logarithm: f64) -> f64 {
        let Self { successes, failures } = self;
        let n = successes + failures;
        let (expected, expected_failures) = (n * threshold.value, n * threshold.miss);
        let deviance = relative_entropy(successes, expected, expected - successes)
            + relative_entropy(failures, expected_failures, expected_failures - failures);
        let correction = stirling_error(n) - stirling_error(successes) - stirling_error(failures);
        let scale = n / (2.0 * core::f64::consts::PI * successes * failures);
        (n + 1.0) * scale.sqrt() * libm::exp(correction - deviance + logarithm)
    }

    #[inline]
    pub(crate) fn draw_above<R: Rng + ?Sized>(
        self,
        threshold: &Threshold,
        least: f64,
        rng: &mut R,
    ) -> Option<f64> {
        let Self { successes, failures } = self;
        if failures == 0.0 {
            let bound = self.bound(threshold);
            return Some(libm::exp(ln_1p(-bound * rng.random::<f64>()) / (successes + 1.0)));
        }
        let exponent = self.exponent(threshold);
        let distance = exponential(rng) / exponent;
        // 1 - x = (1 - tau) (1 - share).
        let share = -libm::expm1(-distance);
        let draw = threshold.value + threshold.miss * share;
        if draw < least {
            return None;
        }
        if successes == 0.0 {
            return Some(draw);
        }
        // Without a tangent if the power of x falls.
        let tangent = if successes > 0.0 { threshold.odds * distance } else { 0.0 };
        let log_ratio = successes * (ln_1p(threshold.odds * share) - tangent);
        let uniform = 1.0 - rng.random::<f64>();
        // The exponential is above its tangent.
        (uniform <= 1.0 + log_ratio || ln(uniform) <= log_ratio).then_some(draw)
    }

    /// By the normal distribution with the same mean and variance.
    pub(crate) fn chance(self, threshold: &Threshold) -> f64 {
        let (a, b) = (self.successes + 1.0, self.failures + 1.0);
        let mean = a / (a + b);
        let deviation = (mean * (1.0 - mean) / (a + b + 1.0)).sqrt();
        0.5 * libm::erfc((threshold.value - mean) / (deviation * core::f64::consts::SQRT_2))
    }
}

#[cfg(test)]
mod tests;
