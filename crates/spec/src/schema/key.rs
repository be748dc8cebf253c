//! Schemas of tables from the rows of their keys.

use super::value::{entries, object, refuse, with};
use crate::key::Key;
use documents::toml_reader::Source;
use itertools::Itertools as _;
use serde_json::{Map, Value, json};

/// Keys with their schemas, meanings and examples.
pub(super) fn properties(keys: &[Key]) -> Map<String, Value> {
    entries(keys.iter().map(|key| (key.name, of_key(key))).collect_vec())
}

/// A table with these keys and no others.
pub fn of_keys(keys: &[Key]) -> Value {
    let is_replaced = |key: &Key| keys.iter().any(|other| other.replaces.contains(&key.name));
    let required: Vec<&str> =
        keys.iter().filter(|key| key.required && !is_replaced(key)).map(|key| key.name).collect();
    let mut schema = object(properties(keys), &required);
    let alternatives = alternatives(keys);
    if !alternatives.is_empty() {
        with(&mut schema, &json!({ "allOf": alternatives }));
    }
    schema
}

/// Keys of which an instance has one or the other.
fn alternatives(keys: &[Key]) -> Vec<Value> {
    let replaced = keys.iter().map(|key| key.replaces).filter(|replaced| !replaced.is_empty()).unique();
    let of_group = |group: &[&str]| {
        let replacing: Vec<&str> =
            keys.iter().filter(|key| key.replaces == group).map(|key| key.name).collect();
        // From the last to the first: with this key none of the others, without it the next one.
        replacing.iter().rfold(json!({ "required": group }), |otherwise, key| {
            let fault = refuse(&format!("`{key}` is given already: expected one or the other"));
            let others = group.iter().chain(&replacing).filter(|other| *other != key);
            let refused = entries(others.map(|other| (*other, fault.clone())).collect::<Vec<_>>());
            json!({ "if": { "required": [key] }, "then": { "properties": refused }, "else": otherwise })
        })
    };
    replaced.map(of_group).collect()
}

fn of_key(key: &Key) -> Value {
    let mut schema = key.schema();
    let source = Source::from_text("", format!("x = {}", key.example));
    if let Ok(document) = source.as_ref().map_err(Clone::clone).and_then(Source::parse) {
        with(&mut schema, &json!({ "examples": [document.to_json()["x"]] }));
    }
    schema
}
