//! Guarantees as code: upper bounds, proved in the papers, on the probability that a confidence
//! bound misses.
//!
//! # Definition
//!
//! | function | bounds the probability that | reference |
//! |---|---|---|
//! | [`kl_ucb`] | the KL-UCB index at round `t` is below the mean | *Bernoulli rank-1 bandits* (2017), appendix, Theorem 2 |
//! | [`pbm_ucb`] | the PBM-UCB index at round `t` is below the attraction probability | PBM paper (2016), Proposition 8 |
//! | [`multi_position`] | the multi-position index at round `t` is below the attraction probability | PBM paper, Proposition 10 |
//! | [`lil`] | [`lil_radius_scaled`](crate::lil_radius_scaled) ever fails | `CascadeBAI` paper (2020), Theorem B.2 |
//! | [`rucb`] | any of RUCB's intervals fails at or after a round | RUCB paper (2014), Lemma 1 |
//!
//! # Deviations
//!
//! If the printed statement differs from what its proof gives, the argument [`Constants`] selects
//! one of the two.
//!
//! - Proposition 8 counts `log t / log(1 + gamma)` slices of the range of counts; a number of
//!   slices is whole, so the corrected bound rounds it up, as Theorem 2 and Proposition 10 do. It
//!   needs `delta > 1` (`gamma = 1 / (delta - 1)`); below, the bound is 1.
//! - Theorem B.2 prints `|sum X| <= 4 sigma sqrt(.. / tau)`, where the *mean* is meant. The
//!   algorithm adds `4 sqrt(..)` although `[0, 1]` variables have `sigma = 1/2`: [`lil_scale`]
//!   gives 4 as printed and 2 as needed.
//! - `rho(delta)` is `sqrt(delta / (12 L))` in the algorithm, as its union bound needs, and
//!   `delta / (12 L)` in two places: [`lil_rho`].
//!
//! All bounds are at most 1. They are 1 if their conditions fail. Finite arguments never give NaN.
//!
//! | code | paper | unit |
//! |---|---|---|
//! | `t` | `t` | rounds |
//! | `level` | `delta` | nats |
//! | `n_positions`, `n_items`, `n_arms` | `L`, `L`, `K` | count |
//! | `rho` | `omega`, `rho` | probability |
//!
//! # Numerics
//!
//! Logarithms replace powers that would overflow. Complexity: constant.

use crate::math::{ln, sqrt};

/// Which version of a statement's constants to use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Constants {
    /// As the paper prints them.
    Printed,
    /// As its proof gives them.
    #[default]
    Corrected,
}

/// `exp(log)`, at most 1; 1 for NaN.
fn probability(log: f64) -> f64 {
    if log < 0.0 { libm::exp(log) } else { 1.0 }
}

/// `e ceil(level ln t) exp(-level)`: the KL-UCB index of round `t` is below the mean with at most
/// this probability.
///
/// The number of observations may depend on the past in any way. For a level of at most 1 the proof
/// does not apply, and the bound is 1.
///
/// ```
/// let bound = confidence::coverage_bound::kl_ucb(1000, 15.0);
/// // ceil(15 ln 1000) = 104
/// assert!((bound - 104.0 * libm::exp(-14.0)).abs() < 1e-15);
/// ```
pub fn kl_ucb(t: u64, level: f64) -> f64 {
    if !(level > 1.0 && level < f64::INFINITY) {
        return if level == f64::INFINITY { 0.0 } else { 1.0 };
    }
    let slices = libm::ceil(level * ln(t.max(1) as f64));
    probability(1.0 - level + ln(slices))
}

/// `e level ln(t) exp(-level)`: Proposition 8 of the PBM paper; the corrected version rounds the
/// number of slices `level ln t` up.
///
/// The bound is on the probability that the PBM-UCB index at round `t` is below the attraction
/// probability.
///
/// ```
/// use confidence::coverage_bound::{Constants, pbm_ucb};
///
/// let printed = pbm_ucb(100, 10.0, Constants::Printed);
/// assert!((printed - 10.0 * libm::log(100.0) * libm::exp(-9.0)).abs() < 1e-15);
/// assert!(pbm_ucb(100, 10.0, Constants::Corrected) > printed);
/// ```
pub fn pbm_ucb(t: u64, level: f64, constants: Constants) -> f64 {
    if !(level > 1.0 && level < f64::INFINITY) {
        return if level == f64::INFINITY { 0.0 } else { 1.0 };
    }
    let slices = level * ln(t.max(1) as f64);
    let slices = if constants == Constants::Printed { slices } else { libm::ceil(slices) };
    probability(1.0 - level + ln(slices))
}

