//! The schema of an instance's table, from the keys of the models.

use super::value::{
    array, choice, described, entries, integer, object, probability, reference, refuse, text, with,
};
use crate::models::{KeyKind, Length, MODELS, Model, ModelKey, Shape};
use click_models::ListShape;
use documents::toml_reader::Source;
use itertools::Itertools as _;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// The schema of an instance's table. The model decides which other keys it has. `needs_model`:
/// whether the table has to name it; otherwise a panel may.
pub fn instance(needs_model: bool) -> Value {
    // Editors that ignore conditions complete these keys; the conditions give their values.
    let mut properties = common();
    for model in MODELS {
        for key in model.keys {
            let words = format!("Of {}: {}", model.name, key.meaning);
            let entry = properties.entry(key.name).or_insert_with(|| json!({ "description": "" }));
            let before = entry["description"].as_str().unwrap_or_default();
            let lines = if before.is_empty() { words } else { format!("{before}\n\n{words}") };
            *entry = json!({ "description": lines });
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
        let (kinds, kind) = (kinds.entry(key.name).or_default(), of_kind(key.kind));
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

/// The keys that do not depend on the model.
fn common() -> Map<String, Value> {
    let keys = [
        (
            "model",
            described(
                &choice(&MODELS.map(|model| (model.name, model.sentence))),
                "The click model of the users.",
            ),
        ),
        ("name", described(&reference("title"), "The name of the instance for readers; unique.")),
    ];
    entries(keys)
}

/// Conditions on the other keys by the name of a model.
fn of_model(model: &Model) -> Value {
    let mut then = of_keys(model.keys);
    with(&mut then["properties"], &json!({ "model": true, "name": true }));
    json!({ "if": { "properties": { "model": { "const": model.name } }, "required": ["model"] }, "then": then })
}

/// A table with these keys and no others.
fn of_keys(keys: &[ModelKey]) -> Value {
    let properties = entries(keys.iter().map(|key| (key.name, of_key(key))).collect::<Vec<_>>());
    let is_replaced = |key: &ModelKey| keys.iter().any(|other| other.replaces.contains(&key.name));
    let required: Vec<&str> =
        keys.iter().filter(|key| key.required && !is_replaced(key)).map(|key| key.name).collect();
    let mut schema = object(properties, &required);
    let alternatives = alternatives(keys);
    if !alternatives.is_empty() {
        with(&mut schema, &json!({ "allOf": alternatives }));
    }
    schema
}

/// Keys of which an instance has one or the other.
fn alternatives(keys: &[ModelKey]) -> Vec<Value> {
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

fn of_key(key: &ModelKey) -> Value {
    let mut schema = described(&of_kind(key.kind), key.meaning);
    if let KeyKind::Choice([first, ..]) = key.kind {
        with(&mut schema, &json!({ "default": first }));
    }
    if let Some(example) = example(key) {
        with(&mut schema, &json!({ "examples": [example] }));
    }
    schema
}

fn of_kind(kind: KeyKind) -> Value {
    match kind {
        KeyKind::Probabilities(length) => array(&probability(), lengths(length)),
        KeyKind::Numbers { length, least, most } => {
            array(&json!({ "type": "number", "minimum": least, "maximum": most }), lengths(length))
        }
        KeyKind::Probability => probability(),
        KeyKind::Count { least, most } => integer(&(least..=most)),
        KeyKind::Choice(names) => choice(&names.iter().map(|name| (*name, "")).collect::<Vec<_>>()),
        // Two items at least can be compared.
        KeyKind::Matrix(Shape::Square) => array(&array(&probability(), 2..=u64::MAX), 2..=u64::MAX),
        KeyKind::Matrix(Shape::Triangle) => array(&array(&probability(), of_positions()), of_positions()),
        KeyKind::Items => {
            let mut schema = array(&integer(&(0..=u64::MAX)), 2..=u64::MAX);
            with(&mut schema, &json!({ "uniqueItems": true }));
            schema
        }
        KeyKind::File => text(),
        KeyKind::Table(keys) => of_keys(keys),
        KeyKind::Either(kinds) => {
            json!({ "anyOf": kinds.iter().map(|kind| of_kind(*kind)).collect::<Vec<_>>() })
        }
    }
}

/// The numbers of entries of an array.
fn lengths(length: Length) -> std::ops::RangeInclusive<u64> {
    match length {
        Length::OneForEach("position") => of_positions(),
        Length::OneForEach(_) => 1..=u64::MAX,
        Length::Exactly(n) => n as u64..=n as u64,
    }
}

fn of_positions() -> std::ops::RangeInclusive<u64> {
    1..=ListShape::MAX_POSITIONS as u64
}

/// A key's example as JSON.
fn example(key: &ModelKey) -> Option<Value> {
    let source = Source::from_text("", format!("x = {}", key.example)).ok()?;
    source.parse().ok()?.to_json().get("x").cloned()
}
