//! Launches on simulated sites: users come back for weeks, with weekends and late clicks.

use interleaving::launch::{Change, Compared, Direction, Guard, Launch, Settings, Why};
use interleaving::split::Place;
use rand::{RngExt as _, SeedableRng as _};
use rand_distr::{Beta, Distribution as _, Gamma, Pareto, Poisson};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::collections::VecDeque;

const HOUR: u64 = 3_600_000;
const DAY: u64 = 24 * HOUR;
const STEPS: [f64; 4] = [0.01, 0.05, 0.25, 0.5];

/// A site and a policy on it.
#[derive(Clone, Copy)]
struct Site {
    users: usize,
    is_heavy: bool,
    /// Days of shadow.
    shadow: u64,
    risk: f64,
    days: u64,
    /// Days after which a click arrives.
    late: u64,
    /// A robot's share of the sessions: of its own side, which is the policy's, if the second is
    /// true.
    robot: Option<(f64, bool)>,
    /// The policy's clicks by today's, by day since the launch.
    effect: fn(u64) -> f64,
}

const SITE: Site = Site {
    users: 40_000,
    is_heavy: false,
    shadow: 0,
    risk: 0.03,
    days: 84,
    late: 0,
    robot: None,
    effect: |_| 1.0,
};

fn settings(steps: &[f64]) -> Settings {
    Settings { name: "autumn".into(), steps: steps.to_vec(), risk: 0.02, first: 50, guards: Vec::new() }
}

/// How a launch went.
#[derive(Debug, Default, Clone)]
struct Course {
    /// The day on which it was stopped or braked to 0.
    stopped: Option<u64>,
    /// The day on which it reached one half.
    half: Option<u64>,
    /// Expected clicks lost, as a share of all.
    lost: f64,
    /// Weeks, and those that said better or worse.
    weeks: [usize; 2],
    whys: Vec<Why>,
}

fn course(site: Site, seed: u64) -> Course {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let activity = Beta::new(0.6, 3.4).unwrap();
    let rate = Gamma::new(2.0, 0.4).unwrap();
    let volume: Pareto<f64> = Pareto::new(1.0, 1.5).unwrap();
    let users: Vec<(Place, f64, f64)> = (0..site.users)
        .map(|user| {
            let place = Place::new(&format!("launch {seed}"), &user.to_string());
            (place, activity.sample(&mut rng), rate.sample(&mut rng))
        })
        .collect();
    let rule = |steps: &[f64]| Settings { risk: site.risk, ..settings(steps) };
    let mut launch = Launch::new(rule(if site.shadow > 0 { &[] } else { &STEPS }), 0);
    let mut found = Course::default();
    let [mut all, mut lost] = [0.0; 2];
    let mut late: VecDeque<(u64, Compared, u64, f64)> = VecDeque::new();
    let robot = users
        .iter()
        .find(|(place, ..)| place.is_below(STEPS[0]) == site.robot.is_some_and(|(_, policy)| policy));
    let robot = robot.unwrap().0;
    for day in 0..site.shadow + site.days {
        if day == site.shadow && day > 0 {
            launch = launch.with_settings(rule(&STEPS), day * DAY);
        }
        let is_weekend = day % 7 >= 5;
        let [visits, clicks_of] = if is_weekend { [0.7, 1.5] } else { [1.0, 1.0] };
        let mut of_day: Vec<(u64, Place, f64, f64)> = Vec::new();
        for &(place, activity, rate) in &users {
            if rng.random::<f64>() < activity * visits {
                let sessions = if site.is_heavy { volume.sample(&mut rng).min(60.0).floor() } else { 1.0 };
                of_day.push((rng.random_range(0..24), place, sessions, rate * clicks_of));
            }
        }
        if let Some((share, is_of_side)) = site.robot {
            let side = if is_of_side { launch.share } else { 1.0 };
            of_day.push((12, robot, (share * side * of_day.len() as f64).floor(), 0.3));
        }
        of_day.sort_by_key(|visit| visit.0);
        let mut last_hour = 0;
        for (hour, place, sessions, rate) in of_day {
            let now = day * DAY + hour * HOUR;
            if hour > last_hour {
                while late.front().is_some_and(|(due, ..)| *due <= now) {
                    let (_, decision, made, clicks) = late.pop_front().unwrap();
                    launch.click(decision, made, clicks);
                }
                if let Some(change) = launch.look(now) {
                    launch.change(change);
                }
                last_hour = hour;
            }
            let mut left = sessions;
            while left > 0.0 {
                left -= 1.0;
                let decision = launch.place(place);
                launch.decide(decision);
                let effect = (site.effect)(day.saturating_sub(site.shadow));
                let mean = rate * if decision.side { effect } else { 1.0 };
                all += rate;
                lost += rate - mean;
                let clicks: f64 = Poisson::new(mean.max(1e-9)).unwrap().sample(&mut rng);
                if clicks > 0.0 {
                    late.push_back((now + site.late * DAY, decision, now, clicks));
                }
            }
        }
        let launched = day.saturating_sub(site.shadow);
        if launch.share == 0.0 && !launch.in_shadow {
            found.stopped.get_or_insert(launched);
        }
        if launch.share >= 0.5 {
            found.half.get_or_insert(launched);
        }
    }
    found.lost = lost / all;
    found.weeks = [launch.weeks.len(), launch.weeks.iter().filter(|week| week.verdict().is_some()).count()];
    found.whys = launch.path.iter().map(|change| change.why.clone()).collect();
    found
}

