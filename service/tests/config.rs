//! The configuration: its template, and its faults.

use click_bandits_service::config::{Config, Limits, TEMPLATE};
use documents::toml_reader::{Source, inline, schema, words};
use rand::{RngExt as _, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::process::Command;

const GOOD: &str = "listen = '127.0.0.1:0'\ndata = 'data'\nstore = 'postgres://u@h/d'\n\
    store-authorities = 'x.pem'\ntokens = 'tokens'\n\
    items = ['a', { item = 'b', features = [0.5] }]\n[policy]\nusers = 'pbm'\npolicy = 'pbm-ts'\n\
    positions = 2\nexamination = [1, 0.5]\nsegments = ['de', 'fr']\nfeatures = ['age']\n\
    item-features = []\nprior = [1, 9]\nwindow = 9\nexplore = 0\n\
    propensities = { draws = 20, epsilon = 0.05 }\nskips = 'at-close'\nkeep-retired = 9\nwait = 9\n\
    keep = 9\nkeep-days = 9\nseed = 9\n[limits]\nqueries = 9\nall-queries = 9\nitems = 9\nwaiting = 9\n\
    connections = 9\nbody = 9\nbatch = 9\nseconds = 9\nsnapshot-events = 9\n";

fn faults(text: &str) -> Vec<String> {
    let fault = Config::parse(text).err();
    fault.map_or_else(Vec::new, |fault| fault.all().iter().map(ToString::to_string).collect())
}

/// The keys of a schema, with their defaults.
fn keys(of: &Value, path: &str, found: &mut BTreeMap<String, Value>) {
    for (key, value) in of["properties"].as_object().unwrap() {
        let path = format!("{path}{key}");
        if path != "propensities" && value["properties"].is_object() && !path.contains("propensities") {
            keys(value, &format!("{path}."), found);
        } else {
            found.insert(path, value["default"].clone());
        }
    }
}

/// The rows of the keys of a schema, those of tables after the table.
fn rows(of: &Value, path: &str, found: &mut String) {
    let required = |key: &str| of["required"].as_array().is_some_and(|all| all.iter().any(|one| one == key));
    for (key, value) in of["properties"].as_object().unwrap() {
        let default = match &value["default"] {
            _ if required(key) => "required".to_owned(),
            // The values of a table without its keys are theirs.
            Value::Null | Value::Object(_) => String::new(),
            given => format!("`{}`", inline(given)),
        };
        let meaning = value["description"].as_str().unwrap_or_default().replace('\n', " ");
        let values = words(value).replace('|', "\\|");
        _ = writeln!(found, "| `{path}{key}` | {default} | {meaning} | {values} |");
        let inner =
            value["anyOf"].as_array().and_then(|all| all.iter().find(|one| one["properties"].is_object()));
        let inner = inner.unwrap_or(value);
        if inner["properties"].is_object() {
            rows(inner, &format!("{path}{key}."), found);
        }
    }
}

/// `UPDATE_PAGES=1 cargo test --test all the_page_has_all_keys` writes the table anew.
#[test]
fn the_page_has_all_keys() {
    let mut table = "| key | default | meaning | values |\n|---|---|---|---|\n".to_owned();
    rows(&schema::<Config>(), "", &mut table);
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/files.md");
    let page = std::fs::read_to_string(path).unwrap();
    let (before, rest) = page.split_once("<!-- table: service -->\n").unwrap();
    let (found, after) = rest.split_once("<!-- end: service -->").unwrap();
    if std::env::var_os("UPDATE_PAGES").is_some() {
        let new = format!("{before}<!-- table: service -->\n{table}<!-- end: service -->{after}");
        std::fs::write(path, new).unwrap();
    } else {
        assert_eq!(found, table, "UPDATE_PAGES=1 cargo test --test all the_page_has_all_keys");
    }
}

/// All keys are in the template, with their defaults where it does not say that they are examples.
#[test]
fn the_template_has_all_keys() {
    let mut expected = BTreeMap::new();
    keys(&schema::<Config>(), "", &mut expected);
    let (mut table, mut found) = (String::new(), BTreeMap::new());
    let mut is_example = false;
    for line in TEMPLATE.lines() {
        let without = line.trim_start_matches("# ");
        let key = without.split(" = ").next().unwrap();
        if let Some(name) = line.strip_prefix("# [").or_else(|| line.strip_prefix('[')) {
            table = name.trim_end_matches(']').to_owned() + ".";
        } else if without.contains(" = ") && !key.contains([' ', '{', '`']) {
            found.insert(format!("{table}{key}"), (without.to_owned(), is_example));
        } else if line.starts_with('#') {
            is_example = line.contains("xample");
        }
    }
    assert!(expected.keys().eq(found.keys()), "{expected:?} {found:?}");
    for (key, (line, is_example)) in found.into_iter().filter(|(key, _)| !expected[key].is_null()) {
        let source = Source::from_text("", line).unwrap();
        let value = source.parse().unwrap().to_json();
        let value = value[key.rsplit('.').next().unwrap()].clone();
        let number = value.as_f64();
        let is_default = value == expected[&key] || number.is_some() && number == expected[&key].as_f64();
        assert!(is_example || is_default, "{key} = {value}: {}", expected[&key]);
    }
    assert_eq!(Config::parse(TEMPLATE).unwrap().limits, Limits::default());
}

#[test]
fn all_faults_are_said_with_their_places() {
    assert_eq!(faults(&GOOD.replace("'b', features = [0.5]", "'b', features = []")), [""; 0]);
    let text = GOOD
        .replace("listen = '127.0.0.1:0'", "listne = '127.0.0.1:0'\nlisten = 'here'")
        .replace("['a', { item = 'b'", "['', { item = 'b\\u0007'")
        .replace("'pbm-ts'", "'pbm-tts'")
        .replace("positions = 2", "positions = 0")
        .replace("explore = 0", "explore = 'x'")
        .replace("epsilon = 0.05", "epsilo = 0.05")
        .replace("batch = 9", "batch = 0");
    let found = faults(&text.replace("'b\\u0007'", "\"b\\u0007\""));
    let places: Vec<&str> = found.iter().map(|fault| fault.split(": ").nth(1).unwrap()).collect();
    assert_eq!(
        places,
        [
            "listne",
            "listen",
            "items[0]",
            "items[1]",
            "policy.policy",
            "policy.positions",
            "policy.explore",
            "policy.propensities.epsilo",
            "limits.batch"
        ],
        "{found:#?}"
    );
    for (fault, expected) in found.iter().zip([
        "serve.toml:1:1: listne: unknown key: did you mean `listen`?",
        "serve.toml:2:10: listen: \"here\" found: expected an address such as 127.0.0.1:7300",
        "serve.toml:7:10: items[0]: a name is empty",
        "serve.toml:7:14: items[1]: a name has a control character",
        "serve.toml:10:10: policy.policy: unknown policy \"pbm-tts\": did you mean `pbm-ts`?",
    ]) {
        assert!(fault.starts_with(expected), "{fault}");
    }
    // Those that only several keys together have.
    let text = GOOD.replace("'pbm'", "'cascade'").replace("postgres://u@h/d", "d").replace("'fr'", "'de'");
    let found = faults(&text);
    let places: Vec<&str> = found.iter().map(|fault| fault.split(": ").nth(1).unwrap()).collect();
    assert_eq!(
        places,
        ["store", "items", "policy.policy", "policy.examination", "policy.segments"],
        "{found:#?}"
    );
}

/// Those of several keys are found beside those of one, and each at its key.
#[test]
fn relations_between_keys_are_checked_beside_other_faults() {
    let places = |text: &str| -> Vec<String> {
        faults(text).iter().map(|fault| fault.split(": ").nth(1).unwrap().to_owned()).collect()
    };
    let text = GOOD.replace("examination = [1, 0.5]\n", "").replace("'pbm-ts'", "'pbm-ucb'");
    // `pbm-ucb` draws from no posterior.
    let text = text.replace("['a', {", "['a', 'a', {");
    let text = text.replace("features = [0.5]", "features = []").replace("seconds = 9", "seconds = 0");
    assert_eq!(
        places(&text.replace("postgres://u@h/d", "d")),
        ["store", "items", "policy.prior", "limits.seconds"],
        "{:#?}",
        faults(&text)
    );
    // Faults that only follow from one of the policy's own keys are left out.
    let places_beside = places(&text.replace("keep = 9", "keep = 0").replace("postgres://u@h/d", "d"));
    assert_eq!(places_beside, ["store", "items", "policy.keep", "limits.seconds"]);
    assert_eq!(places("[[policy]]\nusers = 'cascade'\n"), ["policy"]);
}

/// No message has the words of the parser or of serde, and each has a place.
#[test]
fn mutated_configurations_are_refused_in_our_words() {
    let rng = &mut Xoshiro256PlusPlus::seed_from_u64(1);
    let good = GOOD.replace("item-features = []", "item-features = ['price']").replace("'a', ", "");
    assert_eq!(faults(&good), [""; 0]);
    let lines: Vec<&str> = good.lines().collect();
    let values =
        ["7", "-1", "1.5", "true", "'x'", "''", "[]", "['x', 1]", "{ a = 1 }", "nan", "1979-05-27", "[[]]"];
    let (mut refused, mut several) = (0, 0);
    while refused < 300 {
        let mut mutated: Vec<String> = lines.iter().map(ToString::to_string).collect();
        let n = rng.random_range(1..4);
        for _ in 0..n {
            let place = rng.random_range(0..mutated.len());
            let line = mutated[place].clone();
            let Some((key, value)) = line.split_once(" = ") else { continue };
            mutated[place] = match rng.random_range(0..5) {
                0 => format!("{key}s = {value}"),
                1 => String::new(),
                2 => format!("{key} = [{value}]"),
                3 => value
                    .find('\'')
                    .map_or(line.clone(), |at| format!("{key} = {}\\t{}", &value[..at], &value[at..])),
                _ => format!("{key} = {}", values[rng.random_range(0..values.len())]),
            };
        }
        let found = faults(&mutated.join("\n"));
        refused += usize::from(!found.is_empty());
        several += usize::from(found.len() > 1);
        for fault in found {
            let mut parts = fault.splitn(4, ':');
            let is_place = parts.next() == Some("serve.toml")
                && [parts.next(), parts.next()]
                    .iter()
                    .all(|part| part.is_some_and(|part| part.parse::<u32>().is_ok()));
            assert!(is_place, "{fault}");
            for foreign in [
                "did not match",
                "untagged",
                "missing field",
                "unknown field",
                "unknown variant",
                "invalid type",
                "invalid value",
                "invalid length",
                "TOML parse error",
                "expected struct",
                "invalid socket",
                "enum ",
            ] {
                assert!(!fault.contains(foreign), "{fault}\n{}", mutated.join("\n"));
            }
        }
    }
    assert!(several > 50, "{several}");
}

/// Runs the program: whether it succeeded, and what it printed.
fn run(arguments: &[&str], directory: &std::path::Path) -> (bool, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_click-bandits-serve"));
    let output = command.args(arguments).current_dir(directory).output().unwrap();
    let [out, err] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
    (output.status.success(), out, err)
}

#[test]
fn the_program_prints_a_template_and_what_it_reads() {
    let directory = tempfile::tempdir().unwrap();
    let (is_good, template, _) = run(&["--init"], directory.path());
    assert!(is_good && template == TEMPLATE);
    std::fs::write(directory.path().join("serve.toml"), template).unwrap();
    let (is_good, said, fault) = run(&["serve.toml", "--check"], directory.path());
    assert!(is_good, "{fault}");
    assert_eq!(
        said,
        "serve.toml: good\npolicy: cascade-ts for users \"cascade\", 5 positions\nitems of all queries: 7, such as `apple`\nstore: data\n\
         listens on 127.0.0.1:7300, tokens: no tokens\n"
    );
    let bad = TEMPLATE.replace("wait = ", "wiat = ").replace("seed = 0", "seed = -1");
    std::fs::write(directory.path().join("serve.toml"), bad).unwrap();
    let (is_good, _, fault) = run(&["serve.toml", "--check"], directory.path());
    let lines: Vec<&str> = fault.lines().collect();
    assert!(!is_good && lines.len() == 2, "{fault}");
    assert!(
        lines[0].starts_with("error: serve.toml:") && lines[0].contains("did you mean `wait`"),
        "{fault}"
    );
    assert!(
        lines[1].starts_with("error: serve.toml:") && lines[1].contains("policy.seed: -1 is negative"),
        "{fault}"
    );
}
