//! A policy in live use that begins with the fit of a log of users who differ.

use click_models::{Cascade, Clicks, Context, ContextKnown, ListProtocol as _, ListShape};
use documents::parameters::IdType;
use live::{Ask, ByName, ClicksByList, ContextFit, ContextReport, Handle, Settings, Taken, clip};
use policies::catalogue::{CatalogueProtocol as _, Protocol};
use policies::{Decision, FeatureScale, HybridSettings, HybridTs, SelectFor as _, UpdateFor as _};
use rand::{RngExt as _, SeedableRng, rngs::ChaCha8Rng};
use serde_json::{Value, json};

const PRICES: [f64; 4] = [120.0, 80.0, 300.0, 95.0];

fn known() -> ContextKnown<'static> {
    ContextKnown::new(4, &PRICES).unwrap().with_user_features(1).with_segments(2)
}

fn shape() -> ListShape {
    ListShape::new(4, 2).unwrap()
}

fn user(n: u32) -> Context {
    Context { segment: n % 2, features: vec![30.0 + f64::from(n % 7)] }
}

fn clicks(n: u32) -> Clicks {
    let none = Clicks::new(2);
    if n.is_multiple_of(3) { none.with((n % 2) as usize) } else { none }
}

/// A fit to 200 lists of a log.
fn fit() -> Value {
    let scale = FeatureScale::new(vec![[33.0, 2.0]], vec![[148.75, 88.3]]).unwrap();
    let policy = HybridTs::new(shape(), known(), HybridSettings::default()).unwrap();
    let mut policy = policy.standardising(scale).unwrap();
    let (mut rng, mut decision) = (ChaCha8Rng::seed_from_u64(5), Decision::default());
    for n in 0..200 {
        policy.select_for(&user(n), &mut rng, &mut decision);
        policy.update_for(&decision, &Cascade::read(clicks(n), 2));
    }
    let names = |names: &[&str]| names.iter().map(ToString::to_string).collect();
    let clicks = ClicksByList { best_list: 0.5, best_list_of_segment: 0.6, personal: 0.7 };
    let fit = ContextFit {
        version: ContextFit::VERSION,
        model: "cascade".to_owned(),
        query: None,
        lists: 200,
        positions: 2,
        segments: names(&["at", "de"]),
        items: names(&["a", "b", "c", "d"]),
        user_features: names(&["age"]),
        item_features: names(&["price"]),
        item_type: IdType::Text,
        ranges: vec![[30.0, 37.0]],
        of_positions: vec![],
        users: vec![user(0)],
        report: ContextReport {
            held_out_one_in: 10,
            lists: 0,
            units: 0,
            log_loss: None,
            log_loss_without: None,
            gain: None,
            columns: vec![],
            clicks,
            personal_gain: None,
        },
        prior: policy.learned(),
    };
    serde_json::to_value(fit).unwrap()
}

fn read(fit: &Value) -> Result<ContextFit, String> {
    ContextFit::read("context.json", fit.to_string().as_bytes()).map_err(|error| error.to_string())
}

/// A feature far outside the log is moved to the end of the log's range, and counted.
#[test]
fn features_outside_the_log_are_clipped() {
    let mut fit = read(&fit()).unwrap();
    for (given, expected, n) in [(31.5, 31.5, 0), (1e300, 37.0, 1), (-1.0, 30.0, 1), (30.0, 30.0, 0)] {
        let mut features = [given];
        assert_eq!((clip(&fit.ranges(), &mut features), features), (n, [expected]), "{given}");
    }
    // A file of before has the contexts of some lists.
    fit.ranges.clear();
    fit.users = vec![user(0), user(3)];
    let [one, other] = [0, 3].map(|n| user(n).features[0]);
    assert_eq!(fit.ranges(), [[one.min(other), one.max(other)]]);
    let mut saved = serde_json::to_value(&fit).unwrap();
    assert!(saved.get("ranges").is_none() && saved.get("item_type").is_none());
    saved["ranges"] = json!([[1.0, 2.0], [1.0, 2.0]]);
    assert!(read(&saved).unwrap_err().contains("ranges: 2 found: expected 1"));
    // Nothing is known of another feature.
    assert_eq!(clip(&[], &mut [1e300]), 0);
}

