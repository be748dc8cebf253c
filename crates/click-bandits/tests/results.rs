//! Texts made from a result and from a finished directory: standing, tables, and comparison.

use serde_json::Value;
use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use tempfile::{TempDir, tempdir};

/// Policies that are clearly apart, in an order that is not that of their regret.
const SPEC: &str = r#"
name = "small"
task = "regret"
horizon = 2_000
runs = 20
seed = 5
checkpoints = { log = 12 }
instances = [
    { model = "pbm", theta = [0.5, 0.3, 0.2, 0.1], kappa = [0.9, 0.5] },
    { model = "pbm", theta = [0.4, 0.35, 0.2, 0.1], kappa = [0.9, 0.5] },
]
policies = [{ policy = "uniform" }, { policy = "pbm-ucb" }, { policy = "oracle" }, { policy = "pbm-ts", label = "TS, ours" }]
"#;

const ANSWERS: &str = r#"
name = "best"
task = "identify"
max_steps = 5_000
runs = 12
seed = 5
instances = [{ model = "cascade", attraction = [0.9, 0.6, 0.1], positions = 1 }]
policies = [{ policy = "cascade-bai" }, { policy = "cascade-kl" }]
"#;

fn program(dir: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_click-bandits"));
    command.current_dir(dir).args(arguments).output().expect("the program starts")
}

/// Standard output of a command that succeeds.
fn said(dir: &Path, arguments: &[&str]) -> String {
    let output = program(dir, arguments);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {error}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// The status and the message of a command that fails.
fn refused(dir: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let output = program(dir, arguments);
    assert!(output.stdout.is_empty() && !output.status.success(), "{arguments:?}");
    (output.status.code(), String::from_utf8(output.stderr).expect("UTF-8"))
}

/// A directory with both experiments, and the result of the first in `out`.
fn simulated() -> (TempDir, String) {
    let dir = tempdir().expect("a directory");
    fs::write(dir.path().join("spec.toml"), SPEC).expect("written");
    fs::write(dir.path().join("answers.toml"), ANSWERS).expect("written");
    let said = said(dir.path(), &["simulate", "spec.toml", "--out", "out", "--keep-runs"]);
    (dir, said)
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

fn result(dir: &Path) -> Value {
    json(&fs::read_to_string(dir.join("result.json")).expect("a result"))
}

#[test]
fn simulate_ends_with_the_policies_from_best_to_worst_and_says_who_is_ahead() {
    let (_dir, said) = simulated();
    let rows: Vec<&str> =
        said.lines().skip(3).take(4).map(|line| line.split("  ").nth(1).unwrap_or("")).collect();
    assert_eq!(rows, ["oracle", "TS, ours", "pbm-ucb", "uniform"], "{said}");
    let words = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        words.contains("Best: TS, ours, regret ") && words.contains(" less than pbm-ucb, the next (z = "),
        "{said}"
    );
    assert!(words.contains("by chance in less than 1 of 1,000 experiments, all 3 comparisons counted). Of the recorded rounds, it is ahead of all others from round "));
    assert!(said.lines().all(|line| line.chars().count() <= 80), "{said}");
}

#[test]
fn json_has_the_standing_and_the_final_values_and_nothing_else_is_printed() {
    let (dir, _) = simulated();
    let document = json(&said(dir.path(), &["simulate", "spec.toml", "--out", "out", "--json", "--quiet"]));
    let standing = &document["standing"];
    assert_eq!(standing["places"][1]["label"], "TS, ours");
    assert_eq!((&standing["comparisons"], &standing["runs"]), (&Value::from(3), &Value::from(20)));
    assert_eq!(standing["pairs"][0]["told_apart"], true);
    let written = result(&dir.path().join("out"));
    let [shown, whole] = [&document["policies"][1], &written["policies"][3]];
    assert_eq!((&shown["label"], &whole["label"]), (&Value::from("TS, ours"), &Value::from("TS, ours")));
    for (quantity, statistic) in [("regret", "mean"), ("regret", "se"), ("clicks", "mean"), ("clicks", "se")]
    {
        let last = whole[quantity][statistic].as_array().and_then(|values| values.last()).expect("values");
        assert_eq!(shown[quantity][statistic], *last);
    }
    assert!(
        document["sentences"][0].as_str().is_some_and(|sentence| sentence.starts_with("Best: TS, ours, "))
    );
    let answers = json(&said(dir.path(), &["simulate", "answers.toml", "--out", "answers", "--json"]));
    assert_eq!(answers["standing"]["value"], "stopping-time");
    assert_eq!(answers["policies"][0]["correct"], 1.0);
}

#[test]
fn without_a_directory_result_json_goes_to_standard_output() {
    let (dir, _) = simulated();
    let printed = said(dir.path(), &["simulate", "spec.toml", "--out", "-"]);
    assert_eq!(printed, fs::read_to_string(dir.path().join("out/result.json")).expect("a result"));
    assert!(!dir.path().join("-").exists());
    for (option, expected) in [
        (&["--json"][..], "--json: standard output has one document"),
        (&["--shard", "1/2"], "--shard: a shard is kept in a directory"),
        (&["--keep-runs"], "--keep-runs: runs.csv is written to a directory"),
        (&["--fresh"], "--fresh: without a directory"),
    ] {
        let arguments = [&["simulate", "spec.toml", "--out", "-"], option].concat();
        let (status, message) = refused(dir.path(), &arguments);
        assert!(status == Some(2) && message.contains(expected), "{message}");
    }
}

#[test]
fn output_that_its_reader_closes_ends_the_program_by_sigpipe() {
    let (dir, _) = simulated();
    for arguments in [
        &["simulate", "spec.toml", "--out", "-", "--quiet"][..],
        &["simulate", "spec.toml", "--out", "out", "--quiet", "--json"],
        &["export", "out", "--table", "runs"],
        &["compare", "out", "out", "--json"],
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_click-bandits"));
        let command =
            command.current_dir(dir.path()).args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("it ends");
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.signal(), &*error), (Some(13), ""), "{arguments:?}");
    }
    // The files are complete, however much standard output takes.
    assert!(dir.path().join("out/result.json").is_file());
}

