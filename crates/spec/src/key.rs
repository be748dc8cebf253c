//! The keys of files as data, for readers, help, starting points and a schema.
//!
//! The rows describe what a reader accepts. Tests read each row's example, and compare the names
//! with those that the reader asks for.

use documents::toml_reader::{inline, words};
use itertools::Itertools as _;
use serde::Serialize;
use serde_json::Value;

/// A key of a table.
#[derive(Debug, Clone, Copy)]
pub struct Key {
    /// Name.
    pub name: &'static str,
    /// Accepted values.
    pub kind: Kind,
    /// Whether the table needs it, unless another key [replaces](Self::replaces) it.
    pub required: bool,
    /// The keys whose place it takes; a table has these or this one.
    pub replaces: &'static [&'static str],
    /// Meaning, one sentence. For an optional key, it includes the default.
    pub meaning: &'static str,
    /// A value in TOML. The examples of the required keys together are a valid table.
    pub example: &'static str,
}

/// The accepted values of a key as a JSON Schema. Its title, if it has one, is their description
/// for readers.
pub type Kind = fn() -> Value;

impl Key {
    /// A required key.
    pub const fn required(
        name: &'static str,
        kind: Kind,
        meaning: &'static str,
        example: &'static str,
    ) -> Self {
        Self { name, kind, required: true, replaces: &[], meaning, example }
    }

    /// A key that may be absent.
    pub const fn optional(
        name: &'static str,
        kind: Kind,
        meaning: &'static str,
        example: &'static str,
    ) -> Self {
        Self { required: false, ..Self::required(name, kind, meaning, example) }
    }

    /// Whether it has a number for each item, position or the like.
    pub(crate) fn is_list(&self) -> bool {
        let kind = (self.kind)();
        kind["items"]["type"] == "number" && kind["minItems"] != kind["maxItems"]
    }

    /// The key that may take the place of others.
    pub(crate) const fn in_place_of(self, replaces: &'static [&'static str]) -> Self {
        Self { required: false, replaces, ..self }
    }

    /// The accepted values in words.
    pub fn words(&self) -> String {
        words(&(self.kind)())
    }

    /// The keys of the table that it accepts, required ones first; empty if it accepts none.
    pub fn inside(&self) -> Vec<KeyInside> {
        inside(&(self.kind)())
    }

    /// The names of keys and their meanings.
    pub const fn meanings<const N: usize>(keys: &[Self; N]) -> [(&'static str, &'static str); N] {
        let (mut pairs, mut index) = ([("", ""); N], 0);
        while index < N {
            pairs[index] = (keys[index].name, keys[index].meaning);
            index += 1;
        }
        pairs
    }
}

/// A key of a table that is the value of a key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct KeyInside {
    /// Name.
    pub name: String,
    /// Accepted values in words.
    pub values: String,
    /// Meaning, one sentence.
    pub meaning: String,
    /// A value in TOML.
    pub example: String,
}

/// The keys of a table by its schema, required ones first; empty for other values.
pub fn inside(kind: &Value) -> Vec<KeyInside> {
    let all = kind["anyOf"].as_array().map_or(std::slice::from_ref(kind), Vec::as_slice);
    let Some(table) = all.iter().find(|one| one["properties"].is_object()) else { return Vec::new() };
    let required = table["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let others = table["properties"].as_object().into_iter().flatten().map(|(name, _)| name.as_str());
    let of_schema = |name: &str| {
        let key = &table["properties"][name];
        KeyInside {
            name: name.to_owned(),
            values: words(key),
            meaning: key["description"].as_str().unwrap_or_default().to_owned(),
            example: inline(&key["examples"][0]),
        }
    };
    required.chain(others).unique().map(of_schema).collect()
}
