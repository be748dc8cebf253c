//! Policies that see who asks, among items that come and go.

use crate::support::generator;
use allocation_counter::measure;
use click_models::{
    Cascade, CascadeFeedback, Clicks, Context, ContextKnown, ItemId, ItemSet, ListShape, Pbm, PbmFeedback,
    PbmKnown, Ranking,
};
use confidence::Probability;
use policies::catalogue::{ContextKnowledge, NamedLive};
use policies::{
    Decision, FeaturedItems, HybridPosterior, HybridSettings, HybridTs, PbmHybridTs, SelectAmongFor,
    SelectFor, UpdateFor,
};
use rand::RngExt as _;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde_json::{Value, json};

const POSITIONS: usize = 2;
const SEGMENTS: u32 = 3;
/// Item by item; users have one feature.
const FEATURES: [f64; 12] = [0.3, -1.0, 0.8, 0.1, -0.4, 0.6, 1.2, -0.2, 0.0, 0.9, -0.7, 0.5];

fn hybrid(features: &[f64]) -> HybridTs {
    let n_items = features.len() / 2;
    let known = ContextKnown::new(n_items, features).expect("features");
    let known = known.with_user_features(1).with_segments(SEGMENTS);
    let shape = ListShape::new(n_items, POSITIONS).expect("a shape");
    HybridTs::new(shape, known, HybridSettings::default()).expect("a policy")
}

fn user(world: &mut Xoshiro256PlusPlus) -> Context {
    // Now and then of a segment that was not announced.
    Context { segment: world.random_range(0..=SEGMENTS), features: vec![world.random::<f64>() - 0.5] }
}

fn answer(user: &Context, list: &Ranking, world: &mut Xoshiro256PlusPlus) -> CascadeFeedback {
    let likes = |item: ItemId| 0.2 + 0.1 * f64::from(item.number() % 3) + 0.2 * user.features[0];
    let click = list.iter().position(|item| world.random::<f64>() < likes(item));
    CascadeFeedback::new(click, list.len()).expect("on the list")
}

/// Lets two policies play the same users, the second one among items that `second` renames.
fn play_both(
    (one, all): (&mut HybridTs, &ItemSet),
    (other, some): (&mut HybridTs, &ItemSet),
    second: impl Fn(ItemId) -> ItemId,
    rounds: usize,
) {
    let (mut world, rngs) = (generator(5), &mut [(); 2].map(|()| generator(7)));
    let (mut first, mut renamed) = (Decision::<Ranking, Context>::default(), Decision::default());
    for round in 0..rounds {
        let user = user(&mut world);
        one.select_among_for(&user, all, &mut rngs[0], &mut first);
        other.select_among_for(&user, some, &mut rngs[1], &mut renamed);
        let expected: Ranking = first.action.iter().map(&second).collect();
        assert_eq!(renamed.action, expected, "round {round}");
        let answer = answer(&user, &first.action, &mut world);
        one.update_for(&first, &answer);
        other.update_for(&renamed, &answer);
    }
}

fn set(items: &[u32], size: usize) -> ItemSet {
    let mut set = ItemSet::none(size);
    for &item in items {
        set.insert(ItemId::new(item));
    }
    set
}

#[test]
fn a_choice_among_some_is_that_of_a_policy_with_these_items_only() {
    let some = [1, 2, 5];
    let few: Vec<f64> = some.iter().flat_map(|&item| FEATURES[2 * item..2 * item + 2].to_vec()).collect();
    // An item that does not exist is ignored.
    let available = set(&[1, 2, 5, 9], 10);
    let whole = |item: ItemId| ItemId::from_index(some[item.index()]);
    play_both((&mut hybrid(&few), &ItemSet::all(3)), (&mut hybrid(&FEATURES), &available), whole, 600);
}

#[test]
fn items_that_are_added_are_as_those_of_the_beginning() {
    let (mut grown, mut whole) = (hybrid(&FEATURES[..4]), hybrid(&FEATURES));
    play_both((&mut grown, &ItemSet::all(2)), (&mut whole, &set(&[0, 1], 6)), |item| item, 150);
    for item in 2..6 {
        let features = &FEATURES[2 * item..2 * item + 2];
        assert_eq!(grown.add_item(features).expect("features"), ItemId::from_index(item));
    }
    play_both((&mut grown, &ItemSet::all(6)), (&mut whole, &ItemSet::all(6)), |item| item, 300);
    let HybridPosterior { cell_means, item_means, .. } = grown.posterior();
    let near = |one: &[f64], other: &[f64]| {
        one.len() == other.len() && one.iter().zip(other).all(|(one, other)| (one - other).abs() < 1e-9)
    };
    assert!(cell_means.len() == 18 && near(&cell_means, &whole.posterior().cell_means));
    assert!(near(&item_means, &whole.posterior().item_means));
}

