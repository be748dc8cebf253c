mod answers;
mod quick;

use super::*;
use crate::axis::Scale;
use crate::claims::order::{ComparedAt, Order};
use crate::claims::same_slope::SameSlope;
use crate::claims::{Claim, Test, Verdict};
use crate::figure::Band;
use crate::figure::Plot;
use crate::figure::heat_map::HeatMap;
use crate::figure::parameters::Parameters;
use crate::figure::regret::Regret;
use std::any::Any;

/// An experiment and claims without fault.
const EXPERIMENT: &str = r#"
name = "small"
title = "A small experiment"
task = "regret"
horizon = 1000
seed = 1
checkpoints = [10, 1000]

[[papers]]
key = "P"
citation = "Somebody: Something"
link = "https://example.org/paper"

[printed]
title = "Table 1"
rows = [{ instance = "one", n_items = 2, min_theta = 0.2 }]

[[instances]]
name = "one"
theta = [0.5, 0.2]
kappa = [1.0, 0.5]

[[panels]]
name = "first"
title = "First"
paper = "P"
place = "figure 1"
statement = "It works."
model = "pbm"
runs = 100
policies = [{ policy = "pbm-ts" }, { policy = "pbm-ucb" }]
figures = [{ kind = "regret", band = "deciles", scale = "linear" }]
choices = ["the horizon"]
quick = { runs = 10, horizon = 100 }
"#;
const CLAIMS: &str = r#"
level = 0.01

[[claims]]
name = "ts-leads"
panel = "first"
says = "PBM-TS is better."
place = "section 1"
[claims.test]
kind = "order"
lower = ["pbm-ts"]
upper = ["pbm-ucb"]
t = 10
[claims.known]
verdict = "reproduced"
evidence = "seen"
[claims.quick]
instead = "100 rounds"
known = { verdict = "undecided", evidence = "100 rounds with seed 7" }

[[claims]]
name = "sizes"
says = "It has two items."
place = "table 1"
[claims.test]
kind = "table"
columns = ["n_items"]
decimals = 3
[claims.known]
verdict = "reproduced"
evidence = "exact"
"#;

fn read(experiment: &str, claims: &str) -> Result<Reproduction, Error> {
    let experiment = Source::from_text("experiment.toml", experiment)?;
    let claims = Source::from_text("claims.toml", claims)?;
    Reproduction::from_sources(&experiment, &claims, None, None, Overrides::default(), Extent::Full)
}

/// The same for a quick check.
fn read_quick(experiment: &str, claims: &str) -> Result<Reproduction, Error> {
    let experiment = Source::from_text("experiment.toml", experiment)?;
    let claims = Source::from_text("claims.toml", claims)?;
    Reproduction::from_sources(&experiment, &claims, None, None, Overrides::default(), Extent::Quick)
}

/// The test of a claim, of this kind.
fn test_of<T: Test>(claim: &Claim) -> &T {
    let test: &dyn Any = &*claim.test;
    test.downcast_ref().unwrap()
}

/// What a figure of this kind shows.
fn plot_of<P: Plot>(figure: &Figure) -> &P {
    let plot: &dyn Any = &*figure.plot;
    plot.downcast_ref().unwrap()
}

#[test]
fn everything_is_read() {
    let reproduction = read(EXPERIMENT, CLAIMS).unwrap();
    assert_eq!((&*reproduction.name, reproduction.panels.len(), reproduction.claims.len()), ("small", 1, 2));
    let panel = &reproduction.panels[0];
    let [variant] = panel.variants.as_slice() else { panic!("{:?}", panel.variants) };
    assert_eq!((variant.experiment.horizon(), variant.experiment.runs()), (1000, 100));
    let quick = read_quick(EXPERIMENT, CLAIMS).unwrap();
    let changed = &quick.panels[0].variants[0].experiment;
    assert_eq!((changed.runs(), changed.horizon(), changed.seed()), (10, 100, 1));
    let rounds = &plot_of::<Regret>(&panel.figures[0]).rounds;
    assert_eq!((rounds.band, rounds.scale), (Band::Deciles, Scale::Linear));
    let claim = &reproduction.claims[0];
    assert_eq!((claim.level, claim.known), (0.01, Verdict::Reproduced));
    assert_eq!(test_of::<Order>(claim).at, ComparedAt::Round(Some(10)));
    let printed = reproduction.printed.unwrap();
    assert_eq!(printed.rows[0].theta, [0.5, 0.2]);
}

