//! Invalid command lines have exit status 2 and one message, whether the parser or the command
//! finds the fault; output that cannot be written is an error, and a reader who has read enough is
//! none.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

fn run(dir: &Path, arguments: &str) -> Output {
    let mut program = Command::new(env!("CARGO_BIN_EXE_click-bandits"));
    program.current_dir(dir).args(arguments.split_whitespace()).output().expect("the program starts")
}

/// A directory with an experiment, a file that is none, and a log.
fn bench() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let written = run(dir.path(), "init pbm --out spec.toml");
    assert!(written.status.success());
    fs::write(dir.path().join("file"), "0.5 0.6\n0.4 0.5\n").expect("written");
    dir
}

#[test]
fn invalid_command_lines_have_one_message_and_status_2() {
    let dir = bench();
    for (arguments, message) in [
        ("simulate spec.toml --out r --runs 0", "--runs 0: expected an integer from 1 to "),
        ("simulate spec.toml --out r --max-steps 5", "--max-steps 5: "),
        (
            "simulate spec.toml --out r --threads -1",
            "'-1' for '--threads <N>': expected an integer from 1 to 1024",
        ),
        (
            "simulate spec.toml --out r --threads x",
            "'x' for '--threads <N>': expected an integer from 1 to 1024",
        ),
        ("simulate spec.toml --out - --json", "--json: standard output has one document"),
        ("check spec.toml --allow nowhere", "'nowhere' for '--allow <DIR>': there is no such directory"),
        ("check . --runs 2", ".: is a directory, whose panels have values of their own"),
        ("reproduce rank1 --runs 0 --out r", "--runs 0: "),
        ("reproduce rank1 --seed -1 --out r", "'-1' for '--seed <S>': expected an integer from 0 to "),
        ("reproduce rank1 --panel x --out r", "--panel x: rank1 has no such panel"),
        (
            "reproduce rank1 --panel figure1 --out r",
            "did you mean `figure-1`? known: figure-1, eliminations, ",
        ),
        ("reproduce rank1 --figure 1 --out r", "unexpected argument '--figure' found\n\nUsage: "),
        ("export r --json", "unexpected argument '--json' found\n\nUsage: "),
        ("reproduce rank2 --out r", "unknown experiment"),
        ("policies oracle --example --json", "cannot be used with"),
        ("export r --out x.doc", "x.doc: no format is called"),
    ] {
        refused(dir.path(), arguments, message);
    }
    assert!(!dir.path().join("r").exists());
    let taken = run(dir.path(), "experiments rank1 --files .");
    let message = String::from_utf8_lossy(&taken.stderr).into_owned();
    assert!(message.contains("--files .: it is there already: give a new name"), "{message}");
}

#[test]
fn invalid_command_lines_on_logs_have_status_2() {
    let dir = bench();
    for (arguments, message) in [
        ("preferences --synthetic", "--out DIR is needed"),
        ("preferences --matrix file --seed 2", "--matrix gives the matrix"),
        ("fit file --format sessions --out r --columns query=q", "--columns: only for "),
        ("fit file --format delimited --out r", "--columns: missing"),
        ("fit file --format sessions --out r --first-position 0", "--first-position: only for "),
        (
            "fit file --format sessions --out r --held-out -1",
            "expected 0, an integer of at least 2 or `last`",
        ),
        ("fit --counts file --model pbm --out r --held-out last", "counts have no order"),
        ("fit --counts file --out r --application shop", "--exact-queries: only for --format ubi"),
        (
            "fit file --format sessions --out r --seed 18446744073709551616",
            "expected an integer from 0 to 18446744073709551615",
        ),
        ("fit --counts file --out r --max-clicks 5", "--max-clicks: it needs sessions, and counts have none"),
        ("fit file --format kdd2012 --out r --max-clicks 5", "--max-clicks: it needs sessions, and this log"),
        (
            "fit file --format sessions --out r --lenient --max-skipped 2",
            "'2' for '--max-skipped <SHARE>': expected a number",
        ),
        (
            "fit file --format sessions --out r --lenient --max-skipped x",
            "'x' for '--max-skipped <SHARE>': expected a number from 0 to 1",
        ),
        (
            "evaluate file --format sessions --ranking file --out r --values 1,x",
            "'x' for '--values <V,..>': expected a number",
        ),
        ("test file --kind ab --split x", "'x' for '--split <S>': expected a number"),
        ("test --plan --kind ab --mean x --sd 1", "'x' for '--mean <M>': expected a number"),
    ] {
        refused(dir.path(), arguments, message);
    }
    // One of three arguments is missing; a matrix that is only reported needs no directory.
    let missing = String::from_utf8_lossy(&run(dir.path(), "preferences").stderr).into_owned();
    assert!(missing.contains("<--matrix <FILE>|--letor <FILE>|--synthetic>"), "{missing}");
    assert!(!missing.contains("--out"), "{missing}");
}

fn refused(dir: &Path, arguments: &str, message: &str) {
    let output = run(dir, arguments);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{arguments}: {said}");
    assert!(output.stdout.is_empty() && said.starts_with("error: ") && said.contains(message), "{said}");
    assert_eq!(said.matches("error: ").count(), 1, "{said}");
}

#[test]
fn check_lists_the_faults_of_the_command_line() {
    let dir = bench();
    let output = run(dir.path(), "check spec.toml --runs 0 --horizon 0");
    let listed = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(2), "{listed}");
    assert!(listed.contains("--runs 0: ") && listed.contains("--horizon 0: "), "{listed}");
}

#[test]
fn a_file_in_place_of_the_directory_of_pages_is_named() {
    let dir = bench();
    let output = run(dir.path(), "man file");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(said, "error: file: is not a directory: name one for the pages\n");
}

#[cfg(target_os = "linux")]
#[test]
fn output_that_is_lost_is_an_error_and_a_closed_pipe_ends_the_program() {
    use std::os::unix::process::ExitStatusExt as _;
    use std::process::Stdio;

    let dir = bench();
    for arguments in ["--help", "--version", "help", "simulate --help", "policies", "man", "init pbm"] {
        let started = |output: Stdio| {
            let mut program = Command::new(env!("CARGO_BIN_EXE_click-bandits"));
            let program = program.current_dir(dir.path()).args(arguments.split_whitespace());
            program.stdout(output).stderr(Stdio::piped()).output().expect("the program starts")
        };
        let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("the full device opens");
        let lost = started(full.into());
        let said = String::from_utf8_lossy(&lost.stderr);
        assert_eq!(lost.status.code(), Some(1), "{arguments}");
        assert!(said.starts_with("error: standard output cannot be written: "), "{arguments}: {said}");
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let closed = started(writer.into());
        assert!(closed.status.signal() == Some(13) && closed.stderr.is_empty(), "{arguments}");
    }
}
