//! An invalid spec gives all its errors, each with file, line and field, and no file is written.
//!
//! The tests run the program with the errors of `data/bad_spec/faults.txt`, which the tests of the
//! reader use too, and with files that are not specs at all.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::{TempDir, tempdir};

/// A valid spec.
const GOOD: &str = include_str!("data/bad_spec/good.toml");
/// Errors to introduce into it; the head of the file describes the format.
const FAULTS: &str = include_str!("data/bad_spec/faults.txt");

/// A directory with a spec. Its directory for results does not exist yet.
struct Bench {
    top: TempDir,
}

impl Bench {
    fn new(spec: impl AsRef<[u8]>) -> Self {
        let top = tempdir().expect("a temporary directory");
        fs::write(top.path().join("spec.toml"), spec).expect("the spec is written");
        Self { top }
    }

    fn out(&self) -> PathBuf {
        self.top.path().join("results")
    }

    /// Runs `click-bandits simulate SPEC --out results ...` in the directory.
    fn simulate(&self, spec: &str, more: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_click-bandits"))
            .current_dir(self.top.path())
            .args(["simulate", spec, "--out", "results"])
            .args(more)
            .env("RUST_BACKTRACE", "1")
            .output()
            .expect("the program starts")
    }

    /// The errors of a run that has to be refused, one a line, without a change to any file.
    fn refusal(&self, spec: &str, more: &[&str]) -> String {
        let before = contents(self.top.path());
        let output = self.simulate(spec, more);
        let message = String::from_utf8(output.stderr).expect("messages are UTF-8");
        let status = output.status.code();
        assert!(status.is_some_and(|status| status != 0 && status != 101), "{status:?}: {message}");
        assert_eq!(contents(self.top.path()), before, "{message}");
        assert!(message.lines().all(|line| line.starts_with("error: ")), "{message}");
        message.trim_end().to_owned()
    }
}

/// Every file and directory below a directory, with its content.
fn contents(dir: &Path) -> Vec<(PathBuf, Option<Vec<u8>>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).expect("the directory is there") {
        let path = entry.expect("the directory can be read").path();
        if path.is_dir() {
            found.extend(contents(&path));
            found.push((path, None));
        } else {
            let content = fs::read(&path).expect("the file can be read");
            found.push((path, Some(content)));
        }
    }
    found.sort();
    found
}

/// A valid spec that runs in a moment.
fn small() -> String {
    GOOD.replace("100_000", "100").replace("runs = 1000", "runs = 2").replace("[10000, 1000]", "[10, 50]")
}

#[test]
fn every_error_is_reported_with_file_line_and_field() {
    for fault in FAULTS.lines().filter(|line| !line.starts_with('#')) {
        let [from, to, expected] = fault.split(" ~> ").collect::<Vec<_>>()[..] else { panic!("{fault:?}") };
        let spec = GOOD.replacen(from, &to.replace("\\n", "\n"), 1);
        let message = Bench::new(&spec).refusal("spec.toml", &[]);
        let expected = format!("spec.toml:{}", expected.trim_end_matches("..."));
        assert!(message.contains(&expected), "{message:?} instead of {expected:?}");
    }
}

#[test]
fn every_error_that_check_finds_is_reported() {
    let spec = GOOD.replace("runs = 1000", "runs = 0").replace("0.25", "1.5").replace("pbm-ts", "pbm-tss");
    let bench = Bench::new(spec);
    let check = Command::new(env!("CARGO_BIN_EXE_click-bandits"))
        .current_dir(bench.top.path())
        .args(["check", "spec.toml", "--horizon", "0"])
        .output()
        .expect("the program starts");
    let found = String::from_utf8(check.stdout).expect("messages are UTF-8");
    let errors: Vec<String> = found.lines().map(|line| format!("error: {line}")).collect();
    let message = bench.refusal("spec.toml", &["--horizon", "0"]);
    assert_eq!(message, errors.join("\n"));
    assert!(errors.len() == 4 && errors[0].starts_with("error: --horizon 0: "), "{message}");
    let status = bench.simulate("spec.toml", &["--horizon", "0"]).status;
    assert_eq!((status.code(), check.status.code()), (Some(2), Some(2)));
}

#[test]
fn a_file_that_is_not_a_spec_is_refused_with_file_line_and_column() {
    for (content, place) in [
        (&b""[..], "spec.toml:1:1: the file is empty"),
        (b"\n \n", "spec.toml:1:1: the file is empty"),
        (b"this is a letter\nand not a spec\n", "spec.toml:1:6: not TOML: "),
        (b"{ \"name\": \"json\" }\n", "spec.toml:1:1: not TOML: "),
        (b"name = \"unfinished\n", "spec.toml:1:19: name: not TOML: "),
        (b"name = \"x\"\nruns = [1,\n", "spec.toml:2:11: runs: not TOML: unclosed array"),
        (b"name = \"caf\xe9\"\n", "spec.toml:1:12: byte 0xe9 is not UTF-8"),
        (b"\xff\xfen\0a\0", "spec.toml:1:1: byte 0xff is not UTF-8"),
        (b"[[instances]]\n", "spec.toml:1:1: name: missing key"),
    ] {
        let message = Bench::new(content).refusal("spec.toml", &[]);
        assert!(message.contains(place), "{message:?} instead of {place:?}");
    }
}

