//! Saved states: whether a restored policy goes on as the original, and what damage may do to one.

use policies::{Decision, Select};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use std::fmt::Debug;

/// Saves and restores `policy` after some rounds of `play` (with random numbers for the policy and for its users): the two make the same
/// decisions for 1,000 rounds and end in the same state, which `same` may ask more about.
pub(crate) fn assert_goes_on_restored<A, P>(
    name: &str,
    mut policy: P,
    mut play: impl FnMut(&mut P, &mut Decision<A, P::Note>, &mut Xoshiro256PlusPlus, &mut Xoshiro256PlusPlus),
    same: impl Fn(&P, &P),
) where
    A: Default + Serialize,
    P: Select<A, Note: Serialize> + Clone + Debug + Serialize + DeserializeOwned,
{
    let text = |policy: &P| serde_json::to_string(policy).expect("a policy can be saved");
    let [mut rng, mut users] = [1, 2].map(Xoshiro256PlusPlus::seed_from_u64);
    let mut decision = Decision::default();
    let mut played = 0;
    for start in [0, 1, 3, 20, 300, 5000] {
        while played < start {
            play(&mut policy, &mut decision, &mut rng, &mut users);
            played += 1;
        }
        let saved = text(&policy);
        let restored: P = serde_json::from_str(&saved).expect("a saved policy can be restored");
        assert_eq!(text(&restored), saved, "{name}");
        let mut both = [policy.clone(), restored].map(|policy| (policy, rng.clone(), users.clone()));
        for later in 0..1000 {
            let decisions = both.each_mut().map(|(policy, rng, users)| {
                let mut decision = Decision::default();
                play(policy, &mut decision, rng, users);
                serde_json::to_string(&decision).expect("a decision can be saved")
            });
            assert_eq!(decisions[0], decisions[1], "{name}, {later} rounds after {start}");
        }
        let [(original, rng, _), (restored, other_rng, _)] = &both;
        assert_eq!(rng, other_rng, "{name} took other draws");
        assert_eq!(text(original), text(restored), "{name}");
        same(original, restored);
    }
}

/// What is saved, damaged in every place in many ways.
pub(crate) fn damages(saved: &Value) -> Vec<Value> {
    places(saved).iter().flat_map(|place| damages_at(saved, place)).collect()
}

/// Paths of all values.
fn places(value: &Value) -> Vec<String> {
    let below = |key: &str, value: &Value| -> Vec<String> {
        let key = key.replace('~', "~0").replace('/', "~1");
        places(value).into_iter().map(|rest| format!("/{key}{rest}")).collect()
    };
    let mut found = vec![String::new()];
    match value {
        Value::Object(fields) => found.extend(fields.iter().flat_map(|(key, value)| below(key, value))),
        // The ends, and one that is not on a diagonal, are enough.
        Value::Array(values) => {
            let last = values.len().saturating_sub(1);
            let chosen = values.iter().enumerate().filter(|(index, _)| *index <= 1 || *index == last);
            found.extend(chosen.flat_map(|(index, value)| below(&index.to_string(), value)));
        }
        _ => {}
    }
    found
}

fn damages_at(saved: &Value, place: &str) -> Vec<Value> {
    let mut values = vec![
        json!(null),
        json!(-1),
        json!(0),
        json!(1),
        json!(0.5),
        json!(1.5),
        json!(1e300),
        json!(1_u64 << 40),
        json!(1_u64 << 50),
        json!(u64::MAX),
        json!("x"),
        json!([]),
        json!({}),
    ];
    match saved.pointer(place).expect("a place in it") {
        Value::Array(there) => {
            values.push(Value::Array(there[..there.len().saturating_sub(1)].to_vec()));
            values.push(Value::Array([&there[..], &there[..1.min(there.len())]].concat()));
            values.push(Value::Array([&there[..], &there[..]].concat()));
            values.push(Value::Array(there.iter().rev().cloned().collect()));
        }
        Value::Object(fields) => {
            for key in fields.keys() {
                let mut fewer = fields.clone();
                fewer.remove(key);
                values.push(Value::Object(fewer));
            }
        }
        _ => {}
    }
    let put = |value: Value| {
        let mut copy = saved.clone();
        *copy.pointer_mut(place).expect("a place in it") = value;
        copy
    };
    values.into_iter().map(put).collect()
}
