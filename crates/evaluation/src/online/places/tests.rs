//! Size and power on team drafts, whose lists differ.

use super::{Places, Stops};
use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher};

/// Users who click an item with its attraction times the examination of its position, and leave at
/// a click with a probability.
struct Users {
    name: &'static str,
    attractions: Vec<f64>,
    rankings: [Vec<usize>; 2],
    slots: usize,
    examination: fn(usize) -> f64,
}

fn users() -> [Users; 4] {
    let items: Vec<usize> = (0..12).collect();
    let swapped = [1, 0, 2, 6, 4, 5, 3, 7, 8, 9, 10, 11];
    let navigational: Vec<f64> = items.iter().map(|item| if *item == 0 { 0.6 } else { 0.05 }).collect();
    let moved = [3, 0, 1, 2, 4, 5, 6, 7, 8, 9, 10, 11];
    [
        Users {
            name: "pair",
            attractions: vec![0.1, 0.5, 0.05],
            rankings: [vec![0, 1], vec![1, 2]],
            slots: 2,
            examination: |_| 1.0,
        },
        Users {
            name: "likely",
            attractions: vec![0.9, 0.8, 0.95, 0.5],
            rankings: [vec![0, 1, 2, 3], vec![3, 2, 1, 0]],
            slots: 4,
            examination: |_| 1.0,
        },
        Users {
            name: "geometric",
            attractions: items.iter().map(|item| 0.5 * libm::pow(0.6, *item as f64)).collect(),
            rankings: [items.clone(), swapped.to_vec()],
            slots: 10,
            examination: |place| libm::pow(place as f64 + 1.0, -0.7),
        },
        Users {
            name: "navigational",
            attractions: navigational,
            rankings: [items, moved.to_vec()],
            slots: 10,
            examination: |place| libm::pow(0.9, place as f64),
        },
    ]
}

impl Users {
    fn log(&self, lists: u64, leave: f64, seed: u64) -> Stops {
        let hasher = BuildHasherDefault::<DefaultHasher>::default();
        let mut state = hasher.hash_one(seed);
        let mut random = move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1_u64 << 53) as f64
        };
        let (mut places, mut orders) = (Places::default(), Vec::new());
        for number in 0..lists {
            let mut list: Vec<usize> = Vec::new();
            while list.len() < self.slots {
                let first = usize::from(random() < 0.5);
                for ranker in [first, 1 - first] {
                    let best = self.rankings[ranker].iter().find(|item| !list.contains(item)).copied();
                    list.extend(best.filter(|_| list.len() < self.slots));
                }
            }
            for (place, item) in list.iter().enumerate() {
                if random() < self.attractions[*item] * (self.examination)(place) {
                    places.is_first(number, u32::try_from(place).unwrap());
                    if random() < leave {
                        break;
                    }
                }
            }
            orders.push((number, hasher.hash_one(list)));
        }
        places.stops(&orders)
    }

    fn alarms(&self, lists: u64, leave: f64, logs: u64) -> usize {
        let n = (0..logs).filter(|seed| self.log(lists, leave, *seed).is_told()).count();
        println!("{}: {n} alarms in {logs} logs of {lists} lists, leave {leave}", self.name);
        n
    }
}

/// A log has an alarm with probability .001: 3.6 of all these have one on average.
#[test]
fn independent_users_raise_no_alarm() {
    let alarms = |users: &Users| [100, 400, 1000].map(|lists| users.alarms(lists, 0.0, 300));
    let alarms = users().map(|users| alarms(&users).iter().sum::<usize>());
    assert!(alarms.iter().sum::<usize>() <= 8 && alarms.iter().all(|alarms| *alarms <= 4), "{alarms:?}");
}

/// Some users who leave at half of their clicks are not told: of likely clicks, those who go on
/// have all of the further ones.
#[test]
fn users_who_stop_raise_an_alarm() {
    let half = users().map(|users| {
        assert_eq!(users.alarms(400, 1.0, 100), 100, "{}", users.name);
        [1000, 3000].map(|lists| users.alarms(lists, 0.5, 100))
    });
    assert_eq!(half, [[84, 100], [0, 0], [100, 100], [100, 100]]);
}
