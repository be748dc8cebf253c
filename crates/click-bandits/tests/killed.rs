//! A process that is killed at any moment and started again loses nothing, repeats little, and ends
//! with the bytes of an undisturbed one.

use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::LazyLock;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Experiments of every kind of run: regret, stages of rank-one eliminations, duels, answers, and
/// answers after a budget.
const SPECS: [&str; 4] = [
    r#"
name = "regret"
task = "regret"
horizon = 20_000
runs = 10
seed = 7
instances = [{ model = "pbm", theta = [0.45, 0.35, 0.25, 0.15, 0.05], kappa = [0.9, 0.6, 0.3] }]
policies = [{ policy = "pbm-ucb" }, { policy = "pbm-ts" }, { policy = "top-rank" }]
"#,
    r#"
name = "stages"
task = "regret"
horizon = 3_000_000
runs = 40
seed = 7
instances = [{ model = "rank-one", rows = [0.75, 0.25, 0.25], columns = [0.3, 0.8, 0.3] }]
policies = [{ policy = "rank1-elim-kl" }, { policy = "ucb1-elim" }]
"#,
    r#"
name = "duels"
task = "regret"
horizon = 20_000
runs = 40
seed = 7
instances = [{ model = "dueling", preferences = [[0.5, 0.6, 0.7], [0.4, 0.5, 0.8], [0.3, 0.2, 0.5]] }]
policies = [{ policy = "rucb" }, { policy = "rmed1" }]
"#,
    r#"
name = "answers"
task = "identify"
max_steps = 200_000
runs = 100
seed = 7
instances = [{ model = "cascade", attraction = [0.8, 0.6, 0.3, 0.1], positions = 2 }]
policies = [{ policy = "cascade-bai" }, { policy = "kl-lucb" }]
"#,
];

/// A directory with these specs as `0.toml` and so on.
fn bench() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a temporary directory");
    for (number, spec) in SPECS.iter().enumerate() {
        fs::write(dir.path().join(format!("{number}.toml")), spec).expect("written");
    }
    dir
}

fn command(dir: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_click-bandits"));
    command.args(arguments).arg("--quiet").current_dir(dir).stdout(Stdio::null()).stderr(Stdio::piped());
    command
}

