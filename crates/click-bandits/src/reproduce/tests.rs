use self::synthetic::Synthetic as _;
use super::*;
use crate::program::program;
use experiment::{Claim, JOURNAL, Measurement};
use report::figure::{self, FigureData};
use std::fs;
use tempfile::tempdir;

#[expect(dead_code, reason = "no paper here asks for answers")]
#[path = "../../../experiment/tests/support/synthetic.rs"]
mod synthetic;

const EXPERIMENT: &str = r#"
name = "small"
title = "A <small> experiment"
summary = ["First & only paragraph."]
task = "regret"
horizon = 1000
seed = 1

[names]
pbm-ts = "Thompson's"

[[papers]]
key = "P"
citation = "Somebody: Something"

[[instances]]
theta = [0.5, 0.2]
kappa = [1.0, 0.5]

[[panels]]
name = "first"
title = "First"
paper = "P"
place = "figure 1"
statement = "Thompson sampling is better."
model = "pbm"
runs = 100
policies = [{ policy = "pbm-ts" }, { policy = "pbm-ucb", label = "</script><b>" }]
quick = { runs = 10 }
"#;

fn claims(known: &str) -> String {
    format!(
        r#"
[[claims]]
name = "ts-leads"
panel = "first"
says = "PBM-TS is better."
place = "section 1"
[claims.test]
kind = "order"
lower = ["pbm-ts"]
upper = ["</script><b>"]
[claims.known]
verdict = "{known}"
evidence = "seen with `--seed 7`: −3"
"#
    )
}

/// A simulation with this difference of the first two policies' regrets, with standard error 1.
fn simulate(difference: f64) -> impl FnMut(&Job<'_>) -> Result<PanelRun> {
    move |job| {
        let (experiment, directory) = (job.experiment, &job.directory);
        let t = experiment.checkpoints();
        // Plus and minus `size` in turn, which gives the mean a standard error of 1.
        let size = (experiment.runs() as f64 - 1.0).sqrt();
        let noise = |run: u64| if run.is_multiple_of(2) { size } else { -size };
        let regrets = |number: usize| -> Vec<Vec<f64>> {
            let value = |run| if number == 0 { 9.0 + difference + noise(run) } else { 9.0 };
            (0..experiment.runs()).map(|run| vec![value(run); t.len()]).collect()
        };
        let policies: Vec<(&str, Vec<Vec<f64>>)> = experiment
            .policies()
            .iter()
            .enumerate()
            .map(|(number, entry)| (entry.label.as_str(), regrets(number)))
            .collect();
        let mut measured = Measurement::synthetic(t, &policies).with_bound("lower bound", 1.0);
        let result = &mut measured.result;
        (result.name, result.seed) = (experiment.name().to_owned(), experiment.seed());
        let figures = figure::draw(job.figures, FigureData::Result(result), job.styles);
        let names = figure::file_names(job.figures);
        let claim = Claim { extra: names, ..Claim::by(program()) };
        let claimed = ResultDir::claim(&Runner::new(experiment), directory, claim)?;
        let files = figures.iter().map(|picture| (picture.file.clone(), picture.svg.clone().into_bytes()));
        let manifest = claimed.write(&measured, files.collect())?.0;
        // A result has its runs beside it.
        fs::create_dir_all(directory.join(JOURNAL))?;
        Ok(PanelRun { measured, figures, manifest })
    }
}

/// A directory with an experiment and this known verdict, and the arguments to run it into `out`
/// inside it.
fn prepared(known: &str) -> (tempfile::TempDir, Arguments) {
    let top = tempdir().unwrap();
    fs::write(top.path().join("experiment.toml"), EXPERIMENT).unwrap();
    fs::write(top.path().join("claims.toml"), claims(known)).unwrap();
    let arguments = Arguments {
        experiment: top.path().to_owned(),
        out: top.path().join("out"),
        quiet: true,
        ..Arguments::default()
    };
    (top, arguments)
}

