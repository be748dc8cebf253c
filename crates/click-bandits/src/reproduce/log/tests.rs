//! The keys of `[log]`, and their errors.

use super::*;
use std::collections::BTreeSet;

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
            "5:9: log.prior: -1 is not a strength: expected pseudo-impressions",
        ),
        ("format = \"obd\"\npositions = 3\npiror = 0", "5:1: log.piror: unknown key: did you mean `prior`?"),
    ] {
        let found = message(log);
        assert!(found.starts_with(&format!("experiment.toml:{expected}")), "{found}");
    }
}

#[test]
fn the_reader_knows_the_keys_of_the_rows_and_accepts_their_examples() {
    let examples = KEYS.map(|key| format!("{} = {}", key.name, key.example)).join("\n");
    let source = Source::from_text("experiment.toml", format!("[log]\n{examples}\n")).unwrap();
    assert!(of_source(&source).unwrap().is_some());
    let found = message(&format!("{examples}\nzzzz = 1"));
    let (_, names) = found.rsplit_once("known: ").unwrap_or_else(|| panic!("{found}"));
    assert_eq!(names.split(", ").collect::<BTreeSet<_>>(), KEYS.iter().map(|key| key.name).collect());
}