/// The values of a column of a table in CSV.
fn rows(text: &str) -> Vec<Vec<String>> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    reader.records().map(|row| row.expect("CSV").iter().map(str::to_owned).collect()).collect()
}

#[test]
fn tables_have_the_values_of_the_result() {
    let (dir, _) = simulated();
    let result = result(&dir.path().join("out"));
    let mut expected: Vec<Vec<String>> = Vec::new();
    let text = |value: &Value| value.as_f64().map_or_else(String::new, |number| number.to_string());
    for policy in result["policies"].as_array().expect("policies") {
        let label = policy["label"].as_str().expect("a label");
        for statistic in ["regret", "clicks"] {
            for (at, t) in policy["t"].as_array().expect("rounds").iter().enumerate() {
                let mut row = vec![label.to_owned(), t.to_string(), statistic.to_owned()];
                row.extend(
                    ["mean", "se", "min", "q10", "q90", "max"].map(|name| text(&policy[statistic][name][at])),
                );
                expected.push(row);
            }
        }
    }
    assert_eq!(rows(&said(dir.path(), &["export", "out"])), expected);
    let last: Vec<&Vec<String>> = expected.iter().filter(|row| row[1] == "2000").collect();
    let finals = rows(&said(dir.path(), &["export", "out", "--table", "final"]));
    assert!(finals.iter().zip(&last).all(|(row, last)| row[0] == last[0] && row[4..] == last[2..]));
    assert_eq!((finals.len(), last.len(), finals[0][3].as_str()), (8, 8, "20"));
    // `runs.csv` was written by `simulate`, not from a journal that was read back.
    let runs = fs::read_to_string(dir.path().join("out/runs.csv")).expect("runs");
    assert_eq!(said(dir.path(), &["export", "out", "--table", "runs"]), runs);
    let paired = rows(&said(dir.path(), &["export", "out", "--table", "paired"]));
    let pair = &result["paired"][1];
    let n_rounds = pair["t"].as_array().map_or(0, Vec::len);
    let row = &paired[n_rounds];
    assert_eq!((row[0].as_str(), row[1].as_str(), row[3].as_str()), ("uniform", "oracle", "regret"));
    assert_eq!((&row[4], &row[5]), (&text(&pair["regret"]["mean"][0]), &text(&pair["regret"]["se"][0])));
    assert_eq!(paired.len(), 6 * n_rounds);
}

