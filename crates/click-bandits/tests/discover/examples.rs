//! The examples that the program shows run.

use super::{commands, empty, json, printed, refused, run, strings, write};
use std::fs;
use std::path::Path;
use std::process::Command;

/// Simulates a file with few rounds and runs, in a directory.
fn plays(dir: &Path, file: &str, out: &str) {
    let text = fs::read_to_string(dir.join(file)).expect("a spec");
    let length = if text.contains("max_steps = ") && !text.contains("horizon = ") {
        "--max-steps"
    } else {
        "--horizon"
    };
    let arguments = ["simulate", file, "--out", out, length, "30", "--runs", "2", "--quiet"];
    let output = run(dir, &arguments);
    assert!(output.status.success(), "{file}: {}\n{text}", String::from_utf8_lossy(&output.stderr));
    assert!(dir.join(out).join("result.json").is_file());
}

#[test]
fn every_policy_s_example_runs() {
    let dir = empty();
    let mut without = Vec::new();
    for name in strings(&json(dir.path(), &["policies", "--json"]), "name") {
        let policy = json(dir.path(), &["policies", &name, "--json"]);
        let Some(example) = policy["example"].as_str() else {
            without.push(name);
            continue;
        };
        assert_eq!(printed(dir.path(), &["policies", &name, "--example"]), example);
        write(&dir.path().join("spec.toml"), example);
        plays(dir.path(), "spec.toml", &name);
    }
    assert_eq!(without, ["logged"]);
    let (_, error) = refused(dir.path(), &["policies", "logged", "--example"]);
    assert!(error.contains("--example: there is none"), "{error}");
}

#[test]
fn every_model_s_example_and_first_experiment_run() {
    let dir = empty();
    for name in strings(&json(dir.path(), &["models", "--json"]), "name") {
        write(&dir.path().join("example.toml"), &printed(dir.path(), &["models", &name, "--example"]));
        plays(dir.path(), "example.toml", &format!("example-{name}"));
        let file = format!("{name}.toml");
        printed(dir.path(), &["init", &name, "--out", &file]);
        assert_eq!(
            fs::read_to_string(dir.path().join(&file)).expect("a file"),
            printed(dir.path(), &["init", &name])
        );
        plays(dir.path(), &file, &format!("init-{name}"));
    }
}

#[test]
fn an_existing_file_is_not_overwritten() {
    let dir = empty();
    write(&dir.path().join("mine.toml"), "mine");
    let (status, error) = refused(dir.path(), &["init", "pbm", "--out", "mine.toml"]);
    assert!(status == Some(1) && error.contains("mine.toml"), "{error}");
    assert_eq!(fs::read_to_string(dir.path().join("mine.toml")).expect("a file"), "mine");
    let (status, error) = refused(dir.path(), &["init", "pbm", "--out", "."]);
    assert!(status == Some(1) && error.contains(".: is a directory"), "{error}");
    printed(dir.path(), &["init", "pbm", "--out", "mine.toml", "--force"]);
    assert_ne!(fs::read_to_string(dir.path().join("mine.toml")).expect("a file"), "mine");
}

#[test]
fn examples_of_formats_are_read_by_their_commands() {
    let dir = empty();
    for format in json(dir.path(), &["formats", "--json"])["logs"].as_array().expect("formats") {
        let name = format["name"].as_str().expect("a name");
        let Some(example) = format["example"].as_str() else { continue };
        assert_eq!(printed(dir.path(), &["formats", name, "--example"]), example);
        write(&dir.path().join("log"), example);
        let command =
            format["command"].as_str().expect("a command").replace("LOG", "log").replace("fitted", name);
        // Two formats have sessions, so their fits play for an answer, which takes seconds. One of
        // them is enough.
        let shorter: &[&str] = if name == "yandex" { &["--answer", "0"] } else { &[] };
        let arguments: Vec<&str> =
            command.split(' ').skip(1).chain(shorter.iter().copied()).chain(["--quiet"]).collect();
        printed(dir.path(), &arguments);
        assert!(dir.path().join(name).join("parameters.json").is_file(), "{name}");
    }
}

#[test]
fn the_examples_of_an_experiment_s_files_are_one_experiment() {
    let dir = empty();
    for file in ["experiment.toml", "claims.toml"] {
        write(&dir.path().join(file), &printed(dir.path(), &["formats", file, "--example"]));
    }
    printed(dir.path(), &["check", "."]);
    let report = printed(dir.path(), &["reproduce", "./", "--out", "report", "--quiet"]);
    assert!(report.contains("reproduced"), "{report}");
}

