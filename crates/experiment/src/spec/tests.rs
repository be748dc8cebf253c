use super::*;
use crate::DataInstances;
use crate::toml_reader::Source;

/// A valid spec.
const GOOD: &str = include_str!("../../../click-bandits/tests/data/bad_spec/good.toml");
/// Errors that can be made in it; the file describes its format.
const FAULTS: &str = include_str!("../../../click-bandits/tests/data/bad_spec/faults.txt");

fn read(text: &str) -> Result<Experiment, Error> {
    let source = Source::from_text("spec.toml", text)?;
    Experiment::from_document(&source.parse()?)
}

/// The error of the valid spec after one text is replaced by another.
fn error(from: &str, to: &str) -> String {
    assert!(GOOD.contains(from), "{from:?} is not in the spec");
    match read(&GOOD.replacen(from, to, 1)) {
        Ok(_) => panic!("{from:?} -> {to:?} was accepted"),
        Err(error) => {
            let (line, column) = (error.line().unwrap(), error.column().unwrap());
            let parts = format!("{}:{line}:{column}: {}: {}", error.file(), error.field(), error.message());
            assert_eq!(parts, error.to_string());
            parts
        }
    }
}

#[test]
fn reads_every_key() {
    let experiment = read(GOOD).unwrap();
    assert_eq!(experiment.name, "pbm-synthetic");
    assert_eq!((experiment.horizon, experiment.runs, experiment.seed), (100_000, 1000, 1));
    assert_eq!(experiment.checkpoints, [1000, 10_000, 100_000]);
    assert_eq!((experiment.instances.model().name(), experiment.instances.shapes().len()), ("pbm", 1));
    let labels: Vec<_> = experiment.policies.iter().map(|entry| (&*entry.label, &*entry.name)).collect();
    assert_eq!(labels, [("pbm-ts", "pbm-ts"), ("PBM-PIE (log T)", "pbm-pie")]);
    let pie = serde_json::to_string(&experiment.policies[1].spec).unwrap();
    assert_eq!(pie, r#"{"pbm-pie":{"epsilon":0.1,"level":"log-horizon","position":"last"}}"#);
}

#[test]
fn line_ends_and_byte_order_mark_do_not_matter() {
    let identity = read(GOOD).unwrap().identity();
    assert_eq!(identity.len(), 64);
    assert_eq!(read(&GOOD.replace('\n', "\r\n")).unwrap().identity(), identity);
    assert_eq!(read(&format!("\u{feff}{GOOD}")).unwrap().identity(), identity);
    assert_eq!(read(&GOOD.replace("epsilon", "# a comment\nepsilon")).unwrap().identity(), identity);
    assert_ne!(read(&GOOD.replace("0.45", "0.46")).unwrap().identity(), identity);
}

#[test]
fn an_empty_or_unreadable_file_is_named() {
    for text in ["", " \n\t\n", "\u{feff}"] {
        assert_eq!(read(text).unwrap_err().to_string(), "spec.toml:1:1: the file is empty");
    }
    let directory = tempfile::tempdir().unwrap();
    let message = |path: &std::path::Path| {
        let message = Source::read(path).unwrap_err().to_string();
        message.strip_prefix(&directory.path().display().to_string()).unwrap_or(&message).to_owned()
    };
    assert_eq!(message(directory.path()), ": is a directory: expected a TOML file");
    assert_eq!(
        message(&directory.path().join("none.toml")),
        "/none.toml: cannot be read: no such file or directory"
    );
    let file = directory.path().join("latin.toml");
    std::fs::write(&file, b"name = \"x\"\n# caf\xe9\n").unwrap();
    assert_eq!(message(&file), "/latin.toml:2:6: byte 0xe9 is not UTF-8: save the file as UTF-8 text");
}

#[test]
fn every_fault_has_its_place() {
    for fault in FAULTS.lines().filter(|line| !line.starts_with('#')) {
        let [from, to, expected] = fault.split(" ~> ").collect::<Vec<_>>()[..] else { panic!("{fault:?}") };
        let found = error(from, &to.replace("\\n", "\n"));
        let found = found.strip_prefix("spec.toml:").unwrap();
        match expected.strip_suffix("...") {
            Some(beginning) => assert!(found.starts_with(beginning), "{found:?} instead of {expected:?}"),
            None => assert_eq!(found, expected),
        }
    }
}

#[test]
fn no_instances_or_no_policies() {
    let head = &GOOD[..GOOD.find("\n[[instances]]").unwrap()];
    let message = |text: String| read(&text).unwrap_err().to_string();
    let tables = "at least one table, written with double brackets";
    assert_eq!(message(head.to_owned()), format!("spec.toml:1:1: instances: missing key: expected {tables}"));
    assert_eq!(
        message(format!("{head}instances = []")),
        format!("spec.toml:8:13: instances: none given: expected {tables}")
    );
    let instance = "[[instances]]\nmodel = \"pbm\"\ntheta = [1]\nkappa = [1]\n";
    assert_eq!(
        message(format!("{head}{instance}")),
        format!("spec.toml:1:1: policies: missing key: expected {tables}")
    );
    assert_eq!(
        message(format!("{head}policies = []\n{instance}")),
        format!("spec.toml:8:12: policies: none given: expected {tables}")
    );
}

#[test]
fn instances_of_one_model_with_distinct_names() {
    let second = "[[instances]]\nmodel = \"semi-bandit\"\ntheta = [1]\nkappa = [1]\n\n[[policies]]";
    assert_eq!(
        error("[[policies]]", second),
        "spec.toml:15:9: instances[1].model: model \"semi-bandit\" differs from \"pbm\" in line 10: all instances of an \
         experiment have the same model"
    );
    let second = "name = \"a\"\n[[instances]]\nmodel = \"pbm\"\nname = \"a\"\ntheta = [1]\nkappa = [1]\n\n[[policies]]";
    assert_eq!(
        error("[[policies]]", second),
        "spec.toml:17:8: instances[1].name: name \"a\" is already used in line 14"
    );
}

#[test]
fn semi_bandit_examination_does_not_rise_and_pie_has_a_position() {
    let good = GOOD
        .replace("model = \"pbm\"", "model = \"semi-bandit\"")
        .replace("pbm-ts", "rsf-ts")
        .replace("pbm-pie", "pie")
        .replace("level = \"log-horizon\"\nepsilon = 0.1", "position = 2");
    let experiment = read(&good).unwrap();
    assert_eq!(experiment.instances.model().name(), "semi-bandit");
    let error = |from: &str, to: &str| read(&good.replacen(from, to, 1)).unwrap_err().to_string();
    assert_eq!(
        error("0.3]", "0.7]"),
        "spec.toml:12:20: instances[0].kappa[2]: examination rises from 0.6 to 0.7 at position 2 (counted from 0): the user \
         scans from the top, so it cannot"
    );
    assert_eq!(
        error("position = 2", "position = 3"),
        "spec.toml:20:12: policies[1].position: position 3 is not in the list of instances[0], which has 3 positions: \
         expected an integer from 0 to 2"
    );
    assert_eq!(
        error("position = 2", "position = -1"),
        "spec.toml:20:12: policies[1].position: -1 found: expected an integer of at least 0"
    );
    assert_eq!(
        error("position = 2", "position = 18446744073709551616"),
        "spec.toml:20:12: policies[1].position: 18446744073709551616 is too large: expected an integer of at most \
         18446744073709551615"
    );
    assert_eq!(
        error("position = 2", "position = 340282366920938463463374607431768211456"),
        "spec.toml:20:12: policies[1].position: the number has too many digits for an integer"
    );
    let wide = |n: usize| format!("[{}]", vec!["0.5"; n].join(", "));
    let many =
        good.replace("[0.45, 0.35, 0.25, 0.15, 0.05]", &wide(70)).replace("[0.9, 0.6, 0.3]", &wide(65));
    assert_eq!(
        read(&many).unwrap_err().to_string(),
        "spec.toml:12:9: instances[0].kappa: 65 positions: at most 64 are supported"
    );
}

#[test]
fn overrides_recompute_the_checkpoints() {
    let mut listed = read(GOOD).unwrap();
    let mut logarithmic = read(&GOOD.replace("[10000, 1000]", "{ log = 6 }")).unwrap();
    let mut by_default = read(&GOOD.replace("checkpoints = [10000, 1000]", "")).unwrap();
    assert!(by_default.checkpoints.len() > 150 && by_default.checkpoints.len() <= 200);
    for experiment in [&mut listed, &mut logarithmic, &mut by_default] {
        let horizon = Some(1024);
        experiment
            .apply(Overrides { horizon, runs: Some(3), seed: Some(u64::MAX), ..Overrides::default() })
            .unwrap();
        assert_eq!((experiment.horizon, experiment.runs, experiment.seed), (1024, 3, u64::MAX));
    }
    assert_eq!(listed.checkpoints, [1000, 1024]);
    assert_eq!(logarithmic.checkpoints, [1, 4, 16, 64, 256, 1024]);
    listed.apply(Overrides { horizon: Some(20_000), ..Overrides::default() }).unwrap();
    assert_eq!(listed.checkpoints, [1000, 10_000, 20_000]);

    let before = listed.canonical();
    let refused = |overrides| listed.clone().apply(overrides).unwrap_err().to_string();
    assert_eq!(
        refused(Overrides { runs: Some(0), ..Overrides::default() }),
        "--runs 0: expected an integer from 1 to 4294967295"
    );
    assert_eq!(
        refused(Overrides { horizon: Some(0), ..Overrides::default() }),
        "--horizon 0: expected an integer from 1 to 9007199254740992"
    );
    assert_eq!(
        refused(Overrides { runs: Some(1 << 31), ..Overrides::default() }),
        "--runs 2147483648: 2147483648 runs of 2 policies at 3 checkpoints take about 1025 GiB of memory, more than 8 GiB: reduce \
         runs, policies or checkpoints"
    );
    assert_eq!(
        refused(Overrides { horizon: Some(1 << 52), ..Overrides::default() }),
        "--horizon 4503599627370496: 3 runs of 4503599627370496 rounds are more than 9007199254740992 rounds"
    );
    assert_eq!(listed.canonical(), before);
}

/// What the command line says stands in the place of what the file says, which is not looked at then.
#[test]
fn overrides_go_before_what_the_file_says() {
    let overridden = |from: &str, to: &str, overrides: Overrides| {
        assert!(GOOD.contains(from), "{from:?}");
        let source = Source::from_text("spec.toml", GOOD.replacen(from, to, 1)).unwrap();
        Experiment::overridden(&source.parse().unwrap(), overrides).map_err(|error| error.to_string())
    };
    let runs = Overrides { runs: Some(3), ..Overrides::default() };
    let horizon = Overrides { horizon: Some(2000), ..Overrides::default() };
    let seed = Overrides { seed: Some(5), ..Overrides::default() };
    for faulty in ["runs = 0", "runs = 9999999999", "runs = \"many\"", "runs = 4_294_967_295", ""] {
        assert_eq!(overridden("runs = 1000", faulty, runs).unwrap().runs, 3, "{faulty:?}");
    }
    for faulty in ["horizon = 0", "horizon = -1", "horizon = 9007199254740992", "horizon = 900", ""] {
        let experiment = overridden("horizon = 100_000", faulty, horizon).unwrap();
        assert_eq!((experiment.horizon, experiment.checkpoints), (2000, vec![1000, 2000]), "{faulty:?}");
    }
    assert_eq!(overridden("seed = 1", "seed = -1", seed).unwrap().seed, 5);
    let per_instance = overridden("runs = 1000", "runs = { per-instance = 0 }", runs).unwrap();
    assert_eq!((per_instance.runs, per_instance.runs_per_instance()), (3, Some(3)));
    // The same experiment as of a file without fault, whichever way it is made.
    let mut applied = read(GOOD).unwrap();
    applied.apply(Overrides { horizon: Some(2000), seed: Some(5), ..runs }).unwrap();
    let at_once =
        overridden("seed = 1", "seed = 1", Overrides { horizon: Some(2000), seed: Some(5), ..runs });
    assert_eq!(at_once.unwrap().identity(), applied.identity());
    // What is at fault is what was given last.
    for (from, to, overrides, fault) in [
        ("runs = 1000", "runs = 0", horizon, "spec.toml:5:8: runs: 0 is too small: "),
        (
            "runs = 1000",
            "runs = 0",
            Overrides { runs: Some(0), ..runs },
            "--runs 0: expected an integer from 1 to ",
        ),
        ("runs = 1000", "runs = 1000", Overrides { runs: Some(1 << 31), ..runs }, "--runs 2147483648: "),
        ("runs = 1000", "runs = 1000", Overrides { horizon: Some(1 << 53), ..runs }, "--runs 3: "),
        (
            "seed = 1",
            "seed = 1",
            Overrides { max_steps: Some(9), ..seed },
            "--max-steps 9: task \"regret\" plays ",
        ),
    ] {
        let found = overridden(from, to, overrides).unwrap_err();
        assert!(found.starts_with(fault), "{found:?} instead of {fault:?}");
    }
}

#[test]
fn a_label_may_join_emoji_and_letters_of_a_script() {
    for label in ["👩\u{200d}🔬", "می\u{200c}خواهم"] {
        assert_eq!(read(&GOOD.replace("PBM-PIE (log T)", label)).unwrap().policies[1].label, label);
    }
}

#[test]
fn what_is_written_reads_back_as_the_same_experiment() {
    let odd = GOOD
        .replace("seed = 1", "seed = 18446744073709551615")
        .replace("0.45", "0.1234567890123456789, 5e-324, 1, 0, -0.0, 0.30000000000000004")
        .replace("PBM-PIE (log T)", "\\u03b5 = \\\"1\\\" \\\\ 'x' ''' ]")
        .replace("epsilon = 0.1", "epsilon = 1e300")
        .replace("model = \"pbm\"", "model = \"pbm\"\nname = \"query #1, [a]\"");
    for text in [GOOD.to_owned(), odd, GOOD.replace("[10000, 1000]", "{ log = 17 }")] {
        let mut experiment = read(&text).unwrap();
        for horizon in [100_000, 77, 1_000_000] {
            experiment.apply(Overrides { horizon: Some(horizon), ..Overrides::default() }).unwrap();
            let written = experiment.to_toml();
            let again = read(&written).unwrap_or_else(|error| panic!("{error}\n{written}"));
            assert_eq!(again.canonical(), experiment.canonical());
            assert_eq!(again.identity(), experiment.identity());
        }
    }
}

#[test]
fn numbers_of_the_canonical_form_read_back_exactly() {
    let theta = [0.1, 1.0 / 3.0, 5e-324, 0.300_000_000_000_000_04, f64::EPSILON];
    let text = GOOD.replace("[0.45, 0.35, 0.25, 0.15, 0.05]", &format!("{theta:?}"));
    let json: serde_json::Value = serde_json::from_str(read(&text).unwrap().canonical().json()).unwrap();
    let read: Vec<f64> = serde_json::from_value(json["instances"][0]["theta"].clone()).unwrap();
    assert_eq!(read.iter().map(|x| x.to_bits()).collect::<Vec<_>>(), theta.map(f64::to_bits));
}

#[test]
fn panels_share_what_they_do_not_say() {
    let text = r#"
title = "two figures"
task = "regret"
horizon = 10
runs = 5
seed = 1

[[instances]]
theta = [0.5, 0.4]
kappa = [1, 0.5]

[[panels]]
name = "one"
model = "pbm"
policies = [{ policy = "pbm-ts" }]
title = "first"

[[panels]]
name = "two"
model = "semi-bandit"
runs = 7
policies = [{ policy = "rsf-ts" }]
"#;
    let panels = |text: &str| -> Result<Vec<Experiment>, Error> {
        let source = Source::from_text("experiment.toml", text)?;
        let document = source.parse()?;
        let root = document.root();
        root.know(&["title"]);
        let mut experiments = Vec::new();
        for panel in root.required::<Vec<Table<'_>>>("panels")? {
            experiments.push(Experiment::from_panel(
                &[],
                &panel,
                &root,
                SpecContext { queries: DataInstances::Awaited, ..SpecContext::default() },
            )?);
            let _: Option<String> = panel.optional("title")?;
            panel.finish()?;
        }
        root.finish()?;
        Ok(experiments)
    };
    let read = panels(text).unwrap();
    assert_eq!((read[0].runs, read[1].runs), (5, 7));
    assert_eq!((read[0].instances.model().name(), read[1].instances.model().name()), ("pbm", "semi-bandit"));
    let error = |from: &str, to: &str| panels(&text.replacen(from, to, 1)).unwrap_err().to_string();
    assert_eq!(
        error("seed = 1", ""),
        "experiment.toml:12:1: panels[0].seed: missing key: expected an integer of at least 0, here or at the top of the file"
    );
    assert_eq!(
        error("runs = 7", "rnus = 7"),
        "experiment.toml:21:1: panels[1].rnus: unknown key: did you mean `runs`? known: checkpoints, horizon, instances, max_steps, model, name, policies, runs, seed, task, title"
    );
    assert_eq!(
        error("seed = 1", "seed = 1\nname = \"x\""),
        "experiment.toml:7:1: name: unknown key: known: checkpoints, horizon, instances, max_steps, panels, policies, runs, seed, task, title"
    );
    assert_eq!(
        error("theta", "model = \"pbm\"\ntheta"),
        "experiment.toml:9:9: instances[0].model: model \"pbm\" is not the panel's, \"semi-bandit\": leave it out where \
         panels share instances"
    );
}

