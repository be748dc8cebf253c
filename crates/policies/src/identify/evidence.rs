//! Evidence on the attraction of items: mixture likelihood ratios and their confidence bounds.
//!
//! *Test of a null hypothesis* against an alternative `H` of prior probability `c`. Let `m` be the
//! probability of the clicks under means drawn from the prior, and `l` their largest probability
//! under the null. If the null contains everything outside `H`, then the probability of the clicks
//! under the prior given `H` is at least `(m - (1 - c) l) / c`. Its ratio to the probability under
//! the true means ever exceeds `1 / level` with probability at most `level`, so the null may be
//! rejected as soon as
//!
//! ```text
//! ln m - ln l >= ln(c / level + 1 - c).
//! ```
//!
//! The prior is Jeffreys', independent for two items. `docs/cascade-bai.md` has the proofs.

use super::Delta;
use super::candidates::Candidates;
use crate::exact::float;
use confidence::math::{ln, ln_1p, ln_of_normals};
use confidence::{kl_ucb_entropy, kl_ucb_lower, kl_ucb_upper};
use std::f64::consts::FRAC_PI_2;

/// The counts of an item, and their probability under a mean drawn from Jeffreys' prior.
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

    /// Needs at least one observation.
    fn mean(self) -> f64 {
        self.clicks / self.n()
    }

    /// Log ratio of the maximum likelihood to the prior probability of the clicks, in nats.
    fn redundancy(self) -> f64 {
        kl_ucb_entropy(self.clicks, self.failures) - self.ln_marginal
    }

    /// `ln m` minus the log-likelihood of mean `p`.
    pub(super) fn ln_ratio(self, p: f64) -> f64 {
        self.ln_marginal - ln_likelihood(self.clicks, self.failures, p)
    }

    /// An upper bound of the mean, which exceeds it at any time with probability at most `level`.
    ///
    /// The larger the mean to be ruled out, the more of the prior lies below it and the higher is
    /// its threshold. So the threshold of one bound is valid for all smaller means, and gives the
    /// next, lower bound.
    pub(super) fn upper(self, inverse_level: f64) -> f64 {
        self.bound(kl_ucb_upper, 1.0, prior_below, inverse_level)
    }

    /// The lower bound of the mean, as [`Self::upper`].
    pub(super) fn lower(self, inverse_level: f64) -> f64 {
        self.bound(kl_ucb_lower, 0.0, |bound| prior_below(1.0 - bound), inverse_level)
    }

    /// A bound of the mean, which is `end` without observations.
    fn bound(
        self,
        solve: fn(f64, f64, f64) -> f64,
        end: f64,
        prior: fn(f64) -> f64,
        inverse_level: f64,
    ) -> f64 {
        if self.n() == 0.0 {
            return end;
        }
        let (mean, redundancy) = (self.mean(), self.redundancy());
        let next = |bound| solve(mean, self.n(), redundancy + rejection_level(prior(bound), inverse_level));
        next(next(next(end)))
    }

    /// `ln m - ln l` against the null that this mean is at most the other's less `epsilon`.
    pub(super) fn ln_ratio_to_worse(self, other: Self, epsilon: f64) -> f64 {
        self.ln_marginal + other.ln_marginal - self.ln_likelihood_if_worse(other, epsilon)
    }

    fn ln_likelihood_if_worse(self, other: Self, epsilon: f64) -> f64 {
        // An item without observations may have any mean.
        if self.n() > 0.0 && other.n() > 0.0 && self.mean() <= other.mean() - epsilon {
            return kl_ucb_entropy(self.clicks, self.failures) + kl_ucb_entropy(other.clicks, other.failures);
        }
        if epsilon == 0.0 {
            return kl_ucb_entropy(self.clicks + other.clicks, self.failures + other.failures);
        }
        // The maximum is on the edge, where the other mean is larger by `epsilon`.
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

/// Inverse levels of single bounds: `2 K / delta` of upper, `2 (L - K) / delta` of lower ones.
///
/// With probability `1 - delta` no bound that matters ever fails.
#[derive(Debug, Clone, Copy)]
pub(super) struct ItemLevels {
    pub(super) upper: f64,
    pub(super) lower: f64,
}

impl ItemLevels {
    pub(super) fn new(candidates: &Candidates, delta: Delta) -> Self {
        let inverse_level = |n_items: usize| 2.0 * float(n_items as u64) / delta.get();
        let n_best = candidates.n_best;
        Self { upper: inverse_level(n_best), lower: inverse_level(candidates.n_items() - n_best) }
    }

    /// The lower and the upper bound of an item.
    pub(super) fn bounds(self, evidence: Evidence) -> (f64, f64) {
        (evidence.lower(self.lower), evidence.upper(self.upper))
    }
}

/// The log-likelihood of mean `p`.
pub(super) fn ln_likelihood(clicks: f64, failures: f64, p: f64) -> f64 {
    Logarithms::new(p).of_likelihood(clicks, failures)
}

/// The logarithms of a mean and of one minus it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Logarithms {
    click: f64,
    failure: f64,
}

