//! `check` and `schema`: what they print, their exit status, and that nothing is written.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use tempfile::tempdir;

/// A valid spec.
const GOOD: &str = include_str!("data/bad_spec/good.toml");

fn run(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_click-bandits"));
    command.current_dir(folder).args(arguments).output().expect("the program starts")
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("output is UTF-8")
}

/// Checks a text as a file, with nothing else in its folder.
fn check(spec: &str, options: &[&str]) -> Output {
    let folder = tempdir().expect("a temporary directory");
    fs::write(folder.path().join("spec.toml"), spec).expect("the spec is written");
    let output = run(folder.path(), &[&["check", "spec.toml"], options].concat());
    assert_eq!(fs::read_dir(folder.path()).expect("the folder is there").count(), 1, "a file was written");
    output
}

#[test]
fn all_errors_are_printed_one_a_line() {
    let spec = GOOD.replace("runs = 1000", "runs = 0").replace("0.25", "1.5").replace("epsilon", "epsilom");
    let output = check(&spec, &[]);
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(1), "3 errors\n"));
    let lines: Vec<&str> = text(&output.stdout).lines().collect();
    let expected = [
        "spec.toml:5:8: runs: 0 is too small: expected an integer from 1 to 4294967295",
        "spec.toml:11:22: instances[0].theta[2]: 1.5 is not a probability: expected a number from 0 to 1",
        "spec.toml:21:1: policies[1].epsilom: unknown key: did you mean `epsilon`? known: epsilon, examination, kappa, label, level, lists, live, policy, position, read-as, sees, told",
    ];
    assert_eq!(lines, expected);
    // The value of the command line counts.
    let output = check(&GOOD.replace("runs = 1000", "runs = 0"), &["--runs", "5"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stdout));
    for (spec, expected) in
        [("", "spec.toml:1:1: the file is empty\n"), ("a letter", "spec.toml:1:3: not TOML: ")]
    {
        let output = check(spec, &[]);
        assert_eq!(output.status.code(), Some(1));
        assert!(text(&output.stdout).starts_with(expected), "{}", text(&output.stdout));
    }
}

#[test]
fn standard_input_is_a_spec() {
    let folder = tempdir().expect("a temporary directory");
    let piped = |arguments: &str, text: &[u8]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_click-bandits"));
        command.current_dir(folder.path()).args(arguments.split(' '));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        child.stdin.take().expect("a pipe").write_all(text).expect("written");
        child.wait_with_output().expect("the program ends")
    };
    let checked = piped("check -", GOOD.as_bytes());
    assert!(checked.status.success() && text(&checked.stdout).starts_with("-: no errors\n"));
    let checked = piped("check -", GOOD.replace("runs = 1000", "runs = 0").as_bytes());
    assert!(!checked.status.success() && text(&checked.stdout).starts_with("-:5:8: runs: 0 is too small"));
    let checked = piped("check -", b"\xff");
    assert!(!checked.status.success() && text(&checked.stdout).starts_with("-: standard input: "));
    let played = piped("simulate - --out - --horizon 30 --runs 2 --quiet", GOOD.as_bytes());
    assert!(played.status.success() && text(&played.stdout).starts_with('{'), "{}", text(&played.stderr));
}

#[test]
fn a_valid_spec_has_an_overview() {
    let output = check(GOOD, &["--runs", "1"]);
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), ""));
    let found = text(&output.stdout);
    for part in [
        "spec.toml: no errors\n\npbm-synthetic: task regret, 1 run of 100,000 rounds, seed 1\n",
        "  users   instance 0: pbm, 5 items, 3 positions\n",
        "  policy  pbm-ts\n",
        "  policy  PBM-PIE (log T)  pbm-pie(epsilon=0.1,level=log-horizon)\n",
        "  bound   asymptotic lower bound (PBM paper, Theorem 6): 64.38 = 5.592 ln 100,000\n",
        "\nwarning: one run: means have no standard error, and figures no band\n",
    ] {
        assert!(found.contains(part), "{found}\nwithout {part:?}");
    }
    assert!(found.lines().all(|line| line.chars().count() <= 90), "{found}");
}

