//! The normal distribution.

use core::f64::consts::{FRAC_1_SQRT_2, PI};

/// Number of standard deviations from the mean to each end of the interval that a normal variable
/// is in with probability `level`.
///
/// # Examples
///
/// ```
/// assert!((confidence::normal_quantile(0.95) - 1.959_963_984_540_054).abs() < 1e-12);
/// ```
pub fn normal_quantile(level: f64) -> f64 {
    // erfc(z / sqrt 2) = 1 - level is convex and falls for z > 0, so Newton's method from the left
    // never overshoots.
    let tail = 1.0 - level;
    let mut z = 0.0_f64;
    for _ in 0..200 {
        let scaled = z * FRAC_1_SQRT_2;
        let density = 2.0 / libm::sqrt(2.0 * PI) * libm::exp(-scaled * scaled);
        let step = (libm::erfc(scaled) - tail) / density;
        z += step;
        if step <= 1e-15 * z {
            break;
        }
    }
    z
}

/// Probability that a normal variable is at least `z` standard deviations from its mean, on either
/// side.
///
/// # Examples
///
/// ```
/// assert!((confidence::normal_tails(1.959_963_984_540_054) - 0.05).abs() < 1e-12);
/// ```
pub fn normal_tails(z: f64) -> f64 {
    libm::erfc(z.abs() * FRAC_1_SQRT_2)
}
