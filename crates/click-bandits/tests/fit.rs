//! `fit`, from a generated log to parameters, a comparison and a spec that `simulate` runs; and what it refuses.

use click_logs::generate::{Traffic, kdd2012, yandex};
use click_models::{DcmReward, DependentClick, PositionBased};
use confidence::Probability;
use parquet::data_type::{ByteArray, ByteArrayType, Int64Type};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use tempfile::{TempDir, tempdir};

const EXAMINATION: [f64; 3] = [1.0, 0.55, 0.3];
const ATTRACTION: [[f64; 4]; 2] = [[0.4, 0.3, 0.2, 0.1], [0.6, 0.1, 0.25, 0.05]];

/// Of small tables.
const COLUMNS: &str = "query=query,item=item,position=position,click=click";

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

/// Users who look at everything: a position-based model and a dependent click model are both right, and chance decides which of them
/// predicts better. The simpler one is taken unless they are told apart, and what is said and written says so.
#[test]
fn of_models_that_are_not_told_apart_the_simpler_is_simulated() {
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
        let arguments = [text(&path), "--format", "yandex", "--model", "pbm,dcm", "--seed", &seed];
        let said = works("fit", &[&arguments[..], &["--out", text(&out)]].concat());
        let json: serde_json::Value =
            serde_json::from_slice(&fs::read(out.join("comparison.json")).unwrap()).unwrap();
        assert!(json["clusters"]["by"] == "session" && json["clusters"]["number"].as_u64() > Some(800));
        let users = &json["users"];
        let spec = fs::read_to_string(out.join("spec.toml")).unwrap();
        assert!(spec.contains(&format!("\nmodel = {}\n", users["model"])));
        assert_eq!(
            said.contains("Users are those of pbm: dcm predicted better"),
            users["best"] != users["model"]
        );
        let told_apart = users["alike"].as_array().unwrap().len() == 1;
        assert_eq!(users["model"] == "pbm", !told_apart || users["best"] == "pbm");
        simpler += u32::from(users["model"] != users["best"]);
    }
    // Without the rule the users of the better model, whichever it is.
    assert!(simpler > 0);
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

    // The hint at the end is a line for a shell.
    let odd = top.path().join("it's here");
    let said = works("fit", &[text(&log), "--format", "kdd2012", "--model", "pbm", "--out", text(&odd)]);
    let quoted = format!("simulate '{}'", text(&odd.join("spec.toml")).replace('\'', "'\\''"));
    assert!(said.contains(&quoted), "{said}");

    let (spec, results) = (out.join("spec.toml"), top.path().join("results"));
    let short = ["--horizon", "50", "--runs", "4"];
    let said = works("simulate", &[&[text(&spec), "--out", text(&results)], &short[..]].concat());
    assert!(said.contains("pbm-ts"), "{said}");
}

