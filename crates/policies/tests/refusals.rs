//! Saved states of policies for lists that are refused say why.

use crate::support::generator;
use click_models::{ClickModel, ItemId, PositionBased, RandomSemiBandit, Ranking};
use policies::{
    BatchRank, CascadeBai, Decision, Delta, KlLucb, PbmTs, PbmUcb, Pie, PrefixKlUcb, PrefixKnown, PrefixTs,
    RbaKlUcb, Select, TopRank,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::fmt::Debug;

fn refusal<P: DeserializeOwned + Debug>(value: Value) -> String {
    serde_json::from_value::<P>(value).expect_err("refused").to_string()
}

#[test]
fn refusals_say_why() {
    let counts = |examination: Value, shows: Value, clicks: Value| json!({ "counts": { "examination": examination, "rounds": 3, "shows": shows, "clicks": clicks } });
    let zeros = json!([0, 0, 0, 0]);
    assert_eq!(
        refusal::<PbmTs>(counts(json!([0.5, 0.2]), json!([0, 0, 0]), json!([0, 0, 0]))),
        "the saved tables have lengths that do not belong together"
    );
    assert_eq!(
        refusal::<PbmTs>(counts(json!([0.5, 0.2]), zeros.clone(), json!([0, 0]))),
        "the saved tables have lengths that do not belong together"
    );
    assert_eq!(
        refusal::<PbmTs>(counts(json!([0.5, 0.2]), zeros.clone(), json!([0, 1, 0, 0]))),
        "the saved counts have more clicks than displays"
    );
    assert!(refusal::<PbmTs>(counts(json!([0.5, 1.2]), zeros.clone(), zeros.clone())).contains("1.2"));
    assert!(refusal::<PbmTs>(counts(json!([]), json!([]), json!([]))).contains("lengths"));
    assert!(refusal::<PbmTs>(counts(json!([0.5]), json!([]), json!([]))).contains("no items"));
    let huge = json!([u64::MAX, 0, 0, 0]);
    assert_eq!(
        refusal::<PbmTs>(counts(json!([0.5, 0.2]), huge.clone(), zeros.clone())),
        "a saved count is 18446744073709551615, more than can have been counted: at most 1099511627776 is supported"
    );
    let model = PositionBased::from_values(&[0.5, 0.4], &[0.5]).expect("a valid instance");
    let mut saved = serde_json::to_value(PbmUcb::new(model.known(), confidence::Rate::LOG)).expect("saved");
    saved["counts"]["rounds"] = json!(u64::MAX);
    assert!(refusal::<PbmUcb>(saved).contains("more than can have been counted"));

    let model = RandomSemiBandit::from_values(&[0.5, 0.4], &[0.5]).expect("a valid instance");
    let mut saved = serde_json::to_value(PrefixTs::new(model.shape())).expect("saved");
    saved["counts"]["n_positions"] = json!(3);
    assert!(refusal::<PrefixTs>(saved).contains("3 positions but only 2 items"));
    let pie = Pie::last(model.shape(), confidence::Rate::LOG);
    let mut saved = serde_json::to_value(pie).expect("saved");
    saved["position"] = json!(1);
    assert_eq!(refusal::<Pie>(saved), "position 1 (counted from 0) is beyond a list of 1");
    let mut saved = serde_json::to_value(RbaKlUcb::new(model.shape())).expect("saved");
    saved["pulls"] = json!([1]);
    assert!(refusal::<RbaKlUcb>(saved).contains("lengths"));
}

#[test]
fn refusals_of_places_blocks_and_batches_say_why() {
    let shape = click_models::ListShape::new(5, 3).expect("a shape");
    let known = PrefixKnown::with_places(shape, &[2, 0, 1]).expect("all three positions");
    let policy = PrefixKlUcb::new(known, confidence::Rate::LOG);
    let mut saved = serde_json::to_value(policy).expect("saved");
    for places in [json!([2, 0]), json!([2, 0, 3]), json!([2, 0, 2])] {
        saved["counts"]["places"] = places;
        assert_eq!(
            refusal::<PrefixKlUcb>(saved.clone()),
            "the places of a list of 3 are not its positions, counted from 0, in some order"
        );
    }
    let mut saved = serde_json::to_value(TopRank::new(shape, 100)).expect("saved");
    saved["wins"] = json!([0, 0, 0]);
    assert!(refusal::<TopRank>(saved).contains("lengths"));
    let saved = serde_json::to_value(BatchRank::new(shape, 100)).expect("saved");
    let batches = |batches: &[&[u32]]| {
        let mut saved = saved.clone();
        saved["batches"] = batches.iter().map(|items| json!({ "stage": 0, "items": items })).collect();
        saved
    };
    // A top batch with one position, and four or two items for the other two.
    for right in [&[&[4][..], &[0, 1, 2, 3]][..], &[&[4], &[1, 3]], &[&[0, 1, 2]]] {
        assert!(serde_json::from_value::<BatchRank>(batches(right)).is_ok(), "{right:?}");
    }
    for wrong in [
        &[][..],
        // Too few items, too many positions taken, nothing in a batch, an item twice, an unknown
        // one.
        &[&[4][..], &[0]],
        &[&[4, 3, 2], &[0]],
        &[&[], &[0, 1, 2]],
        &[&[4], &[1, 4]],
        &[&[5], &[1, 3]],
    ] {
        assert_eq!(
            refusal::<BatchRank>(batches(wrong)),
            "the saved batches do not share out distinct items among all positions"
        );
    }
}

#[test]
fn refusals_of_items_say_why() {
    let shape = click_models::ListShape::new(4, 2).expect("a shape");
    let saved = serde_json::to_value(CascadeBai::new(shape, Delta::default())).expect("saved");
    let with = |key: &str, value: Value| {
        let mut saved = saved.clone();
        saved[key] = value;
        saved
    };
    // Each of them once, and no more rejected than are to be left over.
    let shared_out = |in_question: Value, accepted: Value, rejected: Value| {
        let mut saved = with("in_question", in_question);
        (saved["accepted"], saved["rejected"]) = (accepted, rejected);
        saved
    };
    let right = shared_out(json!([1, 3]), json!([2]), json!([0]));
    assert!(serde_json::from_value::<CascadeBai>(right).is_ok());
    for wrong in [
        shared_out(json!([1, 3]), json!([2]), json!([])),
        shared_out(json!([1, 3, 2]), json!([2]), json!([0])),
        shared_out(json!([1, 4]), json!([2]), json!([0])),
        shared_out(json!([1]), json!([]), json!([2, 3, 0])),
    ] {
        assert_eq!(
            refusal::<CascadeBai>(wrong),
            "the saved items are not each accepted, rejected or still in question"
        );
    }
    assert!(refusal::<CascadeBai>(with("rank", json!([0, 1, 2, 2]))).contains("items"));
    assert!(refusal::<CascadeBai>(with("clicks", json!([0, 0, 1, 0]))).contains("more clicks"));
    assert!(refusal::<CascadeBai>(with("observations", json!([0, 0, 0]))).contains("lengths"));
    assert!(refusal::<CascadeBai>(with("open", json!([0, 0, 0]))).contains("lengths"));
    assert!(
        refusal::<CascadeBai>(with("open", json!([0, 0, 0, 1_u64 << 60])))
            .contains("more than can have been counted")
    );
    let mut other = saved.clone();
    other["settings"]["delta"] = json!(1.0);
    assert!(refusal::<CascadeBai>(other).contains("strictly between 0 and 1"));
}

/// Lists whose answers have not come are saved with a policy that counts them, and one saved
/// without them is read.
#[test]
fn open_lists_are_saved() {
    let shape = click_models::ListShape::new(6, 2).expect("a shape");
    let mut policy = CascadeBai::new(shape, Delta::default());
    let mut rng = generator(1);
    let mut shown = vec![];
    for _ in 0..3 {
        // Before every list it is saved and restored.
        let saved = serde_json::to_string(&policy).expect("saved");
        policy = serde_json::from_str(&saved).expect("as saved");
        let mut decision = Decision::<Ranking>::default();
        policy.select(&mut rng, &mut decision);
        shown.extend(decision.action.iter().map(ItemId::index));
    }
    shown.sort_unstable();
    assert_eq!(shown, [0, 1, 2, 3, 4, 5]);
    let mut saved = serde_json::to_value(&policy).expect("saved");
    assert_eq!(saved["open"], json!([1, 1, 1, 1, 1, 1]));
    saved.as_object_mut().expect("fields").remove("open");
    assert!(serde_json::from_value::<CascadeBai>(saved).is_ok());
}

/// KL-LUCB decides everything in one go. A state in between has fewer items in question than a list
/// shows.
#[test]
fn halves_of_an_answer_are_refused() {
    let shape = click_models::ListShape::new(5, 3).expect("a shape");
    let saved = serde_json::to_value(KlLucb::new(shape, Delta::default())).expect("saved");
    let shared_out = |in_question: Value, accepted: Value, rejected: Value| {
        let mut saved = saved.clone();
        let counts = &mut saved["counts"];
        (counts["in_question"], counts["accepted"], counts["rejected"]) = (in_question, accepted, rejected);
        saved
    };
    let over = shared_out(json!([]), json!([0, 2, 3]), json!([1, 4]));
    assert!(serde_json::from_value::<KlLucb>(over).is_ok());
    for wrong in [
        shared_out(json!([3, 4]), json!([0, 2]), json!([1])),
        shared_out(json!([1, 2, 3, 4]), json!([0]), json!([])),
    ] {
        assert!(refusal::<KlLucb>(wrong).contains("still in question"));
    }
}

/// A position that no list has is also refused when a policy is built.
#[test]
fn an_exploring_position_beyond_the_list_is_refused() {
    let shape = click_models::ListShape::new(5, 3).expect("a shape");
    let error = Pie::at(shape, 3, confidence::Rate::LOG).expect_err("positions are 0, 1, 2");
    assert_eq!(error, policies::Error::PositionBeyondList { position: 3, n_positions: 3 });
}
