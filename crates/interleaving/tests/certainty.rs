//! Statements about an estimated matrix have the stated error probability: over many estimates of a
//! known matrix, and over collections of pure noise.
//!
//! At most a share `miss` of the statements may be wrong; a correct implementation fails an exact
//! binomial check with probability at most 1e-6. The same check rejects intervals that hold only
//! one at a time, and declaring the best ranker of the sample the winner. Among 1,000 estimates, 6
//! have an interval that misses, and none declares a wrong winner; in 975 a ranker beats all others
//! numerically.

use crate::support::FALSE_ALARM;
use interleaving::{
    Certainty, Estimation, Method, Preferences, Query, RankedCollection, ScanningUser, Settings, Tally,
};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use statrs::distribution::{Binomial, DiscreteCDF};

const MISS: f64 = 0.05;
const RUNS: u64 = 1000;
const RANKERS: usize = 8;

fn is_too_many(wrong: u64) -> bool {
    wrong > 0 && Binomial::new(MISS, RUNS).expect("valid").sf(wrong - 1) < FALSE_ALARM
}

/// Rankers 0 and 1 are equal and beat the others, which are also equal.
fn probability(first: usize, second: usize) -> f64 {
    match (first < 2, second < 2) {
        (true, false) => 0.6,
        (false, true) => 0.4,
        _ => 0.5,
    }
}

fn preferences(n_rankers: usize, mut tally: impl FnMut(usize, usize) -> Tally) -> Preferences {
    let pairs = (0..n_rankers).flat_map(|first| (first + 1..n_rankers).map(move |second| (first, second)));
    let tallies: Vec<Tally> = pairs.map(|(first, second)| tally(first, second)).collect();
    Preferences::new(n_rankers, tallies).expect("one for each pair")
}

/// A sample of comparisons, one third of them ties.
fn sampled(comparisons: u64, rng: &mut Xoshiro256PlusPlus) -> Preferences {
    preferences(RANKERS, |first, second| {
        let mut tally = Tally::default();
        for _ in 0..comparisons {
            if rng.random::<f64>() < 1.0 / 3.0 {
                tally.ties += 1;
            } else if rng.random::<f64>() < 0.5 + 1.5 * (probability(first, second) - 0.5) {
                tally.first += 1;
            } else {
                tally.second += 1;
            }
        }
        tally
    })
}

/// Whether all intervals hold.
fn holds(certainty: &Certainty) -> bool {
    let pairs = (0..RANKERS).flat_map(|first| (0..RANKERS).map(move |second| (first, second)));
    let mut holds = true;
    for (first, second) in pairs {
        let interval = certainty.interval(first, second);
        holds &= (interval.lower..=interval.upper).contains(&probability(first, second));
    }
    for ranker in 0..RANKERS {
        let others = (0..RANKERS).filter(|&other| other != ranker);
        let score = others.map(|other| probability(ranker, other)).sum::<f64>() / (RANKERS - 1) as f64;
        let interval = certainty.borda_score(ranker);
        holds &= interval.lower <= score && score <= interval.upper;
    }
    holds
}

/// Whether all textbook intervals hold, each of which holds in 95 of 100 estimates.
fn holds_singly(preferences: &Preferences) -> bool {
    let pairs = (0..RANKERS).flat_map(|first| (first + 1..RANKERS).map(move |second| (first, second)));
    let mut holds = true;
    for (first, second) in pairs {
        let Tally { first: won, second: lost, ties } = preferences.tally(first, second);
        let n = (won + lost + ties) as f64;
        let mean = preferences.probability(first, second);
        let variance = (won as f64 + 0.25 * ties as f64) / n - mean * mean;
        holds &= (mean - probability(first, second)).abs() <= 1.96 * (variance / n).sqrt();
    }
    holds
}

