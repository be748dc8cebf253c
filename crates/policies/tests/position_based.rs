//! What policies for position-based users begin with, and what they do not count.

use crate::support::generator;
use click_models::{ClickModel, Clicks, ItemId, PbmFeedback, PositionBased, Ranking, RenderedPbmFeedback};
use confidence::Rate;
use policies::{BcMpTs, Decision, PbmKlUcb, PbmPie, PbmPiePosition, PbmTs, PbmUcb, Select, Update};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeSet;

fn four_choose_two() -> PositionBased {
    PositionBased::from_values(&[0.5; 4], &[0.9, 0.4]).expect("a valid instance")
}

fn items(list: &Ranking) -> Vec<usize> {
    list.iter().map(ItemId::index).collect()
}

/// PBM-PIE shows every item at every position first. When nothing has come back by then, all items tie and all are candidates.
#[test]
fn pbm_pie_begins_with_every_item_everywhere_and_then_ties() {
    let model = four_choose_two();
    let mut policy = PbmPie::new(model.known(), Rate::LOG);
    let mut rng = generator(3);
    let mut decision = Decision::<Ranking>::default();
    let mut seen = vec![];
    for _ in 0..4 {
        policy.select(&mut rng, &mut decision);
        seen.push(items(&decision.action));
    }
    assert_eq!(seen, [[0, 1], [1, 2], [2, 3], [3, 0]]);
    // Any of twelve lists: one is missing by chance with a probability below 1e-15.
    let lists = (0..500).map(|_| {
        policy.clone().select(&mut rng, &mut decision);
        items(&decision.action)
    });
    assert_eq!(lists.collect::<BTreeSet<_>>().len(), 12);
}

/// Clicks on items that do not exist and positions beyond the list teach nothing.
#[test]
fn unknown_items_are_ignored() {
    let model = four_choose_two();
    let fresh = PbmPie::new(model.known(), Rate::LOG);
    let mut policy = fresh.clone();
    let action: Ranking = [4, 5, 0].map(ItemId::new).into_iter().collect();
    let clicks = Clicks::from_bits(0b111, 3).expect("three bits");
    policy.update(&Decision { action, note: () }, &PbmFeedback { clicks });
    assert_eq!(serde_json::to_string(&policy).expect("saved"), serde_json::to_string(&fresh).expect("saved"));
}

/// Of a list of which three positions were rendered nothing is counted below; one that was rendered to the end is an ordinary one.
fn counts_what_was_rendered<P>(name: &str, model: &PositionBased, fresh: &P)
where
    P: Update<Ranking, PbmFeedback> + Update<Ranking, RenderedPbmFeedback> + Serialize + Clone,
{
    let saved = |policy: &P| serde_json::to_value(policy).expect("saved");
    let [mut partly, mut fully, mut ordinary] = [(); 3].map(|()| fresh.clone());
    let (mut rng, mut users) = (generator(1), generator(2));
    let mut decision = Decision::default();
    for _ in 0..200 {
        partly.select(&mut rng, &mut decision);
        let seen = model.respond(&decision.action, &mut users);
        let clicks = Clicks::from_bits(seen.clicks.bits() & 0b111, 3).expect("three bits");
        partly.update(&decision, &RenderedPbmFeedback { clicks });
        fully.update(&decision, &RenderedPbmFeedback { clicks: seen.clicks });
        ordinary.update(&decision, &seen);
    }
    assert_eq!(saved(&fully), saved(&ordinary), "{name}");
    for table in ["shows", "clicks"] {
        let saved = saved(&partly);
        let items = saved["counts"][table].as_array().expect("a table").chunks(model.examination().len());
        let count = |places: &[Value]| places.iter().filter_map(Value::as_u64).sum::<u64>();
        let (rendered, below) = items.fold((0, 0), |(rendered, below), item| {
            (rendered + count(&item[..3]), below + count(&item[3..]))
        });
        assert!(rendered > 0 && below == 0, "{name}: {rendered} {below}");
    }
}

