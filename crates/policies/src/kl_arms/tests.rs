//! Lazy and naive pick the same arms in the same order over whole bandit runs, ties included.

use super::KlArm;
use crate::best_arms::BestArms;
use crate::shortlist::Arm;
use crate::top_l::{Ties, TopL};
use click_models::{ItemId, ItemSet};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::collections::VecDeque;

/// The naive choice: every index is solved for.
fn naively(counts: &[(u64, u64)], capacity: usize, level: f64, ties: Ties) -> Vec<u32> {
    let mut top = TopL::new(capacity);
    for (item, &(shows, clicks)) in (0_u32..).zip(counts) {
        top.offer(item, KlArm::new(shows, clicks).index(level), ties);
    }
    let is_equal = |item: usize, last| KlArm::new(counts[item].0, counts[item].1).index(level) == last;
    let items = (0..counts.len()).map(ItemId::from_index);
    top.redraw_equals(items, ties, &mut ItemSet::none(counts.len()), is_equal);
    top.best.iter().map(|&(_, item)| item).collect()
}

fn arms(counts: &[(u64, u64)]) -> impl Iterator<Item = KlArm> {
    counts.iter().map(|&(shows, clicks)| KlArm::new(shows, clicks))
}

/// How arms behave and when their answers arrive.
#[derive(Debug, Clone, Copy)]
struct World {
    n_arms: usize,
    capacity: usize,
    rounds: u32,
    attraction: Attraction,
    level: Level,
    /// Rounds after which answers arrive, all that are waiting at once, the newest first.
    delay: usize,
    /// Has a shortlist whatever the number of arms.
    shortlist: bool,
}

#[derive(Debug, Clone, Copy)]
enum Attraction {
    /// Small for most, as in advertising.
    Skewed,
    /// Anything below 0.9.
    Uniform,
    /// One of these evenly spread values between 0 and 1, both included.
    Steps(u32),
    /// All the same.
    Equal(f64),
}

#[derive(Debug, Clone, Copy)]
enum Level {
    Log,
    LogLog,
    Constant,
    /// Up and down by leaps, with zero now and then.
    Jumps,
}

impl Level {
    fn at(self, round: u32, rng: &mut Xoshiro256PlusPlus) -> f64 {
        let log = confidence::math::ln(f64::from(round));
        match self {
            Self::Log => log,
            Self::LogLog => confidence::Rate::LOG_PLUS_3_LOG_LOG.level(u64::from(round)),
            Self::Constant => 9.0,
            Self::Jumps if round.is_multiple_of(1000) => 0.0,
            Self::Jumps if round.is_multiple_of(50) => log * 2.0 * rng.random::<f64>(),
            Self::Jumps => log * f64::from(1 + round / 500 % 3),
        }
    }
}

fn agree(world: World) {
    let World { n_arms, capacity, .. } = world;
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(3);
    let attraction: Vec<f64> = (0..n_arms)
        .map(|_| match world.attraction {
            Attraction::Skewed => 0.3 * rng.random::<f64>() * rng.random::<f64>() * rng.random::<f64>(),
            Attraction::Uniform => 0.9 * rng.random::<f64>(),
            Attraction::Steps(steps) => f64::from(rng.random_range(0..=steps)) / f64::from(steps),
            Attraction::Equal(all) => all,
        })
        .collect();
    let mut counts = vec![(0_u64, 0_u64); n_arms];
    let fresh = |counts: &[(u64, u64)]| {
        let lazy = BestArms::new(arms(counts), capacity);
        if world.shortlist { lazy.with_shortlist() } else { lazy }
    };
    let mut lazy = fresh(&counts);
    let mut waiting = VecDeque::new();
    for round in 1..=world.rounds {
        let level = world.level.at(round, &mut rng);
        let ties = Ties::draw(&mut rng);
        if round == world.rounds / 3 {
            // Saved and restored: nothing but the counts is left.
            lazy = fresh(&counts);
        }
        let chosen = lazy.select(level, ties).to_vec();
        assert_eq!(chosen, naively(&counts, capacity, level, ties), "{world:?}, round {round}");
        // The user looks at a prefix.
        let observed = if rng.random::<bool>() { capacity } else { rng.random_range(0..=capacity) };
        for &item in &chosen[..observed] {
            waiting.push_back((item as usize, rng.random::<f64>() < attraction[item as usize]));
        }
        if world.delay == 0 || (round as usize).is_multiple_of(world.delay) {
            while let Some((arm, clicked)) = waiting.pop_back() {
                counts[arm].0 += 1;
                counts[arm].1 += u64::from(clicked);
                lazy.set(arm, KlArm::new(counts[arm].0, counts[arm].1));
            }
        }
    }
}

