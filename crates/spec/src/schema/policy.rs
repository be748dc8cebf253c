//! The schema of a policy's table, from the rows of the catalogue.

use super::key::properties;
use super::value::{describe, described, entries, names, with};
use crate::experiment::keys::OF_POLICY;
use crate::experiment::{accepts, readable_as};
use crate::models::{ALSO_EXAMINATION, KAPPA};
use click_models::ListShape;
use itertools::Itertools as _;
use policies::catalogue::{Kind, ListPolicy, ParameterRow, Row, rows};
use serde_json::{Value, json};

/// The schema of a policy's table. The policy's name decides which other keys it may have.
pub fn policy() -> Value {
    // Editors that ignore conditions complete these keys; the conditions give their values.
    let mut properties = properties(&OF_POLICY);
    for row in rows() {
        for parameter in row.parameters {
            describe(&mut properties, parameter.name, row.name, parameter.meaning);
        }
    }
    json!({
        "type": "object",
        "properties": properties,
        "required": ["policy"],
        "not": { "required": [KAPPA.name, ALSO_EXAMINATION.name] },
        "allOf": rows().iter().map(of_row).collect::<Vec<_>>(),
    })
}

/// Conditions on the other keys by the name of a policy.
fn of_row(row: &Row) -> Value {
    let spec = row.spec();
    let defaults = spec.parameters();
    let own = OF_POLICY.iter().filter(|key| accepts(&spec, key.name));
    let mut properties = entries(own.map(|key| (key.name, Value::Bool(true))).collect_vec());
    if let Some(read_as) = properties.get_mut("read-as") {
        *read_as = json!({ "enum": readable_as(&spec) });
    }
    for parameter in row.parameters {
        properties.insert(parameter.name.to_owned(), of_parameter(parameter, defaults.get(parameter.name)));
    }
    let mut then = json!({ "properties": properties, "additionalProperties": false });
    if accepts(&spec, "lists") {
        with(&mut then, &json!({ "required": ["lists"] }));
    }
    if accepts(&spec, "prior") {
        // A fitted prior has a file, and no other one has.
        let is_fitted = json!({ "properties": { "prior": { "const": "fitted" } }, "required": ["prior"] });
        let no_file = json!({ "not": { "required": ["prior_file"] } });
        let mut fitted = json!({ "required": ["prior_file"] });
        if accepts(&spec, "sees") {
            // It is of all that the log tells.
            with(&mut fitted, &json!({ "properties": { "sees": { "minItems": 3 } } }));
        }
        with(&mut then, &json!({ "if": is_fitted, "then": fitted, "else": no_file }));
    }
    if accepts(&spec, "told") {
        with(&mut then, &json!({ "not": { "required": ["told", "gamma"] } }));
    }
    json!({ "if": { "properties": { "policy": { "const": row.name } }, "required": ["policy"] }, "then": then })
}

fn of_parameter(parameter: &ParameterRow, default: Option<&Value>) -> Value {
    let mut schema = match parameter.kind {
        Kind::Number(range) => {
            let (least, most) = if range.is_closed {
                ("minimum", "maximum")
            } else {
                ("exclusiveMinimum", "exclusiveMaximum")
            };
            let mut schema = json!({ "type": "number", least: range.from });
            let end = match range.to {
                Some(to) => json!({ most: to }),
                // `1e400` is infinite.
                None => json!({ "maximum": f64::MAX }),
            };
            with(&mut schema, &end);
            schema
        }
        Kind::Position => json!({ "type": "integer", "minimum": 0, "maximum": ListShape::MAX_POSITIONS - 1 }),
        Kind::Count => json!({ "type": "integer", "minimum": 1, "maximum": u32::MAX }),
        Kind::Flag => json!({ "type": "boolean" }),
        Kind::ListPolicy => names(&ListPolicy::names().collect::<Vec<_>>()),
        Kind::Choice(known) => names(known),
        _ => json!({}),
    };
    if let Some(default) = default {
        with(&mut schema, &json!({ "default": default }));
    }
    described(&schema, parameter.meaning)
}
