//! Schemas of keys, from their rows.

use super::value::{
    array, choice, described, entries, integer, object, probability, reference, refuse, text, with,
};
use crate::key::{Key, KeyKind, Length, Shape};
use click_models::ListShape;
use documents::toml_reader::Source;
use itertools::Itertools as _;
use serde_json::{Map, Value, json};

/// A table with these keys and no others.
pub fn table(keys: &[Key]) -> Value {
    object(properties(keys), &keys.iter().filter(|key| key.required).map(|key| key.name).collect_vec())
}

/// Keys with their schemas and meanings.
pub(super) fn properties(keys: &[Key]) -> Map<String, Value> {
    entries(keys.iter().map(|key| (key.name, described(&of_kind(key.kind), key.meaning))).collect_vec())
}

/// A table with the keys of an instance, with their examples, and no others.
pub(super) fn of_keys(keys: &[Key]) -> Value {
    let properties = entries(keys.iter().map(|key| (key.name, of_key(key))).collect::<Vec<_>>());
    let is_replaced = |key: &Key| keys.iter().any(|other| other.replaces.contains(&key.name));
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
    let mut schema = described(&of_kind(key.kind), key.meaning);
    if let KeyKind::Choice([first, ..]) = key.kind {
        with(&mut schema, &json!({ "default": first }));
    }
    if let Some(example) = example(key) {
        with(&mut schema, &json!({ "examples": [example] }));
    }
    schema
}

pub(super) fn of_kind(kind: KeyKind) -> Value {
    match kind {
        KeyKind::Probabilities(length) => array(&probability(), lengths(length)),
        KeyKind::Numbers { length, least, most } => {
            array(&json!({ "type": "number", "minimum": least, "maximum": most }), lengths(length))
        }
        KeyKind::Probability => probability(),
        KeyKind::Count { least, most } => integer(&(least..=most)),
        KeyKind::Number { least, most } => {
            json!({ "type": "number", "minimum": least, "maximum": most as f64 })
        }
        KeyKind::Named(names) => choice(&names()),
        KeyKind::Texts => {
            json!({ "type": "array", "minItems": 1, "uniqueItems": true, "items": { "type": "string" } })
        }
        KeyKind::Choice(names) => choice(&names.iter().map(|name| (*name, "")).collect::<Vec<_>>()),
        // Two items at least can be compared.
        KeyKind::Matrix(Shape::Square) => array(&array(&probability(), 2..=u64::MAX), 2..=u64::MAX),
        KeyKind::Matrix(Shape::Triangle) => array(&array(&probability(), of_positions()), of_positions()),
        KeyKind::Items => {
            let mut schema = array(&integer(&(0..=u64::MAX)), 2..=u64::MAX);
            with(&mut schema, &json!({ "uniqueItems": true }));
            schema
        }
        KeyKind::File | KeyKind::Text => text(),
        KeyKind::Table(keys) => of_keys(keys),
        KeyKind::Of(schema) => schema(),
        KeyKind::Either(kinds) => {
            json!({ "anyOf": kinds.iter().map(|kind| of_kind(*kind)).collect::<Vec<_>>() })
        }
        KeyKind::Defined { definition, .. } => reference(definition),
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
fn example(key: &Key) -> Option<Value> {
    let source = Source::from_text("", format!("x = {}", key.example)).ok()?;
    source.parse().ok()?.to_json().get("x").cloned()
}
