//! `parameters.json`: files are read and written again to the same bytes; other files are refused with the place of the fault.

use click_logs::fit::{Model, Options, Scope, fit};
use click_logs::generate::{Traffic, yandex};
use click_logs::parameters::{Parameters, ReadErrorKind};
use click_logs::{Format, Log, Reader};
use click_models::{DcmReward, DependentClick};
use confidence::Probability;
use serde_json::{Value, json};
use std::sync::LazyLock;

fn log() -> Log {
    let probabilities =
        |values: &[f64]| values.iter().map(|&value| Probability::new(value).unwrap()).collect();
    let attraction: Vec<f64> = (0..12).map(|item| 0.6 / f64::from(item + 1)).collect();
    let users = |first: f64| {
        let leave: Vec<f64> = (0..10).map(|position| first - 0.05 * f64::from(position)).collect();
        DependentClick::new(probabilities(&attraction), probabilities(&leave), DcmReward::Clicks).unwrap()
    };
    let traffic = [(7, 0.9), (9, 0.5)].map(|(query, first)| Traffic {
        query,
        items: (1..=12).collect(),
        weight: 1.0,
        users: users(first),
    });
    let mut log = Vec::new();
    yandex(&traffic, 300, 5, &mut log).unwrap();
    Reader::new(Format::Yandex).keep_sessions().read("generated", log.as_slice()).unwrap()
}

fn written(log: &Log, options: &Options) -> Vec<u8> {
    let fits: Vec<_> =
        Model::ALL.iter().map(|&model| fit(model, &log.counts, &log.sessions, options).unwrap()).collect();
    let parameters = Parameters::new(&log.report, log.counts.n_queries(), &log.counts, &fits, options);
    parameters.to_json().unwrap()
}

/// Priors with fixed strength.
fn with_priors() -> Options {
    Options { prior_strength: Some(5.0), ..Options::default() }
}

fn read(json: impl AsRef<[u8]>) -> Result<Parameters, String> {
    Parameters::from_json("p.json", json.as_ref()).map_err(|error| error.to_string())
}

#[test]
fn every_model_is_read_back() {
    let log = log();
    for (scope, prior_strength) in [(Scope::Query, Some(5.0)), (Scope::Site, None), (Scope::Query, Some(0.0))]
    {
        let json = written(&log, &Options { scope, prior_strength, ..Options::default() });
        let parameters = read(&json).unwrap();
        assert_eq!(parameters.models.len(), Model::ALL.len());
        assert!(parameters.to_json().unwrap() == json, "{scope:?} {prior_strength:?}");
    }
}

/// The attraction of an item that was never examined, in a fit without priors, is unknown; JSON has no such number.
#[test]
fn unknown_values_are_null_and_stay_unknown() {
    let lines = "query\turls\tclicked_mask\nq\ta,b\t10\nq\ta,b\t10\n";
    let log = Reader::new(Format::Sessions).keep_sessions().read("log", lines.as_bytes()).unwrap();
    let options = Options { prior_strength: Some(0.0), ..Options::default() };
    let cascade = fit(Model::Cascade, &log.counts, &log.sessions, &options).unwrap();
    let json = Parameters::new(&log.report, 1, &log.counts, &[cascade], &options).to_json().unwrap();
    assert!(String::from_utf8_lossy(&json).contains("\"value\": null"));
    let parameters = read(&json).unwrap();
    let items = &parameters.model(Model::Cascade).unwrap().queries[0].items;
    assert!(items[1].attraction.value.is_nan() && items[0].attraction.value == 1.0);
    assert!(parameters.to_json().unwrap() == json);
}

