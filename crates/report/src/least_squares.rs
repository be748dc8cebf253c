//! Fits a curve to means: ordinary least squares of `y = slope x^power + intercept`.
//!
//! `R^2` is the share of the variance of `y` that the curve explains. The p-value compares the
//! curve with a constant. The band is the 95 % confidence interval of the curve at each place, not
//! of single measurements.

use super::student;

/// A fitted curve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct LeastSquares {
    power: f64,
    /// Factor of the power.
    pub slope: f64,
    /// Standard error of the slope.
    pub slope_se: f64,
    /// The value at zero.
    pub intercept: f64,
    /// Standard error of the intercept.
    pub intercept_se: f64,
    /// Share of the variance that the curve explains.
    pub r_squared: f64,
    /// p-value of the hypothesis that there is no slope.
    pub p_value: f64,
    /// Degrees of freedom of the residuals.
    pub freedom: u64,
    /// Standard deviation of the residuals.
    deviation: f64,
    /// Number of points, mean of the powers and sum of their squared deviations.
    count: f64,
    mean: f64,
    spread: f64,
}

impl LeastSquares {
    /// Fits a curve to points `(x, y)`. `None` for fewer than three points, if all `x` are equal,
    /// or if a value is not finite.
    pub(crate) fn of(points: &[(f64, f64)], power: f64) -> Option<Self> {
        let count = points.len() as f64;
        let freedom = (points.len() as u64).checked_sub(2).filter(|&freedom| freedom > 0)?;
        let powers: Vec<f64> = points.iter().map(|point| libm::pow(point.0, power)).collect();
        let mean = powers.iter().sum::<f64>() / count;
        let mean_y = points.iter().map(|point| point.1).sum::<f64>() / count;
        let deviations = || powers.iter().zip(points).map(|(x, point)| (x - mean, point.1 - mean_y));
        let spread: f64 = deviations().map(|(x, _)| x * x).sum();
        let total: f64 = deviations().map(|(_, y)| y * y).sum();
        let together: f64 = deviations().map(|(x, y)| x * y).sum();
        let slope = together / spread;
        let residual: f64 = deviations()
            .map(|(x, y)| {
                let left = y - slope * x;
                left * left
            })
            .sum();
        let deviation = (residual / freedom as f64).sqrt();
        let slope_se = deviation / spread.sqrt();
        let fit = Self {
            power,
            slope,
            slope_se,
            intercept: mean_y - slope * mean,
            intercept_se: deviation * (1.0 / count + mean * mean / spread).sqrt(),
            r_squared: 1.0 - residual / total,
            p_value: (2.0 * student::upper_tail((slope / slope_se).abs(), freedom)).min(1.0),
            freedom,
            deviation,
            count,
            mean,
            spread,
        };
        (fit.slope.is_finite() && fit.r_squared.is_finite()).then_some(fit)
    }

    /// The power as it is written after a name.
    pub(crate) fn power_in_words(&self) -> String {
        if self.power == 1.0 { String::new() } else { format!("^{}", self.power) }
    }

    /// The value of the curve at `x`.
    pub(crate) fn at(&self, x: f64) -> f64 {
        self.slope * libm::pow(x, self.power) + self.intercept
    }

    /// Half the width of the 95 % confidence interval of the curve at `x`.
    pub(crate) fn band(&self, x: f64) -> f64 {
        let away = libm::pow(x, self.power) - self.mean;
        self.reach() * self.deviation * (1.0 / self.count + away * away / self.spread).sqrt()
    }

    /// The number of standard errors that a confidence interval reaches to either side.
    pub(crate) fn reach(&self) -> f64 {
        student::reach(self.freedom).unwrap_or(f64::INFINITY)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// x = 1, 2, 3, 4 and y = 3, 5, 4, 8: `S_xx` = 5, `S_xy` = 7, `S_yy` = 14; slope 1.4, intercept
    /// 1.5, residuals .1, .7, -1.7, .9 with the sum of squares 4.2, so R^2 = .7, s^2 = 2.1.
    #[test]
    fn the_fit_of_a_line_is_that_computed_by_hand() {
        let points = [(1.0, 3.0), (2.0, 5.0), (3.0, 4.0), (4.0, 8.0)];
        let fit = LeastSquares::of(&points, 1.0).unwrap();
        let close =
            |found: f64, expected: f64| assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        close(fit.slope, 1.4);
        close(fit.intercept, 1.5);
        close(fit.r_squared, 0.7);
        close(fit.slope_se, (2.1_f64 / 5.0).sqrt());
        close(fit.intercept_se, (2.1_f64 * (0.25 + 6.25 / 5.0)).sqrt());
        // Two degrees of freedom: P(|T| > t) = 1 - t / sqrt(2 + t^2), with t^2 = 1.96 / .42 = 14 /
        // 3.
        let t = (14.0_f64 / 3.0).sqrt();
        close(fit.p_value, 1.0 - t / (2.0 + t * t).sqrt());
        close(fit.at(10.0), 15.5);
        // 4.302653 is the 97.5 % quantile. At the mean 2.5 the width is that for a mean of four
        // points.
        assert!((fit.band(2.5) - 4.302_652_73 * (2.1_f64 / 4.0).sqrt()).abs() < 1e-6);
        assert!(fit.band(4.0) > fit.band(3.0));
    }

    #[test]
    fn a_power_is_a_line_in_that_power() {
        let points: Vec<(f64, f64)> = (1..=5).map(|x| (f64::from(x), f64::from(3 * x * x + 7))).collect();
        let fit = LeastSquares::of(&points, 2.0).unwrap();
        assert!((fit.slope - 3.0).abs() < 1e-12 && (fit.intercept - 7.0).abs() < 1e-10);
        assert!(fit.r_squared > 1.0 - 1e-12 && fit.p_value < 1e-12);
        assert!(LeastSquares::of(&points, 1.0).unwrap().r_squared < 0.97);
    }

    #[test]
    fn points_that_determine_no_line_have_no_fit() {
        assert_eq!(LeastSquares::of(&[(1.0, 1.0), (2.0, 2.0)], 1.0), None);
        assert_eq!(LeastSquares::of(&[(1.0, 1.0), (1.0, 2.0), (1.0, 3.0)], 1.0), None);
        assert_eq!(LeastSquares::of(&[(1.0, 1.0), (2.0, f64::NAN), (3.0, 3.0)], 1.0), None);
        // A constant has no variance to explain.
        assert_eq!(LeastSquares::of(&[(1.0, 2.0), (2.0, 2.0), (3.0, 2.0)], 1.0), None);
    }
}
