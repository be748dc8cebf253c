//! The keys of `[log]`, and their errors.

use super::*;
use documents::toml_reader::inline;
use serde_json::Value;

fn message(log: &str) -> String {
    let source = Source::from_text("experiment.toml", format!("name = \"x\"\n[log]\n{log}\n")).unwrap();
    of_source(&source).unwrap_err().to_string()
}

#[test]
fn errors_name_their_place() {
    // (`[log]`, beginning of the message after the file)
    for (log, expected) in [
        (
            "format = \"parquet\"\npositions = 3",
            "3:10: log.format: unknown format \"parquet\": known: kdd2012, yandex,",
        ),
        ("format = \"obd\"", "2:1: log.positions: missing key"),
        ("format = \"obd\"\npositions = 65", "4:13: log.positions: 65 is too large"),
        ("format = \"obd\"\npositions = 3\nmin-items = 0", "5:13: log.min-items: 0 is too small"),
        (
            "format = \"obd\"\npositions = 3\nprior = -1",
            "5:9: log.prior: -1 found: expected a number from 0 to 1,000,000,000",
        ),
        (
            "format = \"obd\"\npositions = 3\nexact-queries = true",
            "5:17: log.exact-queries: only for format \"ubi\", this is \"obd\"",
        ),
        ("format = \"obd\"\npositions = 3\npiror = 0", "5:1: log.piror: unknown key: did you mean `prior`?"),
    ] {
        let found = message(log);
        assert!(found.starts_with(&format!("experiment.toml:{expected}")), "{found}");
    }
}

#[test]
fn the_examples_of_the_keys_are_accepted() {
    let examples = |(name, key): (&String, &Value)| format!("{name} = {}\n", inline(&key["examples"][0]));
    let schema = schema();
    let log: String = schema["properties"].as_object().unwrap().iter().map(examples).collect();
    let source = Source::from_text("experiment.toml", format!("[log]\n{log}")).unwrap();
    assert!(of_source(&source).unwrap().unwrap().format.is_some());
}
