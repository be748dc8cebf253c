//! How surprising a mean is: tails and quantiles of Student's t distribution.
//!
//! The mean of n independent runs divided by its estimated standard error has, for means of many rounds, close to Student's
//! distribution with n - 1 degrees of freedom; with thousands of runs that is the normal distribution, with twenty its
//! tails are clearly heavier. The tail is the regularised incomplete beta function,
//! `P(T > t) = I_x(v / 2, 1 / 2) / 2` with `x = v / (v + t^2)`, by its continued fraction (modified Lentz).

/// `P(T > t)` for Student's distribution with this many degrees of freedom.
///
/// With no degree of freedom nothing is known of the spread: 1 for every t.
pub(crate) fn upper_tail(t: f64, freedom: u64) -> f64 {
    if freedom == 0 || t.is_nan() {
        return 1.0;
    }
    if t < 0.0 {
        return 1.0 - upper_tail(-t, freedom);
    }
    if t == f64::INFINITY {
        return 0.0;
    }
    let freedom = freedom as f64;
    0.5 * incomplete_beta(freedom / 2.0, 0.5, freedom, t * t)
}

/// The t with `P(T > t) = level`, for a level below one half; infinite with no degree of freedom.
pub(crate) fn critical(level: f64, freedom: u64) -> f64 {
    if freedom == 0 {
        return f64::INFINITY;
    }
    let mut high = 1.0;
    while upper_tail(high, freedom) > level && high < 1e300 {
        high *= 2.0;
    }
    let mut low = 0.0;
    for _ in 0..200 {
        let middle = f64::midpoint(low, high);
        if upper_tail(middle, freedom) > level {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

/// `I_x(a, b)` at `x = p / (p + q)`; given by its two parts because `1 - x` would lose digits.
fn incomplete_beta(a: f64, b: f64, p: f64, q: f64) -> f64 {
    if q == 0.0 {
        return 1.0;
    }
    let (x, y) = (p / (p + q), q / (p + q));
    let front = libm::exp(
        libm::lgamma(a + b) - libm::lgamma(a) - libm::lgamma(b) + a * libm::log(x) + b * libm::log(y),
    );
    // The fraction converges quickly on one side of the mean; on the other, swap the tails.
    if x < (a + 1.0) / (a + b + 2.0) {
        front * beta_fraction(a, b, x) / a
    } else {
        1.0 - front * beta_fraction(b, a, y) / b
    }
}

fn beta_fraction(a: f64, b: f64, x: f64) -> f64 {
    let away = |value: f64| if value.abs() < 1e-300 { 1e-300 } else { value };
    let mut c = 1.0;
    let mut d = 1.0 / away(1.0 - (a + b) * x / (a + 1.0));
    let mut fraction = d;
    for step in 1..100_000_u32 {
        let m = f64::from(step);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        d = 1.0 / away(1.0 + even * d);
        c = away(1.0 + even / c);
        fraction *= d * c;
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        d = 1.0 / away(1.0 + odd * d);
        c = away(1.0 + odd / c);
        fraction *= d * c;
        if (d * c - 1.0).abs() < 1e-15 {
            break;
        }
    }
    fraction
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(left: f64, right: f64, tolerance: f64) {
        assert!((left - right).abs() <= tolerance * right.abs(), "{left} is not {right}");
    }

    #[test]
    fn the_cauchy_distribution_is_one_degree_of_freedom() {
        for t in [0.1, 1.0, 3.0, 100.0, 1e6] {
            close(upper_tail(t, 1), libm::atan2(1.0, t) / std::f64::consts::PI, 1e-11);
        }
    }

    #[test]
    fn two_degrees_of_freedom_have_a_closed_form() {
        for t in [0.5_f64, 2.0, 10.0] {
            close(upper_tail(t, 2), 0.5 * (1.0 - t / (2.0 + t * t).sqrt()), 1e-11);
        }
    }

    #[test]
    fn many_degrees_of_freedom_are_the_normal_distribution() {
        for t in [0.0, 1.0, 2.0, 3.0] {
            close(upper_tail(t, 100_000_000), 0.5 * libm::erfc(t / std::f64::consts::SQRT_2), 1e-6);
        }
    }

    #[test]
    fn quantiles_are_those_of_the_tables() {
        close(critical(0.001, 19), 3.579_4, 1e-4);
        close(critical(0.025, 1), 12.706_2, 1e-5);
        close(critical(0.001, 100_000_000), 3.090_232, 1e-6);
        assert_eq!(critical(0.001, 0), f64::INFINITY);
    }

    #[test]
    fn the_tail_is_one_half_at_zero_symmetric_and_falls() {
        for freedom in [1, 5, 249, 1999] {
            close(upper_tail(0.0, freedom), 0.5, 1e-12);
            close(upper_tail(1.3, freedom) + upper_tail(-1.3, freedom), 1.0, 1e-12);
            assert!(upper_tail(40.0, freedom) < upper_tail(4.0, freedom));
        }
        assert_eq!(upper_tail(f64::INFINITY, 5), 0.0);
        assert_eq!(upper_tail(f64::NEG_INFINITY, 5), 1.0);
        assert_eq!(upper_tail(5.0, 0), 1.0);
    }
}
