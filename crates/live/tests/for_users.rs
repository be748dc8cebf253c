//! Live use of a policy that sees who asks, against one that learns closed decisions by hand.

use click_models::{
    Cascade, Clicks, Context, ContextKnown, ItemId, ListProtocol, ListShape, Pbm, PbmKnown, Ranking,
};
use confidence::Probability;
use live::{Among, Ask, Handle, LiveFor, ObservationRule, Settings, Skips, Taken};
use policies::{
    Decision, Drawing, FeaturedItems, HybridSettings, HybridTs, PbmHybridTs, SelectAmongFor, UpdateFor,
};
use rand::{RngExt as _, SeedableRng, rngs::ChaCha8Rng};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Debug;

const POSITIONS: usize = 3;

fn known() -> ContextKnown<'static> {
    const FEATURES: [f64; POSITIONS] = [0.0; POSITIONS];
    ContextKnown::new(POSITIONS, &FEATURES).unwrap().with_user_features(1).with_segments(2)
}

fn cascade() -> HybridTs {
    HybridTs::new(ListShape::new(POSITIONS, POSITIONS).unwrap(), known(), HybridSettings::default()).unwrap()
}

fn pbm() -> PbmHybridTs {
    let examination = [1.0, 0.7, 0.4].map(|examined| Probability::new(examined).unwrap());
    let shape = ListShape::new(POSITIONS, POSITIONS).unwrap();
    PbmHybridTs::new(PbmKnown::new(shape, &examination).unwrap(), known(), HybridSettings::default()).unwrap()
}

/// The test's knowledge of a decision.
#[derive(Clone)]
struct Known {
    list: Vec<Handle>,
    context: Context,
    clicks: u64,
    is_closed: bool,
}

/// Random histories: late, repeated and contradicting answers, items that come and go, states that
/// are saved and restored in between.
#[expect(clippy::too_many_lines, reason = "one event after the other")]
fn play<I, P>(policy: P)
where
    I: ObservationRule + ListProtocol,
    P: SelectAmongFor<Ranking, Note = Context>
        + UpdateFor<Ranking, I::Feedback>
        + FeaturedItems
        + Clone
        + Debug
        + Serialize
        + DeserializeOwned,
{
    let mut by_hand = policy.clone();
    let mut live = LiveFor::<I, P>::empty(policy, Settings::default()).unwrap();
    let rng = &mut ChaCha8Rng::seed_from_u64(3);
    let (mut present, mut retired) = (vec![], vec![]);
    let (mut known, mut next) = (BTreeMap::<u64, Known>::new(), 0);
    let mut outcomes = BTreeMap::<String, usize>::new();
    let mut forgotten_were_shown = 0;
    for step in 0..2_500 {
        let id = rng.random_range(0..next + 1).max(u64::saturating_sub(next, 25));
        let taken = match rng.random_range(0..100) {
            0..30 => {
                let context = Context { segment: rng.random_range(0..3), features: vec![rng.random()] };
                let among = match rng.random_range(0..3) {
                    0 => Among::All,
                    1 => Among::Only(&present[..present.len() / 2]),
                    _ => Among::Except(&present[..present.len() / 2]),
                };
                let list = {
                    let ask =
                        Ask { user: &context, among, positions: rng.random_range(1..5), ..Ask::default() };
                    live.decide(&next, ask, rng).to_vec()
                };
                assert!(list.iter().all(|item| present.contains(item)));
                known.insert(next, Known { list, context, clicks: 0, is_closed: false });
                next += 1;
                continue;
            }
            30..35 => {
                let context = Context { segment: 1, features: vec![f64::NAN] };
                let list: Vec<Handle> = present.iter().copied().take(2).collect();
                let taken = live.show(&next, &context, &list).unwrap();
                assert_eq!(live.show(&next, &context, &[]).unwrap(), Taken::Repeated);
                let context = Context { features: vec![0.0], ..context };
                known.insert(next, Known { list, context, clicks: 0, is_closed: false });
                next += 1;
                taken
            }
            35..60 => {
                let position = rng.random_range(0..POSITIONS + 1);
                let taken = live.click(&id, position);
                if let Some(known) = known.get_mut(&id).filter(|known| position < known.list.len()) {
                    match known.clicks >> position & 1 == 1 {
                        true => assert_eq!(taken, Taken::Repeated),
                        false if known.is_closed => assert_eq!(taken, Taken::Closed),
                        false => known.clicks |= 1 << position,
                    }
                }
                taken
            }
            60..80 => {
                let seen = rng.random::<bool>().then(|| rng.random_range(0..POSITIONS + 2));
                let taken = live.close(&id, seen);
                if let Some(known) = known.get_mut(&id).filter(|known| !known.is_closed) {
                    assert_eq!(taken, Taken::Counted);
                    known.is_closed = true;
                    let Known { list, context, clicks, .. } = known.clone();
                    let deepest = (0..list.len()).rev().find(|position| clicks >> position & 1 == 1);
                    let end = seen.unwrap_or(list.len()).min(list.len()).max(deepest.map_or(0, |at| at + 1));
                    let number =
                        |&item: &Handle| if live.is_known(item) { item.slot.number() } else { u32::MAX };
                    let action: Ranking = list[..end].iter().map(number).map(ItemId::new).collect();
                    forgotten_were_shown += usize::from(action.contains(ItemId::new(u32::MAX)));
                    if end > 0 {
                        let clicks = Clicks::from_bits(clicks, list.len()).unwrap();
                        by_hand.update_for(&Decision { action, note: context }, &I::read(clicks, end));
                    }
                }
                taken
            }
            80..86 => {
                let features = [rng.random::<f64>() - 0.5];
                let item = live.add_item_with(&features).unwrap();
                if item.slot.index() < by_hand.n_items() {
                    by_hand.replace_item(item.slot, &features).unwrap();
                } else {
                    assert_eq!(by_hand.add_item(&features).unwrap(), item.slot);
                }
                present.push(item);
                continue;
            }
            86..91 if present.len() > 4 => {
                let item = present.swap_remove(rng.random_range(0..present.len()));
                assert!(live.retire(item) && !live.retire(item));
                retired.push(item);
                continue;
            }
            91..94 if !retired.is_empty() => {
                let item = retired.swap_remove(rng.random_range(0..retired.len()));
                assert!(live.bring_back(item) && !live.bring_back(item));
                present.push(item);
                continue;
            }
            94..98 if !retired.is_empty() => {
                let item = retired.swap_remove(rng.random_range(0..retired.len()));
                assert!(live.forget(item) && !live.forget(item) && !live.bring_back(item));
                assert_eq!(live.tally(item, 0).shows, 0);
                by_hand.replace_item(item.slot, &[0.0]).unwrap();
                continue;
            }
            98 => {
                let json: LiveFor<I, P> =
                    serde_json::from_value(serde_json::to_value(&live).unwrap()).unwrap();
                let bytes = postcard::to_allocvec(&live).unwrap();
                live = if step % 2 == 0 { json } else { postcard::from_bytes(&bytes).unwrap() };
                continue;
            }
            _ => continue,
        };
        *outcomes.entry(format!("{taken:?}")).or_default() += 1;
        if step % 50 == 0 {
            assert_eq!(serde_json::to_value(live.policy()).unwrap(), serde_json::to_value(&by_hand).unwrap());
        }
    }
    assert_eq!(serde_json::to_value(live.policy()).unwrap(), serde_json::to_value(&by_hand).unwrap());
    assert!(outcomes.len() == 5 && outcomes.values().all(|&n| n > 5), "{outcomes:?}");
    assert!(forgotten_were_shown > 5, "{forgotten_were_shown}");
}

