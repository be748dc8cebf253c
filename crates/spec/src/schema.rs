//! JSON Schema of an experiment's file, for editors. It is made from the tables that the reader
//! uses. It refuses what can be seen from one value, or from the keys that are there, and leaves
//! relations between values to the reader ([`Experiment::check`](crate::Experiment::check)).

mod instance;
mod key;
mod policy;
mod value;

pub use instance::instance;
pub use key::of_keys;
pub use policy::policy;
pub use value::{
    above, array, choice, defined, described, either, entries, file, integer, items, list, names, number,
    object, object_of, probability, reference, refuse, square, text, titled, triangle, with,
};

use self::key::properties;
use crate::experiment::keys::{EXPERIMENT, OF_TASKS};
use crate::experiment::{COUNTS, HORIZONS, SEEN};
use crate::fields::RUNS;
use crate::task::Task;
use documents::names::MAX_NAME;
use policies::catalogue::rows;
use serde_json::{Map, Value, json};

/// The dialect of the schemas.
pub const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// The schema of a file with one experiment.
pub fn spec() -> Value {
    let mut schema = of_keys(&EXPERIMENT);
    let conditions =
        Task::ALL.map(|task| with_task(task, true)).into_iter().chain([users_or_instances(true)]);
    with(
        &mut schema,
        &json!({
            "$schema": DIALECT,
            "title": "An experiment of click-bandits",
            "description": "Users, policies, the length of a run and the number of runs. `click-bandits simulate` plays it.",
            "allOf": conditions.collect::<Vec<_>>(),
            "$defs": definitions(),
        }),
    );
    schema
}

/// The keys of an experiment. They refer to [`definitions`].
pub fn keys() -> Map<String, Value> {
    properties(&EXPERIMENT)
}

/// The definitions that the keys of an experiment refer to.
pub fn definitions() -> Map<String, Value> {
    let round = || integer(&HORIZONS);
    let mut rounds = array(&round(), COUNTS);
    with(&mut rounds, &json!({ "uniqueItems": true }));
    let log = object_of([("log", integer(&COUNTS)), ("also", rounds.clone())], &["log"]);
    let each = object_of([("per-instance", integer(&RUNS))], &["per-instance"]);
    let definitions = [
        (
            "file-name",
            json!({ "type": "string", "pattern": "^[A-Za-z0-9_][A-Za-z0-9_.-]*$", "maxLength": MAX_NAME }),
        ),
        ("title", value::title()),
        ("rounds", round()),
        ("sees", json!({ "type": "array", "uniqueItems": true, "items": { "enum": SEEN } })),
        (
            "runs",
            json!({ "type": ["integer", "object"], "if": { "type": "object" }, "then": each, "else": integer(&RUNS) }),
        ),
        (
            "checkpoints",
            json!({
                "type": ["array", "object"],
                "if": { "type": "object" },
                "then": log,
                "else": rounds,
                "default": { "log": 200 },
            }),
        ),
        ("instances", json!({ "type": "array", "minItems": 1, "items": reference("instance") })),
        ("instance", instance(true)),
        ("policies", json!({ "type": "array", "minItems": 1, "items": reference("policy") })),
        ("policy", policy()),
    ];
    entries(definitions)
}

/// The keys that a task allows. `is_whole`: whether those that it needs are in the same table.
pub fn with_task(task: Task, is_whole: bool) -> Value {
    let able = rows().iter().filter(|row| task.is_for(&row.spec())).map(|row| row.name);
    let mut properties = Map::new();
    for key in &OF_TASKS {
        if let Some(fault) = task.refuses(key.name) {
            properties.insert(key.name.to_owned(), refuse(&fault));
        }
    }
    let policies = json!({ "items": { "properties": { "policy": { "enum": able.collect::<Vec<_>>() } } } });
    properties.insert("policies".to_owned(), policies);
    if task != Task::Regret {
        let able: Vec<&str> = crate::models::MODELS
            .iter()
            .filter(|model| model.names_best_items)
            .map(|model| model.name)
            .collect();
        let of_tables = json!({ "if": { "type": "array" }, "then": { "items": { "properties": { "model": { "enum": able } } } } });
        properties.insert("instances".to_owned(), of_tables);
    }
    let mut then = json!({ "properties": properties });
    if is_whole {
        with(&mut then, &json!({ "required": [task.length().name] }));
    }
    json!({ "if": { "properties": { "task": { "const": task.name() } }, "required": ["task"] }, "then": then })
}

/// `users` and `instances` exclude each other. `is_whole`: whether one of them is needed.
pub fn users_or_instances(is_whole: bool) -> Value {
    let refused = refuse("`instances` already gives the users: expected one or the other");
    let mut schema =
        json!({ "if": { "required": ["instances"] }, "then": { "properties": { "users": refused } } });
    if is_whole {
        // A file without either most probably lacks instances.
        with(
            &mut schema,
            &json!({ "else": { "if": { "required": ["users"] }, "else": { "required": ["instances"] } } }),
        );
    }
    schema
}

/// A seed.
pub fn seed() -> Value {
    integer(&(0..=u64::MAX))
}

/// The range of a number of subsets on the command line and in a quick check.
pub fn subsets() -> Value {
    integer(&(1..=1 << 16))
}

#[cfg(test)]
pub(crate) mod tests;
