//! The divergence between two Bernoulli distributions, which [`klucb`](crate::klucb) inverts.
//! [`divergence`](crate::divergence) exports it and documents definition, reference and numerics.

use crate::math::{ln, ln_1p, relative_entropy};

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
