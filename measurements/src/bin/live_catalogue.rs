//! Thompson sampling among items that come and go: rounds per CPU-second, beside rounds of all
//! items and rounds that draw every available item.
//!
//! `cargo run --release -p measurements --bin live_catalogue -- rsf-ts 16384 300000` plays a policy
//! (`rsf-ts` or `pbm-ts`), a number of items and a number of rounds. Three more arguments, such as
//! `0.3 2.7 0.01`, are the shapes of a prior and the share of items that are replaced every 1,000
//! rounds. Times are of this thread, users included; the plain policy plays a sample of rounds from
//! the last state of the thinned one. The sets of available items, 64 in turn, are drawn before.

use click_models::{ItemId, ItemSet, ListShape, PbmKnown, Ranking};
use confidence::Probability;
use policies::{Bayesian, Decision, PbmTs, PrefixTs, Prior, SelectAmong, Tallies, Tally};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rustix::time::{ClockId, clock_gettime};
use serde::{Serialize, de::DeserializeOwned};

const EXAMINATION: [f64; 5] = [1.0, 0.9, 0.81, 0.73, 0.66];
/// Draws of the plain policy in its sample.
const PLAIN_DRAWS: f64 = 4e6;

fn cpu_seconds() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + 1e-9 * time.tv_nsec as f64
}

/// A policy with users, and the attraction of its items.
struct World<P> {
    policy: P,
    attraction: Vec<f64>,
    present: ItemSet,
    rng: Xoshiro256PlusPlus,
    users: Xoshiro256PlusPlus,
    decision: Decision<Ranking>,
}

impl<P> World<P>
where
    P: SelectAmong<Ranking, Note = ()> + Tallies + Bayesian,
{
    fn new(mut policy: P, prior: Prior) -> Self {
        policy.set_prior(prior).expect("a prior of this policy");
        let [mut world, rng, users] = [1, 2, 3].map(Xoshiro256PlusPlus::seed_from_u64);
        let n_items = policy.n_items();
        let attraction = (0..n_items).map(|_| attraction(&mut world)).collect();
        Self { policy, attraction, present: ItemSet::all(n_items), rng, users, decision: Decision::default() }
    }

    /// Rounds among some items, or by `select`; with CPU-seconds.
    fn play(&mut self, rounds: u64, mut sets: Option<&[ItemSet]>, churn: f64, reuses: bool) -> f64 {
        let start = cpu_seconds();
        if sets.is_some_and(<[ItemSet]>::is_empty) {
            sets = None;
        }
        for round in 1..=rounds {
            match sets {
                Some(sets) => {
                    let set = &sets[usize::try_from(round).expect("a number") % sets.len()];
                    self.policy.select_among(set, &mut self.rng, &mut self.decision);
                }
                None if churn > 0.0 => {
                    self.policy.select_among(&self.present, &mut self.rng, &mut self.decision);
                }
                None => self.policy.select(&mut self.rng, &mut self.decision),
            }
            let by_position = self.policy.n_kinds() > 1;
            for (position, item) in self.decision.action.by_position() {
                let chance =
                    self.attraction[item.index()] * if by_position { EXAMINATION[position] } else { 1.0 };
                let clicks = u64::from(self.users.random::<f64>() < chance);
                self.policy.add(item, if by_position { position } else { 0 }, Tally { shows: 1, clicks });
            }
            if churn > 0.0 && round % 1000 == 0 {
                self.replace(churn, reuses);
            }
        }
        cpu_seconds() - start
    }

    /// Replaces this share of the present items, in their places or in new ones.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a number of items")]
    fn replace(&mut self, share: f64, reuses: bool) {
        for _ in 0..(share * self.present.len() as f64) as usize {
            let leaving = self.present.nth(self.users.random_range(0..self.present.len())).expect("an item");
            self.policy.set_present(leaving, false);
            if reuses {
                for kind in 0..self.policy.n_kinds() {
                    self.policy.take_back(leaving, kind, self.policy.tally(leaving, kind));
                }
                self.policy.set_present(leaving, true);
                self.attraction[leaving.index()] = attraction(&mut self.users);
                continue;
            }
            self.present.remove(leaving);
            let new = self.policy.add_item();
            self.present.grow(self.policy.n_items());
            self.present.insert(new);
            self.attraction.push(attraction(&mut self.users));
        }
    }
}