#[test]
fn both_formats_have_the_same_values() {
    let (dir, _) = simulated();
    said(dir.path(), &["simulate", "answers.toml", "--out", "answers", "--quiet", "--keep-runs"]);
    let runs = fs::read_to_string(dir.path().join("answers/runs.csv")).expect("runs");
    assert_eq!(said(dir.path(), &["export", "answers", "--table", "runs"]), runs);
    for (of, table) in
        [("out", "curves"), ("out", "runs"), ("out", "paired"), ("answers", "final"), ("answers", "runs")]
    {
        let csv = rows(&said(dir.path(), &["export", of, "--table", table]));
        let json = json(&said(dir.path(), &["export", of, "--table", table, "--format", "json"]));
        let objects = json.as_array().expect("an array");
        assert!(!objects.is_empty() && objects.len() == csv.len());
        let header = said(dir.path(), &["export", of, "--table", table]);
        let names: Vec<&str> = header.lines().next().expect("a header").split(',').collect();
        for (object, row) in objects.iter().zip(&csv) {
            for (name, cell) in names.iter().zip(row) {
                let value = &object[name];
                let same = match value {
                    Value::Null => cell.is_empty(),
                    Value::String(text) => text == cell,
                    Value::Number(number) => {
                        number.as_f64().map(|number| number.to_string()).as_deref() == Some(cell)
                    }
                    other => other.as_bool().is_some_and(|flag| flag.to_string() == **cell),
                };
                assert!(same, "{table}, {name}: {value} is not {cell}");
            }
        }
    }
    let (_, message) = refused(dir.path(), &["export", "answers"]);
    assert!(message.contains("answers: its runs end with an answer, so there are no curves"), "{message}");
}

#[test]
fn files_that_exist_are_not_replaced_unasked() {
    let (dir, _) = simulated();
    fs::write(dir.path().join("mine.csv"), "mine").expect("written");
    let (_, message) = refused(dir.path(), &["export", "out", "--out", "mine.csv"]);
    assert_eq!(message, "error: mine.csv: exists already: give another --out, or --force to replace it\n");
    #[cfg(unix)]
    {
        // A new file would take the place of the link.
        std::os::unix::fs::symlink("mine.csv", dir.path().join("link.csv")).expect("linked");
        let (status, message) = refused(dir.path(), &["export", "out", "--out", "link.csv", "--force"]);
        let expected =
            "error: link.csv: is not a regular file: give another --out, or write to standard output\n";
        assert_eq!((status, message.as_str()), (Some(1), expected));
    }
    let (_, message) = refused(dir.path(), &["export", "out", "--out", "out/curves.csv", "--force"]);
    assert_eq!(message, "error: out/curves.csv: is a file of a result: give another --out\n");
    assert_eq!(fs::read_to_string(dir.path().join("mine.csv")).expect("a file"), "mine");
    said(dir.path(), &["export", "out", "--out", "mine.csv", "--force"]);
    assert!(fs::read_to_string(dir.path().join("mine.csv")).expect("a file").starts_with("policy,t,"));
    // The end of a name specifies the format, and there are no others.
    let (_, message) = refused(dir.path(), &["export", "out", "--out", "mine.xlsx"]);
    let expected = "error: mine.xlsx: no format is called \"xlsx\": expected a name that ends in .csv or .json, or --format\n";
    assert_eq!(message, expected);
    let left: Vec<_> = fs::read_dir(dir.path())
        .expect("a directory")
        .map(|entry| entry.expect("a file").file_name())
        .collect();
    assert!(left.iter().all(|name| !name.to_string_lossy().starts_with('.')), "{left:?}");
}

#[test]
fn the_panels_of_a_reproduction_are_one_table() {
    let dir = tempdir().expect("a directory");
    let experiment = r#"
name = "paper"
title = "T"
task = "regret"
horizon = 20
runs = 2
seed = 1
papers = [{ key = "P", citation = "c" }]
instances = [{ theta = [0.5, 0.2], kappa = [1.0, 0.5] }]
[[panels]]
name = "sweep"
title = "T"
paper = "P"
place = "p"
statement = "s"
model = "pbm"
policies = [{ policy = "pbm-ts" }]
variants = [{ name = "a", title = "A" }, { name = "b", title = "B", horizon = 30 }]
[[panels]]
name = "alone"
title = "T"
paper = "P"
place = "p"
statement = "s"
model = "pbm"
policies = [{ policy = "pbm-ucb" }]
"#;
    fs::create_dir(dir.path().join("paper")).expect("created");
    fs::write(dir.path().join("paper/experiment.toml"), experiment).expect("written");
    let claims = "claims = [{ name = \"c\", panel = \"alone\", says = \"s\", place = \"p\", test = { kind = \"not-testable\", reason = \"r\" }, known = { verdict = \"not-testable\", evidence = \"e\" } }]";
    fs::write(dir.path().join("paper/claims.toml"), claims).expect("written");
    said(dir.path(), &["reproduce", "./paper", "--out", "report", "--quiet"]);
    let table = said(dir.path(), &["export", "report", "--table", "final"]);
    assert!(table.starts_with("panel,variant,policy,name,t,"), "{table}");
    let heads: Vec<String> = rows(&table).iter().map(|row| row[..5].join(",")).collect();
    let expected = ["alone,,pbm-ucb,pbm-ucb,20", "sweep,a,pbm-ts,pbm-ts,20", "sweep,b,pbm-ts,pbm-ts,30"];
    assert_eq!(heads, expected.map(|head| [head; 2]).concat());
    let runs = rows(&said(dir.path(), &["export", "report", "--table", "runs"]));
    assert_eq!(runs.iter().filter(|row| row[..2] == ["sweep", "b"] && row[5] == "30").count(), 2);
    #[cfg(unix)]
    {
        let linked = dir.path().join("linked");
        fs::create_dir(&linked).expect("created");
        std::os::unix::fs::symlink(dir.path(), linked.join("sweep")).expect("linked");
        let (_, message) = refused(dir.path(), &["reproduce", "./paper", "--out", "linked", "--quiet"]);
        assert_eq!(message, "error: linked/sweep: is a link: give another --out\n");
    }
}