/// `e^(L + 1) (ceil(level ln t) level / L)^L exp(-level)` for `level >= L + 1`, else 1: Proposition
/// 10 of the PBM paper.
///
/// The bound is on the probability that the multi-position index at round `t` is below the
/// attraction probability; `L` is `n_positions`.
///
/// ```
/// use confidence::coverage_bound::multi_position;
///
/// // L = 1: e^2 ceil(20 ln 100) 20 exp(-20), ceil(20 ln 100) = 93
/// assert!((multi_position(100, 20.0, 1) - 93.0 * 20.0 * libm::exp(-18.0)).abs() < 1e-15);
/// assert_eq!(multi_position(100, 3.0, 3), 1.0);
/// ```
pub fn multi_position(t: u64, level: f64, n_positions: usize) -> f64 {
    let positions = n_positions.max(1) as f64;
    if !(level >= positions + 1.0 && level < f64::INFINITY) {
        return if level == f64::INFINITY { 0.0 } else { 1.0 };
    }
    let slices = libm::ceil(level * ln(t.max(1) as f64));
    probability(positions + 1.0 + positions * ln(slices * level / positions) - level)
}

/// `6 rho^2` for `rho < sqrt(1/6)`, else 1: Theorem B.2 of the `CascadeBAI` paper, two-sided, for
/// all numbers of observations simultaneously.
///
/// ```
/// assert!((confidence::coverage_bound::lil(0.05) - 0.015).abs() < 1e-16);
/// ```
pub fn lil(rho: f64) -> f64 {
    let bound = 6.0 * rho * rho;
    if rho >= 0.0 && bound < 1.0 { bound } else { 1.0 }
}

/// The factor of [`lil_radius_scaled`](crate::lil_radius_scaled) for variables in `[0, 1]`: 4 as
/// `CascadeBAI` prints it, 2 as Theorem B.2 needs it.
pub fn lil_scale(constants: Constants) -> f64 {
    match constants {
        Constants::Printed => 4.0,
        Constants::Corrected => 2.0,
    }
}

/// `sqrt(delta / (12 L))`, at which the probability that any of the `L` items fails is at most
/// `delta / 2`; or `delta / (12 L)`, as printed in the proofs.
///
/// ```
/// use confidence::coverage_bound::{Constants, lil, lil_rho};
///
/// let rho = lil_rho(0.1, 128, Constants::Corrected);
/// assert!((128.0 * lil(rho) - 0.05).abs() < 1e-16);
/// ```
pub fn lil_rho(delta: f64, n_items: usize, constants: Constants) -> f64 {
    let ratio = delta.max(0.0) / (12.0 * n_items.max(1) as f64);
    if constants == Constants::Printed { ratio } else { sqrt(ratio) }
}

/// `(4 alpha - 1) K^2 / ((2 alpha - 1) t^(2 alpha - 1))` for `alpha > 1/2`, else 1: bounds the
/// probability that any of RUCB's intervals fails at a round after `t`. Its inverse is
/// `click_models::bounds::rucb_settled_after`.
///
/// ```
/// // alpha = 1, K = 2: 3 * 4 / t
/// assert!((confidence::coverage_bound::rucb(1200, 2, 1.0) - 0.01).abs() < 1e-16);
/// ```
pub fn rucb(t: u64, n_arms: usize, alpha: f64) -> f64 {
    if !(alpha > 0.5 && alpha < f64::INFINITY) {
        return 1.0;
    }
    let arms = n_arms.max(1) as f64;
    let exponent = 2.0 * alpha - 1.0;
    // (4 alpha - 1) / (2 alpha - 1) = 2 + 1 / (2 alpha - 1) does not overflow.
    probability(ln(2.0 + 1.0 / exponent) + 2.0 * ln(arms) - exponent * ln(t.max(1) as f64))
}