#[test]
fn what_is_known_of_an_item_is_forgotten_with_it() {
    let mut policy = hybrid(&FEATURES);
    play_both((&mut policy, &ItemSet::all(6)), (&mut hybrid(&FEATURES), &ItemSet::all(6)), |item| item, 200);
    let new = policy.add_item(&[0.25, -0.5]).expect("features");
    policy.replace_item(ItemId::new(4), &[0.25, -0.5]).expect("features");
    for segment in 0..SEGMENTS {
        let scores = policy.scores(&Context { segment, features: vec![0.4] });
        assert_eq!(scores[4], scores[new.index()]);
        assert_ne!(scores[3].own_variance, scores[new.index()].own_variance);
    }
    let before = policy.posterior();
    policy.replace_item(ItemId::new(700), &[0.0, 0.0]).expect("ignored");
    assert_eq!(policy.posterior(), before);
}

#[test]
fn bad_features_of_an_item_are_refused_and_change_nothing() {
    let mut policy = hybrid(&FEATURES);
    for bad in [&[0.5][..], &[0.5; 3], &[f64::NAN, 0.0], &[0.0, f64::INFINITY]] {
        let message = format!("the features of an item are {bad:?}: expected 2 finite numbers");
        assert_eq!(policy.add_item(bad).unwrap_err().to_string(), message);
        assert_eq!(policy.replace_item(ItemId::new(0), bad).unwrap_err().to_string(), message);
    }
    assert_eq!(policy.n_items(), 6);
    assert_eq!(policy.posterior(), hybrid(&FEATURES).posterior());
}

#[test]
fn a_short_list_fills_the_top_positions_by_examination() {
    let examination = [0.3, 0.9, 0.5].map(|examined| Probability::new(examined).expect("a probability"));
    let (shape, known) = (ListShape::new(3, 3).expect("a shape"), ContextKnown::new(3, &[]).expect("items"));
    let known = (PbmKnown::new(shape, &examination).expect("known"), known);
    let mut policy = PbmHybridTs::new(known.0, known.1, HybridSettings::default()).expect("a policy");
    let (mut rng, mut decision) = (generator(3), Decision::default());
    let [good, bad] = [0, 1].map(ItemId::new);
    for _ in 0..200 {
        decision.action = [bad, good].into_iter().collect();
        let clicks = Clicks::from_bits(0b10, 2).expect("clicks");
        policy.update_for(&decision, &PbmFeedback { clicks });
    }
    policy.select_among_for(&Context::default(), &set(&[0, 1], 3), &mut rng, &mut decision);
    assert_eq!(decision.action.as_slice(), [bad, good]);
    policy.select_among_for(&Context::default(), &ItemSet::none(3), &mut rng, &mut decision);
    assert!(decision.action.is_empty());
}

#[test]
fn choosing_and_learning_allocate_nothing() {
    let mut named = named();
    let (mut rng, mut world, mut decision) = (generator(1), generator(2), Decision::default());
    let available = set(&[0, 3, 4, 5], 6);
    let users: Vec<Context> = (0..7).map(|_| user(&mut world)).collect();
    let mut play = |rounds: usize| {
        for round in 0..rounds {
            let user = &users[round % users.len()];
            named.select_among_for(user, &available, &mut rng, &mut decision);
            let answer = answer(user, &decision.action, &mut world);
            named.update_for(&decision, &answer);
        }
    };
    play(50);
    assert_eq!(measure(|| play(500)).count_total, 0);
}

fn named() -> NamedLive<Cascade> {
    let known = ContextKnown::new(6, &FEATURES).expect("features");
    let known = known.with_user_features(1).with_segments(SEGMENTS);
    let shape = ListShape::new(6, POSITIONS).expect("a shape");
    NamedLive::build_for("hybrid-ts".parse().expect("a policy"), shape, known, None).expect("a policy")
}

