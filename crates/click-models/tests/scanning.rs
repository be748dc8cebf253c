//! The models whose users scan the list from the top: cascade and dependent clicks.
//!
//! The statistical checks simulate [`ROUNDS`](crate::support::ROUNDS) users from a fixed seed and
//! compare counts with exact binomial bounds. A right model fails one check with probability at
//! most 1e-6; at least one check detects each wrong model below with probability 1 - 1e-6 or more,
//! as the tests compute and confirm.

#![expect(clippy::needless_pass_by_value, reason = "quickcheck hands a property its arguments by value")]

use crate::support::{FALSE_ALARM, ROUNDS, all_lists, assert_optimum_over_all_lists, check_patterns, power};
use click_models::{
    CascadeModel, ClickModel, Clicks, DcmReward, DependentClick, Error, ItemId, ListShape, Ranking, bounds,
};
use quickcheck::{Arbitrary, Gen, QuickCheck};
use rand::{RngExt, SeedableRng, TryRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::convert::Infallible;

const SEED: u64 = 2015;
const THETA: [f64; 5] = [0.35, 0.05, 0.45, 0.15, 0.25];
const LEAVE: [f64; 3] = [0.9, 0.6, 0.3];

fn ranking(items: &[u32]) -> Ranking {
    items.iter().copied().map(ItemId::new).collect()
}

// --- Laws
// -------------------------------------------------------------------------------------------------

/// Probability of every set of clicked positions, by its bits: a user who clicks on position `l`
/// leaves with probability `leave[l]`.
fn laws(attraction: &[f64], leave: &[f64]) -> Vec<f64> {
    let n = attraction.len();
    let below = |position: usize| (position + 1..n).map(|other| attraction[other]);
    // Every position down to the last click was examined. Below it, the user has left or examined
    // the rest without a click.
    (0_u32..1 << n)
        .map(|pattern| {
            let clicked = |position: usize| pattern >> position & 1 == 1;
            let Some(last) = (0..n).rev().find(|&position| clicked(position)) else {
                return attraction.iter().map(|attraction| 1.0 - attraction).product();
            };
            let seen = (0..=last).map(|position| match (clicked(position), position == last) {
                (true, false) => attraction[position] * (1.0 - leave[position]),
                (true, true) => attraction[position],
                (false, _) => 1.0 - attraction[position],
            });
            let in_vain: f64 = below(last).map(|attraction| 1.0 - attraction).product();
            seen.product::<f64>() * (leave[last] + (1.0 - leave[last]) * in_vain)
        })
        .collect()
}

fn cascade() -> CascadeModel {
    CascadeModel::from_values(&THETA, 3).unwrap()
}

fn dcm(leave: &[f64]) -> DependentClick {
    DependentClick::from_values(&THETA, leave, DcmReward::Satisfaction).unwrap()
}

fn shown(list: &Ranking) -> Vec<f64> {
    list.by_position().map(|(_, item)| THETA[item.index()]).collect()
}

#[test]
fn clicks_follow_the_models() {
    for list in [ranking(&[2, 0, 4]), ranking(&[1, 3, 2])] {
        let users = cascade();
        let first_click = laws(&shown(&list), &[1.0; 3]);
        let seen = |rng: &mut _| {
            let seen = users.respond(&list, rng);
            seen.click().map_or(Clicks::new(3), |position| Clicks::new(3).with(position))
        };
        assert_eq!(check_patterns(&first_click, SEED, seen), Vec::<String>::new());
        for leave in [LEAVE, [0.0, 1.0, 0.5], [0.0; 3]] {
            let users = dcm(&leave);
            let laws = laws(&shown(&list), &leave);
            let alarms = check_patterns(&laws, SEED, |rng| users.respond(&list, rng).clicks);
            assert_eq!(alarms, Vec::<String>::new());
        }
    }
}

#[test]
fn wrong_users_are_noticed() {
    let list = ranking(&[2, 0, 4]);
    let right = laws(&shown(&list), &LEAVE);
    // Leave probabilities in the wrong order: clicks on both upper positions reveal it.
    let upper = |leave: &[f64]| laws(&shown(&list), leave)[0b011];
    assert!(power(ROUNDS, upper(&LEAVE), upper(&[0.3, 0.6, 0.9])) > 1.0 - FALSE_ALARM);
    let reversed = dcm(&[0.3, 0.6, 0.9]);
    let alarms = check_patterns(&right, SEED, |rng| reversed.respond(&list, rng).clicks);
    assert!(alarms.iter().any(|alarm| alarm.starts_with("clicks 011")), "{alarms:?}");
    // A cascade for dependent clicks: there is never a second one.
    assert!(power(ROUNDS, right[0b110], 0.0) > 1.0 - FALSE_ALARM);
    let one = dcm(&[1.0; 3]);
    let alarms = check_patterns(&right, SEED, |rng| one.respond(&list, rng).clicks);
    assert!(alarms.iter().any(|alarm| alarm.starts_with("clicks 110")), "{alarms:?}");
}

/// Mean reward and mean clicks match the enumerated probabilities.
#[test]
fn means_match_the_laws() {
    for list in all_lists(5, 3) {
        let attraction = shown(&list);
        let clicks: f64 = laws(&attraction, &LEAVE)
            .iter()
            .zip(0_u32..)
            .map(|(law, set)| law * f64::from(set.count_ones()))
            .sum();
        assert!((dcm(&LEAVE).expected_clicks(&list) - clicks).abs() < 1e-14);
        let users = cascade().with_weights(&[3.0, 2.0, 0.5]).unwrap();
        let first = laws(&attraction, &[1.0; 3]);
        assert!((users.expected_clicks(&list) - (1.0 - first[0])).abs() < 1e-14);
        let worth = 3.0 * first[1] + 2.0 * first[2] + 0.5 * first[4];
        assert!((users.expected_reward(&list) - worth).abs() < 1e-14);
    }
}

/// A generator that always returns the same word, and counts how often.
struct Fixed {
    word: u64,
    draws: u32,
}

impl TryRng for Fixed {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        unimplemented!("a uniform draw takes 64 bits")
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        self.draws += 1;
        Ok(self.word)
    }

    fn try_fill_bytes(&mut self, _: &mut [u8]) -> Result<(), Infallible> {
        unimplemented!("a uniform draw takes 64 bits")
    }
}