#[test]
fn faults_of_the_experiment_have_their_place() {
    // (what is replaced, by what, the message or its beginning)
    let mut others = Vec::new();
    let in_experiment = [
        ("title = \"A small experiment\"", "", "experiment.toml:1:1: title: missing key"),
        ("paper = \"P\"", "paper = \"Q\"", "experiment.toml:26:9: panels[0].paper: unknown paper \"Q\""),
        (
            "https://",
            "ftp://",
            "experiment.toml:12:8: papers[0].link: \"ftp://example.org/paper\" is no web address",
        ),
        (
            "kind = \"regret\"",
            "kind = \"regert\"",
            "experiment.toml:32:21: panels[0].figures[0].kind: unknown kind \"regert\": did you mean `regret`?",
        ),
        (
            "\"deciles\"",
            "\"wide\"",
            "experiment.toml:32:38: panels[0].figures[0].band: unknown band \"wide\"",
        ),
        (
            "[printed]",
            "[names]\npbm-us = \"PBM-UCB\"\n[printed]",
            "experiment.toml:15:1: names.pbm-us: unknown key",
        ),
        (
            "[printed]",
            "[names]\npbm-ts = \"X\"\npbm-ucb = \"X\"\n[printed]",
            "experiment.toml:16:11: names.pbm-ucb: \"X\" is the name of another policy already",
        ),
        (
            "[printed]",
            "[names]\npbm-ts = \" \"\n[printed]",
            "experiment.toml:15:10: names.pbm-ts: the text begins or ends with a space",
        ),
        (
            "scale = \"linear\"",
            "from = 101",
            "experiment.toml:32:56: panels[0].figures[0].from: there is nothing to show from round 101 on: expected at most \
             the horizon of the quick panel, 100",
        ),
        (
            "scale = \"linear\"",
            "from = 1001",
            "experiment.toml:32:56: panels[0].figures[0].from: there is nothing to show from round 1001 on: expected at most \
             the horizon of the panel, 1000",
        ),
        (
            "quick = { runs = 10,",
            "quick = { runs = 0,",
            "experiment.toml:34:18: panels[0].quick.runs: 0: expected an integer from 1 to",
        ),
        (
            "quick = { runs = 10,",
            "quick = { run = 10,",
            "experiment.toml:34:11: panels[0].quick.run: unknown key",
        ),
        (
            "instance = \"one\"",
            "instance = \"two\"",
            "experiment.toml:16:22: printed.rows[0].instance: unknown instance \"two\"",
        ),
        (
            "n_items = 2",
            "n_items = \"two\"",
            "experiment.toml:16:39: printed.rows[0].n_items: \"two\" found: expected a number",
        ),
        (
            "theta = [0.5,",
            "theta = [1.5,",
            "experiment.toml:20:10: instances[0].theta[0]: 1.5 is not a probability",
        ),
        (
            "name = \"first\"",
            "name = \"Index.html\"",
            "experiment.toml:24:8: panels[0].name: \"Index.html\" is the name of a file of the report",
        ),
        (
            "name = \"first\"",
            "name = \"claims.json\"",
            "experiment.toml:24:8: panels[0].name: \"claims.json\" is the name of a file of the report",
        ),
        ("runs = 100\n", "", "experiment.toml:23:1: panels[0].runs: missing key"),
        (
            "statement",
            "statment",
            "experiment.toml:28:1: panels[0].statment: unknown key: did you mean `statement`",
        ),
        ("seed = 1\n", "seed = 1\ncolour = 1\n", "experiment.toml:7:1: colour: unknown key"),
    ];
    for (from, to, expected) in in_experiment {
        assert!(EXPERIMENT.contains(from), "{from:?}");
        let found = read(&EXPERIMENT.replacen(from, to, 1), CLAIMS).unwrap_err().to_string();
        if !found.starts_with(expected) {
            others.push((expected, found));
        }
    }
    assert!(others.is_empty(), "expected and found: {others:#?}");
}