/// A policy with items of the beginning, added ones and one that was replaced.
fn used() -> NamedLive<Cascade> {
    let (mut policy, mut rng, mut world) = (named(), generator(1), generator(2));
    let (mut decision, mut available) = (Decision::default(), ItemSet::all(6));
    for round in 0..120 {
        if round % 40 == 7 {
            let item = policy.add_item(&[0.1, f64::from(round)]).expect("features");
            available.grow(item.index() + 1);
            available.insert(item);
        }
        let user = user(&mut world);
        policy.select_among_for(&user, &available, &mut rng, &mut decision);
        let answer = answer(&user, &decision.action, &mut world);
        policy.update_for(&decision, &answer);
    }
    policy.replace_item(ItemId::new(2), &[-1.5, 0.5]).expect("features");
    policy
}

#[test]
fn a_restored_policy_with_added_items_makes_the_same_choices() {
    let mut policy = used();
    let json: NamedLive<Cascade> = serde_json::from_value(saved(&policy)).expect("its state");
    let bytes = postcard::to_allocvec(&policy).expect("its state");
    let binary: NamedLive<Cascade> = postcard::from_bytes(&bytes).expect("its state");
    for mut restored in [json, binary] {
        let [mut one, mut other] = [(); 2].map(|()| generator(4));
        let (mut world, mut decisions) = (generator(6), [(); 2].map(|()| Decision::default()));
        for _ in 0..200 {
            let user = user(&mut world);
            policy.select_for(&user, &mut one, &mut decisions[0]);
            restored.select_for(&user, &mut other, &mut decisions[1]);
            assert_eq!(decisions[0], decisions[1]);
            let answer = answer(&user, &decisions[0].action, &mut world);
            policy.update_for(&decisions[0], &answer);
            restored.update_for(&decisions[1], &answer);
        }
        assert_eq!(saved(&policy), saved(&restored));
        policy = used();
    }
}

fn saved(policy: &NamedLive<Cascade>) -> Value {
    serde_json::to_value(policy).expect("plain data")
}

#[test]
fn damaged_states_are_refused() {
    let refused = |damage: &dyn Fn(&mut Value)| {
        let mut state = saved(&used());
        damage(&mut state);
        serde_json::from_value::<NamedLive<Cascade>>(state).expect_err("damaged").to_string()
    };
    let lengths = "do not belong together";
    let message =
        refused(&|saved| _ = learner(saved, "cells")["means"].as_array_mut().expect("numbers").pop());
    assert!(message.contains(lengths), "{message}");
    let message = refused(&|saved| {
        for of in ["means", "precisions"] {
            learner(saved, "cells")[of].as_array_mut().expect("numbers").truncate(24);
        }
    });
    assert!(message.contains(lengths), "{message}");
    let message = refused(&|saved| *learner(saved, "n_segments") = json!(0));
    assert!(message.contains("n_segments") || message.contains(lengths), "{message}");
    let message = refused(&|saved| saved["told"]["context"]["item_features"][3] = json!(7.0));
    assert!(message.contains("item_features"), "{message}");
    let message = refused(&|saved| saved["told"]["context"] = Value::Null);
    assert!(message.contains("hybrid-ts"), "{message}");
}

fn learner<'a>(saved: &'a mut Value, field: &str) -> &'a mut Value {
    &mut saved["state"]["learner"][field]
}

#[test]
fn other_policies_are_refused_by_name() {
    let (shape, known) = (ListShape::new(6, 2).expect("a shape"), ContextKnown::new(6, &FEATURES));
    for name in ["cascade-ts", "segmented(of=cascade-ts)", "cascade-lin-ucb", "top-rank"] {
        let spec = name.parse().expect("a policy");
        let refused = NamedLive::<Cascade>::build_for(spec, shape, known.clone().expect("features"), None);
        let message = refused.expect_err("refused").to_string();
        assert!(message.starts_with(&format!("`{}` cannot be used live", spec.name())), "{message}");
    }
    let position_based = NamedLive::<Pbm>::build_for(
        "hybrid-ts".parse().expect("a policy"),
        PbmKnown::new(shape, &[Probability::new(1.0).expect("one"); 2]).expect("known"),
        known.expect("features"),
        None,
    );
    let told: ContextKnowledge = position_based.expect("a policy").told().context.clone().expect("told");
    assert_eq!(told.item_features, FEATURES);
}
