//! A shortlist and the comparison of all arms pick the same arms in the same order.

use super::{Compared, Floor, Line};
use crate::best_arms::BestArms;
use crate::shortlist::{Arm, Filter};
use crate::top_l::Ties;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::collections::VecDeque;

/// How arms behave and when their answers arrive.
#[derive(Debug, Clone, Copy)]
struct World {
    n_arms: usize,
    capacity: usize,
    rounds: u32,
    /// Every arm attracts one of these values, evenly spread from 0 to the largest.
    n_values: u32,
    largest: f64,
    /// No index is larger.
    cap: f64,
    /// Whether the level leaps up and down.
    leaps: bool,
    /// Rounds after which answers arrive, all that are waiting at once, the newest first.
    delay: usize,
}

const WORLD: World = World {
    n_arms: 300,
    capacity: 5,
    rounds: 30_000,
    n_values: 1 << 20,
    largest: 0.3,
    cap: f64::INFINITY,
    leaps: false,
    delay: 0,
};

/// The arm after these displays and clicks; not shown where anybody looks before the second
/// display.
fn line<A: From<Line>>([shows, clicks]: [u32; 2], cap: f64) -> A {
    if shows < 2 {
        return Line::FRESH.into();
    }
    let shows = f64::from(shows);
    Line::new(f64::from(clicks) / shows, (2.0 / 3.0 / shows).sqrt()).clipped_at(cap).into()
}

/// Asserts that both make the same choices, before and after a restart from the counts.
fn agree<A: Arm + From<Line>>(world: World) {
    let World { n_arms, capacity, cap, .. } = world;
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(3);
    let attraction: Vec<f64> = (0..n_arms)
        .map(|_| world.largest * f64::from(rng.random_range(0..world.n_values)) / f64::from(world.n_values))
        .collect();
    let mut counts = vec![[0, 0]; n_arms];
    let fresh = |counts: &[[u32; 2]]| {
        BestArms::<A>::without_shortlist(counts.iter().map(|&arm| line(arm, cap)), capacity)
    };
    let mut all = fresh(&counts);
    let mut lazy = fresh(&counts).with_shortlist();
    let mut waiting = VecDeque::new();
    for round in 1..=world.rounds {
        if round == world.rounds / 3 {
            lazy = fresh(&counts).with_shortlist();
        }
        let mut level = confidence::math::ln(f64::from(round)).sqrt();
        if world.leaps && round.is_multiple_of(10) {
            level *= f64::from(rng.random_range(0..4_u8));
        }
        let ties = Ties::draw(&mut rng);
        let chosen = lazy.select(level, ties).to_vec();
        assert_eq!(chosen, all.select(level, ties), "{world:?}, round {round}");
        // The user looks at a prefix.
        let observed = if rng.random::<bool>() { capacity } else { rng.random_range(0..=capacity) };
        for &item in &chosen[..observed] {
            waiting.push_back((item as usize, rng.random::<f64>() < attraction[item as usize]));
        }
        if world.delay == 0 || (round as usize).is_multiple_of(world.delay) {
            while let Some((item, clicked)) = waiting.pop_back() {
                let [shows, clicks] = &mut counts[item];
                (*shows, *clicks) = (*shows + 1, *clicks + u32::from(clicked));
                lazy.set(item, line(counts[item], cap));
                all.set(item, line(counts[item], cap));
            }
        }
    }
}

#[test]
fn few_arms() {
    for (n_arms, capacity) in [(1, 1), (5, 5), (16, 3), (16, 5)] {
        let world = World { n_arms, capacity, rounds: 10_000, ..WORLD };
        agree::<Line>(world);
        agree::<Line>(World { cap: 1.0, n_values: 3, ..world });
        agree::<Line>(World { leaps: true, delay: 7, ..world });
    }
}

#[test]
fn hundreds_of_arms() {
    agree::<Line>(WORLD);
    agree::<Line>(World { cap: 1.0, rounds: 15_000, ..WORLD });
    for (n_values, largest) in [(1, 0.0), (2, 0.2), (1 << 20, 2.0)] {
        let world = World { n_values, largest, rounds: 7000, ..WORLD };
        agree::<Line>(world);
        agree::<Line>(World { cap: 1.0, leaps: true, ..world });
        agree::<Line>(World { delay: 30, ..world });
    }
}

#[test]
fn thousands_of_arms() {
    let world = World { n_arms: 4096, rounds: 10_000, ..WORLD };
    agree::<Line>(world);
    agree::<Line>(World { capacity: 64, rounds: 3000, ..world });
    let short = World { capacity: 64, rounds: 1500, ..world };
    agree::<Line>(World { cap: 1.0, ..short });
    agree::<Line>(World { leaps: true, ..short });
    agree::<Line>(World { n_values: 2, delay: 30, ..short });
}

/// A line whose filter takes the ceiling for a little lower than it is.
#[derive(Debug, Clone, Copy)]
struct Hasty(Line);

impl From<Line> for Hasty {
    fn from(line: Line) -> Self {
        Self(line)
    }
}

impl Arm for Hasty {
    type Few = Compared;
    type Filter = HastyFloor;

    fn key(&self) -> (u64, u64) {
        self.0.key()
    }

    fn is_fresh(&self) -> bool {
        self.0.is_fresh()
    }

    fn mean(&self) -> f64 {
        self.0.mean()
    }

    fn index(&self, level: f64) -> f64 {
        self.0.index(level)
    }
}

#[derive(Debug, Clone)]
struct HastyFloor(Floor);

impl Filter<Hasty> for HastyFloor {
    fn new(n_arms: usize) -> Self {
        Self(Filter::<Line>::new(n_arms))
    }

    fn set_floor(&mut self, floor: f64) {
        Filter::<Line>::set_floor(&mut self.0, floor);
    }

    fn push(&mut self) {}

    fn set(&mut self, _: usize, _: &mut Hasty) {}

    fn excludes(&self, arm: &mut Hasty, ceiling: f64) -> bool {
        self.0.excludes(&mut arm.0, 0.995 * ceiling)
    }

    fn list(&self, arms: &[Hasty], ceiling: f64, list: impl FnMut(usize)) {
        self.0.list(arms, 0.995 * ceiling, list);
    }
}

/// The test itself: an arm that should be on the list is missed.
#[test]
#[should_panic(expected = "round")]
fn a_filter_that_excludes_too_much_is_caught() {
    agree::<Hasty>(WORLD);
}