/// Prints the table of LAUNCH: `cargo test --test all launch::table -- --ignored --nocapture`.
#[test]
#[ignore = "a measurement of some minutes"]
fn table() {
    let runs: u64 = std::env::var("LAUNCHES").map_or(20, |runs| runs.parse().unwrap());
    let shadow = Site { shadow: 14, ..SITE };
    let large = Site { users: 200_000, risk: 0.02, ..SITE };
    let heavy = Site { is_heavy: true, ..shadow };
    let rows: [(&str, Site); 19] = [
        ("equal", SITE),
        ("equal, shadow", shadow),
        ("equal, shadow, 364 days", Site { days: 364, ..shadow }),
        ("equal, heavy, shadow", heavy),
        ("equal, heavy", Site { is_heavy: true, ..SITE }),
        ("equal, 200,000", large),
        ("broken", Site { effect: |_| 0.4, ..SITE }),
        ("broken, shadow", Site { effect: |_| 0.4, ..shadow }),
        ("broken, 200,000", Site { effect: |_| 0.4, ..large }),
        ("explores for a week", Site { effect: |day| if day < 7 { 0.8 } else { 1.1 }, ..SITE }),
        ("explores, shadow", Site { effect: |day| if day < 7 { 0.8 } else { 1.1 }, ..shadow }),
        ("slow, shadow", Site { effect: |day| 1.0 - 0.1 + 0.2 * (day as f64 / 56.0).min(1.0), ..shadow }),
        ("slow cascade", Site { effect: |day| 0.93 + 0.13 * (day as f64 / 100.0).min(1.0), ..shadow }),
        ("breaks on day 28", Site { effect: |day| if day < 28 { 1.1 } else { 0.7 }, ..shadow }),
        ("5 % worse, shadow", Site { effect: |_| 0.95, ..shadow }),
        ("5 % better", Site { effect: |_| 1.05, ..shadow }),
        ("equal, late", Site { late: 2, ..shadow }),
        ("robot of a side", Site { robot: Some((0.1, true)), ..shadow }),
        ("robot of all", Site { robot: Some((0.1, false)), ..shadow }),
    ];
    let only = std::env::var("ROW").unwrap_or_default();
    for (name, site) in rows.into_iter().filter(|(name, _)| name.contains(&only)) {
        let all: Vec<Course> = (0..runs).map(|run| course(site, 1_000 + run)).collect();
        let share = |of: &dyn Fn(&Course) -> Option<u64>| {
            let mut days: Vec<u64> = all.iter().filter_map(of).collect();
            days.sort_unstable();
            (days.len() as f64 / runs as f64, days.get(days.len() / 2).copied())
        };
        let lost = all.iter().map(|course| course.lost).sum::<f64>() / runs as f64;
        let most = all.iter().map(|course| course.lost).fold(f64::MIN, f64::max);
        let weeks =
            all.iter().fold([0, 0], |sum, course| [sum[0] + course.weeks[0], sum[1] + course.weeks[1]]);
        let backs = all.iter().filter(|course| course.whys.contains(&Why::WorseWeek)).count();
        println!(
            "{name:24} stopped {:?} half {:?} lost {:.3} % (most {:.3}) weeks {weeks:?} back in {backs}",
            share(&|course| course.stopped),
            share(&|course| course.half),
            100.0 * lost,
            100.0 * most,
        );
    }
}

