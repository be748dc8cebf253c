//! No bound misses more often than it guarantees, and these tests detect bounds that do.
//!
//! Bounds for a fixed number of observations are checked exactly, by summing binomial
//! probabilities. Bounds for all numbers of observations at once are checked on whole trajectories
//! of 20,000 observations: an exact binomial test compares the number of trajectories with a miss
//! *anywhere* with the guarantee. A valid bound fails such a test with probability at most 10^-6.
//! `power_is_as_stated` states and checks the power, and two bounds that are deliberately too
//! narrow must fail.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "counts are made from positive numbers"
)]

use crate::common::numbers::Numbers;
use confidence::coverage_bound::{self, Constants};
use confidence::sequence::{
    BetaMixture, Betting, ConfidenceSequence, EmpiricalBernstein, HedgedBetting, Interval, KlMixture,
};
use confidence::{
    bernoulli_kl, bernstein_radius, hoeffding_radius, kl_ucb_lower, kl_ucb_upper, lil_radius_scaled,
    multi_position_divergence, sample_bernstein_radius, scaled_radius,
};
use quickcheck::{Gen, QuickCheck};

/// Observations in a trajectory.
const LENGTH: u64 = 20_000;
/// Trajectories for each check.
const RUNS: u64 = 120;
/// Probability that a valid bound fails one check.
const FALSE_ALARM: f64 = 1e-6;
/// The guarantee of the sequences in these tests: they miss at most one trajectory in ten.
const PROMISE: f64 = 0.1;

/// `ln n!` for all `n` up to a limit.
fn log_factorials(limit: usize) -> Vec<f64> {
    (0..=limit).map(|n| libm::lgamma(n as f64 + 1.0)).collect()
}

/// `P(at least k successes in n)`.
fn binomial_tail(n: u64, p: f64, k: u64) -> f64 {
    let log_factorial = log_factorials(n as usize);
    let choose =
        |i: u64| log_factorial[n as usize] - log_factorial[i as usize] - log_factorial[(n - i) as usize];
    (k..=n).map(|i| libm::exp(choose(i) + i as f64 * libm::log(p) + (n - i) as f64 * libm::log1p(-p))).sum()
}

/// The smallest number of misses in [`RUNS`] that rejects the guarantee.
fn too_many(promise: f64) -> u64 {
    (0..=RUNS).find(|&k| binomial_tail(RUNS, promise, k) < FALSE_ALARM).unwrap()
}

#[test]
fn power_is_as_stated() {
    // A sequence that promises 0.1 and misses 0.4 of the trajectories is caught 99.9 times in 100.
    assert!(binomial_tail(RUNS, 0.4, too_many(PROMISE)) > 0.999);
    // The next two tests catch bounds that miss more than half of the trajectories.
    assert!(binomial_tail(RUNS, 0.5, too_many(PROMISE)) > 0.999_999);
}

/// A variable in `[0, 1]` with a given mean.
#[derive(Clone, Copy, Debug)]
struct Law {
    mean: f64,
    /// Clicks, or uniform in the widest interval around the mean.
    clicks: bool,
}

impl Law {
    fn draw(self, numbers: &mut Numbers) -> f64 {
        let unit = numbers.unit();
        if self.clicks {
            f64::from(unit < self.mean)
        } else {
            self.mean + (2.0 * unit - 1.0) * self.mean.min(1.0 - self.mean)
        }
    }
}

/// Takes an observation and returns whether the mean is still covered.
type Covers = Box<dyn FnMut(f64) -> bool>;

/// Makes a fresh one.
type Sequence = Box<dyn FnMut() -> Covers>;

/// Counts the trajectories on which `bound`, constructed anew for each, ever misses.
fn misses(law: Law, seed: u64, mut bound: impl FnMut() -> Covers) -> u64 {
    let mut numbers = Numbers(seed | 1);
    let mut missed = 0;
    for _ in 0..RUNS {
        let mut covers = bound();
        missed += u64::from(!(0..LENGTH).all(|_| covers(law.draw(&mut numbers))));
    }
    missed
}