#[test]
fn faults_of_the_claims_have_their_place() {
    let mut others = Vec::new();
    let in_claims = [
        (
            "panel = \"first\"",
            "panel = \"second\"",
            "claims.toml:6:9: claims[0].panel: unknown panel \"second\"",
        ),
        ("panel = \"first\"\n", "", "claims.toml:4:1: claims[0].panel: missing key"),
        (
            "lower = [\"pbm-ts\"]",
            "lower = [\"pbm-t\"]",
            "claims.toml:11:10: claims[0].test.lower[0]: unknown policy \"pbm-t\": did you mean `pbm-ts`?",
        ),
        ("lower = [\"pbm-ts\"]", "lower = []", "claims.toml:11:9: claims[0].test.lower: no policies"),
        (
            "lower = [\"pbm-ts\"]",
            "lower = [\"pbm-ucb\"]",
            "claims.toml:9:1: claims[0].test: policy \"pbm-ucb\" is in `lower` and in `upper`",
        ),
        (
            "t = 10",
            "t = 11",
            "claims.toml:13:5: claims[0].test.t: round 11 is no checkpoint of the panel: the nearest one is 10",
        ),
        (
            "t = 10",
            "t = 1000",
            "claims.toml:13:5: claims[0].test.t: round 1000 is no checkpoint of the quick panel: the nearest one is 100",
        ),
        (
            "kind = \"order\"",
            "kind = \"odder\"",
            "claims.toml:10:8: claims[0].test.kind: unknown kind \"odder\": did you mean `order`?",
        ),
        ("level = 0.01", "level = 0.7", "claims.toml:2:9: level: 0.7 is no level"),
        (
            "verdict = \"reproduced\"",
            "verdict = \"true\"",
            "claims.toml:15:11: claims[0].known.verdict: unknown verdict \"true\"",
        ),
        (
            "evidence = \"seen\"",
            "evidence = \" \"",
            "claims.toml:16:12: claims[0].known.evidence: no evidence given",
        ),
        ("evidence = \"seen\"\n", "", "claims.toml:14:1: claims[0].known.evidence: missing key"),
        (
            "\"n_items\"",
            "\"max_theta\"",
            "claims.toml:27:12: claims[1].test.columns[0]: the printed row of \"one\" has no \"max_theta\"",
        ),
        (
            "name = \"sizes\"",
            "name = \"ts-leads\"",
            "claims.toml:22:8: claims[1].name: claim \"ts-leads\" is already given",
        ),
    ];
    for (from, to, expected) in in_claims {
        assert!(CLAIMS.contains(from), "{from:?}");
        let found = read(EXPERIMENT, &CLAIMS.replacen(from, to, 1)).unwrap_err().to_string();
        if !found.starts_with(expected) {
            others.push((expected, found));
        }
    }
    assert!(others.is_empty(), "expected and found: {others:#?}");
}

