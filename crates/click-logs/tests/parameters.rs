//! `parameters.json`: files are read and written again to the same bytes; other files are refused
//! with the place of the fault.

use crate::log_generator::{Traffic, yandex};
use click_logs::fit::{Estimate, Fit, Model, Options, Scope, fit, score};
use click_logs::parameters::{Parameters, fits, for_each_parameter, write, write_with_table};
use click_logs::study::{FilteredLog, Settings, study};
use click_models::{DcmReward, DependentClick};
use confidence::Probability;
use log_reader::{Counts, Format, Id, Log, Part, Reader};
use serde_json::{Value, json};
use std::convert::Infallible;
use std::sync::LazyLock;

fn log() -> Log {
    Reader::new(Format::Yandex).keep_sessions().read("generated", lines().as_slice()).unwrap()
}

fn lines() -> Vec<u8> {
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
    log
}

fn written(log: &Log, options: &Options) -> Vec<u8> {
    let fits: Vec<_> =
        Model::ALL.iter().map(|&model| fit(model, &log.counts, &log.sessions, options).unwrap()).collect();
    written_of(log, &fits, options, &|_| true)
}

/// The log without a filter.
fn whole(log: &Log) -> FilteredLog {
    let Log { counts, sessions, report } = log.clone();
    FilteredLog { report, n_queries: counts.n_queries(), counts, sessions }
}

/// The file of some queries.
fn written_of(log: &Log, fits: &[Fit], options: &Options, keep: &dyn Fn(Id) -> bool) -> Vec<u8> {
    let mut json = Vec::new();
    write(&whole(log), fits, options, keep, &mut json).unwrap();
    json
}

/// The file that names a table.
fn written_with_table(log: &Log, fits: &[Fit], options: &Options) -> Vec<u8> {
    let mut json = Vec::new();
    write_with_table("t.parquet", &whole(log), fits, options, &mut json).unwrap();
    json
}

/// Whether parameters have everything that is in a file without a table.
fn has_all(parameters: &Parameters, json: &[u8]) -> bool {
    serde_json::to_value(parameters).unwrap() == serde_json::from_slice::<Value>(json).unwrap()
}

/// Priors with fixed strength.
fn with_priors() -> Options {
    Options { prior_strength: Some(5.0), ..Options::default() }
}

fn read(json: impl AsRef<[u8]>) -> Result<Parameters, String> {
    Parameters::from_json("p.json", json.as_ref()).map_err(|error| error.to_string())
}

#[test]
fn fits_are_made_of_parameters() {
    let log = log();
    let whole = Part { counts: log.counts.clone(), sessions: log.sessions.clone() };
    for (scope, prior_strength) in [(Scope::Query, Some(5.0)), (Scope::Site, None)] {
        let options = Options { scope, prior_strength, ..Options::default() };
        let written = read(written(&log, &options)).unwrap();
        let (named, made) = fits(&written);
        assert_eq!((named.n_queries(), made.len()), (0, Model::ALL.len()));
        for made in made {
            let fitted = fit(made.model(), &log.counts, &log.sessions, &options).unwrap();
            let rows = |counts: &Counts, fit: &Fit| {
                let mut rows = Vec::new();
                let Ok(()) = for_each_parameter(counts, std::slice::from_ref(fit), |row| {
                    let name = |id: Option<Id>| id.map(|id| counts.names().name(id).into_owned());
                    rows.push(format!(
                        "{:?}",
                        (
                            name(row.query),
                            row.kind,
                            name(row.item),
                            row.position,
                            row.last_click,
                            row.estimate
                        )
                    ));
                    Ok::<(), Infallible>(())
                });
                rows
            };
            assert_eq!(rows(&named, &made), rows(&log.counts, &fitted));
            let [from_file, from_log] = [(&made, &named), (&fitted, &log.counts)]
                .map(|(fit, counts)| score(fit, counts.names(), &whole).unwrap());
            assert!((from_file.log_likelihood - from_log.log_likelihood).abs() < 1e-7, "{}", made.model());
            for (query, expected) in made.queries().iter().zip(fitted.queries()) {
                assert_eq!(query.positions, expected.positions);
            }
        }
    }
}

#[test]
fn every_model_is_read_back() {
    let log = log();
    for (scope, prior_strength) in [(Scope::Query, Some(5.0)), (Scope::Site, None), (Scope::Query, Some(0.0))]
    {
        let json = written(&log, &Options { scope, prior_strength, ..Options::default() });
        let parameters = read(&json).unwrap();
        assert_eq!(parameters.models.len(), Model::ALL.len());
        assert!(has_all(&parameters, &json), "{scope:?} {prior_strength:?}");
    }
}

