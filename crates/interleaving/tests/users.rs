//! Tests whose unit is the user, against exact cases and simulations.

use interleaving::plan::{self, End};
use interleaving::{AbTest, Arm, TeamTest, Verdict};
use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

fn close(found: f64, expected: f64, tolerance: f64) {
    let error = (found - expected).abs() / expected.abs().max(1e-300);
    assert!(error < tolerance, "{found} instead of {expected}");
}

/// The fields of the rows of a table, with users by number.
fn rows(text: &str) -> impl Iterator<Item = (u64, &str, &str)> {
    text.lines().skip(1).map(|line| {
        let mut fields = line.split(',');
        let mut field = || fields.next().expect("three fields");
        (field()[1..].parse().expect("a user"), field(), field())
    })
}

fn ab() -> AbTest {
    let mut test = AbTest::new(0.05).expect("valid");
    for (user, arm, clicks) in rows(include_str!("data/ab.csv")) {
        let arm = if arm == "A" { Arm::A } else { Arm::B };
        test.observe(user, arm, clicks.parse().expect("a number"));
    }
    test
}

#[test]
fn an_ab_test_has_the_errors_of_the_exact_case() {
    let result = ab().result();
    let [a, b] = result.arms;
    assert_eq!([a.users, a.sessions, b.users, b.sessions], [195, 556, 205, 614]);
    close(a.rate, 0.591_726_618_705_036, 1e-12);
    close(a.standard_error, 0.053_612_152_514_048_286, 1e-9);
    close(b.standard_error, 0.052_871_803_751_938_84, 1e-9);
    close(result.difference, 0.059_739_179_340_566_634, 1e-12);
    close(result.standard_error, 0.075_297_347_424_548_15, 1e-9);
    close(result.z, 0.793_376_943_330_285_5, 1e-9);
    close(plan::split_probability([a.users, b.users], 0.5), 0.617_075_077_451_973_9, 1e-9);
}

#[test]
fn boundaries_are_those_of_the_exact_cases() {
    let test = AbTest::new(0.05).expect("valid");
    for (n_users, boundary) in [
        (1_000, 3.763_256_346_384_13),
        (5_000, 3.069_915_000_985_478_3),
        (10_000, 3.035_446_396_635_931),
        (40_000, 3.138_660_758_712_952_7),
    ] {
        close(test.boundary(n_users, 10_000), boundary, 1e-9);
    }
    for (share, decisive) in [(0.51, 19_620), (0.52, 4_904), (0.55, 783), (0.6, 194), (0.7, 47)] {
        let n = plan::decisive_users(share, 0.8, 0.05, End::Fixed(1)).expect("valid");
        assert!(n.abs_diff(decisive) <= 1, "{n} at {share}");
    }
}

#[test]
fn teams_are_counted_by_user() {
    let mut test = TeamTest::new(0.05).expect("valid");
    for (user, _, team) in rows(include_str!("data/teams.csv")) {
        test.observe(user, team == "new");
    }
    let tally = test.tally();
    // Users without clicks are in no row.
    assert_eq!((tally.second, tally.first), (82, 42));
    assert_eq!(test.verdict(), Verdict::Second);
    let share = test.first_share();
    assert!(share.lower < 42.0 / 124.0 && share.upper < 0.5);
}

#[test]
fn evidence_is_that_of_the_exact_cases() {
    for (wins, losses, evidence) in [
        (8, 0, 8.351_552_735_609_124),
        (7, 0, 5.085_917_856_202_903),
        (60, 40, 1.441_773_205_765_930_7),
        (0, 0, 1.0),
        (510, 490, 0.392_827_492_991_317_15),
        (550, 450, 13.899_589_084_902_155),
    ] {
        let mut test = TeamTest::new(0.05).expect("valid");
        for user in 0..wins + losses {
            test.observe(user, user >= wins);
        }
        close(test.evidence(), evidence, 1e-9);
    }
}

/// A user's lead may change, and the tally with it.
#[test]
fn a_user_counts_once() {
    let mut test = TeamTest::new(0.05).expect("valid");
    for (second, expected) in [(true, [0, 1, 0]), (false, [0, 0, 1]), (false, [1, 0, 0])] {
        test.observe(7, second);
        let tally = test.tally();
        assert_eq!([tally.first, tally.second, tally.ties], expected);
    }
    let mut test = AbTest::new(0.05).expect("valid");
    for (user, arm) in [(1, Arm::A), (2, Arm::B), (1, Arm::B), (1, Arm::A), (3, Arm::A)] {
        test.observe(user, arm, 2);
    }
    let result = test.result();
    assert_eq!((result.n_in_both, result.arms.map(|arm| arm.users)), (1, [1, 1]));
    assert_eq!(result.arms.map(|arm| arm.clicks), [2, 2]);
}

