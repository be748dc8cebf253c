//! The rows of keys agree with the readers.

use super::*;
use crate::experiment::keys::{EXPERIMENT, OF_INSTANCE, OF_POLICY, USERS as USERS_KEY};
use crate::key::{Key, KeyInside};
use documents::toml_reader::Source;
use policies::catalogue::rows;
use std::collections::BTreeSet;

/// The messages about a spec of these tables, beside the files of a fit.
fn messages(head: &str, instances: &str, policies: &str) -> Vec<String> {
    let text = format!("{head}\n{instances}\n[[policies]]\n{policies}\n");
    let name = concat!(env!("CARGO_MANIFEST_DIR"), "/src/experiment/tests/spec.toml");
    let source = Source::from_text(name, text).unwrap();
    let errors = Experiment::check(&source.parse().unwrap(), Overrides::default()).err();
    errors.into_iter().flatten().map(|error| error.to_string()).collect()
}

const HEAD: &str = "name = \"x\"\ntask = \"regret\"\nhorizon = 10\nruns = 2\nseed = 1";
const USERS: &str = "[[instances]]\nmodel = \"pbm\"\ntheta = [0.5, 0.4, 0.3]\nkappa = [0.9, 0.6, 0.3]";
const POLICY: &str = "policy = \"pbm-gibbs\"";

/// The names that the message about the unknown key `zzzz` lists.
fn known(messages: &[String]) -> BTreeSet<String> {
    let message = messages.iter().find(|message| message.contains("zzzz")).expect("an unknown key");
    let (_, names) = message.rsplit_once("known: ").unwrap_or_else(|| panic!("{message}"));
    names.split(", ").map(str::to_owned).collect()
}

fn names(keys: &[Key]) -> BTreeSet<String> {
    keys.iter().map(|key| key.name.to_owned()).collect()
}

/// The keys of `users`, that of the file first.
fn of_users() -> Vec<KeyInside> {
    USERS_KEY.inside()
}

#[test]
fn the_readers_know_the_keys_of_the_rows_and_no_others() {
    assert_eq!(known(&messages(&format!("{HEAD}\nzzzz = 1"), USERS, POLICY)), names(&EXPERIMENT));
    let users = "[users]\nposterior = \"parameters.json\"\nmodel = \"pbm\"\nzzzz = 1";
    assert_eq!(known(&messages(HEAD, users, POLICY)), of_users().into_iter().map(|key| key.name).collect());
    let of_pbm = ["theta", "attraction", "kappa", "examination", "context", "values"].map(str::to_owned);
    let of_instance = &names(&OF_INSTANCE) | &BTreeSet::from(of_pbm);
    assert_eq!(known(&messages(HEAD, &format!("{USERS}\nzzzz = 1"), POLICY)), of_instance);
    // A policy with a prior may have every key, besides its parameters.
    let row = rows().iter().find(|row| row.name == "pbm-gibbs").unwrap();
    let parameters = row.parameters.iter().map(|parameter| parameter.name.to_owned()).collect();
    let of_policy = &names(&OF_POLICY) | &parameters;
    assert_eq!(known(&messages(HEAD, USERS, &format!("{POLICY}\nzzzz = 1"))), of_policy);
}

#[test]
fn a_required_key_cannot_be_missing_and_its_example_is_accepted() {
    let lines = |without: &str| {
        let own = EXPERIMENT.iter().filter(|key| key.required || key.name == "horizon");
        let own = own.filter(|key| !["policies", without].contains(&key.name));
        own.map(|key| format!("{} = {}", key.name, key.example)).collect::<Vec<_>>().join("\n")
    };
    assert_eq!(messages(&lines(""), USERS, POLICY), [""; 0]);
    for key in EXPERIMENT.iter().filter(|key| key.required && key.name != "policies") {
        let expected = format!("{}: missing key: expected {}", key.name, key.words());
        let found = messages(&lines(key.name), USERS, POLICY);
        assert!(found.len() == 1 && found[0].ends_with(&expected), "{found:?} instead of {expected:?}");
    }
    let optional = EXPERIMENT.iter().find(|key| key.name == "checkpoints").unwrap();
    let head = format!("{HEAD}\n{} = {}", optional.name, optional.example);
    assert_eq!(messages(&head, USERS, POLICY), [""; 0]);
}

#[test]
fn users_of_a_fit_have_the_examples_of_their_keys() {
    for key in of_users() {
        let is_file = key.name == "posterior";
        let own = if is_file { String::new() } else { format!("{} = {}\n", key.name, key.example) };
        let model = if key.name == "model" { "" } else { "model = \"pbm\"\n" };
        let users = format!("[users]\nposterior = \"parameters.json\"\n{model}{own}");
        let found = messages(HEAD, &users, POLICY);
        // The fit of the tests has queries of its own, and no file of lists.
        let is_expected = |message: &String| match &*key.name {
            "queries" => message.contains("users.queries"),
            "transfer" => message.contains("logged.csv: cannot be read"),
            _ => false,
        };
        assert!(found.iter().all(is_expected), "{}: {found:?}", key.name);
    }
    let found = messages(HEAD, "[users]\nmodel = \"pbm\"", POLICY);
    assert!(found.len() == 1 && found[0].contains("users.posterior: missing key"), "{found:?}");
}
