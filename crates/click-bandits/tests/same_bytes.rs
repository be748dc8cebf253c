//! The bytes of `result.json` and `curves.csv` do not depend on threads, on the processor, or on
//! the other policies of the experiment.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// Experiments with every policy of each model, on instances of several sizes.
const PBM: &str = r#"
name = "all-pbm"
task = "regret"
horizon = 3_000
runs = 6
seed = 7
checkpoints = { log = 20 }
instances = [
    { model = "pbm", theta = [0.45, 0.35, 0.25, 0.15, 0.05], kappa = [0.9, 0.6, 0.3] },
    { model = "pbm", theta = [0.05, 0.03, 0.04, 0.05, 0.03, 0.02], kappa = [1.0, 0.5] },
]
policies = [
    { policy = "pbm-ucb" }, { policy = "pbm-pie" }, { policy = "pbm-ts" }, { policy = "bc-mp-ts" },
    { policy = "rba-kl-ucb" }, { policy = "uniform" }, { policy = "oracle" },
]
"#;
const SEMI_BANDIT: &str = r#"
name = "all-semi-bandit"
task = "regret"
horizon = 3_000
runs = 6
seed = 7
checkpoints = { log = 20 }
instances = [{ model = "semi-bandit", theta = [0.6, 0.58, 0.55, 0.45, 0.45, 0.4], kappa = [1.0, 0.8, 0.6] }]
policies = [
    { policy = "rsf-ucb" }, { policy = "rsf-kl-ucb" }, { policy = "rsf-ts" }, { policy = "pie" },
    { policy = "pie", label = "pie 0", position = 0, level = "log-t-4-log-log-t" },
    { policy = "uniform" }, { policy = "oracle" },
]
"#;

const RANK_ONE: &str = r#"
name = "all-rank-one"
task = "regret"
horizon = 30_000
runs = 6
seed = 7
checkpoints = { log = 20 }
instances = [
    { model = "rank-one", rows = [0.75, 0.25, 0.25, 0.25], columns = [0.3, 0.8, 0.3] },
    { model = "rank-one", rows = [0.2, 0.5], columns = [0.1, 0.4, 0.35, 0.05, 0.2] },
]
policies = [
    { policy = "rank1-elim-kl" }, { policy = "rank1-elim" }, { policy = "ucb1-elim" }, { policy = "ucb1" },
    { policy = "kl-ucb" }, { policy = "uts" }, { policy = "rank1-gibbs" }, { policy = "uniform" }, { policy = "oracle" },
]
"#;

const DUELING: &str = r#"
name = "all-dueling"
task = "regret"
horizon = 3_000
runs = { per-instance = 2 }
seed = 7
checkpoints = { log = 20 }
instances = [
    { model = "dueling", preferences = [[0.5, 0.6, 0.7], [0.4, 0.5, 0.8], [0.3, 0.2, 0.5]] },
    { model = "dueling", arms = { random = 3, subsets = 3 }, preferences = [
        [0.5, 0.55, 0.6, 0.65], [0.45, 0.5, 0.9, 0.1], [0.4, 0.1, 0.5, 0.9], [0.35, 0.9, 0.1, 0.5],
    ] },
]
policies = [
    { policy = "rucb" }, { policy = "condorcet-savage" }, { policy = "beat-the-mean", told = "gamma" },
    { policy = "interleaved-filter" }, { policy = "rmed1" }, { policy = "double-ts" }, { policy = "merge-dts" },
    { policy = "uniform" }, { policy = "oracle" },
]
"#;