/// The experiment above with a second panel, which has variants, and claims of it.
fn with_variants() -> (String, String) {
    let panel = r#"
[[panels]]
name = "sweep"
title = "Second"
paper = "P"
place = "figure 2"
statement = "It matters."
model = "pbm"
runs = 50
checkpoints = { log = 3, also = [100] }
policies = [{ policy = "pbm-ts" }, { policy = "pbm-ucb" }]
figures = [{ kind = "final", scale = "log" }, { kind = "heat-map", relative-to = "pbm-ucb" }]
printed = [{ variant = "b", policy = "pbm-ts", regret = 3.5, se = 0.5 }]
quick = { runs = 10 }

[[panels.variants]]
name = "a"
title = "kappa 1, .5"
quick = { seed = 1 }

[[panels.variants]]
name = "b"
horizon = 2000
instances = [{ theta = [0.5, 0.2], kappa = [1.0, 0.1] }]
quick = { runs = 10, seed = 1 }
"#;
    let claims = r#"
[[claims]]
name = "same"
panel = "sweep"
says = "The same."
place = "section 2"
[claims.test]
kind = "same-slope"
series = ["a/pbm-ts", "b/pbm-ts"]
slope = [100, 1000]
margin = 0.2
[claims.known]
verdict = "undecided"
evidence = "open"

[[claims]]
name = "later"
panel = "sweep"
says = "Less."
place = "section 2"
[claims.test]
kind = "order"
lower = ["a/pbm-ts"]
upper = ["b/pbm-ts"]
slope = [100, 1000]
factor = 0.5
[claims.known]
verdict = "undecided"
evidence = "open"

[[claims]]
name = "bounded"
panel = "sweep"
says = "Below the bound."
place = "section 2"
[claims.test]
kind = "below-bound"
series = ["a/pbm-ts"]
t = 100
[claims.known]
verdict = "undecided"
evidence = "open"

[[claims]]
name = "times"
panel = "sweep"
says = "Twice."
place = "section 2"
[claims.test]
kind = "ratio"
series = ["a/pbm-ucb", "b/pbm-ts"]
by = ["a/pbm-ts", "b/pbm-ts"]
t = 1000
by-t = 100
least = 1.8
most = 2.2
[claims.known]
verdict = "undecided"
evidence = "open"

[[claims]]
name = "power"
panel = "sweep"
says = "Squared."
place = "section 2"
[claims.test]
kind = "growth"
series = ["a/pbm-ucb", "b/pbm-ts", "b/pbm-ucb"]
sizes = [1, 2, 4.5]
t = 1000
most = 2.5
[claims.known]
verdict = "undecided"
evidence = "open"
"#;
    let experiment = EXPERIMENT
        .replace("checkpoints = [10, 1000]\n", "")
        .replace("model = \"pbm\"\nruns = 100", "model = \"pbm\"\nruns = 100\ncheckpoints = [10, 1000]");
    // A variant has ten times the rounds: the last decade begins where the others end.
    let panel = panel.replace("also = [100]", "also = [100, 1000]");
    (experiment + &panel, CLAIMS.to_owned() + claims)
}

#[test]
fn a_variant_has_the_keys_of_its_panel_and_of_the_top_unless_it_has_its_own() {
    let (experiment, claims) = with_variants();
    let reproduction = read(&experiment, &claims).unwrap();
    let panel = &reproduction.panels[1];
    assert!(panel.has_variants() && !reproduction.panels[0].has_variants());
    let [a, b] = panel.variants.as_slice() else { panic!("{:?}", panel.variants) };
    assert_eq!((&*a.title, &*b.title, &*a.folder("sweep")), ("kappa 1, .5", "b", "sweep/a"));
    assert_eq!((a.experiment.name(), b.experiment.name()), ("sweep.a", "sweep.b"));
    assert_eq!((a.experiment.runs(), a.experiment.horizon(), b.experiment.horizon()), (50, 1000, 2000));
    let quick = read_quick(&experiment, &claims).unwrap();
    assert!(quick.panels[1].variants.iter().all(|variant| variant.experiment.runs() == 10));
    assert_eq!(a.experiment.checkpoints(), [1, 32, 100, 1000]);
    let kappa = |variant: &Variant| variant.experiment.instances().tables()[0].parameters[1].1.numbers()[1];
    assert_eq!((kappa(a), kappa(b)), (0.5, 0.1));
    assert_eq!(plot_of::<HeatMap>(&panel.figures[1]).relative_to.as_deref(), Some("pbm-ucb"));
    assert_eq!(panel.printed[0].series.to_string(), "b/pbm-ts");
    let styles = PolicyStyles::of(["pbm-ts"]);
    assert_eq!(panel.reader_name(&panel.printed[0].series, &styles), "pbm-ts, b");
    assert_eq!(test_of::<SameSlope>(&reproduction.claims[2]).slope, (100, 1000));
    let order = test_of::<Order>(&reproduction.claims[3]);
    assert_eq!((order.at, order.factor), (ComparedAt::Slope(100, 1000), 0.5));
}

