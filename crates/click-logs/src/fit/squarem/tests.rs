use super::*;

struct NoNumber;

impl Em for NoNumber {
    fn step(&self, _: &[f64], to: &mut [f64]) {
        to.fill(f64::NAN);
    }

    fn log_likelihood(&self, _: &[f64]) -> f64 {
        f64::NAN
    }
}

#[test]
fn steps_that_are_no_numbers_do_not_converge() {
    let end = maximise(&NoNumber, &mut vec![0.5; 3], &EmOptions::default());
    assert!(!end.converged && end.log_likelihood.is_nan() && end.iterations < 5, "{end:?}");
}

/// Parameters that approach .5, each by a share of its distance. The likelihood is so flat that it
/// shows rounding errors only.
struct Flat;

impl Em for Flat {
    fn step(&self, from: &[f64], to: &mut [f64]) {
        for ((to, from), rate) in to.iter_mut().zip(from).zip([0.9999, 0.9995, 0.999, 0.99, 0.9]) {
            *to = 0.5 + rate * (from - 0.5);
        }
    }

    fn log_likelihood(&self, at: &[f64]) -> f64 {
        let error = at[0].to_bits().wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 58;
        -1000.0 * (1.0 + 1e-15 * error as f64)
    }
}

/// Rounding errors of the likelihood do not take extrapolations back; that took 360 steps.
#[test]
fn rounding_errors_are_no_falls() {
    let mut at = vec![0.2; 5];
    let end = maximise(&Flat, &mut at, &EmOptions::default());
    assert!(end.converged && end.iterations < 150, "{end:?}");
    assert!(at.iter().all(|p| (p - 0.5).abs() < 1e-3), "{at:?}");
}
