use super::*;
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

const DRAWS: usize = 200_000;

/// The largest distance between the empirical distribution function of `draws` and the binomial
/// one.
fn distance(trials: u64, success: f64, mut draw: impl FnMut() -> u64) -> f64 {
    let mut counts = vec![0_u64; usize::try_from(trials).expect("small") + 1];
    for _ in 0..DRAWS {
        counts[usize::try_from(draw()).expect("small")] += 1;
    }
    let n = trials as f64;
    let (mut exact, mut seen, mut largest) = (0.0, 0.0, 0.0_f64);
    for (k, count) in (0..).zip(counts) {
        let k = f64::from(k);
        let choose = libm::lgamma(n + 1.0) - libm::lgamma(k + 1.0) - libm::lgamma(n - k + 1.0);
        exact += libm::exp(choose + k * libm::log(success) + (n - k) * libm::log1p(-success));
        seen += count as f64 / DRAWS as f64;
        largest = largest.max((exact - seen).abs());
    }
    largest
}

/// Dvoretzky, Kiefer, Wolfowitz and Massart: exceeded with probability at most 1e-6.
fn allowed() -> f64 {
    (libm::log(2.0 / 1e-6) / (2.0 * DRAWS as f64)).sqrt()
}

const CASES: [(u64, f64); 12] = [
    (1, 0.3),
    (16, 0.9),
    (17, 0.25),
    (17, 0.999),
    (40, 0.2499),
    (40, 0.25),
    (40, 0.75),
    (41, 0.5),
    (1000, 0.0099),
    (1000, 0.0101),
    (20_000, 0.3),
    (100_000, 0.9),
];

#[test]
fn follows_the_binomial_law() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(5);
    for (trials, success) in CASES {
        let distance = distance(trials, success, || binomial(trials, success, &mut rng));
        assert!(distance < allowed(), "{trials} trials of {success}: off by {distance}");
    }
}

/// The test detects a success probability that is wrong by one part in 20, and a rounded
/// normal, for large and small counts.
#[test]
fn wrong_laws_are_noticed() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(5);
    assert!(distance(40, 0.25, || binomial(40, 0.2625, &mut rng)) > allowed());
    let mut shifted = || (binomial(1000, 0.0101, &mut rng) + 1).min(1000);
    assert!(distance(1000, 0.0101, &mut shifted) > allowed());
}

#[test]
fn certain_and_impossible() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(5);
    for trials in [0, 1, 100, 1 << 40] {
        assert_eq!(binomial(trials, 0.0, &mut rng), 0);
        assert_eq!(binomial(trials, 1.0, &mut rng), trials);
        assert!(binomial(trials, 1e-300, &mut rng) == 0);
    }
    // As large as a run can be: 5 standard deviations of 5e5.
    let count = binomial(1 << 40, 0.5, &mut rng);
    assert!(count.abs_diff(1 << 39) < 5 * 524_288);
}

#[test]
fn shares_add_up() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(5);
    let mut counts = vec![];
    for trials in [0, 1, 7, 12_345] {
        multinomial(trials, &[3, 0, 1, 5, 0], &mut rng, &mut counts);
        assert_eq!(counts.len(), 5);
        assert_eq!(counts.iter().sum::<u64>(), trials);
        assert_eq!((counts[1], counts[4]), (0, 0));
    }
    // The third of three categories has a binomial count with its share.
    let distance = distance(60, 0.5, || {
        multinomial(60, &[2, 4, 6], &mut rng, &mut counts);
        counts[2]
    });
    assert!(distance < allowed());
}