#[test]
fn a_figure_of_parameters_has_the_numbers_of_every_instance() {
    let (experiment, claims) = with_variants();
    let figure = "kind = \"parameters\", parameter = \"kappa\"";
    let experiment = experiment.replace("kind = \"final\", scale = \"log\"", figure);
    let experiment = experiment.replace("kind = \"regret\", band = \"deciles\"", figure);
    let panels = read(&experiment, &claims).unwrap().panels;
    let of = |panel: usize| plot_of::<Parameters>(&panels[panel].figures[0]).clone();
    assert_eq!(of(0).numbers, [("one".to_owned(), vec![1.0, 0.5])]);
    let each = [("kappa 1, .5".to_owned(), vec![1.0, 0.5]), ("b".to_owned(), vec![1.0, 0.1])];
    assert_eq!((of(1).parameter, of(1).numbers), ("Examination kappa", each.to_vec()));
    // The same in all variants is shown once.
    let same = experiment.replace("instances = [{ theta = [0.5, 0.2], kappa = [1.0, 0.1] }]\n", "");
    let same = read(&same, &claims).unwrap();
    assert_eq!(plot_of::<Parameters>(&same.panels[1].figures[0]).numbers, of(0).numbers);
}

#[test]
fn a_figure_of_parameters_shows_what_was_calibrated_and_waits_for_data() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../xtask/experiments/yandex");
    let reproduction = Reproduction::read(&folder, None, None, Overrides::default(), Extent::Full).unwrap();
    let figures = |panels: &[Panel], name: &str| {
        let panel = panels.iter().find(|panel| panel.name == name).unwrap();
        let plots = panel.figures.iter().map(|figure| &*figure.plot as &dyn Any);
        plots.filter_map(|plot| plot.downcast_ref::<Parameters>()).cloned().collect::<Vec<_>>()
    };
    let largest = |list: &[f64]| list.iter().copied().fold(0.0, f64::max);
    let both: Vec<Vec<(String, usize, f64)>> = figures(&reproduction.panels, "both")
        .into_iter()
        .map(|figure| figure.numbers.into_iter().map(|(name, list)| (name, list.len(), largest(&list))))
        .map(Iterator::collect)
        .collect();
    let lines = |lengths: [usize; 2]| {
        vec![("query 1".to_owned(), lengths[0], 0.85), ("query 2".to_owned(), lengths[1], 0.66)]
    };
    assert_eq!(both, [lines([871, 807]), lines([10, 10])]);
    let awaiting = figures(&reproduction.awaiting, "figure-3");
    assert!(awaiting.len() == 2 && awaiting.iter().all(|figure| figure.numbers.is_empty()));
}

