//! Schemas of single values.

use click_models::ListShape;
use documents::names::MAX_TITLE;
use documents::toml_reader::words;
use serde_json::{Map, Value, json};
use std::ops::RangeInclusive;

/// An integer in a range. JSON has one kind of numbers, so a schema cannot refuse `1e5`.
pub fn integer(range: &RangeInclusive<u64>) -> Value {
    let mut schema = json!({ "type": "integer", "minimum": range.start() });
    if *range.end() < u64::MAX {
        with(&mut schema, &json!({ "maximum": range.end() }));
    }
    schema
}

/// A probability.
pub fn probability() -> Value {
    json!({ "type": "number", "minimum": 0, "maximum": 1 })
}

/// A number in a range.
pub fn number(least: u64, most: u64) -> Value {
    json!({ "type": "number", "minimum": least, "maximum": most as f64 })
}

/// Numbers, one for each of these, such as `item` or `position`.
pub fn list(entry: &Value, each: &str) -> Value {
    let lengths = if each == "position" { OF_POSITIONS } else { 1..=u64::MAX };
    let numbers = words(entry).replacen("a number", "numbers", 1);
    titled(array(entry, lengths), &format!("{numbers}, one for each {each}"))
}

const OF_POSITIONS: RangeInclusive<u64> = 1..=ListShape::MAX_POSITIONS as u64;

/// A matrix of probabilities. Two items at least can be compared.
pub fn square() -> Value {
    let rows = array(&array(&probability(), 2..=u64::MAX), 2..=u64::MAX);
    titled(rows, "rows of probabilities, as many as columns")
}

/// Rows of probabilities: one in the first, and one more in each further row.
pub fn triangle() -> Value {
    let rows = array(&array(&probability(), OF_POSITIONS), OF_POSITIONS);
    titled(rows, "rows of probabilities, each one longer than before")
}

/// Indices of items, each once.
pub fn items() -> Value {
    let mut schema = array(&integer(&(0..=u64::MAX)), 2..=u64::MAX);
    with(&mut schema, &json!({ "uniqueItems": true }));
    titled(schema, "indices of items, from 0")
}

/// The name of a file.
pub fn file() -> Value {
    titled(text(), "the name of a file, from the folder of the spec")
}

/// A value of one of these schemas.
pub fn either(all: &[Value; 2]) -> Value {
    json!({ "anyOf": all })
}

/// A value that the schema of experiments defines under a name.
pub fn defined(definition: &str, words: &str) -> Value {
    titled(reference(definition), words)
}

/// A schema with a description of the values for readers.
pub fn titled(mut schema: Value, words: &str) -> Value {
    with(&mut schema, &json!({ "title": words }));
    schema
}

/// Accepts one of these names.
pub fn names(names: &[&str]) -> Value {
    choice(&names.iter().map(|name| (*name, "")).collect::<Vec<_>>())
}

/// A finite number above a limit, and below another one if there is one.
pub fn above(limit: i64, below: Option<f64>) -> Value {
    let mut schema = json!({ "type": "number", "exclusiveMinimum": limit });
    let end = match below {
        Some(below) => json!({ "exclusiveMaximum": below }),
        // `1e400` is infinite.
        None => json!({ "maximum": f64::MAX }),
    };
    with(&mut schema, &end);
    schema
}

/// A text that is not empty.
pub fn text() -> Value {
    json!({ "type": "string", "minLength": 1 })
}

/// A name for readers: one line without characters that cannot be seen. Joiners between other
/// letters than those of ASCII are allowed, since their effect can be seen.
pub(super) fn title() -> Value {
    let unseen = "\\u0000-\\u001f\\u007f-\\u009f\\u061c\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u2069\\ufeff";
    let joiner = "(?<=[^\\u0000-\\u007f])[\\u200c\\u200d](?=[^\\u0000-\\u007f])";
    json!({
        "type": "string",
        "minLength": 1,
        "maxLength": MAX_TITLE,
        "pattern": format!("^(?!\\s)(?:[^{unseen}]|{joiner})*$(?<!\\s)"),
    })
}

/// Accepts one of these names. Each may have a meaning, which some editors show beside it.
pub fn choice(names: &[(&str, &str)]) -> Value {
    let (names, meanings): (Vec<&str>, Vec<&str>) = names.iter().copied().unzip();
    let mut schema = json!({ "type": "string", "enum": names });
    if meanings.iter().any(|meaning| !meaning.is_empty()) {
        // VS Code reads `enumDescriptions`, the server of the TOML extensions `x-taplo`.
        with(
            &mut schema,
            &json!({ "enumDescriptions": meanings, "x-taplo": { "docs": { "enumValues": meanings } } }),
        );
    }
    schema
}

/// An array with a number of entries in a range.
pub fn array(entry: &Value, lengths: RangeInclusive<u64>) -> Value {
    let mut schema = json!({ "type": "array", "minItems": lengths.start(), "items": entry });
    if *lengths.end() < u64::MAX {
        with(&mut schema, &json!({ "maxItems": lengths.end() }));
    }
    schema
}

/// Keys with their schemas.
pub fn entries<'a>(keys: impl Into<Vec<(&'a str, Value)>>) -> Map<String, Value> {
    // Not `collect`, which is compiled, with a sort, for every number of keys.
    let mut entries = Map::new();
    for (key, schema) in keys.into() {
        entries.insert(key.to_owned(), schema);
    }
    entries
}

/// A table with these keys and no others.
pub fn object_of<'a>(keys: impl Into<Vec<(&'a str, Value)>>, required: &[&str]) -> Value {
    object(entries(keys), required)
}

/// A table with these keys and no others.
pub fn object(properties: Map<String, Value>, required: &[&str]) -> Value {
    let mut schema = json!({ "type": "object", "properties": {}, "additionalProperties": false });
    schema["properties"] = Value::Object(properties);
    if !required.is_empty() {
        with(&mut schema, &json!({ "required": required }));
    }
    schema
}

/// A definition of the schema.
pub fn reference(definition: &str) -> Value {
    json!({ "$ref": format!("#/$defs/{definition}") })
}

/// A schema that refuses every value.
pub fn refuse(reason: &str) -> Value {
    json!({ "not": {}, "description": reason })
}

/// A schema with a description.
pub fn described(schema: &Value, words: &str) -> Value {
    let mut schema = schema.clone();
    with(&mut schema, &json!({ "description": words }));
    schema
}

/// Adds what a key of one owner, such as a model, means to the description of the keys of its name.
pub(super) fn describe(properties: &mut Map<String, Value>, key: &str, owner: &str, meaning: &str) {
    let words = format!("Of {owner}: {meaning}");
    let entry = properties.entry(key).or_insert_with(|| json!({}));
    let before = entry["description"].as_str().map(|before| format!("{before}\n\n")).unwrap_or_default();
    *entry = json!({ "description": before + &words });
}

/// Adds the entries of an object to another one.
pub fn with(schema: &mut Value, more: &Value) {
    if let (Value::Object(schema), Value::Object(more)) = (schema, more) {
        for (key, value) in more {
            schema.insert(key.clone(), value.clone());
        }
    }
}