#[test]
fn what_was_not_rendered_is_not_counted() {
    let model = PositionBased::from_values(&[0.5, 0.4, 0.3, 0.2, 0.1, 0.05], &[0.9, 0.8, 0.6, 0.4, 0.2])
        .expect("a valid instance");
    counts_what_was_rendered("PBM-UCB", &model, &PbmUcb::new(model.known(), Rate::LOG));
    counts_what_was_rendered("PBM-KL-UCB", &model, &PbmKlUcb::new(model.known(), Rate::LOG));
    counts_what_was_rendered("PBM-TS", &model, &PbmTs::new(model.known()));
    counts_what_was_rendered("PBM-PIE", &model, &PbmPie::new(model.known(), Rate::LOG));
    counts_what_was_rendered("BC-MP-TS", &model, &BcMpTs::new(model.known()));
}

fn least_cost(model: &PositionBased) -> PbmPie {
    PbmPie::new(model.known(), Rate::LOG).with_position(PbmPiePosition::LeastCost)
}

/// The lists of some rounds, after the first `skipped`.
fn lists(model: &PositionBased, policy: &mut PbmPie, skipped: usize, rounds: usize) -> Vec<Vec<usize>> {
    let (mut rng, mut users) = (generator(7), generator(8));
    let mut decision = Decision::default();
    let mut lists = vec![];
    for _ in 0..skipped + rounds {
        policy.select(&mut rng, &mut decision);
        let seen = model.respond(&decision.action, &mut users);
        policy.update(&decision, &seen);
        lists.push(items(&decision.action));
    }
    lists.split_off(skipped)
}

/// A saved state from before the position could be chosen is one of the last position.
#[test]
fn a_state_without_a_position_explores_at_the_last() {
    let model = four_choose_two();
    for (policy, position) in
        [(PbmPie::new(model.known(), Rate::LOG), "last"), (least_cost(&model), "least-cost")]
    {
        let mut saved = serde_json::to_value(&policy).expect("saved");
        let found = saved.as_object_mut().and_then(|saved| saved.remove("position"));
        assert_eq!(found, Some(position.into()));
        let restored: PbmPie = serde_json::from_value(saved).expect("an old state");
        assert_eq!(serde_json::to_value(&restored).expect("saved")["position"], "last");
    }
}

/// Nothing is learnt at a position that nobody looks at: items are never explored there, and those that stand there are explored elsewhere.
#[test]
fn unexamined_positions_are_not_the_place_to_explore() {
    for never in [0.0, 1e-101] {
        let model = PositionBased::from_values(&[0.1, 0.2, 0.3, 0.4], &[0.5, never, 0.9, never])
            .expect("a valid instance");
        let lists = lists(&model, &mut least_cost(&model), 4, 20_000);
        // Items 0 and 1 are explored at positions 2 and 0, and all items are always shown.
        for item in 0..4 {
            assert!(lists.iter().any(|list| list[0] == item || list[2] == item), "{item}");
        }
        let best = lists.iter().filter(|list| list[2] == 3 && list[0] == 2).count();
        assert!(best > 17_000, "{best}");
    }
}

/// With as many items as positions, all examined, there is nothing to explore: always the order of the estimates.
#[test]
fn as_many_items_as_positions() {
    let model = PositionBased::from_values(&[0.2, 0.8], &[0.4, 0.9]).expect("a valid instance");
    let lists = lists(&model, &mut least_cost(&model), 500, 1000);
    assert!(lists.iter().all(|list| *list == [0, 1]));
    let nobody = PositionBased::from_values(&[0.2, 0.8, 0.5], &[0.0, 0.0]).expect("a valid instance");
    assert_eq!(lists_of_nobody(&nobody), 100);
}

/// Plays users who look at nothing.
fn lists_of_nobody(model: &PositionBased) -> usize {
    lists(model, &mut least_cost(model), 0, 100).len()
}
