//! Fitted models: their parameters, their comparison, and the users that `simulate` runs.

use super::{ATTRACTION, EXAMINATION, dcm_log, pbm_log, table, text, works};
use crate::log_generator::{Traffic, yandex};
use click_models::PositionBased;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use tempfile::tempdir;

/// If users examine everything, a position-based model and a dependent click model are both right,
/// and chance decides which of them predicts better. The simpler model is chosen unless they are
/// told apart. The overview and `comparison.json` both report the choice.
#[test]
fn the_simpler_of_two_models_that_are_not_told_apart_is_simulated() {
    let top = tempdir().unwrap();
    let attraction: Vec<f64> = (0..12).map(|item| 0.4 / f64::from(item + 1)).collect();
    let users = PositionBased::from_values(&attraction, &[1.0; 10]).unwrap();
    let mut log = Vec::new();
    let traffic = [Traffic { query: 9, items: (1..=12).collect(), weight: 1.0, users }];
    yandex(&traffic, 10_000, 5, &mut log).unwrap();
    let path = top.path().join("sessions.txt");
    fs::write(&path, log).unwrap();
    let mut simpler = 0;
    for seed in 1..=6 {
        let out = top.path().join(seed.to_string());
        let seed = seed.to_string();
        let arguments =
            [text(&path), "--format", "yandex", "--model", "pbm,dcm", "--seed", &seed, "--answer", "0"];
        let printed = works("fit", &[&arguments[..], &["--out", text(&out)]].concat());
        let json: serde_json::Value =
            serde_json::from_slice(&fs::read(out.join("comparison.json")).unwrap()).unwrap();
        assert!(json["clusters"]["by"] == "session" && json["clusters"]["number"].as_u64() > Some(800));
        let users = &json["users"];
        let spec = fs::read_to_string(out.join("spec.toml")).unwrap();
        assert!(spec.contains(&format!("\nmodel = {}\n", users["model"])));
        assert_eq!(
            printed.contains("Users are those of pbm: dcm predicted better"),
            users["best"] != users["model"]
        );
        let told_apart = users["alike"].as_array().unwrap().len() == 1;
        assert_eq!(users["model"] == "pbm", !told_apart || users["best"] == "pbm");
        simpler += u32::from(users["model"] != users["best"]);
    }
    // At least once, the rule chose another model than the one that predicted better.
    assert!(simpler > 0);
}

/// `--held-out 0` fits the named models alone, to the same parameters.
#[test]
fn nothing_is_compared_if_nothing_is_to_be_held_out() {
    let top = tempdir().unwrap();
    let log = dcm_log(top.path(), 12, 300);
    let fitted = |held_out: &str| {
        let out = top.path().join(held_out);
        let arguments = ["--format", "yandex", "--model", "dcm", "--held-out", held_out];
        let printed = works("fit", &[&[text(&log)][..], &arguments, &["--out", text(&out)]].concat());
        let [parameters, comparison] =
            ["parameters.csv", "comparison.csv"].map(|name| fs::read_to_string(out.join(name)).unwrap());
        (printed, parameters, comparison.lines().count())
    };
    let (printed, parameters, rows) = fitted("10");
    assert!(printed.contains("ctr-global") && rows > 1, "{printed}");
    let (without, same, rows) = fitted("0");
    assert!(!without.contains("ctr-global") && without.contains("Models are not compared"), "{without}");
    assert_eq!((same, rows), (parameters, 1));
}

