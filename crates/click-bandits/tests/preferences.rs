//! `preferences`: estimates do not depend on threads or interruptions, reports name a winner only
//! if it is clear, and files are kept safe.

use interleaving::{Estimation, RankedCollection, Settings, Synthetic, letor};
use std::path::Path;
use std::process::{Command, Output};
use std::{fs, io};

fn preferences(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_click-bandits"))
        .arg("preferences")
        .args(arguments)
        .output()
        .expect("the program starts")
}

/// Writes a small collection in LETOR format.
fn collection(path: &Path) -> io::Result<()> {
    let small = Synthetic { n_queries: 8, n_documents: 12, n_features: 13, seed: 3 };
    let mut file = fs::File::create(path)?;
    letor::write(&small.queries().expect("a small collection"), &mut file)
}

fn path(path: &Path) -> &str {
    path.to_str().expect("a temporary directory has a plain name")
}

#[test]
fn an_estimate_does_not_depend_on_threads() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let file = dir.path().join("small.txt");
    collection(&file).expect("written");
    let estimate = |name: &str, more: &[&str]| {
        let out = dir.path().join(name);
        let arguments =
            [&["--letor", path(&file), "--out", path(&out), "--comparisons", "100", "--quiet"], more]
                .concat();
        (preferences(&arguments), out)
    };
    let files = ["preferences.csv", "counts.csv", "report.json", "index.html"];
    let read = |out: &Path| files.map(|file| fs::read(out.join(file)).expect("written"));
    let (output, usual) = estimate("usual", &[]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let (_, one) = estimate("one", &["--threads", "1"]);
    assert!(read(&usual) == read(&one), "one thread");

    // Another seed makes another estimation.
    let before = read(&usual);
    let (output, _) = estimate("usual", &["--seed", "2"]);
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && message.contains("as well, but with other settings"), "{message}");
    assert!(before == read(&usual), "nothing was touched");
}

/// Writes a collection with some features. `change` edits the words of each line: label, query, and
/// one word for each feature.
fn changed_collection(
    path: &Path,
    n_features: usize,
    seed: u64,
    change: impl Fn(&mut Vec<String>),
) -> io::Result<()> {
    let small = Synthetic { n_queries: 20, n_documents: 10, n_features, seed };
    let mut text = Vec::new();
    letor::write(&small.queries().expect("a small collection"), &mut text)?;
    let lines = String::from_utf8(text).expect("text");
    let changed = lines.lines().map(|line| {
        let mut words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        change(&mut words);
        words.join(" ") + "\n"
    });
    fs::write(path, changed.collect::<String>())
}

