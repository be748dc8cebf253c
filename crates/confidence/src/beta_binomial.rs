//! Beta-binomial counts: clicks of items whose probabilities are draws of one Beta distribution.
//!
//! `c` clicks and `s` displays without a click have the probability `(a)_c (b)_s / (a + b)_(c + s)`
//! in a given order, where `(x)_n = x (x + 1) .. (x + n - 1)` and the distribution is
//! Beta(`a`, `b`). Numbers of displays may be fractions: a display counts as much as its position
//! is examined. When an item is shown no more may depend on its clicks, since this changes no
//! probability by a factor that depends on `a` and `b`.
//!
//! Reference: ours; empirical Bayes.

use crate::math::ln;
use libm::{exp, lgamma, trunc};

/// The usual strength `a + b` of a prior, in displays.
pub const STRENGTH: f64 = 5.0;
/// Standard deviation of the logarithm of strengths around it: a factor of two, since a few items
/// have little information.
pub const SPREAD: f64 = core::f64::consts::LN_2;
/// A longer product takes longer than two log-gammas.
const MOST_FACTORS: f64 = 12.0;
/// First and last step of the search, in log-odds of the mean and in the logarithm of the strength.
const STEPS: [f64; 2] = [0.5, 0.02];
/// Largest distance of log-odds from 0: a mean of one in a million.
const MOST_ODDS: f64 = 13.8;

/// `ln (x)_n`, the logarithm of `Gamma(x + n) / Gamma(x)`.
///
/// # Examples
///
/// ```
/// use confidence::beta_binomial::ln_rising;
///
/// assert!((ln_rising(0.5, 3.0) - f64::ln(0.5 * 1.5 * 2.5)).abs() < 1e-15);
/// ```
pub fn ln_rising(x: f64, n: f64) -> f64 {
    rising(x, n, || lgamma(x))
}

/// As [`ln_rising`], where the logarithm of `Gamma(x)` may be known.
#[inline]
fn rising(x: f64, n: f64, ln_gamma: impl FnOnce() -> f64) -> f64 {
    // Not by the remainder, whose division takes longer than the product.
    if n > MOST_FACTORS || trunc(n) != n {
        return lgamma(x + n) - ln_gamma();
    }
    // The logarithm of `x (x + 1) .. (x + n - 1)`, two factors at a time.
    let (mut product, mut factor, mut left) = (1.0, x, n);
    while left >= 2.0 {
        product *= factor * (factor + 1.0);
        factor += 2.0;
        left -= 2.0;
    }
    if left > 0.0 {
        product *= factor;
    }
    ln(product)
}

/// The logarithm of the density of a value whose logarithm is normal around that of `usual`, with
/// the standard deviation [`SPREAD`], up to a constant.
pub fn ln_density(value: f64, usual: f64) -> f64 {
    let standardised = ln(value / usual) / SPREAD;
    standardised * standardised / -2.0
}

/// The shapes `a` and `b` under which these items are most probable: clicks, displays without a
/// click, and the number of items that have both. The strength has a prior, [`ln_density`] around
/// [`STRENGTH`]. The search begins at `start`.
///
/// # Examples
///
/// ```
/// use confidence::beta_binomial::most_probable;
///
/// // Half of the items are never clicked, and the others are every second time.
/// let (a, b) = most_probable(&[(0.0, 20.0, 300), (10.0, 10.0, 300)], (1.0, 1.0));
/// assert!((0.1..0.4).contains(&(a / (a + b))) && a < 0.5);
/// // Without items, the strength is the usual one.
/// let (a, b) = most_probable(&[], (1.0, 1.0));
/// assert!((a + b - 5.0).abs() < 0.2);
/// ```
pub fn most_probable(items: &[(f64, f64, u32)], start: (f64, f64)) -> (f64, f64) {
    let ln_probability = |odds: f64, strength: f64| {
        let (a, b) = shapes(odds, strength);
        let of_shapes = [a, b, a + b].map(lgamma);
        let of_item = |&(clicks, skips, items): &(f64, f64, u32)| {
            let [of_a, of_b, of_both] = of_shapes;
            let one = rising(a, clicks, || of_a) + rising(b, skips, || of_b);
            f64::from(items) * (one - rising(a + b, clicks + skips, || of_both))
        };
        items.iter().map(of_item).sum::<f64>() + ln_density(a + b, STRENGTH)
    };
    let (mut odds, mut strength) = (ln(start.0 / start.1), ln(start.0 + start.1));
    let mut best = ln_probability(odds, strength);
    let mut step = STEPS[0];
    while step > STEPS[1] {
        let before = best;
        for (of_odds, of_strength) in [(step, 0.0), (-step, 0.0), (0.0, step), (0.0, -step)] {
            let next = ((odds + of_odds).clamp(-MOST_ODDS, MOST_ODDS), strength + of_strength);
            let of_next = ln_probability(next.0, next.1);
            if of_next > best {
                (odds, strength, best) = (next.0, next.1, of_next);
            }
        }
        if best == before {
            step /= 2.0;
        }
    }
    shapes(odds, strength)
}

/// From log-odds of the mean, and the logarithm of the strength.
fn shapes(odds: f64, strength: f64) -> (f64, f64) {
    let strength = exp(strength);
    let mean = 1.0 / (1.0 + exp(-odds));
    (strength * mean, strength / (1.0 + exp(odds)))
}