/// The conditions of live use, and how each policy is used.
#[test]
fn the_overview_has_the_conditions_of_live_use() {
    let spec = GOOD.replace(
        "[[instances]]",
        "[live]\nchurn = { rate = 1e-5, prior = [1, 9], returning = 0.5 }\ndelay = { click = 0, skip = 300 }\n\n[[instances]]",
    );
    let policies = spec.find("[[policies]]").expect("policies");
    let spec =
        format!("{}[[policies]]\npolicy = \"pbm-ts\"\nlive = {{ window = 1000 }}\n", &spec[..policies]);
    let output = check(&spec, &[]);
    let found = text(&output.stdout);
    for part in [
        "  live    In each round an item is replaced with probability 0.00001.",
        "  live    A click is known after 0 rounds, and that no more come after 300 rounds.\n",
        "  policy  pbm-ts  live = { window = 1000 }\n",
    ] {
        assert!(found.contains(part), "{found}\nwithout {part:?}");
    }
    assert!(found.lines().all(|line| line.chars().count() <= 90), "{found}");
    // Under disturbance no bound is proven.
    assert!(!found.contains("  bound   "), "{found}");
    let answer: serde_json::Value = serde_json::from_slice(&check(&spec, &["--json"]).stdout).expect("JSON");
    let experiment = &answer["experiments"][0];
    assert_eq!(experiment["live"].as_array().map(Vec::len), Some(2), "{answer}");
    assert_eq!(experiment["policies"][0]["live"], "{ window = 1000 }");
}

#[test]
fn the_answer_for_programs_is_json() {
    let answer =
        |output: &Output| -> serde_json::Value { serde_json::from_slice(&output.stdout).expect("JSON") };
    let good = answer(&check(GOOD, &["--json"]));
    assert_eq!(
        (&good["valid"], good["experiments"][0]["policies"][1]["label"].as_str()),
        (&true.into(), Some("PBM-PIE (log T)"))
    );
    let bound = &good["experiments"][0]["bounds"][0];
    assert_eq!(bound["label"], "asymptotic lower bound (PBM paper, Theorem 6)");
    assert_eq!(bound["round"], good["experiments"][0]["rounds"]);
    assert!(bound["value"].as_f64().is_some_and(|value| (value - 64.38).abs() < 0.01), "{bound}");
    let bad = answer(&check(&GOOD.replace("runs = 1000", "runs = 0"), &["--json"]));
    let error = &bad["errors"][0];
    assert_eq!(
        (error["line"].as_u64(), error["column"].as_u64(), error["field"].as_str()),
        (Some(5), Some(8), Some("runs"))
    );
    assert!(bad["valid"] == false && bad.get("experiments").is_none(), "{bad}");
}