impl Logarithms {
    pub(super) fn new(p: f64) -> Self {
        Self { click: ln(p), failure: ln_1p(-p) }
    }

    /// The log-likelihood of the mean.
    pub(super) fn of_likelihood(self, clicks: f64, failures: f64) -> f64 {
        let clicked = if clicks == 0.0 { 0.0 } else { clicks * self.click };
        let failed = if failures == 0.0 { 0.0 } else { failures * self.failure };
        clicked + failed
    }
}

/// Upper bounds of the largest log-likelihoods of several items, those of their empirical means,
/// less than `2e-14` nats an observation too large. Their logarithms share vector registers.
pub(super) fn largest_ln_likelihoods<const N: usize>(clicks: [f64; N], failures: [f64; N]) -> [f64; N] {
    /// More than the rounding of an observation's logarithm.
    const ROUNDING: f64 = 1e-14;
    let ln_shares = |counts: [f64; N]| -> [f64; N] {
        let share = |lane: usize| counts[lane] / (clicks[lane] + failures[lane]).max(1.0);
        // A count of 0 has the weight 0: any normal number will do.
        ln_of_normals(std::array::from_fn(|lane| share(lane).max(f64::MIN_POSITIVE)))
    };
    let (ln_clicks, ln_failures) = (ln_shares(clicks), ln_shares(failures));
    std::array::from_fn(|lane| {
        let (clicks, failures) = (clicks[lane], failures[lane]);
        clicks * ln_clicks[lane] + failures * ln_failures[lane] + ROUNDING * (clicks + failures)
    })
}

/// The threshold, in nats, for rejecting a null with an alternative of this prior probability.
pub(super) fn rejection_level(prior: f64, inverse_level: f64) -> f64 {
    ln(prior * inverse_level + (1.0 - prior))
}

/// The prior probability of a mean below `p`.
pub(super) fn prior_below(p: f64) -> f64 {
    libm::asin(p.sqrt()) / FRAC_PI_2
}

/// At least the prior probability that a mean exceeds another less `epsilon`; 1/2 is exact.
pub(super) fn prior_of_better(epsilon: f64) -> f64 {
    const STEPS: u32 = 1024;
    if epsilon == 0.0 {
        return 0.5;
    }
    // The second mean is the squared sine of a uniform angle. The probability of the first one
    // grows with that angle, so a sum over the upper ends of all steps exceeds the integral.
    let probability = |step: u32| {
        let sine = libm::sin(FRAC_PI_2 * f64::from(step) / f64::from(STEPS));
        prior_below((sine * sine + epsilon).min(1.0))
    };
    (1..=STEPS).map(probability).sum::<f64>() / f64::from(STEPS)
}
