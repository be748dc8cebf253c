//! Kullback-Leibler divergences between two distributions of one one-parameter family.
//!
//! # Definition
//!
//! For Bernoulli distributions with means `p` and `q`, with `0 ln 0 = 0`, and `+inf` where `p`
//! gives weight to an outcome that `q` excludes,
//!
//! ```text
//! d(p, q) = p ln(p / q) + (1 - p) ln((1 - p) / (1 - q))
//! ```
//!
//! The other families that KL-UCB is used with are behind the trait [`Divergence`]:
//!
//! | family | means | `d(p, q)` |
//! |---|---|---|
//! | [`Bernoulli`] | `[0, 1]` | as above |
//! | [`Gaussian`] with known variance `v` | all | `(p - q)^2 / (2 v)` |
//! | [`Poisson`] | `[0, inf)` | `q - p + p ln(p / q)` |
//! | [`Exponential`] | `[0, inf)` | `p / q - 1 - ln(p / q)` |
//!
//! Reference: Garivier and Cappe, *The KL-UCB algorithm for bounded stochastic bandits and beyond*,
//! COLT 2011, section 6, for the families; Lagree, Vernade and Cappe, *Multiple-play bandits in the
//! position-based model*, 2016, section 2; the continuous extension to the edges as in Katariya et
//! al., *Bernoulli rank-1 bandits*, 2017. Deviations: none.
//!
//! | code | paper | shape | unit |
//! |---|---|---|---|
//! | `p` | `p` | number in `[0, 1]` | mean of the first distribution |
//! | `q` | `q` | number in `[0, 1]` | mean of the second distribution |
//! | result | `d(p, q)` | number in `[0, +inf]` | nats |
//!
//! # Numerics
//!
//! The textbook formula subtracts two nearly equal logarithms if `p` is close to `q`. The code uses
//! the sum of two non-negative terms, `p g((q - p) / p) + (1 - p) g((p - q) / (1 - p))` with
//! `g(x) = x - ln(1 + x)`, in which nothing cancels. The relative error is at most about 4e-15
//! everywhere, also at `p = q (1 + 1e-15)` and at 5e-324. Complexity: constant, two divisions and
//! no call of a logarithm.

use crate::klucb::{kl_ucb_lower, kl_ucb_upper, per_observation};
use crate::math::{ln, ln_1p, relative_entropy, sqrt};
use crate::{Error, NonNegative};
use serde::{Deserialize, Serialize};

/// The Kullback-Leibler divergence of a one-parameter family, and the indices that invert it.
///
/// Means outside the family's range count as its nearer edge; no finite argument gives NaN.
///
/// # Examples
///
/// ```
/// use confidence::{Bernoulli, Divergence, Exponential, Gaussian, Poisson};
///
/// fn interval(family: &impl Divergence) -> (f64, f64) {
///     (family.lower(0.5, 100.0, 2.0), family.upper(0.5, 100.0, 2.0))
/// }
/// // 0.5 +- sqrt(2 * 0.25 * 2 / 100) for a variance of 1/4
/// let (lower, upper) = interval(&Gaussian::with_variance(0.25)?);
/// assert!((lower - 0.4).abs() < 1e-14 && (upper - 0.6).abs() < 1e-14);
/// // Bernoulli variables vary less than that, exponential ones more.
/// assert!(interval(&Bernoulli).1 < upper);
/// assert!(interval(&Poisson).1 > upper && interval(&Exponential).1 > upper);
/// # Ok::<(), confidence::Error>(())
/// ```
pub trait Divergence {
    /// `d(p, q)` in nats; may be `+inf`.
    fn divergence(&self, p: f64, q: f64) -> f64;

    /// The derivative of the divergence in `q`.
    fn derivative(&self, p: f64, q: f64) -> f64;

    /// `max { q >= mean : n d(mean, q) <= level }`, never below the true root; the largest mean
    /// (perhaps `+inf`) if `n` is 0.
    fn upper(&self, mean: f64, n: f64, level: f64) -> f64;

    /// `min { q <= mean : n d(mean, q) <= level }`, never above the true root; the smallest mean
    /// (perhaps `-inf`) if `n` is 0.
    fn lower(&self, mean: f64, n: f64, level: f64) -> f64;
}

/// Bernoulli distributions; their index is valid for all variables in `[0, 1]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Bernoulli;

impl Divergence for Bernoulli {
    fn divergence(&self, p: f64, q: f64) -> f64 {
        bernoulli_kl(p, q)
    }

    fn derivative(&self, p: f64, q: f64) -> f64 {
        bernoulli_kl_derivative(p, q)
    }

    fn upper(&self, mean: f64, n: f64, level: f64) -> f64 {
        kl_ucb_upper(mean, n, level)
    }

    fn lower(&self, mean: f64, n: f64, level: f64) -> f64 {
        kl_ucb_lower(mean, n, level)
    }
}

/// Gaussian distributions with a known variance; with variance `s^2`, the index is valid for
/// sub-Gaussian variables with parameter `s`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Gaussian {
    variance: NonNegative,
}

