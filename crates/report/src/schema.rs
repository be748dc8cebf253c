//! JSON Schema of the files of a paper's experiment, `experiment.toml` and `claims.toml`, for editors. The kinds of figures and of tests
//! come from their tables, the keys of a simulation from `experiment::schema`.

mod claims;
mod experiment;

pub use self::claims::claims;
pub use self::experiment::experiment;

use ::experiment::result::Quantity;
use ::experiment::schema::{choice, described, entries, integer, object_of, with};
use ::experiment::spec::HORIZONS;
use serde_json::{Map, Value, json};

/// The keys of a figure or of a claim's test, besides `kind`.
pub(crate) struct Keys {
    properties: Vec<(&'static str, Value)>,
    required: Vec<&'static str>,
    /// What the keys say of each other.
    relations: Vec<Value>,
}

impl Keys {
    /// No keys.
    pub(crate) fn none() -> Self {
        Self { properties: Vec::new(), required: Vec::new(), relations: Vec::new() }
    }

    /// Keys that have to be there.
    pub(crate) fn required(keys: impl IntoIterator<Item = (&'static str, Value)>) -> Self {
        let properties: Vec<_> = keys.into_iter().collect();
        let required = properties.iter().map(|(key, _)| *key).collect();
        Self { properties, required, relations: Vec::new() }
    }

    /// Adds keys that may be absent.
    pub(crate) fn optional(mut self, keys: impl IntoIterator<Item = (&'static str, Value)>) -> Self {
        self.properties.extend(keys);
        self
    }

    /// Adds what the keys say of each other.
    pub(crate) fn with(mut self, relation: Value) -> Self {
        self.relations.push(relation);
        self
    }

    /// Adds `least` and `most`, of which at least one is there.
    pub(crate) fn with_limits(self) -> Self {
        self.optional([("least", above_0()), ("most", above_0())])
            .with(json!({ "anyOf": [{ "required": ["least"] }, { "required": ["most"] }] }))
    }

    /// What the kind of this name says of the table that it is in. `shared` are the keys of every kind.
    fn condition(self, kind: &str, shared: &[&str]) -> Value {
        let mut keys: Vec<_> = shared.iter().chain(&["kind"]).map(|key| (*key, Value::Bool(true))).collect();
        keys.extend(self.properties);
        let mut then = object_of(keys, &self.required);
        if !self.relations.is_empty() {
            with(&mut then, &json!({ "allOf": self.relations }));
        }
        json!({ "if": { "properties": { "kind": { "const": kind } }, "required": ["kind"] }, "then": then })
    }
}

/// The keys of these kinds, for editors that do not look into conditions.
fn keys_of_all(kinds: impl IntoIterator<Item = Keys>) -> Map<String, Value> {
    let keys = kinds.into_iter().flat_map(|kind| kind.properties);
    entries(keys.map(|(key, _)| (key, Value::Bool(true))).collect::<Vec<_>>())
}

/// Any text.
pub(crate) fn any_text() -> Value {
    json!({ "type": "string" })
}

/// The names of several series, at least this number.
pub(crate) fn series(least: u64) -> Value {
    let name = "Labels of policies; in a panel with variants VARIANT/POLICY.";
    json!({ "type": "array", "minItems": least, "uniqueItems": true, "items": any_text(), "description": name })
}

/// The label of a policy.
pub(crate) fn label() -> Value {
    described(&any_text(), "The label of a policy.")
}

/// A checkpoint.
pub(crate) fn round() -> Value {
    described(&integer(&HORIZONS), "A checkpoint.")
}

/// Two checkpoints.
pub(crate) fn slope() -> Value {
    json!({ "type": "array", "minItems": 2, "maxItems": 2, "items": round(), "description": "Two checkpoints, [t1, t2]." })
}

/// The factor of the higher of two values.
pub(crate) fn factor() -> Value {
    json!({ "type": "number", "exclusiveMinimum": 0, "maximum": 1e6, "default": 1 })
}

/// A number above 0.
pub(crate) fn above_0() -> Value {
    json!({ "type": "number", "exclusiveMinimum": 0, "maximum": f64::MAX })
}

/// A number above 0 and below 1.
pub(crate) fn inside_unit() -> Value {
    json!({ "type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1 })
}

/// The power of a size in a fitted curve.
pub(crate) fn power() -> Value {
    json!({ "type": "number", "minimum": -10, "maximum": 10, "not": { "const": 0 }, "default": 1 })
}

/// A value of whole runs.
pub(crate) fn quantity() -> Value {
    let names = Quantity::ALL.map(Quantity::name).into_iter().chain(["regret", "accuracy"]);
    described(
        &choice(&names.map(|name| (name, "")).collect::<Vec<_>>()),
        "The value of whole runs; by default the main one of the task.",
    )
}

/// A scale of an axis.
pub(crate) fn scale() -> Value {
    choice(&crate::figure::SCALES.map(|(name, _)| (name, "")))
}

/// One of these names.
pub(crate) fn names<T: Copy, const N: usize>(known: [(&'static str, T); N]) -> Value {
    choice(&known.map(|(name, _)| (name, "")))
}

/// The keys of figures over rounds, besides `band` and the scales.
pub(crate) fn rounds() -> [(&'static str, Value); 4] {
    [
        ("scale", scale()),
        ("from", described(&integer(&HORIZONS), "The first round that is shown.")),
        ("references", json!({ "type": "boolean", "default": true })),
        ("variant", described(&any_text(), "The only variant that is shown.")),
    ]
}

/// A web address.
fn link() -> Value {
    json!({ "type": "string", "pattern": "^https?://", "format": "uri" })
}

#[cfg(test)]
pub(crate) mod tests;