/// What the first fit counted, another begins with: the same parameters.
/// What a stranger may have typed: nothing of it works in a spreadsheet or on a terminal, and nothing is lost.
#[test]
fn names_that_are_formulas_are_text_where_they_are_shown_and_themselves_where_they_are_read() {
    let top = tempdir().unwrap();
    let items = ["=cmd|' /C calc'!A0", "-1", "@SUM(A1)", "a\u{1b}[2Jb", "'quoted", "\"+1+1\", tab\there"];
    let quoted = |name: &str| format!("\"{}\"", name.replace('"', "\"\""));
    let mut log = "query,item,position,clicks,impressions\n".to_owned();
    for (place, item) in items.iter().enumerate() {
        for position in 1..=3 {
            let clicks = 10 * (place + 1) / position;
            writeln!(log, "+query,{},{position},{clicks},100", quoted(item)).unwrap();
        }
    }
    let given = top.path().join("given.csv");
    fs::write(&given, log).unwrap();
    let [first, second] = ["first", "second"].map(|name| top.path().join(name));
    works("fit", &["--counts", text(&given), "--out", text(&first)]);
    works("fit", &["--counts", text(&first.join("counts.csv")), "--out", text(&second)]);
    let read = |out: &Path, file: &str| fs::read_to_string(out.join(file)).unwrap();
    for file in ["counts.csv", "parameters.csv"] {
        assert_eq!(read(&first, file), read(&second, file), "{file}");
    }
    let json: serde_json::Value = serde_json::from_str(&read(&second, "parameters.json")).unwrap();
    let json = json.to_string();
    assert!(items.iter().all(|item| json.contains(&serde_json::Value::from(*item).to_string())), "{json}");
    let shown = read(&second, "parameters.csv");
    assert!(!shown.contains('\u{1b}') && shown.contains("a\\u{1b}[2Jb"), "{shown}");
    let formulas = |name: &str| shown.lines().filter(|line| line.contains(&format!(",{name},"))).count();
    assert_eq!(["'=cmd|' /C calc'!A0", "-1", "'@SUM(A1)", "'quoted"].map(formulas), [1; 4], "{shown}");
    assert_eq!((formulas("'+query"), formulas("+query")), (9, 0), "{shown}");
}

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

    // The best first, so that no difference from it is positive; the pbm is far behind it.
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

    // What is not known of an item is written, too: others can predict with the file what the comparison predicted.
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
    let [table, nothing, from_zero, above] =
        ["table.txt", "nothing.txt", "from_zero.txt", "above.txt"].map(|name| top.path().join(name));
    fs::write(&from_zero, "query,item,position,click\nq,a,0,0\n").unwrap();
    fs::write(&above, "query,item,position,click\nq,a,1,2\n").unwrap();
    fs::write(&table, "query,item,position,click\nq,a,1,0\n").unwrap();
    fs::write(&nothing, "0\t0\t17\t901\t4\t2\t1\t55\t6\t7\t8\t9\n").unwrap();
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
        (
            &[log, "--format", "kdd2012", "--first-position", "0"],
            "--first-position: only for --format delimited and parquet",
        ),
        (
            &[text(&from_zero), "--format", "delimited", "--columns", COLUMNS],
            "positions count from 1, found `0`; if they count from 0, give --first-position 0",
        ),
        (
            &[text(&above), "--format", "delimited", "--columns", COLUMNS],
            "more clicks than the 1 impressions, found `2`; give --clip-clicks to count as many clicks",
        ),
        (&[text(&table), "--format", "kdd2012"], ": give --format delimited --columns "),
        (
            &[text(&nothing), "--format", "kdd2012"],
            "nothing was shown in all of the log: 1 line, 0 impressions",
        ),
        (&[text(top.path()), "--format", "kdd2012"], "a directory: name the files in it"),
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
    assert!(said.contains("skipped 1 line\n") && said.contains("too few columns"), "{said}");
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

/// The lists and clicks of a Yandex log as a table, a line an impression, with a column that names users.
fn as_table(yandex: &str) -> String {
    let mut lists: Vec<(Vec<&str>, Vec<bool>)> = Vec::new();
    for line in yandex.lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        if fields[2] == "Q" {
            lists.push((fields[5..].to_vec(), vec![false; 10]));
        } else {
            // The sessions of the generated log have one list each.
            let (items, clicks) = lists.last_mut().unwrap();
            clicks[items.iter().position(|item| *item == fields[3]).unwrap()] = true;
        }
    }
    let mut table = "visit,user,rank,doc,clicked\n".to_owned();
    for (visit, (items, clicks)) in lists.iter().enumerate() {
        for (place, (item, click)) in items.iter().zip(clicks).enumerate() {
            writeln!(table, "v{visit},user-{visit},{},{item},{}", place + 1, u8::from(*click)).unwrap();
        }
    }
    table
}

