//! Random histories: repeated, late, unknown and contradicting answers, items that come and go,
//! windows, and states that are saved and restored in between.

use crate::reference::{Reading, Reference};
use click_models::{Cascade, Context, Dcm, ListShape, Pbm, PbmKnown, SemiBandit};
use confidence::Probability;
use live::{Among, Handle, Live, ObservationRule, Settings, Skips};
use policies::catalogue::{self, NamedLive};
use policies::{PbmTs, PolicySpec, PrefixTs, PrefixUcb, SelectAmongFor, SelectFor, Tallies};
use rand::{RngExt as _, SeedableRng, rngs::ChaCha8Rng};
use serde::{Serialize, de::DeserializeOwned};
use std::fmt::Debug;

const ITEMS: usize = 6;
const POSITIONS: usize = 4;
const STEPS: usize = 1_500;

struct Play<I, P: SelectFor<click_models::Ranking>> {
    live: Live<I, P>,
    reference: Reference,
    rng: ChaCha8Rng,
    present: Vec<Handle>,
    retired: Vec<Handle>,
    next: u64,
}

impl<I, P> Play<I, P>
where
    I: ObservationRule,
    P: SelectAmongFor<click_models::Ranking, Note: Clone + Debug>
        + Tallies
        + Clone
        + Debug
        + Serialize
        + DeserializeOwned,
{
    fn step(&mut self) {
        let Self { live, reference, rng, present, retired, next } = self;
        // Among the decisions that are known, an old one is rarely asked for again.
        let id = next.saturating_sub(rng.random_range(0..30));
        match rng.random_range(0..100) {
            0..30 => {
                let among = match rng.random_range(0..3) {
                    0 => Among::All,
                    1 => Among::Only(&present[..present.len() / 2]),
                    _ => Among::Except(&present[..present.len() / 3]),
                };
                let list = live.decide(next, among, rng).to_vec();
                reference.decided(*next, &list);
                *next += 1;
            }
            30..35 => {
                let list: Vec<Handle> = present.iter().copied().take(POSITIONS).collect();
                if live.show(&id, &Context::default(), &list).is_ok() {
                    reference.decided(id, &list);
                }
                *next = (*next).max(id + 1);
            }
            35..65 => {
                let position = rng.random_range(0..POSITIONS + 1);
                for _ in 0..rng.random_range(1..3) {
                    _ = live.click(&id, position);
                    reference.click(id, position);
                }
            }
            65..85 => {
                let seen = rng.random::<bool>().then(|| rng.random_range(0..POSITIONS + 2));
                _ = live.close(&id, seen);
                reference.close(id, seen);
            }
            85..89 => present.push(live.add_item()),
            89..93 if present.len() > 2 => {
                let item = present.swap_remove(rng.random_range(0..present.len()));
                assert!(live.retire(item) && !live.retire(item));
                retired.push(item);
            }
            93..95 if !retired.is_empty() => {
                let item = retired.swap_remove(rng.random_range(0..retired.len()));
                assert!(live.bring_back(item) && !live.bring_back(item));
                present.push(item);
            }
            95..97 if !retired.is_empty() => {
                let item = retired.swap_remove(rng.random_range(0..retired.len()));
                assert!(live.forget(item) && !live.forget(item) && !live.bring_back(item));
                reference.forget(item);
            }
            97 => {
                let saved = serde_json::to_string(live).unwrap();
                *live = serde_json::from_str(&saved).unwrap();
                assert_eq!(serde_json::to_string(live).unwrap(), saved);
            }
            _ => {}
        }
    }

    fn compare(&self) {
        let kinds = self.live.policy().n_kinds();
        for &item in self.present.iter().chain(&self.retired) {
            for kind in 0..kinds {
                let position = (kinds > 1).then_some(kind);
                assert_eq!(
                    self.live.tally(item, kind),
                    self.reference.tally(item, position),
                    "{item:?} {kind}"
                );
            }
        }
        let known: Vec<Handle> = self.live.items().collect();
        assert_eq!(known.len(), self.present.len() + self.retired.len());
        assert!(self.present.iter().all(|&item| self.live.is_present(item)));
        assert!(self.retired.iter().all(|&item| !self.live.is_present(item) && known.contains(&item)));
    }
}

fn play<I, P>(policy: &P, reading: Reading)
where
    I: ObservationRule,
    P: SelectAmongFor<click_models::Ranking, Note: Clone + Debug>
        + Tallies
        + Clone
        + Debug
        + Serialize
        + DeserializeOwned,
{
    for (seed, (window, skips)) in [
        (None, Skips::AtClose),
        (Some(1), Skips::AtClose),
        (Some(3), Skips::AtClose),
        (None, Skips::AtOnce),
        (Some(4), Skips::AtOnce),
    ]
    .into_iter()
    .enumerate()
    {
        let settings = Settings { window, skips, explore: 0.2, keep_open: 20, ..Settings::default() };
        let live = Live::<I, P>::new(policy.clone(), settings).unwrap();
        let mut play = Play {
            present: live.items().collect(),
            live,
            reference: Reference::new(reading, skips == Skips::AtOnce, window, settings.keep_open),
            rng: ChaCha8Rng::seed_from_u64(seed as u64),
            retired: Vec::new(),
            next: 0,
        };
        for _ in 0..STEPS {
            play.step();
            play.compare();
        }
    }
}

fn shape() -> ListShape {
    ListShape::new(ITEMS, POSITIONS).unwrap()
}

#[test]
fn the_table_is_that_of_the_history_if_prefixes_are_read() {
    play::<Cascade, _>(&PrefixTs::new(shape()), Reading::FirstClick);
    play::<Dcm, _>(&PrefixTs::new(shape()), Reading::LastClick);
    play::<SemiBandit, _>(&PrefixTs::new(shape()), Reading::Prefix);
    play::<Cascade, _>(&PrefixUcb::cascade(shape()), Reading::FirstClick);
}

#[test]
fn the_table_is_that_of_the_history_for_every_policy_with_a_table() {
    let policies = catalogue::rows().iter().filter(|policy| policy.live == catalogue::Live::Table);
    let mut played = 0;
    for policy in policies {
        let spec: PolicySpec = policy.name.parse().unwrap();
        if let Ok(policy) = NamedLive::<Cascade>::build(spec, shape(), None) {
            play::<Cascade, _>(&policy, Reading::FirstClick);
            played += 1;
        }
        if let Ok(policy) = NamedLive::<Dcm>::build(spec, shape(), None) {
            play::<Dcm, _>(&policy, Reading::LastClick);
            played += 1;
        }
        let examination = [1.0, 0.7, 0.5, 0.3].map(|value| Probability::new(value).unwrap());
        let known = PbmKnown::new(shape(), &examination).unwrap();
        if let Ok(policy) = NamedLive::<Pbm>::build(spec, known, None) {
            play::<Pbm, _>(&policy, Reading::Positions);
            played += 1;
        }
    }
    assert!(played > 20, "{played}");
}

#[test]
fn the_table_is_that_of_the_history_if_positions_are_counted_apart() {
    let examination = [1.0, 0.7, 0.5, 0.3].map(|value| Probability::new(value).unwrap());
    let known = PbmKnown::new(shape(), &examination).unwrap();
    play::<Pbm, _>(&PbmTs::new(known), Reading::Positions);
}
