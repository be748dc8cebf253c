//! Reading an experiment from a file.

mod all_errors;
mod contexts;
mod dueling;
mod files;
mod keys;
mod live;
mod models;
mod mutilated;
mod overrides;
mod tasks;
mod written;

use super::*;
use crate::DataInstances;
use crate::models::{LogLists, OwnClicks};
use documents::toml_reader::Source;

/// A valid spec.
const GOOD: &str = include_str!("../../../click-bandits/tests/data/bad_spec/good.toml");
/// Errors that can be made in it; the file describes its format.
const FAULTS: &str = include_str!("../../../click-bandits/tests/data/bad_spec/faults.txt");

fn read(text: &str) -> Result<Experiment, Error> {
    let source = Source::from_text("spec.toml", text)?;
    let document = source.parse()?;
    let read = Experiment::from_document(&document);
    crate::schema::tests::agree(&document, &read);
    read
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
fn every_key_of_a_spec_is_read() {
    let experiment = read(GOOD).unwrap();
    assert_eq!(experiment.name, "pbm-synthetic");
    assert_eq!((experiment.horizon, experiment.runs, experiment.seed), (100_000, 1000, 1));
    assert_eq!(experiment.checkpoints, [1000, 10_000, 100_000]);
    assert_eq!((experiment.instances.model().name, experiment.instances.shapes().len()), ("pbm", 1));
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
fn every_error_names_its_place() {
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
fn a_spec_without_instances_or_policies_is_refused() {
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
fn instances_of_two_models_or_of_the_same_name_are_refused() {
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
fn rising_examination_and_positions_beyond_the_list_are_refused() {
    let good = GOOD
        .replace("model = \"pbm\"", "model = \"semi-bandit\"")
        .replace("pbm-ts", "rsf-ts")
        .replace("pbm-pie", "pie")
        .replace("level = \"log-horizon\"\nepsilon = 0.1", "position = 2");
    let experiment = read(&good).unwrap();
    assert_eq!(experiment.instances.model().name, "semi-bandit");
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
        "spec.toml:20:12: policies[1].position: -1 is negative: expected an integer of at least 0"
    );
    assert_eq!(
        error("position = 2", "position = 18446744073709551616"),
        "spec.toml:20:12: policies[1].position: 18446744073709551616 is too large: expected an integer of at most \
         18446744073709551615"
    );
    assert_eq!(
        error("position = 2", "position = 340282366920938463463374607431768211456"),
        "spec.toml:20:12: policies[1].position: 340282366920938463463374607431768211456 is too large: expected an integer of at most 18446744073709551615"
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
fn a_label_may_have_joiners_within_emoji_and_letters_of_a_script() {
    for label in ["👩\u{200d}🔬", "می\u{200c}خواهم"] {
        assert_eq!(read(&GOOD.replace("PBM-PIE (log T)", label)).unwrap().policies[1].label, label);
    }
}

#[test]
fn panels_take_missing_keys_from_the_top_of_the_file() {
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
    assert_eq!((read[0].instances.model().name, read[1].instances.model().name), ("pbm", "semi-bandit"));
    let error = |from: &str, to: &str| panels(&text.replacen(from, to, 1)).unwrap_err().to_string();
    assert_eq!(
        error("seed = 1", ""),
        "experiment.toml:12:1: panels[0].seed: missing key: expected an integer of at least 0, here or at the top of the file"
    );
    assert_eq!(
        error("runs = 7", "rnus = 7"),
        "experiment.toml:21:1: panels[1].rnus: unknown key: did you mean `runs`? known: checkpoints, horizon, instances, live, max_steps, model, name, policies, runs, seed, task, title, users"
    );
    assert_eq!(
        error("seed = 1", "seed = 1\nname = \"x\""),
        "experiment.toml:7:1: name: unknown key: known: checkpoints, horizon, instances, live, max_steps, panels, policies, runs, seed, task, title, users"
    );
    assert_eq!(
        error("theta", "model = \"pbm\"\ntheta"),
        "experiment.toml:9:9: instances[0].model: model \"pbm\" is not the panel's, \"semi-bandit\": leave it out where \
         panels share instances"
    );
}

#[test]
fn the_last_position_is_the_default_of_pbm_pie() {
    let explicit = read(&GOOD.replace("epsilon = 0.1", "epsilon = 0.1\nposition = \"last\"")).unwrap();
    assert_eq!(explicit.identity(), read(GOOD).unwrap().identity());
}

#[test]
fn the_examples_of_the_readme_of_the_program_are_valid_specs() {
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

/// Fits of three queries, as `fit` writes them.
const PARAMETERS: &str = include_str!("tests/parameters.json");

const UNCERTAIN: &str = "name = \"x\"\ntask = \"regret\"\nhorizon = 50\nruns = 40\nseed = 1\ncheckpoints = [50]\n\
    users = { posterior = \"p.json\", model = \"pbm\" }\n[[policies]]\npolicy = \"pbm-ts\"\n[[policies]]\npolicy = \"oracle\"\n\
    [[policies]]\npolicy = \"logged\"\nlists = \"l.csv\"\n";

const LISTS: &str = "instance,query,lists,items\n0,shoes,9,2 0\n1,hats,4,0\n";

fn read_beside(spec: &str, parameters: &str, lists: &str) -> Result<Experiment, Error> {
    let folder = tempfile::tempdir().unwrap();
    let others = lists.replace('9', "8");
    for (name, content) in
        [("spec.toml", spec), ("p.json", parameters), ("l.csv", lists), ("others.csv", &others)]
    {
        std::fs::write(folder.path().join(name), content).unwrap();
    }
    let source = Source::read(&folder.path().join("spec.toml"))?;
    let document = source.parse()?;
    let read = Experiment::from_document(&document);
    crate::schema::tests::agree(&document, &read);
    read
}

#[test]
fn users_are_drawn_from_the_posterior_of_a_log_and_its_lists_are_played() {
    let experiment = read_beside(UNCERTAIN, PARAMETERS, LISTS).unwrap();
    let shapes: Vec<_> = experiment.instances.shapes().iter().map(|shape| shape.n_positions()).collect();
    assert_eq!(shapes, [2, 1]);
    // The file that a result has reads back from its directory, which has copies of both files.
    let again = read_beside(&experiment.to_toml(), PARAMETERS, LISTS).unwrap();
    assert_eq!(again.canonical(), experiment.canonical());
    let other = read_beside(UNCERTAIN, &PARAMETERS.replace("0.05", "0.04"), LISTS).unwrap();
    assert_ne!(other.identity(), experiment.identity());
    let other = read_beside(UNCERTAIN, PARAMETERS, &LISTS.replace('9', "8")).unwrap();
    assert_ne!(other.identity(), experiment.identity());
}

#[test]
fn the_lists_of_another_log_are_another_policy() {
    let doubts = |lists: &str| {
        let twice =
            format!("{UNCERTAIN}[[policies]]\npolicy = \"logged\"\nlabel = \"b\"\nlists = \"{lists}\"\n");
        read_beside(&twice, PARAMETERS, LISTS).unwrap().doubts()
    };
    let same = "b: the same policy as logged, with other random numbers";
    assert!(doubts("l.csv").contains(&same.to_owned()));
    assert!(!doubts("others.csv").contains(&same.to_owned()));
}

/// Users of two parts of a log, with a transfer: read, written and drawn.
#[test]
fn a_transfer_is_read_written_and_drawn() {
    let lists = LISTS.replace("items\n", "items,clicks\n");
    let lists: String = lists
        .lines()
        .map(|line| if line.ends_with("clicks") { format!("{line}\n") } else { format!("{line},1\n") })
        .collect();
    let with = |transfer: &str| {
        UNCERTAIN.replace(
            "{ posterior = \"p.json\", model = \"pbm\" }",
            &format!(
                "{{ posterior = [\"p.json\", \"p.json\"], model = \"pbm\", transfer = {{ {transfer} }} }}"
            ),
        )
    };
    let spec = with("slope = [0.5, 0.1], deviations = [[0.1, 0.05], [0.0, 0.0]], lists = \"l.csv\"");
    let experiment = read_beside(&spec, PARAMETERS, &lists).unwrap();
    let again = read_beside(&experiment.to_toml(), PARAMETERS, &lists).unwrap();
    assert_eq!((again.canonical(), again.identity()), (experiment.canonical(), experiment.identity()));
    // Draws value today's lists, and none has more clicks than the best list.
    let shown = &experiment.policies().iter().find_map(|entry| entry.lists.as_ref()).unwrap().of_instances;
    let log_lists = |own_variance: f64| -> Vec<LogLists> {
        let of_query = |logged: &policies::Logged| {
            let lists = logged.lists().map(|(list, shown)| (list.as_slice().to_vec(), [shown, 1]));
            LogLists {
                own: OwnClicks::new(lists, own_variance, 0.2),
                parts: vec![logged.clone()],
                others: Vec::new(),
            }
        };
        shown.iter().map(of_query).collect()
    };
    let evidence = experiment.evidence(40, &log_lists(0.0), None);
    assert_eq!(evidence.len(), 2);
    for of_query in &evidence {
        let [today, part] = of_query.today.as_slice() else { panic!("the log and one part of it") };
        assert_eq!((today.len(), part.len()), (40, 40));
        assert!(today.iter().zip(&of_query.best).all(|(today, best)| *today <= best + 1e-9));
    }
    // Lists that differ from predictions are less sure, the same users are drawn, and the best list
    // is still the best.
    let uncertain = experiment.evidence(40, &log_lists(0.01), None);
    for ((certain, own), logged) in evidence.iter().zip(&uncertain).zip(shown) {
        assert_eq!(certain.today, own.today);
        // The only list that the log shows has no deviation from the mean of all.
        let is_only = logged.lists().all(|(list, _)| *list == own.recommended);
        assert_eq!(certain.of_recommended == own.of_recommended, is_only);
        assert!(own.of_recommended.iter().zip(&own.best).all(|(recommended, best)| recommended <= best));
        let is_same = own.choices[0] == own.recommended;
        assert!(
            !is_same || own.chosen.iter().skip(1).step_by(2).eq(own.of_recommended.iter().skip(1).step_by(2))
        );
    }
    let other = read_beside(&with("slope = [0.6, 0.1], lists = \"l.csv\""), PARAMETERS, &lists).unwrap();
    assert_ne!(other.identity(), experiment.identity());
    let error = |spec: &str, lists: &str| {
        let message = read_beside(spec, PARAMETERS, lists).unwrap_err().to_string();
        message.split('/').next_back().unwrap().to_owned()
    };
    for (transfer, message) in [
        (
            "slope = [0.5], lists = \"l.csv\"",
            "users.transfer.slope: 1 entry found: expected a number and its standard",
        ),
        (
            "slope = [0.5, -1.0], lists = \"l.csv\"",
            "users.transfer.slope[1]: -1.0 found: expected a number from 0 to 1,000,000,000",
        ),
        ("slope = [0.5, 0.1]", "users.transfer.lists: missing key"),
        (
            "deviations = [[0.1]], lists = \"l.csv\"",
            "users.transfer.deviations[0]: 1 entry found: expected a number and its standard",
        ),
    ] {
        let found = error(&with(transfer), &lists);
        assert!(found.contains(message), "{found}\n{message}");
    }
    let found = error(&with("lists = \"l.csv\""), LISTS);
    assert!(found.contains("no column clicks"), "{found}");
    assert!(error(&spec, &lists.replacen(",1\n", ",x\n", 1)).contains("expected the number of clicks"));
}

#[test]
fn runs_share_their_users() {
    let shared = UNCERTAIN.replace("\"pbm\" }", "\"pbm\", runs-per-draw = 3 }").replace("= 40", "= 30");
    let experiment = read_beside(&shared, PARAMETERS, LISTS).unwrap();
    assert!(experiment.to_toml().contains(", runs-per-draw = 3 }"), "{}", experiment.to_toml());
    let again = read_beside(&experiment.to_toml(), PARAMETERS, LISTS).unwrap();
    assert_eq!((again.canonical(), again.identity()), (experiment.canonical(), experiment.identity()));
    let one = shared.replace("runs-per-draw = 3", "runs-per-draw = 1");
    let without = UNCERTAIN.replace("= 40", "= 30");
    let identity = |spec: &str| read_beside(spec, PARAMETERS, LISTS).unwrap().identity();
    assert_eq!(identity(&one), identity(&without));
    assert_ne!(identity(&shared), identity(&without));

    let error = |spec: &str| read_beside(spec, PARAMETERS, LISTS).unwrap_err().to_string();
    let uneven = error(&shared.replace("= 30", "= 31"));
    let expected = "spec.toml:4:8: runs: 31 runs found: expected a multiple of runs-per-draw, 3";
    assert!(uneven.ends_with(expected), "{uneven}");
    let none = error(&shared.replace("runs-per-draw = 3", "runs-per-draw = 0"));
    assert!(none.contains("users.runs-per-draw: "), "{none}");
    let mut changed = experiment.clone();
    let overrides = crate::Overrides { runs: Some(20), ..crate::Overrides::default() };
    let refused = changed.apply(overrides).unwrap_err().to_string();
    assert_eq!(refused, "runs 20: 20 runs found: expected a multiple of runs-per-draw, 3");
}

#[test]
fn faults_of_posterior_users_and_logged_lists_are_named() {
    let error = |spec: &str, parameters: &str| {
        let message = read_beside(spec, parameters, LISTS).unwrap_err().to_string();
        // Without the folder of the test.
        message.split('/').next_back().unwrap().to_owned()
    };
    let spec = |from: &str, to: &str| error(&UNCERTAIN.replacen(from, to, 1), PARAMETERS);
    let known = crate::posterior::fits().join(", ");
    let unknown = format!("spec.toml:7:41: users.model: unknown model \"ctr\": known: {known}");
    for (from, to, message) in [
        ("model = \"pbm\"", "model = \"ctr\"", &*unknown),
        ("model = \"pbm\"", "model = \"dcm\"", "p.json: has no fit of \"dcm\": it has pbm"),
        (
            "posterior = ",
            "prior = ",
            "spec.toml:7:9: users.posterior: missing key: expected the file with the parameters",
        ),
        ("p.json", "q.json", "q.json: cannot be read: no such file or directory"),
        ("[[policies]]", "[[instances]]\n[[policies]]", "expected one or the other"),
        (
            "lists = \"l.csv\"",
            "",
            "spec.toml:12:1: policies[2].lists: missing key: expected the file with the lists of the log, which `fit` writes",
        ),
        (
            "policy = \"oracle\"",
            "policy = \"oracle\"\nlists = \"l.csv\"",
            "spec.toml:12:9: policies[1].lists: \"oracle\" plays lists of its own: leave it out",
        ),
    ] {
        let found = spec(from, to);
        assert!(found.contains(message), "{found}\n{message}");
    }
    assert!(
        error(UNCERTAIN, &PARAMETERS.replace("\"schema\": 1", "\"schema\": 2"))
            .contains("schema: 2, expected 1: ")
    );
    // A fit whose queries are in a table.
    let with_table = "{\"schema\": 2, \"table\": \"t.parquet\", \"models\": [{\"model\": \"pbm\", \"site\": {\"prior\": 5}}]}";
    let found = error(UNCERTAIN, with_table);
    assert_eq!(
        found,
        "p.json: table: the parameters of queries are in \"t.parquet\", which experiments do not read: write them to this file with `fit \
         --parameters json`"
    );
    let found = error(UNCERTAIN, &PARAMETERS[1..]);
    assert!(found.contains("expected the parameters that `fit` writes"), "{found}");
}

/// The mean and the standard deviation of 20,000 draws: within six standard errors of the mean, and
/// 10 % of the deviation, which has an error of about half a per cent.
#[test]
fn draws_have_the_mean_and_the_deviation_of_the_estimate() {
    use crate::posterior::Uncertain;
    let mut rng = sim::Streams::new(3).instance(0);
    for (mean, deviation) in [(0.3, 0.1), (0.02, 0.01), (0.9, 0.02), (0.5, 0.4)] {
        let draws: Vec<f64> = (0..20_000).map(|_| Uncertain { mean, deviation }.draw(&mut rng)).collect();
        let found = sim::Summary::of(&draws).unwrap();
        assert!((found.mean - mean).abs() < 6.0 * deviation / 20_000_f64.sqrt(), "{mean}: {}", found.mean);
        let spread = found.standard_error * 20_000_f64.sqrt();
        let expected = deviation.min((mean * (1.0 - mean) / 2.0).sqrt());
        assert!((spread / expected - 1.0).abs() < 0.1, "{deviation}: {spread}");
        assert!(draws.iter().all(|draw| (0.0..=1.0).contains(draw)));
    }
    assert_eq!(Uncertain::known(0.7).draw(&mut rng), 0.7);
}

/// `pbm-gibbs` before and after a log, on the users of its fit and on others.
const WARM: &str = "name = \"x\"\ntask = \"regret\"\nhorizon = 300\nruns = 600\nseed = 1\ncheckpoints = [300]\n\
    [[instances]]\nname = \"shoes\"\nmodel = \"pbm\"\ntheta = [0.4, 0.2, 0.1, 0.05]\nkappa = [0.9, 0.45]\n\
    [[policies]]\npolicy = \"pbm-gibbs\"\n\
    [[policies]]\npolicy = \"pbm-gibbs\"\nlabel = \"warm\"\nprior = \"fitted\"\nprior_file = \"p.json\"\n";

#[test]
fn a_policy_begins_with_the_fit_of_a_log() {
    let experiment = read_beside(WARM, PARAMETERS, LISTS).unwrap();
    let again = read_beside(&experiment.to_toml(), PARAMETERS, LISTS).unwrap();
    assert_eq!(again.canonical(), experiment.canonical());
    assert_eq!(experiment.inputs(), [("p.json", PARAMETERS.as_bytes())]);
    assert_eq!(experiment.doubts(), [""; 0]);
    // The file is part of what the experiment is.
    let other = read_beside(WARM, &PARAMETERS.replace("0.05", "0.04"), LISTS).unwrap();
    assert_ne!(other.identity(), experiment.identity());
    let flat =
        WARM.replace("label = \"warm\"\nprior = \"fitted\"\nprior_file = \"p.json\"\n", "label = \"warm\"\n");
    let said = flat.replace("label = \"warm\"", "label = \"warm\"\nprior = \"flat\"");
    let flat = read_beside(&flat, PARAMETERS, LISTS).unwrap();
    assert_ne!(flat.identity(), experiment.identity());
    assert_eq!(flat.doubts(), ["warm: the same policy as pbm-gibbs, with other random numbers"]);
    assert_eq!(read_beside(&said, PARAMETERS, LISTS).unwrap().identity(), flat.identity());
}

#[test]
fn faults_of_a_fitted_prior_are_named() {
    for (from, to, message) in [
        (
            "prior = \"fitted\"",
            "prior = \"log\"",
            "policies[1].prior: unknown prior \"log\": known: flat, fitted",
        ),
        ("prior = \"fitted\"\n", "", "policies[1].prior_file: used with `prior = \"fitted\"` only"),
        (
            "prior = \"fitted\"",
            "prior = \"flat\"",
            "policies[1].prior_file: used with `prior = \"fitted\"` only",
        ),
        (
            "prior_file = \"p.json\"\n",
            "",
            "policies[1].prior_file: missing key: expected the file with the parameters of a log, which `fit` writes",
        ),
        ("p.json", "q.json", "q.json: cannot be read: no such file or directory"),
        ("name = \"shoes\"", "name = \"boots\"", "p.json: instances[0]: no query \"boots\""),
        (
            "name = \"shoes\"\n",
            "",
            "p.json: instances[0]: 2 queries found: name the instance after one of them (`name`)",
        ),
        (
            "theta = [0.4, 0.2, 0.1, 0.05]",
            "theta = [0.4, 0.2]",
            "p.json: instances[0]: query \"shoes\" has 3 items, but the instance has 2",
        ),
        (
            "policy = \"pbm-gibbs\"\n[[",
            "policy = \"pbm-ts\"\nprior = \"fitted\"\n[[",
            "policies[0].prior: unknown key",
        ),
    ] {
        assert!(WARM.contains(from), "{from}");
        let found = read_beside(&WARM.replacen(from, to, 1), PARAMETERS, LISTS).unwrap_err().to_string();
        assert!(found.contains(message), "{found}\n{message}");
    }
    let no_pbm = PARAMETERS.replace("\"pbm\"", "\"ctr-rank\"");
    let found = read_beside(WARM, &no_pbm, LISTS).unwrap_err().to_string();
    assert!(found.contains("has no fit of \"pbm\""), "{found}");
    let with_table = "{\"schema\": 2, \"table\": \"t.parquet\", \"models\": []}";
    let found = read_beside(WARM, with_table, LISTS).unwrap_err().to_string();
    assert!(found.contains("p.json: table: the parameters of queries are in \"t.parquet\""), "{found}");
    assert!(found.ends_with("`fit --parameters json`"), "{found}");
}
