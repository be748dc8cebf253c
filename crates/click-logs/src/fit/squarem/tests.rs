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
    for accelerate in [false, true] {
        let options = EmOptions { accelerate, ..EmOptions::default() };
        let end = maximise(&NoNumber, &mut vec![0.5; 3], &options, false);
        assert!(!end.converged && end.last.change.is_nan() && end.last.iterations < 5, "{end:?}");
    }
}