#[test]
fn a_report_has_its_files_and_refers_to_no_other_address() {
    let (_top, arguments) = prepared("reproduced");
    assert!(reproduce(&arguments, None, simulate(-9.0)).unwrap().ok);
    let read = |file: &str| fs::read_to_string(arguments.out.join(file)).unwrap();
    let claims: serde_json::Value = serde_json::from_str(&read("claims.json")).unwrap();
    assert_eq!((&claims["experiment"], &claims["ok"]), (&"small".into(), &true.into()));
    assert_eq!(claims["claims"][0]["verdict"], "reproduced");
    assert_eq!(claims["claims"][0]["comparisons"][0]["difference"], -9.0);
    let page = read("index.html");
    for text in [
        "A &lt;small&gt; experiment",
        "First &amp; only paragraph.",
        "Thompson sampling is better.",
        "✓ reproduced",
        "Thompson&#39;s − &lt;/script&gt;&lt;b&gt;",
        "seen with <code>--seed 7</code>: −3",
    ] {
        assert!(page.contains(text), "{text}");
    }
    assert!(!page.contains("</script><b>"));
    assert_eq!(page.matches("<script").count(), 1, "the program's own");
    // Two figures by default.
    assert_eq!(page.matches("<svg ").count(), 2);
    assert!(page.contains("href=\"first/result.json\"") && page.contains("href=\"first/curves.csv\""));
    // Nothing is fetched: the only address is the SVG name space.
    assert_eq!(page.matches("http").count(), page.matches("http://www.w3.org/2000/svg").count());
    assert!(fs::read_dir(&arguments.out).unwrap().all(|entry| {
        let name = entry.unwrap().file_name();
        !name.to_string_lossy().ends_with("-part")
    }));
}

#[test]
fn the_page_says_how_the_verdicts_compare_with_the_known_ones() {
    let (_top, mut arguments) = prepared("reproduced");
    let page = |arguments: &Arguments, difference| {
        let _ = fs::remove_dir_all(&arguments.out);
        reproduce(arguments, None, simulate(difference)).unwrap();
        fs::read_to_string(arguments.out.join("index.html")).unwrap()
    };
    assert!(page(&arguments, -9.0).contains("every verdict is as known"));
    assert!(page(&arguments, 9.0).contains("1 NOT as known."));
    arguments.quick = true;
    assert!(page(&arguments, 0.5).contains("nothing contradicts what is known, 1 undecided"));
}

#[test]
fn a_check_passes_if_the_verdict_does_not_contradict_the_known_one() {
    let cases = [
        (-9.0, "reproduced", true),
        (9.0, "reproduced", false),
        (9.0, "contradicted", true),
        (-9.0, "contradicted", false),
        (0.5, "reproduced", false),
        (0.5, "undecided", true),
        (9.0, "undecided", true),
    ];
    for (difference, known, expected) in cases {
        let (_top, arguments) = prepared(known);
        assert_eq!(
            reproduce(&arguments, None, simulate(difference)).unwrap().ok,
            expected,
            "{difference} {known}"
        );
    }
    // A quick check of all claims fails on the opposite verdict.
    let quick = |difference, known| {
        let (_top, mut arguments) = prepared(known);
        arguments.quick = true;
        reproduce(&arguments, None, simulate(difference)).unwrap().ok
    };
    assert!(quick(-9.0, "reproduced") && !quick(9.0, "reproduced"));
}

/// A quick check has to decide at least nine of ten claims.
#[test]
fn a_quick_check_fails_if_more_than_a_tenth_of_the_claims_stay_open() {
    let ok = |n_claims: usize, open: usize, change: fn(&mut Arguments)| {
        let (top, mut arguments) = prepared("reproduced");
        arguments.quick = true;
        change(&mut arguments);
        let claim = |number: usize| {
            // Ten runs decide nothing at this level.
            let level = if number < open { "level = 1e-12\n[claims.test]" } else { "[claims.test]" };
            claims("reproduced")
                .replace("ts-leads", &format!("claim-{number}"))
                .replace("[claims.test]", level)
        };
        fs::write(top.path().join("claims.toml"), (0..n_claims).map(claim).collect::<String>()).unwrap();
        let ok = reproduce(&arguments, None, simulate(-9.0)).unwrap().ok;
        let page = fs::read_to_string(arguments.out.join("index.html")).unwrap();
        let are = if open == 1 { "is" } else { "are" };
        let too_many = format!("{open} of {n_claims} claims {are} open: MORE THAN A TENTH");
        assert_eq!(page.contains(&too_many), !ok, "{open} of {n_claims}");
        ok
    };
    assert!(ok(10, 0, |_| {}) && ok(10, 1, |_| {}));
    assert!(!ok(10, 2, |_| {}) && !ok(9, 1, |_| {}));
    // With one panel, or with another number of runs, a check fails only if a verdict contradicts
    // the known one.
    assert!(ok(9, 1, |arguments| arguments.panel = Some("first".to_owned())));
    assert!(ok(9, 1, |arguments| arguments.runs = Some(10)));
}

