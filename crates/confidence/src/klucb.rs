//! KL-UCB indices: the largest and the smallest mean that are consistent with the observations.
//!
//! # Definition
//!
//! ```text
//! upper = max { q in [p, 1] : n d(p, q) <= level },      lower = min { q in [0, p] : n d(p, q) <= level }
//! ```
//!
//! with the Bernoulli divergence `d` of [`bernoulli_kl`](crate::bernoulli_kl). It is a bound for
//! the mean of any variable in `[0, 1]`.
//!
//! Reference: Garivier and Cappe, *The KL-UCB algorithm for bounded stochastic bandits and beyond*,
//! COLT 2011, Algorithm 1; the lower index as in Katariya et al., *Bernoulli rank-1 bandits*, 2017,
//! section 3. Deviations: none. (Where papers write `arg max`, the maximal `q` is meant.)
//!
//! | code | paper | shape | unit |
//! |---|---|---|---|
//! | `mean` | `p`, `S / N` | number in `[0, 1]` | probability |
//! | `n` | `N` | count, need not be whole | observations |
//! | `level` | `delta`, `f(t)` | number, not negative | nats |
//! | result | `U`, `L` | number in `[0, 1]` | probability |
//!
//! # Numerics
//!
//! `n = 0` gives 1 and 0, a level of 0 gives the mean. Means outside `[0, 1]` count as the nearer
//! edge, a negative level as 0, a negative count as 0; a NaN argument and an infinite level count
//! as no information.
//!
//! The solver looks for the displacement `x = |q - p|`. `d` is convex in it, so a Newton step from
//! *any* point ends on the far side of the root, because the tangent lies below the function. The
//! last step is such a step, plus a bound on its rounding error: **an upper index never lies below
//! the true root and a lower one never above it**. The steps before it are of third order and start
//! from a closed-form guess. They come so close to the root that the last step overshoots by less
//! than 1e-14 of `x`. The result is a function of the arguments alone, with the same bits on every
//! x86-64 processor.
//!
//! Complexity: constant; mostly two evaluations of `d`.
//!
//! ```
//! // p = 0: n (-ln(1 - q)) = level, so q = 1 - exp(-level / n). With level = ln 10 and n = 1, q = 0.9.
//! let upper = confidence::kl_ucb_upper(0.0, 1.0, core::f64::consts::LN_10);
//! assert!((upper - 0.9).abs() < 1e-15);
//! ```

mod batch;
mod solver;

pub use batch::{kl_ucb_lower_batch, kl_ucb_upper_batch};
pub(crate) use solver::guess;

use solver::{displacement, round_down, round_up};

/// The upper KL-UCB index `max { q in [mean, 1] : n d(mean, q) <= level }`; never below the true
/// root.
///
/// See the [module](self) for what happens at the edges and out of range.
///
/// ```
/// // d(1/2, q) = ln(4/3) / 2 at q = 3/4, by symmetry with d(1/2, 1/4).
/// let upper = confidence::kl_ucb_upper(0.5, 2.0, 0.287_682_072_451_780_9);
/// assert!((upper - 0.75).abs() < 1e-14);
/// assert_eq!(confidence::kl_ucb_upper(0.5, 0.0, 1.0), 1.0);
/// ```
#[inline]
pub fn kl_ucb_upper(mean: f64, n: f64, level: f64) -> f64 {
    let Some((p, c)) = checked(mean, n, level) else { return 1.0 };
    if c <= 0.0 {
        return p;
    }
    if p == 0.0 {
        return round_up(-libm::expm1(-c)).min(1.0);
    }
    if p == 1.0 {
        return 1.0;
    }
    let x = displacement(p, 1.0 - p, c);
    round_up(p + x).min(1.0)
}

/// The lower KL-UCB index `min { q in [0, mean] : n d(mean, q) <= level }`; never above the true
/// root.
///
/// See the [module](self) for what happens at the edges and out of range.
#[inline]
pub fn kl_ucb_lower(mean: f64, n: f64, level: f64) -> f64 {
    let Some((p, c)) = checked(mean, n, level) else { return 0.0 };
    if c <= 0.0 {
        return p;
    }
    if p == 1.0 {
        // The rounding of `level / n` counts as many times over as there are nats.
        return round_down(libm::exp(-c * (1.0 + f64::EPSILON))).max(0.0);
    }
    if p == 0.0 {
        return 0.0;
    }
    let x = displacement(1.0 - p, p, c);
    round_down(p - x).max(0.0)
}

/// Mean in `[0, 1]` and level per observation, or `None` if there is no information.
#[inline]
fn checked(mean: f64, n: f64, level: f64) -> Option<(f64, f64)> {
    if n <= 0.0 || n.is_nan() || mean.is_nan() || level.is_nan() || level == f64::INFINITY {
        return None;
    }
    Some((mean.clamp(0.0, 1.0), per_observation(level, n)))
}

/// `level / n`. A positive level leaves room on both sides of a mean, so its quotient must not
/// underflow.
pub(crate) fn per_observation(level: f64, n: f64) -> f64 {
    let least = if level > 0.0 { f64::MIN_POSITIVE } else { f64::NEG_INFINITY };
    (level / n).max(least)
}
