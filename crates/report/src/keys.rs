//! The kinds of claims and of figures with their keys in files, as data. A kind's row is the source
//! of its reader's name and checks, its schema, and its lines in the tables of the README.

use crate::reading::{KindReader, Requirement};
use documents::toml_reader::{Error, all, choice as read_choice, collect};
use experiment::result::Quantity;
use itertools::Itertools as _;
use serde_json::{Map, Value, json};
use spec::experiment::HORIZONS;
pub(crate) use spec::key::Key;
use spec::schema::{above, array, choice, entries, integer, names, object_of, titled, with};
use std::sync::Arc;

/// A kind of claim (`T` is a test) or of figure (`T` is a plot).
pub(crate) struct Kind<T: ?Sized> {
    /// The value of the key `kind`.
    pub(crate) name: &'static str,
    /// The statement that has to hold, or the content of the figure; in Markdown.
    pub(crate) says: &'static str,
    pub(crate) keys: &'static [Key],
    /// Relations between the keys, as conditions of the schema.
    pub(crate) relations: fn() -> Vec<Value>,
    pub(crate) needs: &'static [Requirement],
    pub(crate) read: fn(&KindReader<'_, '_>) -> Result<Arc<T>, Error>,
}

pub(crate) const fn required(name: &'static str, values: fn() -> Value, meaning: &'static str) -> Key {
    Key::required(name, values, meaning, "")
}

pub(crate) const fn optional(name: &'static str, values: fn() -> Value, meaning: &'static str) -> Key {
    Key::optional(name, values, meaning, "")
}

pub(crate) const ROUND: Key = optional("t", round, "a checkpoint, the last by default");
pub(crate) const SLOPE: Key = optional(
    "slope",
    || titled(array(&round(), 2..=2), "two rounds, [t1, t2]"),
    "two checkpoints, `[t1, t2]`, in place of `t`",
);
pub(crate) const FACTOR: Key = optional(
    "factor",
    || json!({ "type": "number", "exclusiveMinimum": 0, "maximum": 1e6, "default": 1 }),
    "1 by default",
);
pub(crate) const POWER: Key = optional("power", power, "of the curve `c1 size^power + c2`, 1 by default");
pub(crate) const LEAST: Key = optional("least", || above(0, None), "the lower limit");
pub(crate) const MOST: Key = optional("most", || above(0, None), "the upper limit");
pub(crate) const QUANTITY: Key =
    optional("quantity", || names(&quantities()), "by default the main one of the task");

fn quantities() -> Vec<&'static str> {
    Quantity::ALL.map(Quantity::name).into_iter().chain(["regret", "accuracy"]).collect()
}

/// Names of series, each once, at least this number.
pub(crate) fn series(least: u64) -> Value {
    let labels = format!("an array of labels of policies, at least {least}");
    json!({ "type": "array", "minItems": least, "uniqueItems": true, "items": any_text(), "title": labels })
}

pub(crate) fn any_text() -> Value {
    json!({ "type": "string" })
}

pub(crate) fn round() -> Value {
    integer(&HORIZONS)
}

fn power() -> Value {
    json!({ "type": "number", "minimum": -10, "maximum": 10, "not": { "const": 0 }, "default": 1 })
}

pub(crate) fn inside_unit() -> Value {
    titled(above(0, Some(1.0)), "a share above 0 and below 1")
}

/// At least one of the limits is given.
pub(crate) fn has_a_limit() -> Value {
    json!({ "anyOf": [{ "required": ["least"] }, { "required": ["most"] }] })
}

/// Two keys exclude each other.
pub(crate) fn not_both(one: &str, other: &str) -> Value {
    json!({ "not": { "required": [one, other] } })
}

impl<T: ?Sized> Kind<T> {
    /// Reads a test or figure of the kind that the table names, and refuses keys of other kinds.
    /// Returns the name of the kind too.
    pub(crate) fn read(
        kinds: &[&'static Self],
        reading: &KindReader<'_, '_>,
    ) -> Result<(&'static str, Arc<T>), Error> {
        let named = kinds.iter().map(|kind| (kind.name, *kind)).collect_vec();
        let kind = read_choice(&reading.kind, &named, "kind")?;
        kind.needs.iter().try_for_each(|need| need.check(reading))?;
        let fields = kind.keys.iter().filter_map(|key| Some((key, reading.table.field(key.name)?)));
        let accepted = collect(fields.map(|(key, field)| field.accept(&(key.kind)())));
        let ((), ()) = all((accepted, reading.table.finish()))?;
        Ok((kind.name, (kind.read)(reading)?))
    }

    /// The schema of a table with one of these kinds. `shared` are keys of every kind.
    pub(crate) fn schema(kinds: &[&'static Self], shared: &[(&str, Value)]) -> Value {
        let any = || shared.iter().map(|(key, _)| *key).chain(["kind"]).map(|key| (key, Value::Bool(true)));
        let names = kinds.iter().map(|kind| (kind.name, kind.says)).collect_vec();
        // Editors that do not look into conditions complete the keys of all kinds.
        let all = kinds.iter().flat_map(|kind| kind.keys).map(|key| (key.name, Value::Bool(true)));
        let mut properties: Map<String, Value> = entries(all.collect_vec());
        properties.extend(entries(shared.to_vec()));
        properties.insert("kind".to_owned(), choice(&names));
        let condition = |kind: &&Self| {
            let own = kind.keys.iter().map(|key| (key.name, key.schema()));
            let required = kind.keys.iter().filter(|key| key.required).map(|key| key.name).collect_vec();
            let mut then = object_of(any().chain(own).collect_vec(), &required);
            let relations = (kind.relations)();
            if !relations.is_empty() {
                with(&mut then, &json!({ "allOf": relations }));
            }
            let is_it = json!({ "properties": { "kind": { "const": kind.name } }, "required": ["kind"] });
            json!({ "if": is_it, "then": then })
        };
        let conditions = kinds.iter().map(condition).collect_vec();
        json!({ "type": "object", "properties": properties, "required": ["kind"], "allOf": conditions })
    }

    /// A Markdown table of these kinds; `says` is the head of its last column.
    pub(crate) fn table(kinds: &[&'static Self], says: &str) -> String {
        let row = |kind: &&Self| {
            let key = |key: &Key| {
                let optional = if key.required { "" } else { " (optional)" };
                format!("`{}`{optional}: {}", key.name, key.meaning)
            };
            format!("| `{}` | {} | {} |\n", kind.name, kind.keys.iter().map(key).join("; "), kind.says)
        };
        format!("| `kind` | keys | {says} |\n|---|---|---|\n{}", kinds.iter().map(row).collect::<String>())
    }
}
