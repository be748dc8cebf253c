//! `reproduce --data LOG`: from a log in its native format to the paper's queries, its table, its
//! figures and a page.

use crate::log_generator::{Traffic, kdd2012, yandex};
use click_models::PositionBased;
use serde_json::Value;
use std::fs;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::{TempDir, tempdir};

/// A query of the experiment `kdd2012`.
struct Query {
    /// The number of the query in a log.
    number: u64,
    theta: Vec<f64>,
    kappa: Vec<f64>,
    /// The number of records that the papers state.
    records: u32,
}

fn experiment(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../xtask/experiments").join(name)
}

/// The instances of the experiment `kdd2012`, which has one line for each parameter, with the
/// records of the printed table.
fn published_queries() -> Vec<Query> {
    let text = fs::read_to_string(experiment("kdd2012").join("experiment.toml")).unwrap();
    let numbers = |line: &str| serde_json::from_str(line.split_once('=').unwrap().1).unwrap();
    let lists = |key: &str| -> Vec<Vec<f64>> {
        text.lines().filter(|line| line.starts_with(key)).map(numbers).collect()
    };
    let records = |line: &str| -> Option<u32> {
        let (_, after) = line.split_once("records = ")?;
        after.split(',').next()?.replace('_', "").parse().ok()
    };
    let records: Vec<u32> = text.lines().filter_map(records).collect();
    let all = lists("theta = ").into_iter().zip(lists("kappa = ")).zip(records).zip(4501..);
    all.map(|(((theta, kappa), records), number)| Query { number, theta, kappa, records }).collect()
}

/// Writes a log of these queries, each with as many impressions as it has records in the papers.
/// The log also has traffic that does not pass the papers' filter: items with too few impressions,
/// a query with too few items, and a query with too few impressions.
fn kdd_log(queries: &[Query], file: &Path) {
    let traffic =
        |number: u64, items: std::ops::Range<u64>, impressions: u32, theta: &[f64], kappa: &[f64]| {
            let users = PositionBased::from_values(theta, kappa).unwrap();
            Traffic {
                query: number,
                items: items.map(|item| 20_000_000 + 100 * number + item).collect(),
                weight: f64::from(impressions),
                users,
            }
        };
    let of = |query: &Query| {
        traffic(query.number, 0..query.theta.len() as u64, query.records, &query.theta, &query.kappa)
    };
    let mut all: Vec<_> = queries.iter().map(of).collect();
    let (few, kappa) = ([0.1; 3], [1.0, 0.5, 0.4]);
    all.push(traffic(queries[0].number, 50..53, 2000, &few, &kappa));
    all.push(traffic(7, 0..4, 100_000, &[0.1, 0.2, 0.1, 0.1], &kappa));
    all.push(traffic(8, 0..6, 5000, &[0.1; 6], &kappa));
    // A line has two impressions on average.
    let impressions = queries.iter().map(|query| u64::from(query.records)).sum::<u64>() + 107_000;
    let lines = impressions / 2;
    kdd2012(&all, lines, 11, &mut BufWriter::new(fs::File::create(file).unwrap())).unwrap();
}

