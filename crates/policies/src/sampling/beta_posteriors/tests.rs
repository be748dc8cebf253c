//! The envelope of the upper tail against exact Beta distributions.
//!
//! A candidate exceeds the threshold with probability `P(X > tau) / q`. The share of 100,000
//! candidates that does is compared with it, at five standard deviations (a false alarm has
//! probability 6e-7). The distribution of the accepted draws is compared with that of `X` given
//! `X > tau` by the Kolmogorov-Smirnov test of `sampling/tests.rs`: what is off by 1.5 times the
//! tolerance, 0.016 or less in half of the cases, is caught with a probability of .98.

use super::super::tests::beta_distribution;
use super::*;
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

const CANDIDATES: u32 = 100_000;

/// The largest distance of the empirical distribution function from this one at every thousandth
/// part of the draws: exact distribution functions are costly. The bound on false alarms holds at
/// some points all the more, and what lies between two of them is 0.001.
fn distance(mut draws: Vec<f64>, exact: impl Fn(f64) -> f64) -> f64 {
    draws.sort_unstable_by(f64::total_cmp);
    let (n, step) = (draws.len() as f64, draws.len().div_ceil(1000));
    let ranks = (1..=draws.len()).filter(|rank| rank.is_multiple_of(step));
    ranks.map(|rank| (exact(draws[rank - 1]) - rank as f64 / n).abs()).fold(0.0, f64::max)
}

/// Successes, failures, and standard deviations of the threshold above the mean.
const CASES: [(f64, f64, f64); 20] = [
    (0.0, 0.0, 1.2),
    (0.0, 3.0, 1.5),
    (0.0, 40_000.0, 2.0),
    (1.0, 0.0, 1.3),
    (30.0, 0.0, 0.7),
    (1.0, 7.0, 1.5),
    (3.0, 0.25, 1.1),
    (5.0, 2.5, 1.3),
    (12.0, 30.75, 1.5),
    (13.0, 30.75, 1.5),
    (13.0, 0.5, 0.9),
    (70.0, 6.5, 1.2),
    (900.0, 4_000.0, 2.5),
    (8_000.0, 20_000.0, 1.3),
    // After priors that are no whole counts.
    (-0.5, 0.0, 0.5),
    (-0.5, 1.5, 1.2),
    (-0.95, 4.5, 1.5),
    (-0.2, 900.0, 2.0),
    (0.5, 3.0, 0.6),
    (13.5, 30.75, 1.5),
];

fn threshold_of((successes, failures, deviations): (f64, f64, f64)) -> Threshold {
    let (a, b) = (successes + 1.0, failures + 1.0);
    let mean = a / (a + b);
    let value = mean + deviations * (mean * (1.0 - mean) / (a + b + 1.0)).sqrt();
    // Below 1 if there are few failures.
    Threshold::near(value.min(1.0 - 0.25 * (1.0 - mean)))
}

#[test]
fn candidates_have_the_law_of_the_upper_tail() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut seen_without = 0;
    for case in CASES {
        let (successes, failures, _) = case;
        let threshold = threshold_of(case);
        let evidence = Evidence { successes, failures };
        let exact = beta_distribution(successes + 1.0, failures + 1.0);
        let (bound, above) = (evidence.bound(&threshold), 1.0 - exact(threshold.value));
        assert!(bound <= 1.0 && bound >= above * (1.0 - 1e-6), "{case:?}: {bound} for {above}");
        let draws: Vec<f64> =
            (0..CANDIDATES).filter_map(|_| evidence.draw_above(&threshold, 0.0, &mut rng)).collect();
        let (share, expected) = (draws.len() as f64 / f64::from(CANDIDATES), (above / bound).min(1.0));
        let tolerance = 5.0 * (expected * (1.0 - expected) / f64::from(CANDIDATES)).sqrt() + 1e-6;
        assert!((share - expected).abs() <= tolerance, "{case:?}: {share} of {expected}");
        let tail = |x: f64| ((exact(x) - exact(threshold.value)) / above).clamp(0.0, 1.0);
        let tolerance = (libm::log(2e6) / (2.0 * draws.len() as f64)).sqrt() + 1e-6;
        let found = distance(draws, tail);
        assert!(found <= tolerance, "{case:?}: {found}");

        // The envelope's own draws, none rejected, are not accepted as the tail.
        if successes != 0.0 && failures > 0.0 {
            let exponent = evidence.exponent(&threshold);
            let proposals = (0..CANDIDATES).map(|_| {
                let share = -libm::expm1(-exponential(&mut rng) / exponent);
                threshold.value + threshold.miss * share
            });
            seen_without += u32::from(distance(proposals.collect(), tail) > tolerance);
            assert!((1.0 - expected).abs() > 0.05, "{case:?}: acceptance is nearly certain");
        }
    }
    assert_eq!(seen_without, 14);
}

/// Densities of counts up to 2^40, some of them fractions, on both sides of the change of method,
/// with logarithms of the Gamma function. Those lose digits at large counts, so the tolerance grows
/// with these.
#[test]
fn densities_are_those_of_the_gamma_function() {
    for successes in [-0.99, -0.5, 0.125, 1.0, 2.0, 6.5, 12.0, 13.0, 40.0, 1e4, 1_099_511_627_776.0] {
        for failures in [0.125, 0.9, 1.0, 3.5, 12.0, 500.25, 1e5, 1_099_511_627_776.0] {
            for deviations in [0.5, 1.0, 4.0] {
                let threshold = threshold_of((successes, failures, deviations));
                let gammas = libm::lgamma(successes + failures + 2.0)
                    - libm::lgamma(successes + 1.0)
                    - libm::lgamma(failures + 1.0);
                let logarithm = gammas + successes * threshold.ln_value + failures * threshold.ln_miss;
                // Below the smallest floating-point numbers, where a rate of 0 is right.
                if logarithm < -600.0 {
                    continue;
                }
                let found = ln(Evidence { successes, failures }.density(&threshold));
                let tolerance = 1e-11 + 4e-14 * (successes + failures);
                assert!(
                    (found - logarithm).abs() <= tolerance,
                    "{successes}, {failures}: {found}, {logarithm}"
                );
            }
        }
    }
}

/// For all counts, a bound is a probability or shows that the item is drawn in full, and a draw is
/// above the threshold.
#[test]
fn extreme_counts_have_bounds_and_draws() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(2);
    let counts = [0.0, 1e-9, 1.0, 2.5, 13.0, 1000.0, 1e9, 1_099_511_627_776.0];
    for successes in counts.map(f64::floor).into_iter().chain([-1.0, -0.999, -0.3, 1e-300, 0.3, 1e9 + 0.5]) {
        for failures in counts {
            for step in [-30, -12, -3, -1, 0, 1, 3, 12, 30] {
                let threshold = Threshold::at(step << 20);
                let evidence = Evidence { successes, failures };
                let bound = evidence.bound(&threshold);
                assert!(bound >= 0.0, "{successes}, {failures}, {step}: {bound}");
                // A number of successes that is rounded to -1 has no candidates.
                if bound <= 0.35 && successes > -1.0 {
                    for _ in 0..20 {
                        let draw = evidence.draw_above(&threshold, 0.0, &mut rng);
                        let is_above = draw.is_none_or(|draw| draw >= threshold.value && draw <= 1.0);
                        assert!(is_above, "{successes}, {failures}, {step}: {draw:?}");
                    }
                }
            }
        }
    }
}