/// The fields of a file that the program writes, as the command lists them.
fn fields(file: &str) -> Vec<String> {
    let dir = empty();
    let page = json(dir.path(), &["formats", file, "--json"]);
    let names = page["fields"]
        .as_array()
        .expect("fields")
        .iter()
        .map(|field| field[0].as_str().expect("a name").to_owned());
    names.flat_map(|names| names.split(", ").map(str::to_owned).collect::<Vec<_>>()).collect()
}

#[test]
fn files_have_the_fields_that_are_listed() {
    let dir = empty();
    write(&dir.path().join("spec.toml"), &printed(dir.path(), &["models", "pbm", "--example"]));
    printed(
        dir.path(),
        &["simulate", "spec.toml", "--out", "out", "--horizon", "30", "--runs", "2", "--keep-runs"],
    );
    write(&dir.path().join("counts"), &printed(dir.path(), &["formats", "counts.csv", "--example"]));
    printed(dir.path(), &["fit", "--counts", "counts", "--out", "fitted", "--quiet"]);
    for (path, file) in
        [("out", "curves.csv"), ("out", "runs.csv"), ("fitted", "counts.csv"), ("fitted", "parameters.csv")]
    {
        let text = fs::read_to_string(dir.path().join(path).join(file)).expect("a table");
        let (head, listed) = (text.lines().next().expect("a header"), fields(file));
        for column in head.split(',') {
            assert!(listed.iter().any(|name| name == column), "{file}: {column} is not among {listed:?}");
        }
    }
    for (path, file) in [
        ("out", "result.json"),
        ("out", "timing.json"),
        ("out", "manifest.json"),
        ("fitted", "parameters.json"),
    ] {
        let text = fs::read_to_string(dir.path().join(path).join(file)).expect("a document");
        let (document, listed): (serde_json::Value, _) =
            (serde_json::from_str(&text).expect("JSON"), fields(file));
        for key in document.as_object().expect("an object").keys() {
            assert!(listed.contains(key), "{file}: {key} is not among {listed:?}");
        }
    }
    let files = strings(&json(dir.path(), &["formats", "--json"])["files"], "name");
    for entry in fs::read_dir(dir.path().join("out")).expect("a directory") {
        let name = entry.expect("an entry").file_name().to_string_lossy().into_owned();
        let is_figure = Path::new(&name).extension().is_some_and(|end| end == "svg");
        assert!(is_figure || files.contains(&name), "{name} is not among {files:?}");
    }
}

/// The examples of a help text: lines after `$`, which may continue in the next line.
fn examples(help: &str) -> Vec<String> {
    let joined = help.replace("\\\n", " ");
    joined.lines().filter_map(|line| line.trim_start().strip_prefix("$ ").map(str::to_owned)).collect()
}

#[cfg(unix)]
#[test]
fn the_examples_of_every_help_run_in_an_empty_directory() {
    let program = Path::new(env!("CARGO_BIN_EXE_click-bandits"));
    let folder = program.parent().expect("a folder").display().to_string();
    let path = format!("{folder}:{}", std::env::var("PATH").unwrap_or_default());
    let names = commands();
    let mut all: Vec<Vec<&str>> = names.iter().map(|name| vec![name.as_str(), "--help"]).collect();
    all.push(vec!["--help"]);
    for arguments in all {
        let dir = empty();
        let help = printed(dir.path(), &arguments);
        let examples = examples(&help);
        assert!(!examples.is_empty(), "{arguments:?}");
        // The service is a program of its own, with tests of its own.
        for example in examples.into_iter().filter(|example| !example.starts_with("click-bandits serve")) {
            // A quick check takes a minute; whether its verdicts are as known is tested elsewhere.
            let is_check = example.contains("--quick");
            let mut example = example.replace("--quick", "--quick --runs 1");
            // A result of few rounds is played, extended, merged, exported, drawn and compared like
            // another.
            if example.starts_with("click-bandits simulate ") {
                example = example.replace(".toml ", ".toml --horizon 300 ");
            }
            let mut shell = Command::new("sh");
            shell.args(["-ec", &example]).current_dir(dir.path()).env("PATH", &path);
            let output = shell.output().expect("a shell");
            let [said, error] = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
            let reported = is_check && said.contains("Report: ");
            assert!(output.status.success() || reported, "{arguments:?}: {example}: {error}");
        }
        assert!(help.contains("Exit status: 0"), "{arguments:?}");
    }
}

#[test]
fn short_help_is_short() {
    let dir = empty();
    for command in commands() {
        let [short, long] = ["-h", "--help"].map(|form| printed(dir.path(), &[&command, form]));
        assert!(!short.contains("Examples:") && short.len() < long.len(), "{command}");
    }
}