const WORLD: World = World {
    n_arms: 5,
    capacity: 1,
    rounds: 40_000,
    attraction: Attraction::Steps(20),
    level: Level::Log,
    delay: 0,
    shortlist: false,
};

#[test]
fn few_arms() {
    agree(WORLD);
    for (n_arms, capacity) in [(6, 3), (5, 5), (1, 1), (20, 8)] {
        for attraction in [Attraction::Steps(20), Attraction::Equal(0.5), Attraction::Skewed] {
            for level in [Level::Log, Level::Jumps] {
                agree(World { n_arms, capacity, attraction, level, rounds: 6000, ..WORLD });
            }
        }
    }
    agree(World { n_arms: 6, capacity: 3, delay: 30, ..WORLD });
    agree(World { n_arms: 6, capacity: 3, level: Level::Constant, ..WORLD });
    agree(World { n_arms: 64, capacity: 5, level: Level::LogLog, rounds: 20_000, ..WORLD });
}

#[test]
fn a_hundred_arms() {
    for shortlist in [false, true] {
        let world = World { n_arms: 100, capacity: 5, shortlist, rounds: 4000, ..WORLD };
        agree(world);
        agree(World { attraction: Attraction::Skewed, level: Level::LogLog, ..world });
        let short = World { rounds: 2000, ..world };
        for attraction in
            [Attraction::Skewed, Attraction::Uniform, Attraction::Steps(2), Attraction::Equal(0.1)]
        {
            agree(World { attraction, delay: 30, ..short });
            agree(World { attraction, level: Level::Jumps, ..short });
            agree(World { attraction, level: Level::Constant, capacity: 1, ..short });
        }
    }
}

/// The shortlist with arms so few that all of them are on it, and that it has to be made in every
/// other round.
#[test]
fn a_shortlist_of_few_arms() {
    for (n_arms, capacity) in [(1, 1), (5, 5), (6, 3), (20, 1)] {
        for attraction in
            [Attraction::Steps(20), Attraction::Equal(1.0), Attraction::Equal(0.0), Attraction::Skewed]
        {
            for level in [Level::Log, Level::Jumps, Level::Constant] {
                let world =
                    World { n_arms, capacity, attraction, level, shortlist: true, rounds: 3000, ..WORLD };
                agree(world);
                agree(World { delay: 7, ..world });
            }
        }
    }
}

#[test]
fn a_thousand_arms() {
    let world = World { n_arms: 1000, capacity: 5, rounds: 2500, ..WORLD };
    agree(world);
    agree(World { attraction: Attraction::Skewed, level: Level::LogLog, ..world });
    agree(World { attraction: Attraction::Equal(0.05), delay: 30, ..world });
    agree(World { attraction: Attraction::Steps(3), level: Level::Jumps, rounds: 1500, ..world });
    agree(World { attraction: Attraction::Uniform, level: Level::Jumps, rounds: 1500, ..world });
}

#[test]
fn a_large_catalogue() {
    let world = World { n_arms: 16_384, capacity: 5, rounds: 350, ..WORLD };
    agree(World { attraction: Attraction::Skewed, ..world });
    // Large lists, so that all arms are shown a few times.
    agree(World { capacity: 64, attraction: Attraction::Skewed, ..world });
    agree(World { capacity: 64, level: Level::Jumps, ..world });
}

/// Every way in which a choice that stood may fall: answers of any arm, of either kind, few or many
/// at once, and another level.
#[test]
fn a_choice_stands_no_longer_than_it_should() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(4);
    // Means and indices a few hundredths apart, so that a choice stands for a while.
    let before = [(90_000, 54_000), (60_000, 34_200), (2000, 1000), (1500, 740), (1000, 480), (30, 3)];
    for _ in 0..20_000 {
        for capacity in [1, 2, 3] {
            let mut counts = before;
            let mut lazy = BestArms::new(arms(&counts), capacity);
            let mut level = 11.0;
            for _ in 0..3 {
                let ties = Ties::draw(&mut rng);
                assert_eq!(
                    lazy.select(level, ties),
                    naively(&counts, capacity, level, ties),
                    "{counts:?}, {level}"
                );
                let item = rng.random_range(0..counts.len());
                let shows = rng.random_range(0..=counts[item].0 / 8);
                let clicks = if rng.random() { shows } else { rng.random_range(0..=shows / 8) };
                counts[item] = (counts[item].0 + shows, counts[item].1 + clicks);
                lazy.set(item, KlArm::new(counts[item].0, counts[item].1));
                level = if rng.random() { level } else { level * (0.9 + 0.2 * rng.random::<f64>()) };
            }
        }
    }
}
