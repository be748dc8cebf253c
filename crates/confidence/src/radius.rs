//! Confidence radii: closed-form half widths of confidence intervals.
//!
//! | function | formula | reference |
//! |---|---|---|
//! | [`hoeffding_radius`] | `sqrt(level / (2 n))` | Hoeffding 1963; PBM paper, section 4 |
//! | [`ucb1_radius`] | `sqrt(2 level / n)` | Auer, Cesa-Bianchi and Fischer 2002, figure 1 |
//! | [`rsf_ucb_radius`] | `sqrt(2 level / (3 n))` | random semi-bandit feedback paper (2016), section 4 |
//! | [`pbm_ucb_radius`] | `sqrt(n / n~) sqrt(level / (2 n~))` | PBM paper, section 4 and Proposition 8 |
//! | [`scaled_radius`] | `sqrt(factor level / n)` | RUCB paper (2014): `factor = alpha`; `CascadeUCB1`: 3/2 |
//! | [`bernstein_radius`] | `sqrt(2 v level / n) + 3 level / n` | Audibert, Munos and Szepesvari 2009, Theorem 1 |
//! | [`sample_bernstein_radius`] | `sqrt(2 v level / n) + 7 level / (3 (n - 1))` | Maurer and Pontil 2009, Theorem 4 |
//! | [`lil_radius`] | `4 sqrt(ln(log2(2 n) / rho) / n)` | `CascadeBAI` paper (2020), Algorithm 1 |
//!
//! # Definition
//!
//! A radius is added to (or subtracted from) an empirical mean of `n` observations in `[0, 1]`.
//! `level` is in nats: the logarithm of one over the miss probability, or an exploration rate such
//! as `ln t` (see [`Rate`](crate::Rate)).
//!
//! Deviations: [`lil_radius`] has the factor 4 that Algorithm 1 prints; the theorem behind it needs
//! 4 sigma = 2 for variables in `[0, 1]`, and [`lil_radius_scaled`] takes the factor as an
//! argument.
//!
//! | code | paper | shape | unit |
//! |---|---|---|---|
//! | `n` | `N`, `T` | count, not negative | observations |
//! | `weighted_shows` | `N~` | `sum_l kappa_l N_l` | expected examinations |
//! | `level` | `delta`, `log t` | number, not negative | nats |
//! | `rho` | `rho(delta)` | number in `(0, 1)` | probability |
//!
//! # Numerics
//!
//! No observation gives `+inf`. A negative level counts as 0, a negative count as 0; nothing gives
//! NaN unless an argument is NaN. Complexity: constant.

use crate::math::{ln, sqrt};

/// `sqrt(factor level / n)`, the shape that most radii share.
#[inline]
fn root_of_ratio(factor: f64, n: f64, level: f64) -> f64 {
    // Also catches a NaN count: nothing is known then.
    if n <= 0.0 || n.is_nan() {
        return f64::INFINITY;
    }
    let level = level.max(0.0);
    let ratio = factor * level / n;
    if ratio < f64::MIN_POSITIVE {
        // The ratio has lost digits, but its root is an ordinary number.
        return sqrt(level) * sqrt(factor / n);
    }
    // inf / inf: an infinite level is not outweighed by any number of observations.
    if ratio.is_nan() { f64::INFINITY } else { sqrt(ratio) }
}

/// `sqrt(level / (2 n))`; `+inf` if `n` is 0.
///
/// With `level = ln(1 / alpha)` and a fixed `n`, mean + radius misses the true mean with
/// probability at most `alpha` (Hoeffding 1963, Theorem 1).
///
/// ```
/// assert_eq!(confidence::hoeffding_radius(2.0, 1.0), 0.5);
/// assert_eq!(confidence::hoeffding_radius(0.0, 1.0), f64::INFINITY);
/// ```
pub fn hoeffding_radius(n: f64, level: f64) -> f64 {
    root_of_ratio(0.5, n, level)
}

/// `sqrt(2 level / n)`, the bonus of UCB1; `+inf` if `n` is 0.
///
/// ```
/// assert_eq!(confidence::ucb1_radius(2.0, 1.0), 1.0);
/// ```
pub fn ucb1_radius(n: f64, level: f64) -> f64 {
    root_of_ratio(2.0, n, level)
}

/// `sqrt(2 level / (3 n))`, the bonus of RSF-UCB, `n` counting observed displays only; `+inf` if
/// `n` is 0.
///
/// ```
/// assert_eq!(confidence::rsf_ucb_radius(6.0, 9.0), 1.0);
/// ```
#[inline]
pub fn rsf_ucb_radius(n: f64, level: f64) -> f64 {
    if n <= 0.0 || n.is_nan() {
        return f64::INFINITY;
    }
    let ratio = 2.0 * level.max(0.0) / (3.0 * n);
    if ratio < f64::MIN_POSITIVE {
        return root_of_ratio(2.0 / 3.0, n, level);
    }
    if ratio.is_nan() { f64::INFINITY } else { sqrt(ratio) }
}