/// Differences between lists happen as the right model predicts. With an answer, this is shown and
/// chooses the users.
#[test]
fn whether_predicted_differences_happen_is_shown() {
    let top = tempdir().unwrap();
    let attraction: Vec<f64> = (0..12).map(|item| 0.6 / f64::from(item + 1)).collect();
    let users = PositionBased::from_values(&attraction, &[1.0, 0.5, 0.3, 0.2, 0.2, 0.1, 0.1, 0.1, 0.1, 0.1]);
    let traffic = [Traffic { query: 9, items: (1..=12).collect(), weight: 1.0, users: users.unwrap() }];
    let mut log = Vec::new();
    yandex(&traffic, 2000, 5, &mut log).unwrap();
    let path = top.path().join("sessions.txt");
    fs::write(&path, log).unwrap();
    let fitted = |answer: &str| {
        let out = top.path().join(answer);
        let arguments = [text(&path), "--format", "yandex", "--model", "cascade,pbm", "--answer", answer];
        let printed = works("fit", &[&arguments[..], &["--out", text(&out)]].concat());
        let read = |name: &str| fs::read_to_string(out.join(name)).unwrap();
        let json: serde_json::Value = serde_json::from_str(&read("comparison.json")).unwrap();
        (printed, read("index.html"), json)
    };
    let heading = "differences between lists that happens on lists left out of the fit";
    let (printed, page, json) = fitted("1");
    assert!(printed.contains(heading) && page.contains(heading), "{printed}");
    assert!(printed.contains("2,000 sessions of 2,000 lists of 1 query"), "{printed}");
    let (transfer, pbm) = (&json["transfer"], &json["transfer"]["models"][1]);
    assert_eq!((&pbm["model"], &pbm["verdict"]), (&"pbm".into(), &"supported".into()));
    let [lower, slope, upper] = ["lower", "slope", "upper"].map(|key| pbm[key].as_f64().unwrap());
    assert!(0.0 < lower && lower < slope && slope < upper && lower < 1.0 && 1.0 < upper, "{pbm}");
    assert_eq!((&transfer["alike"][0], &json["users"]["model"]), (&"pbm".into(), &"pbm".into()));
    let (printed, page, json) = fitted("0");
    assert!(!printed.contains(heading) && !page.contains(heading) && json.get("transfer").is_none());
}

/// Forty items that attract alike leave no list out of the search for the best one of user
/// browsing, so these users are not simulated.
#[test]
fn user_browsing_whose_best_lists_are_not_found_is_named() {
    let top = tempdir().unwrap();
    let users = PositionBased::from_values(&[0.3; 40], &[1.0; 10]).unwrap();
    let mut log = Vec::new();
    let traffic = [Traffic { query: 9, items: (1..=40).collect(), weight: 1.0, users }];
    yandex(&traffic, 400, 5, &mut log).unwrap();
    let path = top.path().join("sessions.txt");
    fs::write(&path, log).unwrap();
    let fitted = |models: &str, to: &str| {
        let out = top.path().join(to);
        let arguments = [text(&path), "--format", "yandex", "--model", models, "--answer", "0"];
        works("fit", &[&arguments[..], &["--out", text(&out)]].concat())
    };
    let named = "The users of ubm are not simulated: the best lists of 1 of 1 query take too long to find.\n";
    let alone = fitted("ubm", "alone");
    assert!(alone.contains(&format!("{named}No spec.toml: no fitted model can be simulated.\n")), "{alone}");
    let beside = fitted("pbm,ubm", "beside");
    assert!(beside.contains(&format!("{named}Users (pbm): ")), "{beside}");
    assert!(!fitted("pbm", "without").contains("ubm"));
}

/// The largest distance of an estimate from the truth, in standard errors.
fn farthest(parameters: &Path, examination: [f64; 3]) -> f64 {
    let mut distances = Vec::new();
    for row in table(parameters) {
        let query = match row["query"].as_str() {
            "" => continue,
            query => query.parse::<usize>().unwrap() - 31,
        };
        let truth = match row["kind"].as_str() {
            "attraction" => ATTRACTION[query][row["item"].parse::<usize>().unwrap() % 100],
            kind => {
                assert_eq!(kind, "examination");
                examination[row["position"].parse::<usize>().unwrap() - 1]
            }
        };
        let [estimate, se, lower, upper] =
            ["estimate", "se", "lower", "upper"].map(|column| row[column].parse::<f64>().unwrap());
        assert!(lower <= estimate && estimate <= upper);
        if se > 0.0 {
            distances.push((estimate - truth).abs() / se);
        }
    }
    // Two queries, each with four items and two positions below the first.
    assert_eq!(distances.len(), 12);
    distances.into_iter().fold(0.0, f64::max)
}

