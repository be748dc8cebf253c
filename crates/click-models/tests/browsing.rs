//! The models that show clicks and nothing else: dynamic Bayesian network, click chain, user
//! browsing.
//!
//! The statistical checks simulate [`ROUNDS`](crate::support::ROUNDS) users from a fixed seed and
//! compare counts with exact binomial bounds. A right model fails one check with probability at
//! most 1e-6; at least one check detects each wrong model below with probability 1 - 1e-6 or more,
//! as the tests compute and confirm.

use crate::support::{FALSE_ALARM, ROUNDS, all_lists, assert_optimum_over_all_lists, check_patterns, power};
use click_models::{
    ClickChain, ClickModel, ClicksOnly, DbnReward, DynamicBayesian, Error, ItemId, ListShape, Ranking,
    UserBrowsing,
};
use rand::{RngExt, SeedableRng, rngs::SmallRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const SEED: u64 = 2009;
const THETA: [f64; 5] = [0.35, 0.05, 0.45, 0.15, 0.25];
const SATISFACTION: [f64; 5] = [0.8, 0.1, 0.4, 0.6, 0.3];
const CONTINUATION: f64 = 0.7;
const CHAIN: [f64; 3] = [0.9, 0.7, 0.2];
const BROWSING: [&[f64]; 3] = [&[0.9], &[0.6, 0.8], &[0.3, 0.5, 0.7]];

fn ranking(items: &[u32]) -> Ranking {
    items.iter().copied().map(ItemId::new).collect()
}

/// Probability of every set of clicked positions, by its bits, of users who scan:
/// `goes_on(item, is_clicked)` is the probability that a user who examined the item examines the
/// next position. Adds up what users do, position by position.
fn laws_of_scanning(list: &Ranking, theta: &[f64], goes_on: impl Fn(usize, bool) -> f64) -> Vec<f64> {
    // The probability of every pattern so far, of users who are still there and of those who left.
    let (mut there, mut left) = (vec![0.0; 1 << list.len()], vec![0.0; 1 << list.len()]);
    there[0] = 1.0;
    for (position, item) in list.by_position() {
        let item = item.index();
        let (before, mut after) = (there.clone(), vec![0.0; there.len()]);
        for (pattern, reached) in before.iter().enumerate().take(1 << position) {
            for is_clicked in [false, true] {
                let outcome = if is_clicked { theta[item] } else { 1.0 - theta[item] };
                let now = pattern | usize::from(is_clicked) << position;
                let goes_on = goes_on(item, is_clicked);
                after[now] += reached * outcome * goes_on;
                left[now] += reached * outcome * (1.0 - goes_on);
            }
        }
        there = after;
    }
    there.iter().zip(&left).map(|(there, left)| there + left).collect()
}

fn laws_of_dbn(list: &Ranking, theta: &[f64], satisfaction: &[f64], continuation: f64) -> Vec<f64> {
    laws_of_scanning(list, theta, |item, is_clicked| {
        continuation * if is_clicked { 1.0 - satisfaction[item] } else { 1.0 }
    })
}

fn laws_of_ccm(list: &Ranking, theta: &[f64], [none, irrelevant, relevant]: [f64; 3]) -> Vec<f64> {
    laws_of_scanning(list, theta, |item, is_clicked| {
        if is_clicked { irrelevant * (1.0 - theta[item]) + relevant * theta[item] } else { none }
    })
}

fn laws_of_ubm(list: &Ranking, theta: &[f64], examination: &[&[f64]]) -> Vec<f64> {
    let law = |pattern: usize| {
        let mut last = 0;
        list.by_position().fold(1.0, |law, (position, item)| {
            let click = theta[item.index()] * examination[position][last];
            if pattern >> position & 1 == 1 {
                last = position + 1;
                law * click
            } else {
                law * (1.0 - click)
            }
        })
    };
    (0..1 << list.len()).map(law).collect()
}

fn dbn(reward: DbnReward) -> DynamicBayesian {
    DynamicBayesian::from_values(&THETA, &SATISFACTION, CONTINUATION, 3, reward).unwrap()
}

fn ccm(continuation: [f64; 3]) -> ClickChain {
    ClickChain::from_values(&THETA, continuation, 3).unwrap()
}

fn ubm() -> UserBrowsing {
    UserBrowsing::from_values(&THETA, &BROWSING).unwrap()
}

fn alarms(users: &impl ClickModel<Interaction = ClicksOnly>, list: &Ranking, laws: &[f64]) -> Vec<String> {
    check_patterns(laws, SEED, |rng| users.respond(list, rng).clicks)
}

#[test]
fn clicks_follow_the_models() {
    for list in [ranking(&[2, 0, 4]), ranking(&[1, 3, 2])] {
        let laws = laws_of_dbn(&list, &THETA, &SATISFACTION, CONTINUATION);
        assert_eq!(alarms(&dbn(DbnReward::Clicks), &list, &laws), Vec::<String>::new());
        for continuation in [CHAIN, [1.0, 0.0, 1.0], [0.5, 1.0, 0.0]] {
            let laws = laws_of_ccm(&list, &THETA, continuation);
            assert_eq!(alarms(&ccm(continuation), &list, &laws), Vec::<String>::new());
        }
        assert_eq!(alarms(&ubm(), &list, &laws_of_ubm(&list, &THETA, &BROWSING)), Vec::<String>::new());
    }
}

/// Each distribution is checked with users of a model that differs in one thing.
#[test]
fn wrong_users_are_noticed() {
    let list = ranking(&[2, 0, 4]);
    let noticed = |users: &dyn Fn(&[f64]) -> Vec<String>, right: &[f64], wrong: &[f64], set: usize| {
        assert!(power(ROUNDS, right[set], wrong[set]) > 1.0 - FALSE_ALARM, "{set:03b}");
        let alarms = users(right);
        assert!(alarms.iter().any(|alarm| alarm.starts_with(&format!("clicks {set:03b}"))), "{alarms:?}");
    };
    let right = laws_of_dbn(&list, &THETA, &SATISFACTION, CONTINUATION);
    // Patience that only ends after a click.
    let wrong = laws_of_dbn(&list, &THETA, &SATISFACTION, 1.0);
    let users = DynamicBayesian::from_values(&THETA, &SATISFACTION, 1.0, 3, DbnReward::Clicks).unwrap();
    noticed(&|laws| alarms(&users, &list, laws), &right, &wrong, 0b100);
    // Relevance that makes users continue.
    let right = laws_of_ccm(&list, &THETA, CHAIN);
    let reversed = [CHAIN[0], CHAIN[2], CHAIN[1]];
    let wrong = laws_of_ccm(&list, &THETA, reversed);
    noticed(&|laws| alarms(&ccm(reversed), &list, laws), &right, &wrong, 0b001);
    // Examination that the last click has no part in.
    let right = laws_of_ubm(&list, &THETA, &BROWSING);
    let alone: [&[f64]; 3] = [&[0.9], &[0.6; 2], &[0.3; 3]];
    let users = UserBrowsing::from_values(&THETA, &alone).unwrap();
    noticed(&|laws| alarms(&users, &list, laws), &right, &laws_of_ubm(&list, &THETA, &alone), 0b101);
}

/// Mean reward and mean clicks match the enumerated probabilities.
#[test]
fn means_match_the_laws() {
    let clicks = |laws: &[f64]| {
        laws.iter().zip(0_u32..).map(|(law, set)| law * f64::from(set.count_ones())).sum::<f64>()
    };
    for list in all_lists(5, 3) {
        let laws = laws_of_dbn(&list, &THETA, &SATISFACTION, CONTINUATION);
        for reward in [DbnReward::Clicks, DbnReward::Satisfaction] {
            assert!((dbn(reward).expected_clicks(&list) - clicks(&laws)).abs() < 1e-14);
        }
        assert!((dbn(DbnReward::Clicks).expected_reward(&list) - clicks(&laws)).abs() < 1e-14);
        // Satisfied: everybody who is not left unsatisfied at the end or out of patience.
        let mut satisfied = 0.0;
        let mut there = 1.0;
        for item in &list {
            let here = THETA[item.index()] * SATISFACTION[item.index()];
            satisfied += there * here;
            there *= (1.0 - here) * CONTINUATION;
        }
        assert!((dbn(DbnReward::Satisfaction).expected_reward(&list) - satisfied).abs() < 1e-14);
        let chain = laws_of_ccm(&list, &THETA, CHAIN);
        assert!((ccm(CHAIN).expected_reward(&list) - clicks(&chain)).abs() < 1e-14);
        let browsing = laws_of_ubm(&list, &THETA, &BROWSING);
        assert!((ubm().expected_reward(&list) - clicks(&browsing)).abs() < 1e-14);
    }
}

#[test]
fn the_optimal_list_is_the_best_of_all() {
    let mut rng = SmallRng::seed_from_u64(SEED);
    for _ in 0..100 {
        let n_items = rng.random_range(1..=5);
        let n_positions = rng.random_range(1..=n_items);
        let shape = ListShape::new(n_items, n_positions).unwrap();
        // A coarse grid, so that ties, 0 and 1 occur.
        let mut values =
            |n: usize| -> Vec<f64> { (0..n).map(|_| f64::from(rng.random_range(0..=4_u8)) / 4.0).collect() };
        let (theta, satisfaction, goes_on) = (values(n_items), values(n_items), values(3));
        for reward in [DbnReward::Clicks, DbnReward::Satisfaction] {
            let users =
                DynamicBayesian::from_values(&theta, &satisfaction, goes_on[0], n_positions, reward).unwrap();
            assert_optimum_over_all_lists(&users, shape);
        }
        let users = ClickChain::from_values(&theta, [goes_on[0], goes_on[1], goes_on[2]], n_positions);
        assert_optimum_over_all_lists(&users.unwrap(), shape);
        let rows: Vec<Vec<f64>> = (1..=n_positions).map(&mut values).collect();
        let rows: Vec<&[f64]> = rows.iter().map(Vec::as_slice).collect();
        assert_optimum_over_all_lists(&UserBrowsing::from_values(&theta, &rows).unwrap(), shape);
    }
}

/// The first of the best lists in lexicographic order, by trying all of them, and its clicks.
fn first_best_list(users: &UserBrowsing) -> (Ranking, f64) {
    let shape = users.shape();
    let lists = all_lists(shape.n_items(), shape.n_positions()).into_iter();
    let clicks = lists.map(|list| {
        let clicks = users.expected_reward(&list);
        (list, clicks)
    });
    clicks.reduce(|best, next| if next.1 > best.1 { next } else { best }).unwrap()
}

/// Attraction of at most six items and any triangle: on a coarse grid, so that ties, 0 and 1 occur;
/// with rounding noise, so that lists are better in the last bits only; or any numbers. The last
/// rows may be 0.
#[test]
fn the_best_list_of_user_browsing_is_that_of_an_enumeration() {
    let mut rng = SmallRng::seed_from_u64(SEED);
    for _ in 0..2000 {
        let n_items = rng.random_range(1..=6);
        let n_positions = rng.random_range(1..=n_items.min(5));
        let n_examined = rng.random_range(0..=2 * n_positions);
        let kind = rng.random_range(0..3);
        let mut value = || {
            let (grid, noise) = (f64::from(rng.random_range(0..=4_u8)) / 4.0, rng.random::<f64>());
            [grid, (grid - 1e-15 * noise).max(0.0), noise][kind]
        };
        let theta: Vec<f64> = (0..n_items).map(|_| value()).collect();
        let mut rows: Vec<Vec<f64>> = (1..=n_positions).map(|n| (0..n).map(|_| value()).collect()).collect();
        rows.iter_mut().skip(n_examined).for_each(|row| row.fill(0.0));
        let rows: Vec<&[f64]> = rows.iter().map(Vec::as_slice).collect();
        let users = UserBrowsing::from_values(&theta, &rows).unwrap();
        let (list, clicks) = first_best_list(&users);
        assert_eq!(users.optimal_action(), list, "{theta:?} {rows:?}");
        assert_eq!(users.optimal_reward().to_bits(), clicks.to_bits());
    }
}

/// Examination that falls with the position and with the distance to the last click.
fn falling(n_positions: usize) -> Vec<Vec<f64>> {
    let of = |position: usize, last: usize| {
        let place = position as f64;
        match last {
            0 => 1.0 / (1.0 + 0.2 * place),
            _ => 0.9 / (1.0 + 0.02 * place) / (1.0 + 0.4 * (position - last) as f64),
        }
    };
    (0..n_positions).map(|position| (0..=position).map(|last| of(position, last)).collect()).collect()
}

/// Here a more attractive item makes every list better, so that the best list is an order of the
/// most attractive items.
#[test]
fn the_best_list_of_many_items_is_the_best_order_of_the_most_attractive() {
    let mut rng = SmallRng::seed_from_u64(SEED);
    for _ in 0..5 {
        let mut theta: Vec<f64> = (0..60).map(|_| rng.random::<f64>()).collect();
        theta.sort_by(|a, b| b.total_cmp(a));
        let rows = falling(7);
        let rows: Vec<&[f64]> = rows.iter().map(Vec::as_slice).collect();
        let users = UserBrowsing::from_values(&theta, &rows).unwrap();
        let few = UserBrowsing::from_values(&theta[..7], &rows).unwrap();
        assert_eq!((users.optimal_action(), users.optimal_reward()), first_best_list(&few));
    }
}

#[test]
fn the_best_list_of_ten_among_sixty_items_is_found() {
    let mut rng = SmallRng::seed_from_u64(SEED);
    let rows = falling(10);
    let rows: Vec<&[f64]> = rows.iter().map(Vec::as_slice).collect();
    for power in [1, 2, 4] {
        let theta: Vec<f64> = (0..60).map(|_| rng.random::<f64>().powi(power)).collect();
        let users = UserBrowsing::from_values(&theta, &rows).unwrap();
        assert!(users.optimal_action().fits(users.shape()));
    }
}

#[test]
fn equal_items_and_positions_that_nobody_examines_do_not_make_the_search_long() {
    let (row, unseen) = ([0.5; 10], [0.0; 10]);
    let rows: Vec<&[f64]> = (1..=10).map(|n| &row[..n]).collect();
    let users = UserBrowsing::from_values(&[0.5; 60], &rows).unwrap();
    assert_eq!(users.optimal_action(), ranking(&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]));
    let rows: Vec<&[f64]> = (1..=10).map(|n| if n < 3 { &row[..n] } else { &unseen[..n] }).collect();
    let theta: Vec<f64> = (1..=60_u8).map(|item| f64::from(item) / 64.0).collect();
    let users = UserBrowsing::from_values(&theta, &rows).unwrap();
    assert_eq!(users.optimal_action(), ranking(&[58, 59, 0, 1, 2, 3, 4, 5, 6, 7]));
}