/// Most items rarely attract.
fn attraction(rng: &mut Xoshiro256PlusPlus) -> f64 {
    0.4 * rng.random::<f64>() * rng.random::<f64>()
}

fn sets(n_items: usize, share: f64) -> Vec<ItemSet> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(4);
    let mut some = || {
        let mut set = ItemSet::none(n_items);
        for item in (0..n_items).map(ItemId::from_index).filter(|_| rng.random::<f64>() < share) {
            set.insert(item);
        }
        set
    };
    (0..64).map(|_| some()).collect()
}

fn measure<P>(fresh: impl Fn() -> P, rounds: u64, prior: Prior, churn: f64)
where
    P: SelectAmong<Ranking, Note = ()> + Tallies + Bayesian + Serialize + DeserializeOwned + Clone,
{
    let n_items = fresh().n_items();
    let seconds = World::new(fresh(), prior).play(rounds, None, 0.0, false);
    let all = rounds as f64 / seconds;
    println!("{n_items} items, rounds per CPU-second\n      all {all:>9.0}");
    if churn > 0.0 {
        for (name, reuses) in [("places reused", true), ("not reused", false)] {
            let mut world = World::new(fresh(), prior);
            let rate = rounds as f64 / world.play(rounds, None, churn, reuses);
            let n_items = world.policy.n_items();
            println!("churn {churn}, {name}: {rate:>9.0}, {:.2} times slower, {n_items} items", all / rate);
        }
        return;
    }
    println!("available  thinned  slower than all  all drawn  times faster");
    for share in [0.9, 0.7, 0.3, 0.1, 0.07, 0.05, 0.04, 0.03, 0.02, 0.005] {
        let sets = sets(n_items, share);
        let mut world = World::new(fresh(), prior);
        let rate = rounds as f64 / world.play(rounds, Some(&sets), 0.0, false);
        let mut saved = serde_json::to_value(&world.policy).expect("saved");
        saved["draws"] = serde_json::Value::Null;
        world.policy = serde_json::from_value(saved).expect("restored");
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "some thousands")]
        let sample = (PLAIN_DRAWS / (share * n_items as f64)) as u64;
        let plain = sample as f64 / world.play(sample, Some(&sets), 0.0, false);
        println!("{share:>9} {rate:>8.0} {:>16.2} {plain:>10.0} {:>13.2}", all / rate, rate / plain);
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [policy, n_items, rounds, more @ ..] = &arguments[..] else {
        panic!("expected a policy, a number of items and a number of rounds, perhaps a prior and a churn");
    };
    let number = |place: usize, default: f64| -> f64 {
        more.get(place).map_or(default, |number| number.parse().expect("a number"))
    };
    let prior = Prior::new(number(0, 1.0), number(1, 1.0)).expect("a prior");
    let churn = number(2, 0.0);
    let (n_items, rounds) = (n_items.parse().expect("a number"), rounds.parse().expect("a number"));
    let shape = ListShape::new(n_items, EXAMINATION.len()).expect("a shape");
    let examination = EXAMINATION.map(|examined| Probability::new(examined).expect("a probability"));
    let known = PbmKnown::new(shape, &examination).expect("known");
    match &policy[..] {
        "rsf-ts" => measure(|| PrefixTs::new(shape), rounds, prior, churn),
        "pbm-ts" => measure(|| PbmTs::new(known), rounds, prior, churn),
        other => panic!("{other}: expected rsf-ts or pbm-ts"),
    }
}
