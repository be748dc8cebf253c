//! The program explains itself: with the binary alone, in an empty directory.

mod examples;
mod experiments;
mod lists;
mod shells;

use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use tempfile::TempDir;

/// The names of the commands, as the program lists them.
fn commands() -> Vec<String> {
    let help = printed(empty().path(), &["-h"]);
    let lines =
        help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let names =
        lines.filter(|line| !line.starts_with("   ")).filter_map(|line| line.split_whitespace().next());
    let names: Vec<String> = names.filter(|name| *name != "help").map(str::to_owned).collect();
    assert!(names.len() >= 12 && names.contains(&"simulate".to_owned()), "{names:?}");
    names
}

/// Runs the program in a directory.
fn run(dir: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_click-bandits"));
    command.args(arguments).current_dir(dir).output().expect("the program starts")
}

/// Standard output of a command that succeeds.
fn printed(dir: &Path, arguments: &[&str]) -> String {
    let output = run(dir, arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

/// Exit status and standard error of a command that fails.
fn refused(dir: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let output = run(dir, arguments);
    assert!(!output.status.success(), "{arguments:?}");
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// A JSON document that a command prints.
fn json(dir: &Path, arguments: &[&str]) -> serde_json::Value {
    serde_json::from_str(&printed(dir, arguments)).expect("one JSON document")
}

fn empty() -> TempDir {
    tempfile::tempdir().expect("a temporary directory")
}

/// The strings of a key in an array of objects.
fn strings(array: &serde_json::Value, key: &str) -> Vec<String> {
    let one = |object: &serde_json::Value| object[key].as_str().expect("a string").to_owned();
    array.as_array().expect("an array").iter().map(one).collect()
}

fn write(path: &Path, text: &str) {
    fs::write(path, text).expect("written");
}