fn reproduce(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_click-bandits")).arg("reproduce").args(arguments).output().unwrap()
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn json(file: &Path) -> Value {
    serde_json::from_slice(&fs::read(file).unwrap()).unwrap()
}

/// Runs `reproduce` into a new directory; it has to succeed.
fn works(arguments: &[&str]) -> (TempDir, PathBuf) {
    let top = tempdir().unwrap();
    let out = top.path().join("out");
    let output = reproduce(&[arguments, &["--out", text(&out), "--quiet"]].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    (top, out)
}

/// The distance of an estimate from the truth in standard errors, and whether its interval covers
/// the truth.
fn distance(estimate: &Value, truth: f64) -> (f64, bool) {
    let number = |key: &str| estimate[key].as_f64().unwrap();
    let inside = number("lower") <= truth && truth <= number("upper");
    ((number("value") - truth) / number("se"), inside)
}

/// The distances of all estimates from the parameters of `queries` in standard errors, and the
/// number of intervals that cover them. Attractions are multiplied by `scale`.
fn distances(parameters: &Value, queries: &[Query], scale: f64) -> (Vec<f64>, usize) {
    let fitted = parameters["models"][0]["queries"].as_array().unwrap();
    let mut all = Vec::new();
    for query in queries {
        let name = query.number.to_string();
        let fit = fitted.iter().find(|fit| fit["query"] == name.as_str()).unwrap();
        let (items, positions) = (fit["items"].as_array().unwrap(), fit["positions"].as_array().unwrap());
        assert_eq!((items.len(), positions.len()), (query.theta.len(), 3));
        for item in items {
            let number: u64 = item["item"].as_str().unwrap().parse().unwrap();
            let truth = query.theta[usize::try_from(number % 100).unwrap()];
            all.push(distance(&item["attraction"], truth * scale));
        }
        all.extend(
            positions.iter().zip(&query.kappa).skip(1).map(|(estimate, truth)| distance(estimate, *truth)),
        );
    }
    let inside = all.iter().filter(|(_, inside)| *inside).count();
    (all.into_iter().map(|(z, _)| z).collect(), inside)
}

#[test]
fn queries_fitted_to_a_log_of_the_published_queries_are_near_them() {
    let queries = published_queries();
    assert_eq!(queries.len(), 8);
    let top = tempdir().unwrap();
    let log = top.path().join("training.txt");
    kdd_log(&queries, &log);
    let (_out, out) = works(&[text(&experiment("kdd2012")), "--log", text(&log), "--quick", "--runs", "2"]);

    // Eight queries pass the filter, with the items that were shown often enough.
    let parameters = json(&out.join("fitted/parameters.json"));
    assert_eq!(parameters["models"][0]["queries"].as_array().unwrap().len(), 8);
    // 58 attractions and 16 examinations. A normal number is beyond 6 with probability 2e-9. If the
    // estimates were independent, 16 or more of 74 would miss their 95 % interval with probability
    // 6e-7.
    let (z_scores, inside) = distances(&parameters, &queries, 1.0);
    assert_eq!(z_scores.len(), 74);
    assert!(z_scores.iter().all(|z| z.abs() < 6.0), "{z_scores:?}");
    assert!(inside > 58, "{inside} of 74");
    // The check finds attractions that are wrong by a tenth.
    let (z_scores, inside) = distances(&parameters, &queries, 1.1);
    assert!(z_scores.iter().any(|z| z.abs() > 6.0) && inside <= 58, "{inside}");
    // Every matrix of click-through rates is nearly of rank one.
    for query in parameters["rank_one"].as_array().unwrap() {
        assert!(query["share"].as_f64().unwrap() > 0.8, "{query}");
    }

    let claims = json(&out.join("claims.json"));
    assert_eq!(claims["ok"], true);
    let of = |name: &str| {
        claims["claims"].as_array().unwrap().iter().find(|claim| claim["name"] == name).unwrap().clone()
    };
    // The rows of the printed table are compared with the queries of the log. All sizes agree, so
    // that only maxima differ.
    let table = of("table-1-sizes-and-maxima");
    assert_eq!(table["known"], "not-testable");
    let differing: Vec<&str> =
        table["comparisons"].as_array().unwrap().iter().map(|one| one["what"].as_str().unwrap()).collect();
    assert!(differing.iter().all(|what| what.starts_with("max theta of 45")), "{differing:?}");
    assert_ne!(of("rsf-ts-leads")["verdict"], "not-testable");

    let page = fs::read_to_string(out.join("index.html")).unwrap();
    for text in [
        "Measured: 8 queries fitted to ",
        "training.txt (parameters: SHA-256 ",
        "The queries of the log",
        "fitted to each query, by maximum likelihood.",
        "A row is taken for the query of the log at the same place in the same order: an assumption",
        "Parameters, to 5 decimals",
        "first singular value",
        "href=\"fitted/parameters.json\"",
        "<td>4507</td>",
        "Nothing is known of these queries beforehand.",
    ] {
        assert!(page.contains(text), "{text}");
    }
    assert!(!page.contains("gaudel"), "the published parameters were not used");
    for file in ["fitted/examination.svg", "pbm-figure-2/result.json", "rsf-figure-3/result.json"] {
        assert!(out.join(file).is_file(), "{file}");
    }
}

#[test]
fn queries_fitted_to_a_log_of_web_search_become_rank_one_instances() {
    let traffic: Vec<_> = [(31, 0.5), (32, 0.3)]
        .map(|(query, best)| {
            let theta: Vec<f64> = (0..12).map(|item| best / f64::from(item + 1)).collect();
            let kappa: Vec<f64> = (0..10).map(|position| 1.0 / f64::from(position + 1)).collect();
            let users = PositionBased::from_values(&theta, &kappa).unwrap();
            Traffic { query, items: (0..12).map(|item| 100 * query + item).collect(), weight: 1.0, users }
        })
        .into();
    let top = tempdir().unwrap();
    let log = top.path().join("train.tsv");
    yandex(&traffic, 200_000, 3, &mut BufWriter::new(fs::File::create(&log).unwrap())).unwrap();
    let (_out, out) = works(&[
        text(&experiment("yandex")),
        "--data",
        text(&log),
        "--quick",
        "--panel",
        "data-later-policies",
    ]);
    let spec = fs::read_to_string(out.join("data-later-policies/spec.toml")).unwrap();
    let lists = |key: &str| -> Vec<Vec<f64>> {
        let line = |line: &str| Some(serde_json::from_str(line.strip_prefix(key)?).unwrap());
        spec.lines().filter_map(line).collect()
    };
    assert!(lists("rows = ").iter().all(|rows| rows.len() == 12), "{spec}");
    let examination = lists("columns = ");
    assert_eq!(examination.len(), 2);
    // 100,000 impressions at each position of a query: the second one has a standard error of .01
    // at most.
    assert!(examination.iter().all(|columns| (columns[1] - 0.5).abs() < 0.05), "{examination:?}");
}

#[test]
fn logs_that_an_experiment_cannot_use_are_refused() {
    let top = tempdir().unwrap();
    let out = top.path().join("out");
    let refused = |name: &str, file: &Path| {
        let output =
            reproduce(&[text(&experiment(name)), "--log", text(file), "--out", text(&out), "--quiet"]);
        assert!(!output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    let missing = refused("kdd2012", &top.path().join("nowhere.txt"));
    assert!(missing.contains("--data: ") && missing.contains("nowhere.txt: "), "{missing}");
    let log = top.path().join("log.txt");
    fs::write(&log, "1\t2\tthree\n").unwrap();
    let faulty = refused("kdd2012", &log);
    assert!(faulty.contains("log.txt:1:"), "{faulty}");
    let no_log = refused("rank1", &log);
    assert!(no_log.contains("rank1 does not specify how its log is read (`[log]`)"), "{no_log}");
    fs::write(&log, "0\t1\t1\t2\t3\t1\t1\t4\t5\t6\t7\t8\n").unwrap();
    let nothing = refused("kdd2012", &log);
    assert!(nothing.contains("none of 1 queries has 5 items with 1000 impressions"), "{nothing}");
    assert!(nothing.ends_with("positions, as the experiment requires (`[log]`)\n"), "{nothing}");
    fs::write(&log, "0\t1\t1\t2\t3\t1\t1\t4\t5\t6\t7\t8\r\n").unwrap();
    let of_windows = refused("kdd2012", &log);
    assert!(of_windows.contains("none of 1 queries has 5 items"), "lines may end with CR LF: {of_windows}");
    fs::write(&log, "\n [{\"name\": \"a\", \"theta\": [1], \"kappa\": [1]}]").unwrap();
    let json = refused("kdd2012", &log);
    assert!(json.contains("begins like JSON: measured queries are in a file that ends in .json"), "{json}");
    assert!(!out.join("index.html").exists());
}

/// The lines of a query with five items. Each item has 1000 impressions at each of three positions,
/// and `clicks` at the best position. `positions` are the best, the second and the third.
fn small_log(clicks: [u32; 5], positions: [u32; 3]) -> String {
    let line = |item: u32, clicks: u32, position: u32| {
        format!("{clicks}\t1000\t1\t{item}\t3\t3\t{position}\t4\t5\t6\t7\t8\n")
    };
    let lines_of = |(item, clicks): (u32, u32)| {
        let ranks: [u32; 3] = [1, 2, 3];
        ranks.map(|rank| line(item, clicks / rank, positions[rank as usize - 1])).concat()
    };
    (20..).zip(clicks).map(lines_of).collect()
}

#[test]
fn a_page_says_how_a_log_differs_from_the_papers() {
    let top = tempdir().unwrap();
    let log = top.path().join("log.txt");
    fs::write(&log, small_log([120, 60, 36, 30, 0], [2, 1, 3])).unwrap();
    let (_out, out) = works(&[text(&experiment("kdd2012")), "--log", text(&log), "--runs", "1"]);
    let page = fs::read_to_string(out.join("index.html")).unwrap();
    for text in [
        // The first position has half of the clicks of the second, which is the best.
        "data-head=\"min theta\">0.000</td>\n<td class=\"number\" data-head=\"max theta\">0.060</td>",
        "0.12000, 0.06000, 0.03600, 0.03000, 0.00000",
        // In the order of the log; users of the random semi-bandit scan the best position first.
        "0.50000, 1.00000, 0.33333",
        "1.00000, 0.50000, 0.33333",
        // Rows of the printed table have no names.
        "<td>row 1</td>\n<td class=\"number\" data-head=\"records\">216,565</td>",
        "Nothing is known of these data beforehand",
    ] {
        assert!(page.contains(text), "{text}");
    }
    assert!(!page.contains("A row is taken for the query"));
    let claims = json(&out.join("claims.json"));
    let summary = |name: &str| {
        let claim = claims["claims"].as_array().unwrap().iter().find(|claim| claim["name"] == name).unwrap();
        claim["summary"].as_str().unwrap().to_owned()
    };
    assert_eq!(summary("table-1-minima"), "the table has 8 queries, and in the log one passes");
    assert!(summary("first-singular-value").contains("the papers state no number"));
}

#[test]
fn the_fitted_models_of_a_report_are_not_overwritten() {
    let top = tempdir().unwrap();
    let (log, out) = (top.path().join("log.txt"), top.path().join("out"));
    let kdd2012 = experiment("kdd2012");
    let with = |more: &[&str]| {
        let usual = [text(&kdd2012), "--log", text(&log), "--out", text(&out), "--quiet", "--runs", "1"];
        let output = reproduce(&[&usual, more].concat());
        let errors = String::from_utf8(output.stderr).unwrap();
        (output.status.success(), errors)
    };
    let panel = ["--panel", "rsf-figure-3"];
    // Errors that do not concern the log are reported before it is opened.
    let (_, typo) = with(&["--panel", "figure-3"]);
    assert!(typo.contains("no such panel: known: pbm-figure-2, rsf-figure-3"), "{typo}");
    fs::create_dir(&out).unwrap();
    fs::write(out.join("index.html"), "mine").unwrap();
    let (_, taken) = with(&panel);
    assert!(taken.contains("index.html: is in the way"), "{taken}");
    fs::remove_file(out.join("index.html")).unwrap();

    fs::write(&log, small_log([100, 50, 40, 30, 20], [1, 2, 3])).unwrap();
    assert_eq!(with(&panel), (true, String::new()));
    let files = || ["claims.json", "fitted/parameters.json"].map(|file| fs::read(out.join(file)).unwrap());
    let before = files();
    // A file of the same name with other lines.
    fs::write(&log, small_log([100, 50, 40, 30, 90], [1, 2, 3])).unwrap();
    let (done, other) = with(&panel);
    assert!(!done && other.contains("holds the report of"), "{other}");
    fs::remove_file(&log).unwrap();
    let (_, other) = with(&["--panel", "rsf-figure-3", "--seed", "7"]);
    assert!(other.contains("holds the report of"), "{other}");
    assert!(files() == before);
}
