//! Statistics of samples over runs.

use sim::mean_and_error;

/// The ratio of the means of two samples of the same runs, and its standard error by the delta
/// method: the standard error of the mean of `above - ratio * below`, divided by the mean of
/// `below`.
pub(crate) fn ratio_of_means(above: &[f64], below: &[f64]) -> (f64, f64) {
    let (mean, _) = mean_and_error(below);
    let ratio = mean_and_error(above).0 / mean;
    let left: Vec<f64> = above.iter().zip(below).map(|(above, below)| above - ratio * below).collect();
    (ratio, mean_and_error(&left).1 / mean.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_of_a_ratio_is_that_of_the_residuals() {
        // Means 3 and 2, ratio 1.5. The residuals 0.5, -1 and 0.5 have the standard deviation
        // sqrt(.75); the error divides it by sqrt(3) and 2.
        let (ratio, error) = ratio_of_means(&[2.0, 2.0, 5.0], &[1.0, 2.0, 3.0]);
        assert_eq!(ratio, 1.5);
        assert!((error - 0.25).abs() < 1e-15, "{error}");
        // Samples that are proportional run by run have a ratio without error.
        assert_eq!(ratio_of_means(&[2.0, 20.0], &[1.0, 10.0]), (2.0, 0.0));
        assert!(ratio_of_means(&[1.0], &[0.0]).0.is_infinite() && ratio_of_means(&[], &[]).0.is_nan());
    }
}
