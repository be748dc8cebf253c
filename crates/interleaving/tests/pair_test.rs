//! False alarms of the sequential test under continuous monitoring, and of a test that does not
//! allow it.
//!
//! Rankers with equal distributions are compared 5,000 times in each of 2,000 runs. A run is a
//! false alarm if the test ever finds a winner, which may happen in a share `miss` of the runs; a
//! correct test fails an exact binomial check with probability at most 1e-6. The z-test for a fixed
//! number of comparisons, evaluated after each one, fails the same check. False alarms of both, of
//! 2,000: 77 and 1,088 at .05 without ties, 72 and 894 with three ties in five, 319 and 1,858 at
//! .2.

use crate::support::FALSE_ALARM;
use interleaving::{Outcome, PairTest, Verdict};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use statrs::distribution::{Binomial, DiscreteCDF};

const RUNS: u64 = 2000;
const COMPARISONS: u32 = 5000;

/// A comparison that is a tie with probability `tie`, and otherwise a win of the first with
/// probability `first`.
fn compare(rng: &mut Xoshiro256PlusPlus, first: f64, tie: f64) -> Outcome {
    let uniform = rng.random::<f64>();
    if uniform < tie {
        Outcome::Tie
    } else if uniform < tie + first {
        Outcome::First
    } else {
        Outcome::Second
    }
}

/// Whether more than a share `miss` of the runs are false alarms, beyond what chance allows.
fn is_too_many(alarms: u64, miss: f64) -> bool {
    alarms > 0 && Binomial::new(miss, RUNS).unwrap().sf(alarms - 1) < FALSE_ALARM
}

#[test]
fn false_alarms_are_rare_under_continuous_monitoring() {
    for (seed, miss, tie) in [(1, 0.05, 0.0), (2, 0.05, 0.6), (3, 0.2, 0.3)] {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let (mut anytime, mut fixed) = (0, 0);
        // Two-sided normal quantiles.
        let quantile = if miss == 0.05 { 1.959_964 } else { 1.281_552 };
        for _ in 0..RUNS {
            let mut test = PairTest::new(miss).unwrap();
            let mut looked_too_often = false;
            for _ in 0..COMPARISONS {
                test.observe(compare(&mut rng, 0.5 * (1.0 - tie), tie));
                let decisive = test.tally().first as f64 + test.tally().second as f64;
                let lead = test.tally().first as f64 - test.tally().second as f64;
                // From 30 comparisons on, where textbooks use the normal approximation.
                looked_too_often |= decisive >= 30.0 && lead.abs() > quantile * decisive.sqrt();
            }
            anytime += u64::from(test.verdict() != Verdict::Undecided);
            fixed += u64::from(looked_too_often);
        }
        println!("level {miss}, ties {tie}: {anytime} and {fixed} of {RUNS}");
        assert!(!is_too_many(anytime, miss), "{anytime} of {RUNS} at {miss}");
        assert!(is_too_many(fixed, miss), "{fixed} of {RUNS} at {miss}");
        // The test is not overly conservative: it uses a good part of its permitted error.
        assert!(anytime as f64 > 0.1 * miss * RUNS as f64, "{anytime} of {RUNS} at {miss}");
    }
}

/// The test finds a difference, on the right side, and the share lies in its interval.
#[test]
fn differences_are_found() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(4);
    let mut after = Vec::new();
    let (mut wrong, mut outside) = (0, 0);
    for _ in 0..200 {
        let mut test = PairTest::new(0.05).unwrap();
        // The second wins 60 % of the comparisons that are not ties.
        while test.observe(compare(&mut rng, 0.2, 0.5)) == Verdict::Undecided {}
        wrong += u64::from(test.verdict() == Verdict::First);
        let share = test.first_share();
        assert!(share.lower > 0.5 || share.upper < 0.5);
        outside += u64::from(!(share.lower <= 0.4 && 0.4 <= share.upper));
        assert_eq!(test.decided_after(), Some(test.tally().first + test.tally().second + test.tally().ties));
        after.extend(test.decided_after());
    }
    // Wrong verdicts have probability below .05, so 35 of 200 have probability below 1e-6.
    assert!(wrong < 35 && outside < 35, "{wrong}, {outside}");
    after.sort_unstable();
    assert!(after[100] < 1000, "half of the runs end within {}", after[100]);
}

#[test]
fn a_saved_test_resumes() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(5);
    let mut test = PairTest::new(0.01).unwrap();
    for _ in 0..3000 {
        let saved = serde_json::to_string(&test).unwrap();
        let mut restored: PairTest = serde_json::from_str(&saved).unwrap();
        assert_eq!(restored, test);
        let outcome = compare(&mut rng, 0.3, 0.5);
        assert_eq!(restored.observe(outcome), test.observe(outcome));
    }
    assert_eq!(test.verdict(), Verdict::First);
    // Later comparisons do not revoke it.
    let after = test.decided_after();
    for _ in 0..3000 {
        test.observe(Outcome::Second);
    }
    assert_eq!((test.verdict(), test.decided_after()), (Verdict::First, after));
}

#[test]
fn inconsistent_saved_tests_are_rejected() {
    let good = r#"{"miss":0.05,"tally":{"first":3,"second":0,"ties":2},"decided":null}"#;
    assert!(serde_json::from_str::<PairTest>(good).is_ok());
    let decided = r#"{"first_is_better":true,"after":6}"#;
    for bad in [
        good.replace("0.05", "0.0"),
        good.replace("0.05", "1.5"),
        good.replace('3', "18446744073709551615"),
        good.replace('3', "-3"),
        good.replace("null", decided),
        good.replace("\"ties\"", "\"tie\""),
        // 10 consecutive wins decide and 9 do not, and only in favour of the winner.
        good.replace('3', "10"),
        good.replace('3', "9").replace("null", &decided.replace('6', "11")),
        good.replace('3', "10").replace("null", &decided.replace('6', "9")),
        good.replace('3', "10").replace("null", &decided.replace("true", "false").replace('6', "10")),
    ] {
        assert!(serde_json::from_str::<PairTest>(&bad).is_err(), "{bad}");
    }
    let found = good.replace('3', "10").replace("null", &decided.replace('6', "10"));
    assert!(serde_json::from_str::<PairTest>(&found).is_ok());
    assert!(PairTest::new(f64::NAN).is_err());
}

/// The test treats both rankers symmetrically.
#[test]
fn both_rankers_are_treated_symmetrically() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(6);
    let (mut test, mut mirror) = (PairTest::new(0.05).unwrap(), PairTest::new(0.05).unwrap());
    for _ in 0..2000 {
        let outcome = compare(&mut rng, 0.25, 0.3);
        let (verdict, mirrored) = (test.observe(outcome), mirror.observe(outcome.swapped()));
        let expected = match verdict {
            Verdict::First => Verdict::Second,
            Verdict::Second => Verdict::First,
            Verdict::Undecided => Verdict::Undecided,
        };
        assert_eq!(mirrored, expected);
    }
    assert_ne!(test.verdict(), Verdict::Undecided);
}
