//! The statistics of the position-based model: edge cases, and the paper's general statements.

#![expect(clippy::needless_pass_by_value, reason = "quickcheck hands a property its arguments by value")]

use crate::support::{Binomial, assert_close};
use click_models::estimation::{
    Pooled, fisher_information, pooled_variance, pooled_variance_ratio, pooled_variance_ratio_limit,
};
use quickcheck::{QuickCheck, TestResult};

fn probability(number: u16) -> f64 {
    f64::from(number) / f64::from(u16::MAX)
}

#[test]
fn the_ratio_lies_between_one_and_its_limit() {
    fn property(places: Vec<(u32, u16)>, attraction: u16) -> TestResult {
        let attraction = probability(attraction);
        let shows: Vec<u64> = places.iter().map(|place| u64::from(place.0)).collect();
        let examination: Vec<f64> = places.iter().map(|place| probability(place.1)).collect();
        let Some(ratio) = pooled_variance_ratio(&shows, &examination, attraction) else {
            let seen = Pooled::new(&shows, &shows, &examination);
            return TestResult::from_bool(seen.examined == 0.0 && seen.attraction().is_none());
        };
        assert!(ratio >= 1.0 && ratio <= pooled_variance_ratio_limit(attraction) * (1.0 + 1e-12));
        let information = fisher_information(&shows, &examination, attraction);
        let variance = pooled_variance(&shows, &examination, attraction).unwrap();
        if information.is_finite() && variance > 0.0 {
            assert_close(ratio, variance * information, 1e-12, "the ratio is a product");
        }
        TestResult::passed()
    }
    QuickCheck::new().tests(5000).quickcheck(property as fn(_, _) -> _);
}

#[test]
fn edge_cases_have_the_documented_values() {
    // Nothing shown, or nothing examined.
    assert_eq!(Pooled::new(&[], &[], &[]).attraction(), None);
    assert_eq!(Pooled::new(&[7], &[0], &[0.0]).attraction(), None);
    assert_eq!(pooled_variance(&[7], &[0.0], 0.5), None);
    assert_eq!(pooled_variance_ratio(&[0], &[1.0], 0.5), None);
    assert_eq!(fisher_information(&[7], &[0.0], 0.0), 0.0);
    // More clicks than examined displays are not clipped.
    assert_eq!(Pooled::new(&[4], &[3], &[0.5]).attraction(), Some(1.5));
    // Equal examination at all positions: the estimate is efficient.
    assert_eq!(pooled_variance_ratio(&[5, 9], &[0.5, 0.5], 0.3), Some(1.0));
    assert_eq!(pooled_variance_ratio(&[5, 9], &[1.0, 1.0], 1.0), Some(1.0));
    // Attraction 0 and 1: the clicks are deterministic.
    assert_eq!(fisher_information(&[5], &[0.5], 0.0), f64::INFINITY);
    assert_eq!(fisher_information(&[5, 5], &[1.0, 0.5], 1.0), f64::INFINITY);
    assert_eq!(pooled_variance(&[5], &[1.0], 1.0), Some(0.0));
    assert_eq!(pooled_variance(&[5], &[0.5], 0.0), Some(0.0));
    assert_eq!(pooled_variance_ratio(&[5, 5], &[0.9, 0.1], 0.0), Some(1.0));
    assert_eq!(pooled_variance_ratio(&[5, 5], &[1.0, 0.5], 1.0), Some(f64::INFINITY));
    assert_eq!(pooled_variance_ratio_limit(1.0), f64::INFINITY);
    // Counts do not wrap around.
    assert_eq!(Pooled::new(&[u64::MAX, 1], &[1, 1], &[1.0, 1.0]).shows, u64::MAX);
}

#[test]
fn nothing_cancels_near_certainty() {
    // 1 - c q = 2^-39 - 2^-80 for c = q = 1 - 2^-40, of which a rounded product keeps the first
    // part only.
    let almost = 1.0 - 2.0_f64.powi(-40);
    let exact = 2.0_f64.powi(39) * (1.0 + 2.0_f64.powi(-41));
    assert_close(fisher_information(&[1], &[almost], almost), exact, 1e-15, "information");
    assert_close(pooled_variance(&[1], &[almost], almost).unwrap(), 1.0 / exact, 1e-15, "variance");
}

#[test]
#[should_panic(expected = "one number of clicks a position")]
fn clicks_of_another_length_panic() {
    let _ = Pooled::new(&[1, 2], &[1], &[1.0, 1.0]);
}

#[test]
#[should_panic(expected = "one examination a position")]
fn examination_of_another_length_panics() {
    let _ = Pooled::new(&[1, 2], &[1, 1], &[1.0]);
}

#[test]
fn pooled_estimate_is_unbiased_with_the_stated_variance() {
    // All outcomes of 6 displays at one position and 4 at another, with their probabilities.
    let (shows, examination, attraction) = ([6, 4], [0.8, 0.3], 0.7);
    let laws = [0, 1].map(|l| Binomial::new(shows[l], examination[l] * attraction));
    let (mut mean, mut square) = (0.0, 0.0);
    for first in 0..=shows[0] {
        for second in 0..=shows[1] {
            let probability = laws[0].probability(first) * laws[1].probability(second);
            let estimate = Pooled::new(&shows, &[first, second], &examination).attraction().unwrap();
            mean += probability * estimate;
            square += probability * estimate * estimate;
        }
    }
    assert_close(mean, attraction, 1e-13, "mean of the estimate");
    let variance = pooled_variance(&shows, &examination, attraction).unwrap();
    assert_close(variance, square - mean * mean, 1e-12, "variance of the estimate");
}

#[test]
fn information_is_the_mean_curvature_of_the_likelihood() {
    // Appendix A: minus the second derivative of S ln(c q) + (N - S) ln(1 - c q) at the mean S = N
    // c q.
    let (shows, examination, attraction) = ([60_u64, 40], [0.8, 0.3], 0.7);
    let curvature: f64 = (0..2)
        .map(|l| {
            let (n, c) = (shows[l] as f64, examination[l]);
            let clicks = n * c * attraction;
            clicks / (attraction * attraction) + (n - clicks) * c * c / (1.0 - c * attraction).powi(2)
        })
        .sum();
    assert_close(fisher_information(&shows, &examination, attraction), curvature, 1e-13, "information");
}
