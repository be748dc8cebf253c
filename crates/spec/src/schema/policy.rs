//! The schema of a policy's table, from the rows of the catalogue.

use super::value::{array, choice, described, entries, probability, reference, text, with};
use crate::experiment::{assumes_examination, has_prior};
use crate::models::MODELS;
use click_models::ListShape;
use policies::catalogue::{Kind, ParameterRow, PolicySpec, Protocol, Row, rows};
use serde_json::{Map, Value, json};

/// The schema of a policy's table. The policy's name decides which other keys it may have.
pub fn policy() -> Value {
    // Editors that ignore conditions complete these keys; the conditions give their values.
    let mut properties = common();
    for row in rows() {
        for parameter in row.parameters {
            let words = format!("Of {}: {}", row.name, parameter.meaning);
            let entry = properties.entry(parameter.name).or_insert_with(|| json!({ "description": "" }));
            let before = entry["description"].as_str().unwrap_or_default();
            let lines = if before.is_empty() { words } else { format!("{before}\n\n{words}") };
            *entry = json!({ "description": lines });
        }
    }
    json!({
        "type": "object",
        "properties": properties,
        "required": ["policy"],
        "allOf": rows().iter().map(of_row).collect::<Vec<_>>(),
    })
}

/// The keys that do not depend on the policy.
fn common() -> Map<String, Value> {
    let lists = "Of logged: the file with the lists of the log, which `fit` writes.";
    let kappa =
        "The examination probability of each position that the policy assumes; by default that of the users.";
    let read_as = "The model whose feedback the policy should assume, on users of another one.";
    let told = "Gives beat-the-mean the gamma of each instance.";
    let keys = [
        (
            "policy",
            described(
                &choice(&rows().iter().map(|row| (row.name, row.sentence)).collect::<Vec<_>>()),
                "The policy's name.",
            ),
        ),
        ("label", described(&reference("title"), "The policy's name in results and figures; unique.")),
        ("read-as", described(&choice(&MODELS.map(|model| (model.name, model.sentence))), read_as)),
        ("kappa", described(&array(&probability(), 1..=ListShape::MAX_POSITIONS as u64), kappa)),
        ("told", described(&choice(&[("gamma", "")]), told)),
        ("lists", described(&text(), lists)),
        (
            "prior",
            described(
                &choice(&[("flat", ""), ("fitted", "")]),
                "What the policy believes before the first round.",
            ),
        ),
        ("prior_file", described(&text(), "The file of a fitted prior: the parameters that `fit` writes.")),
    ];
    entries(keys)
}

/// Conditions on the other keys by the name of a policy.
fn of_row(row: &Row) -> Value {
    let spec = row.spec();
    let defaults = spec.parameters();
    let mut properties: Map<String, Value> =
        entries([("policy", Value::Bool(true)), ("label", Value::Bool(true))]);
    let models: Vec<&str> = readable_as(&spec);
    if !models.is_empty() {
        properties.insert("read-as".to_owned(), json!({ "enum": models }));
    }
    if assumes_examination(&spec) {
        properties.insert("kappa".to_owned(), Value::Bool(true));
    }
    if has_prior(&spec) {
        for key in ["prior", "prior_file"] {
            properties.insert(key.to_owned(), Value::Bool(true));
        }
    }
    let is_logged = matches!(spec, PolicySpec::Logged {});
    if is_logged {
        properties.insert("lists".to_owned(), Value::Bool(true));
    }
    for parameter in row.parameters {
        properties.insert(parameter.name.to_owned(), of_parameter(parameter, defaults.get(parameter.name)));
    }
    let mut then = json!({ "properties": properties, "additionalProperties": false });
    if is_logged {
        with(&mut then, &json!({ "required": ["lists"] }));
    }
    if has_prior(&spec) {
        // A fitted prior has a file, and no other one has.
        let is_fitted = json!({ "properties": { "prior": { "const": "fitted" } }, "required": ["prior"] });
        let no_file = json!({ "not": { "required": ["prior_file"] } });
        with(&mut then, &json!({ "if": is_fitted, "then": { "required": ["prior_file"] }, "else": no_file }));
    }
    if matches!(spec, PolicySpec::BeatTheMean { .. }) {
        with(&mut then["properties"], &json!({ "told": true }));
        with(&mut then, &json!({ "not": { "required": ["told", "gamma"] } }));
    }
    json!({ "if": { "properties": { "policy": { "const": row.name } }, "required": ["policy"] }, "then": then })
}

/// The models whose feedback a policy can assume; one that reads clicks of any list needs none.
fn readable_as(spec: &PolicySpec) -> Vec<&'static str> {
    if spec.speaks(Protocol::ClicksOnly) {
        return Vec::new();
    }
    let able = MODELS.iter().filter(|model| model.has_lists() && spec.speaks(model.protocol));
    able.map(|model| model.name).collect()
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
        Kind::Choice(names) => choice(&names.iter().map(|name| (*name, "")).collect::<Vec<_>>()),
        _ => json!({}),
    };
    if let Some(default) = default {
        with(&mut schema, &json!({ "default": default }));
    }
    described(&schema, parameter.meaning)
}