/// The four sequences, each as a function that checks whether the mean is still covered.
fn sequences(law: Law, miss: f64) -> Vec<(&'static str, Sequence)> {
    fn tracks<S: ConfidenceSequence + 'static>(mut sequence: S, mean: f64) -> Covers {
        Box::new(move |x| {
            sequence.observe(x);
            sequence.contains(mean)
        })
    }
    let mean = law.mean;
    vec![
        ("beta mixture", Box::new(move || tracks(BetaMixture::new(miss).unwrap(), mean))),
        ("KL mixture", Box::new(move || tracks(KlMixture::new(miss).unwrap(), mean))),
        ("empirical Bernstein", Box::new(move || tracks(EmpiricalBernstein::new(miss).unwrap(), mean))),
        (
            // Hedged betting, restricted to the true mean.
            "betting",
            Box::new(move || {
                let mut betting = Betting::new(mean, miss).unwrap();
                Box::new(move |x| {
                    betting.observe(x);
                    !betting.is_rejected()
                })
            }),
        ),
    ]
}

#[test]
fn sequences_cover_whole_trajectories() {
    fn property(mean: u32, miss: u8, clicks: bool, seed: u64) -> bool {
        let law = Law { mean: (f64::from(mean) + 0.5) / (f64::from(u32::MAX) + 1.0), clicks };
        let miss = 0.01 + f64::from(miss) / 256.0 * 0.2;
        for (name, mut sequence) in sequences(law, miss) {
            let missed = misses(law, seed, &mut *sequence);
            assert!(
                missed < too_many(miss),
                "{name} misses {missed} of {RUNS}, promised {miss}, for {law:?}"
            );
        }
        true
    }
    QuickCheck::new()
        .rng(Gen::from_size_and_seed(100, 20_161_121))
        .tests(5)
        .quickcheck(property as fn(u32, u8, bool, u64) -> bool);
}

#[test]
fn clicks_as_rare_as_on_advertisements_are_covered() {
    let law = Law { mean: 0.004, clicks: true };
    for (name, mut sequence) in sequences(law, PROMISE) {
        let missed = misses(law, 77, &mut *sequence);
        assert!(missed < too_many(PROMISE), "{name} misses {missed} of {RUNS} trajectories of {law:?}");
    }
}

#[test]
fn interval_for_one_n_used_at_all_n_is_caught() {
    // At a mean of 1/2, where Hoeffding's bound is tight.
    let law = Law { mean: 0.5, clicks: true };
    let level = libm::log(2.0 / PROMISE);
    let missed = misses(law, 1, || {
        let (mut n, mut sum) = (0.0, 0.0);
        Box::new(move |x| {
            (n, sum) = (n + 1.0, sum + x);
            (sum / n - law.mean).abs() <= hoeffding_radius(n, level)
        })
    });
    assert!(missed >= too_many(PROMISE), "only {missed} misses: the test has no power");
}

#[test]
fn mixture_interval_without_the_cost_of_mixing_is_caught() {
    // The beta mixture's interval without the cost of mixing.
    let law = Law { mean: 0.3, clicks: true };
    let level = libm::log(1.0 / PROMISE);
    let missed = misses(law, 2, || {
        let (mut n, mut sum) = (0.0, 0.0);
        Box::new(move |x| {
            (n, sum) = (n + 1.0, sum + x);
            n * bernoulli_kl(sum / n, law.mean) <= level
        })
    });
    assert!(missed >= too_many(PROMISE), "only {missed} misses: the test has no power");
}

#[test]
fn contains_agrees_with_the_interval() {
    let mut numbers = Numbers(5);
    let mut all: Vec<Box<dyn ConfidenceSequence>> = vec![
        Box::new(BetaMixture::new(0.05).unwrap()),
        Box::new(KlMixture::new(0.05).unwrap()),
        Box::new(EmpiricalBernstein::new(0.05).unwrap()),
        Box::new(HedgedBetting::new(0.05, 500).unwrap()),
    ];
    for sequence in &all {
        assert_eq!(sequence.interval(), Interval { lower: 0.0, upper: 1.0 });
    }
    for _ in 0..2000 {
        let x = f64::from(numbers.unit() < 0.2);
        for sequence in &mut all {
            sequence.observe(x);
            let Interval { lower, upper } = sequence.interval();
            assert!(lower <= upper && sequence.contains(0.5 * (lower + upper)));
            assert!(lower == 0.0 || !sequence.contains(lower * 0.999));
            assert!(upper == 1.0 || !sequence.contains(upper * 1.001));
        }
    }
}