/// The reports of an estimate: JSON, standard output, and the page.
fn reports(dir: &Path, collection: &Path) -> (serde_json::Value, String, String) {
    let out = dir.join("out");
    let output = preferences(&["--letor", path(collection), "--out", path(&out), "--comparisons", "400"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let json = fs::read_to_string(out.join("report.json")).expect("written");
    let page = fs::read_to_string(out.join("index.html")).expect("written");
    (serde_json::from_str(&json).expect("JSON"), String::from_utf8(output.stdout).expect("text"), page)
}

/// If all documents have the same label, no feature is named the winner. In three of four
/// collections without equal tallies, one of three features still beats both others in the estimate
/// (28 of 40 other collections), so that at least one of 20 collections has such a leader, except
/// with probability 1e-6, even if only half had one. A program that names it is noticed with the
/// same probability.
#[test]
fn no_winner_is_named_among_equal_features() {
    let mut n_leaders = 0;
    for seed in 1..=20 {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let file = dir.path().join("noise.txt");
        changed_collection(&file, 3, seed, |words| words[0] = "0".to_owned()).expect("written");
        let (json, output, page) = reports(dir.path(), &file);
        assert!(json["condorcet_winner"].is_null() && json["gaps"].is_null(), "{json}");
        let names_winner = |text: &str| text.contains("which beats all");
        assert!(!names_winner(&output) && !names_winner(&page), "{output}");
        assert!(output.contains("not told by 400 comparisons a pair"), "{output}");
        n_leaders += u32::from(!json["sampling"]["leader"].is_null());
    }
    assert!(n_leaders >= 1, "no collection had a leader");
}

/// Feature 1 is the label, so it wins. Every estimate has an interval.
#[test]
fn a_clear_winner_is_named() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let file = dir.path().join("clear.txt");
    changed_collection(&file, 5, 1, |words| words[2] = format!("1:{}", words[0])).expect("written");
    let (json, output, page) = reports(dir.path(), &file);
    assert_eq!(json["condorcet_winner"], 0);
    assert!(json["sampling"]["condorcet_miss"].as_f64().expect("a number") < 1e-3);
    let named = "feature 1, which beats all 4 others; so clearly a wrong one is named with probability ";
    assert!(output.contains(named) && page.contains(named), "{output}");
    let counts = fs::read_to_string(dir.path().join("out/counts.csv")).expect("written");
    let rows: Vec<Vec<f64>> = (counts.lines().skip(1))
        .map(|line| line.split(',').map(|entry| entry.parse().expect("a number")).collect())
        .collect();
    assert_eq!((rows.len(), page.matches("<tr><td>feature ").count()), (10, 10));
    for row in rows {
        let [first, second, won, lost, ties, estimate, lower, upper] = row[..] else { panic!("{row:?}") };
        assert!(1.0 <= first && first < second && second <= 5.0);
        assert!(won + lost + ties == 400.0 && estimate == (won + 0.5 * ties) / 400.0);
        assert!(lower < estimate && estimate < upper && upper - lower < 0.3, "{row:?}");
        assert!(first > 1.0 || lower > 0.5, "{row:?}");
    }
}

/// The entries of a matrix without counts are taken as exact, and the report says so.
#[test]
fn a_given_matrix_has_no_sampling_error() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let file = dir.path().join("a.csv");
    fs::write(&file, "0.5 0.501\n0.499 0.5\n").expect("written");
    let output = preferences(&["--matrix", path(&file)]);
    let text = String::from_utf8(output.stdout).expect("text");
    assert!(text.contains("Condorcet winner                0, which beats the other one\n"), "{text}");
    assert!(text.contains("Sampling error                  none is known of"), "{text}");
}

/// If a file that it did not write is in the way, neither an estimate nor the report of a matrix
/// writes any file.
#[test]
fn files_of_others_are_not_overwritten() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let (letor, matrix) = (dir.path().join("small.txt"), dir.path().join("a.csv"));
    collection(&letor).expect("written");
    fs::write(&matrix, "0.5 0.6\n0.4 0.5\n").expect("written");
    for name in ["index.html", "report.json", "counts.csv"] {
        let out = dir.path().join("out");
        fs::create_dir(&out).expect("created");
        fs::write(out.join(name), "mine").expect("written");
        for source in [["--letor", path(&letor)], ["--matrix", path(&matrix)]] {
            let output = preferences(&[&source[..], &["--out", path(&out), "--quiet"]].concat());
            // The report of a matrix has no counts.
            let refused = !(name == "counts.csv" && source[0] == "--matrix");
            assert_eq!(!output.status.success(), refused, "{name}, {source:?}");
            let message = String::from_utf8_lossy(&output.stderr);
            assert!(!refused || message.contains("is in the way"), "{message}");
            assert!(fs::read_to_string(out.join(name)).expect("there") == "mine");
            assert!(!refused || fs::read_dir(&out).expect("there").count() == 1, "{name}, {source:?}");
        }
        fs::remove_dir_all(&out).expect("removed");
    }
}

