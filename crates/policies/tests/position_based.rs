//! The start of policies for position-based users, and the feedback that they do not count.

use crate::support::{choose, generator, learn};
use click_models::{ClickModel, Clicks, ItemId, PbmFeedback, PositionBased, Ranking, RenderedPbmFeedback};
use confidence::Rate;
use policies::{
    BcMpTs, Decision, Grab, PbMhb, PbmGibbs, PbmGibbsOrder, PbmKlUcb, PbmPie, PbmPiePosition, PbmPrior,
    PbmTs, PbmUcb, PositionsKnown, PrefixKnown, Select, Update,
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use std::collections::BTreeSet;

fn four_choose_two() -> PositionBased {
    PositionBased::from_values(&[0.5; 4], &[0.9, 0.4]).expect("a valid instance")
}

fn items(list: &Ranking) -> Vec<usize> {
    list.iter().map(ItemId::index).collect()
}

/// PBM-PIE shows every item at every position first. When nothing has come back by then, all items
/// tie and all are candidates.
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

/// If three positions of a list were rendered, nothing is counted below; a list rendered to the end
/// is an ordinary one.
fn counts_what_was_rendered<P>(name: &str, model: &PositionBased, fresh: &P)
where
    P: Update<Ranking, PbmFeedback> + Update<Ranking, RenderedPbmFeedback> + Serialize + Clone,
{
    let saved = |policy: &P| serde_json::to_value(policy).expect("saved");
    let [mut partly, mut fully, mut ordinary] = [(); 3].map(|()| fresh.clone());
    let (mut rng, mut users) = (generator(1), generator(2));
    let mut decision = Decision::default();
    for _ in 0..200 {
        choose(&mut partly, &mut rng, &mut decision);
        let seen = model.respond(&decision.action, &mut users);
        let clicks = Clicks::from_bits(seen.clicks.bits() & 0b111, 3).expect("three bits");
        learn(&mut partly, &decision, &RenderedPbmFeedback { clicks });
        learn(&mut fully, &decision, &RenderedPbmFeedback { clicks: seen.clicks });
        learn(&mut ordinary, &decision, &seen);
    }
    assert_eq!(saved(&fully), saved(&ordinary), "{name}");
    assert_three_counted(name, &saved(&partly), model.examination().len());
}

/// The saved policy has counts of the first three positions, and of no others.
fn assert_three_counted(name: &str, saved: &Value, n_positions: usize) {
    for table in ["shows", "clicks"] {
        let table = saved.get("counts").or(saved.get("run")).unwrap_or(saved)[table].as_array();
        let items = table.expect("a table").chunks(n_positions);
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
    counts_what_was_rendered("GRAB", &model, &Grab::new(model.shape(), None, 1000));
    let fresh = PbMhb::new(model.shape(), PbMhb::default_width(), PbMhb::default_sweeps());
    counts_what_was_rendered("PB-MHB", &model, &fresh);
}

/// The same of a policy that keeps clicks of items and of positions.
#[test]
fn gibbs_counts_what_was_rendered() {
    let model = four_choose_two();
    let mut policy = PbmGibbs::new(model.shape(), PbmGibbsOrder::Unknown);
    let action: Ranking = [2, 0].map(ItemId::new).into_iter().collect();
    let clicks = Clicks::from_bits(1, 1).expect("one bit");
    policy.update(&Decision { action, note: () }, &RenderedPbmFeedback { clicks });
    let saved = serde_json::to_value(&policy).expect("saved");
    let products = &saved["products"];
    assert_eq!(products["plays"], json!([0, 0, 0, 0, 1, 0, 0, 0]));
    assert_eq!((&products["row_clicks"], &products["column_clicks"]), (&json!([0, 0, 1, 0]), &json!([1, 0])));
}

/// Every check of saved data by itself.
#[test]
fn inconsistent_states_without_examination_are_refused() {
    fn refused<P: Serialize + DeserializeOwned>(policy: &P, place: &str, value: Value) {
        let mut damaged = serde_json::to_value(policy).expect("saved");
        *damaged.pointer_mut(place).expect("a place in it") = value;
        assert!(serde_json::from_value::<P>(damaged).is_err(), "{place}");
    }
    let shape = four_choose_two().shape();
    let gibbs = PbmGibbs::new(shape, PbmGibbsOrder::Known);
    refused(&gibbs, "/places", json!([0, 0]));
    refused(&gibbs, "/places", json!([]));
    refused(&gibbs, "/products/plays", json!([0, 0, 0]));
    refused(&gibbs, "/products/row_clicks", json!([1, 0, 0, 0]));
    refused(&gibbs, "/products/column_clicks", json!([0, 1]));
    refused(&gibbs, "/products/columns", json!([0.5, 1.5]));
    refused(&gibbs, "/products/columns", json!([]));
    let prior = PbmPrior::new([Some((0.5, 0.1))], [None]).expect("beliefs");
    let warm = gibbs.with_prior(&prior).expect("they fit");
    refused(&warm, "/prior/attraction/0/plays", json!(-1.0));
    refused(&warm, "/prior/attraction/0/clicks", json!(25.0));
    refused(&warm, "/prior/attraction", json!([null]));
    refused(&warm, "/prior/examination", json!(vec![json!({ "plays": 1.0, "clicks": 0.0 }); 3]));
    assert!(
        PbmPrior::new([Some((1.5, 0.1))], []).is_err() && PbmPrior::new([], [Some((0.5, -0.1))]).is_err()
    );
}

/// A position that nobody examines ends up with the worst item, and the other two with the best
/// ones, the best where users look most.
#[test]
fn positions_find_their_order() {
    let model = PositionBased::from_values(&[0.8, 0.6, 0.2], &[0.0, 0.4, 0.9]).expect("a valid instance");
    for mut trial in [PbmGibbsOrder::Unknown, PbmGibbsOrder::Known].map(|order| {
        let places = PositionsKnown::from(model.known()).places();
        PbmGibbs::new(PrefixKnown::with_places(model.shape(), &places).expect("their positions"), order)
    }) {
        let (mut rng, mut users) = (generator(5), generator(6));
        let mut decision = Decision::default();
        let mut last = 0;
        for round in 0..4000 {
            trial.select(&mut rng, &mut decision);
            let seen = model.respond(&decision.action, &mut users);
            trial.update(&decision, &seen);
            last += u32::from(round >= 3000 && items(&decision.action) == [2, 1, 0]);
        }
        assert!(last > 950, "{last}");
    }
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

/// Nothing is learnt at a position that nobody looks at: items are never explored there, and those
/// that stand there are explored elsewhere.
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

/// With as many items as positions, all examined, there is nothing to explore: always the order of
/// the estimates.
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