/// `sqrt(factor level / n)`; `+inf` if `n` is 0.
///
/// RUCB's bonus is the one with `factor = alpha` and `level = ln t`, that of `CascadeUCB1` has
/// `factor = 1.5`. A negative factor counts as 0.
///
/// ```
/// // RUCB with alpha = 0.51 at ln t = 4 and 51 comparisons: sqrt(0.51 * 4 / 51) = 0.2
/// assert!((confidence::scaled_radius(51.0, 4.0, 0.51) - 0.2).abs() < 1e-15);
/// ```
pub fn scaled_radius(n: f64, level: f64, factor: f64) -> f64 {
    root_of_ratio(factor.max(0.0), n, level)
}

/// `sqrt(2 variance level / n) + 3 level / n`, the empirical Bernstein bonus of UCB-V; `+inf` if
/// `n` is 0.
///
/// `variance` is the empirical variance with divisor `n` (a negative one counts as 0),
/// `level = ln(3 / alpha)` for variables in `[0, 1]`: the mean then differs by more than the radius
/// with probability at most `alpha` (two-sided, fixed `n`).
///
/// ```
/// // sqrt(2 * 0.25 * 1 / 2) + 3 / 2
/// assert_eq!(confidence::bernstein_radius(2.0, 0.25, 1.0), 2.0);
/// ```
pub fn bernstein_radius(n: f64, variance: f64, level: f64) -> f64 {
    root_of_ratio(2.0 * variance.max(0.0), n, level) + plain_ratio(3.0, n, level)
}

/// `sqrt(2 variance level / n) + 7 level / (3 (n - 1))`; `+inf` if `n` is at most 1.
///
/// `variance` is the sample variance with divisor `n - 1` (a negative one counts as 0),
/// `level = ln(2 / alpha)` for variables in `[0, 1]`: the true mean then exceeds mean + radius (or
/// is below mean - radius) with probability at most `alpha` (one-sided, fixed `n`).
///
/// ```
/// // sqrt(2 * 0.25 * 1 / 2) + 7 / 3
/// assert!((confidence::sample_bernstein_radius(2.0, 0.25, 1.0) - (0.5 + 7.0 / 3.0)).abs() < 1e-15);
/// ```
pub fn sample_bernstein_radius(n: f64, variance: f64, level: f64) -> f64 {
    root_of_ratio(2.0 * variance.max(0.0), n, level) + plain_ratio(7.0 / 3.0, n - 1.0, level)
}

/// `factor level / n`, the second term of the Bernstein bounds.
#[inline]
fn plain_ratio(factor: f64, n: f64, level: f64) -> f64 {
    if n <= 0.0 || n.is_nan() {
        return f64::INFINITY;
    }
    let ratio = factor * (level.max(0.0) / n);
    if ratio.is_nan() { f64::INFINITY } else { ratio }
}

/// `sqrt(n / n~) sqrt(level / (2 n~))`, the bonus of PBM-UCB; `+inf` if `weighted_shows` is 0.
///
/// `n` is how often the item was shown, at any position, and `weighted_shows` the sum over these
/// shows of the examination probability of the position (`n~` in the paper).
///
/// ```
/// // Two shows at positions examined half of the time: sqrt(2 / 1) sqrt(1 / 2) = 1.
/// assert!((confidence::pbm_ucb_radius(2.0, 1.0, 1.0) - 1.0).abs() < 1e-15);
/// ```
#[inline]
pub fn pbm_ucb_radius(n: f64, weighted_shows: f64, level: f64) -> f64 {
    if n <= 0.0 || weighted_shows <= 0.0 || n.is_nan() || weighted_shows.is_nan() {
        return f64::INFINITY;
    }
    let radius = sqrt(n / weighted_shows) * hoeffding_radius(weighted_shows, level);
    // 0 times inf: examinations so rare that the ratio overflows.
    if radius.is_nan() { f64::INFINITY } else { radius }
}

/// `4 sqrt(ln(log2(2 n) / rho) / n)`, the radius of `CascadeBAI`'s Algorithm 1 as printed; `+inf`
/// if `n` is 0.
///
/// ```
/// // n = 1: 4 sqrt(ln(1 / rho))
/// assert!((confidence::lil_radius(1, (-1.0_f64).exp()) - 4.0).abs() < 1e-14);
/// ```
#[inline]
pub fn lil_radius(n: u64, rho: f64) -> f64 {
    lil_radius_scaled(n, rho, 4.0)
}

/// `scale sqrt(ln(log2(2 n) / rho) / n)`; `+inf` if `n` is 0.
///
/// `scale` is `4 sigma` for sub-Gaussian variables with parameter `sigma`: 2 is enough for
/// variables in `[0, 1]`. A `rho` that is not positive gives `+inf`; the logarithm of a ratio below
/// 1 counts as 0.
///
/// ```
/// assert_eq!(confidence::lil_radius_scaled(7, 0.1, 4.0), 2.0 * confidence::lil_radius_scaled(7, 0.1, 2.0));
/// ```
#[inline]
pub fn lil_radius_scaled(n: u64, rho: f64, scale: f64) -> f64 {
    if n == 0 || rho <= 0.0 || rho.is_nan() {
        return f64::INFINITY;
    }
    let n = n as f64;
    // log2(2 n) = 1 + log2(n) is at least 1.
    let doublings = 1.0 + ln(n) * core::f64::consts::LOG2_E;
    let log = (ln(doublings) - ln(rho)).max(0.0);
    // An infinite scale times 0 counts as 0.
    if log == 0.0 { 0.0 } else { scale.max(0.0) * sqrt(log / n) }
}