#[test]
fn the_command_line_replaces_runs_and_seed() {
    let scale = |change: fn(&mut Arguments)| {
        let (_top, mut arguments) = prepared("reproduced");
        change(&mut arguments);
        let mut runs_and_seed = (0, 0);
        let mut inner = simulate(-9.0);
        reproduce(&arguments, None, |job| {
            runs_and_seed = (job.experiment.runs(), job.experiment.seed());
            inner(job)
        })
        .unwrap();
        runs_and_seed
    };
    assert_eq!(scale(|_| {}), (100, 1));
    assert_eq!(scale(|arguments| arguments.quick = true), (10, 1));
    assert_eq!(scale(|arguments| (arguments.runs, arguments.seed) = (Some(500), Some(7))), (500, 7));
}

#[test]
fn the_page_of_a_single_run_has_no_standard_errors() {
    let (_top, mut arguments) = prepared("reproduced");
    arguments.runs = Some(1);
    assert!(!reproduce(&arguments, None, simulate(-9.0)).unwrap().ok);
    let page = fs::read_to_string(arguments.out.join("index.html")).unwrap();
    assert!(page.contains("1 run decides nothing: at least 10 are needed.") && page.contains("−9.000"));
    assert!(!page.contains('±') && !page.contains("shaded"));
}

#[test]
fn a_directory_is_used_again_by_the_same_experiment_only() {
    let (top, mut arguments) = prepared("reproduced");
    reproduce(&arguments, None, simulate(-9.0)).unwrap();
    assert!(reproduce(&arguments, None, simulate(-9.0)).unwrap().ok);
    let refused = |arguments: &Arguments| {
        let never = |_: &Job<'_>| -> Result<PanelRun> { panic!("simulated") };
        reproduce(arguments, None, never).unwrap_err().to_string()
    };
    arguments.quick = true;
    assert!(refused(&arguments).contains("holds the report of a full run of small"));
    arguments.quick = false;
    arguments.seed = Some(2);
    assert!(refused(&arguments).contains("with seed 2"));
    arguments.seed = None;
    // The report belongs to this experiment, but the panel has other settings.
    fs::write(top.path().join("experiment.toml"), EXPERIMENT.replace("seed = 1", "seed = 2")).unwrap();
    assert!(refused(&arguments).contains("belongs to another experiment"));
    fs::write(top.path().join("experiment.toml"), EXPERIMENT).unwrap();
    fs::rename(arguments.out.join("claims.json"), arguments.out.join("mine.json")).unwrap();
    assert!(refused(&arguments).contains("index.html: is in the way"));
    fs::rename(arguments.out.join("mine.json"), arguments.out.join("claims.json")).unwrap();
    fs::write(top.path().join("experiment.toml"), EXPERIMENT.replace("\"small\"", "\"other\"")).unwrap();
    assert!(refused(&arguments).contains("holds the report of a full run of small"));
}

#[test]
fn nothing_is_simulated_for_an_invalid_experiment() {
    let (top, arguments) = prepared("reproduced");
    fs::write(top.path().join("claims.toml"), claims("maybe")).unwrap();
    let never = |_: &Job<'_>| -> Result<PanelRun> { panic!("simulated") };
    let error = reproduce(&arguments, None, never).unwrap_err().to_string();
    assert!(
        error.contains("claims.toml:12:11: claims[0].known.verdict: unknown verdict \"maybe\""),
        "{error}"
    );
    assert!(!arguments.out.exists());
}