#[test]
fn every_list_takes_the_same_number_of_draws() {
    fn check(users: &impl ClickModel<Interaction = ClicksOnly>, draws: usize) {
        for list in all_lists(5, 3) {
            let mut rng = Xoshiro256PlusPlus::seed_from_u64(SEED);
            let mut same = rng.clone();
            for _ in 0..100 {
                users.respond(&list, &mut rng);
                for _ in 0..draws {
                    same.random::<f64>();
                }
                assert_eq!(rng, same);
            }
        }
    }
    check(&dbn(DbnReward::Clicks), 6);
    check(&ccm(CHAIN), 6);
    check(&ubm(), 3);
}

#[test]
fn saved_users_are_read_back_unchanged() {
    let text = serde_json::to_string(&dbn(DbnReward::Satisfaction)).unwrap();
    assert_eq!(serde_json::from_str::<DynamicBayesian>(&text).unwrap(), dbn(DbnReward::Satisfaction));
    let text = serde_json::to_string(&ccm(CHAIN)).unwrap();
    assert_eq!(serde_json::from_str::<ClickChain>(&text).unwrap(), ccm(CHAIN));
    let text = serde_json::to_string(&ubm()).unwrap();
    assert_eq!(serde_json::from_str::<UserBrowsing>(&text).unwrap(), ubm());
}

