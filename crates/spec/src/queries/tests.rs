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
    for text in [LIST, map] {
        let other = text.replace("thetas", "theta").replace("kappas", "kappa");
        assert_eq!(of(&other.replace("theta", "attraction").replace("kappa", "examination")), expected);
    }
    assert_ne!(read(LIST).unwrap().sha256, read(map).unwrap().sha256);
    assert!(read(LIST).unwrap().label().starts_with("Measured: 2 queries of data.json (SHA-256 "));
}

#[test]
fn every_error_names_its_place() {
    for (from, to, expected) in [
        ("0.25", "1.25", ": 1.25 is not a probability"),
        ("0.25", "-1", ": -1 is not a probability"),
        ("0.25", "\"x\"", ": invalid type: string \"x\", expected f64"),
        ("0.25", "[0.25]", ": invalid type: sequence, expected f64"),
        ("0.25", "NaN", "data.json:1:26: expected value: expected [{\"name\""),
        ("0.25", "1e999", "data.json:1:30: number out of range"),
        ("0.25,", "0.25", "data.json:1:31: expected `,` or `]`"),
        ("[1]}]", "[1]}", "data.json:2:44: EOF while parsing a list"),
        ("[1]}]", "[1]}] 5", "data.json:2:47: trailing characters"),
        ("[0.1]", "[]", "data.json: query \"3\": no entries: expected a probability for each item"),
        ("[0.1]", "0.1", ": invalid type: floating point `0.1`, expected a sequence"),
        (", \"kappa\": [1]", "", ": missing field `kappa`"),
        ("\"theta\": [0.1], ", "", ": missing field `theta`"),
        ("\"name\": \"3\", ", "", ": missing field `name`"),
        ("\"name\": \"3\"", "\"name\": 3", ": invalid type: integer `3`, expected a string"),
        ("\"name\": \"3\"", "\"name\": \"\"", "query \"\": the text is empty"),
        ("\"name\": \"3\"", "\"name\": \"a\\nb\"", "query \"a\\nb\": the text has a line break"),
        (
            "\"name\": \"3\"",
            "\"name\": \"7\"",
            "data.json: query \"7\": is already given: expected another name",
        ),
        ("\"name\": \"3\"", "\"name\": \"3\", \"mu\": 1", ": unknown field `mu`, expected one of `name`"),
        ("\"kappa\": [1]", "\"kappa\": [1], \"kappas\": [1]", ": duplicate field `kappa`"),
        (LIST, "[]", "data.json: no queries: expected [{\"name\": .., "),
        (LIST, "{}", "data.json: no queries"),
        (LIST, "7", ": invalid type: integer `7`, expected queries"),
        (LIST, "[7]", ": invalid type: integer `7`"),
        (LIST, "{\"a\": {\"name\": \"a\"}}", ": unknown field `name`"),
        (LIST, "", "data.json:1:1: EOF while parsing a value"),
    ] {
        assert!(LIST.contains(from), "{from}");
        let found = read(&LIST.replacen(from, to, 1)).unwrap_err().to_string();
        assert!(found.contains(expected), "{found:?} instead of {expected:?}");
    }
    let twice = r#"{"a": {"theta": [1], "kappa": [1]}, "a": {"theta": [1], "kappa": [1]}}"#;
    assert!(read(twice).unwrap_err().to_string().contains("query \"a\": is already given"));
    // Some editors begin a file with a byte order mark.
    assert!(read(&format!("\u{feff}{LIST}")).is_ok());
    // Lists nested too deeply, and bytes that are not text.
    assert!(read(&"[".repeat(100_000)).is_err());
    assert!(Queries::from_bytes("data.json", b"[\"\xff\"]").is_err());
}

/// If every name were compared with every other one, this test would take minutes.
#[test]
fn a_hundred_thousand_queries_are_read() {
    let query = |index| format!("{{\"name\": \"{index}\", \"theta\": [0.5], \"kappa\": [1]}}");
    let list: Vec<String> = (0..100_000).map(query).collect();
    assert_eq!(read(&format!("[{}]", list.join(","))).unwrap().list.len(), 100_000);
}
