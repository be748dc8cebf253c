//! On Ctrl-C and SIGTERM, one line lists the kept files, no file is half-written, and the
//! signal ends the program.

use std::fs;
use std::io::Read as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

fn start(arguments: &[&str], dir: &Path) -> Child {
    Command::new(env!("CARGO_BIN_EXE_click-bandits"))
        .args(arguments)
        .current_dir(dir)
        .stderr(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .expect("the program starts")
}

/// Sends a signal. Returns the number of the signal that ended the program, and the last line of
/// its standard error.
fn interrupt(mut child: Child, signal: &str) -> (Option<i32>, String) {
    let sent = Command::new("kill").args([signal, &child.id().to_string()]).status().expect("kill starts");
    assert!(sent.success());
    let status = child.wait().expect("it ends");
    let mut message = String::new();
    child.stderr.take().expect("a pipe").read_to_string(&mut message).expect("text");
    assert!(message.ends_with('\n'), "{message:?}");
    (status.signal(), message.lines().last().unwrap_or_default().to_owned())
}

/// Writes the spec of an experiment with 1000 runs of this horizon.
fn spec(dir: &Path, horizon: u64) {
    let text = format!(
        "name = \"long\"\ntask = \"regret\"\nhorizon = {horizon}\nruns = 1000\nseed = 1\n\
         [[instances]]\nmodel = \"pbm\"\ntheta = [0.5, 0.4, 0.3]\nkappa = [0.9, 0.5]\n[[policies]]\npolicy = \"pbm-ucb\"\n"
    );
    fs::write(dir.join("spec.toml"), text).expect("written");
}

#[test]
fn an_interrupted_simulation_says_where_its_runs_are_kept() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    spec(dir.path(), 100_000_000);
    for (signal, number, threads) in [("-INT", 2, "2"), ("-TERM", 15, "1")] {
        let mut child = start(&["simulate", "spec.toml", "--out", "out", "--threads", threads], dir.path());
        // Before the first run, the program prints their number.
        let mut byte = [0];
        while byte != *b"\n" {
            child.stderr.as_mut().expect("a pipe").read_exact(&mut byte).expect("a line");
        }
        sleep(Duration::from_millis(100));
        let (ended_by, message) = interrupt(child, signal);
        let expected = "interrupted: finished runs and states of long ones are kept in out/journal: the same command continues";
        assert_eq!((ended_by, message.as_str()), (Some(number), expected));
        assert!(!dir.path().join("out/result.json").exists());
    }
}

#[test]
fn an_interrupted_reproduction_says_which_panels_are_complete() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let panel = |name: &str, horizon: u64| {
        format!(
            "[[panels]]\nname = \"{name}\"\ntitle = \"T\"\npaper = \"P\"\nplace = \"p\"\nstatement = \"s\"\nmodel = \"pbm\"\n\
             runs = 2\nhorizon = {horizon}\npolicies = [{{ policy = \"pbm-ts\" }}]\n"
        )
    };
    let experiment = format!(
        "name = \"two\"\ntitle = \"T\"\ntask = \"regret\"\nseed = 1\n[[papers]]\nkey = \"P\"\ncitation = \"c\"\n\
         [[instances]]\ntheta = [0.5, 0.2]\nkappa = [1.0, 0.5]\n{}{}",
        panel("short", 10),
        panel("long", 100_000_000_000)
    );
    fs::write(dir.path().join("experiment.toml"), experiment).expect("written");
    let claim = "[[claims]]\nname = \"c\"\nsays = \"s\"\nplace = \"p\"\n[claims.test]\nkind = \"not-testable\"\nreason = \"r\"\n\
                 [claims.known]\nverdict = \"not-testable\"\nevidence = \"e\"\n";
    fs::write(dir.path().join("claims.toml"), claim).expect("written");
    let child = start(&["reproduce", ".", "--out", "out", "--quiet"], dir.path());
    while !dir.path().join("out/long/journal").exists() {
        sleep(Duration::from_millis(20));
    }
    sleep(Duration::from_millis(100));
    let (ended_by, message) = interrupt(child, "-INT");
    assert_eq!(
        (ended_by, message.as_str()),
        (
            Some(2),
            "interrupted: complete and kept: out/short; finished runs and states of long ones are kept in out/long/journal: the same command continues"
        )
    );
}