/// With a table, the file has what belongs to all queries together, and no list that is empty without saying why.
#[test]
fn a_file_with_a_table_has_what_belongs_to_all_queries() {
    let log = log();
    for scope in [Scope::Query, Scope::Site] {
        let options = Options { scope, ..with_priors() };
        let fits: Vec<_> = Model::ALL
            .iter()
            .map(|&model| fit(model, &log.counts, &log.sessions, &options).unwrap())
            .collect();
        let whole = Parameters::new(&log.report, 2, &log.counts, &fits, &options);
        let file = Parameters::with_table("t.parquet", &log.report, 2, &log.counts, &fits, &options);
        let json = file.to_json().unwrap();
        let value: Value = serde_json::from_slice(&json).unwrap();
        assert_eq!((&value["schema"], &value["table"]), (&json!(2), &json!("t.parquet")));
        let fields = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
        assert!(value["models"].as_array().unwrap().iter().all(|model| fields(model) == ["model", "site"]));
        assert_eq!(value.get("rank_one"), None);
        let of_all = ["components", "few", "few_clicks", "few_comparisons", "identified"];
        assert_eq!(
            value.get("identifiability").map(fields),
            (scope == Scope::Site).then(|| of_all.map(str::to_owned).to_vec())
        );

        let parameters = read(&json).unwrap();
        assert!(parameters.to_json().unwrap() == json);
        assert_eq!(parameters.table.as_deref(), Some("t.parquet"));
        assert_eq!((&parameters.log, &parameters.fitted), (&whole.log, &whole.fitted));
        for (found, expected) in parameters.models.iter().zip(&whole.models) {
            assert_eq!((found.model, &found.site), (expected.model, &expected.site));
            assert!(found.queries.is_empty());
        }
        assert!(!whole.models[0].queries.is_empty());
        let of_all = |parameters: &Parameters| {
            let report = parameters.identifiability.iter().find(|report| report.query.is_none());
            report.map(|report| (report.identified, report.few_comparisons.clone()))
        };
        assert_eq!(of_all(&parameters), of_all(&whole));
        assert_eq!(of_all(&parameters).is_some(), scope == Scope::Site);
    }
}

