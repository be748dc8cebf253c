//! What policies for position-based users begin with, and what they do not count.

use crate::support::generator;
use click_models::{ClickModel, Clicks, ItemId, PbmFeedback, PositionBased, Ranking, RenderedPbmFeedback};
use confidence::Rate;
use policies::{BcMpTs, Decision, Grab, PbMhb, PbmPie, PbmTs, PbmUcb, Select, Update};
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
    counts_what_was_rendered("PBM-TS", &model, &PbmTs::new(model.known()));
    counts_what_was_rendered("PBM-PIE", &model, &PbmPie::new(model.known(), Rate::LOG));
    counts_what_was_rendered("BC-MP-TS", &model, &BcMpTs::new(model.known()));
    counts_what_was_rendered("GRAB", &model, &Grab::new(model.shape(), None, 1000));
    let fresh = PbMhb::new(model.shape(), PbMhb::default_width(), PbMhb::default_sweeps());
    counts_what_was_rendered("PB-MHB", &model, &fresh);
}