#[test]
fn the_policy_has_learned_from_every_closed_decision_once() {
    play::<Cascade, _>(cascade());
    play::<Pbm, _>(pbm());
}

#[test]
fn a_repeated_history_comes_to_the_same_state() {
    let [mut live, mut again] = [(); 2].map(|()| {
        let settings = Settings {
            propensities: Some(Drawing::new(20, Probability::new(0.1).unwrap()).unwrap()),
            ..Settings::default()
        };
        let mut live = LiveFor::<Cascade, _>::empty(cascade(), settings).unwrap();
        (0..5).for_each(|item| _ = live.add_item_with(&[f64::from(item)]).unwrap());
        live
    });
    let [one, other] = &mut [(); 2].map(|()| ChaCha8Rng::seed_from_u64(1));
    for id in 0..300_u64 {
        let user = Context { segment: 0, features: vec![(id % 7) as f64] };
        let list = live.decide(&id, Ask { user: &user, positions: 2, ..Ask::default() }, one).to_vec();
        let propensities = live.propensities(&id).unwrap().to_vec();
        assert!(
            propensities.len() == 2
                && again
                    .decide_again(&id, Ask { user: &user, positions: 2, ..Ask::default() }, &list, other)
                    .unwrap()
        );
        assert_eq!(again.propensities(&id).unwrap(), propensities);
        for live in [&mut live, &mut again] {
            _ = live.click(&id, usize::from(id % 3 == 0));
            assert_eq!(live.close(&id, None), Taken::Counted);
        }
    }
    let swapped: Vec<Handle> = live.items().take(2).collect();
    let other_list = [swapped[1], swapped[0]];
    let user = Context::default();
    let list = live
        .decide(&300, Ask { user: &user, among: Among::Only(&swapped), positions: 9, ..Ask::default() }, one)
        .to_vec();
    let shown = if list == swapped { other_list } else { [swapped[0], swapped[1]] };
    assert!(
        !again
            .decide_again(
                &300,
                Ask { user: &user, among: Among::Only(&swapped), positions: 3, ..Ask::default() },
                &shown,
                other
            )
            .unwrap()
    );
    assert!(
        again.propensities(&300).unwrap().is_empty()
            && again.decide(&300, Ask { user: &user, ..Ask::default() }, other) == shown
    );
    assert_eq!(serde_json::to_value(live.policy()).unwrap(), serde_json::to_value(again.policy()).unwrap());
}

