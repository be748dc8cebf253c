//! The program runs under valgrind, which shows it no vDSO to look for a clock in. Skipped where valgrind is not.

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
    let there =
        Command::new("valgrind").arg("--version").output().is_ok_and(|output| output.status.success());
    if !there {
        return;
    }
    let dir = tempfile::tempdir().expect("a temporary directory");
    std::fs::write(dir.path().join("spec.toml"), SPEC).expect("written");
    // Valgrind's own findings are not asked for: they are about the memory of code that is `unsafe`, and here is none.
    let output = Command::new("valgrind")
        .args(["--quiet", "--undef-value-errors=no", env!("CARGO_BIN_EXE_click-bandits")])
        .args(["simulate", "spec.toml", "--out", "out", "--threads", "1", "--quiet"])
        .current_dir(dir.path())
        .output()
        .expect("valgrind starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(dir.path().join("out/timing.json").is_file());
}
