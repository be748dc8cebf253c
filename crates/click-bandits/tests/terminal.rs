//! Control sequences in names and contents of files do not reach the terminal.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// The control sequence that clears the screen.
const CLEAR: &str = "\u{1b}[2J";

fn run(arguments: &[&Path]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_click-bandits")).args(arguments).output().expect("the program starts")
}

/// Standard output and standard error.
fn printed(output: &Output) -> String {
    [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text).into_owned()).concat()
}

#[cfg(unix)]
#[test]
fn control_sequences_in_names_of_files_are_escaped() {
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
        let printed = printed(&command(name, file));
        assert!(!printed.contains('\u{1b}') && printed.contains("\\u{1b}[2J"), "{name}: {printed:?}");
    }
}

#[test]
fn control_sequences_in_names_of_an_experiment_are_escaped() {
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
    let printed = printed(&output);
    assert!(!printed.contains('\u{1b}') && printed.contains("small\\u{1b}[2J: "), "{printed:?}");
    // The runs to play, the header, one line for each claim, and two lines of summary.
    assert_eq!(printed.lines().count(), 5, "{printed}");
    // On a narrow terminal, a claim has its verdicts below it.
    let mut narrow = Command::new(env!("CARGO_BIN_EXE_click-bandits"));
    let narrow = narrow.arg("reproduce").arg(dir.path()).arg("--out").arg(&out).env("COLUMNS", "40").output();
    let narrow = String::from_utf8(narrow.expect("the program starts").stdout).expect("text");
    assert!(narrow.contains("d\n      found: undecided; known:\n      undecided; measured:"), "{narrow}");

    // Names that figures show may not have control characters.
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
fn invalid_values_on_the_command_line_are_shortened_and_escaped() {
    for value in ["7".repeat(300), format!("{CLEAR}5")] {
        let output = run(&["simulate", "spec.toml", "--out", "out", "--runs", value.as_str()].map(Path::new));
        let printed = printed(&output);
        assert_eq!(output.status.code(), Some(2), "{printed:?}");
        assert!(
            !printed.contains('\u{1b}') && printed.len() < 250 && printed.contains("--runs"),
            "{printed:?}"
        );
    }
}