#[test]
fn faults_of_variants_have_their_place() {
    check_places(&[
        ("name = \"b\"", "name = \"A\"", "panels[1].variants[1].name: variant \"A\" is already given"),
        (
            "name = \"b\"",
            "name = \"a/b\"",
            "panels[1].variants[1].name: the name has characters that are not safe",
        ),
        ("name = \"b\"", "name = \"b.svg\"", "panels[1].variants[1].name: \"b.svg\" is a name for a figure"),
        ("name = \"b\"\n", "", "panels[1].variants[1].name: missing key"),
        (
            "{ kind = \"final\", scale = \"log\" }",
            "{ kind = \"regret\", variant = \"c\" }",
            "panels[1].figures[0].variant: unknown variant \"c\"",
        ),
        (
            "title = \"kappa 1, .5\"",
            "title = \" \"",
            "panels[1].variants[0].title: the text begins or ends with a space",
        ),
        (
            "title = \"kappa 1, .5\"",
            "title = \"0123456789 0123456789 0123456789 0123456789\"",
            "panels[1].variants[0].title: the title is longer than 40 characters",
        ),
        (
            "horizon = 2000",
            "horizons = 2000",
            "panels[1].variants[1].horizons: unknown key: did you mean `horizon`?",
        ),
        (
            "runs = 50\n",
            "",
            "panels[1].variants[0].runs: missing key: expected an integer of at least 1, here, in the panel",
        ),
        (
            "kappa = [1.0, 0.1]",
            "kappa = [1.0, 1.1]",
            "panels[1].variants[1].instances[0].kappa[1]: 1.1 is not a probability",
        ),
        ("quick = { seed = 1 }", "quick = { seeds = 1 }", "panels[1].variants[0].quick.seeds: unknown key"),
        ("kind = \"final\", scale", "kind = \"final\", band", "panels[1].figures[0].band: unknown band"),
        (
            ", relative-to = \"pbm-ucb\"",
            "",
            "panels[1].figures[1].relative-to: missing key: expected the label of a policy",
        ),
        (
            "relative-to = \"pbm-ucb\"",
            "relative-to = \"ucb\"",
            "panels[1].figures[1].relative-to: unknown policy \"ucb\"",
        ),
        (
            "kind = \"regret\", band = \"deciles\", scale = \"linear\"",
            "kind = \"final\"",
            "panels[0].figures[0].kind: \"final\" compares variants",
        ),
        (
            "kind = \"final\", scale = \"log\"",
            "kind = \"parameters\"",
            "panels[1].figures[0].parameter: missing key: expected one of \"theta\", \"kappa\"",
        ),
        (
            "kind = \"final\", scale = \"log\"",
            "kind = \"parameters\", parameter = \"kapa\"",
            "panels[1].figures[0].parameter: unknown parameter \"kapa\": did you mean `kappa`?",
        ),
        (
            "kind = \"final\", scale = \"log\"",
            "kind = \"parameters\", parameter = \"theta\", from = 2",
            "panels[1].figures[0].from: unknown key",
        ),
        ("variant = \"b\"", "variant = \"c\"", "panels[1].printed[0].variant: unknown variant \"c\""),
        ("se = 0.5", "se = -0.5", "panels[1].printed[0].se: -0.5 is no standard error"),
        (
            "[[panels.variants]]\nname = \"a\"",
            "[[panels.variant]]\nname = \"a\"",
            "panels[1].variant: unknown key: did you mean `variants`?",
        ),
    ]);
}

