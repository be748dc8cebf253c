//! Bounds of the upper tail of an item's exact posterior, `h(theta) / Z` with
//! `h(theta) = theta^S prod_l (1 - kappa_l theta)^{F_l}`.
//!
//! *Above a threshold* `tau`. The logarithm of `h` is a concave function of `ln(1 - kappa theta)`,
//! where `kappa` is the least examination of a position with failures. So `h` is below its tangent
//! at `tau`,
//!
//! ```text
//! h(x) <= h(tau) ((1 - kappa x) / (1 - kappa tau))^(c - 1),      c - 1 = r (1 - kappa tau) / kappa
//! r = sum_l F_l kappa_l / (1 - kappa_l tau) - S / tau
//! ```
//!
//! whose mass `M` between `tau` and 1 is known. (`c` may be negative.)
//!
//! *The mass* `Z`. `ln(1 - kappa_l theta)` is a convex function of `ln(1 - theta)`. So `h` is above
//! its tangents at any point `m`,
//!
//! ```text
//! h(theta) >= g(theta) = C theta^S (1 - theta)^b,      b = sum_l F_l kappa_l (1 - m) / (1 - kappa_l m)
//! ```
//!
//! a multiple of a Beta density. Its mass `G` is a good part of `Z` if `m` is near the mode: above
//! .8 for attraction up to .4, whatever the counts.
//!
//! The bound of the tail's probability is `M / G`. A candidate is a draw of the envelope, and two
//! events have to happen: one with the probability of the ratio of `h` to the envelope there, and
//! one with probability `G / Z`, which is the expectation of `g / h` at a draw of the posterior.
//! Together, the candidate is above `tau` with probability `P(X > tau)`.
//!
//! Numerics: the relative error of the bound is about `2^-50` times the counts.

use super::posterior::{DisplaySums, ln_miss};
use crate::sampling::beta_posteriors::Evidence;
use crate::sampling::thinning::Threshold;
use confidence::math::{ln, ln_1p};
use rand::{Rng, RngExt};

/// An envelope with a larger exponent of its rise up to 1 has no mass below 1.
const MOST_RISE: f64 = 2.0;

/// One item.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Tail {
    clicks: f64,
    /// Displays weighted by examination.
    weighted_shows: f64,
    /// `m`, the point of the tangents of `g`.
    point: f64,
    ln_miss_of_point: f64,
    /// `b`, the exponent of `1 - theta` in `g`; 0 without failures.
    exponent: f64,
    /// The least examination of a position with failures; 0 if there is none.
    least_examined: f64,
}

impl Tail {
    /// The tail of an item after what was seen of it, with tangents at this point, where the sum of
    /// `F_l kappa_l / (1 - kappa_l m)` is given.
    pub(super) fn of(seen: &DisplaySums, (point, sum): (f64, f64)) -> Self {
        Self {
            clicks: seen.clicks,
            weighted_shows: seen.weighted_shows,
            point,
            ln_miss_of_point: ln_miss(point),
            exponent: sum * (1.0 - point),
            least_examined: if seen.most > 0.0 { seen.least } else { 0.0 },
        }
    }

    /// Clicks and weighted displays: with the failures, all that the tail depends on.
    pub(super) fn sums(&self) -> [f64; 2] {
        [self.clicks, self.weighted_shows]
    }

    pub(super) fn has_no_failures(&self) -> bool {
        self.least_examined == 0.0
    }

    /// The Beta density that `g` is a multiple of.
    fn evidence(&self) -> Evidence {
        Evidence { successes: self.clicks, failures: self.exponent }
    }

    /// `r`.
    #[inline]
    fn slope(&self, threshold: &Threshold, failures: &[f64], examination: &[f64]) -> f64 {
        let mut slope = -self.clicks / threshold.value;
        for (&failures, examined) in failures.iter().zip(examination) {
            slope += failures * examined / (1.0 - examined * threshold.value);
        }
        slope
    }

