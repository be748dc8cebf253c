//! Files that a command may read, replace and leave behind.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread::sleep;
use std::time::Duration;
use tempfile::{TempDir, tempdir};

const SPEC: &str = r#"
name = "small"
task = "regret"
horizon = 20
runs = 40
seed = 1
instances = [{ model = "cascade", attraction = [0.5, 0.3, 0.2], positions = 1 }]
policies = [{ policy = "uniform" }, { policy = "logged", lists = "lists.csv" }]
"#;

const LISTS: &str = "instance,query,lists,items\n0,,1,2\n";

/// A directory with `own/spec.toml` and what it names.
fn bench() -> TempDir {
    let top = tempdir().expect("a temporary directory");
    fs::create_dir(top.path().join("own")).expect("created");
    fs::write(top.path().join("own/spec.toml"), SPEC).expect("written");
    fs::write(top.path().join("own/lists.csv"), LISTS).expect("written");
    top
}

/// Runs a program, which may not wait for anything.
fn finish(command: &mut Command) -> Output {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    for _ in 0..3_000 {
        if child.try_wait().expect("a child").is_some() {
            return child.wait_with_output().expect("its output");
        }
        sleep(Duration::from_millis(10));
    }
    child.kill().expect("killed");
    panic!("{command:?} does not end");
}

fn run(dir: &Path, arguments: &[&str]) -> Output {
    finish(Command::new(env!("CARGO_BIN_EXE_click-bandits")).args(arguments).current_dir(dir))
}