const CONTEXTS: &str = r#"
name = "all-contexts"
task = "regret"
horizon = 2_000
runs = 6
seed = 7
instances = [
    { model = "cascade", positions = 3, context = { random = { users = 40, items = 12, segments = 2, user-features = 2, item-features = 2, main = 0.6, interaction = 0.6, item-slope = 0.4, share = 10 } } },
]
policies = [
    { policy = "hybrid-ts" }, { policy = "hybrid-ts", label = "blind", sees = [] },
    { policy = "hybrid-ts", label = "own", interactions = false, deviations = "fixed" },
    { policy = "segmented" }, { policy = "segmented", label = "each", of = "cascade-kl-ucb" },
    { policy = "cascade-lin-ucb" }, { policy = "cascade-lin-ucb", label = "wide", width = "theory" },
    { policy = "cascade-lin-ts" }, { policy = "c3-ucb" }, { policy = "cascade-ts" }, { policy = "uniform" },
]
"#;

const IDENTIFY: &str = r#"
name = "all-stopping"
task = "identify"
max_steps = 20_000
runs = 6
seed = 7
instances = [
    { model = "cascade", attraction = [0.9, 0.8, 0.1, 0.05, 0.02], positions = 2 },
    { model = "cascade", attraction = [0.1, 0.8, 0.15], positions = 1 },
]
policies = [
    { policy = "cascade-bai" }, { policy = "cascade-bai", label = "least", order = "mean-desc", epsilon = 0.1 },
    { policy = "batrac" }, { policy = "batrac", label = "one", pulls = "one" },
    { policy = "cascade-kl" }, { policy = "cascade-kl", label = "items", test = "item", order = "least-observed" },
    { policy = "kl-lucb" },
]
"#;