#[test]
fn a_directory_of_an_experiment_is_checked() {
    let experiments = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../xtask/experiments");
    let output = run(&experiments, &["check", "rank1-needle"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stdout));
    assert!(text(&output.stdout).starts_with("rank1-needle: no errors, "), "{}", text(&output.stdout));
    let folder = tempdir().expect("a temporary directory");
    for name in ["experiment.toml", "claims.toml"] {
        let content =
            fs::read_to_string(experiments.join("rank1-needle").join(name)).expect("the file is there");
        let content =
            content.replacen("seed = ", "seed = -", 1).replacen("verdict = \"", "verdict = \"not-", 1);
        fs::write(folder.path().join(name), content.replacen("[[papers]]", "colour = 1\n[[papers]]", 1))
            .expect("written");
    }
    let output = run(folder.path(), &["check", "."]);
    let found = text(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{found}");
    assert!(found.contains("seed: ") && found.contains(": colour: unknown key"), "{found}");
    assert!(text(&output.stderr).contains("claims are checked once"), "{}", text(&output.stderr));
    // All errors of a claim are also listed.
    let good = experiments.join("rank1-needle/experiment.toml");
    fs::copy(good, folder.path().join("experiment.toml")).expect("copied");
    let claims = fs::read_to_string(folder.path().join("claims.toml")).expect("the file is there");
    let claims = claims.replacen("says = ", "said = ", 1).replacen("kind = \"", "kind = \"un", 1);
    fs::write(folder.path().join("claims.toml"), claims).expect("written");
    let output = run(folder.path(), &["check", "."]);
    let found = text(&output.stdout);
    for field in ["claims[0].said: ", "claims[0].test.kind: ", "claims[0].known.verdict: "] {
        assert!(found.contains(field), "{found}");
    }
    let output = run(folder.path(), &["check", ".", "--runs", "3"]);
    assert!(text(&output.stderr).contains("leave out the options"), "{}", text(&output.stderr));
}

#[test]
fn schemas_are_printed_as_json() {
    let folder = tempdir().expect("a temporary directory");
    for (file, key) in [
        (&["schema"][..], "policies"),
        (&["schema", "experiment"], "panels"),
        (&["schema", "claims"], "claims"),
    ] {
        let output = run(folder.path(), file);
        let schema: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
        assert!(schema["properties"][key].is_object(), "{file:?}");
    }
    // Lines of JSON stay whole on a terminal, too.
    let mut narrow = Command::new(env!("CARGO_BIN_EXE_click-bandits"));
    let narrow = narrow.args(["schema", "claims"]).env("COLUMNS", "40").output().expect("the program starts");
    assert_eq!(narrow.stdout, run(folder.path(), &["schema", "claims"]).stdout);
    // The formats of logs come from another table than the rest.
    let output = run(folder.path(), &["schema", "experiment"]);
    assert!(text(&output.stdout).contains("\"kdd2012\""));
}

/// The folder was named, and not what its files link to.
#[cfg(unix)]
#[test]
fn a_linked_file_of_a_directory_stays_unread() {
    let folder = tempdir().expect("a temporary directory");
    let (inside, secret) = (folder.path().join("inside"), folder.path().join("secret.toml"));
    fs::create_dir(&inside).expect("created");
    fs::write(&secret, "password: hunter2\n").expect("written");
    for name in ["experiment.toml", "claims.toml"] {
        std::os::unix::fs::symlink(&secret, inside.join(name)).expect("linked");
    }
    for command in [&["check", "./inside"][..], &["reproduce", "./inside", "--out", "r"]] {
        let output = run(folder.path(), command);
        let told = [text(&output.stdout), text(&output.stderr)].concat();
        assert!(told.contains("experiment.toml: is outside of the folder"), "{told}");
        assert!(!told.contains("hunter2") && output.status.code() == Some(1), "{told}");
    }
    let output = run(folder.path(), &["check", "./inside", "--allow", "."]);
    assert!(text(&output.stdout).contains("not TOML"), "{}", text(&output.stdout));
}

/// Policies that differ by what they are told, or by how they read clicks, differ in the overview.
#[test]
fn the_overview_has_the_settings_of_policies_besides_their_parameters() {
    let policies = GOOD.find("[[policies]]").expect("policies");
    let policy =
        |label: &str, more: &str| format!("[[policies]]\npolicy = \"pbm-ts\"\nlabel = \"{label}\"\n{more}\n");
    let all = policy("told", "kappa = [0.9, 0.5, 0.25]") + &policy("wrong", "kappa = [0.5, 0.5, 0.5]");
    let cascade = "[[policies]]\npolicy = \"cascade-ts\"\nread-as = \"cascade\"\n";
    let spec = format!("{}{all}{cascade}", &GOOD[..policies]);
    let output = check(&spec, &[]);
    let found = text(&output.stdout);
    for line in [
        "  policy  told        pbm-ts  kappa = [0.9, 0.5, 0.25]\n",
        "  policy  wrong       pbm-ts  kappa = [0.5, 0.5, 0.5]\n",
        "  policy  cascade-ts  read-as = \"cascade\"\n",
    ] {
        assert!(found.contains(line), "{found}\nwithout {line:?}");
    }
    let answer: serde_json::Value = serde_json::from_slice(&check(&spec, &["--json"]).stdout).expect("JSON");
    let of_policy = |place: usize| &answer["experiments"][0]["policies"][place]["settings"];
    assert_eq!(
        (&of_policy(0)["kappa"], &of_policy(2)["read-as"]),
        (&"[0.9, 0.5, 0.25]".into(), &"\"cascade\"".into())
    );
}