#[test]
fn pbm_pie_explores_at_the_last_position() {
    let said = read(&GOOD.replace("epsilon = 0.1", "epsilon = 0.1\nposition = \"last\"")).unwrap();
    assert_eq!(said.identity(), read(GOOD).unwrap().identity());
}

/// The examples of the program's README are experiments.
#[test]
fn the_readme_is_right() {
    const README: &str = include_str!("../../../click-bandits/README.md");
    let (_, rest) = README.split_once("```toml\n").unwrap();
    let (example, rest) = rest.split_once("```").unwrap();
    let experiment = read(example).unwrap();
    assert_eq!((experiment.checkpoints.last(), experiment.policies.len()), (Some(&100_000), 3));
    assert_eq!(experiment.instances.parameters()[0].name.as_deref(), Some("section 5.1"));
    let (_, identify) = rest.split_once("```toml\n").unwrap();
    let experiment = read(identify.split_once("```").unwrap().0).unwrap();
    assert_eq!((experiment.task, experiment.max_steps()), (Task::Identify, Some(1_000_000)));
}

/// Thousands of mutilated specs: each reads or fails with a message, none panics.
#[test]
fn no_text_makes_the_reader_panic() {
    use rand_like::Numbers;
    let pieces = [
        "[", "]", "{", "}", "=", "\"", "'''", ",", ".", "\n", "-", "1e999", "nan", "_", "#", "é", "[[", "0x",
        "\u{0}", "\r",
    ];
    let mut numbers = Numbers(1);
    let mut refused = 0;
    for _ in 0..20_000 {
        let mut text: Vec<char> = GOOD.chars().collect();
        for _ in 0..=numbers.below(4) {
            let at = numbers.below(text.len());
            match numbers.below(4) {
                0 => drop(text.remove(at)),
                1 => drop(text.drain(at..(at + numbers.below(30)).min(text.len()))),
                2 => {
                    let from = numbers.below(text.len());
                    let copy: Vec<char> = text[from..(from + 20).min(text.len())].to_vec();
                    text.splice(at..at, copy);
                }
                _ => drop(text.splice(at..at, pieces[numbers.below(pieces.len())].chars()).count()),
            }
        }
        let text: String = text.into_iter().collect();
        match read(&text) {
            Ok(experiment) => {
                assert_eq!(read(&experiment.to_toml()).unwrap().identity(), experiment.identity());
            }
            Err(error) => {
                refused += 1;
                let message = error.to_string();
                assert!(message.starts_with("spec.toml:") && !message.contains('\n'), "{message}");
                assert!(error.line().is_some_and(|line| line <= 1 + text.matches('\n').count()), "{message}");
            }
        }
    }
    assert!(refused > 10_000, "only {refused} specs were refused");
}