#[test]
fn hedged_betting_agrees_with_the_test_of_one_candidate() {
    let mut numbers = Numbers(6);
    let mut grid = HedgedBetting::new(0.05, 100).unwrap();
    let mut single: Vec<Betting> =
        (0..=100).map(|i| Betting::new(f64::from(i) / 100.0, 0.05).unwrap()).collect();
    for _ in 0..3000 {
        let x = numbers.unit() * numbers.unit();
        grid.observe(x);
        for betting in &mut single {
            betting.observe(x);
        }
        let Interval { lower, upper } = grid.interval();
        for (i, betting) in single.iter().enumerate() {
            let candidate = i as f64 / 100.0;
            let below = candidate <= lower && lower > 0.0;
            let above = candidate >= upper && upper < 1.0;
            assert!(betting.is_rejected() || !(below || above));
            // Strictly inside, nothing has been rejected.
            let inside = lower < candidate && candidate < upper;
            assert!(!(inside && betting.is_rejected()));
        }
    }
}

#[test]
fn sequences_survive_serialisation_and_invalid_observations() {
    fn check<S>(mut sequence: S)
    where
        S: ConfidenceSequence + serde::Serialize + serde::de::DeserializeOwned + PartialEq + core::fmt::Debug,
    {
        for x in [0.5, -3.0, 7.0, f64::NAN, f64::INFINITY, 1e-300] {
            sequence.observe(x);
        }
        let copy: S = serde_json::from_str(&serde_json::to_string(&sequence).unwrap()).unwrap();
        assert_eq!(copy, sequence);
        let Interval { lower, upper } = sequence.interval();
        assert!((0.0..=1.0).contains(&lower) && (0.0..=1.0).contains(&upper));
    }
    check(BetaMixture::new(0.05).unwrap());
    check(KlMixture::new(0.05).unwrap());
    check(EmpiricalBernstein::new(0.05).unwrap());
    check(HedgedBetting::new(0.05, 10).unwrap());
    for miss in [0.0, 1.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(BetaMixture::new(miss).is_err() && HedgedBetting::new(miss, 10).is_err());
    }
    assert!(HedgedBetting::new(0.1, 0).is_err());
}

/// The exact probability that a bound computed from the number of clicks in `n` shows misses.
fn exact_miss(n: u32, p: f64, misses: impl Fn(f64) -> bool) -> f64 {
    let log_factorial = log_factorials(n as usize);
    (0..=n)
        .filter(|&clicks| misses(f64::from(clicks)))
        .map(|clicks| {
            let (k, n) = (clicks as usize, n as usize);
            let choose = log_factorial[n] - log_factorial[k] - log_factorial[n - k];
            libm::exp(choose + k as f64 * libm::log(p) + (n - k) as f64 * libm::log1p(-p))
        })
        .sum()
}

#[test]
fn fixed_n_bounds_cover_exactly() {
    fn property(n: u16, mean: u32, level: u16) -> bool {
        let n = 2 + u32::from(n) % 1500;
        let p = (f64::from(mean) + 0.5) / (f64::from(u32::MAX) + 1.0);
        let level = 0.1 + f64::from(level) / 65_536.0 * 12.0;
        let shows = f64::from(n);
        let promise = libm::exp(-level);
        let check = |name: &str, promise: f64, misses: &dyn Fn(f64) -> bool| {
            let miss = exact_miss(n, p, misses);
            assert!(
                miss <= promise * (1.0 + 1e-9),
                "{name} misses with {miss} > {promise}: n = {n}, p = {p}, {level}"
            );
        };
        check("Hoeffding, upper", promise, &|s| s / shows + hoeffding_radius(shows, level) < p);
        check("Hoeffding, lower", promise, &|s| s / shows - hoeffding_radius(shows, level) > p);
        check("KL-UCB, upper", promise, &|s| kl_ucb_upper(s / shows, shows, level) < p);
        check("KL-UCB, lower", promise, &|s| kl_ucb_lower(s / shows, shows, level) > p);
        let variance = |s: f64| s / shows * (1.0 - s / shows);
        check("UCB-V", 3.0 * promise, &|s| {
            (s / shows - p).abs() > bernstein_radius(shows, variance(s), level)
        });
        let sample_variance = |s: f64| variance(s) * shows / (shows - 1.0);
        check("Maurer-Pontil, upper", 2.0 * promise, &|s| {
            s / shows + sample_bernstein_radius(shows, sample_variance(s), level) < p
        });
        check("Maurer-Pontil, lower", 2.0 * promise, &|s| {
            s / shows - sample_bernstein_radius(shows, sample_variance(s), level) > p
        });
        true
    }
    QuickCheck::new()
        .rng(Gen::from_size_and_seed(100, 7))
        .tests(150)
        .quickcheck(property as fn(u16, u32, u16) -> bool);
}

