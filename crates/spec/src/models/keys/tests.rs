//! The rows of keys agree with the readers.

use crate::key::Key;
use crate::models::{InstanceInputs, MODELS, Model, read_instances};
use documents::toml_reader::{Source, Table};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;

/// Reads one instance with these keys, beside a matrix file for the key `file`.
fn read(model: &Model, keys: &[(&str, &str)]) -> Result<(), String> {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("matrix.csv"), "0.5,0.6,0.7\n0.4,0.5,0.6\n0.3,0.4,0.5\n").unwrap();
    let pairs: Vec<String> = keys.iter().map(|(key, value)| format!("{key} = {value}")).collect();
    let text = format!("[[instances]]\nmodel = {:?}\n{}\n", model.name, pairs.join("\n"));
    let source = Source::from_text(folder.path().join("x.toml").display().to_string(), text).unwrap();
    let document = source.parse().map_err(|error| error.to_string())?;
    let root: Table<'_> = document.root();
    let inputs = InstanceInputs { seed: 1, matrix: None };
    let instances = read_instances(&root.field("instances").unwrap(), None, &inputs);
    instances.map(|_| ()).map_err(|error| error.message().to_owned())
}

/// The keys of an instance with this one: required ones, except those that it replaces, and itself.
fn with<'a>(model: &'a Model, key: &'a Key) -> Vec<(&'a str, &'a str)> {
    let others = model.keys.iter().filter(|other| other.required && !key.replaces.contains(&other.name));
    let others = others.filter(|other| other.name != key.name);
    others.chain([key]).map(|key| (key.name, key.example)).collect()
}

fn each_key() -> impl Iterator<Item = (&'static Model, &'static Key)> {
    MODELS.into_iter().flat_map(|model| model.keys.iter().map(move |key| (model, key)))
}

#[test]
fn every_example_is_accepted() {
    for (model, key) in each_key() {
        assert_eq!(read(model, &with(model, key)), Ok(()), "{}: {}", model.name, key.name);
    }
}

#[test]
fn a_required_key_cannot_be_missing() {
    for (model, key) in each_key().filter(|(_, key)| key.required) {
        let without: Vec<_> = with(model, key).into_iter().filter(|(name, _)| *name != key.name).collect();
        let error = read(model, &without).unwrap_err();
        assert!(error.starts_with("missing key"), "{}: {}: {error}", model.name, key.name);
    }
}

#[test]
fn a_key_and_the_one_that_it_replaces_are_refused_together() {
    let mut pairs = 0;
    for (model, key) in each_key() {
        for replaced in model.keys.iter().filter(|other| key.replaces.contains(&other.name)) {
            let mut both = with(model, key);
            both.push((replaced.name, replaced.example));
            let error = read(model, &both).unwrap_err();
            assert!(error.contains("expected one or the other"), "{}: {}: {error}", model.name, key.name);
            pairs += 1;
        }
    }
    assert!(pairs >= 4, "{pairs}");
}

/// The names that a message about an unknown key lists.
fn known(error: &str) -> BTreeSet<&str> {
    let (_, names) = error.rsplit_once("known: ").unwrap_or_else(|| panic!("{error}"));
    names.split(", ").collect()
}

#[test]
fn the_readers_know_the_keys_of_the_rows_and_no_others() {
    for model in MODELS {
        let mut found = BTreeSet::new();
        for key in model.keys {
            let mut keys = with(model, key);
            keys.push(("zzzz", "1"));
            let error = read(model, &keys).unwrap_err();
            found.extend(known(&error).into_iter().map(str::to_owned));
        }
        let rows: BTreeSet<String> =
            model.keys.iter().map(|key| key.name).chain(["model", "name"]).map(str::to_owned).collect();
        assert_eq!(found, rows, "{}", model.name);
    }
}

