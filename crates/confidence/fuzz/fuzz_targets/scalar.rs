//! Calls every scalar function with any three bit patterns: no panic, no NaN from numbers, indices
//! in their range, and inverted tests that agree with the index.
//!
//! `cargo +nightly fuzz run scalar -- -max_total_time=60`
#![no_main]

use confidence::sequence::{BetaMixture, ConfidenceSequence, EmpiricalBernstein, HedgedBetting, KlMixture};
use confidence::*;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|numbers: [f64; 4]| {
    let [a, b, c, d] = numbers;
    let upper = kl_ucb_upper(a, b, c);
    let lower = kl_ucb_lower(a, b, c);
    assert!((0.0..=1.0).contains(&upper) && (0.0..=1.0).contains(&lower));
    if !a.is_nan() {
        let mean = a.clamp(0.0, 1.0);
        assert!(lower <= mean && mean <= upper);
        assert!(!bernoulli_kl(a, 0.5).is_nan() && !bernoulli_kl(0.5, a).is_nan());
    }
    let mut batch = [0.0; 9];
    kl_ucb_upper_batch(&[a; 9], &[b; 9], c, &mut batch);
    assert_eq!(batch, [upper; 9]);

    if numbers.iter().all(|x| !x.is_nan()) {
        let derived = [
            bernoulli_kl(a, b),
            bernoulli_kl_derivative(a, b),
            hoeffding_radius(a, b),
            ucb1_radius(a, b),
            rsf_ucb_radius(a, b),
            pbm_ucb_radius(a, b, c),
            scaled_radius(a, b, c),
            bernstein_radius(a, b, c),
            sample_bernstein_radius(a, b, c),
            lil_radius_scaled(a as u64, b, c),
            Poisson.divergence(a, b),
            Poisson.upper(a, b, c),
            Poisson.lower(a, b, c),
            Exponential.divergence(a, b),
            Exponential.upper(a, b, c),
            Exponential.lower(a, b, c),
            coverage_bound::kl_ucb(a as u64, b),
            coverage_bound::multi_position(a as u64, b, c as usize),
            coverage_bound::rucb(a as u64, b as usize, c),
            coverage_bound::lil(a),
            sequence::mixture_threshold(a),
            Gaussian::with_variance(2.0).unwrap().divergence(a, b),
        ];
        for (i, x) in derived.iter().enumerate() {
            assert!(!x.is_nan(), "number {i} of {numbers:?}");
        }
    }

    // Counts that belong together.
    let n = (b.abs() % 1e9).floor();
    if n >= 1.0 && !a.is_nan() {
        let clicks = (n * a.clamp(0.0, 1.0)).floor();
        let upper = kl_ucb_upper(clicks / n, n, c);
        let entropy = kl_ucb_entropy(clicks, n - clicks);
        for q in [d, upper, upper * (1.0 - f64::EPSILON)] {
            let threshold = KlUcbThreshold::new(q);
            assert!(!threshold.excludes(entropy, clicks, n - clicks, c) || upper < q, "{clicks} {n} {c} {q}");
            assert!(!threshold.includes(entropy, clicks, n - clicks, c) || upper >= q, "{clicks} {n} {c} {q}");
            let mut found = false;
            threshold.rough_candidates(&[entropy as f32], &[clicks as f32], &[(n - clicks) as f32], c, |_| found = true);
            assert!(found || upper < q, "{clicks} {n} {c} {q}");
        }
    }

    fn watch(mut sequence: impl ConfidenceSequence, numbers: [f64; 4]) {
        for x in numbers {
            sequence.observe(x);
        }
        let interval = sequence.interval();
        assert!((0.0..=1.0).contains(&interval.lower) && (0.0..=1.0).contains(&interval.upper));
    }
    if 1e-300 < d && d < 1.0 {
        watch(BetaMixture::new(d).unwrap(), numbers);
        watch(KlMixture::new(d).unwrap(), numbers);
        watch(EmpiricalBernstein::new(d).unwrap(), numbers);
        watch(HedgedBetting::new(d, 16).unwrap(), numbers);
    }
});
