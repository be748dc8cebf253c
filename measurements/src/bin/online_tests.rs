//! False alarms, users to a verdict and power of the tests of two rankers: the numbers of
//! `docs/test.md`.
//!
//! ```text
//! cargo run --release -p measurements --bin online_tests -- 10000
//! ```
//!
//! Argument: the number of null streams. Streams of an interleaved comparison have 20,000 users and
//! a look after each; those of an A/B test have 28 days of 100 users, three sessions a user on
//! average, gamma rates of clicks, and a look a day.

use confidence::math::ln;
use confidence::sequence::{CoinMixture, ConfidenceSequence as _};
use interleaving::plan::{End, inflation, users_per_arm};
use interleaving::{AbTest, Arm, TeamTest, Verdict};
use libm::exp;
use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const MISS: f64 = 0.05;
const USERS: usize = 20_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let runs: u64 = std::env::args().nth(1).ok_or("expected the number of null streams")?.parse()?;
    let leads = leads(100_000);
    let alarms = (0..runs).filter(|&seed| stops(0.5, seed, &leads[..=USERS]).is_some()).count();
    println!("interleaving, {runs} null streams of {USERS} users: {} false alarms", share(alarms, runs));
    for (p, sprt) in [(0.51, 18_467.6), (0.52, 4_617.0), (0.55, 738.0), (0.6, 183.0), (0.7, 44.0)] {
        let wald = sprt_mean(p, runs.min(4_000));
        let n = runs.min(4_000);
        let sum: usize =
            (0..n).map(|seed| stops(p, seed, &leads).map_or(leads.len(), |(users, _)| users)).sum();
        let mean = sum as f64 / n as f64;
        println!(
            "share {p}: {mean:.0} users to a verdict, {:.2} times the SPRT ({wald:.0}; about {sprt:.0})",
            mean / wald
        );
    }
    let (mut by_user, mut by_session) = (0, 0);
    for seed in 0..runs {
        let (user, session) = ab_alarms(seed);
        by_user += usize::from(user);
        by_session += usize::from(session);
    }
    println!(
        "A/B, {runs} null streams, daily looks: {} by user, {} by session",
        share(by_user, runs),
        share(by_session, runs)
    );
    for searches in [3, 8] {
        let mut alarms = [0; 3];
        for seed in 0..runs {
            let found = kept_lists(seed, searches);
            alarms.iter_mut().zip(found).for_each(|(alarms, found)| *alarms += usize::from(found));
        }
        let [users, lists, clicks] = alarms.map(|alarms| share(alarms, runs));
        println!(
            "lists kept for a user, {searches} searches each: {users} by users, {lists} by lists, {clicks} by clicks"
        );
    }
    let found = (0..2 * runs).filter(|&seed| obrien_fleming(seed)).count();
    println!("O'Brien-Fleming, 5 looks at its sample size: power {}", share(found, 2 * runs));
    Ok(())
}

fn share(count: usize, of: u64) -> String {
    format!("{count} of {of} ({:.4})", count as f64 / of as f64)
}

/// The least lead that decides, by the number of users without a tie.
fn leads(most: usize) -> Vec<u64> {
    let mut leads = vec![u64::MAX];
    let mut lead = 1;
    for n in 1..=most as u64 {
        // A lead has the parity of the users.
        lead = if lead % 2 == n % 2 { lead } else { lead - 1 };
        let decides = |lead: u64| lead <= n && !coin(u64::midpoint(n, lead), (n - lead) / 2).contains(0.5);
        while lead <= n && !decides(lead) {
            lead += 2;
        }
        leads.push(if lead <= n { lead } else { u64::MAX });
        lead = lead.min(n);
    }
    leads
}

fn coin(first: u64, second: u64) -> CoinMixture {
    CoinMixture::with_counts(MISS, first, second).expect("valid")
}

/// The users to a verdict, and whether the first ranker wins.
fn stops(p: f64, seed: u64, leads: &[u64]) -> Option<(usize, bool)> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut lead: i64 = 0;
    (1..leads.len()).find_map(|n| {
        lead += if rng.random::<f64>() < p { 1 } else { -1 };
        (lead.unsigned_abs() >= leads[n]).then_some((n, lead > 0))
    })
}

/// Mean users of the sequential probability ratio test of a share of `p` or `1 - p`, which knows
/// `p`.
fn sprt_mean(p: f64, runs: u64) -> f64 {
    let step = ln(p / (1.0 - p));
    let mut sum: u64 = 0;
    for seed in 0..runs {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let (mut n, mut lead) = (0_u64, 0_i64);
        loop {
            n += 1;
            lead += if rng.random::<f64>() < p { 1 } else { -1 };
            // An even mixture of both likelihood ratios.
            let base = n as f64 * ln(2.0) + 0.5 * n as f64 * ln(p * (1.0 - p));
            let level = base + 0.5 * lead.unsigned_abs() as f64 * step;
            let other = base - 0.5 * lead.unsigned_abs() as f64 * step;
            if level + ln(0.5 * (1.0 + exp(other - level))) >= -ln(MISS) {
                break;
            }
        }
        sum += n;
    }
    sum as f64 / runs as f64
}