#[test]
fn settings_that_correct_a_table_are_refused_by_name() {
    let refused =
        |settings| LiveFor::<Cascade, _>::new(cascade(), settings).map(|_: LiveFor<_, _>| ()).unwrap_err();
    for (settings, name) in [
        (Settings { window: Some(5), ..Settings::default() }, "window"),
        (Settings { skips: Skips::AtOnce, ..Settings::default() }, "skips"),
        (Settings { estimate_prior: true, ..Settings::default() }, "estimate_prior"),
    ] {
        let message = refused(settings).to_string();
        assert!(message.starts_with(&format!("`{name}` corrects a table")), "{message}");
    }
    let message = refused(Settings { explore: 1.5, ..Settings::default() }).to_string();
    assert!(message.contains("1.5"), "{message}");
}

#[test]
fn an_item_with_other_features_is_refused_and_nothing_changes() {
    let mut live = LiveFor::<Cascade, _, u64>::empty(cascade(), Settings::default()).unwrap();
    for _ in 0..5 {
        assert!(live.add_item_with(&[0.5, 0.5]).unwrap_err().to_string().contains("[0.5, 0.5]"));
        live.add_item_with(&[0.5]).unwrap();
    }
    assert_eq!(live.items().count(), 5);
}

#[test]
fn beyond_the_limits_the_first_one_is_forgotten() {
    let settings = Settings { keep_open: 2, keep_retired: 1, ..Settings::default() };
    let mut live = LiveFor::<Cascade, _>::new(cascade(), settings).unwrap();
    let (rng, user) = (&mut ChaCha8Rng::seed_from_u64(1), Context::default());
    for id in 0..3_u64 {
        live.decide(&id, Ask { user: &user, ..Ask::default() }, rng);
    }
    assert_eq!([live.close(&0, None), live.close(&1, None)], [Taken::Unknown, Taken::Counted]);
    let items: Vec<Handle> = live.items().collect();
    assert!(live.retire(items[0]) && live.retire(items[1]));
    assert_eq!([0, 1, 2].map(|item| live.is_known(items[item])), [false, true, true]);
    assert_eq!(live.forget_oldest(), Some(1));
}

#[test]
fn damaged_states_are_refused_by_the_part_at_fault() {
    let mut live = LiveFor::<Cascade, _, u64>::new(cascade(), Settings::default()).unwrap();
    let (rng, user) = (&mut ChaCha8Rng::seed_from_u64(1), Context { segment: 0, features: vec![0.5] });
    for id in 0..5 {
        live.decide(&id, Ask { user: &user, ..Ask::default() }, rng);
        _ = live.click(&id, 1);
        if id < 4 {
            _ = live.close(&id, None);
        }
    }
    let refused = |change: &dyn Fn(&mut Value)| {
        let mut saved = serde_json::to_value(&live).unwrap();
        change(&mut saved);
        serde_json::from_value::<LiveFor<Cascade, HybridTs>>(saved).unwrap_err().to_string()
    };
    assert!(refused(&|saved| saved["settings"]["window"] = json!(7)).contains("a setting"));
    assert!(refused(&|saved| saved["items"]["generations"] = json!([0])).contains("the items"));
    assert!(refused(&|saved| saved["tallies"] = json!([])).contains("displays and clicks"));
    assert!(
        refused(&|saved| saved["tallies"][0]["clicks"] = json!(1_u64 << 40)).contains("displays and clicks")
    );
    for change in [
        |saved: &mut Value| saved["open"][1][0] = json!(0),
        |saved: &mut Value| saved["open"][1][1]["shown"]["list"][0]["slot"] = json!(90),
        |saved: &mut Value| saved["open"][1][1]["shown"]["end"] = json!(9),
        |saved: &mut Value| saved["open"][1][1]["shown"]["numbers"] = json!([1, 2, 3]),
    ] {
        assert!(refused(&change).contains("an open decision"));
    }
    assert!(refused(&|saved| saved["policy"]["learner"]["cells"]["means"] = json!([])).contains("lengths"));
    assert!(refused(&|saved| saved["other"] = json!(1)).contains("other"));
}

#[test]
fn no_feature_makes_a_state_that_cannot_be_read() {
    let rng = &mut ChaCha8Rng::seed_from_u64(5);
    for features in [[1e160, 1.0], [f64::MAX, -f64::MAX], [1.0, 1e300], [f64::INFINITY, f64::NAN]] {
        let mut live = LiveFor::<Cascade, _>::empty(cascade(), Settings::default()).unwrap();
        live.add_item_with(&[features[1]]).ok();
        live.add_item_with(&[1.0]).unwrap();
        for id in 0..20 {
            let context = Context { segment: 0, features: vec![features[0]] };
            assert!(!live.decide(&id, Ask { user: &context, ..Ask::default() }, rng).is_empty());
            assert_eq!(live.click(&id, 0), Taken::Counted);
            assert_eq!(live.close(&id, None), Taken::Counted);
        }
        let saved = serde_json::to_string(&live).unwrap();
        let read: LiveFor<Cascade, HybridTs> = serde_json::from_str(&saved).unwrap();
        assert_eq!(serde_json::to_string(&read).unwrap(), saved);
    }
}