/// What a user saw and clicked is the same in a table that names sessions; and neither they nor users are written.
#[test]
fn a_table_with_sessions_is_as_good_as_a_log_of_sessions() {
    let top = tempdir().unwrap();
    let log = dcm_log(top.path());
    let table = top.path().join("log.csv");
    fs::write(&table, as_table(&fs::read_to_string(&log).unwrap())).unwrap();
    let outs = ["yandex", "table"].map(|name| top.path().join(name));
    works("fit", &[text(&log), "--format", "yandex", "--out", text(&outs[0]), "--quiet"]);
    let columns = "item=doc,position=rank,click=clicked,session=visit";
    let arguments = [text(&table), "--format", "delimited", "--columns", columns];
    let said = works("fit", &[&arguments[..], &["--out", text(&outs[1])]].concat());
    assert!(
        said.contains("200000 lines, 20000 sessions, 200000 impressions") && !said.contains("not fitted"),
        "{said}"
    );
    let fits = outs.each_ref().map(|out| fs::read_to_string(out.join("parameters.csv")).unwrap());
    // The query of the generated log is called 9/1, the table has none.
    assert!(fits[0].replace(",9/1,", ",all,") == fits[1]);
    for (name, bytes) in contents(&outs[1]) {
        let content = String::from_utf8(bytes).unwrap();
        assert!(!content.contains("user-") && !content.contains("v12,"), "{name}");
    }

    // Models of sessions have the items that a filter drops, which is told.
    let filtered = top.path().join("filtered");
    let filter = ["--min-impressions", "1600", "--out", text(&filtered)];
    let said = works("fit", &[&arguments[..], &filter].concat());
    assert!(said.contains("have all 200,000 impressions: a session is predicted whole"), "{said}");
    let said = refused(&[&arguments[..], &["--positions", "3", "--model", "dcm"]].concat());
    assert!(said.contains("--positions cuts short"), "{said}");
    let said =
        refused(&[&arguments[..4], &["item=doc,position=rank,click=clicked", "--model", "dcm"]].concat());
    assert!(said.contains("--columns have session=.."), "{said}");
}

/// Columns of names and of numbers, as an engine writes the counts of a warehouse.
fn counts_parquet(path: &Path, rows: &[BTreeMap<String, String>]) {
    let schema =
        "message counts { REQUIRED BYTE_ARRAY query (UTF8); REQUIRED INT64 item; REQUIRED INT64 position;
        REQUIRED INT64 clicks; REQUIRED INT64 impressions; }";
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let mut writer = SerializedFileWriter::new(File::create(path).unwrap(), schema, Arc::default()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    let queries: Vec<ByteArray> = rows.iter().map(|row| row["query"].as_str().into()).collect();
    column.typed::<ByteArrayType>().write_batch(&queries, None, None).unwrap();
    column.close().unwrap();
    for name in ["item", "position", "clicks", "impressions"] {
        let mut column = group.next_column().unwrap().unwrap();
        let numbers: Vec<i64> = rows.iter().map(|row| row[name].parse().unwrap()).collect();
        column.typed::<Int64Type>().write_batch(&numbers, None, None).unwrap();
        column.close().unwrap();
    }
    group.close().unwrap();
    writer.close().unwrap();
}

/// Engines write a table in parts, and call them as they like.
#[test]
fn counts_in_parquet_are_as_good_as_in_csv() {
    let top = tempdir().unwrap();
    let log = pbm_log(top.path());
    let [first, second] = ["first", "second"].map(|name| top.path().join(name));
    works("fit", &[text(&log), "--format", "kdd2012", "--model", "pbm", "--out", text(&first), "--quiet"]);
    let rows = table(&first.join("counts.csv"));
    let parts = ["part-0.parquet", "part-1"].map(|name| top.path().join(name));
    counts_parquet(&parts[0], &rows[..5]);
    counts_parquet(&parts[1], &rows[5..]);
    works("fit", &["--counts", text(&parts[0]), text(&parts[1]), "--out", text(&second), "--quiet"]);
    for file in ["parameters.csv", "counts.csv"] {
        assert_eq!(fs::read(first.join(file)).unwrap(), fs::read(second.join(file)).unwrap());
    }
    let said = refused(&["--counts", text(&parts[0]), text(&first.join("counts.csv"))]);
    assert!(said.contains("files of one kind"), "{said}");
}

/// Runs `fit` with a limit on the blocks of a file, and a shell's word before it.
#[cfg(target_os = "linux")]
fn with_small_files(blocks: u32, word: &str, arguments: &[&str]) -> Output {
    let script = format!("ulimit -c 0; ulimit -f {blocks}; {word}; exec \"$0\" fit \"$@\"");
    let mut shell = Command::new("sh");
    shell.args(["-c", &script, env!("CARGO_BIN_EXE_click-bandits")]).args(arguments).output().unwrap()
}