/// A file contains the estimates of the fits but for the ninth digit, and a line for each element
/// of a list.
/// Earlier versions fitted a logistic regression.
#[test]
fn a_retired_model_is_left_out() {
    let json = written(&log(), &Options::default());
    let mut older: Value = serde_json::from_slice(&json).unwrap();
    let mut retired = older["models"][0].clone();
    retired["model"] = json!("ctr-logistic");
    older["models"].as_array_mut().unwrap().insert(1, retired);
    assert_eq!(read(older.to_string()), read(json));
}

#[test]
fn eight_digits_are_written_query_by_query() {
    let reader = Reader::new(Format::Yandex).keep_sessions();
    let read_log = || reader.read("generated", lines().as_slice());
    let settings = Settings { models: vec![Model::Dbn, Model::Ubm], ..Settings::default() };
    let study = study(&settings, read_log, |_| Ok(())).unwrap();
    let mut written = Vec::new();
    write(&study.log, &study.fits, &settings.fit.options(), &|_| true, &mut written).unwrap();
    let collected = read(&written).unwrap();
    let text = String::from_utf8(written).unwrap();
    let item = text.lines().find(|line| line.contains("\"item\":\"1\"")).unwrap().trim_matches([' ', ',']);
    assert!(item.starts_with("{\"item\":") && item.ends_with('}'), "{item}");

    let close = |rounded: f64, whole: f64| {
        let digits = format!("{rounded:e}");
        assert!(digits.split('e').next().unwrap().trim_matches(['0', '.']).len() <= 9, "{digits}");
        assert!((rounded - whole).abs() <= 5e-8 * whole, "{rounded} {whole}");
    };
    let mut n = 0;
    for (of_fit, record) in study.fits.iter().zip(&collected.models) {
        for (query, written) in of_fit.queries().iter().zip(&record.queries) {
            for (item, written) in query.items.iter().zip(&written.items) {
                let Estimate { value, standard_error, interval } = item.attraction;
                let of = written.attraction;
                for (rounded, whole) in [
                    (Some(of.value), Some(value)),
                    (of.se, standard_error),
                    (of.lower, interval.map(|ends| ends.0)),
                    (of.upper, interval.map(|ends| ends.1)),
                ] {
                    close(rounded.unwrap(), whole.unwrap());
                    n += usize::from(rounded != whole);
                }
            }
        }
    }
    assert!(n > 150, "{n}");
    for_each_parameter(&study.log.counts, &study.fits, |row| {
        close(row.estimate.value, row.estimate.value);
        Ok::<(), Infallible>(())
    })
    .unwrap();
}

/// The attraction of an item that was never examined, in a fit without priors, is unknown; JSON has
/// no such number.
#[test]
fn unknown_values_are_null_and_stay_unknown() {
    let lines = "query\turls\tclicked_mask\nq\ta,b\t10\nq\ta,b\t10\n";
    let log = Reader::new(Format::Sessions).keep_sessions().read("log", lines.as_bytes()).unwrap();
    let options = Options { prior_strength: Some(0.0), ..Options::default() };
    let cascade = fit(Model::Cascade, &log.counts, &log.sessions, &options).unwrap();
    let json = written_of(&log, &[cascade], &options, &|_| true);
    assert!(String::from_utf8_lossy(&json).contains("\"value\":null"));
    let parameters = read(&json).unwrap();
    let items = &parameters.model(Model::Cascade).unwrap().queries[0].items;
    assert!(items[1].attraction.value.is_nan() && items[0].attraction.value == 1.0);
    assert!(has_all(&parameters, &json));
}

/// With a table, the file has what belongs to all queries together, and no list that is empty
/// without saying why.
#[test]
fn a_file_with_a_table_has_what_belongs_to_all_queries() {
    let log = log();
    for scope in [Scope::Query, Scope::Site] {
        let options = Options { scope, ..with_priors() };
        let fits: Vec<_> = Model::ALL
            .iter()
            .map(|&model| fit(model, &log.counts, &log.sessions, &options).unwrap())
            .collect();
        let whole: Value = serde_json::from_slice(&written_of(&log, &fits, &options, &|_| true)).unwrap();
        let json = written_with_table(&log, &fits, &options);
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

        assert_eq!((&value["log"], &value["fitted"]), (&whole["log"], &whole["fitted"]));
        let sites = |value: &Value| {
            let models = value["models"].as_array().unwrap().iter();
            models.map(|model| (model["model"].clone(), model["site"].clone())).collect::<Vec<_>>()
        };
        assert_eq!(sites(&value), sites(&whole));
        let reports = whole["identifiability"].as_array().unwrap();
        let of_all = reports.iter().find(|report| report.get("query").is_none());
        for field in ["identified", "few_comparisons"] {
            let in_table = value.get("identifiability").map(|report| &report[field]);
            assert_eq!(in_table, of_all.map(|report| &report[field]));
        }
        let refused = read(&json).map(drop).unwrap_err();
        assert!(
            refused.starts_with("p.json: table: the parameters of queries are in \"t.parquet\""),
            "{refused}"
        );
    }
}

