//! Reading an experiment and its claims.

mod answers;
mod quick;
mod shipped;
mod variants;

use super::*;
use crate::axis::Scale;
use crate::claims::order::{ComparedAt, Order};
use crate::claims::within::Within;
use crate::claims::{Claim, Test, Verdict};
use crate::figure::heat_map::HeatMap;
use crate::figure::parameters::Parameters;
use crate::figure::regret::Regret;
use crate::figure::{Band, Figure, Plot};
use std::any::Any;

/// A valid experiment and valid claims.
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
    let fitted = concat!(env!("CARGO_MANIFEST_DIR"), "/../spec/src/experiment/tests");
    let experiment = Source::from_text("experiment.toml", experiment)?.allowing(&[fitted.into()]);
    let claims = Source::from_text("claims.toml", claims)?;
    let read = Reproduction::from_sources(&experiment, &claims, Inputs::default(), Extent::Full);
    crate::schema::tests::agree(&experiment, &claims, read.as_ref().map(|_| ()));
    read
}

/// Reads both files for a quick check.
fn read_quick(experiment: &str, claims: &str) -> Result<Reproduction, Error> {
    let experiment = Source::from_text("experiment.toml", experiment)?;
    let claims = Source::from_text("claims.toml", claims)?;
    let read = Reproduction::from_sources(&experiment, &claims, Inputs::default(), Extent::Quick);
    crate::schema::tests::agree(&experiment, &claims, read.as_ref().map(|_| ()));
    read
}

/// The test of a claim, which has to be of this kind.
fn test_of<T: Test>(claim: &Claim) -> &T {
    let test: &dyn Any = &*claim.test;
    test.downcast_ref().unwrap()
}

/// The plot of a figure, which has to be of this kind.
fn plot_of<P: Plot>(figure: &Figure) -> &P {
    let plot: &dyn Any = &*figure.plot;
    plot.downcast_ref().unwrap()
}

#[test]
fn every_part_of_an_experiment_is_read() {
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
#[expect(clippy::too_many_lines, reason = "one fault after the other")]
fn errors_in_the_experiment_name_their_place() {
    // (replaced text, replacement, beginning of the message)
    let mut others = Vec::new();
    let in_experiment = [
        ("title = \"A small experiment\"", "", "experiment.toml:1:1: title: missing key"),
        ("paper = \"P\"", "paper = \"Q\"", "experiment.toml:26:9: panels[0].paper: unknown paper \"Q\""),
        (
            "https://",
            "ftp://",
            "experiment.toml:12:8: papers[0].link: \"ftp://example.org/paper\" is not a web address",
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
            "experiment.toml:16:11: names.pbm-ucb: \"X\" is already the name of another policy",
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
            "experiment.toml:34:18: panels[0].quick.runs: 0 is too small: expected an integer from 1 to",
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
fn errors_in_the_claims_name_their_place() {
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
        (
            "lower = [\"pbm-ts\"]",
            "lower = []",
            "claims.toml:11:9: claims[0].test.lower: 0 entries found: expected an array of labels",
        ),
        (
            "lower = [\"pbm-ts\"]",
            "lower = [\"pbm-ucb\"]",
            "claims.toml:9:1: claims[0].test: policy \"pbm-ucb\" is in `lower` and in `upper`",
        ),
        (
            "t = 10",
            "t = 11",
            "claims.toml:13:5: claims[0].test.t: round 11 is not a checkpoint of the panel: the nearest one is 10",
        ),
        (
            "t = 10",
            "t = 1000",
            "claims.toml:13:5: claims[0].test.t: round 1000 is not a checkpoint of the quick panel: the nearest one is 100",
        ),
        (
            "kind = \"order\"",
            "kind = \"odder\"",
            "claims.toml:10:8: claims[0].test.kind: unknown kind \"odder\": did you mean `order`?",
        ),
        ("level = 0.01", "level = 0.7", "claims.toml:2:9: level: 0.7 is not a level"),
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

/// Claims are tested on independent runs, which runs that share drawn users are not.
#[test]
fn claims_refuse_runs_that_share_users() {
    let fitted = concat!(env!("CARGO_MANIFEST_DIR"), "/../spec/src/experiment/tests/parameters.json");
    // The drawn users replace the instances, and with them the printed table and the claim about
    // it.
    let (start, _) = EXPERIMENT.split_once("[printed]").unwrap();
    let (_, panels) = EXPERIMENT.split_once("[[panels]]").unwrap();
    let (order, _) = CLAIMS.split_once("[[claims]]\nname = \"sizes\"").unwrap();
    let read_with = |more: &str| {
        let users = format!("users = {{ posterior = \"{fitted}\", model = \"pbm\"{more} }}");
        let panels = panels.replacen("model = \"pbm\"", &users, 1);
        read(&format!("{start}[[panels]]{panels}"), order)
    };
    read_with("").unwrap();
    let refused = read_with(", runs-per-draw = 5").unwrap_err().to_string();
    let expected = "several runs of panel \"first\" meet the same users, and claims are tested on independent runs: expected no \
                    runs-per-draw";
    assert!(refused.starts_with("claims.toml:") && refused.ends_with(expected), "{refused}");
}