#[test]
fn a_broken_policy_is_stopped_and_an_equal_one_rises() {
    let broken = course(Site { effect: |_| 0.4, ..SITE }, 1);
    assert!(broken.stopped.is_some_and(|day| day < 14) && broken.lost < 0.001, "{broken:?}");
    let equal = course(Site { shadow: 14, days: 42, ..SITE }, 1);
    assert!(equal.stopped.is_none() && equal.half.is_some(), "{equal:?}");
}

#[test]
fn nobody_leaves_the_side_of_the_policy_at_rising_shares() {
    let mut counts = [0_u32; 4];
    for user in 0..100_000 {
        let place = Place::new("autumn", &format!("user-{user}"));
        let on: Vec<bool> = STEPS.iter().map(|share| place.is_below(*share)).collect();
        assert!(on.is_sorted());
        on.iter().zip(&mut counts).for_each(|(on, count)| *count += u32::from(*on));
    }
    for (share, count) in STEPS.into_iter().zip(counts) {
        let error = (share * (1.0 - share) * 1e5).sqrt();
        assert!((f64::from(count) - share * 1e5).abs() < 4.0 * error, "{share}: {count}");
    }
}

#[test]
fn a_guard_stops_and_a_metric_without_values_does_not() {
    let guard = |worse| Guard { metric: "bounce".into(), worse, most: 0.05 };
    let guards = vec![guard(Direction::Up), guard(Direction::Down)];
    let mut launch = Launch::new(Settings { risk: 0.9, guards, ..settings(&[0.5]) }, 0);
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(3);
    for user in 0..20_000 {
        let decision = launch.place(Place::new("guards", &user.to_string()));
        launch.decide(decision);
        launch.click(decision, 0, 1.0);
        if user >= 10_000 {
            let bounces = rng.random::<f64>() < if decision.side { 0.4 } else { 0.3 };
            launch.measure(decision, 0, 0, None, 1.0);
            launch.measure(decision, 0, 0, Some(1.0), f64::from(u8::from(bounces)));
        }
        if user == 9_999 {
            assert_eq!(launch.look(HOUR), None);
        }
    }
    assert_eq!(launch.guard(1).1, None);
    assert_eq!(launch.look(HOUR).unwrap().why, Why::Guard("bounce".into()));
}

#[test]
fn a_guard_whose_values_are_alike_on_each_side_stops() {
    let guards = vec![Guard { metric: "bounce".into(), worse: Direction::Up, most: 0.05 }];
    let mut launch = Launch::new(Settings { risk: 0.9, guards, ..settings(&[0.3]) }, 0);
    for user in 0..3_000 {
        let decision = launch.place(Place::new("alike", &user.to_string()));
        launch.decide(decision);
        launch.click(decision, 0, 1.0);
        launch.measure(decision, 0, 0, None, f64::from(u8::from(decision.side)));
    }
    assert_eq!(launch.look(HOUR).unwrap().why, Why::Guard("bounce".into()));
}

#[test]
fn other_settings_do_not_move_the_share() {
    let guards = vec![Guard { metric: "bounce".into(), worse: Direction::Up, most: 0.05 }];
    let mut launch = Launch::new(Settings { guards, ..settings(&STEPS) }, 0);
    launch.change(Change { time: 1, share: 0.1, why: Why::ByHand, week: None });
    launch.hold(true);
    launch = launch.with_settings(settings(&STEPS), 2);
    assert_eq!(launch.share, 0.1);
    launch = launch.with_settings(settings(&[0.4, 0.5]), 3);
    assert_eq!(launch.share, 0.1);
    launch.hold(false);
    launch = launch.with_settings(settings(&[0.05, 0.5]), 4);
    assert_eq!(launch.share, 0.05);
    launch.change(Change { time: 5, share: 0.0, why: Why::Broken, week: None });
    launch = launch.with_settings(settings(&STEPS), 6);
    assert!(launch.is_stopped() && launch.stop().unwrap().why == Why::Broken);
}