/// No list of `q` has a click at the top, so what follows such a click has the value of the other
/// query, and no interval.
#[test]
fn browsing_that_never_occurred_has_no_interval() {
    let sessions = |query: &str, mask: &str, n: usize| format!("{query}\ta,b,c\t{mask}\n").repeat(n);
    let lines = [
        "query\turls\tclicked_mask\n".to_owned(),
        sessions("q", "000", 60),
        sessions("q", "010", 40),
        sessions("q", "011", 20),
        sessions("r", "000", 100),
        sessions("r", "100", 100),
        sessions("r", "110", 50),
        sessions("r", "101", 50),
        sessions("r", "011", 50),
        sessions("r", "001", 50),
    ];
    let log = Reader::new(Format::Sessions).keep_sessions().read("log", lines.concat().as_bytes()).unwrap();
    let ubm = fit(Model::Ubm, &log.counts, &log.sessions, &Options::default()).unwrap();
    let parameters = read(written_of(&log, &[ubm], &Options::default(), &|_| true)).unwrap();
    for query in &parameters.models[0].queries {
        for row in &query.positions {
            let occurs = query.query == "r" || row.last_click != Some(1);
            assert!(row.estimate.value > 0.0 && row.estimate.se.is_some(), "{row:?}");
            assert_eq!(row.estimate.upper.is_some(), occurs, "{} {row:?}", query.query);
        }
    }
}

#[test]
fn some_queries_have_the_records_that_they_have_among_all() {
    let log = log();
    for scope in [Scope::Query, Scope::Site] {
        let options = Options { scope, ..with_priors() };
        let pbm = [fit(Model::Pbm, &log.counts, &log.sessions, &options).unwrap()];
        let all = read(written_of(&log, &pbm, &options, &|_| true)).unwrap();
        let only = log.counts.names().find("7/1").unwrap();
        let some = read(written_of(&log, &pbm, &options, &|query| query == only)).unwrap();
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
    }
}

#[test]
fn a_file_cut_anywhere_is_refused_with_its_line() {
    let json = written(&log(), &with_priors());
    let end = json.len() - 2;
    for len in (0..end).step_by(997).chain([end]) {
        let error = Parameters::from_json("p.json", &json[..len]).unwrap_err();
        let line = error.line().unwrap();
        let lines = memchr::memchr_iter(b'\n', &json[..len]).count();
        // At the end of a line, the error names that line.
        assert!(line == lines + 1 || line == lines.max(1), "{len}: {error}");
        assert!(error.to_string().starts_with(&format!("p.json:{line}:")), "{error}");
    }
}

#[test]
fn other_files_are_refused() {
    for (json, expected) in [
        ("", "p.json:1:1: EOF while parsing a value"),
        ("PAR1", "p.json:1:1: expected value"),
        ("[]", "p.json:1:2: invalid length 0, expected struct Version with 2 elements"),
        ("{}", "p.json:1:2: missing field `schema`"),
        ("{\"schema\": \"1\"}", "p.json:1:14: invalid type: string \"1\", expected u64"),
        ("{\"schema\": -1}", "p.json:1:13: invalid value: integer `-1`, expected u64"),
        ("{\"schema\": 1, \"schema\": 1}", "p.json:1:22: duplicate field `schema`"),
        ("{\"schema\": 3, \"models\": 7}", "p.json: schema: 3, expected 1: the file is of another version"),
        ("{\"schema\": 2, \"models\": 7}", "p.json: schema: 2, expected 1: the file is of another version"),
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
    assert!(missing.is_about_whole_file() && missing.file() == "no such file");
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
        (of("pbm", "queries/1/items"), json!([]), "none, expected at least one item"),
        (of("pbm", "queries/1/n_positions"), json!(0), "0, expected from 1 to 64"),
        (of("pbm", "queries/1/n_positions"), json!(65), "65, expected from 1 to 64"),
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
            "\"scope\":\"query\"",
            "\"scope\":\"session\"",
            "unknown variant `session`, expected `query` or `site`",
        ),
        ("\"model\":\"pbm\"", "\"model\":\"pdm\"", "unknown variant `pdm`, expected one of `pbm`, `cascade`"),
        ("\"level\"", "\"levels\"", "unknown field `levels`"),
        ("\"se\"", "\"sd\"", "unknown field `sd`"),
        ("\"level\":0.95", "\"level\":1e999", "number out of range"),
        ("\"level\":0.95", "\"level\":NaN", "expected value"),
        ("\"level\":0.95", "\"level\":null", "invalid type: null, expected f64"),
        ("\"converged\":true", "\"converged\":1", "invalid type: integer `1`, expected a boolean"),
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
        let once = serde_json::to_vec(&parameters).unwrap();
        serde_json::to_vec(&read(&once).unwrap()).unwrap() == once
    }
    quickcheck::QuickCheck::new().tests(2000).quickcheck(changed as fn(Vec<(usize, u8)>) -> bool);
}