#[test]
fn construction_errors_name_the_cause() {
    let dbn = |satisfaction: &[f64], continuation| {
        DynamicBayesian::from_values(&[0.5, 0.2], satisfaction, continuation, 2, DbnReward::Clicks)
            .unwrap_err()
            .to_string()
    };
    assert_eq!(dbn(&[0.5], 0.5), "satisfaction: 1 given, expected one for each of the 2 items");
    assert!(dbn(&[0.5, 2.0], 0.5).contains("satisfaction[1] is 2"));
    assert!(dbn(&[0.5, 1.0], -1.0).contains("continuation"));
    let error = ClickChain::from_values(&[0.5], [0.5, 0.5, f64::NAN], 1).unwrap_err();
    assert!(error.to_string().contains("continuation[2] is NaN"), "{error}");
    let error = UserBrowsing::from_values(&[0.5, 0.5], &[&[0.5], &[0.5]]).unwrap_err();
    assert_eq!(error, Error::NotATriangle { position: 1, found: 1 });
    let row = [0.5; 11];
    let rows: Vec<&[f64]> = (1..=11).map(|n| &row[..n]).collect();
    // All 11! orders are about as good, so that nothing can be dropped.
    let theta: Vec<f64> = (1..=11_u8).map(|item| f64::from(item) / 16.0).collect();
    let error = UserBrowsing::from_values(&theta, &rows).unwrap_err();
    assert_eq!(error, Error::SearchTooLong { n_items: 11, n_positions: 11 });
}