/// Each of twelve estimates is farther than 5.5 standard errors from the truth with probability
/// 4e-8: one in two million logs fails.
#[test]
fn fitted_parameters_are_near_the_truth_and_the_spec_runs() {
    let top = tempdir().unwrap();
    let log = pbm_log(top.path(), 40_000);
    let out = top.path().join("fit");
    let printed = works("fit", &[text(&log), "--format", "kdd2012", "--model", "pbm", "--out", text(&out)]);
    for part in ["40,000 lines", "Fitted: 2 of 2 queries, 24 cells", "one in 10", "\npbm ", "spec.toml"] {
        assert!(printed.contains(part), "{printed}");
    }
    assert!(farthest(&out.join("parameters.csv"), EXAMINATION) < 5.5);
    // The check finds a wrong truth: examination of the second and the third position exchanged.
    assert!(farthest(&out.join("parameters.csv"), [1.0, 0.3, 0.55]) > 5.5);

    let scores = table(&out.join("comparison.csv"));
    let best = scores.iter().find(|row| row["rank"] == "all").unwrap();
    assert_eq!(best["model"], "pbm");
    let json: serde_json::Value =
        serde_json::from_slice(&fs::read(out.join("parameters.json")).unwrap()).unwrap();
    assert_eq!(json["models"][0]["queries"][1]["items"][0]["item"], "3200");
    assert_eq!(json["identifiability"][0]["identified"], true);
    assert!(json["rank_one"][0]["share_of_squares"].as_f64().unwrap() > 0.99);
    for figure in ["examination.svg", "attraction.svg"] {
        assert!(fs::read_to_string(out.join(figure)).unwrap().ends_with("</svg>\n"));
    }

    // The hint at the end is quoted for a shell.
    let odd = top.path().join("it's here");
    let printed = works("fit", &[text(&log), "--format", "kdd2012", "--model", "pbm", "--out", text(&odd)]);
    let quoted = format!("simulate '{}'", text(&odd.join("spec.toml")).replace('\'', "'\\''"));
    assert!(printed.contains(&quoted), "{printed}");

    let (spec, results) = (out.join("spec.toml"), top.path().join("results"));
    let short = ["--horizon", "50", "--runs", "4"];
    let printed = works("simulate", &[&[text(&spec), "--out", text(&results)], &short[..]].concat());
    assert!(printed.contains("pbm-ts"), "{printed}");
}

#[test]
fn all_models_are_compared_and_the_best_is_simulated() {
    let top = tempdir().unwrap();
    let log = dcm_log(top.path(), 12, 20_000);
    let out = top.path().join("fit");
    works("fit", &[text(&log), "--format", "yandex", "--answer", "0", "--out", text(&out), "--quiet"]);
    let scores = table(&out.join("comparison.csv"));
    let models: Vec<&str> =
        scores.iter().filter(|row| row["rank"] == "all").map(|row| row["model"].as_str()).collect();
    assert_eq!(models.len(), 10, "{models:?}");
    let place = |name: &str| models.iter().position(|model| *model == name).unwrap();
    assert!(["pbm", "cascade", "ctr-rank", "ctr-global"].iter().all(|other| place("dcm") < place(other)));

    // The best model is first, so no difference from it is positive. The position-based model is
    // far behind it.
    let differences: BTreeMap<&str, [f64; 2]> = scores
        .iter()
        .filter(|row| row["rank"] == "all")
        .map(|row| {
            (
                row["model"].as_str(),
                ["difference", "difference_se"].map(|column| row[column].parse().unwrap()),
            )
        })
        .collect();
    assert!(differences[models[0]] == [0.0, 0.0] && differences.values().all(|[mean, _]| *mean <= 0.0));
    assert!(differences["pbm"][0] < -5.0 * differences["pbm"][1] && differences["pbm"][1] > 0.0);

    // The file also has the values assumed for unknown items, so that other programs can repeat the
    // predictions of the comparison.
    let json: serde_json::Value =
        serde_json::from_slice(&fs::read(out.join("parameters.json")).unwrap()).unwrap();
    let site_of = |name: &str| {
        let models = json["models"].as_array().unwrap();
        models.iter().find(|model| model["model"] == name).unwrap()["site"].clone()
    };
    for (model, name) in [("sdbn", "typical_satisfaction"), ("cascade", "below_first_click")] {
        assert!((0.0..1.0).contains(&site_of(model)[name].as_f64().unwrap()), "{model}");
        assert!(site_of("dcm")[name].is_null());
    }
    let spec = out.join("spec.toml");
    assert!(fs::read_to_string(&spec).unwrap().contains("\nmodel = \"dcm\"\n"));
    let results = top.path().join("results");
    works("simulate", &[text(&spec), "--out", text(&results), "--horizon", "50", "--runs", "2", "--quiet"]);

    // Users of other models can also be simulated, and there is an answer for them.
    let few = top.path().join("few");
    fs::create_dir(&few).unwrap();
    let log = dcm_log(&few, 11, 500);
    for (model, simulated) in [("cascade", true), ("dbn", true), ("ubm", true)] {
        let out = top.path().join(model);
        works(
            "fit",
            &[text(&log), "--format", "yandex", "--model", model, "--out", text(&out), "--scope", "site"],
        );
        assert_eq!(out.join("spec.toml").exists(), simulated);
        if simulated {
            let (spec, results) = (out.join("spec.toml"), top.path().join(format!("{model}-results")));
            works("simulate", &[text(&spec), "--out", text(&results), "--horizon", "50", "--runs", "2"]);
        }
    }
}

