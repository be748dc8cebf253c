use super::*;
use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Shop {
    /// The name for readers,
    /// on one line.
    name: String,
    #[schemars(range(min = 1, max = 100))]
    positions: u64,
    #[serde(default)]
    seed: u64,
    #[schemars(extend("exclusiveMinimum" = 0), range(max = 1))]
    share: Option<f64>,
    open: Option<bool>,
    #[schemars(length(min = 2), inner(range(min = 0, max = 1)))]
    theta: Option<Vec<f64>>,
    pair: Option<(u32, String)>,
    when: Option<When>,
    limits: Option<BTreeMap<String, u64>>,
    listen: Option<Port>,
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
enum When {
    /// Never again.
    Never,
    /// From today on.
    Always,
    #[serde(untagged)]
    Every { rounds: u64 },
    #[serde(untagged)]
    Between { from: u64, to: u64 },
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(try_from = "String")]
#[schemars(with = "String")]
struct Port(u16);

impl TryFrom<String> for Port {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse().map(Self).map_err(|_| format!("{text:?} is not a port"))
    }
}

const GOOD: &str = "name = \"a\"\npositions = 3\nseed = 18446744073709551615\nshare = 1\nopen = true\n\
                    theta = [0, 0.5]\npair = [4, \"x\"]\nwhen = { from = 1, to = 2 }\n\
                    limits = { any = 1 }\nlisten = \"80\"\n";

fn faults(text: &str) -> Vec<String> {
    let source = Source::from_text("shop.toml", text).unwrap();
    let fault = read::<Shop>(&source).err();
    fault.map_or_else(Vec::new, |fault| fault.all().iter().map(ToString::to_string).collect())
}

#[test]
fn a_value_has_what_the_file_says() {
    let shop: Shop = read(&Source::from_text("shop.toml", GOOD).unwrap()).unwrap();
    assert_eq!((shop.positions, shop.seed, shop.share), (3, u64::MAX, Some(1.0)));
    assert_eq!(shop.when, Some(When::Between { from: 1, to: 2 }));
    assert_eq!((shop.limits.unwrap()["any"], shop.listen), (1, Some(Port(80))));
    for (word, when) in [("\"never\"", When::Never), ("{ rounds = 7 }", When::Every { rounds: 7 })] {
        let source = Source::from_text("", format!("name = \"a\"\npositions = 3\nwhen = {word}\n")).unwrap();
        assert_eq!(read::<Shop>(&source).unwrap().when, Some(when));
    }
}

#[test]
fn each_fault_is_said_at_its_place() {
    for (from, to, expected) in [
        ("name = \"a\"", "name = 1", "1:8: name: 1 found: expected a text"),
        ("name = \"a\"", "nam = \"a\"", "1:1: nam: unknown key: did you mean `name`, which is missing?"),
        ("positions = 3\n", "", "1:1: positions: missing key: expected an integer from 1 to 100"),
        ("= 3\n", "= 0\n", "2:13: positions: 0 is too small: expected an integer from 1 to 100"),
        (
            "= 3\n",
            "= 3.5\n",
            "2:13: positions: 3.5 is not an integer: expected whole digits without point or exponent, as in 100_000",
        ),
        ("share = 1", "share = 0", "4:9: share: 0 found: expected a number above 0 and at most 1"),
        ("share = 1", "share = nan", "4:9: share: nan is not allowed: expected a finite number"),
        ("true", "\"yes\"", "5:8: open: \"yes\" found: expected true or false"),
        ("[0, 0.5]", "[2, 0.5]", "6:10: theta[0]: 2 found: expected a number from 0 to 1"),
        (
            "[0, 0.5]",
            "[0]",
            "6:9: theta: 1 entry found: expected an array of at least 2 entries, each a number from 0 to 1",
        ),
        ("[4, \"x\"]", "[4, 5]", "7:12: pair[1]: 5 found: expected a text"),
        (
            "[4, \"x\"]",
            "[4294967296, \"x\"]",
            "7:9: pair[0]: 4294967296 is too large: expected an integer from 0 to 4294967295",
        ),
        ("to = 2", "too = 2", "8:20: when.too: unknown key: did you mean `to`, which is missing?"),
        ("to = 2", "to = -2", "8:25: when.to: -2 is negative: expected an integer of at least 0"),
        (
            "{ from = 1, to = 2 }",
            "\"nevr\"",
            "8:8: when: unknown when \"nevr\": did you mean `never`? known: never, always",
        ),
        (
            "{ from = 1, to = 2 }",
            "1979-05-27",
            "8:8: when: 1979-05-27 found: expected \"never\" or \"always\", or a table",
        ),
        ("any = 1", "any = true", "9:18: limits.any: true found: expected an integer of at least 0"),
        ("\"80\"", "\"x\"", "10:10: listen: \"x\" is not a port"),
    ] {
        assert!(GOOD.contains(from), "{from}");
        assert_eq!(faults(&GOOD.replacen(from, to, 1)), [format!("shop.toml:{expected}")], "{to}");
    }
}