/// A disk that is full after a number of bytes of a file, and a process that is killed in the middle of writing one (the signal of that limit):
/// nothing is there under the name of a result, or all of the earlier ones, and the next run works.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_or_a_killed_process_leaves_no_half_written_result() {
    use std::os::unix::process::ExitStatusExt as _;
    let top = tempdir().unwrap();
    let log = pbm_log(top.path());
    let whole = top.path().join("whole");
    let arguments = [text(&log), "--format", "kdd2012", "--quiet"];
    works("fit", &[&arguments[..], &["--out", text(&whole)]].concat());
    let expected = contents(&whole);
    let mut n_failed = 0;
    for blocks in [0, 1, 4, 8, 16, 32, 64, 1 << 20] {
        let full = top.path().join(format!("full-{blocks}"));
        let output =
            with_small_files(blocks, "trap '' XFSZ", &[&arguments[..], &["--out", text(&full)]].concat());
        if output.status.success() {
            assert!(contents(&full) == expected);
            break;
        }
        n_failed += 1;
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains("cannot be written: File too large"), "{said}");
        assert!(!full.exists());

        let killed = top.path().join(format!("killed-{blocks}"));
        let output = with_small_files(blocks, ":", &[&arguments[..], &["--out", text(&killed)]].concat());
        assert!(output.status.signal().is_some());
        if killed.exists() {
            assert!(contents(&killed).keys().all(|name| name.starts_with('.')));
        }
        // Where there was an earlier result it stays, and the run after that one works and cleans up.
        for word in ["trap '' XFSZ", ":"] {
            assert!(
                !with_small_files(blocks, word, &[&arguments[..], &["--out", text(&whole)]].concat())
                    .status
                    .success()
            );
            let mut left = contents(&whole);
            left.retain(|name, _| !name.starts_with('.'));
            assert!(left == expected);
        }
        for dir in [&killed, &whole] {
            works("fit", &[&arguments[..], &["--out", text(dir)]].concat());
            assert!(contents(dir) == expected);
        }
    }
    // Files of several sizes stand in the way of a limit, so that some were written when the next one failed.
    assert!(n_failed >= 4);
}

/// What comes through a pipe is copied, into a place that is said, and read twice like a file.
#[cfg(target_os = "linux")]
#[test]
fn standard_input_is_as_good_as_a_file() {
    let top = tempdir().unwrap();
    let log = pbm_log(top.path());
    let content = fs::read(&log).unwrap();
    let piped = |arguments: &[&str], input: &[u8]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_click-bandits"));
        command.arg("fit").args(arguments).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // One that refuses does not read.
        let _ = child.stdin.take().unwrap().write_all(input);
        child.wait_with_output().unwrap()
    };
    let [whole, out] = ["whole", "out"].map(|name| top.path().join(name));
    works("fit", &[text(&log), "--format", "kdd2012", "--out", text(&whole), "--quiet"]);
    for name in ["/dev/stdin", "-"] {
        let out = top.path().join(name.trim_matches('/').replace('/', "-"));
        let output = piped(&[name, "--format", "kdd2012", "--out", text(&out)], &content);
        let said = String::from_utf8(output.stderr).unwrap();
        let megabytes = content.len().div_ceil(1_000_000);
        assert!(
            output.status.success() && said.contains(&format!(": {megabytes} MB, copied into ")),
            "{said}"
        );
        assert!(contents(&out)["parameters.json"] == contents(&whole)["parameters.json"]);
        let digest = |out: &Path| -> serde_json::Value {
            let manifest: serde_json::Value =
                serde_json::from_slice(&fs::read(out.join("manifest.json")).unwrap()).unwrap();
            manifest["experiment"]["logs"][0]["sha256"].clone()
        };
        assert!(digest(&out) == digest(&whole) && digest(&out).as_str().unwrap().len() == 64);
    }
    let cells = "query,item,position,clicks,impressions\n1,a,1,100,1000\n1,a,2,50,1000\n1,b,1,200,1000\n1,b,2,100,1000\n";
    let output = piped(&["--counts", "-", "--out", text(&out)], cells.as_bytes());
    assert!(output.status.success() && out.join("spec.toml").exists());
}