/// The second position is examined most: users keep the order of the log, and attraction is
/// relative to it.
#[test]
fn a_position_that_is_examined_more_than_the_first_keeps_its_place() {
    let top = tempdir().unwrap();
    let counts = top.path().join("counts.csv");
    let cells = "q\"1,a,1,100,1000\nq\"1,a,2,200,1000\nq\"1,b,1,200,1000\nq\"1,b,2,400,1000\n";
    let cells = cells.replace("q\"1", "\"q\"\"1\"");
    fs::write(&counts, format!("query,item,position,clicks,impressions\n{cells}")).unwrap();
    let out = top.path().join("out");
    works("fit", &["--counts", text(&counts), "--prior", "0", "--out", text(&out)]);
    let spec = fs::read_to_string(out.join("spec.toml")).unwrap();
    assert!(!spec.contains("Positions of the log"), "{spec}");
    let spec: toml::Table = spec.parse().unwrap();
    let query = &spec["instances"].as_array().unwrap()[0];
    assert_eq!(query["name"].as_str(), Some("q\"1"));
    for (key, truth) in [("theta", [0.2, 0.4]), ("kappa", [0.5, 1.0])] {
        let numbers = query[key].as_array().unwrap().iter().map(|number| number.as_float().unwrap());
        assert!(numbers.zip(truth).all(|(number, truth)| (number - truth).abs() < 1e-6), "{key}");
    }
    let results = top.path().join("results");
    works(
        "simulate",
        &[text(&out.join("spec.toml")), "--out", text(&results), "--horizon", "50", "--runs", "2"],
    );
}

/// A log of the positions 3, 5 and 7: its rows, its users, and users drawn from it have these and
/// no other.
#[test]
fn positions_that_a_log_never_shows_are_in_no_file() {
    let top = tempdir().unwrap();
    let counts = top.path().join("counts.csv");
    let cell = |item, position, clicks| format!("q,{item},{position},{clicks},1000\n");
    let cells = [("a", [600, 360, 180]), ("b", [400, 240, 120]), ("c", [200, 120, 60])];
    let cells = cells.iter().flat_map(|&(item, clicks)| {
        [3, 5, 7].into_iter().zip(clicks).map(move |(position, clicks)| cell(item, position, clicks))
    });
    fs::write(&counts, format!("query,item,position,clicks,impressions\n{}", cells.collect::<String>()))
        .unwrap();
    let out = top.path().join("out");
    works("fit", &["--counts", text(&counts), "--scope", "site", "--prior", "0", "--out", text(&out)]);
    let parameters = fs::read_to_string(out.join("parameters.json")).unwrap();
    let parameters: serde_json::Value = serde_json::from_str(&parameters).unwrap();
    let rows = parameters["models"][0]["site"]["positions"].as_array().unwrap();
    assert_eq!(rows.iter().map(|row| row["position"].as_u64().unwrap()).collect::<Vec<_>>(), [3, 5, 7]);
    let spec = fs::read_to_string(out.join("spec.toml")).unwrap();
    assert!(spec.contains("# Positions of the log, counted from 1: 3, 5, 7."), "{spec}");
    let csv = fs::read_to_string(out.join("parameters.csv")).unwrap();
    assert_eq!(csv.lines().filter(|line| line.contains("examination")).count(), 3, "{csv}");
    let spec = top.path().join("drawn.toml");
    let users = "users = { posterior = \"out/parameters.json\", model = \"pbm\" }";
    fs::write(&spec, format!("{DRAWN}{users}\n[[policies]]\npolicy = \"pbm-ts\"\n")).unwrap();
    let (drawn, fitted) = (top.path().join("drawn"), top.path().join("fitted"));
    for (spec, results) in [(&spec, &drawn), (&out.join("spec.toml"), &fitted)] {
        works("simulate", &[text(spec), "--out", text(results), "--horizon", "20", "--runs", "2"]);
    }
    // .6 at the first, .4 at the second and .2 at the third position.
    for results in [drawn, fitted] {
        let result = fs::read_to_string(results.join("result.json")).unwrap();
        let result: serde_json::Value = serde_json::from_str(&result).unwrap();
        let optimum = result["optimum"]["clicks"]["mean"][0].as_f64().unwrap();
        assert!((optimum - 0.9).abs() < 0.1, "{optimum}");
    }
}

const DRAWN: &str =
    "name = \"drawn\"\ntask = \"regret\"\nhorizon = 20\nruns = 2\nseed = 1\ncheckpoints = { log = 5 }\n";