/// The experiment with a second panel, which has variants, and a claim that compares them.
fn with_variants() -> (tempfile::TempDir, Arguments) {
    let (top, arguments) = prepared("reproduced");
    let panel = r#"
[[panels]]
name = "sweep"
title = "Second"
paper = "P"
place = "figure 2"
statement = "It matters."
model = "pbm"
runs = 100
policies = [{ policy = "pbm-ts" }, { policy = "pbm-ucb" }]
figures = [{ kind = "regret" }, { kind = "final" }, { kind = "heat-map", relative-to = "pbm-ucb" }, { kind = "parameters", parameter = "kappa" }]
quick = { runs = 10 }
[[panels.variants]]
name = "a"
title = "flat < steep"
[[panels.variants]]
name = "b"
instances = [{ theta = [0.5, 0.2], kappa = [1.0, 0.25] }]
policies = [{ policy = "pbm-ts" }]
"#;
    let claim = r#"
[[claims]]
name = "across"
panel = "sweep"
says = "A is as B."
place = "section 2"
[claims.test]
kind = "order"
lower = ["a/pbm-ts"]
upper = ["b/pbm-ts"]
[claims.known]
verdict = "undecided"
evidence = "both are the same"
"#;
    fs::write(top.path().join("experiment.toml"), EXPERIMENT.to_owned() + panel).unwrap();
    fs::write(top.path().join("claims.toml"), claims("reproduced") + claim).unwrap();
    (top, arguments)
}

#[test]
fn variants_have_their_own_folders_and_shared_figures() {
    let (_top, arguments) = with_variants();
    let mut jobs = Vec::new();
    let mut inner = simulate(-9.0);
    let ok = reproduce(&arguments, None, |job| {
        jobs.push((job.experiment.name().to_owned(), job.figures.len()));
        inner(job)
    });
    assert!(ok.unwrap().ok);
    let expected = [("first", 2), ("sweep.a", 0), ("sweep.b", 0)];
    assert_eq!(jobs, expected.map(|(name, figures)| (name.to_owned(), figures)));
    for file in
        ["a/result.json", "b/result.json", "regret.svg", "final.svg", "heat-map.svg", "parameters.svg"]
    {
        assert!(arguments.out.join("sweep").join(file).is_file(), "{file}");
    }
    let claims: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(arguments.out.join("claims.json")).unwrap()).unwrap();
    assert_eq!(claims["claims"][1]["comparisons"][0]["what"], "a/pbm-ts − b/pbm-ts");
    let page = fs::read_to_string(arguments.out.join("index.html")).unwrap();
    for text in [
        "2 variants, each 100 runs of 1,000 rounds, seed 1",
        "Thompson&#39;s, flat &lt; steep",
        "<td>flat &lt; steep</td>",
        "href=\"sweep/b/result.json\"",
    ] {
        assert!(page.contains(text), "{text}");
    }
    assert_eq!(page.matches("<svg ").count(), 6);
    assert!(page.matches("<script").count() == 1 && !page.contains("flat < steep"));
    // The same experiment may be run again. Without `claims.json` its figures count as foreign, and
    // are not replaced.
    assert!(reproduce(&arguments, None, simulate(-9.0)).unwrap().ok);
    fs::remove_file(arguments.out.join("claims.json")).unwrap();
    fs::remove_file(arguments.out.join("index.html")).unwrap();
    let never = |_: &Job<'_>| -> Result<PanelRun> { panic!("simulated") };
    let error = reproduce(&arguments, None, never).unwrap_err().to_string();
    assert!(error.contains("regret.svg: is in the way"), "{error}");
}

/// The experiment with a panel that runs on data, and a claim about it.
fn with_measured_panel() -> (tempfile::TempDir, Arguments) {
    let (top, arguments) = prepared("reproduced");
    let panel = r#"
[[panels]]
name = "measured"
title = "Third"
paper = "P"
place = "figure 3"
statement = "On average, too."
model = "rank-one"
instances = "data"
runs = { per-instance = 5 }
policies = [{ policy = "uts" }, { policy = "ucb1" }]
quick = { runs = 2 }
"#;
    let claim = r#"
[[claims]]
name = "on-average"
panel = "measured"
says = "UTS is better on average."
place = "section 3"
[claims.test]
kind = "order"
lower = ["uts"]
upper = ["ucb1"]
[claims.known]
verdict = "not-testable"
evidence = "nobody has the data"
"#;
    fs::write(top.path().join("experiment.toml"), EXPERIMENT.to_owned() + panel).unwrap();
    fs::write(top.path().join("claims.toml"), claims("reproduced") + claim).unwrap();
    fs::write(
        top.path().join("data.json"),
        r#"{"a": {"theta": [0.5, 0.1], "kappa": [1, 0.5]}, "b": {"theta": [0.3], "kappa": [0.7]}}"#,
    )
    .unwrap();
    (top, arguments)
}