#[test]
fn saved_tests_resume_and_damaged_ones_are_refused() {
    let mut test = ab();
    test.observe(170, Arm::B, 3);
    let saved = serde_json::to_string(&test).expect("saved");
    let mut restored: AbTest = serde_json::from_str(&saved).expect("restored");
    for test in [&mut test, &mut restored] {
        test.observe(100_000, Arm::A, 1);
        test.observe(170, Arm::A, 1);
    }
    assert_eq!(test.result(), restored.result());
    assert_eq!(test.result().n_in_both, 1);
    for bad in [
        r#"{"miss":0.05,"users":[[1,"A",1,1],[1,"A",1,1]]}"#,
        r#"{"miss":0.05,"users":[[1,"C",1,1]]}"#,
        r#"{"miss":0.05,"users":[[1,"A",1,0]]}"#,
        r#"{"miss":1.5,"users":[]}"#,
    ] {
        assert!(serde_json::from_str::<AbTest>(bad).is_err(), "{bad}");
    }
    let mut teams = TeamTest::new(0.05).expect("valid");
    (0..50).for_each(|user| teams.observe(user % 30, user % 3 == 0));
    let restored: TeamTest =
        serde_json::from_str(&serde_json::to_string(&teams).expect("saved")).expect("restored");
    assert_eq!((restored.tally(), restored.first_share()), (teams.tally(), teams.first_share()));
    assert!(serde_json::from_str::<TeamTest>(r#"{"miss":0.05,"users":[[1,1,0],[1,1,0]]}"#).is_err());
}

/// Sessions of users whose rates differ: a mean of three, with a rate of mean .6 for each user.
fn sessions<R: Rng>(rng: &mut R, mut session: impl FnMut(u32)) {
    let rate = -0.6 * libm::log(1.0 - rng.random::<f64>());
    let mut is_last = false;
    while !is_last {
        is_last = rng.random::<f64>() < 1.0 / 3.0;
        // A Poisson number.
        let (mut clicks, mut product) = (0, rng.random::<f64>());
        while product > libm::exp(-rate) {
            clicks += 1;
            product *= rng.random::<f64>();
        }
        session(clicks);
    }
}

/// With equal arms and 20 looks at an open end, at most .05 of the tests find a difference; by
/// session far more would.
#[test]
fn equal_arms_are_rarely_told_apart() {
    let (mut alarms, mut by_session) = (0, 0);
    for seed in 0..300 {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let (mut users, mut sessions_as_users) =
            (AbTest::new(0.05).expect("valid"), AbTest::new(0.05).expect("valid"));
        let (mut n_sessions, mut found, mut found_by_session) = (0, false, false);
        for user in 0..4_000 {
            let arm = if user % 2 == 0 { Arm::A } else { Arm::B };
            sessions(&mut rng, |clicks| {
                users.observe(user, arm, clicks);
                sessions_as_users.observe(n_sessions, arm, clicks);
                n_sessions += 1;
            });
            if user % 200 == 199 {
                found |= users.open_end(2_000) != Verdict::Undecided;
                found_by_session |= sessions_as_users.open_end(6_000) != Verdict::Undecided;
            }
        }
        alarms += u32::from(found);
        by_session += u32::from(found_by_session);
    }
    println!("{alarms} and {by_session} of 300");
    // 15 are expected at most; 28 or more have a probability of .001.
    assert!(alarms < 28, "{alarms}");
    assert!(by_session > 28, "{by_session}");
}

/// Users are planned with the very boundaries of the tests, at every power: a table at one power
/// was wrong by a fifth at others.
#[test]
fn a_plan_has_the_power_that_it_promises() {
    for (power, of_ab) in
        [(0.5, 2.03), (0.6, 1.91), (0.7, 1.81), (0.8, 1.72), (0.9, 1.62), (0.95, 1.56), (0.99, 1.48)]
    {
        close(plan::inflation(power, 0.05, End::Open).expect("valid"), of_ab, 0.01);
    }
    // Published constants and factors of O'Brien and Fleming, at two levels.
    let test = |miss| AbTest::new(miss).expect("valid");
    for (looks, constant, of_looks) in [
        (2, 1.9774, 1.0078),
        (3, 2.0040, 1.0174),
        (4, 2.0243, 1.0238),
        (5, 2.0401, 1.0284),
        (7, 2.0633, 1.0345),
        (10, 2.0865, 1.0399),
        (14, 2.1065, 1.0440),
        (20, 2.1257, 1.0474),
        (28, 2.1416, 1.0499),
    ] {
        assert_eq!(test(0.05).boundary_at(looks, looks), Some(constant));
        close(plan::inflation(0.8, 0.05, End::Fixed(looks)).expect("valid"), of_looks, 1e-4);
    }
    // From another program, by the trapezoidal rule with 801 places.
    for (looks, constant) in [(2, 2.57958), (5, 2.62118), (10, 2.65992)] {
        close(test(0.01).boundary_at(looks, looks).expect("valid"), constant, 3e-5);
    }
    for wrong in [(0.4, 0.05), (0.8, 0.0), (0.8, 0.6)] {
        assert_eq!(plan::inflation(wrong.0, wrong.1, End::Open), None);
    }
}

/// Simulated streams with a look after every user are told as often as planned, at two levels.
#[test]
fn planned_interleavings_are_told_as_often_as_planned() {
    for (share, power, miss) in [(0.55, 0.5, 0.05), (0.6, 0.8, 0.05), (0.6, 0.95, 0.01), (0.7, 0.9, 0.1)] {
        let n = plan::decisive_users(share, power, miss, End::Open).expect("valid");
        let runs = 1_000;
        let found = (0..runs).filter(|&seed| {
            let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
            let mut wins = [0, 0];
            (0..n).any(|_| {
                wins[usize::from(rng.random::<f64>() < share)] += 1;
                let coin = confidence::sequence::CoinMixture::with_counts(miss, wins[0], wins[1]);
                !confidence::sequence::ConfidenceSequence::contains(&coin.expect("valid"), 0.5)
            })
        });
        let found = found.count() as f64 / runs as f64;
        println!("{share} {power} {miss}: {n} users, {found}");
        // Five standard errors: a false alarm has a probability below 1e-6; 1.9 at all powers, or
        // the boundary of another level, are further away.
        assert!((found - power).abs() < 5.0 * (power * (1.0 - power) / 1e3).sqrt(), "{found} of {power}");
    }
    // Blocks of users change the number by less than a percent.
    let n = plan::decisive_users(0.501, 0.8, 0.05, End::Open).expect("valid") as f64;
    close(n, 5_150_000.0, 0.01);
}