#[test]
fn statements_have_the_stated_error_probability() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let (mut missed, mut called, mut lost) = (0, 0, 0);
    let (mut missed_singly, mut called_by_sample) = (0, 0);
    for _ in 0..RUNS {
        let preferences = sampled(300, &mut rng);
        let certainty = preferences.certainty(MISS).expect("a probability");
        missed += u64::from(!holds(&certainty));
        // There is no Condorcet winner, and two Copeland winners.
        called += u64::from(certainty.condorcet_winner().is_some());
        lost += u64::from(![0, 1].iter().all(|ranker| certainty.copeland_winners().contains(ranker)));
        lost += u64::from(![0, 1].iter().all(|ranker| certainty.borda_winners().contains(ranker)));
        missed_singly += u64::from(!holds_singly(&preferences));
        let beats_all = |&first: &usize| {
            (0..RANKERS).all(|second| second == first || preferences.probability(first, second) > 0.5)
        };
        called_by_sample += u64::from((0..RANKERS).any(|ranker| beats_all(&ranker)));
    }
    assert!(!is_too_many(missed) && !is_too_many(called) && !is_too_many(lost), "{missed} {called} {lost}");
    assert!(is_too_many(missed_singly), "{missed_singly}");
    assert!(is_too_many(called_by_sample), "{called_by_sample}");
}

#[test]
fn a_clear_winner_is_declared() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(2);
    let mut certainty = |comparisons| {
        let equal = sampled(comparisons, &mut rng);
        let preferences = preferences(RANKERS, |first, second| match (first, second) {
            (0, 1) => Tally { first: 3 * comparisons / 4, second: comparisons / 4, ties: 0 },
            _ => equal.tally(first, second),
        });
        preferences.certainty(MISS).expect("a probability")
    };
    let many = certainty(800);
    let winner = many.condorcet_winner().expect("one is told");
    assert!(winner.ranker == 0 && winner.miss < 1e-4, "{winner:?}");
    assert_eq!(many.copeland_winners(), [0]);
    // Ranker 0 is distinguished from all, ranker 1 from those below, which are equal.
    assert_eq!(many.n_told_apart(), 13);
    assert!(many.beats(0, 1) && !many.beats(1, 0) && !many.beats(6, 7));
    assert_eq!(certainty(40).condorcet_winner(), None);
}

#[test]
fn without_evidence_nothing_is_declared() {
    let ties = preferences(3, |_, _| Tally { first: 0, second: 0, ties: 1000 });
    let certainty = ties.certainty(MISS).expect("a probability");
    assert_eq!((certainty.n_told_apart(), certainty.condorcet_winner()), (0, None));
    assert_eq!((certainty.copeland_winners(), certainty.borda_winners()), (vec![0, 1, 2], vec![0, 1, 2]));
    // A thousand ties imply that preferences are about even.
    let interval = certainty.interval(2, 1);
    assert!(interval.lower > 0.49 && interval.upper < 0.51, "{interval:?}");
    assert_eq!(certainty.interval(1, 1).lower, 0.5);
    // One win each is consistent with a fair coin.
    let few = preferences(3, |_, _| Tally { first: 1, second: 0, ties: 0 });
    assert_eq!(few.certainty(MISS).expect("a probability").n_told_apart(), 0);
    for miss in [0.0, 1.0, f64::NAN] {
        assert!(few.certainty(miss).is_err());
    }
}

/// Documents with random labels and features that are pure noise.
fn noise(seed: u64) -> RankedCollection {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut query = |number: usize| {
        let rows: Vec<Vec<f64>> = (0..10).map(|_| (0..6).map(|_| rng.random()).collect()).collect();
        let rows: Vec<&[f64]> = rows.iter().map(Vec::as_slice).collect();
        Query::new(number.to_string(), vec![0; 10], &rows).expect("a query")
    };
    let queries: Vec<Query> = (0..20).map(&mut query).collect();
    RankedCollection::by_features(&queries, &[0, 1, 2, 3, 4, 5], 1).expect("six rankers")
}

/// In a fifth of these collections, one of the six rankers beats all others numerically; in none is
/// a winner declared.
#[test]
fn noise_has_no_winner() {
    let mut beats_all = 0;
    for seed in 0..10 {
        for method in [Method::TeamDraft, Method::Probabilistic] {
            let rankers = noise(seed);
            let user = ScanningUser::informational();
            let settings = Settings { method, user, comparisons_per_pair: 500, seed, ..Settings::default() };
            let estimation = Estimation::new(&rankers, settings).expect("valid settings");
            let preferences = estimation.preferences(|| ());
            let certainty = preferences.certainty(MISS).expect("a probability");
            assert_eq!(certainty.condorcet_winner(), None, "{method:?}, {seed}");
            let leads = |&first: &usize| {
                (0..6).all(|second| second == first || preferences.probability(first, second) > 0.5)
            };
            beats_all += u32::from((0..6).any(|ranker| leads(&ranker)));
        }
    }
    assert!(beats_all >= 3, "{beats_all}");
}