#[test]
fn all_faults_of_a_file_are_found() {
    let text = GOOD
        .replace("share = 1", "share = 2\nshares = 1")
        .replace("to = 2", "to = \"x\"")
        .replace("[4,", "[-4,");
    let places = faults(&text).iter().map(|fault| fault.split(": ").nth(1).unwrap().to_owned()).collect_vec();
    assert_eq!(places, ["share", "shares", "pair[0]", "when.to"]);
}

/// Of alternatives the one is meant whose first key is there; keys of others are suggested as well.
#[test]
fn faults_of_alternatives_are_said_once() {
    let with = |when: &str| GOOD.replace("{ from = 1, to = 2 }", when);
    for (when, expected) in [
        (
            "{ round = 7 }",
            vec![
                "8:8: when: expected `rounds` or `from`",
                "8:10: when.round: unknown key: did you mean `rounds`? known: from, rounds, to",
            ],
        ),
        (
            "{ rounds = 7, from = 1 }",
            vec!["8:29: when.from: `rounds` is given already: expected one or the other"],
        ),
        (
            "{ rounds = 7, to = 1 }",
            vec!["8:27: when.to: `rounds` is given already: expected one or the other"],
        ),
        (
            "{ rounds = 7, too = 1 }",
            vec!["8:22: when.too: unknown key: did you mean `to`? known: from, rounds, to"],
        ),
    ] {
        let expected: Vec<_> = expected.iter().map(|fault| format!("shop.toml:{fault}")).collect();
        assert_eq!(faults(&with(when)), expected, "{when}");
    }
    // An array in the place of a table is one fault, in no words of the parser.
    let found = faults("name = \"a\"\npositions = 3\n[[limits]]\nany = 1\n");
    assert_eq!(found, ["shop.toml:3:1: limits: an array found: expected a table"]);
}

/// Relations between keys can be checked among those that are right.
#[test]
fn what_is_right_is_built_beside_the_faults() {
    let source = Source::from_text("shop.toml", GOOD.replace("true", "3")).unwrap();
    let (shop, fault) = source.parse().unwrap().root().build_rest::<Shop>().unwrap();
    assert_eq!((shop.positions, shop.open), (3, None));
    assert_eq!(fault.unwrap().field(), "open");
    let source = Source::from_text("shop.toml", "positions = 3\n").unwrap();
    assert_eq!(source.parse().unwrap().root().build_rest::<Shop>().unwrap_err().field(), "name");
}

/// Faults of conversions are said beside those that the schema finds, each once.
#[test]
fn faults_of_conversions_are_all_found() {
    #[derive(Debug, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only faults are looked at")]
    struct Harbour {
        ports: Vec<Port>,
        first: Port,
        pair: [u8; 2],
        last: Option<Port>,
    }
    let fault = |text: &str| {
        let fault = read::<Harbour>(&Source::from_text("harbour.toml", text).unwrap()).unwrap_err();
        fault.all().iter().map(ToString::to_string).collect_vec()
    };
    let text = "ports = [\"1\", \"x\", \"2\", \"y\"]\nfirst = \"z\"\npair = [1, 2]\nlast = \"?\"\n";
    let ports = ["1:15: ports[1]: \"x\"", "1:25: ports[3]: \"y\"", "2:9: first: \"z\"", "4:8: last: \"?\""];
    let ports = ports.map(|fault| format!("harbour.toml:{fault} is not a port"));
    assert_eq!(fault(text), ports);
    let found = fault(&text.replace("[1, 2]", "[1, true]\nlats = 1"));
    let of_pair = "harbour.toml:3:12: pair[1]: true found: expected an integer from 0 to 255";
    assert!(found.len() == 6 && found[..3] == ports[..3] && found[3].starts_with(of_pair), "{found:#?}");
    assert!(found[4].starts_with("harbour.toml:4:1: lats: unknown key: did you mean `last`?"), "{found:#?}");
    assert_eq!(fault(&text.replace("first = \"z\"", "firts = \"z\"")).len(), 4);
    assert_eq!(fault(&text.replace("[\"1\", \"x\", \"2\", \"y\"]", "{ 1 = 2 }")).len(), 3);
}

#[test]
fn a_schema_has_no_null() {
    let schema = schema::<Shop>();
    jsonschema::draft202012::meta::validate(&schema).unwrap();
    assert!(!schema.to_string().contains("null"), "{schema}");
    assert_eq!(schema["properties"]["name"]["description"], "The name for readers, on one line.");
    let source = Source::from_text("shop.toml", GOOD.replace("18446744073709551615", "1")).unwrap();
    let json = source.parse().unwrap().to_json();
    assert!(jsonschema::is_valid(&schema, &json));
}

#[test]
fn an_option_beyond_its_type_is_told_the_limit() {
    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is used")]
    struct Settings {
        seed: u64,
        threads: u8,
    }
    let seed = crate::toml_reader::option::<Settings, u64>("seed");
    assert_eq!(seed("18446744073709551615"), Ok(u64::MAX));
    let fault = seed("18446744073709551616").unwrap_err();
    assert_eq!(fault, "expected an integer from 0 to 18446744073709551615");
    let threads = crate::toml_reader::option::<Settings, u8>("threads");
    assert_eq!(threads("256").unwrap_err(), "expected an integer from 0 to 255");
}
