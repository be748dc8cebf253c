//! Tasks, and the keys that belong to them.

use super::*;

/// A spec with a policy that stops.
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
fn identify_has_max_steps_and_budget_has_a_horizon() {
    let experiment = read(IDENTIFY).unwrap();
    assert_eq!((experiment.max_steps(), experiment.fixed_horizon()), (Some(500), None));
    assert!(experiment.checkpoints.is_empty());
    assert!(experiment.canonical().json.starts_with(
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
fn keys_and_policies_of_another_task_are_refused() {
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
            "spec.toml:14:11: policies[0].epsilon: -0.1 found: expected a number at least 0",
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
        "horizon 9: task \"identify\" ends when the policy stops: expected `max_steps` in its place"
    );
    let error = experiment.apply(Overrides { max_steps: Some(0), ..Overrides::default() }).unwrap_err();
    assert!(error.to_string().starts_with("max_steps 0: expected an integer from 1 to"), "{error}");
}
