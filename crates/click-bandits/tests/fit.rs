//! `fit`, from a generated log to parameters, a comparison and a spec that `simulate` runs; and what it refuses.

use click_logs::generate::{Traffic, kdd2012, yandex};
use click_models::{DcmReward, DependentClick, PositionBased};
use confidence::Probability;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::{TempDir, tempdir};

const EXAMINATION: [f64; 3] = [1.0, 0.55, 0.3];
const ATTRACTION: [[f64; 4]; 2] = [[0.4, 0.3, 0.2, 0.1], [0.6, 0.1, 0.25, 0.05]];

fn run(command: &str, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_click-bandits")).arg(command).args(arguments).output().unwrap()
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Runs what has to work, and returns what it says.
fn works(command: &str, arguments: &[&str]) -> String {
    let output = run(command, arguments);
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    said
}

/// Runs `fit` on what it has to refuse, without a file written, and returns the message.
fn refused(arguments: &[&str]) -> String {
    let top = tempdir().unwrap();
    let out = top.path().join("out");
    let output = run("fit", &[arguments, &["--quiet", "--out", text(&out)]].concat());
    assert!(!output.status.success());
    assert!(!out.exists());
    String::from_utf8(output.stderr).unwrap()
}

/// Two queries, 31 and 32, of position-based users.
fn pbm_log(dir: &Path) -> PathBuf {
    let query = |(number, attraction): (u64, &[f64; 4])| Traffic {
        query: number,
        items: (0..4).map(|item| 100 * number + item).collect(),
        weight: 1.0,
        users: PositionBased::from_values(attraction, &EXAMINATION).unwrap(),
    };
    let traffic: Vec<_> = (31..).zip(&ATTRACTION).map(query).collect();
    let mut log = Vec::new();
    kdd2012(&traffic, 40_000, 5, &mut log).unwrap();
    let path = dir.join("training.txt");
    fs::write(&path, log).unwrap();
    path
}

/// One query of users who leave after a click.
fn dcm_log(dir: &Path) -> PathBuf {
    let probabilities = |values: Vec<f64>| -> Vec<Probability> {
        values.into_iter().map(|value| Probability::new(value).unwrap()).collect()
    };
    let attraction = probabilities((0..12).map(|item| 0.5 / f64::from(item + 1)).collect());
    let leave = probabilities((0..10).map(|position| 0.9 - 0.05 * f64::from(position)).collect());
    let users = DependentClick::new(attraction, leave, DcmReward::Clicks).unwrap();
    let traffic = [Traffic { query: 9, items: (1..=12).collect(), weight: 1.0, users }];
    let mut log = Vec::new();
    yandex(&traffic, 20_000, 5, &mut log).unwrap();
    let path = dir.join("sessions.txt");
    fs::write(&path, log).unwrap();
    path
}

/// The rows of a table, by column.
fn table(path: &Path) -> Vec<BTreeMap<String, String>> {
    let mut table = csv::Reader::from_path(path).unwrap();
    table.deserialize().collect::<Result<_, _>>().unwrap()
}

/// All files, but for the one that says when and how they were made.
fn contents(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let name = |entry: fs::DirEntry| entry.file_name().into_string().unwrap();
    let names = fs::read_dir(dir).unwrap().map(|entry| name(entry.unwrap()));
    let made = names.filter(|name| name != "manifest.json");
    made.map(|name| (name.clone(), fs::read(dir.join(name)).unwrap())).collect()
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
    // Four items and two positions below the first, of two queries.
    assert_eq!(distances.len(), 12);
    distances.into_iter().fold(0.0, f64::max)
}

/// Twelve estimates, each farther from its truth than 5.5 standard errors with probability 4e-8: one in two million logs fails.
#[test]
fn parameters_come_back_and_the_spec_runs() {
    let top = tempdir().unwrap();
    let log = pbm_log(top.path());
    let out = top.path().join("fit");
    let said = works("fit", &[text(&log), "--format", "kdd2012", "--model", "pbm", "--out", text(&out)]);
    for part in ["40000 lines", "Fitted: 2 of 2 queries, 24 cells", "one in 10", "\npbm ", "spec.toml"] {
        assert!(said.contains(part), "{said}");
    }
    assert!(farthest(&out.join("parameters.csv"), EXAMINATION) < 5.5);
    // Taken for another truth: the second and the third position the other way round.
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

    let (spec, results) = (out.join("spec.toml"), top.path().join("results"));
    let short = ["--horizon", "50", "--runs", "4"];
    let said = works("simulate", &[&[text(&spec), "--out", text(&results)], &short[..]].concat());
    assert!(said.contains("pbm-ts"), "{said}");
}

/// What the first fit counted, another begins with: the same parameters.
#[test]
fn counts_are_as_good_as_the_log() {
    let top = tempdir().unwrap();
    let log = pbm_log(top.path());
    let (first, second) = (top.path().join("first"), top.path().join("second"));
    works("fit", &[text(&log), "--format", "kdd2012", "--out", text(&first)]);
    let counts = first.join("counts.csv");
    let said = works("fit", &["--counts", text(&counts), "--out", text(&second)]);
    assert!(said.contains("not fitted: cascade, dcm, ubm, sdbn"), "{said}");
    for file in ["parameters.csv", "counts.csv", "examination.svg"] {
        assert_eq!(fs::read(first.join(file)).unwrap(), fs::read(second.join(file)).unwrap());
    }
    let delimited = top.path().join("delimited");
    let columns = "query=query,item=item,position=position,click=clicks,impressions=impressions";
    works(
        "fit",
        &[text(&counts), "--format", "delimited", "--columns", columns, "--out", text(&delimited), "--quiet"],
    );
    assert_eq!(contents(&delimited)["parameters.csv"], contents(&first)["parameters.csv"]);
}

#[test]
fn all_models_are_compared_and_the_best_is_simulated() {
    let top = tempdir().unwrap();
    let log = dcm_log(top.path());
    let out = top.path().join("fit");
    works("fit", &[text(&log), "--format", "yandex", "--out", text(&out), "--quiet"]);
    let scores = table(&out.join("comparison.csv"));
    let models: Vec<&str> =
        scores.iter().filter(|row| row["rank"] == "all").map(|row| row["model"].as_str()).collect();
    assert_eq!(models.len(), 8, "{models:?}");
    let place = |name: &str| models.iter().position(|model| *model == name).unwrap();
    assert!(["pbm", "cascade", "ctr-rank", "ctr-global"].iter().all(|other| place("dcm") < place(other)));

    // What is not known of an item is written, too: others can foretell with the file what the comparison foretold.
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

    // The cascade's users, too, and the browsing model has none that are simulated.
    for (model, simulated) in [("cascade", true), ("ubm,sdbn", false)] {
        let out = top.path().join(model);
        works(
            "fit",
            &[text(&log), "--format", "yandex", "--model", model, "--out", text(&out), "--scope", "site"],
        );
        assert_eq!(out.join("spec.toml").exists(), simulated);
        if simulated {
            let (spec, results) = (out.join("spec.toml"), top.path().join("cascade-results"));
            works("simulate", &[text(&spec), "--out", text(&results), "--horizon", "50", "--runs", "2"]);
        }
    }
}

#[test]
fn results_do_not_depend_on_the_threads() {
    let top = tempdir().unwrap();
    for (log, format) in [(pbm_log(top.path()), "kdd2012"), (dcm_log(top.path()), "yandex")] {
        let [one, two] = ["1", "2"].map(|threads| {
            let out = top.path().join(format!("{format}-{threads}"));
            works(
                "fit",
                &[text(&log), "--format", format, "--threads", threads, "--out", text(&out), "--quiet"],
            );
            contents(&out)
        });
        assert_eq!(one.len(), 8);
        assert!(one == two);
    }
}

#[test]
fn what_cannot_be_is_refused_with_a_clear_message() {
    let top = tempdir().unwrap();
    let log = pbm_log(top.path());
    let log = text(&log);
    let empty = top.path().join("empty.txt");
    fs::write(&empty, "").unwrap();
    let missing = top.path().join("missing.txt");
    let parquet = top.path().join("counts.parquet");
    fs::write(&parquet, "query,item").unwrap();
    let nothing_passes = ["--min-impressions", "1000000", "--min-items", "5", "--positions", "3"];
    for (arguments, message) in [
        (&[text(&missing), "--format", "kdd2012"][..], "missing.txt: No such file or directory"),
        (&[text(&empty), "--format", "kdd2012"], "empty.txt: "),
        (&[log, "--format", "yandex"], "training.txt:1: "),
        (&[log, "--format", "parchment"], "possible values: kdd2012"),
        (&[log], "--format"),
        (&[log, "--format", "delimited"], "--columns"),
        (&[log, "--format", "delimited", "--columns", "item=a"], "--columns: `position` is missing"),
        (
            &[log, "--format", "kdd2012", "--columns", "item=a"],
            "--columns: only for --format delimited and parquet",
        ),
        (&[log, "--format", "kdd2012", "--counts", log], "cannot be used with"),
        (
            &[log, "--format", "kdd2012", "--model", "cascade"],
            "--model cascade: it is fitted from whole sessions",
        ),
        (&["--counts", log, "--model", "pbm,dcm"], "--model dcm: it is fitted from whole sessions"),
        (&["--counts", log], "training.txt:1: "),
        (&[log, "--format", "parquet", "--columns", "item=a,position=b,click=c"], "training.txt: "),
        (&["--counts", text(&parquet)], "counts.parquet: "),
        (&[&[log, "--format", "kdd2012"], &nothing_passes[..]].concat(), "nothing to fit: none of 2 queries"),
        (
            &[log, "--format", "kdd2012", "--prior", "-1"],
            "'--prior <STRENGTH>': expected a number from 0 to 1e9",
        ),
        (&[log, "--format", "kdd2012", "--held-out", "1"], "--held-out"),
        (&[log, "--format", "kdd2012", "--max-skipped", "0.5"], "--lenient"),
        (&[log, "--format", "kdd2012", "--lenient", "--max-skipped", "2"], "--max-skipped: 2 is no share"),
    ] {
        let said = refused(arguments);
        assert!(said.contains(message), "{arguments:?}: {said}");
        assert_eq!(said.matches("No such file").count(), usize::from(message.contains("No such file")));
    }
}

#[test]
fn a_directory_with_other_results_is_refused_and_the_same_fit_may_be_run_again() {
    let top: TempDir = tempdir().unwrap();
    let log = pbm_log(top.path());
    let out = top.path().join("out");
    let arguments = [text(&log), "--format", "kdd2012", "--quiet", "--out", text(&out)];
    works("fit", &arguments);
    let before = contents(&out);
    works("fit", &arguments);
    assert!(contents(&out) == before);
    let output = run("fit", &[&arguments[..], &["--seed", "2"]].concat());
    assert!(!output.status.success());
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("belongs to another experiment") && said.contains("other settings"), "{said}");
    let output = run("simulate", &[text(&out.join("spec.toml")), "--out", text(&out)]);
    assert!(!output.status.success());
    assert!(contents(&out) == before);
}