/// A uniform draw is `k / 2^53`. Bisection finds how many of these numbers give no click down to
/// each position of a list, also for attractions of 0, 1 and their neighbours: as many as the
/// product of the probabilities says.
#[test]
fn every_uniform_number_has_the_click_that_its_share_of_the_list_says() {
    const NUMBERS: u64 = 1 << 53;
    let extreme =
        [0.0, 1.0, 5e-324, 1e-300, f64::EPSILON / 4.0, f64::EPSILON / 2.0, 1.0 - f64::EPSILON / 2.0];
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(SEED);
    for case in 0..300 {
        let n_positions = if case % 4 == 0 { 64 } else { rng.random_range(1..=64) };
        let attraction: Vec<f64> = (0..n_positions)
            .map(|_| match rng.random_range(0..4) {
                // Below an attraction of 1 nothing is seen.
                0 => extreme[rng.random_range(0..6 + case % 2)],
                1 => rng.random(),
                _ => rng.random::<f64>() / f64::from(1 << rng.random_range(0..30)),
            })
            .collect();
        let users = CascadeModel::from_values(&attraction, n_positions).unwrap();
        let list: Ranking = (0..n_positions).map(ItemId::from_index).collect();
        let click = |number: u64| {
            let mut rng = Fixed { word: number << 11 | 0x3ff, draws: 0 };
            let click = users.respond(&list, &mut rng).click();
            assert_eq!(rng.draws, 1);
            click
        };
        let mut no_click = 1.0;
        for (position, attraction) in attraction.iter().enumerate() {
            no_click *= 1.0 - attraction;
            let (mut low, mut high) = (0, NUMBERS);
            while low < high {
                let middle = low.midpoint(high);
                if click(middle).is_some_and(|click| click <= position) {
                    high = middle;
                } else {
                    low = middle + 1;
                }
            }
            let share = low as f64 / NUMBERS as f64;
            assert!(
                (share - no_click).abs() <= f64::EPSILON,
                "{attraction} at {position}: {share}, not {no_click}"
            );
        }
        for number in [0, 1, NUMBERS / 2, NUMBERS - 1] {
            assert!(
                click(number).is_none_or(|position| attraction[position] > 0.0),
                "{number} of {attraction:?}"
            );
        }
    }
}

