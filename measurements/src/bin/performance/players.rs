//! The policies that are measured: each with its users and, where there is one, its plain version.

use benches::{AllItems, IndexRule, Plain, PlainKlUcb, PlainPrefixTs, Rule, Solver};
use click_models::{ClickModel, ListShape, PbmKnown, PositionBased, RandomSemiBandit};
use confidence::Rate;
use policies::{BcMpTs, PbmPie, PbmTs, PbmUcb, PrefixKlUcb, PrefixTs, PrefixUcb};
use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use sim::{Contender, Entry, Replication, Schedule, Streams};

/// Plays this number of rounds from the first one on, users and regret included. The second number
/// selects the random streams.
pub(crate) type Play = Box<dyn Fn(u64, u64) + Sync>;

/// Numbers of items and positions.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Size {
    pub(crate) items: usize,
    pub(crate) positions: usize,
}

/// A policy, by its name in specifications.
pub(crate) struct Player {
    pub(crate) name: &'static str,
    pub(crate) fast: fn(Size) -> Play,
    /// The formulas of its paper, computed for every item in every round.
    pub(crate) plain: fn(Size) -> Play,
}

/// Every policy that is measured.
pub(crate) const PLAYERS: &[Player] = &[
    Player {
        name: "pbm-ucb",
        fast: |size| on_positions(size, |known: PbmKnown<'_>| PbmUcb::new(known, Rate::LOG)),
        plain: |size| on_positions(size, |known: PbmKnown<'_>| AllItems::position_based(known)),
    },
    Player {
        name: "pbm-pie",
        fast: |size| on_positions(size, |known: PbmKnown<'_>| PbmPie::new(known, Rate::LOG)),
        plain: |size| on_positions(size, |known: PbmKnown<'_>| Plain::new(Rule::PbmPie, known)),
    },
    Player {
        name: "pbm-ts",
        fast: |size| on_positions(size, |known: PbmKnown<'_>| PbmTs::new(known)),
        plain: |size| on_positions(size, |known: PbmKnown<'_>| Plain::new(Rule::PbmTs, known)),
    },
    Player {
        name: "bc-mp-ts",
        fast: |size| on_positions(size, |known: PbmKnown<'_>| BcMpTs::new(known)),
        plain: |size| on_positions(size, |known: PbmKnown<'_>| Plain::new(Rule::BcMpTs, known)),
    },
    Player {
        name: "rsf-ucb",
        fast: |size| on_prefixes(size, |shape: ListShape| PrefixUcb::rsf(shape)),
        plain: |size| on_prefixes(size, |shape: ListShape| AllItems::prefix(IndexRule::RsfUcb, shape)),
    },
    Player {
        name: "rsf-kl-ucb",
        fast: |size| on_prefixes(size, |shape: ListShape| PrefixKlUcb::new(shape, Rate::LOG)),
        plain: |size| on_prefixes(size, |shape: ListShape| PlainKlUcb::new(Solver::Fast, shape)),
    },
    Player {
        name: "rsf-ts",
        fast: |size| on_prefixes(size, |shape: ListShape| PrefixTs::new(shape)),
        plain: |size| on_prefixes(size, |shape: ListShape| PlainPrefixTs::new(shape)),
    },
];

/// Attractions as in advertising, where most items rarely attract: products of two uniform numbers,
/// up to .4.
fn attraction(size: Size) -> Vec<f64> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    (0..size.items).map(|_| 0.4 * rng.random::<f64>() * rng.random::<f64>()).collect()
}

/// Examination that falls by a tenth from each position to the next.
fn examination(size: Size) -> Vec<f64> {
    std::iter::successors(Some(1.0), |examined| Some(examined * 0.9)).take(size.positions).collect()
}

fn on_positions<F>(size: Size, build: F) -> Play
where
    F: 'static,
    Entry<F>: Contender<PositionBased>,
{
    let users = PositionBased::from_values(&attraction(size), &examination(size)).expect("valid users");
    play(users, Entry::new("policy", build))
}

fn on_prefixes<F>(size: Size, build: F) -> Play
where
    F: 'static,
    Entry<F>: Contender<RandomSemiBandit>,
{
    let users = RandomSemiBandit::from_values(&attraction(size), &examination(size)).expect("valid users");
    play(users, Entry::new("policy", build))
}

fn play<M>(users: M, contender: impl Contender<M> + 'static) -> Play
where
    M: ClickModel + Sync + 'static,
{
    Box::new(move |rounds, replication| {
        let schedule = Schedule::new(vec![rounds]).expect("at least one round");
        contender.replicate(Replication::new(&users, Streams::new(1), replication), &schedule);
    })
}
