//! Tails and quantiles of Student's t distribution, and confidence intervals.
//!
//! The tail is computed by statrs, the quantile from the tail by bisection. The quantile of statrs
//! is off by 2e-5 at 999,999 degrees of freedom and level 0.025, and by a factor of five at 1
//! degree of freedom and level 1e-9.

use statrs::distribution::{ContinuousCDF as _, StudentsT};

/// The confidence of the intervals that readers see.
pub(crate) const CONFIDENCE: &str = "95 %";

/// The probability beyond either end of such an interval.
const BEYOND_EITHER_END: f64 = 0.025;

/// The standard errors from a mean to either end of such an interval; `None` if unknown.
pub(crate) fn reach(freedom: u64) -> Option<f64> {
    (freedom > 0).then(|| critical(BEYOND_EITHER_END, freedom))
}

/// `P(T > t)` for Student's distribution with this many degrees of freedom.
///
/// Without a degree of freedom the spread is unknown, and the result is 1 for every t.
pub(crate) fn upper_tail(t: f64, freedom: u64) -> f64 {
    if t.is_nan() {
        return 1.0;
    }
    StudentsT::new(0.0, 1.0, freedom as f64).map_or(1.0, |distribution| distribution.sf(t))
}

/// The t with `P(T > t) = level`, for a level below one half; infinite without a degree of freedom.
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
        // No number lies between two neighbours: the rest of the steps would change nothing.
        if middle == low || middle == high {
            break;
        }
        if upper_tail(middle, freedom) > level {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(left: f64, right: f64, tolerance: f64) {
        assert!((left - right).abs() <= tolerance * right.abs(), "{left} is not {right}");
    }

    #[test]
    fn quantiles_agree_with_printed_tables() {
        close(critical(0.001, 19), 3.579_4, 1e-4);
        close(critical(0.025, 1), 12.706_2, 1e-5);
        close(critical(0.001, 100_000_000), 3.090_232, 1e-6);
        assert_eq!(critical(0.001, 0), f64::INFINITY);
        close(reach(1).unwrap(), 12.706_2, 1e-5);
        assert_eq!(reach(0), None);
    }

    /// With one degree of freedom the quantile is `1 / tan(pi level)`, about `1 / (pi level)`.
    #[test]
    fn quantiles_of_small_levels_are_exact() {
        close(critical(1e-9, 1), 1e9 / std::f64::consts::PI, 1e-8);
        close(critical(1e-6, 1), 1e6 / std::f64::consts::PI, 1e-8);
    }

    #[test]
    fn the_tail_is_one_half_at_zero_symmetric_and_decreasing() {
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
