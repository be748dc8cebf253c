//! Nothing that a file is called, or says, steers the terminal.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// What clears a screen.
const CLEAR: &str = "\u{1b}[2J";

fn run(arguments: &[&Path]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_click-bandits")).args(arguments).output().expect("the program starts")
}

/// What the program says, on both outputs.
fn said(output: &Output) -> String {
    [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text).into_owned()).concat()
}

#[cfg(unix)]
#[test]
fn names_of_files_do_not_reach_the_terminal_as_they_are() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let [spec, matrix, out] =
        ["spec.toml", "matrix.csv", "out"].map(|name| dir.path().join(format!("{CLEAR}{name}")));
    fs::write(&spec, "runs = 0\n").expect("written");
    fs::write(&matrix, "0.5 0.6\n0.4 0.5\n").expect("written");
    let command = |name: &str, file: &Path| match name {
        "simulate" => run(&[Path::new(name), file, Path::new("--out"), &out]),
        _ => run(&[Path::new(name), Path::new("--matrix"), file, Path::new("--out"), &out]),
    };
    for (name, file) in [("simulate", &spec), ("preferences", &matrix), ("preferences", &spec)] {
        let said = said(&command(name, file));
        assert!(!said.contains('\u{1b}') && said.contains("\\u{1b}[2J"), "{name}: {said:?}");
    }
}

#[test]
fn names_in_an_experiment_do_not_reach_the_terminal_as_they_are() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let experiment = r#"
name = "small\u001b[2J"
title = "T\u001b[2J"
task = "regret"
horizon = 10
runs = 2
seed = 1
[names]
pbm-ts = "Thompson"
[[papers]]
key = "P"
citation = "c"
[[instances]]
name = "日本"
theta = [0.5, 0.2]
kappa = [1.0, 0.5]
[[panels]]
name = "p"
title = "T"
paper = "P"
place = "p"
statement = "s"
model = "pbm"
policies = [{ policy = "pbm-ts" }, { policy = "pbm-ucb" }]
"#;
    let claims = r#"
[[claims]]
name = "c\u001b[2J\nd"
panel = "p"
says = "s"
place = "p"
[claims.test]
kind = "order"
lower = ["pbm-ts"]
upper = ["pbm-ucb"]
[claims.known]
verdict = "undecided"
evidence = "e"
"#;
    fs::write(dir.path().join("experiment.toml"), experiment).expect("written");
    fs::write(dir.path().join("claims.toml"), claims).expect("written");
    let out = dir.path().join("out");
    let output = run(&[Path::new("reproduce"), dir.path(), Path::new("--out"), &out]);
    let said = said(&output);
    assert!(!said.contains('\u{1b}') && said.contains("small\\u{1b}[2J: "), "{said:?}");
    // The heads, a line a claim, two lines on the whole.
    assert_eq!(said.lines().count(), 4, "{said}");

    // What readers see in figures is refused where it is read.
    let experiment = experiment.replace("\"Thompson\"", r#""Thompson\u001b[2J""#);
    fs::write(dir.path().join("experiment.toml"), experiment).expect("written");
    let output = run(&[Path::new("reproduce"), dir.path(), Path::new("--out"), &out]);
    let refused = String::from_utf8_lossy(&output.stderr);
    assert!(
        !output.status.success() && refused.contains("names.pbm-ts: the text has a line break"),
        "{refused}"
    );
}

#[test]
fn values_on_the_command_line_are_shown_short_and_do_nothing() {
    for value in ["7".repeat(300), format!("{CLEAR}5")] {
        let output = run(&["simulate", "spec.toml", "--out", "out", "--runs", value.as_str()].map(Path::new));
        let said = said(&output);
        assert_eq!(output.status.code(), Some(2), "{said:?}");
        assert!(!said.contains('\u{1b}') && said.len() < 250 && said.contains("--runs"), "{said:?}");
    }
}