#[test]
fn a_spec_that_cannot_be_read_is_refused_with_its_name() {
    let bench = Bench::new(small());
    let message = bench.refusal("none.toml", &[]);
    assert!(message.contains("none.toml: cannot be read: no such file or directory"), "{message}");
    let message = bench.refusal(".", &[]);
    assert!(message.contains(".: is a directory"), "{message}");
}

#[test]
fn an_invalid_value_is_refused_with_its_option() {
    let bench = Bench::new(small());
    for (option, value) in
        [("--runs", "0"), ("--horizon", "0"), ("--runs", "-1"), ("--seed", "x"), ("--horizon", "1e5")]
    {
        let before = contents(bench.top.path());
        let output = bench.simulate("spec.toml", &[&format!("{option}={value}")]);
        let message = String::from_utf8(output.stderr).expect("messages are UTF-8");
        assert!(output.status.code().is_some_and(|status| status != 0 && status != 101), "{message}");
        assert!(message.contains(option) && message.contains(value), "{message}");
        assert_eq!(contents(bench.top.path()), before);
    }
}

#[test]
fn a_negative_number_is_read_as_a_value_and_not_as_an_option() {
    let bench = Bench::new(small());
    for (option, value) in [("--seed", "-1"), ("--runs", "-20"), ("--horizon", "-3")] {
        let output = bench.simulate("spec.toml", &[option, value]);
        let message = String::from_utf8(output.stderr).expect("messages are UTF-8");
        assert_eq!(output.status.code(), Some(2), "{message}");
        let expected = format!("invalid value '{value}' for '{option} ");
        assert!(message.contains(&expected), "{message}");
        assert!(message.contains("expected an integer from 0 to 18446744073709551615"), "{message}");
    }
}

#[test]
fn runs_that_do_not_fit_in_memory_are_refused_before_the_first() {
    let bench = Bench::new(small());
    let end = "GiB of memory, more than 8 GiB: reduce runs or policies";
    let message = bench.refusal("spec.toml", &["--runs", "2000000000", "--horizon", "1"]);
    let begin = "error: --runs 2000000000: 2000000000 runs of 2 policies at 1 checkpoint take about ";
    assert!(message.starts_with(begin) && message.ends_with(end), "{message}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_message_that_cannot_be_written_does_not_change_the_status() {
    let bench = Bench::new("colour = 2\n");
    let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("the full device opens");
    let status = Command::new(env!("CARGO_BIN_EXE_click-bandits"))
        .current_dir(bench.top.path())
        .args(["simulate", "spec.toml", "--out", "results"])
        .stderr(full)
        .status()
        .expect("the program starts");
    assert_eq!(status.code(), Some(1));
}

#[test]
fn a_directory_with_results_of_another_experiment_is_refused_and_unchanged() {
    let bench = Bench::new(small());
    let first = bench.simulate("spec.toml", &["--quiet"]);
    assert!(first.status.success(), "{}", String::from_utf8_lossy(&first.stderr));
    fs::write(bench.out().join("notes.txt"), "mine").expect("a file is written");
    let result = fs::read(bench.out().join("result.json")).expect("there is a result");

    for other in [&["--seed", "2"], &["--horizon", "60"]] {
        let message = bench.refusal("spec.toml", other);
        assert!(message.contains("results: belongs to another experiment"), "{message}");
    }
    let message = bench.refusal("spec.toml", &["--runs", "1"]);
    assert!(
        message.contains(", the experiment has 1 in all: ask for as many runs as before, or play"),
        "{message}"
    );
    // The same experiment can be run again, and does not change other files.
    let again = bench.simulate("spec.toml", &["--quiet"]);
    assert!(again.status.success(), "{}", String::from_utf8_lossy(&again.stderr));
    assert_eq!(fs::read(bench.out().join("result.json")).expect("there is a result"), result);
    assert_eq!(fs::read(bench.out().join("notes.txt")).expect("the file is there"), b"mine");

    fs::remove_file(bench.out().join("manifest.json")).expect("the manifest is removed");
    let message = bench.refusal("spec.toml", &[]);
    assert!(message.contains("results: has a result.json, but no manifest.json"), "{message}");
}

#[test]
fn a_file_in_place_of_the_directory_is_refused() {
    let bench = Bench::new(small());
    fs::write(bench.out(), "a file").expect("a file is written");
    let message = bench.refusal("spec.toml", &[]);
    assert!(message.contains("results: is not a directory"), "{message}");
}
