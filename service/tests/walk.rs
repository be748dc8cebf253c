//! The walk of docs/launch.md: its commands run as they stand there, with fewer lists.

use std::net::TcpListener;
use std::path::Path;
use std::process::Command;

#[test]
fn the_walk_from_the_log_to_the_launch_runs() {
    let Some(program) = std::env::var_os("CLICK_BANDITS") else { return };
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = std::fs::read_to_string(root.join("../docs/launch.md")).unwrap();
    let walk = page.split("## A walk").nth(1).unwrap().split("```sh\n").nth(1).unwrap();
    let mut commands = walk.split("```").next().unwrap().to_owned();
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port().to_string();
    for (from, to) in
        [("log 10000", "log 2000"), (" 2000\n", " 500\n"), (" 6000\n", " 1500\n"), ("7300", &port)]
    {
        assert!(commands.contains(from), "{from}");
        commands = commands.replace(from, to);
    }
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    std::fs::create_dir(at("bin")).unwrap();
    std::os::unix::fs::symlink(program, at("bin/click-bandits")).unwrap();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_click-bandits-serve"), at("bin/click-bandits-serve"))
        .unwrap();
    std::fs::copy(root.join("examples/site.py"), at("site.py")).unwrap();
    let config = std::fs::read_to_string(root.join("examples/site.toml")).unwrap();
    std::fs::write(at("site.toml"), format!("listen = '127.0.0.1:{port}'\n{config}")).unwrap();
    let path = format!("{}:{}", at("bin").display(), std::env::var("PATH").unwrap());
    // A server that outlives a command that fails is stopped.
    let script = format!("trap 'kill $(jobs -p) 2> kills || true' EXIT\n{commands}");
    let mut shell = Command::new("bash");
    shell.args(["-euc", &script]).env("PATH", path).current_dir(directory.path());
    let walked = shell.output().unwrap();
    let [said, errors] =
        [&walked.stdout, &walked.stderr].map(|text| String::from_utf8_lossy(text).into_owned());
    assert!(walked.status.success(), "{said}{errors}");
    for line in [
        "A shadow since ",
        "policy: 0 lists",
        " 50 % of users see the policy's lists: ",
        "rows in out/decisions.csv",
        "would have earned ",
    ] {
        assert!(said.contains(line), "{line}: {said}{errors}");
    }
}