/// A generator good enough to mutilate text with.
mod rand_like {
    /// `splitmix64`.
    pub(super) struct Numbers(pub(super) u64);

    impl Numbers {
        pub(super) fn below(&mut self, n: usize) -> usize {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut bits = self.0;
            bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            usize::try_from((bits ^ (bits >> 31)) % n.max(1) as u64).unwrap_or(0)
        }
    }
}

mod models;

/// A spec whose policies stop.
const IDENTIFY: &str = r#"name = "best"
task = "identify"
max_steps = 500
runs = 3
seed = 1

[[instances]]
model = "cascade"
attraction = [0.5, 0.4, 0.2]
positions = 2

[[policies]]
policy = "cascade-bai"
epsilon = 0.1
"#;

#[test]
fn a_task_has_its_own_keys() {
    let experiment = read(IDENTIFY).unwrap();
    assert_eq!((experiment.max_steps(), experiment.fixed_horizon()), (Some(500), None));
    assert!(experiment.checkpoints.is_empty());
    assert!(experiment.canonical().json().starts_with(
        r#"{"name":"best","task":"identify","max_steps":500,"runs":3,"seed":1,"model":"cascade""#
    ));
    let budget = IDENTIFY.replace("identify", "budget").replace("max_steps", "horizon");
    let budget = read(&budget).unwrap();
    assert_eq!((budget.max_steps(), budget.fixed_horizon()), (None, Some(500)));
    assert!(budget.checkpoints.is_empty() && budget.identity() != experiment.identity());
    for mut experiment in [experiment, budget] {
        let again = read(&experiment.to_toml()).unwrap();
        assert_eq!(again.identity(), experiment.identity());
        let (horizon, max_steps) = (experiment.fixed_horizon(), experiment.max_steps());
        let (horizon, max_steps) = (horizon.map(|rounds| rounds + 1), max_steps.map(|steps| steps + 1));
        experiment.apply(Overrides { horizon, max_steps, ..Overrides::default() }).unwrap();
        assert_eq!((experiment.horizon, experiment.checkpoints.len()), (501, 0));
        assert_eq!(read(&experiment.to_toml()).unwrap().identity(), experiment.identity());
    }
}