/// A result stands for the log that it was made of.
#[test]
fn the_result_of_another_log_is_not_replaced() {
    let top = tempdir().unwrap();
    let log = pbm_log(top.path());
    let out = top.path().join("out");
    let arguments = [text(&log), "--format", "kdd2012", "--model", "pbm", "--quiet", "--out", text(&out)];
    works("fit", &arguments);
    let before = contents(&out);
    let content = fs::read_to_string(&log).unwrap();
    let first = content.lines().next().unwrap();
    fs::write(&log, format!("{content}{first}")).unwrap();
    let output = run("fit", &arguments);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && said.contains("other settings or other data"), "{said}");
    assert!(contents(&out) == before);
}

/// Everything in a file that is named twice would be counted twice.
/// Positions from 0 and clicks above impressions: the same parameters as of the table that needs no options.
#[test]
fn a_table_that_counts_otherwise_is_read_with_options() {
    let top = tempdir().unwrap();
    let mut tables = [0, 1].map(|_| String::from("query,item,position,click,impressions\n"));
    for item in 0..6 {
        for position in 0..3 {
            let clicks = 40 * (6 - item) / (position + 1);
            writeln!(tables[0], "q,{item},{position},{},{clicks}", clicks + 3).unwrap();
            writeln!(tables[1], "q,{item},{},{clicks},{clicks}", position + 1).unwrap();
            writeln!(tables[0], "q,{item},{position},0,400").unwrap();
            writeln!(tables[1], "q,{item},{},0,400", position + 1).unwrap();
        }
    }
    let columns = "query=query,item=item,position=position,click=click,impressions=impressions";
    let fitted = [0, 1].map(|number| {
        let (log, out) = (top.path().join(format!("{number}.csv")), top.path().join(format!("out-{number}")));
        fs::write(&log, &tables[number]).unwrap();
        let mut arguments =
            vec![text(&log), "--format", "delimited", "--columns", columns, "--out", text(&out)];
        arguments.extend(["--min-total-impressions", "1000"]);
        if number == 0 {
            arguments.extend(["--first-position", "0", "--clip-clicks"]);
        }
        (works("fit", &arguments), fs::read_to_string(out.join("parameters.csv")).unwrap())
    });
    assert_eq!(fitted[0].1, fitted[1].1);
    let clipped = "(without 54 clicks above the impressions of 18 lines)";
    assert!(fitted[0].0.contains(clipped), "{}", fitted[0].0);
}

#[test]
fn a_file_named_twice_is_refused_and_a_copy_is_told() {
    let top = tempdir().unwrap();
    let log = pbm_log(top.path());
    let roundabout = top.path().join(".").join("training.txt");
    let said = refused(&[text(&log), text(&roundabout), "--format", "kdd2012"]);
    assert!(said.contains("the same file twice"), "{said}");
    let copy = top.path().join("copy.txt");
    fs::copy(&log, &copy).unwrap();
    let out = top.path().join("out");
    let arguments = [text(&log), text(&copy), "--format", "kdd2012", "--model", "pbm", "--out", text(&out)];
    let output = run("fit", &arguments);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && said.contains("have the same content"), "{said}");
}

/// The library that decodes Parquet panics at some damages; the user gets one line and no backtrace.
#[test]
fn damaged_parquet_is_an_error_of_one_line() {
    let top = tempdir().unwrap();
    let path = top.path().join("counts.parquet");
    let numbers = [("item", "1"), ("position", "1"), ("clicks", "1"), ("impressions", "5"), ("query", "q")];
    let row: BTreeMap<String, String> = numbers.map(|(name, text)| (name.into(), text.into())).into();
    counts_parquet(&path, &[row]);
    let bytes = fs::read(&path).unwrap();
    for place in bytes.len() / 2..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[place] ^= 0xff;
        fs::write(&path, damaged).unwrap();
        let output =
            run("fit", &["--counts", text(&path), "--quiet", "--out", text(&top.path().join("out"))]);
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.lines().count() <= 1, "{place}: {said}");
        assert!(output.status.success() || said.starts_with("error: "), "{place}: {said}");
    }
}
