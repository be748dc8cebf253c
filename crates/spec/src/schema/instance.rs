//! The schema of an instance's table, from the keys of the models.

use super::key::{of_keys, properties};
use super::value::{describe, entries, object, with};
use crate::experiment::keys::OF_INSTANCE;
use crate::models::{MODELS, Model};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The schema of an instance's table. The model decides which other keys it has. `needs_model`:
/// whether the table has to name it; otherwise a panel may.
pub fn instance(needs_model: bool) -> Value {
    // Editors that ignore conditions complete these keys; the conditions give their values.
    let mut properties = properties(&OF_INSTANCE);
    for model in MODELS {
        for key in model.keys {
            describe(&mut properties, key.name, model.name, key.meaning);
        }
    }
    let mut schema = json!({
        "type": "object",
        "properties": properties,
        "allOf": MODELS.map(of_model),
    });
    if needs_model {
        with(&mut schema, &json!({ "required": ["model"] }));
    } else {
        with(&mut schema, &json!({ "if": { "not": { "required": ["model"] } }, "then": of_any_model() }));
    }
    schema
}

/// A table that does not name its model: every key has a value that some model accepts.
fn of_any_model() -> Value {
    let mut kinds: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
    for key in MODELS.iter().flat_map(|model| model.keys) {
        let (kinds, kind) = (kinds.entry(key.name).or_default(), (key.kind)());
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    let one_of = |mut kinds: Vec<Value>| match (kinds.pop(), kinds.is_empty()) {
        (Some(kind), true) => kind,
        (last, _) => json!({ "anyOf": kinds.into_iter().chain(last).collect::<Vec<_>>() }),
    };
    let mut properties =
        entries(kinds.into_iter().map(|(key, kinds)| (key, one_of(kinds))).collect::<Vec<_>>());
    properties.insert("name".to_owned(), Value::Bool(true));
    object(properties, &[])
}

/// Conditions on the other keys by the name of a model.
fn of_model(model: &Model) -> Value {
    let mut then = of_keys(model.keys);
    with(&mut then["properties"], &json!({ "model": true, "name": true }));
    json!({ "if": { "properties": { "model": { "const": model.name } }, "required": ["model"] }, "then": then })
}