#[test]
fn what_belongs_to_another_task_is_refused() {
    let error = |from: &str, to: &str| read(&IDENTIFY.replacen(from, to, 1)).unwrap_err().to_string();
    for (from, to, expected) in [
        (
            "max_steps = 500",
            "horizon = 500",
            "spec.toml:3:11: horizon: task \"identify\" ends when the policy stops: expected `max_steps` in its place",
        ),
        ("max_steps = 500", "", "spec.toml:1:1: max_steps: missing key: expected an integer of at least 1"),
        (
            "max_steps = 500",
            "max_steps = 0",
            "spec.toml:3:13: max_steps: 0 is too small: expected an integer from 1 to 9007199254740992",
        ),
        (
            "max_steps = 500",
            "max_step = 500",
            "spec.toml:3:1: max_step: unknown key: did you mean `max_steps`, which is missing?",
        ),
        (
            "seed = 1",
            "seed = 1\ncheckpoints = [5]",
            "spec.toml:6:15: checkpoints: task \"identify\" has results at the end of a run only: leave it out",
        ),
        (
            "cascade-bai\"\nepsilon = 0.1",
            "cascade-ts\"",
            "spec.toml:13:10: policies[0].policy: \"cascade-ts\" never stops: expected a policy that does, such as \"cascade-bai\"",
        ),
        (
            "identify\"\nmax_steps",
            "budget\"\nmax_steps",
            "spec.toml:3:13: max_steps: task \"budget\" plays the whole `horizon`: leave it out",
        ),
        (
            "epsilon = 0.1",
            "epsilon = -0.1",
            "spec.toml:14:11: policies[0].epsilon: -0.1 is not allowed here: expected a finite number that is not negative",
        ),
        ("epsilon = 0.1", "delta = 1", "spec.toml:14:9: policies[0].delta: "),
        (
            "positions = 2",
            "positions = 4",
            "spec.toml:10:13: instances[0].positions: 4 positions but only 3 items: a list shows every item at most once",
        ),
        (
            "model = \"cascade\"\nattraction = [0.5, 0.4, 0.2]\npositions = 2",
            "model = \"rank-one\"\nrows = [0.5]\ncolumns = [0.5]",
            "spec.toml:2:8: task: task \"identify\" asks for the best items of \"cascade\" instances, but these are \"rank-one\"",
        ),
    ] {
        let message = error(from, to);
        assert!(message.starts_with(expected), "{message:?} instead of {expected:?}");
    }
    let mut experiment = read(IDENTIFY).unwrap();
    let error = experiment.apply(Overrides { horizon: Some(9), ..Overrides::default() }).unwrap_err();
    assert_eq!(
        error.to_string(),
        "--horizon 9: task \"identify\" ends when the policy stops: expected `max_steps` in its place"
    );
    let error = experiment.apply(Overrides { max_steps: Some(0), ..Overrides::default() }).unwrap_err();
    assert!(error.to_string().starts_with("--max-steps 0: expected an integer from 1 to"), "{error}");
}