/// If estimates start at the same time in one directory, at least one succeeds. The others are
/// refused or run after it.
#[test]
fn files_of_simultaneous_estimates_do_not_mix() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let (letor, out) = (dir.path().join("small.txt"), dir.path().join("out"));
    collection(&letor).expect("written");
    let start = || {
        Command::new(env!("CARGO_BIN_EXE_click-bandits"))
            .args(["preferences", "--letor", path(&letor), "--out", path(&out), "--comparisons", "2000"])
            .args(["--quiet", "--threads", "1"])
            .stderr(std::process::Stdio::piped())
            .spawn()
            .expect("the program starts")
    };
    let outputs = [start(), start(), start()].map(|child| child.wait_with_output().expect("it ends"));
    let done = outputs.iter().filter(|output| output.status.success()).count();
    assert!(done >= 1, "{outputs:?}");
    for output in outputs.iter().filter(|output| !output.status.success()) {
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(message.contains("another run writes here"), "{message}");
    }
    let manifest: serde_json::Value =
        serde_json::from_slice(&fs::read(out.join("manifest.json")).expect("written")).expect("JSON");
    let names: Vec<&String> = manifest["files"].as_object().expect("files").keys().collect();
    assert_eq!(names, ["counts.csv", "index.html", "preferences.csv", "report.json"]);
    let experiment = &manifest["experiment"];
    assert_eq!(
        (&experiment["user"], &experiment["interleaving"]),
        (&"navigational".into(), &"probabilistic".into())
    );
    assert_eq!((&experiment["comparisons"], &experiment["seed"]), (&2000.into(), &1.into()));
    assert_eq!(experiment["collection"].as_str().expect("a digest").len(), 64);
    let left_over = fs::read_dir(&out)
        .expect("there")
        .flatten()
        .any(|entry| entry.file_name().to_string_lossy().ends_with("click-bandits-part"));
    assert!(!left_over);
}

/// A result that was not printed is an error.
#[test]
#[cfg(target_os = "linux")]
fn a_full_standard_output_is_a_failure() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let (matrix, spec) = (dir.path().join("a.csv"), dir.path().join("spec.toml"));
    fs::write(&matrix, "0.5 0.6\n0.4 0.5\n").expect("written");
    let text = "name = \"x\"\ntask = \"regret\"\nhorizon = 10\nruns = 1\nseed = 1\n[[instances]]\nmodel = \"dueling\"\n\
                preferences = [[0.5, 0.6], [0.4, 0.5]]\n[[policies]]\npolicy = \"rucb\"\n";
    fs::write(&spec, text).expect("written");
    let out = dir.path().join("out");
    for arguments in
        [vec!["preferences", "--matrix", path(&matrix)], vec!["simulate", path(&spec), "--out", path(&out)]]
    {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("there is one");
        let output = Command::new(env!("CARGO_BIN_EXE_click-bandits"))
            .args(&arguments)
            .stdout(full)
            .output()
            .expect("the program starts");
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{message}");
        assert!(message.contains("standard output cannot be written"), "{message}");
    }
}

/// The gzip of "0.5 0.6\n0.4 0.5\n".
const PACKED: &[u8] = &[
    31, 139, 8, 0, 0, 0, 0, 0, 2, 3, 51, 208, 51, 85, 48, 208, 51, 227, 50, 208, 51, 1, 210, 166, 92, 0, 165,
    96, 103, 16, 16, 0, 0, 0,
];

#[test]
fn a_matrix_compressed_with_gzip_is_read() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let file = dir.path().join("a.csv.gz");
    fs::write(&file, PACKED).expect("written");
    let output = preferences(&["--matrix", path(&file)]);
    let text = String::from_utf8(output.stdout).expect("text");
    assert!(
        text.contains("0, which beats the other one"),
        "{text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    fs::write(&file, &PACKED[..20]).expect("written");
    let message = String::from_utf8(preferences(&["--matrix", path(&file)]).stderr).expect("text");
    assert!(message.contains("a.csv.gz: gzip: "), "{message}");
}

#[test]
fn errors_name_file_line_and_column() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let message = |name: &str, text: &str, option: &str| {
        let file = dir.path().join(name);
        fs::write(&file, text).expect("written");
        let out = dir.path().join("out");
        let output = preferences(&[option, path(&file), "--out", path(&out)]);
        assert!(!output.status.success() && !out.exists());
        String::from_utf8_lossy(&output.stderr).replace(path(dir.path()), "")
    };
    assert!(message("a.csv", "0.5 0.6\n0.6 0.5\n", "--matrix").starts_with("error: /a.csv:2:1: "));
    assert!(message("a.csv", "0.5 nan\n0.5 0.5\n", "--matrix").starts_with("error: /a.csv:1:5: "));
    assert!(message("a.csv", "0.5\n", "--matrix").starts_with("error: /a.csv:"));
    let text = message("a.txt", "1 qid:1 1:0.5 2:x\n", "--letor");
    assert!(text.starts_with("error: /a.txt:1:17: "), "{text}");
}

