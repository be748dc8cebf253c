//! Panels whose runs end with an answer.

use super::*;
use crate::figure::fit::Fit;
use experiment::result::{EndValue, Quantity};
use spec::Task;

const EXPERIMENT: &str = r#"
name = "best"
title = "Best items"
task = "identify"
max_steps = 1000
runs = 20
seed = 1

[[papers]]
key = "P"
citation = "Somebody: Something"

[[panels]]
name = "alone"
title = "One instance"
paper = "P"
place = "figure 1"
statement = "It stops."
model = "cascade"
instances = [{ attraction = [0.5, 0.2], positions = 1 }]
policies = [{ policy = "cascade-bai" }, { policy = "batrac" }]
quick = { max_steps = 100 }

[[panels]]
name = "budgets"
title = "Several budgets"
task = "budget"
paper = "P"
place = "figure 2"
statement = "It is right."
model = "cascade"
instances = [{ attraction = [0.5, 0.2], positions = 1 }]
policies = [{ policy = "cascade-bai" }]
printed = [{ variant = "few", policy = "cascade-bai", wrong = 0.1 }]

[[panels.variants]]
name = "few"
horizon = 10

[[panels.variants]]
name = "many"
horizon = 100

[[panels]]
name = "sizes"
title = "Several sizes"
paper = "P"
place = "figure 3"
statement = "It grows."
model = "cascade"
policies = [{ policy = "cascade-bai" }]
figures = [{ kind = "fit", policy = "cascade-bai", power = 2, x-label = "K" }]

[[panels.variants]]
name = "k1"
size = 1
instances = [{ attraction = [0.5, 0.5, 0.5, 0.2], positions = 1 }]

[[panels.variants]]
name = "k2"
size = 2
instances = [{ attraction = [0.5, 0.5, 0.5, 0.2], positions = 2 }]

[[panels.variants]]
name = "k3"
size = 3
instances = [{ attraction = [0.5, 0.5, 0.5, 0.2], positions = 3 }]
"#;
const CLAIMS: &str = r#"
[[claims]]
name = "faster"
panel = "alone"
says = "Faster."
place = "section 1"
test = { kind = "order", lower = ["batrac"], upper = ["cascade-bai"], quantity = "observations" }
known = { verdict = "undecided", evidence = "open" }
quick = { instead = "100 steps", known = { verdict = "undecided", evidence = "open" } }

[[claims]]
name = "right"
panel = "alone"
says = "Right."
place = "section 1"
test = { kind = "share", series = ["cascade-bai"], quantity = "wrong", most = 0, below = 0.1 }
known = { verdict = "undecided", evidence = "open" }
quick = { instead = "100 steps", known = { verdict = "undecided", evidence = "open" } }

[[claims]]
name = "more-is-better"
panel = "budgets"
says = "More rounds, fewer errors."
place = "section 1"
test = { kind = "order", lower = ["many/cascade-bai"], upper = ["few/cascade-bai"] }
known = { verdict = "undecided", evidence = "open" }

[[claims]]
name = "grows"
panel = "sizes"
says = "It grows with the square."
place = "section 1"
test = { kind = "fit", policy = "cascade-bai", power = 2, r-squared = 0.9 }
known = { verdict = "undecided", evidence = "open" }

[[claims]]
name = "as-printed"
panel = "budgets"
says = "As often as printed."
place = "section 1"
test = { kind = "within", by = "printed", series = ["few/cascade-bai"], least = 0.9, most = 1.1 }
known = { verdict = "undecided", evidence = "open" }
"#;

#[test]
fn figures_and_claims_are_about_the_main_value_of_the_task() {
    use Quantity::{Observations, StoppingTime, Wrong};

    let reproduction = read(EXPERIMENT, CLAIMS).unwrap();
    let [alone, budgets, sizes] = reproduction.panels.as_slice() else { panic!("three panels") };
    assert_eq!((alone.task(), budgets.task()), (Task::Identify, Task::Budget));
    assert_eq!(read_quick(EXPERIMENT, CLAIMS).unwrap().panels[0].variants[0].experiment.horizon(), 100);
    let kinds = |panel: &Panel| panel.figures.iter().map(|figure| figure.kind).collect::<Vec<_>>();
    assert_eq!((kinds(alone), kinds(budgets)), (vec!["final"], vec!["final"]));
    assert_eq!(budgets.printed[0].value, 0.1);
    assert_eq!((kinds(sizes), sizes.variants[2].size), (vec!["fit"], Some(3.0)));
    let fit = plot_of::<Fit>(&sizes.figures[0]);
    assert_eq!((fit.power, &*fit.policy), (2.0, "cascade-bai"));
    let values: Vec<EndValue> = reproduction.claims.iter().map(|claim| claim.value).collect();
    let expected = [Observations, Wrong, Wrong, StoppingTime, Wrong].map(EndValue::Answer);
    assert_eq!(values, expected);
}

const ALONE: &str = "quick = { max_steps = 100 }";