const DUELING: &str = "name = \"x\"\ntask = \"regret\"\nhorizon = 10\nruns = 1\nseed = 1\n[[instances]]\nmodel = \"dueling\"\n\
    preferences = [[0.5, 0.6, 0.7], [0.4, 0.5, 0.8], [0.3, 0.2, 0.5]]\n[[policies]]\npolicy = \"rucb\"\n";

#[test]
fn dueling_faults_have_their_place() {
    read(DUELING).unwrap();
    let error = |from: &str, to: &str| {
        assert!(DUELING.contains(from), "{from:?}");
        let found = read(&DUELING.replacen(from, to, 1)).unwrap_err().to_string();
        found.strip_prefix("spec.toml:").unwrap_or(&found).to_owned()
    };
    let matrix = "[[0.5, 0.6, 0.7], [0.4, 0.5, 0.8], [0.3, 0.2, 0.5]]";
    for (from, to, expected) in [
        (matrix, "[[0.5, 0.6], [0.4]]", "8:15: instances[0].preferences: "),
        (matrix, "[[0.5]]", "8:15: instances[0].preferences: "),
        ("0.3, 0.2", "0.3, nan", "8:56: instances[0].preferences[2][1]: nan is not allowed"),
        ("0.3, 0.2", "0.4, 0.2", "8:15: instances[0].preferences: "),
        ("preferences = ", "file = \"a\"\npreferences = ", "8:8: instances[0].file: `preferences` already"),
        ("preferences", "arms", "6:1: instances[0].preferences: missing key: expected rows of probabilities"),
        ("[[policies]]", "arms = [0]\n[[policies]]", "9:8: instances[0].arms: "),
        ("[[policies]]", "arms = [0, 3]\n[[policies]]", "9:12: instances[0].arms[1]: 3 is too large"),
        ("[[policies]]", "arms = [0, 0]\n[[policies]]", "9:8: instances[0].arms: "),
        ("[[policies]]", "arms = 3\n[[policies]]", "9:8: instances[0].arms: 3 found: expected items"),
        (
            "[[policies]]",
            "arms = { random = 4, subsets = 1 }\n[[policies]]",
            "9:19: instances[0].arms.random: 4 of 3 items: expected an integer from 2 to 3",
        ),
        (
            "\"rucb\"",
            "\"ucb1\"",
            "10:10: policies[0].policy: \"ucb1\" plays \"rank-one\", but the instances are \"dueling\"",
        ),
        ("\"rucb\"", "\"rucb\"\ntold = \"gamma\"", "11:8: policies[0].told: only `beat-the-mean` needs"),
        (
            "\"rucb\"",
            "\"rsf-ts\"\nread-as = \"cascade\"",
            "11:11: policies[0].read-as: feedback on a list and on a pair cannot be read as each other",
        ),
    ] {
        let found = error(from, to);
        assert!(found.starts_with(expected), "{found:?} instead of {expected:?}");
    }
}

