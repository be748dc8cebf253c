//! Means of what differs from run to run, with their standard errors.

use sim::mean_and_error;

/// Mean of one sample by the mean of another of the same runs, and its standard error by the delta method: the error of the
/// mean of `above - ratio * below`, by the mean of `below`.
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
    fn a_ratio_has_the_error_of_what_is_left() {
        // Means 3 and 2, ratio 1.5; left are 0.5, -1 and 0.5 with standard deviation sqrt(.75), divided by sqrt(3) and 2.
        let (ratio, error) = ratio_of_means(&[2.0, 2.0, 5.0], &[1.0, 2.0, 3.0]);
        assert_eq!(ratio, 1.5);
        assert!((error - 0.25).abs() < 1e-15, "{error}");
        // Proportional run by run: known exactly, however much the runs differ.
        assert_eq!(ratio_of_means(&[2.0, 20.0], &[1.0, 10.0]), (2.0, 0.0));
        assert!(ratio_of_means(&[1.0], &[0.0]).0.is_infinite() && ratio_of_means(&[], &[]).0.is_nan());
    }
}
