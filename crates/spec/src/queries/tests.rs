use super::*;
use click_models::RankOneModel;

fn read(text: &str) -> Result<Queries, Error> {
    Queries::from_bytes("data.json", text.as_bytes())
}

const LIST: &str = r#"[{"name": "7", "theta": [0.25, 0.5], "kappa": [1.0, 0.5, 0]},
 {"name": "3", "theta": [0.1], "kappa": [1]}]"#;

#[test]
fn both_forms_of_a_file_give_the_same_queries() {
    let map = r#"{"7": {"thetas": [0.25, 0.5], "kappas": [1.0, 0.5, 0.0]}, "3": {"kappas": [1], "thetas": [1e-1]}}"#;
    let of =
        |text: &str| -> Vec<(String, RankOneModel)> { read(text).unwrap().each(RankOneModel::new).unwrap() };
    let expected = [("7", &[0.25, 0.5][..], &[1.0, 0.5, 0.0][..]), ("3", &[0.1], &[1.0])]
        .map(|(name, rows, columns)| (name.to_owned(), RankOneModel::from_values(rows, columns).unwrap()));
    // In the order of the file, not of the names.
    assert_eq!(of(LIST), expected);
    assert_eq!(of(map), expected);
    assert_ne!(read(LIST).unwrap().sha256(), read(map).unwrap().sha256());
    assert!(read(LIST).unwrap().label().starts_with("Measured: 2 queries of data.json (SHA-256 "));
}

#[test]
fn every_error_names_its_place() {
    for (from, to, expected) in [
        (
            "0.25",
            "1.25",
            "data.json: $[0].theta[0]: 1.25 is not a probability: expected a number from 0 to 1",
        ),
        ("0.25", "-1", "$[0].theta[0]: -1 is not a probability"),
        ("0.25", "1e300", "$[0].theta[0]: 1e300 is not a probability"),
        ("0.25", "\"x\"", "$[0].theta[0]: \"x\" is not a probability"),
        ("0.25", "null", "$[0].theta[0]: null is not a probability"),
        ("0.25", "[0.25]", "$[0].theta[0]: a list is not a probability"),
        ("0.25", "NaN", "data.json:1:26: expected value: expected JSON"),
        ("0.25", "1e999", "data.json:1:30: number out of range: expected JSON"),
        ("0.25,", "0.25", "data.json:1:31: expected `,` or `]`: expected JSON"),
        ("[1]}]", "[1]}", "data.json:2:44: EOF while parsing a list: expected JSON"),
        ("[1]}]", "[1]}] 5", "data.json:2:47: trailing characters: expected JSON"),
        ("[0.1]", "[]", "$[1].theta: no entries: expected a probability for each item"),
        ("[0.1]", "0.1", "$[1].theta: 0.1 found: expected a list of probabilities"),
        (
            "\"kappa\": [1]",
            "\"kappa\": []",
            "$[1].kappa: no entries: expected a probability for each position",
        ),
        (
            ", \"kappa\": [1]",
            "",
            "$[1]: no \"kappa\": expected a list of probabilities, one for each position",
        ),
        ("\"theta\": [0.1], ", "", "$[1]: no \"theta\": expected a list of probabilities, one for each item"),
        ("\"name\": \"3\", ", "", "$[1]: no \"name\": expected what the query is called"),
        ("\"name\": \"3\"", "\"name\": 3", "$[1].name: 3 found: expected a string"),
        ("\"name\": \"3\"", "\"name\": \"\"", "$[1].name: the name is empty"),
        ("\"name\": \"3\"", "\"name\": \"a\\nb\"", "$[1].name: the name has a line break"),
        ("\"name\": \"3\"", "\"name\": \"7\"", "$[1]: query \"7\" is already given: expected another name"),
        ("\"name\": \"3\"", "\"name\": \"3\", \"mu\": 1", "$[1]: unknown key \"mu\": known are name, theta,"),
        (
            "\"kappa\": [1]",
            "\"kappa\": [1], \"kappas\": [1]",
            "$[1].kappas: is already given: expected it once",
        ),
        (LIST, "[]", "data.json: $: no queries: expected [{\"name\": .., "),
        (LIST, "{}", "data.json: $: no queries"),
        (LIST, "7", "data.json: $: 7 found: expected [{\"name\""),
        (LIST, "[7]", "data.json: $[0]: 7 found: expected a query"),
        (LIST, "{\"a\": {\"name\": \"a\"}}", "$[\"a\"]: unknown key \"name\": known are theta, thetas"),
        (LIST, "{\"a\": 1, \"a\": 2}", "$[\"a\"]: 1 found: expected a query"),
        (LIST, "", "data.json:1:1: EOF while parsing a value: expected JSON"),
    ] {
        assert!(LIST.contains(from), "{from}");
        let found = read(&LIST.replacen(from, to, 1)).unwrap_err().to_string();
        assert!(found.contains(expected), "{found:?} instead of {expected:?}");
    }
    let twice = r#"{"a": {"theta": [1], "kappa": [1]}, "a": {"theta": [1], "kappa": [1]}}"#;
    assert!(read(twice).unwrap_err().to_string().contains("$[\"a\"]: query \"a\" is already given"));
    // Some editors begin a file with a byte order mark.
    assert!(read(&format!("\u{feff}{LIST}")).is_ok());
    // Lists nested too deeply, and bytes that are not text.
    assert!(read(&"[".repeat(100_000)).unwrap_err().to_string().contains("recursion limit exceeded"));
    assert!(Queries::from_bytes("data.json", b"[\"\xff\"]").is_err());
}

/// If every name were compared with every other one, this test would take minutes.
#[test]
fn a_hundred_thousand_queries_are_read() {
    let query = |index| format!("{{\"name\": \"{index}\", \"theta\": [0.5], \"kappa\": [1]}}");
    let list: Vec<String> = (0..100_000).map(query).collect();
    assert_eq!(read(&format!("[{}]", list.join(","))).unwrap().list.len(), 100_000);
}