fn succeed(dir: &Path, arguments: &[&str]) {
    let output = run(dir, arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// The text of a refused command, on both of its outputs.
fn refusal(dir: &Path, arguments: &[&str]) -> String {
    let output = run(dir, arguments);
    assert!(!output.status.success(), "{arguments:?}");
    String::from_utf8([output.stdout, output.stderr].concat()).expect("text")
}

#[test]
fn a_spec_names_no_file_outside_of_its_folder_unless_it_is_allowed() {
    let bench = bench();
    let dir = bench.path();
    fs::write(dir.join("secret"), "password,hunter2\n").expect("written");
    fs::create_dir(dir.join("elsewhere")).expect("created");
    fs::rename(dir.join("own/lists.csv"), dir.join("elsewhere/lists.csv")).expect("moved");
    let write = |lists: &str| {
        fs::write(dir.join("own/spec.toml"), SPEC.replace("lists.csv", lists)).expect("written");
    };
    for command in [&["check", "own/spec.toml"][..], &["simulate", "own/spec.toml", "--out", "out"]] {
        write("../secret");
        let message = refusal(dir, command);
        assert!(message.contains("policies[1].lists: own/../secret: is outside of the folder"), "{message}");
        assert!(!message.contains("hunter2") && !message.contains("password"), "{message}");
        write("../elsewhere/lists.csv");
        assert!(refusal(dir, command).contains("allow its folder"));
        succeed(dir, &[command, &["--allow", "own", "--allow", "elsewhere"]].concat());
    }
    // The result has a copy beside its spec.
    succeed(dir, &["simulate", "out/spec.toml", "--out", "again"]);

    fs::write(dir.join("m.txt"), "0.5,0.6\n0.4,0.5\n").expect("written");
    fs::write(dir.join("own/experiment.toml"), REPRODUCTION).expect("written");
    fs::write(dir.join("own/claims.toml"), CLAIMS).expect("written");
    for command in [&["check", "own/"][..], &["reproduce", "own/", "--out", "report"]] {
        let message = refusal(dir, command);
        assert!(message.contains("instances[0].file: own/../m.txt: is outside of the folder"), "{message}");
        succeed(dir, &[command, &["--allow", "."]].concat());
    }
}

const REPRODUCTION: &str = r#"
name = "one"
title = "T"
task = "regret"
seed = 1
horizon = 50
runs = 20
policies = [{ policy = "rucb" }, { policy = "oracle" }]
[[papers]]
key = "P"
citation = "c"
[[panels]]
name = "first"
title = "T"
paper = "P"
place = "p"
statement = "s"
[[panels.instances]]
model = "dueling"
file = "../m.txt"
"#;

const CLAIMS: &str = r#"
[[claims]]
name = "c"
panel = "first"
says = "s"
place = "p"
[claims.test]
kind = "order"
lower = ["oracle"]
upper = ["rucb"]
t = 50
[claims.known]
verdict = "reproduced"
evidence = "e"
"#;

/// The data of a part are where its description says only if that is below the working directory,
/// or named.
#[test]
fn a_part_of_a_reproduction_names_no_file_outside_of_the_working_directory() {
    let bench = bench();
    let dir = bench.path();
    fs::write(dir.join("own/m.txt"), "0.5,0.6\n0.4,0.5\n").expect("written");
    fs::write(dir.join("own/experiment.toml"), REPRODUCTION.replace("../m.txt", "m.txt")).expect("written");
    fs::write(dir.join("own/claims.toml"), CLAIMS).expect("written");
    let play = ["reproduce", "./own", "--matrix", "own/m.txt", "--shard", "1/1", "--out", "part"];
    succeed(dir, &play);
    succeed(dir, &["merge", "part", "--out", "merged"]);
    fs::create_dir(dir.join("there")).expect("created");
    let there = dir.join("there");
    let message = refusal(&there, &["merge", "../part", "--out", "merged"]);
    assert!(message.contains("./own: cannot be read: name it with --experiment"), "{message}");
    let part = fs::read_to_string(dir.join("part/part.json")).expect("a part");
    fs::write(dir.join("part/part.json"), part.replace("\"own/m.txt\"", "\"../own/m.txt\""))
        .expect("written");
    let merge = ["merge", "../part", "--out", "merged", "--experiment", "../own"];
    let message = refusal(&there, &merge);
    assert!(
        message.contains("../own/m.txt: is outside of the working directory: name it with --data"),
        "{message}"
    );
    succeed(&there, &[&merge[..], &["--allow", "../own"]].concat());
    succeed(&there, &[&merge[..], &["--data", "../own/m.txt"]].concat());
}

/// A name that the directory of the result has for something else is refused before the first run.
#[test]
fn a_file_of_lists_with_the_name_of_the_journal_is_refused_at_once() {
    let bench = bench();
    fs::rename(bench.path().join("own/lists.csv"), bench.path().join("own/journal")).expect("moved");
    fs::write(bench.path().join("own/spec.toml"), SPEC.replace("lists.csv", "journal")).expect("written");
    let message = refusal(bench.path(), &["simulate", "own/spec.toml", "--out", "out"]);
    assert!(message.contains("\"journal\""), "{message}");
    assert!(!bench.path().join("out").exists());
}

#[cfg(unix)]
#[test]
fn a_pipe_in_the_place_of_a_file_is_refused() {
    let bench = bench();
    let dir = bench.path();
    succeed(dir, &["simulate", "own/spec.toml", "--out", "out", "--quiet"]);
    succeed(dir, &["simulate", "own/spec.toml", "--out", "part", "--quiet", "--shard", "1/1"]);
    let pipe = |name: &str| {
        let path = dir.join(name);
        let kept = path.exists().then(|| fs::read(&path).expect("a file"));
        let _ = fs::remove_file(&path);
        assert!(Command::new("mkfifo").arg(&path).status().expect("mkfifo").success());
        (path, kept)
    };
    let runs = fs::read_dir(dir.join("out/journal")).expect("a journal").next().expect("runs").expect("runs");
    let runs = format!("out/journal/{}", runs.file_name().to_string_lossy());
    let simulate = ["simulate", "own/spec.toml", "--out", "out"];
    let cases: [(&str, &[&[&str]]); 8] = [
        ("own/lists.csv", &[&simulate, &["check", "own/spec.toml"]]),
        ("own/spec.toml", &[&simulate, &["check", "own/spec.toml"]]),
        ("out/result.json", &[&["export", "out"], &["compare", "out", "out"]]),
        ("out/manifest.json", &[&simulate, &["export", "out"]]),
        ("out/spec.toml", &[&["export", "out", "--table", "runs"]]),
        (&runs, &[&simulate, &["export", "out", "--table", "runs"]]),
        ("part/part.json", &[&["merge", "part", "--out", "merged"]]),
        (
            "pipe",
            &[
                &["preferences", "--matrix", "pipe"],
                &["preferences", "--letor", "pipe", "--out", "estimated"],
                &["reproduce", "rucb", "--matrix", "pipe", "--out", "report"],
            ],
        ),
    ];
    for (name, commands) in cases {
        let (path, kept) = pipe(name);
        for command in commands {
            let message = refusal(dir, command);
            assert!(message.contains("is not a regular file"), "{command:?}: {message}");
        }
        fs::remove_file(&path).expect("removed");
        kept.map_or(Ok(()), |content| fs::write(&path, content)).expect("written");
    }
    let device = ["fit", "/dev/zero", "--format", "sessions", "--model", "pbm", "--out", "fitted"];
    assert!(refusal(dir, &device).contains("/dev/zero: a device: expected a file, a pipe"));
}

/// A process has files for a thousand shards at most, if it opens all of them at once.
#[cfg(unix)]
#[test]
fn more_parts_are_merged_than_a_process_can_have_files() {
    let bench = bench();
    let dir = bench.path();
    let parts: Vec<String> = (1..=40).map(|number| format!("part-{number}")).collect();
    for (number, part) in (1..).zip(&parts) {
        let shard = format!("{number}/40");
        succeed(
            dir,
            &["simulate", "own/spec.toml", "--quiet", "--threads", "1", "--shard", &shard, "--out", part],
        );
    }
    let mut merge = Command::new("sh");
    merge.args(["-c", "ulimit -n 30; exec \"$@\"", "sh", env!("CARGO_BIN_EXE_click-bandits"), "merge"]);
    let output = finish(merge.args(&parts).args(["--out", "merged", "--quiet"]).current_dir(dir));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    succeed(dir, &["simulate", "own/spec.toml", "--out", "whole", "--quiet"]);
    let read = |folder: &str| fs::read(dir.join(folder).join("result.json")).expect("a result");
    assert!(read("merged") == read("whole"));
}

/// The next command removes what a killed one has left, but not what another one is writing.
#[test]
fn a_killed_export_leaves_nothing_for_long() {
    let bench = bench();
    let dir = bench.path();
    succeed(dir, &["simulate", "own/spec.toml", "--out", "out", "--quiet"]);
    let [left, writing, mine] =
        ["left", "writing", "mine"].map(|name| dir.join(format!(".{name}.csv.1.click-bandits-part")));
    fs::write(&left, "half").expect("written");
    let file = fs::File::create(&writing).expect("created");
    file.lock().expect("locked");
    fs::create_dir(&mine).expect("created");
    succeed(dir, &["export", "out", "--out", "table.csv"]);
    assert!(!left.exists() && writing.exists() && mine.exists());
}