/// A line at fault is skipped where that was asked for, and told.
#[test]
fn lenient_fits_say_what_they_skipped() {
    let top = tempdir().unwrap();
    let log = pbm_log(top.path());
    let good = fs::read_to_string(&log).unwrap();
    fs::write(&log, format!("{good}1\t2\n")).unwrap();
    let out = top.path().join("out");
    let arguments = [text(&log), "--format", "kdd2012", "--out", text(&out)];
    assert!(refused(&arguments[..3]).contains("training.txt:40001: "));
    let said = works("fit", &[&arguments[..], &["--lenient"]].concat());
    assert!(said.contains("skipped 1 lines") && said.contains("too few columns"), "{said}");
    assert!(
        refused(&[&arguments[..3], &["--lenient", "--max-skipped", "0.00001"]].concat()).contains("skipped")
    );
}

/// Users who look at the second position first: simulated lists have it on top, and attraction on its scale.
#[test]
fn a_position_that_is_examined_more_than_the_first_comes_first() {
    let top = tempdir().unwrap();
    let counts = top.path().join("counts.csv");
    let cells = "q\"1,a,1,100,1000\nq\"1,a,2,200,1000\nq\"1,b,1,200,1000\nq\"1,b,2,400,1000\n";
    let cells = cells.replace("q\"1", "\"q\"\"1\"");
    fs::write(&counts, format!("query,item,position,clicks,impressions\n{cells}")).unwrap();
    let out = top.path().join("out");
    works("fit", &["--counts", text(&counts), "--prior", "0", "--out", text(&out)]);
    let spec = fs::read_to_string(out.join("spec.toml")).unwrap();
    assert!(spec.contains("from the most to the least examined: 2, 1."), "{spec}");
    let spec: toml::Table = spec.parse().unwrap();
    let query = &spec["instances"].as_array().unwrap()[0];
    assert_eq!(query["name"].as_str(), Some("q\"1"));
    for (key, truth) in [("theta", [0.2, 0.4]), ("kappa", [1.0, 0.5])] {
        let numbers = query[key].as_array().unwrap().iter().map(|number| number.as_float().unwrap());
        assert!(numbers.zip(truth).all(|(number, truth)| (number - truth).abs() < 1e-6), "{key}");
    }
    let results = top.path().join("results");
    works(
        "simulate",
        &[text(&out.join("spec.toml")), "--out", text(&results), "--horizon", "50", "--runs", "2"],
    );
}