#[test]
fn a_matrix_is_read_from_the_folder_of_the_spec() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("spec.toml");
    let text = DUELING
        .replace("preferences = [[0.5, 0.6, 0.7], [0.4, 0.5, 0.8], [0.3, 0.2, 0.5]]", "file = \"m.csv\"");
    std::fs::write(&path, text).unwrap();
    let read_file = || {
        let source = Source::read(&path)?;
        Experiment::from_document(&source.parse()?)
    };
    let message = || {
        let message = read_file().unwrap_err().to_string();
        message.strip_prefix(&folder.path().display().to_string()).unwrap_or(&message).to_owned()
    };
    let spec = format!("/spec.toml:8:8: instances[0].file: {}", folder.path().join("m.csv").display());
    assert_eq!(message(), format!("{spec}: cannot be read: no such file or directory"));
    std::fs::write(folder.path().join("m.csv"), "0.5,0.6\n0.4,0.5x\n").unwrap();
    assert!(message().starts_with("/m.csv:2:5: "), "{}", message());
    std::fs::write(folder.path().join("m.csv"), b"0.5,0.6\n0.4,\xff\n").unwrap();
    assert!(message().starts_with("/m.csv:2:5: byte 0xff is not UTF-8"), "{}", message());
    std::fs::write(folder.path().join("m.csv"), "0.5 0.6 0.7\n0.4 0.5 0.8\n0.3 0.2 0.5\n").unwrap();
    // The numbers count, not where they come from.
    assert_eq!(read_file().unwrap().identity(), read(DUELING).unwrap().identity());
}

