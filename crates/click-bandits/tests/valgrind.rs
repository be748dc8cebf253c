//! The program runs under valgrind, where the clock has to work without a vDSO. Skipped if valgrind
//! is not installed.

use std::process::Command;

const SPEC: &str = r#"
name = "tiny"
task = "regret"
horizon = 10
runs = 1
seed = 1
instances = [{ model = "pbm", theta = [0.5, 0.4], kappa = [0.9] }]
policies = [{ policy = "uniform" }]
"#;

#[test]
fn the_program_runs_under_valgrind() {
    let is_installed =
        Command::new("valgrind").arg("--version").output().is_ok_and(|output| output.status.success());
    if !is_installed {
        return;
    }
    let dir = tempfile::tempdir().expect("a temporary directory");
    std::fs::write(dir.path().join("spec.toml"), SPEC).expect("written");
    // Without a tool: memory errors are not the subject, since this workspace has no `unsafe` code.
    let output = Command::new("valgrind")
        .args(["--quiet", "--tool=none", env!("CARGO_BIN_EXE_click-bandits")])
        .args(["simulate", "spec.toml", "--out", "out", "--threads", "1", "--quiet"])
        .current_dir(dir.path())
        .output()
        .expect("valgrind starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(dir.path().join("out/timing.json").is_file());
}
