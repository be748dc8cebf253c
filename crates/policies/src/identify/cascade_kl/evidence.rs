//! What counts of clicks say about how attractive an item is, and about which of two is more so: mixture likelihood ratios.
//!
//! An *alternative* `H` of prior probability `c` against a null hypothesis: if `m` is the probability of the clicks under means drawn
//! from the whole prior, and `l` their largest probability under the null, then the probability under the prior given `H` is at least
//! `(m - (1 - c) l) / c` whenever what is not `H` is part of the null. Its ratio to the truth ever exceeds `1 / level` with probability
//! `level` at most, so the null may be rejected as soon as
//!
//! ```text
//! ln m - ln l >= ln(c / level + 1 - c).
//! ```
//!
//! The prior is Jeffreys', independent for two items. `docs/cascade-bai.md` has the proofs.

use crate::exact::float;
use confidence::math::{ln, ln_1p};
use confidence::{kl_ucb_entropy, kl_ucb_lower, kl_ucb_upper};
use std::f64::consts::FRAC_PI_2;

/// What was counted of an item, and how probable it is under a mean drawn from Jeffreys' prior.
#[derive(Debug, Clone, Copy)]
pub(super) struct Evidence {
    clicks: f64,
    failures: f64,
    ln_marginal: f64,
}

impl Evidence {
    pub(super) fn new(observations: u64, clicks: u64) -> Self {
        const LN_PI: f64 = 1.144_729_885_849_400_2;
        let (n, clicks) = (float(observations), float(clicks));
        let failures = n - clicks;
        let ln_beta = libm::lgamma(clicks + 0.5) + libm::lgamma(failures + 0.5) - libm::lgamma(n + 1.0);
        Self { clicks, failures, ln_marginal: ln_beta - LN_PI }
    }

    fn n(self) -> f64 {
        self.clicks + self.failures
    }

    /// Only with an observation.
    fn mean(self) -> f64 {
        self.clicks / self.n()
    }

    /// How much more probable the likeliest mean makes the clicks than the prior does, in nats.
    fn redundancy(self) -> f64 {
        kl_ucb_entropy(self.clicks, self.failures) - self.ln_marginal
    }

    /// `ln m` less the logarithm of the clicks' probability with mean `p`.
    pub(super) fn ln_ratio(self, p: f64) -> f64 {
        self.ln_marginal - ln_likelihood(self.clicks, self.failures, p)
    }

    /// A mean that the true one exceeds, now or at any other time, with probability `level` at most.
    ///
    /// The larger the mean to be ruled out, the more of the prior is below it and the higher the level it has to reach: the level of a
    /// bound is good enough for everything below, and so the next bound is lower.
    pub(super) fn upper(self, inverse_level: f64) -> f64 {
        if self.n() == 0.0 {
            return 1.0;
        }
        let (mean, redundancy) = (self.mean(), self.redundancy());
        let next = |bound| {
            kl_ucb_upper(mean, self.n(), redundancy + rejection_level(prior_below(bound), inverse_level))
        };
        next(next(next(1.0)))
    }

    /// The counterpart of [`Self::upper`].
    pub(super) fn lower(self, inverse_level: f64) -> f64 {
        if self.n() == 0.0 {
            return 0.0;
        }
        let (mean, redundancy) = (self.mean(), self.redundancy());
        let next = |bound| {
            let level = rejection_level(prior_below(1.0 - bound), inverse_level);
            kl_ucb_lower(mean, self.n(), redundancy + level)
        };
        next(next(next(0.0)))
    }

    /// `ln m - ln l` against the null that this item's mean is at most the other's less `epsilon`; not positive while the means that are
    /// likeliest belong to the null.
    pub(super) fn ln_ratio_to_worse(self, other: Self, epsilon: f64) -> f64 {
        self.ln_marginal + other.ln_marginal - self.ln_likelihood_if_worse(other, epsilon)
    }

    fn ln_likelihood_if_worse(self, other: Self, epsilon: f64) -> f64 {
        // An item without observations has the mean that suits the other.
        if self.n() > 0.0 && other.n() > 0.0 && self.mean() <= other.mean() - epsilon {
            return kl_ucb_entropy(self.clicks, self.failures) + kl_ucb_entropy(other.clicks, other.failures);
        }
        if epsilon == 0.0 {
            return kl_ucb_entropy(self.clicks + other.clicks, self.failures + other.failures);
        }
        // The largest value is on the edge, where the other mean is larger by `epsilon`; there the logarithm is concave.
        let slope = |p: f64| {
            let ratio = |count: f64, p: f64| if count == 0.0 { 0.0 } else { count / p };
            let q = p + epsilon;
            ratio(self.clicks, p) - ratio(self.failures, 1.0 - p) + ratio(other.clicks, q)
                - ratio(other.failures, 1.0 - q)
        };
        let value = |p: f64| {
            ln_likelihood(self.clicks, self.failures, p)
                + ln_likelihood(other.clicks, other.failures, p + epsilon)
        };
        let (mut low, mut high) = (0.0, 1.0 - epsilon);
        for _ in 0..64 {
            let middle = f64::midpoint(low, high);
            if slope(middle) < 0.0 { high = middle } else { low = middle }
        }
        value(low).max(value(high))
    }
}

/// The logarithm of the probability of clicks and failures with mean `p`.
pub(super) fn ln_likelihood(clicks: f64, failures: f64, p: f64) -> f64 {
    let clicked = if clicks == 0.0 { 0.0 } else { clicks * ln(p) };
    let failed = if failures == 0.0 { 0.0 } else { failures * ln_1p(-p) };
    clicked + failed
}

/// From where on a null is rejected in favour of an alternative of this prior probability, in nats.
pub(super) fn rejection_level(prior: f64, inverse_level: f64) -> f64 {
    ln(prior * inverse_level + (1.0 - prior))
}

/// The prior probability of a mean below `p`.
pub(super) fn prior_below(p: f64) -> f64 {
    libm::asin(p.sqrt()) / FRAC_PI_2
}

/// The prior probability that the first of two means is larger than the second less `epsilon`; a little more if not 1/2.
pub(super) fn prior_of_better(epsilon: f64) -> f64 {
    const STEPS: u32 = 1024;
    if epsilon == 0.0 {
        return 0.5;
    }
    // The second mean is the squared sine of a uniform angle. The first one's probability grows with that angle, and a sum with the
    // upper end of every step is above the integral.
    let probability = |step: u32| {
        let sine = libm::sin(FRAC_PI_2 * f64::from(step) / f64::from(STEPS));
        prior_below((sine * sine + epsilon).min(1.0))
    };
    (1..=STEPS).map(probability).sum::<f64>() / f64::from(STEPS)
}