#[test]
fn random_subsets_are_those_of_the_seed() {
    let text = DUELING.replace("[[policies]]", "arms = { random = 2, subsets = 40 }\n[[policies]]");
    let matrices = |experiment: &Experiment| -> Vec<Vec<Vec<f64>>> {
        let duels = experiment.instances.duels().unwrap();
        duels.list().iter().map(|one| one.model.preferences().clone().into()).collect()
    };
    let mut experiment = read(&text).unwrap();
    let drawn = matrices(&experiment);
    assert_eq!(drawn.len(), 40);
    // All three pairs are there.
    for excess in [0.6, 0.7, 0.8] {
        assert!(drawn.iter().any(|matrix| matrix[0][1] == excess), "{excess}");
    }
    experiment.apply(Overrides { subsets: Some(7), ..Overrides::default() }).unwrap();
    assert_eq!(matrices(&experiment), drawn[..7]);
    experiment.apply(Overrides { seed: Some(2), ..Overrides::default() }).unwrap();
    assert_ne!(matrices(&experiment), drawn[..7]);
    experiment.apply(Overrides { seed: Some(1), ..Overrides::default() }).unwrap();
    assert_eq!(matrices(&experiment), drawn[..7]);
    // A cycle has no winner, however often it is drawn.
    let cycle = DUELING.replace("0.6, 0.7", "0.6, 0.3").replace("0.3, 0.2", "0.7, 0.2");
    let cycle = cycle.replace("[[policies]]", "arms = { random = 3, subsets = 1 }\n[[policies]]");
    let error = read(&cycle).unwrap_err().to_string();
    assert!(error.contains("none of 10000 random subsets of 3 items has a Condorcet winner"), "{error}");
}