fn simulate(spec: &Path, out: &Path, flags: &[&str], environment: &[(&str, &str)]) -> (Vec<u8>, Vec<u8>) {
    let output = Command::new(env!("CARGO_BIN_EXE_click-bandits"))
        .arg("simulate")
        .args([spec, Path::new("--out"), out])
        .args(flags)
        .envs(environment.iter().copied())
        .output()
        .expect("the program starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let read = |name: &str| fs::read(out.join(name)).expect("the file was written");
    (read("result.json"), read("curves.csv"))
}

fn spec(dir: &Path, text: &str) -> PathBuf {
    let path = dir.join("spec.toml");
    fs::write(&path, text).expect("a temporary file");
    path
}

/// An environment variable with which glibc computes logarithms and exponentials without fused
/// multiply-add, as on an older processor.
const MASKED: (&str, &str) = ("GLIBC_TUNABLES", "glibc.cpu.hwcaps=-FMA,-FMA4,-AVX2,-AVX2_Usable,-FMA_Usable");

#[test]
fn threads_and_processor_change_no_byte() {
    let budget = IDENTIFY
        .replace("identify", "budget")
        .replace("max_steps", "horizon")
        .replace(r#"{ policy = "kl-lucb" }"#, r#"{ policy = "kl-lucb" }, { policy = "successive-rejects" }"#);
    for text in [PBM, SEMI_BANDIT, RANK_ONE, DUELING, CONTEXTS, IDENTIFY, &budget] {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let spec = spec(dir.path(), text);
        let usual = simulate(&spec, &dir.path().join("usual"), &[], &[]);
        let one = simulate(&spec, &dir.path().join("one"), &["--threads", "1", "--quiet"], &[]);
        let many = simulate(&spec, &dir.path().join("many"), &["--threads", "16", "--keep-runs"], &[]);
        let plain = simulate(&spec, &dir.path().join("plain"), &[], &[MASKED]);
        assert!(usual == one, "one thread");
        assert!(usual == many, "sixteen threads");
        assert!(usual == plain, "without fused multiply-add");
    }
}

#[test]
fn the_numbers_of_a_policy_do_not_depend_on_the_other_policies() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let all = simulate(&spec(dir.path(), PBM), &dir.path().join("all"), &[], &[]).1;
    let some = PBM.replace(r#"{ policy = "pbm-ucb" }, { policy = "pbm-pie" }, { policy = "pbm-ts" },"#, "");
    assert_ne!(some, PBM);
    let some = simulate(&spec(dir.path(), &some), &dir.path().join("some"), &[], &[]).1;
    let rows = |table: &[u8]| -> Vec<String> {
        let text = String::from_utf8(table.to_vec()).expect("text");
        text.lines().filter(|row| row.starts_with("bc-mp-ts,")).map(str::to_owned).collect()
    };
    // Regret and clicks at 19 checkpoints: of 20 rounds spread geometrically, 1 and 2 coincide.
    assert_eq!(rows(&all).len(), 2 * 19);
    assert_eq!(rows(&all), rows(&some));
}

#[test]
fn files_of_dueling_experiments_have_regret_clicks_and_accuracy() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let out = dir.path().join("duels");
    let (result, curves) = simulate(&spec(dir.path(), DUELING), &out, &["--keep-runs"], &[]);
    let result: serde_json::Value = serde_json::from_slice(&result).expect("JSON");
    // Two runs on each of four instances: one matrix, and three subsets of the other.
    assert_eq!(result["runs"], 8);
    let [uniform, oracle] = [7, 8].map(|policy| &result["policies"][policy]);
    assert_eq!(oracle["accuracy"].as_array().expect("a list").len(), 19);
    for index in 0..19 {
        assert_eq!((&oracle["accuracy"][index], &oracle["regret"]["max"][index]), (&1.0.into(), &0.0.into()));
    }
    let last = &uniform["regret"]["max"][18];
    // In the worst instance the items cost 0, .1 and .2 a round: 300 in total on average, with a
    // standard deviation below 4.
    assert!((280.0..320.0).contains(&last.as_f64().expect("a number")), "{last}");
    let curves = String::from_utf8(curves).expect("text");
    assert_eq!(curves.lines().count(), 1 + 9 * 3 * 19);
    assert!(curves.contains("\noracle,3000,accuracy,1,0,1,1,1,1\n"), "{curves}");
    let runs = fs::read_to_string(out.join("runs.csv")).expect("every run");
    assert!(runs.starts_with("run,instance,policy,t,regret,clicks,accurate\n"), "{runs}");
    assert_eq!(runs.lines().count(), 1 + 8 * 9 * 19);
    // The written spec gives the same result.
    let again = simulate(&out.join("spec.toml"), &dir.path().join("again"), &[], &[]);
    assert_eq!(fs::read(out.join("result.json")).expect("written"), again.0);
    // It keeps the random choice of items, so that another seed draws other subsets.
    let other = fs::read_to_string(out.join("spec.toml")).expect("written");
    assert!(other.contains("arms = { random = 3, subsets = 3 }"), "{other}");
}

#[test]
fn files_of_tasks_with_an_answer_have_stopping_time_observations_and_correctness() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let write = |text: &str, name: &str| {
        let out = dir.path().join(name);
        let (result, curves) = simulate(&spec(dir.path(), text), &out, &["--keep-runs"], &[]);
        let result: serde_json::Value = serde_json::from_slice(&result).expect("JSON");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
        (result, text(curves), text(fs::read(out.join("runs.csv")).expect("every run")))
    };
    let keys = |value: &serde_json::Value| -> Vec<String> {
        value.as_object().expect("an object").keys().cloned().collect()
    };
    let sorted = |keys: &[&str]| {
        let mut keys: Vec<String> = keys.iter().map(|&key| key.to_owned()).collect();
        keys.sort();
        keys
    };
    let common = ["schema", "name", "task", "runs", "seed", "policies", "paired", "bounds"];

    let (result, curves, runs) = write(IDENTIFY, "identify");
    // Two instances.
    assert_eq!(keys(&result), sorted(&[&common[..], &["max_steps", "instances"]].concat()));
    let of_policy = ["label", "policy", "stopping_time", "observations", "correct", "stopped"];
    assert_eq!(keys(&result["policies"][0]), sorted(&of_policy));
    assert_eq!(keys(&result["policies"][0]["stopping_time"]), sorted(&["mean", "se", "min", "max"]));
    assert_eq!(keys(&result["paired"][0]), sorted(&["a", "b", "stopping_time", "observations", "correct"]));
    // Four statistics and six runs of each of seven policies.
    assert_eq!((curves.lines().count(), runs.lines().count()), (1 + 4 * 7, 1 + 6 * 7));
    assert!(curves.contains("\ncascade-bai,20000,stopping_time,"), "{curves}");
    assert!(runs.starts_with("run,instance,policy,steps,observations,correct,stopped\n0,"), "{runs}");
    // The mean in `result.json` is the mean of the rows in `runs.csv`.
    let steps: Vec<f64> = runs
        .lines()
        .filter(|row| row.contains(",cascade-bai,"))
        .map(|row| row.split(',').nth(3).expect("steps").parse().expect("a number"))
        .collect();
    assert_eq!(keys(&result["bounds"][0]), sorted(&["label", "value"]));
    let mean = result["policies"][0]["stopping_time"]["mean"].as_f64().expect("a number");
    assert!((steps.iter().sum::<f64>() / 6.0 - mean).abs() < 1e-9);

    let (result, _, runs) = write(&IDENTIFY.replace("20_000", "40"), "capped");
    let policy = &result["policies"][0];
    assert_eq!((&policy["stopped"], &policy["correct"]), (&0.0.into(), &0.0.into()));
    assert_eq!(
        (&policy["stopping_time"]["min"], &policy["stopping_time"]["max"]),
        (&40.0.into(), &40.0.into())
    );
    // Some runs of `cascade-kl` and `kl-lucb` stop within 40 rounds.
    assert!(runs.contains(",cascade-bai,40,"), "{runs}");
    let is_capped = |row: &str| row.contains(",40,") && row.ends_with(",false,false");
    assert!(
        runs.lines()
            .filter(|row| ["bai,", "least,", "batrac,", "one,"].iter().any(|name| row.contains(name)))
            .all(is_capped),
        "{runs}"
    );

    let budget = IDENTIFY.replace("identify", "budget").replace("max_steps", "horizon");
    let (result, curves, runs) = write(&budget, "budget");
    assert_eq!(keys(&result), sorted(&[&common[..], &["horizon", "instances"]].concat()));
    assert_eq!(keys(&result["policies"][0]), sorted(&["label", "policy", "observations", "correct"]));
    assert_eq!(curves.lines().count(), 1 + 2 * 7);
    assert!(runs.starts_with("run,instance,policy,steps,observations,correct\n"), "{runs}");
}