#[test]
fn faults_of_claims_about_variants_have_their_place() {
    check_places(&[
        ("\"a/pbm-ts\", ", "\"pbm-ts\", ", "claims[2].test.series[0]: unknown variant/policy \"pbm-ts\""),
        ("\"a/pbm-ts\", ", "", "claims[2].test.series: one series alone"),
        (
            "series = [\"a/pbm-ts\"]\nt = 100",
            "series = [\"a/pbm-ts\"]\nbound = \"Theorem 7\"\nt = 100",
            "claims[4].test.bound: no bound has the label \"Theorem 7\": expected \"lower bound (PBM paper, Theorem 6)\"",
        ),
        (
            "factor = 0.5",
            "factor = 1e7",
            "claims[3].test.factor: 10000000 is no factor: expected a number above 0, at most 1e6",
        ),
        ("\"a/pbm-ts\", ", "\"b/pbm-ts\", ", "claims[2].test.series[1]: \"b/pbm-ts\" is already given"),
        (
            "slope = [100, 1000]\nmargin",
            "slope = [100, 999]\nmargin",
            "claims[2].test.slope[1]: round 999 is no checkpoint of the variant \"a\": the nearest one is 1000",
        ),
        (
            "slope = [100, 1000]\nmargin",
            "slope = [1000, 100]\nmargin",
            "claims[2].test.slope: round 100 is not after round 1000",
        ),
        (
            "slope = [100, 1000]\nmargin",
            "slope = [100]\nmargin",
            "claims[2].test.slope: 1 round: expected two",
        ),
        ("margin = 0.2", "margin = 20", "claims[2].test.margin: 20 is no margin"),
        ("margin = 0.2\n", "", "claims[2].test.margin: missing key"),
        ("factor = 0.5", "factor = 0", "claims[3].test.factor: 0 is no factor"),
        ("factor = 0.5", "t = 100", "claims[3].test.t: `slope` says which rounds are compared"),
        (
            "slope = [100, 1000]\nfactor = 0.5\n",
            "",
            "claims[3].test.t: missing key: expected a checkpoint, since the variants have different",
        ),
        (
            "horizon = 2000",
            "seed = 5",
            "claims[2].test.series: the variant \"a\" has 50 runs with seed 1, the variant \"b\" 50 with seed 5",
        ),
        (
            "runs = 10, seed = 1",
            "runs = 9",
            "claims[2].test.series: the quick variant \"a\" has 10 runs with seed 1, the quick variant \"b\" 9 with seed 1",
        ),
        (
            "t = 100\n[claims.known]",
            "t = 101\n[claims.known]",
            "claims[4].test.t: round 101 is no checkpoint of the variant \"a\"",
        ),
        ("by = [\"a/pbm-ts\", ", "by = [", "claims[5].test.by: 2 series by 1: expected as many"),
        ("by-t = 100\n", "", "claims[5].test.by: \"b/pbm-ts\" by itself at the same round is 1"),
        ("by-t = 100\n", "by-t = 1000\n", "claims[5].test.by: \"b/pbm-ts\" by itself at the same round is 1"),
        (
            "by-t = 100\n",
            "by-t = 99\n",
            "claims[5].test.by-t: round 99 is no checkpoint of the variant \"a\"",
        ),
        ("t = 1000\nby-t = 100\n", "by-t = 100\n", "claims[5].test.t: missing key: expected a checkpoint"),
        (
            "least = 1.8\nmost = 2.2\n",
            "",
            "claims[5].test.least: missing key: expected a number, here or as `most`",
        ),
        ("most = 2.2", "most = 1.8", "claims[5].test.most: `most` is not above `least`"),
        ("least = 1.8", "least = 0", "claims[5].test.least: 0 is no limit: expected a number above 0"),
        ("least = 1.8", "leest = 1.8", "claims[5].test.leest: unknown key"),
        (
            "\"b/pbm-ts\", \"b/pbm-ucb\"]",
            "\"b/pbm-ts\"]",
            "claims[6].test.series: 2 series: expected at least three",
        ),
        ("[1, 2, 4.5]", "[1, 2]", "claims[6].test.sizes: 2 sizes: expected one for each of the 3 series"),
        (
            "[1, 2, 4.5]",
            "[1, 2, 2]",
            "claims[6].test.sizes: expected numbers above 0, each larger than the one before",
        ),
        ("[1, 2, 4.5]", "[0, 2, 4]", "claims[6].test.sizes: expected numbers above 0"),
    ]);
}

/// Checks faults: what is replaced in either file, by what, and how the message then begins after line and column.
fn check_places(faults: &[(&str, &str, &str)]) {
    let (experiment, claims) = with_variants();
    let mut others = Vec::new();
    for &(from, to, expected) in faults {
        assert!(experiment.contains(from) || claims.contains(from), "{from:?}");
        let found =
            read(&experiment.replacen(from, to, 1), &claims.replacen(from, to, 1)).unwrap_err().to_string();
        // After the file, line and column.
        let message = found.splitn(4, ':').nth(3).unwrap_or_default().trim_start();
        if !message.starts_with(expected) {
            others.push((expected, found));
        }
    }
    assert!(others.is_empty(), "expected and found: {others:#?}");
}

