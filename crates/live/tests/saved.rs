//! Saved states: the same choices afterwards, and damage that is refused.

use click_models::{Cascade, ListShape};
use live::{Among, Handle, Live, Settings};
use policies::PrefixTs;
use rand::{RngExt as _, SeedableRng, rngs::ChaCha8Rng};
use serde_json::{Value, json};

type Cascading = Live<Cascade, PrefixTs>;

fn used() -> Cascading {
    let settings = Settings { window: Some(3), keep_open: 8, ..Settings::default() };
    let mut live = Cascading::new(PrefixTs::new(ListShape::new(5, 3).unwrap()), settings).unwrap();
    let items: Vec<Handle> = live.items().collect();
    let rng = &mut ChaCha8Rng::seed_from_u64(1);
    for id in 0..30_u64 {
        live.decide(&id, Among::All, rng);
        _ = live.click(&id, rng.random_range(0..4));
        _ = live.close(&(id / 2), None);
    }
    assert!(live.retire(items[0]) && live.retire(items[1]) && live.forget(items[0]));
    live
}

#[test]
fn a_restored_policy_makes_the_same_choices() {
    let mut live = used();
    let mut restored: Cascading = serde_json::from_slice(&serde_json::to_vec(&live).unwrap()).unwrap();
    let rngs = &mut [(); 2].map(|()| ChaCha8Rng::seed_from_u64(2));
    for id in 25..2_000_u64 {
        let [one, other] = rngs;
        let list = live.decide(&id, Among::All, one).to_vec();
        assert_eq!(list, restored.decide(&id, Among::All, other));
        let late = id - 3;
        for position in [1, 0].into_iter().take((id % 3) as usize) {
            assert_eq!(live.click(&late, position), restored.click(&late, position));
        }
        assert_eq!(live.close(&late, None), restored.close(&late, None));
        if id % 100 == 0 {
            assert_eq!(live.add_item(), restored.add_item());
            assert_eq!(live.retire(list[0]), restored.retire(list[0]));
        }
    }
}

/// The error of a state after a change.
fn refused(change: impl FnOnce(&mut Value)) -> String {
    let mut saved = serde_json::to_value(used()).unwrap();
    change(&mut saved);
    serde_json::from_value::<Cascading>(saved).unwrap_err().to_string()
}

#[test]
fn damaged_states_are_refused_by_the_part_at_fault() {
    let items = "the items contradict";
    assert!(refused(|saved| saved["items"]["states"][2] = json!("free")).contains(items));
    assert!(refused(|saved| saved["items"]["free"] = json!([0, 0])).contains(items));
    assert!(refused(|saved| saved["items"]["free"] = json!([4_000_000_000_u32])).contains(items));
    assert!(refused(|saved| saved["items"]["generations"] = json!([1, 2])).contains(items));
    assert!(refused(|saved| saved["items"]["retirements"] = json!(0)).contains(items));
    let window = "a window does not belong";
    assert!(refused(|saved| saved["windows"] = Value::Null).contains(window));
    assert!(refused(|saved| saved["windows"]["most"] = json!(1_u64 << 60)).contains(window));
    assert!(refused(|saved| saved["windows"]["rings"][2]["seen"] = json!([1, 1, 1, 1])).contains(window));
    assert!(refused(|saved| saved["windows"]["rings"][2]["seen"][0] = json!(255)).contains(window));
    assert!(refused(|saved| saved["windows"]["rings"][2]["standing"] = json!(90)).contains(window));
    let decision = "an open decision contradicts";
    assert!(refused(|saved| saved["open"][0][1]["counted"] = json!(1_u64 << 63)).contains(decision));
    assert!(refused(|saved| saved["open"][0][1]["as_clicks"] = json!(7)).contains(decision));
    assert!(refused(|saved| saved["open"][0][1]["end"] = json!(65)).contains(decision));
    assert!(refused(|saved| saved["open"][0][1]["numbers"] = json!([])).contains(decision));
    assert!(refused(|saved| saved["open"][0][1]["list"][0]["slot"] = json!(900)).contains(decision));
    assert!(refused(|saved| saved["open"][0][0] = saved["open"][1][0].clone()).contains(decision));
    assert!(refused(|saved| saved["settings"]["keep_open"] = json!(1)).contains(decision));
    assert!(refused(|saved| saved["settings"]["explore"] = json!(2.0)).contains("a setting is invalid"));
    let of_policy = refused(|saved| saved["policy"]["counts"]["shows"] = json!([1]));
    assert!(of_policy.contains("only 1 item"), "{of_policy}");
}
