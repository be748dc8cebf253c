//! The files that `fit` writes: the same for any number of threads, safe to open, written
//! completely or not at all.

use super::{contents, dcm_log, pbm_log, run, text, works};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
#[cfg(target_os = "linux")]
use std::process::{Command, Output};
use tempfile::tempdir;

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    const BLOCK: u64 = 1 << 18;
    let top = tempdir().unwrap();
    // Threads read blocks of a log, and play for the answer, which has six files more. Both need
    // not be large at once.
    let few = top.path().join("few");
    fs::create_dir(&few).unwrap();
    for (log, format, more, blocks, n_files) in [
        (pbm_log(top.path(), 10_000), "kdd2012", &[][..], 2, 9),
        (dcm_log(top.path(), 11, 7000), "yandex", &["--answer", "0"], 2, 9),
        (dcm_log(&few, 11, 500), "yandex", &["--model", "sdbn"], 1, 14),
    ] {
        assert!(fs::metadata(&log).unwrap().len().div_ceil(BLOCK) >= blocks);
        let [one, two] = ["1", "2"].map(|threads| {
            let out = top.path().join(format!("{format}-{n_files}-{threads}"));
            let arguments = [text(&log), "--format", format, "--threads", threads, "--out", text(&out)];
            works("fit", &[&arguments[..], more, &["--quiet"]].concat());
            contents(&out)
        });
        assert_eq!(one.len(), n_files);
        assert!(one == two);
    }
}

/// Names in a log may be formulas or control sequences. `parameters.csv`, which people open, makes
/// them harmless. `parameters.json` and `counts.csv`, which programs read, keep them unchanged.
#[test]
fn names_are_escaped_in_files_for_people_and_unchanged_in_files_for_programs() {
    let top = tempdir().unwrap();
    let escaped = ["=cmd|' /C calc'!A0", "-1", "@SUM(A1)", "a\u{1b}[2Jb", "'quoted", "\"+1+1\", tab\there"];
    let items = [&escaped[..], &[" a", "a ", "a", "\na\r\nb\r"]].concat();
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
    // With three positions.
    assert_eq!((formulas("'+query"), formulas("+query")), (items.len() + 3, 0), "{shown}");
}

#[test]
fn a_directory_with_other_results_is_refused_and_the_same_fit_may_be_run_again() {
    let top = tempdir().unwrap();
    let log = pbm_log(top.path(), 4000);
    let out = top.path().join("out");
    let arguments = [text(&log), "--format", "kdd2012", "--quiet", "--out", text(&out)];
    works("fit", &arguments);
    let before = contents(&out);
    works("fit", &arguments);
    assert!(contents(&out) == before);
    let output = run("fit", &[&arguments[..], &["--seed", "2"]].concat());
    assert!(!output.status.success());
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(
        message.contains("belongs to another experiment") && message.contains("other settings"),
        "{message}"
    );
    let output = run("simulate", &[text(&out.join("spec.toml")), "--out", text(&out)]);
    assert!(!output.status.success());
    assert!(contents(&out) == before);
}

#[test]
fn the_result_of_another_log_is_not_overwritten() {
    let top = tempdir().unwrap();
    let log = pbm_log(top.path(), 4000);
    let out = top.path().join("out");
    let arguments = [text(&log), "--format", "kdd2012", "--model", "pbm", "--quiet", "--out", text(&out)];
    works("fit", &arguments);
    let before = contents(&out);
    let content = fs::read_to_string(&log).unwrap();
    let first = content.lines().next().unwrap();
    fs::write(&log, format!("{content}{first}")).unwrap();
    let output = run("fit", &arguments);
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && message.contains("other settings or other data"), "{message}");
    assert!(contents(&out) == before);
}

/// Runs `fit` in a shell that limits the size of files to `blocks`, after the shell command
/// `before`.
#[cfg(target_os = "linux")]
fn with_small_files(blocks: u32, before: &str, arguments: &[&str]) -> Output {
    let script = format!("ulimit -c 0; ulimit -f {blocks}; {before}; exec \"$0\" fit \"$@\"");
    let mut shell = Command::new("sh");
    shell.args(["-c", &script, env!("CARGO_BIN_EXE_click-bandits")]).args(arguments).output().unwrap()
}

/// The limit acts as a full disk. If its signal is not trapped, it kills the process in the middle
/// of a file. In both cases no file has the name of a result, or all earlier results remain, and
/// the next run succeeds.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_or_a_killed_process_leaves_no_half_written_result() {
    use std::os::unix::process::ExitStatusExt as _;
    let top = tempdir().unwrap();
    let log = pbm_log(top.path(), 4000);
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
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(message.contains("cannot be written: File too large"), "{message}");
        assert!(!full.exists());

        let killed = top.path().join(format!("killed-{blocks}"));
        let output = with_small_files(blocks, ":", &[&arguments[..], &["--out", text(&killed)]].concat());
        assert!(output.status.signal().is_some());
        if killed.exists() {
            assert!(contents(&killed).keys().all(|name| name.starts_with('.')));
        }
        // An earlier result remains. The run after the failed one succeeds and removes its
        // leftovers.
        for before in ["trap '' XFSZ", ":"] {
            assert!(
                !with_small_files(blocks, before, &[&arguments[..], &["--out", text(&whole)]].concat())
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
    // Each limit fails at a file of another size, so some files were already written when the next
    // one failed.
    assert!(n_failed >= 4);
}

/// Files of others in the directory stay, and are said to be there.
#[test]
fn other_files_in_the_directory_are_said() {
    let top = tempdir().unwrap();
    let (log, out) = (pbm_log(top.path(), 500), top.path().join("out"));
    let arguments = [text(&log), "--format", "kdd2012", "--answer", "0", "--out", text(&out)];
    let said = || String::from_utf8(run("fit", &arguments).stderr).unwrap();
    assert!(!said().contains("other file"));
    fs::write(out.join("notes.txt"), "mine").unwrap();
    fs::create_dir(out.join("folder")).unwrap();
    assert!(said().contains("also has 2 other files, left alone"));
    assert_eq!(fs::read_to_string(out.join("notes.txt")).unwrap(), "mine");
}