/// Whether a stream without a difference is told apart on one of 28 days, by user and by session.
fn ab_alarms(seed: u64) -> (bool, bool) {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let test = || AbTest::new(MISS).expect("valid");
    let (mut users, mut sessions, mut n_sessions) = (test(), test(), 0);
    let (mut by_user, mut by_session) = (false, false);
    for day in 0..28 {
        for of_day in 0..100 {
            let user = day * 100 + of_day;
            let arm = if rng.random() { Arm::A } else { Arm::B };
            visits(&mut rng, 1.0, |clicks| {
                users.observe(user, arm, clicks);
                sessions.observe(n_sessions, arm, clicks);
                n_sessions += 1;
            });
        }
        by_user |= users.open_end(1_400) != Verdict::Undecided;
        by_session |= sessions.open_end(4_200) != Verdict::Undecided;
    }
    (by_user, by_session)
}

/// A user's sessions: three on average, with a gamma rate of clicks of mean .6.
fn visits<R: Rng>(rng: &mut R, factor: f64, mut visit: impl FnMut(u32)) {
    let rate = -0.6 * factor * ln(1.0 - rng.random::<f64>());
    loop {
        visit(poisson(rng, rate));
        if rng.random::<f64>() < 1.0 / 3.0 {
            return;
        }
    }
}

fn poisson<R: Rng>(rng: &mut R, mean: f64) -> u32 {
    let (mut count, mut product) = (0, rng.random::<f64>());
    while product > exp(-mean) {
        count += 1;
        product *= rng.random::<f64>();
    }
    count
}

/// Whether equal rankers are told apart, by users, by lists and by clicks, if a user keeps a list
/// of two items, one of each team, for some searches, and likes one of them.
fn kept_lists(seed: u64, searches: u32) -> [bool; 3] {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let test = || TeamTest::new(MISS).expect("valid");
    let mut tests = [test(), test(), test()];
    let mut found = [false; 3];
    let (mut n_lists, mut n_clicks) = (0, 0);
    for user in 0..2_000 {
        // The team of the liked item is drawn once.
        let first: bool = rng.random();
        for _ in 0..searches {
            let clicks: [bool; 2] = [rng.random::<f64>() < 0.6, rng.random::<f64>() < 0.1];
            for (clicked, is_liked) in clicks.into_iter().zip([true, false]) {
                if clicked {
                    let team = first == is_liked;
                    tests[0].observe(user, team);
                    tests[1].observe(n_lists, team);
                    tests[2].observe(n_clicks, team);
                    n_clicks += 1;
                }
            }
            n_lists += 1;
        }
        if user % 20 == 19 {
            for (found, test) in found.iter_mut().zip(&tests) {
                *found |= test.verdict() != Verdict::Undecided;
            }
        }
    }
    found
}

/// Whether five looks find the difference for which they were planned with power .8.
fn obrien_fleming(seed: u64) -> bool {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1_000_000 + seed);
    // A mean of .6 and .75 clicks a session; of a user with m sessions and the rate R, T has
    // variance E m R^2 .., by the delta method. Measured on 10 million users: 1.03.
    let of_looks = inflation(0.8, MISS, End::Fixed(5)).expect("valid");
    let n = users_per_arm(deviation(), 0.12, 0.8, MISS, of_looks).expect("valid");
    let mut test = AbTest::new(MISS).expect("valid");
    let mut user = 0;
    (1..=5_u32).any(|look| {
        while user < 2 * n * u64::from(look) / 5 {
            let arm = if user % 2 == 0 { Arm::A } else { Arm::B };
            visits(&mut rng, if arm == Arm::A { 0.9 } else { 1.1 }, |clicks| test.observe(user, arm, clicks));
            user += 1;
        }
        test.fixed_end(look, 5) == Some(Verdict::Second)
    })
}

/// A user's standard deviation of clicks a session, root mean square of both arms: with m geometric
/// of mean 3 and a rate of exponential distribution with mean r, E (T - r m)^2 / (E m)^2 =
/// (3 r + 15 r^2) / 9.
fn deviation() -> f64 {
    let square = |rate: f64| (3.0 * rate + 15.0 * rate * rate) / 9.0;
    (0.5 * (square(0.54) + square(0.66))).sqrt()
}