/// (text of the experiment or of the claims, its replacement, part of the message)
const FAULTS: &[(&str, &str, &str)] = &[
    (ALONE, "quick = { horizon = 100 }", "quick.horizon: 100: task \"identify\" ends when the policy stops"),
    (
        ALONE,
        "figures = [{ kind = \"regret\" }]",
        "panels[0].figures[0].kind: \"regret\" shows regret round by round",
    ),
    (
        ALONE,
        "figures = [{ kind = \"heat-map\" }]",
        "panels[0].figures[0].kind: \"heat-map\" compares variants, and the panel has none: expected \"final\"",
    ),
    (
        ALONE,
        "figures = [{ kind = \"final\", quantity = \"regret\" }]",
        "panels[0].figures[0].quantity: unknown quantity \"regret\": known: stopping-time, observations, wrong, capped",
    ),
    (
        ALONE,
        "figures = [{ kind = \"final\", relative-to = \"batrac\" }]",
        "panels[0].figures[0].relative-to: unknown key",
    ),
    (ALONE, "horizon = 9", "panels[0]"),
    ("wrong = 0.1", "regret = 0.1", "panels[1].printed[0].wrong: missing key"),
    (
        "name = \"many\"",
        "name = \"many\"\ntask = \"identify\"",
        "panels[1].variants[1].horizon: task \"identify\" ends when",
    ),
    (
        "horizon = 100\n",
        "task = \"regret\"\nhorizon = 100\npolicies = [{ policy = \"cascade-ts\" }]\n",
        "panels[1].variants: variant \"many\" has another task than the first",
    ),
    (
        ", quantity = \"observations\"",
        ", quantity = \"clicks\"",
        "claims[0].test.quantity: unknown quantity \"clicks\"",
    ),
    (", quantity = \"observations\"", ", t = 10", "claims[0].test.t: the panel's runs are judged as a whole"),
    (
        ", quantity = \"observations\"",
        ", slope = [1, 10]",
        "claims[0].test.slope: the panel's runs have no checkpoints",
    ),
    (
        "kind = \"order\", lower = [\"batrac\"], upper",
        "kind = \"within\", by = \"optimum\", most = 0.5, series",
        "claims[0].test.kind: \"within\" judges regret",
    ),
    (
        "quantity = \"wrong\", most",
        "most",
        "claims[1].test.kind: a share is that of runs with a wrong answer",
    ),
    (", most = 0, below = 0.1", "", "claims[1].test.most: missing key"),
    (
        "most = 0, below = 0.1",
        "most = 1",
        "claims[1].test.most: 1 found: expected a share of at least 0 and below",
    ),
    (
        "most = 0, below = 0.1",
        "least = 0",
        "claims[1].test.least: 0 found: expected a share above 0 and below 1",
    ),
    ("below = 0.1", "below = 0.1, least = 0.1", "claims[1].test.least: expected `most` or `least`, not both"),
    ("most = 0, below = 0.1", "most = 0", "claims[1].test.below: missing key: expected the share of runs"),
    ("below = 0.1", "below = 0", "claims[1].test.below: 0 found: expected a share above 0 and below 1"),
    ("most = 0, below", "most = 0.2, below", "claims[1].test.below: `below` belongs to `most = 0`"),
    ("size = 3", "size = 2", "panels[2].variants[2].size: 2 is already the size of another variant"),
    ("size = 3", "size = 0", "panels[2].variants[2].size: 0 found: expected a number above 0"),
    (
        "size = 3\n",
        "",
        "panels[2].figures[0].kind: \"fit\" needs at least three variants, each with a `size`",
    ),
    ("power = 2, x-label", "power = 0, x-label", "panels[2].figures[0].power: 0 is not a power"),
    (
        "series = [\"few/cascade-bai\"], least",
        "series = [\"many/cascade-bai\"], least",
        "claims[4].test.series: \"many/cascade-bai\" has no number in the panel's `printed`",
    ),
    (
        "least = 0.9, most = 1.1",
        "least = 0.9, quantity = \"observations\"",
        "claims[4].test.quantity: the panel's printed numbers are of another quantity",
    ),
    (", r-squared = 0.9", "", "claims[3].test.r-squared: missing key"),
    (
        "policy = \"cascade-bai\", power = 2, r",
        "policy = \"batrac\", power = 2, r",
        "claims[3].test.policy: unknown policy \"batrac\"",
    ),
    (
        "quick = { max_steps = 100 }",
        "figures = [{ kind = \"fit\", policy = \"batrac\" }]",
        "panels[0].figures[0].kind: \"fit\" compares variants, and the panel has none",
    ),
];

#[test]
fn keys_that_belong_to_regret_are_refused() {
    let error = |from: &str, to: &str| {
        let (experiment, claims) = (EXPERIMENT.replacen(from, to, 1), CLAIMS.replacen(from, to, 1));
        assert!(experiment != EXPERIMENT || claims != CLAIMS, "{from:?} is nowhere");
        read(&experiment, &claims).unwrap_err().to_string()
    };
    for (from, to, expected) in FAULTS {
        let message = error(from, to);
        assert!(message.contains(expected), "{message:?} instead of {expected:?}");
    }
}