#[test]
fn faults_of_a_file_with_a_table_are_named() {
    let log = log();
    let options = with_priors();
    let pbm = fit(Model::Pbm, &log.counts, &log.sessions, &options).unwrap();
    let file = Parameters::with_table("t.parquet", &log.report, 2, &log.counts, &[pbm], &options);
    let json = String::from_utf8(file.to_json().unwrap()).unwrap();
    for (from, to, expected) in [
        ("\"schema\": 2", "\"schema\": 1", "unknown field `table`"),
        ("\"site\"", "\"queries\": [], \"site\"", "unknown field `queries`"),
        ("\"table\"", "\"tables\"", "unknown field `tables`"),
        ("\"t.parquet\"", "null", "invalid type: null"),
        ("t.parquet", "", "p.json: $.table: ``, expected the name of a file in the same directory"),
        ("t.parquet", "../t.parquet", "p.json: $.table: `../t.parquet`, expected the name of a file"),
        ("t.parquet", "a\\nb", "p.json: $.table: `a\\nb`, expected the name of a file"),
        ("\"level\": 0.95", "\"level\": 95", "p.json: $.level: 95, expected a confidence level"),
    ] {
        assert!(json.contains(from), "{from}");
        let error = read(json.replacen(from, to, 1)).map(drop).unwrap_err();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn some_queries_have_the_records_that_they_have_among_all() {
    let log = log();
    for scope in [Scope::Query, Scope::Site] {
        let options = Options { scope, ..with_priors() };
        let pbm = [fit(Model::Pbm, &log.counts, &log.sessions, &options).unwrap()];
        let all = Parameters::new(&log.report, 2, &log.counts, &pbm, &options);
        let only = log.counts.names().find("7/1").unwrap();
        let some = Parameters::of_queries(&log.report, 2, &log.counts, &pbm, &options, |query| query == only);
        let mut expected = all.clone();
        expected.models[0].queries.retain(|query| query.query == "7/1");
        expected.rank_one.retain(|record| record.query == "7/1");
        expected.identifiability.retain(|report| report.query.as_deref().is_none_or(|query| query == "7/1"));
        for report in &mut expected.identifiability {
            report.never_clicked.retain(|pair| pair.query == "7/1");
            report.always_clicked.retain(|pair| pair.query == "7/1");
            report.few_impressions.retain(|pair| pair.query == "7/1");
        }
        assert_eq!(some, expected);
        assert!(some != all && some.models[0].queries.len() == 1 && some.rank_one.len() == 1);
        assert_eq!(read(some.to_json().unwrap()).unwrap(), some);
    }
}

#[test]
fn a_file_cut_anywhere_is_refused_with_its_line() {
    let json = written(&log(), &with_priors());
    let end = json.len() - 2;
    for len in (0..end).step_by(997).chain([end]) {
        let error = Parameters::from_json("p.json", &json[..len]).unwrap_err();
        let ReadErrorKind::Json { line, .. } = error.kind() else { panic!("{error}") };
        let lines = memchr::memchr_iter(b'\n', &json[..len]).count();
        // At the end of a line, the error names that line.
        assert!(*line == lines + 1 || *line == lines, "{len}: {error}");
        assert!(error.to_string().starts_with(&format!("p.json:{line}:")), "{error}");
    }
}

#[test]
fn other_files_are_refused() {
    for (json, expected) in [
        ("", "p.json:1:0: EOF while parsing a value"),
        ("PAR1", "p.json:1:1: expected value"),
        ("[]", "p.json:1:2: invalid length 0, expected struct Version with 1 element"),
        ("{}", "p.json:1:2: missing field `schema`"),
        ("{\"schema\": \"1\"}", "p.json:1:14: invalid type: string \"1\", expected u64"),
        ("{\"schema\": -1}", "p.json:1:13: invalid value: integer `-1`, expected u64"),
        ("{\"schema\": 1, \"schema\": 1}", "p.json:1:22: duplicate field `schema`"),
        (
            "{\"schema\": 3, \"models\": 7}",
            "p.json: schema: 3, expected 1 or 2: the file is of another version",
        ),
        ("{\"schema\": 2, \"models\": 7}", "p.json:1:25: invalid type: integer `7`, expected a sequence"),
        ("{\"schema\": 1}", "p.json:1:13: missing field `log`"),
        ("{\"schema\": 1} x", "p.json:1:15: trailing characters"),
    ] {
        let error = read(json).unwrap_err();
        assert!(error.starts_with(expected), "{error}");
    }
    let deep = format!("{{\"schema\": {}", "[".repeat(100_000));
    assert!(read(deep).is_err());
    assert!(read(format!("{{\"x\": {}", "[".repeat(100_000))).is_err());
    let missing = Parameters::read("no such file".as_ref()).unwrap_err();
    assert!(matches!(missing.kind(), ReadErrorKind::Read(_)) && missing.file() == "no such file");
}

/// Changes one field at a time.
#[test]
fn an_invalid_field_is_refused_by_its_name() {
    let json = written(&log(), &with_priors());
    let good: Value = serde_json::from_slice(&json).unwrap();
    let place = |model: &str| {
        let models = good["models"].as_array().unwrap();
        models.iter().position(|record| record["model"] == model).unwrap()
    };
    let of = |model: &str, rest: &str| format!("/models/{}/{rest}", place(model));
    let shown = |pointer: &str| {
        let path = pointer.split('/').skip(1).map(|part| match part.parse::<usize>() {
            Ok(number) => format!("[{number}]"),
            Err(_) => format!(".{part}"),
        });
        format!("p.json: ${}: ", path.collect::<String>())
    };
    for (pointer, value, expected) in [
        ("/level".into(), json!(1.0), "1, expected a confidence level"),
        ("/log/clicks".into(), json!(u64::MAX), "18446744073709551615, expected no more clicks"),
        (of("dcm", "model"), json!("pbm"), "`pbm` is given twice"),
        (of("pbm", "queries/1/query"), json!("7/1"), "`7/1` is given twice"),
        (of("pbm", "queries/1/items/2/item"), json!("1"), "`1` is given twice"),
        (of("pbm", "queries/1/items/2/clicks"), json!(1_u64 << 50), "1125899906842624, expected no more"),
        (
            of("pbm", "queries/1/items/2/attraction/value"),
            json!(-0.1),
            "-0.1, expected a number of 0 or more",
        ),
        (
            of("cascade", "queries/1/items/2/attraction/value"),
            json!(1.5),
            "1.5, expected a number from 0 to 1",
        ),
        (of("dcm", "queries/0/positions/3/value"), json!(1.5), "1.5, expected a number from 0 to 1"),
        (of("pbm", "queries/0/positions/3/se"), json!(-1), "-1, expected a number of 0 or more"),
        (of("pbm", "queries/0/positions/3/lower"), json!(9), "9, expected a number from 0 to `upper`, "),
        (of("pbm", "queries/0/positions/3/position"), json!(3), "3, expected 4, the next one"),
        (of("pbm", "queries/0/positions/3/position"), json!(0), "0, expected a position from 1 to 64"),
        (of("ubm", "site/positions/2/last_click"), json!(0), "expected 1, the next one"),
        (of("pbm", "site/prior"), json!(-1), "-1, expected a number of 0 or more"),
        (of("sdbn", "site/typical_satisfaction"), Value::Null, ""),
        ("/identifiability/1/query".into(), json!("7/1"), "`7/1` is given twice"),
        ("/rank_one/0/share".into(), json!(1.5), "1.5, expected a number from 0 to 1"),
    ] {
        let mut changed = good.clone();
        let Some(field) = changed.pointer_mut(&pointer) else { panic!("{pointer}") };
        *field = value;
        let result = read(changed.to_string()).map(drop);
        if expected.is_empty() {
            assert_eq!(result, Ok(()));
            continue;
        }
        let error = result.unwrap_err();
        assert!(error.starts_with(&format!("{}{expected}", shown(&pointer))), "{error}");
    }
    // Fields of other models, missing fields, unknown fields, and unknown words.
    for (from, to, expected) in [
        (
            "\"below_first_click\"",
            "\"typical_satisfaction\"",
            "$.models[1].site.typical_satisfaction: model cascade has none",
        ),
        (
            "\"scope\": \"query\"",
            "\"scope\": \"session\"",
            "unknown variant `session`, expected `query` or `site`",
        ),
        (
            "\"model\": \"pbm\"",
            "\"model\": \"pdm\"",
            "unknown variant `pdm`, expected one of `pbm`, `cascade`",
        ),
        ("\"level\"", "\"levels\"", "unknown field `levels`"),
        ("\"se\"", "\"sd\"", "unknown field `sd`"),
        ("\"level\": 0.95", "\"level\": 1e999", "number out of range"),
        ("\"level\": 0.95", "\"level\": NaN", "expected value"),
        ("\"level\": 0.95", "\"level\": null", "invalid type: null, expected f64"),
        ("\"converged\": true", "\"converged\": 1", "invalid type: integer `1`, expected a boolean"),
    ] {
        let text = String::from_utf8(json.clone()).unwrap();
        assert!(text.contains(from), "{from}");
        let error = read(text.replacen(from, to, 1)).map(drop).unwrap_err();
        assert!(error.contains(expected), "{error}");
    }
}

/// Reading changed bytes fails, or gives what is written again to the same bytes.
#[test]
fn any_bytes_get_an_answer() {
    static JSON: LazyLock<Vec<u8>> = LazyLock::new(|| {
        let lines = "query\turls\tclicked_mask\nq\ta,b\t10\nq\tb,a\t01\n";
        let log = Reader::new(Format::Sessions).keep_sessions().read("log", lines.as_bytes()).unwrap();
        written(&log, &with_priors())
    });
    fn changed(changes: Vec<(usize, u8)>) -> bool {
        let mut bytes = JSON.clone();
        for (place, byte) in changes.into_iter().take(3) {
            let place = place % bytes.len();
            bytes[place] = b"0123456789-.e\"{}[],: nul\xff\n"[usize::from(byte) % 26];
        }
        let Ok(parameters) = read(&bytes) else { return true };
        let once = parameters.to_json().unwrap();
        read(&once).unwrap().to_json().unwrap() == once
    }
    quickcheck::QuickCheck::new().tests(2000).quickcheck(changed as fn(Vec<(usize, u8)>) -> bool);
}