fn run(dir: &Path, arguments: &[&str]) {
    let output = command(dir, arguments).output().expect("the program starts");
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Starts a command until it ends by itself, and kills it after other times than before. Returns
/// the number of kills.
#[expect(clippy::disallowed_methods, reason = "no result depends on when it is killed")]
fn run_with_kills(dir: &Path, arguments: &[&str]) -> u32 {
    let (mut kills, mut after) = (0, Duration::from_millis(1));
    loop {
        let mut child = command(dir, arguments).spawn().expect("the program starts");
        // By the clock: on a busy machine a millisecond's sleep takes longer.
        let end = Instant::now() + after;
        while Instant::now() < end {
            if let Some(status) = child.try_wait().expect("the child is there") {
                let output = child.wait_with_output().expect("its output");
                assert!(status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
                return kills;
            }
            sleep(Duration::from_millis(1));
        }
        child.kill().expect("killed");
        let status = child.wait().expect("it ends");
        if status.success() {
            return kills;
        }
        assert_eq!(status.signal(), Some(9));
        kills += 1;
        after = after * 5 / 4 + Duration::from_millis(1);
    }
}

/// The files that have to be the same.
const FILES: [&str; 3] = ["result.json", "curves.csv", "spec.toml"];

fn files(dir: &Path, folder: &str) -> [Vec<u8>; 3] {
    FILES.map(|file| fs::read(dir.join(folder).join(file)).expect("a file of a result"))
}

/// The files of every experiment, of a process that was not disturbed.
static WHOLE: LazyLock<[[Vec<u8>; 3]; SPECS.len()]> = LazyLock::new(|| {
    let bench = bench();
    [0, 1, 2, 3].map(|number| {
        let out = format!("whole-{number}");
        run(bench.path(), &["simulate", &format!("{number}.toml"), "--out", &out]);
        files(bench.path(), &out)
    })
});

/// Asserts that a folder has the files of an experiment.
fn assert_whole(dir: &Path, number: usize, folder: &str) {
    for ((file, whole), other) in FILES.iter().zip(&WHOLE[number]).zip(files(dir, folder)) {
        assert!(*whole == other, "{folder} of {number}.toml differs in {file}");
    }
}

#[test]
fn a_killed_simulation_ends_with_the_same_bytes() {
    let bench = bench();
    let dir = bench.path();
    for number in 0..SPECS.len() {
        let spec = format!("{number}.toml");
        let kills = run_with_kills(dir, &["simulate", &spec, "--out", "killed"]);
        assert!(kills >= 3, "{kills} kills");
        assert_whole(dir, number, "killed");
        fs::remove_dir_all(dir.join("killed")).expect("removed");
    }
}

#[test]
fn killed_shards_are_merged_into_the_same_bytes_by_a_killed_merge() {
    let bench = bench();
    let dir = bench.path();
    for number in 0..SPECS.len() {
        let spec = format!("{number}.toml");
        let parts = ["1/3", "2/3", "3/3"].map(|shard| (shard, format!("part-{}", &shard[..1])));
        for (shard, out) in &parts {
            let arguments = ["simulate", &spec, "--shard", shard, "--out", out];
            run_with_kills(dir, &arguments);
        }
        let [_, second, third] = parts.each_ref().map(|(_, out)| out.as_str());
        let merge = ["merge", third, "part-1", second, "--out", "merged"];
        run_with_kills(dir, &merge);
        assert_whole(dir, number, "merged");
        for folder in ["merged", "part-1", second, third] {
            fs::remove_dir_all(dir.join(folder)).expect("removed");
        }
    }
}

const EXPERIMENT: &str = r#"
name = "two"
title = "T"
task = "regret"
seed = 1
horizon = 10_000
runs = 20
policies = [{ policy = "pbm-ts" }, { policy = "pbm-ucb" }]
[[papers]]
key = "P"
citation = "c"
[[instances]]
theta = [0.5, 0.2, 0.1]
kappa = [1.0, 0.5]
[[panels]]
name = "first"
title = "T"
paper = "P"
place = "p"
statement = "s"
model = "pbm"
[[panels]]
name = "second"
title = "T"
paper = "P"
place = "p"
statement = "s"
model = "pbm"
checkpoints = [10_000]
"#;

const CLAIMS: &str = r#"
[[claims]]
name = "c"
panel = "second"
says = "s"
place = "p"
[claims.test]
kind = "order"
lower = ["pbm-ts"]
upper = ["pbm-ucb"]
t = 10_000
[claims.known]
verdict = "reproduced"
evidence = "e"
"#;

/// `claims.json` and the results of every panel. The page also shows times.
fn assert_same_reports(dir: &Path, one: &str, other: &str) {
    for file in ["claims.json", "first/result.json", "second/result.json", "second/regret.svg"] {
        let read = |folder: &str| fs::read(dir.join(folder).join(file)).expect("a file of a report");
        assert!(read(one) == read(other), "{one} and {other} differ in {file}");
    }
    assert!(dir.join(other).join("index.html").is_file());
}

#[test]
fn a_killed_reproduction_and_its_killed_shards_give_the_same_report() {
    let bench = tempfile::tempdir().expect("a temporary directory");
    let dir = bench.path();
    fs::write(dir.join("experiment.toml"), EXPERIMENT).expect("written");
    fs::write(dir.join("claims.toml"), CLAIMS).expect("written");
    run(dir, &["reproduce", ".", "--out", "whole"]);
    let kills = run_with_kills(dir, &["reproduce", ".", "--out", "killed"]);
    assert!(kills >= 3, "{kills} kills");
    assert_same_reports(dir, "whole", "killed");
    for shard in ["1/2", "2/2"] {
        let out = format!("part-{}", &shard[..1]);
        run_with_kills(dir, &["reproduce", ".", "--shard", shard, "--out", &out]);
    }
    run_with_kills(dir, &["merge", "part-2", "part-1", "--out", "merged"]);
    assert_same_reports(dir, "whole", "merged");

    let refused = |arguments: &[&str]| {
        let output = command(dir, arguments).output().expect("the program starts");
        assert!(!output.status.success());
        String::from_utf8(output.stderr).expect("text")
    };
    let message = refused(&["merge", "part-2", "--out", "other"]);
    assert!(message.contains("runs 1 to 10 of \"first\" are in none of the parts"), "{message}");
    let message = refused(&["reproduce", ".", "--out", "part-1"]);
    assert!(message.contains("part-1: holds shard 1/2 of a full run of two: join it with"), "{message}");
    fs::write(dir.join("claims.toml"), CLAIMS.replace("\"e\"", "\"other\"")).expect("written");
    let message = refused(&["merge", "part-1", "part-2", "--out", "other"]);
    assert!(message.contains("claims.toml: has changed since part-1 was played"), "{message}");
    assert!(!dir.join("other").exists());
}

/// Needs GNU parallel: without it the test says so and passes.
#[test]
fn gnu_parallel_starts_a_killed_shard_again() {
    if !Command::new("parallel").arg("--version").output().is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: GNU parallel is not installed");
        return;
    }
    let bench = bench();
    let dir = bench.path();
    let program = env!("CARGO_BIN_EXE_click-bandits");
    // The first attempt of shard 2 kills itself as soon as it has runs.
    let script = format!(
        "if [ $1 = 2 ] && [ ! -e killed ]; then touch killed\n\
         {program} simulate 0.toml --quiet --threads 1 --shard 2/3 --out parts/2 & child=$!\n\
         while [ ! -s parts/2/part.json ]; do sleep 0.01; done\n\
         kill -9 $child; wait $child; exit 1\n\
         fi\n\
         exec {program} simulate 0.toml --quiet --threads 1 --shard $1/3 --out parts/$1\n"
    );
    fs::write(dir.join("shard.sh"), script).expect("written");
    let output = Command::new("parallel")
        .args(["--retries", "3", "sh", "shard.sh", "{}", ":::", "1", "2", "3"])
        .current_dir(dir)
        .output()
        .expect("parallel starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(dir.join("killed").exists());
    run(dir, &["merge", "parts/1", "parts/2", "parts/3", "--out", "merged"]);
    assert_whole(dir, 0, "merged");
}
