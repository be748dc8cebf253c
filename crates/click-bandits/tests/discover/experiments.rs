//! The experiments of the papers are part of the program.

use super::{empty, json, printed, refused, run};
use std::fs;
use std::path::Path;

/// An experiment with a short panel that has variants.
const SHORT: &str = "rsf-synthetic";
/// This panel, with one run.
const ONE: [&str; 6] = ["--panel", "figure-1", "--runs", "1", "--quiet", "--quick"];
/// The same with a run for each of two parts.
const TWO: [&str; 6] = ["--panel", "figure-1", "--runs", "2", "--quiet", "--quick"];

/// The files of a directory below it, with their contents, except those with times.
fn results(dir: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    let mut folders = vec![dir.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a directory") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if ["result.json", "curves.csv"].iter().any(|name| path.ends_with(name)) {
                let name = path.strip_prefix(dir).expect("inside").display().to_string();
                found.push((name, fs::read(path).expect("a file")));
            }
        }
    }
    found.sort();
    found
}

#[test]
fn an_experiment_of_the_program_has_the_results_of_its_directory() {
    let dir = empty();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../xtask/experiments").join(SHORT);
    for (experiment, out) in [(SHORT, "bare"), (source.to_str().expect("a path"), "path")] {
        // So few runs decide nothing: the status may be that of open claims.
        let output = run(dir.path(), &[&["reproduce", experiment, "--out", out], &ONE[..]].concat());
        assert!(
            dir.path().join(out).join("index.html").is_file(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
    let [bare, path] = ["bare", "path"].map(|out| results(&dir.path().join(out)));
    assert!(bare.len() > 2 && bare == path);
}

#[test]
fn the_report_without_out_has_a_folder_named_after_the_experiment() {
    let dir = empty();
    run(dir.path(), &[&["reproduce", SHORT], &ONE[..]].concat());
    assert!(dir.path().join("reproduced/rsf-synthetic-figure-1-quick-runs-1/index.html").is_file());
}

#[test]
fn a_bare_name_is_the_program_s_experiment_and_a_directory_has_a_separator() {
    let dir = empty();
    fs::create_dir(dir.path().join(SHORT)).expect("a directory");
    fs::write(dir.path().join("rsf-synthetic/experiment.toml"), "name = 1").expect("written");
    let output = run(dir.path(), &[&["reproduce", SHORT], &ONE[..]].concat());
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("the directory of this name is ./rsf-synthetic"), "{said}");
    assert!(dir.path().join("reproduced").is_dir());
    let (_, error) = refused(dir.path(), &["reproduce", "./rsf-synthetic"]);
    assert!(error.contains("./rsf-synthetic/claims.toml: cannot be read"), "{error}");
    fs::create_dir(dir.path().join("mine")).expect("a directory");
    let (_, error) = refused(dir.path(), &["reproduce", "mine"]);
    assert!(error.contains("unknown experiment \"mine\"") && error.contains("./mine"), "{error}");
    let (_, error) = refused(dir.path(), &["reproduce", "kdd2013"]);
    assert!(error.contains("did you mean `kdd2012`?") && error.contains("rucb"), "{error}");
    let (_, error) = refused(dir.path(), &["reproduce", "all", "--panel", "x"]);
    assert!(error.contains("--panel is for one experiment"), "{error}");
}

#[test]
fn a_part_of_an_experiment_of_the_program_is_merged_anywhere() {
    let dir = empty();
    for shard in ["1/2", "2/2"] {
        printed(dir.path(), &[&["reproduce", SHORT, "--shard", shard], &TWO[..]].concat());
    }
    let part = |number: u32| format!("reproduced/rsf-synthetic-figure-1-quick-runs-2-shard-{number}-2");
    let elsewhere = empty();
    let [first, second] = [1, 2].map(|number| dir.path().join(part(number)).display().to_string());
    run(elsewhere.path(), &["merge", &first, &second, "--out", "out", "--quiet"]);
    run(dir.path(), &[&["reproduce", SHORT, "--out", "whole"], &TWO[..]].concat());
    assert_eq!(results(&elsewhere.path().join("out")), results(&dir.path().join("whole")));
}

#[test]
fn a_page_has_panels_papers_and_commands() {
    let dir = empty();
    let page = printed(dir.path(), &["experiments", "rucb"]);
    for text in [
        "figure-4-k16",
        "Zoghi",
        "click-bandits reproduce rucb --quick",
        "--matrix FILE",
        "rucb, condorcet-savage",
    ] {
        assert!(page.contains(text), "{text}\n{page}");
    }
    let yandex = json(dir.path(), &["experiments", "yandex", "--json"]);
    assert_eq!(yandex["takes"], serde_json::json!(["--data"]));
    assert!(yandex["panels"].as_array().expect("panels").iter().any(|panel| panel["needs_data"] == true));
    assert!(printed(dir.path(), &["experiments", "rucb", "--readme"]).starts_with("# rucb"));
}