#[test]
fn every_list_takes_the_same_number_of_draws() {
    let (users, others) = (cascade(), dcm(&LEAVE));
    for list in all_lists(5, 3) {
        for word in [0, 1 << 62, 1 << 63, u64::MAX] {
            let mut rng = Fixed { word, draws: 0 };
            users.respond(&list, &mut rng);
            assert_eq!(rng.draws, 1);
            let mut rng = Fixed { word, draws: 0 };
            others.respond(&list, &mut rng);
            assert_eq!(rng.draws, 3);
        }
    }
}

// --- The best list
// -------------------------------------------------------------------------------------------------

/// At most 5 items; values on a coarse grid, so that ties, 0 and 1 occur; leave probabilities in
/// any order.
#[derive(Debug, Clone)]
struct Instance {
    theta: Vec<f64>,
    leave: Vec<f64>,
}

impl Arbitrary for Instance {
    fn arbitrary(g: &mut Gen) -> Self {
        let n_items = 1 + usize::arbitrary(g) % 5;
        let n_positions = 1 + usize::arbitrary(g) % n_items;
        let grid = *g.choose(&[2, 10, 1000]).unwrap();
        let value = |g: &mut Gen| f64::from(u32::arbitrary(g) % (grid + 1)) / f64::from(grid);
        Self {
            theta: (0..n_items).map(|_| value(g)).collect(),
            leave: (0..n_positions).map(|_| value(g)).collect(),
        }
    }
}

impl Instance {
    fn dcm(&self, reward: DcmReward) -> DependentClick {
        DependentClick::from_values(&self.theta, &self.leave, reward).unwrap()
    }

    fn weights(&self) -> Vec<f64> {
        let mut weights = self.leave.clone();
        weights.sort_by(|a, b| b.total_cmp(a));
        weights
    }
}

#[test]
fn the_optimal_list_is_the_best_of_all() {
    fn property(instance: Instance) {
        let users = CascadeModel::from_values(&instance.theta, instance.leave.len()).unwrap();
        assert_optimum_over_all_lists(&users, users.shape());
        let users = users.with_weights(&instance.weights()).unwrap();
        assert_optimum_over_all_lists(&users, users.shape());
        for reward in [DcmReward::Satisfaction, DcmReward::Clicks] {
            let users = instance.dcm(reward);
            assert_optimum_over_all_lists(&users, users.shape());
        }
    }
    QuickCheck::new().tests(2000).quickcheck(property as fn(Instance));
}

#[test]
fn an_unattractive_item_can_be_the_best_start() {
    // A user who clicks at the top leaves and misses two certain clicks.
    let users = DependentClick::from_values(&[1.0, 1.0, 0.0], &[1.0, 0.0, 0.0], DcmReward::Clicks).unwrap();
    assert_eq!(users.optimal_action()[0].index(), 2);
    assert_eq!(users.optimal_reward(), 2.0);
    assert!(users.lower_bound().is_nan());
}

#[test]
fn long_lists_are_searched_only_if_necessary() {
    let attraction: Vec<f64> = (0..70).map(|item| f64::from(item) / 100.0).collect();
    let falling: Vec<f64> = (0..64).map(|position| 1.0 - f64::from(position) / 64.0).collect();
    let users = |leave: &[f64], reward| DependentClick::from_values(&attraction, leave, reward);
    assert!(users(&falling, DcmReward::Clicks).is_ok());
    let mixed: Vec<f64> = (0..17).map(|position| f64::from(position % 3) / 3.0).collect();
    assert_eq!(users(&mixed, DcmReward::Clicks), Err(Error::TooManyOrders { n_positions: 17, most: 16 }));
    assert!(users(&mixed, DcmReward::Satisfaction).is_ok());
    assert!(users(&mixed[..16], DcmReward::Clicks).is_ok());
}

