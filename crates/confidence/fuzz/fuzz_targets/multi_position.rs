//! For any counts, examinations and level, indices are in their range around the arg min, and the
//! inverted test agrees with them.
//!
//! `cargo +nightly fuzz run multi_position -- -max_total_time=60`
#![no_main]

use confidence::*;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (Vec<(u32, u32, u16)>, f64, f64)| {
    let (positions, level, q) = input;
    let positions = &positions[..positions.len().min(MAX_POSITIONS)];
    let shows: Vec<u64> = positions.iter().map(|position| position.0.into()).collect();
    let clicks: Vec<u64> = positions.iter().map(|position| position.1.min(position.0).into()).collect();
    let examination: Vec<f64> = positions.iter().map(|position| f64::from(position.2) / 65_535.0).collect();
    let upper = multi_position_upper(&clicks, &shows, &examination, level);
    let lower = multi_position_lower(&clicks, &shows, &examination, level);
    assert!((0.0..=1.0).contains(&upper) && (0.0..=1.0).contains(&lower));
    if let Some(minimum) = multi_position_minimum(&clicks, &shows, &examination) {
        assert!(lower <= minimum.theta && minimum.theta <= upper, "{lower} {minimum:?} {upper}");
        assert!(minimum.divergence >= 0.0);
    }
    assert!(!q.is_finite() || !multi_position_divergence(&clicks, &shows, &examination, q).is_nan());

    let failures: Vec<f64> = clicks.iter().zip(&shows).map(|(clicks, shows)| (shows - clicks) as f64).collect();
    let total: u64 = (0..clicks.len()).filter(|&l| examination[l] > 0.0).map(|l| clicks[l]).sum();
    let entropy: f64 =
        (0..clicks.len()).map(|l| multi_position_entropy(clicks[l] as f64, failures[l], examination[l])).sum();
    let mut threshold = MultiPositionThreshold::new(&examination).unwrap();
    for q in [q, upper, upper * (1.0 - f64::EPSILON)] {
        threshold.set(q);
        assert!(!threshold.excludes(entropy, total as f64, &failures, level) || upper < q, "excluded at {q}: {upper}");
        assert!(!threshold.includes(entropy, total as f64, &failures, level) || upper >= q, "included at {q}: {upper}");
    }
});