/// `MASKED` has an effect: the last bit of some logarithms of the platform changes, which is why
/// results do not use them. Runs this test binary again, once with the variable and once without.
#[test]
fn the_mask_changes_logarithms_of_the_platform() {
    let has_fma = fs::read_to_string("/proc/cpuinfo").is_ok_and(|text| text.contains(" fma "));
    if !has_fma || !cfg!(all(target_os = "linux", target_env = "gnu")) {
        println!("skipped: needs glibc and a processor with fused multiply-add");
        return;
    }
    let logarithms = |environment: &[(&str, &str)]| {
        let output = Command::new(env::current_exe().expect("this program"))
            .args(["--exact", "same_bytes::platform_logarithms", "--nocapture"])
            .envs(environment.iter().copied())
            .output()
            .expect("this program starts");
        let text = String::from_utf8(output.stdout).expect("text");
        text.lines().find(|line| line.contains("logarithms:")).expect("the digest").to_owned()
    };
    assert_ne!(logarithms(&[]), logarithms(&[MASKED]));
}

/// Prints a digest of the logarithms and exponentials of the platform, for the test above.
#[test]
fn platform_logarithms() {
    #[expect(clippy::disallowed_methods, reason = "the test is about the platform's logarithm")]
    let digest = (1..1_000_000_u32).fold(0_u64, |digest, step| {
        digest.rotate_left(1)
            ^ (f64::from(step) * 1e-6).ln().to_bits()
            ^ (f64::from(step) * -1e-5).exp().to_bits()
    });
    println!("logarithms: {digest:x}");
}