#[test]
fn positions_are_known_in_order_of_value() {
    let leave = [0.2, 0.9, 0.5];
    let users = |reward| DependentClick::from_values(&THETA, &leave, reward).unwrap();
    assert_eq!(users(DcmReward::Satisfaction).known().places(), [1, 2, 0]);
    assert_eq!(users(DcmReward::Clicks).known().places(), [0, 2, 1]);
    assert_eq!(cascade().known(), ListShape::new(5, 3).unwrap());
}

#[test]
fn names_of_items_do_not_matter() {
    fn property(instance: Instance, rotation: usize) {
        let n_items = instance.theta.len();
        let renamed = |item: usize| (item + rotation % n_items) % n_items;
        let mut other = instance.clone();
        for (item, &theta) in instance.theta.iter().enumerate() {
            other.theta[renamed(item)] = theta;
        }
        let rng = Xoshiro256PlusPlus::seed_from_u64(SEED);
        for reward in [DcmReward::Satisfaction, DcmReward::Clicks] {
            let (users, other_users) = (instance.dcm(reward), other.dcm(reward));
            assert_eq!(users.optimal_reward(), other_users.optimal_reward());
            assert_eq!(users.lower_bound().to_bits(), other_users.lower_bound().to_bits());
            for list in all_lists(n_items, instance.leave.len()).iter().take(20) {
                let other_list: Ranking =
                    list.by_position().map(|(_, item)| ItemId::from_index(renamed(item.index()))).collect();
                assert_eq!(users.expected_reward(list), other_users.expected_reward(&other_list));
                assert_eq!(
                    users.respond(list, &mut rng.clone()),
                    other_users.respond(&other_list, &mut rng.clone())
                );
            }
        }
    }
    QuickCheck::new().tests(300).quickcheck(property as fn(Instance, usize));
}

// --- Input
// -------------------------------------------------------------------------------------------------

#[test]
fn invalid_instances_are_rejected() {
    let cascade = CascadeModel::from_values;
    assert_eq!(cascade(&[], 1), Err(Error::NoItems));
    assert_eq!(cascade(&[0.5], 0), Err(Error::NoPositions));
    assert_eq!(cascade(&[0.5; 2], 3), Err(Error::MorePositionsThanItems { n_positions: 3, n_items: 2 }));
    assert_eq!(cascade(&[0.5; 70], 65), Err(Error::TooManyPositions(65)));
    let wrong = Error::NotAProbability { field: "attraction", index: 1, value: 1.5 };
    assert_eq!(cascade(&[0.5, 1.5], 1), Err(wrong));
    let weighted = |weights: &[f64]| cascade(&[0.5; 3], 2).unwrap().with_weights(weights);
    let error = Error::OneForEachPosition { field: "weights", found: 3, n_positions: 2 };
    assert_eq!(weighted(&[1.0; 3]), Err(error));
    assert_eq!(weighted(&[1.0, -0.5]), Err(Error::NotAWeight { index: 1, value: -0.5 }));
    assert!(matches!(weighted(&[f64::NAN, 1.0]), Err(Error::NotAWeight { index: 0, .. })));
    assert_eq!(weighted(&[0.5, 0.75]), Err(Error::WeightsRise { position: 1, above: 0.5, below: 0.75 }));
    let dcm = |theta: &[f64], leave: &[f64]| DependentClick::from_values(theta, leave, DcmReward::Clicks);
    assert_eq!(dcm(&[], &[0.5]), Err(Error::NoItems));
    assert_eq!(dcm(&[0.5], &[]), Err(Error::NoPositions));
    assert_eq!(dcm(&[0.5], &[0.5; 2]), Err(Error::MorePositionsThanItems { n_positions: 2, n_items: 1 }));
    assert_eq!(dcm(&[0.5; 70], &[0.5; 65]), Err(Error::TooManyPositions(65)));
    let wrong = Error::NotAProbability { field: "leave", index: 0, value: -0.5 };
    assert_eq!(dcm(&[0.5], &[-0.5]), Err(wrong));
}

