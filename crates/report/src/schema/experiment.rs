//! The schema of `experiment.toml`.

use crate::figure::{KINDS, Kind};
use crate::keys::any_text;
use crate::reproduction::{DataSource, MAX_TITLE, Paper};
use documents::toml_reader::schema;
use serde_json::{Map, Value, json};
use spec::experiment::{HORIZONS, RUNS};
use spec::schema::{
    DIALECT, above, array, choice, definitions, described, entries, instance, integer, keys, object,
    object_of, reference, seed, subsets, users_or_instances, with, with_task,
};
use spec::{Experiment, Task, models::MODELS};

/// The schema of `experiment.toml`. Any table is accepted as `log`: it names a format of logs,
/// which this crate does not know.
pub fn experiment() -> Value {
    let texts = json!({ "type": "array", "items": any_text() });
    let mut properties = simulation();
    properties.remove("model");
    let own = [
        ("name", any_text()),
        ("title", described(&any_text(), "The heading of the report.")),
        ("summary", described(&texts, "An introduction in paragraphs.")),
        ("papers", array(&reference("paper"), 1..=u64::MAX)),
        ("source", described(&reference("source"), "The source of the instances' parameters.")),
        ("log", json!({ "type": "object", "description": "How the log is read that `--data` gives." })),
        ("printed", described(&reference("table"), "A paper's printed table of the instances.")),
        (
            "names",
            json!({
                "type": "object",
                "description": "Names of policies for readers, by label.",
                "additionalProperties": reference("title"),
            }),
        ),
        ("panels", array(&reference("panel"), 1..=u64::MAX)),
    ];
    properties.extend(entries(own));
    let mut root = object(properties, &["name", "title", "papers", "panels"]);
    let mut definitions = definitions();
    let heading = described(&any_text(), "The heading; by default that of the kind.");
    let own = [
        ("instance", instance(false)),
        (
            "users-or-data",
            json!({ "if": { "type": "string" }, "then": { "const": "data" }, "else": reference("instances") }),
        ),
        ("paper", schema::<Paper>()),
        ("source", schema::<DataSource>()),
        ("table", table()),
        ("figure", Kind::schema(&KINDS, &[("title", heading)])),
        ("printed", printed()),
        ("panel", panel()),
        ("variant", variant()),
    ];
    definitions.extend(entries(own));
    with(
        &mut root,
        &json!({
            "$schema": DIALECT,
            "title": "The experiment of a paper",
            "description": "Panels with what is run, drawn and stated. `click-bandits reproduce` runs them.",
            "$defs": definitions,
        }),
    );
    root
}

/// The keys of a simulation that tables may share.
fn simulation() -> Map<String, Value> {
    let mut keys = keys();
    keys.remove("name");
    keys.insert("instances".to_owned(), reference("users-or-data"));
    let model = choice(&MODELS.map(|model| (model.name, model.sentence)));
    keys.insert("model".to_owned(), described(&model, "The click model of all instances."));
    keys
}

fn panel() -> Value {
    let texts = json!({ "type": "array", "items": any_text() });
    let own = [
        ("name", described(&reference("file-name"), "The name of the panel, and of its folder.")),
        ("title", described(&any_text(), "The heading of the panel.")),
        ("paper", described(&any_text(), "The key of its paper.")),
        ("place", described(&any_text(), "Where in the paper.")),
        ("statement", described(&any_text(), "What the paper says of it, in our own words.")),
        ("choices", described(&texts, "Our choices where the paper is silent.")),
        ("figures", json!({ "type": "array", "items": reference("figure") })),
        (
            "printed",
            described(
                &json!({ "type": "array", "items": reference("printed") }),
                "Numbers that the paper prints.",
            ),
        ),
        ("quick", changes_of_quick()),
        ("variants", array(&reference("variant"), 1..=u64::MAX)),
    ];
    let mut properties = simulation();
    properties.extend(entries(own));
    let mut schema = object(properties, &["name", "title", "paper", "place", "statement"]);
    // The variants of a panel may have other tasks and users than it says.
    let alone = json!({ "if": { "not": { "required": ["variants"] } }, "then": { "allOf": conditions() } });
    with(&mut schema, &json!({ "allOf": [alone] }));
    schema
}

fn variant() -> Value {
    let title = json!({ "allOf": [reference("title"), { "maxLength": MAX_TITLE }] });
    let size = described(&above(0, None), "The number by which variants differ, for fits.");
    let mut quick = changes_of_quick();
    with(&mut quick["properties"], &json!({ "title": title, "size": size }));
    let own = [
        ("name", described(&reference("file-name"), "The name of the variant, and of its folder.")),
        ("title", described(&title, "Its name for readers, for legends and axes.")),
        ("size", size),
        ("quick", quick),
    ];
    let mut properties = simulation();
    properties.extend(entries(own));
    let mut schema = object(properties, &["name"]);
    with(&mut schema, &json!({ "allOf": conditions() }));
    schema
}

/// Relations between the keys of a panel or a variant.
fn conditions() -> Vec<Value> {
    Task::ALL.map(|task| with_task(task, false)).into_iter().chain([users_or_instances(false)]).collect()
}

/// The changes of a quick check.
pub(crate) fn changes_of_quick() -> Value {
    let rounds = integer(&HORIZONS);
    let mut keys = entries(Experiment::OVER.map(|key| (key, reference(key))));
    keys.insert("instances".to_owned(), reference("users-or-data"));
    let own = [
        ("seed", seed()),
        ("runs", integer(&RUNS)),
        ("horizon", rounds.clone()),
        ("max_steps", rounds),
        ("subsets", subsets()),
        ("title", any_text()),
        ("size", Value::Bool(true)),
        (
            "variants",
            json!({ "type": "array", "items": any_text(), "description": "The variants that are run." }),
        ),
        ("left", described(&any_text(), "Why the panel is left to the full run.")),
    ];
    keys.extend(entries(own));
    described(&object(keys, &[]), "The changes of a quick check.")
}

fn table() -> Value {
    let row = json!({
        "type": "object",
        "properties": { "instance": any_text() },
        "required": ["instance"],
        "additionalProperties": { "type": "number" },
    });
    object_of([("title", any_text()), ("rows", array(&row, 1..=u64::MAX))], &["title", "rows"])
}

/// A value that a paper prints. The task decides which one.
fn printed() -> Value {
    let values = ["regret", "stopping-time", "wrong"];
    let mut schema = object_of(
        [
            ("variant", any_text()),
            ("policy", any_text()),
            ("se", json!({ "type": "number", "minimum": 0 })),
            ("regret", json!({ "type": "number" })),
            ("stopping-time", json!({ "type": "number" })),
            ("wrong", json!({ "type": "number" })),
        ],
        &["policy"],
    );
    with(&mut schema, &json!({ "oneOf": values.map(|value| json!({ "required": [value] })) }));
    schema
}
