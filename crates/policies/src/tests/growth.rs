//! The contract of cost in small: the operations of a round (random words, and items whose index,
//! draw or bound is computed) by the number of items, at the start and settled, by a policy's own
//! rounds and in live use. `measurements/src/bin/performance/contract.rs` has it by time and for
//! every policy.
//!
//! Passing over all items in every round is seen: a policy that draws them all fails.

use super::*;
use crate::touched::TOUCHED;
use crate::{PbmUcb, PrefixTs, PrefixUcb, SelectAmong, Tallies, Tally};
use click_models::{ItemSet, PbmKnown};
use rand::TryRng;

const POSITIONS: usize = 10;
const EXAMINATION: [f64; POSITIONS] = [1.0, 0.9, 0.81, 0.73, 0.66, 0.59, 0.53, 0.48, 0.43, 0.39];
/// The exponent of the growth from 1,000 to 100,000 items. A pass over all items has 1.
const MOST_GROWTH: f64 = 0.8;

/// Counts random words as operations.
struct Counting(Generator);

impl TryRng for Counting {
    type Error = std::convert::Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Self::Error> {
        crate::touched::touch();
        self.0.try_next_u32()
    }

    fn try_next_u64(&mut self) -> Result<u64, Self::Error> {
        crate::touched::touch();
        self.0.try_next_u64()
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Self::Error> {
        crate::touched::touch();
        self.0.try_fill_bytes(bytes)
    }
}

/// How the rounds are played.
#[derive(Debug, Clone, Copy)]
struct Way {
    is_settled: bool,
    in_live_use: bool,
}

/// Mean operations of a round.
fn operations<P>(mut policy: P, Way { is_settled, in_live_use }: Way, rounds: u64) -> f64
where
    P: SelectAmong<Ranking, Note = ()> + Tallies,
{
    let n_items = policy.n_items();
    let mut world = Generator::seed_from_u64(1);
    let attraction: Vec<f64> =
        (0..n_items).map(|_| 0.4 * world.random::<f64>() * world.random::<f64>()).collect();
    let mut displays = 0;
    for (item, attracts) in attraction.iter().enumerate().filter(|_| is_settled) {
        for (kind, examined) in EXAMINATION.into_iter().take(policy.n_kinds()).enumerate() {
            // As many displays as the distance to the best takes.
            let shows = 10.0 / (0.36 - attracts).max(0.02).powi(2) * (1.0 + 0.5 * world.random::<f64>());
            let clicks = shows * attracts * examined;
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "some thousands")]
            let tally = Tally { shows: shows as u64, clicks: clicks as u64 };
            policy.add(ItemId::from_index(item), kind, tally);
            displays += tally.shows;
        }
    }
    (0..displays / POSITIONS as u64).for_each(|_| policy.pass_round());
    let (available, mut decision) = (ItemSet::all(n_items), Decision::<Ranking>::default());
    let mut rng = Counting(Generator::seed_from_u64(2));
    let mut before = 0;
    // A settled policy finds its ways in the first rounds.
    let warm = if is_settled { 500 } else { 0 };
    for round in 0..warm + rounds {
        if round == warm {
            before = TOUCHED.get();
        }
        if in_live_use {
            policy.select_among(&available, &mut rng, &mut decision);
        } else {
            policy.select(&mut rng, &mut decision);
        }
        for (position, item) in decision.action.by_position() {
            let kind = if policy.n_kinds() > 1 { position } else { 0 };
            let clicks = u64::from(world.random::<f64>() < attraction[item.index()] * EXAMINATION[position]);
            policy.add(item, kind, Tally { shows: 1, clicks });
        }
    }
    (TOUCHED.get() - before) as f64 / rounds as f64
}

fn growth(few: f64, many: f64) -> f64 {
    confidence::math::ln(many / few) / confidence::math::ln(100.0)
}

fn keeps_the_contract<P>(name: &str, fresh: impl Fn(ListShape) -> P)
where
    P: SelectAmong<Ranking, Note = ()> + Tallies,
{
    for is_settled in [false, true] {
        let at = |n_items, in_live_use| {
            let shape = ListShape::new(n_items, POSITIONS).expect("a shape");
            operations(fresh(shape), Way { is_settled, in_live_use }, 3000)
        };
        let sizes = [1_000, 1_270, 1_290, 100_000];
        let (by_round, live) = (sizes.map(|size| at(size, false)), sizes.map(|size| at(size, true)));
        println!("{name}, settled {is_settled}: {by_round:?} operations, {live:?} in live use");
        for way in [by_round, live] {
            let exponent = growth(way[0], way[3]);
            assert!(exponent < MOST_GROWTH, "{name}, settled {is_settled}: exponent {exponent}");
            assert!(way[2] < 1.5 * way[1], "{name}, settled {is_settled}: a step at 1,290 items");
        }
        for (size, (by_round, live)) in sizes.iter().zip(by_round.iter().zip(live)) {
            assert!(live < 2.0 * by_round, "{name}, settled {is_settled}: {size} items in live use");
        }
    }
}

fn by_position(shape: ListShape) -> PbmUcb {
    let examination = EXAMINATION.map(|examined| Probability::new(examined).expect("a probability"));
    PbmUcb::new(PbmKnown::new(shape, &examination).expect("known"), Rate::LOG)
}

#[test]
fn the_cost_of_a_round_grows_slower_than_the_catalogue() {
    keeps_the_contract("rsf-ucb", PrefixUcb::rsf);
    keeps_the_contract("rsf-ts", PrefixTs::new);
    keeps_the_contract("pbm-ucb", by_position);
}

#[test]
fn a_pass_over_all_items_is_seen() {
    let way = Way { is_settled: false, in_live_use: false };
    let [few, many] = [1_000, 100_000].map(|n_items| {
        let shape = ListShape::new(n_items, POSITIONS).expect("a shape");
        operations(PrefixTs::new(shape).drawing_all(), way, 10)
    });
    assert!(growth(few, many) > MOST_GROWTH);
}