#[test]
fn fixed_n_test_catches_a_bound_that_is_too_narrow() {
    // UCB1's shape with the constant of a variance of 1/16.
    let level: f64 = 3.0;
    let miss = exact_miss(400, 0.5, |s| s / 400.0 + scaled_radius(400.0, level, 0.125) < 0.5);
    assert!(miss > libm::exp(-level));
}

#[test]
fn proved_bounds_cover_whole_trajectories() {
    // The number of observations may depend on the past: the event is a miss at any number up to t.
    let law = Law { mean: 0.2, clicks: true };
    let count = |seed: u64, promise: f64, covers: &'static dyn Fn(f64, f64) -> bool| {
        assert!(0.001 < promise && promise < 0.5, "{promise} would not test anything");
        let missed = misses(law, seed, || {
            let (mut n, mut sum) = (0.0, 0.0);
            Box::new(move |x| {
                (n, sum) = (n + 1.0, sum + x);
                covers(n, sum / n)
            })
        });
        assert!(missed < too_many(promise), "{missed} misses instead of {promise} of {RUNS}");
    };
    count(11, coverage_bound::kl_ucb(LENGTH, 8.0), &|n, mean| {
        mean >= 0.2 || n * bernoulli_kl(mean, 0.2) <= 8.0
    });
    // One position that is always examined: PBM-UCB's bonus is Hoeffding's radius.
    count(12, coverage_bound::pbm_ucb(LENGTH, 8.0, Constants::Corrected), &|n, mean| {
        mean + hoeffding_radius(n, 8.0) > 0.2
    });
    count(13, coverage_bound::lil(0.1), &|n, mean| {
        (mean - 0.2).abs()
            <= lil_radius_scaled(n as u64, 0.1, coverage_bound::lil_scale(Constants::Corrected))
    });
    // From round C(delta) on.
    count(14, coverage_bound::rucb(1000, 2, 0.8), &|n, mean| {
        n <= 1000.0 || (mean - 0.2).abs() <= scaled_radius(n, libm::log(n), 0.8)
    });
}

#[test]
fn proposition_10_covers_whole_trajectories() {
    const EXAMINATION: [f64; 3] = [0.9, 0.6, 0.3];
    const ATTRACTION: f64 = 0.4;
    const LEVEL: f64 = 31.0;
    let promise = coverage_bound::multi_position(LENGTH, LEVEL, 3);
    assert!(0.01 < promise && promise < 0.5);
    let mut numbers = Numbers(15);
    let mut missed = 0;
    for _ in 0..RUNS / 4 {
        let (mut clicks, mut shows) = ([0; 3], [0; 3]);
        missed += u64::from(!(0..LENGTH).all(|round| {
            let position = (numbers.bits() >> 40) as usize % 3;
            shows[position] += 1;
            clicks[position] += u64::from(numbers.unit() < EXAMINATION[position] * ATTRACTION);
            round % 4 != 0 || multi_position_divergence(&clicks, &shows, &EXAMINATION, ATTRACTION) <= LEVEL
        }));
    }
    assert!(binomial_tail(RUNS / 4, promise, missed) >= FALSE_ALARM, "{missed} misses instead of {promise}");
}
