//! The families behind the trait: divergences and the indices that invert them.

#![expect(clippy::type_complexity, reason = "a list of families")]

use crate::common::numbers::Numbers;
use confidence::math::{ln, stirling_error};
use confidence::{Bernoulli, Divergence, Exponential, Gaussian, Poisson, bernoulli_kl};

fn families() -> Vec<(&'static str, Box<dyn Divergence>, fn(f64) -> f64)> {
    vec![
        ("Bernoulli", Box::new(Bernoulli), |unit| unit),
        ("Gaussian", Box::new(Gaussian::with_variance(2.5).unwrap()), |unit| 10.0 * (unit - 0.5)),
        ("Poisson", Box::new(Poisson), |unit| libm::pow(10.0, 8.0 * unit - 4.0)),
        ("exponential", Box::new(Exponential), |unit| libm::pow(10.0, 8.0 * unit - 4.0)),
    ]
}

#[test]
fn indices_invert_the_divergence_from_the_safe_side() {
    let mut numbers = Numbers(0x00fa_417e_5000_0001);
    for (name, family, mean) in families() {
        for _ in 0..20_000 {
            let p = mean(numbers.unit());
            let n = libm::pow(10.0, 6.0 * numbers.unit());
            let level = libm::pow(10.0, 5.0 * numbers.unit() - 3.0);
            for q in [family.upper(p, n, level), family.lower(p, n, level)] {
                let cost = n * family.divergence(p, q);
                let conditioning = n * family.derivative(p, q).abs() * q.abs().max(p.abs());
                // At least the level, up to rounding of the divergence itself, and not much more.
                let rounding = 1e-14 * level + 4.0 * f64::EPSILON * conditioning;
                if q != 0.0 && q != 1.0 {
                    assert!(
                        cost >= level - rounding,
                        "{name}: {cost} < {level} at p = {p}, q = {q}, n = {n}"
                    );
                    assert!(
                        cost <= level + 10.0 * rounding,
                        "{name}: {cost} > {level} at p = {p}, q = {q}, n = {n}"
                    );
                }
            }
        }
    }
}

#[test]
fn indices_without_observations_span_the_whole_range() {
    for (name, family, mean) in families() {
        let p = mean(0.5);
        assert_eq!(family.divergence(p, p), 0.0, "{name}");
        assert!(family.upper(p, 10.0, 0.0) >= p && family.lower(p, 10.0, 0.0) <= p);
        let (lower, upper) = (family.lower(p, 0.0, 1.0), family.upper(p, 0.0, 1.0));
        assert!(upper == f64::INFINITY || (name == "Bernoulli" && upper == 1.0), "{name}");
        assert!(lower == f64::NEG_INFINITY || lower == 0.0, "{name}");
    }
}

#[test]
fn divergences_and_bounds_have_their_closed_forms() {
    let ln_2 = core::f64::consts::LN_2;
    assert_eq!(Bernoulli.divergence(0.2, 0.7), bernoulli_kl(0.2, 0.7));
    assert_eq!(Gaussian::with_variance(2.0).unwrap().divergence(1.0, 3.0), 1.0);
    // 2 - 1 + ln(1/2)
    assert!((Poisson.divergence(1.0, 2.0) - (1.0 - ln_2)).abs() < 1e-15);
    // 1/2 - 1 - ln(1/2)
    assert!((Exponential.divergence(1.0, 2.0) - (ln_2 - 0.5)).abs() < 1e-15);
    // No event in n intervals: n q = level.
    assert!((Poisson.upper(0.0, 10.0, 5.0) - 0.5).abs() < 1e-15);
    assert_eq!(Poisson.lower(0.0, 10.0, 5.0), 0.0);
    assert_eq!(Exponential.divergence(0.0, 1.0), f64::INFINITY);
    assert!(Gaussian::with_variance(-1.0).is_err());
}

#[test]
fn derivatives_match_difference_quotients() {
    for (name, family, mean) in families() {
        for (p, q) in [(0.3, 0.4), (0.7, 0.2), (0.5, 0.9)] {
            let (p, q) = (mean(p), mean(q));
            let h = 1e-5 * q.abs();
            let difference = (family.divergence(p, q + h) - family.divergence(p, q - h)) / (2.0 * h);
            assert!((difference / family.derivative(p, q) - 1.0).abs() < 1e-6, "{name} at {p}, {q}");
        }
    }
}

/// Table and series equal the remainder of Stirling's formula.
#[test]
fn stirling_errors_match_factorials() {
    let mut log_factorial = 0.0;
    for n in 1..=60 {
        let n = f64::from(n);
        log_factorial += ln(n);
        let stirling = (n + 0.5) * ln(n) - n + 0.5 * ln(2.0 * std::f64::consts::PI);
        let found = stirling_error(n);
        assert!((found - (log_factorial - stirling)).abs() < 2e-13, "{n}: {found}");
    }
}

/// Also between the integers, where the logarithm of the Gamma function is that of `libm`.
#[test]
fn stirling_errors_match_the_gamma_function() {
    for step in 1..=400 {
        let n = f64::from(step) / 16.0 + 1e-3;
        let stirling = (n + 0.5) * ln(n) - n + 0.5 * ln(2.0 * std::f64::consts::PI);
        let (found, expected) = (stirling_error(n), libm::lgamma(n + 1.0) - stirling);
        assert!((found - expected).abs() < 1e-13 * (1.0 + libm::fabs(stirling)), "{n}: {found}, {expected}");
    }
}