/// The default matrix of the experiment `rucb` is an estimate by this program. The test checks a
/// few pairs only: all pairs would take eight million comparisons.
#[test]
fn the_shipped_matrix_is_the_estimate_of_the_synthetic_collection() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../xtask/experiments/rucb/synthetic.csv");
    let text = fs::read_to_string(file).expect("the matrix is there");
    let first: Vec<f64> = (text.lines().next().expect("a row").split(','))
        .map(|entry| entry.parse().expect("a number"))
        .collect();
    assert_eq!((first.len(), text.lines().count()), (64, 64));
    let queries = Synthetic::default().queries().expect("the usual size");
    let features: Vec<usize> = (0..64).collect();
    let settings = Settings::default();
    let rankers = RankedCollection::by_features(&queries, &features, settings.seed).expect("64 rankers");
    let estimation = Estimation::new(&rankers, settings).expect("the usual settings");
    for (other, expected) in (1..=3).zip(&first[1..]) {
        assert_eq!(estimation.compare(0, other).share(), *expected, "ranker 0 against {other}");
    }
}

/// Features that no document lists are no rankers, and the others keep their numbers.
#[test]
fn features_that_no_document_has_are_no_rankers() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let file = dir.path().join("gaps.txt");
    fs::write(&file, "1 qid:1 5:0.5 9:1\n0 qid:1 5:0.3 9:2\n").expect("written");
    let (json, output, page) = reports(dir.path(), &file);
    assert_eq!((&json["n_items"], &json["features"]), (&2.into(), &serde_json::json!([5, 9])));
    assert!(output.contains("feature 5, which beats") && page.contains("feature 9"), "{output}");
    let counts = fs::read_to_string(dir.path().join("out/counts.csv")).expect("written");
    assert_eq!(counts.lines().nth(1).and_then(|line| line.get(..4)), Some("5,9,"), "{counts}");
}

/// Decimals that are off by the tolerance are accepted, and not those that are off by more.
#[test]
fn a_matrix_that_was_rounded_is_accepted() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let accepted = |text: &str| {
        let file = dir.path().join("m.csv");
        fs::write(&file, text).expect("written");
        preferences(&["--matrix", path(&file)]).status.success()
    };
    for matrix in [
        "0.49999,0.6\n0.4,0.5\n",
        "0.5,0.12346\n0.87655,0.5\n",
        "0.5,0.49999\n0.5,0.5\n",
        "0.50001,0.5\n0.50001,0.5\n",
    ] {
        assert!(accepted(matrix), "{matrix}");
    }
    for matrix in ["0.499989,0.6\n0.4,0.5\n", "0.5,0.12346\n0.876551,0.5\n", "0.5,0.4999899\n0.5,0.5\n"] {
        assert!(!accepted(matrix), "{matrix}");
    }
}

/// An experiment that cannot take a matrix says so of the matrix, not of places in its own file.
#[test]
fn a_matrix_that_is_too_small_for_an_experiment_is_named() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let (file, out) = (dir.path().join("twelve.csv"), dir.path().join("out"));
    let entry = |a: usize, b: usize| ["0.4", "0.5", "0.6"][1 + usize::from(a < b) - usize::from(a > b)];
    let row = |a| (0..12).map(|b| entry(a, b)).collect::<Vec<_>>().join(" ");
    fs::write(&file, (0..12).map(row).collect::<Vec<_>>().join("\n")).expect("written");
    let reproduce = |more: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_click-bandits"));
        command.args(["reproduce", "rucb", "--matrix", path(&file), "--out", path(&out), "--quiet"]);
        command.args(more).output().expect("the program runs")
    };
    // Sizes that are not played need not fit.
    for (more, needed) in [
        (&[][..], 64),
        (&["--quick"], 32),
        (&["--quick", "--panel", "figure-4-k64"], 16),
        (&["--panel", "figure-4-k64"], 64),
    ] {
        let output = reproduce(more);
        let error = String::from_utf8(output.stderr).expect("text");
        let fewer = if more.contains(&"--quick") { "" } else { ", with --quick fewer" };
        let expected = format!(
            "error: --matrix: twelve.csv: has 12 rankers: expected at least {needed}, which are drawn from it{fewer}\n"
        );
        assert!(!output.status.success() && error == expected, "{error}");
        assert!(!out.exists());
    }
    assert!(reproduce(&["--panel", "figure-5", "--runs", "1"]).status.success());
}