impl Gaussian {
    /// Laws with this variance.
    ///
    /// # Errors
    ///
    /// [`Error::NotNonNegative`] for a negative or infinite variance and NaN.
    pub fn with_variance(variance: f64) -> Result<Self, Error> {
        Ok(Self { variance: NonNegative::new(variance)? })
    }

    fn radius(self, n: f64, level: f64) -> f64 {
        match Observed::new(0.0, n, level) {
            // Covers two roundings in the product, one in the root, and a later one in the sum.
            Some(observed) => {
                let square = 2.0 * self.variance.get() * observed.per_show;
                let root = if square < f64::MIN_POSITIVE {
                    sqrt(2.0 * self.variance.get()) * sqrt(observed.per_show)
                } else {
                    sqrt(square)
                };
                root * (1.0 + 4.0 * f64::EPSILON)
            }
            None => f64::INFINITY,
        }
    }
}

impl Divergence for Gaussian {
    fn divergence(&self, p: f64, q: f64) -> f64 {
        let difference = q - p;
        // Also correct without variance, where only the mean itself is possible.
        if p == q { 0.0 } else { difference * difference / (2.0 * self.variance.get()) }
    }

    fn derivative(&self, p: f64, q: f64) -> f64 {
        if p == q { 0.0 } else { (q - p) / self.variance.get() }
    }

    fn upper(&self, mean: f64, n: f64, level: f64) -> f64 {
        let radius = self.radius(n, level);
        // A radius of 0 is exact.
        if radius == 0.0 { mean } else { (mean + radius).next_up() }
    }

    fn lower(&self, mean: f64, n: f64, level: f64) -> f64 {
        let radius = self.radius(n, level);
        if radius == 0.0 { mean } else { (mean - radius).next_down() }
    }
}

/// Poisson distributions: counts without an upper bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Poisson;

impl Divergence for Poisson {
    fn divergence(&self, p: f64, q: f64) -> f64 {
        let (p, q) = (positive(p), positive(q));
        if p == q { 0.0 } else { relative_entropy(p, q, q - p) }
    }

    fn derivative(&self, p: f64, q: f64) -> f64 {
        let (p, q) = (positive(p), positive(q));
        if p == q { 0.0 } else { (q - p) / q }
    }

    fn upper(&self, mean: f64, n: f64, level: f64) -> f64 {
        let Some(Observed { mean, per_show }) = Observed::new(mean, n, level) else { return f64::INFINITY };
        if per_show <= 0.0 {
            mean
        } else if mean == 0.0 {
            per_show.next_up()
        } else {
            (mean * larger_ratio(per_show / mean)).next_up()
        }
    }

    fn lower(&self, mean: f64, n: f64, level: f64) -> f64 {
        let Some(Observed { mean, per_show }) = Observed::new(mean, n, level) else { return 0.0 };
        if per_show <= 0.0 {
            mean
        } else if mean == 0.0 {
            0.0
        } else {
            (mean * smaller_ratio(per_show / mean)).next_down().max(0.0)
        }
    }
}

/// Exponential distributions, such as waiting times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Exponential;

impl Divergence for Exponential {
    fn divergence(&self, p: f64, q: f64) -> f64 {
        let (p, q) = (positive(p), positive(q));
        if p == q {
            0.0
        } else if p == 0.0 || q == 0.0 {
            f64::INFINITY
        } else if 0.5 < p / q && p / q < 2.0 {
            // r - 1 - ln r at r = p / q, from the difference: the ratio itself is rounded.
            crate::math::x_minus_ln_1p((p - q) / q)
        } else {
            p / q - 1.0 + (ln(q) - ln(p))
        }
    }

    fn derivative(&self, p: f64, q: f64) -> f64 {
        let (p, q) = (positive(p), positive(q));
        // One division at a time, because q^2 may underflow.
        if p == q { 0.0 } else { (q - p) / q / q }
    }

    fn upper(&self, mean: f64, n: f64, level: f64) -> f64 {
        let Some(Observed { mean, per_show }) = Observed::new(mean, n, level) else { return f64::INFINITY };
        if per_show <= 0.0 || mean == 0.0 { mean } else { (mean / smaller_ratio(per_show)).next_up() }
    }

    fn lower(&self, mean: f64, n: f64, level: f64) -> f64 {
        let Some(Observed { mean, per_show }) = Observed::new(mean, n, level) else { return 0.0 };
        if per_show <= 0.0 || mean == 0.0 {
            mean
        } else {
            (mean / larger_ratio(per_show)).next_down().max(0.0)
        }
    }
}

/// The mean and the level per observation, if there is any information.
struct Observed {
    mean: f64,
    per_show: f64,
}

impl Observed {
    fn new(mean: f64, n: f64, level: f64) -> Option<Self> {
        let known = n > 0.0 && level < f64::INFINITY && !mean.is_nan();
        let per_show = per_observation(level.max(0.0), n);
        (known && per_show < f64::INFINITY).then(|| Self { mean: positive(mean), per_show })
    }
}