/// The experiment that the project ships.
mod kdd2012 {
    use super::*;
    use crate::claims::judge;

    fn reproduction() -> Reproduction {
        Reproduction::read(
            &Path::new(env!("CARGO_MANIFEST_DIR")).join("../../xtask/experiments/kdd2012"),
            None,
            None,
            Overrides::default(),
            Extent::Full,
        )
        .unwrap()
    }

    #[test]
    fn it_is_at_the_scale_of_the_papers() {
        let reproduction = reproduction();
        let scale: Vec<_> = reproduction
            .panels
            .iter()
            .map(|panel| {
                let experiment = &panel.variants[0].experiment;
                (&*panel.name, experiment.runs(), experiment.horizon())
            })
            .collect();
        assert_eq!(scale, [("pbm-figure-2", 2000, 100_000), ("rsf-figure-3", 250, 100_000)]);
        for panel in &reproduction.panels {
            let instances = panel.variants[0].experiment.instances().tables();
            assert_eq!(instances.len(), 8);
            let kappas = instances.into_iter().map(|instance| instance.parameters[1].1.numbers().to_vec());
            assert!(kappas.into_iter().all(|kappa| kappa.len() == 3 && kappa[0] == 1.0));
        }
    }

    #[test]
    fn one_of_its_panels_can_be_had_alone() {
        let mut alone = reproduction();
        alone.keep_only("rsf-figure-3").unwrap();
        assert_eq!((alone.panels.len(), alone.panels[0].name.as_str()), (1, "rsf-figure-3"));
        assert!(alone.claims.len() == 2);
        let error = alone.keep_only("pbm-figure-2").unwrap_err().to_string();
        assert_eq!(error, "kdd2012 has no such panel: it has rsf-figure-3");
    }

    #[test]
    fn its_parameters_are_those_of_table_1_but_for_one_entry() {
        let reproduction = reproduction();
        let rows = &reproduction.printed.as_ref().unwrap().rows;
        let names: Vec<_> = rows.iter().map(|row| &*row.name).collect();
        let instances: Vec<_> = reproduction.panels[0].variants[0]
            .experiment
            .instances()
            .tables()
            .into_iter()
            .map(|instance| instance.name)
            .collect();
        assert_eq!(names, instances);
        let mut differing = Vec::new();
        for claim in reproduction.claims.iter().filter(|claim| claim.test.is_of_rows()) {
            let finding = judge(claim, None, rows).unwrap();
            assert_eq!(finding.verdict, claim.known, "{}", claim.name);
            differing.extend(finding.comparisons.into_iter().map(|comparison| comparison.what));
        }
        assert_eq!(differing, ["min theta of query 9"]);
    }
}

/// Every experiment of the project can be read, and says what is known of every claim.
#[test]
fn the_projects_experiments_are_right() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../xtask/experiments");
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if !path.is_dir() {
            continue;
        }
        let source = |name: &str| Source::read(&path.join(name)).unwrap();
        let both = Reproduction::at_both(
            &source("experiment.toml"),
            &source("claims.toml"),
            None,
            None,
            Overrides::default(),
        );
        let [reproduction, quick] = both.unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(Some(reproduction.name.as_str()), path.file_name().and_then(|name| name.to_str()));
        for claim in reproduction.claims.iter().chain(&quick.claims) {
            assert!(claim.evidence.len() > 30, "{}: {}", reproduction.name, claim.name);
        }
        assert!(path.join("README.md").is_file());
        names.push(reproduction.name);
    }
    names.sort();
    assert_eq!(
        names,
        [
            "cascade-bai",
            "cascade-synthetic",
            "kdd2012",
            "pbm-synthetic",
            "rank1",
            "rank1-needle",
            "robustness",
            "rsf-synthetic",
            "rucb",
            "yandex"
        ]
    );
}