/// Lists and what is learned from them are those of a policy with this prior; an item that comes
/// later has features as they are in the log.
#[test]
fn live_use_begins_where_the_log_ends() {
    let fit = read(&fit()).unwrap();
    let mut by_hand = HybridTs::new(shape(), known(), HybridSettings::default()).unwrap();
    by_hand = by_hand.with_prior(&fit.prior).unwrap();
    let policy =
        fit.policy("hybrid-ts".parse().unwrap(), Protocol::Cascade, Cascade::knowledge(&shape().into()));
    let mut live = <dyn ByName<u64>>::new(policy.unwrap(), Settings::default()).unwrap();
    let again = |saved: &[u8]| {
        let mut saved = serde_json::Deserializer::from_slice(saved);
        <dyn ByName<u64>>::read(Protocol::Cascade, true, &mut saved).unwrap()
    };
    let handles: Vec<Handle> = live.items();
    for (item, price) in handles.iter().zip(PRICES) {
        assert!(live.has_features(*item, &[price]) && !live.has_features(*item, &[price + 0.01]));
    }
    let (mut one, mut other) = (ChaCha8Rng::seed_from_u64(9), ChaCha8Rng::seed_from_u64(9));
    let mut decision = Decision::default();
    for n in 0..300 {
        if n == 150 {
            let new = live.add_item_with(&[200.0]).unwrap();
            policies::FeaturedItems::add_item(&mut by_hand, &[200.0]).unwrap();
            assert!(live.has_features(new, &[200.0]));
            // The item is kept as the fit standardises it.
            live = again(&serde_json::to_vec(&*live).unwrap());
        }
        by_hand.select_for(&user(n), &mut one, &mut decision);
        let list = live.decide(&u64::from(n), Ask { user: &user(n), ..Ask::default() }, &mut other).to_vec();
        assert!(list.iter().map(|item| item.slot).eq(decision.action.iter()), "{n}");
        for position in (0..2).filter(|&position| clicks(n).get(position)) {
            assert_eq!(live.click(&u64::from(n), position), Taken::Counted);
        }
        assert_eq!(live.close(&u64::from(n), None), Taken::Counted);
        by_hand.update_for(&decision, &Cascade::read(clicks(n), 2));
    }
    assert_eq!(one.random::<u64>(), other.random::<u64>());
    // Another item in the place of one that is forgotten, and features that are bounded.
    assert!(live.retire(handles[0]) && live.forget(handles[0]));
    for features in [[300.0], [1e40]] {
        live.add_item_with(&features).unwrap();
        let saved = serde_json::to_vec(&*live).unwrap();
        assert_eq!(serde_json::to_vec(&*again(&saved)).unwrap(), saved);
    }
}

/// Numbers that are finite and absurd, versions, sizes and names.
#[test]
fn a_fit_that_is_damaged_is_refused_by_the_part_at_fault() {
    let fit = fit();
    let cases = [
        ("/version", json!(2), "version: 2 found"),
        ("/prior/shared/factor/0", json!(-1.0), "a precision that is not positive"),
        ("/prior/shared/factor/0", json!(1e-200), "prior: a precision of"),
        ("/prior/shared/mean/1", json!(1e300), "prior.shared.mean[1]: 1e+300 found: expected at most 1e30"),
        ("/prior/intercepts/precisions/2", json!(1e-300), "prior: a precision of"),
        ("/prior/slopes/means/0", json!(-1e300), "prior.slopes.means[0]: -1e+300 found"),
        ("/prior/products/scale/user/0/0", json!(1e300), "prior.products.scale.user[0][0]: 1e+300 found"),
        ("/prior/products/item_features/3", json!(1e300), "prior.products.item_features[3]"),
        ("/users/0/features/0", json!(1e300), "users[0].features[0]: 1e+300 found"),
        ("/items/3", json!("a"), "items: a name is there twice"),
        ("/user_features", json!([]), "user_features: 0 found: expected 1"),
    ];
    for (pointer, value, message) in cases {
        let mut damaged = fit.clone();
        *damaged.pointer_mut(pointer).unwrap_or_else(|| panic!("{pointer}: {fit}")) = value;
        let error = read(&damaged).unwrap_err();
        assert!(error.starts_with("context.json") && error.contains(message), "{pointer}: {error}");
    }
    let fit = read(&fit).unwrap();
    let refused = |spec: &str, shape: ListShape| {
        let known = Cascade::knowledge(&shape.into());
        fit.policy(spec.parse().unwrap(), Protocol::Cascade, known).unwrap_err().to_string()
    };
    let other = refused("hybrid-ts", ListShape::new(5, 2).unwrap());
    assert!(other.contains('4') && other.contains('5'), "{other}");
    assert!(refused("hybrid-ts(interactions=false)", shape()).contains("interactions"));
    assert!(refused("cascade-ts", shape()).starts_with("`cascade-ts`: "));
}