fn positive(x: f64) -> f64 {
    // The upper end keeps differences of two means finite.
    x.clamp(0.0, f64::MAX)
}

/// Relative error of a computed `r - 1 - ln r` and of the steps around it.
const RATIO_ERROR: f64 = 16.0 * f64::EPSILON;

/// The root `r >= 1` of `r - 1 - ln r = t`, rounded up.
///
/// Newton's method on a convex function: from any start, every step ends right of the root, so the
/// iterates decrease.
pub(crate) fn larger_ratio(t: f64) -> f64 {
    if t <= 0.0 {
        return 1.0;
    }
    if t >= f64::MAX / 4.0 {
        return f64::INFINITY;
    }
    // Between the bounds 2/3 t and t of the known expansions; the first step corrects it upwards.
    let mut x = sqrt(2.0 * t) + (2.0 / 3.0) * t;
    for _ in 0..64 {
        let excess = relative_entropy(1.0, 1.0 + x, x) - t;
        let step = excess * (1.0 + x) / x;
        let margin = RATIO_ERROR * t * (1.0 + x) / x;
        x -= step;
        if step.abs() <= 1e-9 * x {
            // The square of the step is below rounding.
            return (1.0 + (x + margin)) * (1.0 + 2.0 * f64::EPSILON);
        }
    }
    f64::INFINITY
}

/// The root `r` in `[0, 1]` of `r - 1 - ln r = t`, rounded down.
pub(crate) fn smaller_ratio(t: f64) -> f64 {
    if t <= 0.0 {
        return 1.0;
    }
    if t < 0.5 {
        // By the displacement x = 1 - r: Newton's method, never short of the root.
        let mut x = sqrt(2.0 * t) - (2.0 / 3.0) * t;
        for _ in 0..64 {
            let excess = relative_entropy(1.0, 1.0 - x, -x) - t;
            let step = excess * (1.0 - x) / x;
            let margin = RATIO_ERROR * t * (1.0 - x) / x;
            x -= step;
            if step.abs() <= 1e-9 * x {
                return (1.0 - (x + margin) * (1.0 + f64::EPSILON)) * (1.0 - f64::EPSILON);
            }
        }
        return 0.0;
    }
    // By z = -ln r: exp(-z) - 1 + z = t, convex in z as well.
    let mut z = 1.0 + t;
    for _ in 0..64 {
        let slope = -libm::expm1(-z);
        let step = (z - slope - t) / slope;
        z -= step;
        if step.abs() <= 1e-9 * z {
            return libm::exp(-z * (1.0 + RATIO_ERROR)) * (1.0 - RATIO_ERROR);
        }
    }
    0.0
}

/// The Kullback-Leibler divergence from a Bernoulli distribution with mean `p` to one with mean
/// `q`, in nats.
///
/// Arguments outside `[0, 1]` count as the nearer edge; NaN gives NaN. May be `+inf`.
///
/// ```
/// // d(0, q) = -ln(1 - q)
/// assert!((confidence::bernoulli_kl(0.0, 0.9) - 10.0_f64.ln()).abs() < 1e-15);
/// ```
#[inline]
pub fn bernoulli_kl(p: f64, q: f64) -> f64 {
    let p = p.clamp(0.0, 1.0);
    let q = q.clamp(0.0, 1.0);
    if p == q {
        return 0.0;
    }
    if p == 0.0 {
        return -ln_1p(-q);
    }
    if p == 1.0 {
        return -ln(q);
    }
    if q == 0.0 || q == 1.0 {
        return f64::INFINITY;
    }
    let difference = q - p;
    relative_entropy(p, q, difference) + relative_entropy(1.0 - p, 1.0 - q, -difference)
}

/// The derivative of [`bernoulli_kl`] in its second argument, `(q - p) / (q (1 - q))`.
///
/// Arguments outside `[0, 1]` count as the nearer edge. Zero if `p = q`, also at the edges, where
/// the divergence has only a one-sided derivative; `-inf` at `q = 0 < p` and `+inf` at `q = 1 > p`;
/// NaN gives NaN.
///
/// ```
/// // (1/4 - 1/2) / (1/4 * 3/4) = -4/3
/// assert_eq!(confidence::bernoulli_kl_derivative(0.5, 0.25), -4.0 / 3.0);
/// ```
#[inline]
pub fn bernoulli_kl_derivative(p: f64, q: f64) -> f64 {
    let p = p.clamp(0.0, 1.0);
    let q = q.clamp(0.0, 1.0);
    // d(0, .) and d(1, .) have one term only, and a finite slope at their own edge.
    if p == 0.0 {
        return 1.0 / (1.0 - q);
    }
    if p == 1.0 {
        return -1.0 / q;
    }
    if p == q {
        return 0.0;
    }
    // One division at a time: the product q (1 - q) would underflow for subnormal q.
    (q - p) / (1.0 - q) / q
}