/// The names and numbers of runs of all simulated experiments, the verdicts on the claims, and
/// whether the check passed.
fn ran(arguments: &Arguments) -> (Vec<(String, u64)>, Vec<serde_json::Value>, bool) {
    let (mut jobs, mut inner) = (Vec::new(), simulate(-9.0));
    let ok = reproduce(arguments, None, |job| {
        jobs.push((job.experiment.name().to_owned(), job.experiment.runs()));
        inner(job)
    });
    let claims = fs::read_to_string(arguments.out.join("claims.json")).unwrap();
    let claims: serde_json::Value = serde_json::from_str(&claims).unwrap();
    let verdicts =
        claims["claims"].as_array().unwrap().iter().map(|claim| claim["verdict"].clone()).collect();
    (jobs, verdicts, ok.unwrap().ok)
}

#[test]
fn without_data_panels_that_need_them_are_not_run() {
    let (_top, mut arguments) = with_measured_panel();
    let (jobs, verdicts, ok) = ran(&arguments);
    assert_eq!((jobs, ok), (vec![("first".to_owned(), 100)], true));
    assert_eq!(verdicts, ["reproduced", "not-testable"]);
    let page = fs::read_to_string(arguments.out.join("index.html")).unwrap();
    for text in [
        "– cannot be tested here",
        "the data are not public",
        "Not run:",
        "click-bandits reproduce small --data FILE",
    ] {
        assert!(page.contains(text), "{text}");
    }
    assert!(!page.contains("Measured:"));
    arguments.panel = Some("measured".to_owned());
    let error = format!("{:#}", reproduce(&arguments, None, simulate(-9.0)).unwrap_err());
    assert!(
        error.contains("--panel measured: the panel is run on measured queries, and none are given"),
        "{error}"
    );
}

#[test]
fn with_data_only_panels_that_take_them_are_run() {
    let (top, mut arguments) = with_measured_panel();
    arguments.data = Some(top.path().join("data.json"));
    let (jobs, verdicts, ok) = ran(&arguments);
    assert_eq!((jobs, ok), (vec![("measured".to_owned(), 10)], true));
    assert_eq!(verdicts, ["reproduced"]);
    let page = fs::read_to_string(arguments.out.join("index.html")).unwrap();
    for text in [
        "Measured: 2 queries of ",
        "data.json (SHA-256 ",
        "10 runs of 1,000 rounds, seed 1, 5 on each of 2 queries · measured",
        " · measured",
        "Nothing is known of these data beforehand",
    ] {
        assert!(page.contains(text), "{text}");
    }
    assert!(!page.contains("Not run:"));
    // The report belongs to these data. Other data, or none, are refused.
    let refused = |arguments: &Arguments| {
        let never = |_: &Job<'_>| -> Result<PanelRun> { panic!("simulated") };
        format!("{:#}", reproduce(arguments, None, never).unwrap_err())
    };
    fs::write(top.path().join("other.json"), r#"[{"name": "a", "theta": [0.5], "kappa": [1]}]"#).unwrap();
    arguments.data = Some(top.path().join("other.json"));
    assert!(refused(&arguments).contains("holds the report of a full run of small with data (SHA-256 "));
    arguments.data = None;
    assert!(refused(&arguments).contains("...), not of a full run of small: "));
    // Nothing is run on invalid data, or on data that no panel takes.
    fs::write(top.path().join("other.json"), r#"[{"name": "a", "theta": [1.5], "kappa": [1]}]"#).unwrap();
    arguments.data = Some(top.path().join("other.json"));
    assert!(refused(&arguments).contains("1.5 is not a probability"));
    arguments.data = Some(top.path().join("nowhere.json"));
    assert!(refused(&arguments).starts_with("--data: "));
    arguments.data = Some(top.path().join("data.json"));
    arguments.panel = Some("first".to_owned());
    assert!(refused(&arguments).contains("small has no such panel: known: measured"));
    arguments.panel = None;
    fs::write(top.path().join("experiment.toml"), EXPERIMENT).unwrap();
    fs::write(top.path().join("claims.toml"), claims("reproduced")).unwrap();
    assert!(refused(&arguments).contains("no panel of small takes data"));
}
