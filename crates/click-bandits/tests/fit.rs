//! `fit`: from a generated log to parameters, a comparison, and a spec that `simulate` runs.

mod answer;
mod checks;
mod context;
mod files;
mod inputs;
mod models;
mod refusals;
mod table;

use crate::log_generator::{Traffic, kdd2012, yandex};
use click_models::{DcmReward, DependentClick, PositionBased};
use confidence::Probability;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::tempdir;

const EXAMINATION: [f64; 3] = [1.0, 0.55, 0.3];
const ATTRACTION: [[f64; 4]; 2] = [[0.4, 0.3, 0.2, 0.1], [0.6, 0.1, 0.25, 0.05]];

fn run(command: &str, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_click-bandits")).arg(command).args(arguments).output().unwrap()
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Runs a command that has to succeed, and returns its standard output.
fn works(command: &str, arguments: &[&str]) -> String {
    let output = run(command, arguments);
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{printed}{}", String::from_utf8_lossy(&output.stderr));
    printed
}

/// Runs `fit` with arguments that it has to refuse without writing a file, and returns the message.
fn refused(arguments: &[&str]) -> String {
    let top = tempdir().unwrap();
    let out = top.path().join("out");
    let output = run("fit", &[arguments, &["--quiet", "--out", text(&out)]].concat());
    assert!(!output.status.success());
    assert!(!out.exists());
    String::from_utf8(output.stderr).unwrap()
}

/// A log of position-based users with two queries, 31 and 32. A line has about 60 bytes.
fn pbm_log(dir: &Path, lines: u64) -> PathBuf {
    let query = |(number, attraction): (u64, &[f64; 4])| Traffic {
        query: number,
        items: (0..4).map(|item| 100 * number + item).collect(),
        weight: 1.0,
        users: PositionBased::from_values(attraction, &EXAMINATION).unwrap(),
    };
    let traffic: Vec<_> = (31..).zip(&ATTRACTION).map(query).collect();
    let mut log = Vec::new();
    kdd2012(&traffic, lines, 5, &mut log).unwrap();
    let path = dir.join("training.txt");
    fs::write(&path, log).unwrap();
    path
}

/// A log of dependent-click users with one query. A list has ten of the items. With twelve items,
/// the search for the best list of user browsing takes most of a fit of all models.
fn dcm_log(dir: &Path, items: u8, sessions: u64) -> PathBuf {
    let probabilities = |values: Vec<f64>| -> Vec<Probability> {
        values.into_iter().map(|value| Probability::new(value).unwrap()).collect()
    };
    let attraction = probabilities((0..items).map(|item| 0.5 / f64::from(item + 1)).collect());
    let leave = probabilities((0..10).map(|position| 0.9 - 0.05 * f64::from(position)).collect());
    let users = DependentClick::new(attraction, leave, DcmReward::Clicks).unwrap();
    let traffic = [Traffic { query: 9, items: (1..=items.into()).collect(), weight: 1.0, users }];
    let mut log = Vec::new();
    yandex(&traffic, sessions, 5, &mut log).unwrap();
    let path = dir.join("sessions.txt");
    fs::write(&path, log).unwrap();
    path
}

/// The rows of a CSV table; each maps columns to values.
fn table(path: &Path) -> Vec<BTreeMap<String, String>> {
    let mut table = csv::Reader::from_path(path).unwrap();
    table.deserialize().collect::<Result<_, _>>().unwrap()
}

/// The contents of all files, by name, without the manifest: it records when and how they were
/// made.
fn contents(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let name = |entry: fs::DirEntry| entry.file_name().into_string().unwrap();
    let names = fs::read_dir(dir).unwrap().map(|entry| name(entry.unwrap()));
    let results = names.filter(|name| name != "manifest.json");
    results.map(|name| (name.clone(), fs::read(dir.join(name)).unwrap())).collect()
}