#[test]
fn tables_have_the_keys_of_their_rows_and_no_others() {
    let mut tables = 0;
    for (model, key) in each_key() {
        // Users who differ have a test of their own: some of their keys replace others.
        let rows = key.inside();
        if rows.is_empty() || key.name == "context" {
            continue;
        }
        let table = |without: &str, more: &str| {
            let pairs = rows.iter().filter(|row| row.name != without);
            let pairs: Vec<String> = pairs.map(|row| format!("{} = {}", row.name, row.example)).collect();
            format!("{{ {}{more} }}", pairs.join(", "))
        };
        let read = |value: &str| {
            let mut keys = with(model, key);
            keys.last_mut().unwrap().1 = value;
            super::tests::read(model, &keys)
        };
        assert_eq!(read(&table("", "")), Ok(()), "{}: {}", model.name, key.name);
        for row in &rows {
            assert!(read(&table(&row.name, "")).unwrap_err().starts_with("missing key"), "{}", row.name);
        }
        let error = read(&table("", ", zzzz = 1")).unwrap_err();
        assert_eq!(known(&error), rows.iter().map(|row| row.name.as_str()).collect(), "{}", model.name);
        tables += 1;
    }
    assert_eq!(tables, 8);
}

/// Values just outside of a schema.
fn outside(schema: &Value) -> Vec<String> {
    if let Some(all) = schema["anyOf"].as_array().or_else(|| schema["oneOf"].as_array()) {
        return all.iter().flat_map(outside).collect();
    }
    match schema["type"].as_str() {
        Some("array") if schema["items"]["type"] == "array" => {
            vec!["[[0.5, 0.5], [0.5]]".to_owned(), "[[2.0]]".to_owned()]
        }
        Some("array") => {
            let most = schema["items"]["maximum"].as_f64().unwrap_or(1.0);
            vec!["[-1, -1, -1]".to_owned(), format!("[{}, 1, 1]", most + 0.5), "0.5".to_owned()]
        }
        Some("number") => vec!["1.5".to_owned(), "-0.5".to_owned()],
        Some("integer") => {
            let [least, most] = ["minimum", "maximum"].map(|limit| schema[limit].as_u64().unwrap());
            let beyond = [least.checked_sub(1), most.checked_add(1)].into_iter().flatten();
            beyond
                .map(|value| value.to_string())
                .chain(["0.5".to_owned(), format!("-{}", least + 1)])
                .collect()
        }
        Some("string") => vec!["\"zzzz\"".to_owned()],
        Some("object") => vec!["1".to_owned(), "{}".to_owned()],
        _ => panic!("no key of a model has values like {schema}"),
    }
}

#[test]
fn values_that_a_row_excludes_are_refused() {
    for (model, key) in each_key() {
        for value in outside(&(key.kind)()) {
            let mut keys = with(model, key);
            keys.last_mut().unwrap().1 = &value;
            assert!(read(model, &keys).is_err(), "{}: {} = {value}", model.name, key.name);
        }
    }
}

#[test]
fn names_of_a_choice_are_accepted() {
    let mut names = 0;
    for (model, key) in each_key() {
        let kind = (key.kind)();
        let one_by_one = kind["oneOf"].as_array().into_iter().flatten().filter_map(|one| one.get("const"));
        for name in kind["enum"].as_array().into_iter().flatten().chain(one_by_one) {
            names += 1;
            let (value, mut keys) = (name.to_string(), with(model, key));
            keys.last_mut().unwrap().1 = &value;
            assert_eq!(read(model, &keys), Ok(()), "{}: {name}", model.name);
        }
    }
    assert_eq!(names, 4, "the rewards of dcm and of dbn");
}

#[test]
fn first_choices_play_the_model() {
    for model in MODELS {
        assert!(model.first_choices.len() >= 2, "{}", model.name);
        for name in model.first_choices {
            let row = policies::catalogue::find(name).unwrap();
            assert!(row.speaks(model.protocol), "{}: {name}", model.name);
        }
    }
}

#[test]
fn texts_are_sentences() {
    for (model, key) in each_key() {
        let inside = key.inside().into_iter().map(|key| key.meaning);
        for meaning in inside.chain([key.meaning.to_owned()]) {
            assert!(meaning.ends_with('.') && meaning.len() < 140, "{}: {meaning}", model.name);
        }
    }
}