#[test]
fn models_are_saved_as_their_parameters() {
    let users = CascadeModel::from_values(&[0.5, 0.25], 1).unwrap();
    let saved = serde_json::to_string(&users).unwrap();
    assert_eq!(saved, r#"{"attraction":[0.5,0.25],"n_positions":1}"#);
    assert_eq!(serde_json::from_str::<CascadeModel>(&saved).unwrap(), users);
    assert!(serde_json::from_str::<CascadeModel>(&saved.replace("\":1", "\":3")).is_err());
    let weighted = users.with_weights(&[2.0]).unwrap();
    let saved = serde_json::to_string(&weighted).unwrap();
    assert_eq!(serde_json::from_str::<CascadeModel>(&saved).unwrap(), weighted);
    let users = dcm(&LEAVE);
    let saved = serde_json::to_string(&users).unwrap();
    assert!(saved.ends_with(r#""leave":[0.9,0.6,0.3],"reward":"satisfaction"}"#), "{saved}");
    assert_eq!(serde_json::from_str::<DependentClick>(&saved).unwrap(), users);
    assert!(serde_json::from_str::<DependentClick>(&saved.replace("0.9", "1.9")).is_err());
}

#[test]
fn bounds_of_odd_input_have_the_documented_values() {
    assert!(bounds::cascade_lower_bound(&[0.5, 0.2], 3).is_nan());
    assert!(bounds::cascade_lower_bound(&[0.5, 0.2], 0).is_nan());
    assert!(bounds::cascade_lower_bound(&[0.5, f64::NAN], 1).is_nan());
    // Nothing to learn; a certain click that no user gets past; a position with weight 0.
    assert_eq!(bounds::cascade_lower_bound(&[0.5, 0.5], 1), 0.0);
    assert_eq!(bounds::cascade_lower_bound(&[1.0, 0.5, 0.2], 2), 0.0);
    assert_eq!(bounds::weighted_cascade_lower_bound(&[0.5, 0.4, 0.2], &[1.0, 0.0]), 0.0);
    assert!(bounds::weighted_cascade_lower_bound(&[0.5, 0.4, 0.2], &[0.5, 1.0]).is_nan());
    assert!(bounds::weighted_cascade_lower_bound(&[0.5, 0.4, 0.2], &[1.0, -1.0]).is_nan());
    assert!(bounds::dcm_lower_bound(&[0.5, 0.4, 0.2], &[0.5, 2.0]).is_nan());
    assert!(bounds::dcm_lower_bound(&[0.5], &[]).is_nan());
    assert!(bounds::dcm_lower_bound(&[0.5], &[0.5, 0.5]).is_nan());
    // If one item of the best list satisfies all users, there is nothing to learn.
    assert_eq!(bounds::dcm_lower_bound(&[1.0, 0.5, 0.3, 0.2], &[1.0, 0.6, 0.4]), 0.0);
    assert_eq!(bounds::weighted_cascade_lower_bound(&[1.0, 0.5, 0.3, 0.2], &[1.0, 0.5]), 0.0);
    assert_eq!(bounds::dcm_lower_bound(&[0.5, 0.4, 0.2], &[0.5, 0.0]), 0.0);
    assert!(bounds::dcm_lower_bound(&[0.5, 0.4, 0.2], &[0.5, 0.9]) > 0.0);
    // Any order of the attractions.
    let constant = bounds::cascade_lower_bound(&[0.5, 0.4, 0.2], 2);
    assert_eq!(bounds::cascade_lower_bound(&[0.2, 0.5, 0.4], 2), constant);
}