    /// `ln(h / g)` at `theta`: 0 at the point of the tangents. `ln(1 - theta)` is also given.
    #[inline]
    fn ln_over_g(&self, theta: f64, ln_miss_of_theta: f64, failures: &[f64], examination: &[f64]) -> f64 {
        let mut sum = self.exponent * (self.ln_miss_of_point - ln_miss_of_theta);
        for (&failures, examined) in failures.iter().zip(examination) {
            if failures > 0.0 {
                sum += failures * ln_miss(examined * (theta - self.point) / (1.0 - examined * self.point));
            }
        }
        sum
    }

    /// `c`, and the rate at which the exponential is cut off: `ln((1 - kappa tau) / (1 - kappa))`.
    #[inline]
    fn envelope(&self, threshold: &Threshold, slope: f64) -> (f64, f64) {
        let examined = self.least_examined;
        let miss = 1.0 - examined * threshold.value;
        let end = if examined < 1.0 { -ln_1p(-examined * threshold.miss / miss) } else { f64::INFINITY };
        (1.0 + slope * miss / examined, end)
    }

    /// The bound `M / G`.
    #[inline]
    pub(super) fn bound(&self, threshold: &Threshold, failures: &[f64], examination: &[f64]) -> f64 {
        if self.has_no_failures() {
            return self.evidence().bound(threshold);
        }
        let slope = self.slope(threshold, failures, examination);
        let (exponent, end) = self.envelope(threshold, slope);
        // The envelope rises that much only where the threshold is below the mode.
        let falls = exponent * end > -MOST_RISE;
        if !falls {
            return 1.0;
        }
        let over_g = self.ln_over_g(threshold.value, threshold.ln_miss, failures, examination);
        let width = (1.0 - self.least_examined * threshold.value) / (self.least_examined * exponent);
        self.evidence().density_times(threshold, over_g) * width * share_below(exponent * end)
    }

    /// A draw of the envelope that passes the first event; may be `None` below `least`.
    #[inline]
    pub(super) fn propose<R: Rng + ?Sized>(
        &self,
        threshold: &Threshold,
        failures: &[f64],
        examination: &[f64],
        least: f64,
        rng: &mut R,
    ) -> Option<f64> {
        if self.has_no_failures() {
            return self.evidence().draw_above(threshold, least, rng);
        }
        let slope = self.slope(threshold, failures, examination);
        let (exponent, end) = self.envelope(threshold, slope);
        // An exponential variate up to the end.
        let distance = -ln_1p(-share_below(exponent * end) * rng.random::<f64>()) / exponent;
        let examined = self.least_examined;
        let further = -libm::expm1(-distance) * (1.0 - examined * threshold.value) / examined;
        let draw = (threshold.value + further).min(1.0);
        if draw < least {
            return None;
        }
        let mut log_ratio = (exponent - 1.0) * distance;
        if self.clicks > 0.0 {
            log_ratio += self.clicks * ln_1p(further / threshold.value);
        }
        for (&failures, examined) in failures.iter().zip(examination) {
            if failures > 0.0 {
                // With an examination of 1 the envelope's draws are below 1, except for rounding.
                let share = (examined * further / (1.0 - examined * threshold.value)).min(1.0);
                log_ratio += failures * ln_miss(share);
            }
        }
        let uniform = 1.0 - rng.random::<f64>();
        // The exponential is above its tangent.
        (uniform <= 1.0 + log_ratio || ln(uniform) <= log_ratio).then_some(draw)
    }

    /// The second event, given a draw of the posterior.
    pub(super) fn accepts<R: Rng + ?Sized>(
        &self,
        draw: f64,
        failures: &[f64],
        examination: &[f64],
        rng: &mut R,
    ) -> bool {
        let log_ratio = -self.ln_over_g(draw, ln_miss(draw), failures, examination);
        let uniform = 1.0 - rng.random::<f64>();
        uniform <= 1.0 + log_ratio || ln(uniform) <= log_ratio
    }

    /// By the bias-corrected Beta distribution.
    pub(super) fn chance(&self, threshold: &Threshold) -> f64 {
        let failures = (self.weighted_shows - self.clicks).max(0.0);
        Evidence { successes: self.clicks, failures }.chance(threshold)
    }
}

/// Probability that a standard exponential variate is below `end`, which may be negative.
#[inline]
fn share_below(end: f64) -> f64 {
    // Beyond 40 it is 1 as a floating-point number.
    if end > 40.0 { 1.0 } else { -libm::expm1(-end) }
}