#[test]
fn compare_answers_with_its_status() {
    let (dir, _) = simulated();
    let run = |name: &str, spec: &str, options: &[&str]| {
        let file = format!("{name}.toml");
        fs::write(dir.path().join(&file), spec).expect("written");
        said(dir.path(), &[&["simulate", &file, "--out", name, "--quiet"], options].concat());
    };
    run("same", SPEC, &["--runs", "30"]);
    let text = said(dir.path(), &["compare", "out", "same"]);
    assert!(
        text.contains("Identical in all 20 runs that both have: uniform, pbm-ucb, oracle, TS, ours."),
        "{text}"
    );
    assert!(text.ends_with("Nothing differs.\n"), "{text}");
    run("seed", SPEC, &["--seed", "6"]);
    let text = said(dir.path(), &["compare", "out", "seed"]);
    assert!(
        text.contains("since the seeds differ.") && text.contains("Nothing differs beyond chance"),
        "{text}"
    );

    // The label of one policy, the choices of another.
    run("changed", &SPEC.replace("policy = \"pbm-ts\"", "policy = \"uniform\""), &[]);
    let output = program(dir.path(), &["compare", "out", "changed"]);
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    assert_eq!(output.status.code(), Some(1), "{text}");
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("2 quantities differ beyond chance, marked with !"), "{text}");
    assert!(
        words.contains("With other parameters: TS, ours.") && words.contains("Equal among them: TS, ours 0."),
        "{text}"
    );
    assert!(text.lines().all(|line| line.chars().count() <= 80 || line.starts_with("commit")), "{text}");
    let output = program(dir.path(), &["compare", "out", "changed", "--json"]);
    let document = json(&String::from_utf8(output.stdout).expect("UTF-8"));
    let differing =
        document["rows"].as_array().expect("rows").iter().filter(|row| row["differs"] == true).count();
    assert_eq!((output.status.code(), differing), (Some(1), 2));

    run("horizon", SPEC, &["--horizon", "1000"]);
    let (status, message) = refused(dir.path(), &["compare", "out", "horizon"]);
    assert_eq!(status, Some(2));
    assert!(message.contains("horizon is 2000 in the first and 1000 in the second"), "{message}");
    assert_eq!(refused(dir.path(), &["compare", "out", "missing"]).0, Some(2));
}

#[test]
fn a_directory_without_a_finished_result_is_refused_with_its_kind() {
    let (dir, _) = simulated();
    // Directories of other commands, and one that is not finished.
    fs::write(dir.path().join("matrix.csv"), "0.5 0.6\n0.4 0.5\n").expect("written");
    said(dir.path(), &["preferences", "--matrix", "matrix.csv", "--out", "matrix"]);
    said(dir.path(), &["simulate", "spec.toml", "--out", "part", "--shard", "1/2", "--quiet"]);
    for (directory, expected) in [
        ("matrix", "matrix: holds the report on a preference matrix"),
        ("part", "part: holds shard 1/2 of \"small\": join the shards with `click-bandits merge` first"),
        (".", ".: has no result.json"),
        ("spec.toml", "spec.toml: is not a directory"),
    ] {
        let (_, message) = refused(dir.path(), &["export", directory]);
        assert!(message.contains(expected), "{message}");
    }
    fs::remove_file(dir.path().join("out/result.json")).expect("removed");
    let (_, message) = refused(dir.path(), &["export", "out"]);
    assert!(
        message.contains("out: is not finished: `simulate` with the same experiment and directory continues"),
        "{message}"
    );
}
