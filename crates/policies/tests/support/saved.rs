//! Damage to a saved state.

use serde_json::{Value, json};

/// Shows what is saved, damaged in every place in many ways.
pub(crate) fn for_each_damage(saved: &Value, mut show: impl FnMut(&Value)) {
    let mut damaged = saved.clone();
    for place in places(saved) {
        let there = saved.pointer(&place).expect("a place in it");
        for wrong in wrong_values(there) {
            *damaged.pointer_mut(&place).expect("a place in it") = wrong;
            show(&damaged);
        }
        *damaged.pointer_mut(&place).expect("a place in it") = there.clone();
    }
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

/// The possible replacements.
fn wrong_values(there: &Value) -> Vec<Value> {
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
    match there {
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
    values
}
