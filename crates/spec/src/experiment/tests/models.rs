//! Instances of all models, and policies on users of another model.

use super::*;
use click_models::RankOneModel;

const HEAD: &str = "name = \"x\"\ntask = \"regret\"\nhorizon = 10\nruns = 1\nseed = 1\n";

/// A spec with one instance and one policy, both given by their keys.
fn spec(instance: &str, policy: &str) -> String {
    format!("{HEAD}[[instances]]\n{instance}\n[[policies]]\n{policy}\n")
}

const CASCADE: &str = "model = \"cascade\"\nattraction = [0.5, 0.4, 0.2]\npositions = 2";
const DCM: &str = "model = \"dcm\"\nattraction = [0.5, 0.4, 0.2]\nleave = [0.8, 0.5]";
const PBM: &str = "model = \"pbm\"\ntheta = [0.5, 0.4, 0.2]\nkappa = [0.8, 0.5]";
const RANK_ONE: &str = "model = \"rank-one\"\nrows = [0.5, 0.4, 0.2]\ncolumns = [0.8, 0.5]";
const UNIFORM: &str = "policy = \"uniform\"";

fn with_values(instance: &str) -> String {
    format!("{instance}\nvalues = [2.5, 0.0, 40.0]")
}

fn message(text: &str) -> String {
    match read(text) {
        Ok(_) => panic!("accepted: {text}"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn a_written_spec_of_any_model_reads_back_as_the_same_experiment() {
    let weighted = format!("{CASCADE}\nweights = [2.0, 0.5]");
    let clicks = format!("{DCM}\nreward = \"clicks\"");
    let with_kappa = "policy = \"pbm-ts\"\nread-as = \"pbm\"\nkappa = [1.0, 0.3]";
    for (instance, policy) in [
        (CASCADE, "policy = \"cascade-kl-ucb\""),
        (&weighted, "policy = \"pie\"\nposition = 1\nread-as = \"semi-bandit\""),
        (DCM, with_kappa),
        (&clicks, UNIFORM),
        (PBM, "policy = \"pbm-ucb\"\nkappa = [0.9, 0.6]"),
        (PBM, "policy = \"dcm-ts\"\nread-as = \"dcm\""),
        (PBM, "policy = \"pbm-gibbs\"\norder = \"known\""),
        (CASCADE, "policy = \"pbm-gibbs\"\nread-as = \"pbm\""),
        (&with_values(CASCADE), UNIFORM),
        (&with_values(PBM), UNIFORM),
        (&with_values(&DCM.replace("0.8", "0.5")), UNIFORM),
        (RANK_ONE, "policy = \"rank1-elim-kl\""),
        (RANK_ONE, "policy = \"kl-ucb\"\nlevel = \"log-t-3-log-log-t\""),
    ] {
        let experiment = read(&spec(instance, policy)).unwrap();
        let again = read(&experiment.to_toml()).unwrap();
        assert_eq!(again.canonical(), experiment.canonical());
        for key in policy.lines().chain(instance.lines()).map(|line| line.split(' ').next().unwrap()) {
            assert!(experiment.to_toml().contains(key), "{key}");
        }
    }
    let identity = |instance: &str, policy: &str| read(&spec(instance, policy)).unwrap().identity();
    assert_ne!(identity(DCM, UNIFORM), identity(&clicks, UNIFORM));
    assert_ne!(identity(CASCADE, UNIFORM), identity(&weighted, UNIFORM));
    assert_ne!(identity(DCM, with_kappa), identity(DCM, &with_kappa.replace("0.3", "0.4")));
}

#[test]
fn errors_in_an_instance_name_their_place() {
    for (instance, expected) in [
        (
            CASCADE.replace("positions = 2", "positions = 4"),
            "9:13: instances[0].positions: 4 positions but only 3 items: a list shows every item at most once",
        ),
        (
            CASCADE.replace("positions = 2", "positions = 0"),
            "9:13: instances[0].positions: no positions: a list has at least one",
        ),
        (CASCADE.replace("\npositions = 2", ""), "6:1: instances[0].positions: missing key"),
        (CASCADE.replace("[0.5, 0.4, 0.2]", "[]"), "8:14: instances[0].attraction: no items"),
        (CASCADE.replace("0.4", "1.4"), "8:20: instances[0].attraction[1]: "),
        (
            format!("{CASCADE}\nweights = [1.0]"),
            "10:11: instances[0].weights: weights: 1 given, expected one for each of the 2 positions",
        ),
        (
            format!("{CASCADE}\nweights = [1.0, 2.0]"),
            "10:17: instances[0].weights[1]: weights rise from 1 to 2",
        ),
        (format!("{CASCADE}\nweights = [1.0, -2.0]"), "10:17: instances[0].weights[1]: weights[1] is -2"),
        (
            DCM.replace("leave = [0.8, 0.5]", "leave = [0.8, 0.5, 0.3, 0.1]"),
            "9:9: instances[0].leave: 4 positions but only 3 items",
        ),
        (DCM.replace("leave = [0.8, 0.5]", "leave = []"), "9:9: instances[0].leave: no positions"),
        (DCM.replace("0.8", "-0.8"), "9:10: instances[0].leave[0]: "),
        (format!("{DCM}\nreward = \"joy\""), "10:10: instances[0].reward: unknown reward \"joy\""),
        (
            RANK_ONE.replace("[0.8, 0.5]", "[]"),
            "9:11: instances[0].columns: a table of 3 rows and 0 columns has no cell",
        ),
        (
            RANK_ONE.replace("[0.5, 0.4, 0.2]", "[]"),
            "8:8: instances[0].rows: a table of 0 rows and 2 columns has no cell",
        ),
        (
            format!("{CASCADE}\nvalues = [1]"),
            "10:10: instances[0].values: values: 1 given, expected one for each of the 3 items",
        ),
        (
            format!("{PBM}\nvalues = [1, 2, -3]"),
            "10:17: instances[0].values[2]: values[2] is -3: expected a number from 0 to 1e9",
        ),
        (format!("{PBM}\nvalues = [1, inf, 1]"), "10:14: instances[0].values[1]: "),
        (format!("{PBM}\nvalues = [1e10, 1, 1]"), "10:11: instances[0].values[0]: values[0] is 10000000000"),
        (format!("{PBM}\nvalues = \"dear\""), "10:10: instances[0].values: "),
        (
            format!("{PBM}\nvalues = {{ log-normal = 3, seed = 1 }}"),
            "10:25: instances[0].values.log-normal: ",
        ),
        (
            format!("{}\nweights = [1, 1]", with_values(CASCADE)),
            "10:10: instances[0].values: clicks have weights by position or values by item",
        ),
        (
            with_values(DCM),
            "10:10: instances[0].values: values of items need one probability to leave after a click",
        ),
        (
            with_values(&format!("{}\nreward = \"satisfaction\"", DCM.replace("0.8", "0.5"))),
            "10:10: instances[0].reward: with `values` the reward is that of clicks",
        ),
        (RANK_ONE.replace("0.8", "-0.8"), "9:12: instances[0].columns[0]: "),
        (RANK_ONE.replace("columns", "cols"), "6:1: instances[0].columns: missing key"),
        (DCM.replace("attraction", "theata"), "6:1: instances[0].attraction: missing key"),
        (format!("{DCM}\nkappa = [0.5]"), "10:1: instances[0].kappa: unknown key"),
        ("model = \"cascades\"".to_owned(), "7:9: instances[0].model: unknown model \"cascades\""),
    ] {
        let found = message(&spec(&instance, UNIFORM));
        let found = found.strip_prefix("spec.toml:").unwrap();
        assert!(found.starts_with(expected), "{found:?} instead of {expected:?}");
    }
    let many = format!("model = \"cascade\"\nattraction = {:?}\npositions = 65", [0.5; 70]);
    assert!(
        message(&spec(&many, UNIFORM))
            .ends_with("instances[0].positions: 65 positions: at most 64 are supported")
    );
}

#[test]
fn a_policy_needs_read_as_on_users_of_another_model_and_nowhere_else() {
    for (instance, policy, expected) in [
        (
            PBM,
            "policy = \"cascade-ts\"",
            "plays \"semi-bandit\" or \"cascade\" or \"dcm\", but the instances are \"pbm\": to let it play them, name the model whose feedback it should assume (`read-as`)",
        ),
        (
            CASCADE,
            "policy = \"pbm-ts\"\nkappa = [1.0, 0.5]",
            "plays \"pbm\", but the instances are \"cascade\"",
        ),
        (
            CASCADE,
            "policy = \"pbm-ts\"\nread-as = \"pbm\"",
            "policies[0].kappa: missing key: expected the examination probabilities",
        ),
        (
            CASCADE,
            "policy = \"pbm-ts\"\nread-as = \"pbm\"\nkappa = [1.0]",
            "1 probability, but the lists of instances[0] have 2 positions",
        ),
        (
            CASCADE,
            "policy = \"pbm-ts\"\nread-as = \"dcm\"\nkappa = [1.0, 0.5]",
            "cannot read them as \"dcm\": expected \"pbm\"",
        ),
        (
            CASCADE,
            "policy = \"cascade-ts\"\nread-as = \"pbm\"",
            "cannot read them as \"pbm\": expected \"semi-bandit\" or \"cascade\" or \"dcm\"",
        ),
        (
            CASCADE,
            "policy = \"cascade-ts\"\nread-as = \"cascade\"",
            "the users are \"cascade\" already: leave it out",
        ),
        (CASCADE, "policy = \"cascade-ts\"\nkappa = [1.0, 0.5]", "does not use examination: leave it out"),
        (
            PBM,
            "policy = \"pbm-gibbs\"\nkappa = [0.8, 0.5]",
            "\"pbm-gibbs\" is a policy for examination that nobody knows: leave it out",
        ),
        (
            CASCADE,
            "policy = \"pbm-gibbs\"\nread-as = \"pbm\"\nkappa = [1.0, 0.5]",
            "\"pbm-gibbs\" is a policy for examination that nobody knows: leave it out",
        ),
        (
            CASCADE,
            "policy = \"uniform\"\nread-as = \"dcm\"",
            "reads the clicks of any model as they are: leave it out",
        ),
        (CASCADE, "policy = \"pie\"\nposition = 2", "position 2 is not in the list of instances[0]"),
        (PBM, "policy = \"pbm-ts\"\nkappa = [1.0, 1.5]", "policies[0].kappa[1]: "),
    ] {
        let found = message(&spec(instance, policy));
        assert!(found.contains(expected), "{found:?} instead of {expected:?}");
    }
}

#[test]
fn a_policy_that_counts_pairs_is_refused_for_too_many_items() {
    let many = |n: usize| format!("model = \"cascade\"\nattraction = {:?}\npositions = 2", vec![0.5; n]);
    assert!(read(&spec(&many(4096), "policy = \"top-rank\"")).is_ok());
    assert!(read(&spec(&many(4097), "policy = \"batch-rank\"")).is_ok());
    let found = message(&spec(&many(4097), "policy = \"top-rank\""));
    assert!(found.ends_with("and an instance has 4097 items: at most 4096 are supported"), "{found}");
}

#[test]
fn a_needle_is_the_same_instance_as_its_listed_rows_and_columns() {
    let needle = "model = \"rank-one\"\nneedle = { rows = 3, columns = 2, base = 0.25, gap = 0.5 }";
    let listed = "model = \"rank-one\"\nrows = [0.75, 0.25, 0.25]\ncolumns = [0.75, 0.25]";
    let uts = "policy = \"uts\"";
    let read_as = |instance: &str| read(&spec(instance, uts)).unwrap().canonical();
    assert_eq!(read_as(needle), read_as(listed));
    for (from, to, expected) in [
        (
            "gap = 0.5",
            "gap = 0.8",
            "8:54: instances[0].needle.gap: 0.25 + 0.8 is not a probability: expected at most 1 together",
        ),
        (
            "gap = 0.5",
            "gap = -0.1",
            "8:54: instances[0].needle.gap: -0.1 found: expected a number from 0 to 1",
        ),
        (", gap = 0.5", "", "8:10: instances[0].needle.gap: missing key"),
        ("rows = 3", "rows = 0", "8:19: instances[0].needle.rows: 0 is too small"),
        (
            "rows = 3, columns = 2",
            "rows = 4_294_967_295, columns = 1",
            "needle.rows: 4294967295 is too large: expected",
        ),
        ("rows = 3, columns = 2", "rows = 70_000, columns = 70_000", "8:10: instances[0].needle: "),
        ("gap = 0.5", "gap = 0.5, top = 1", "instances[0].needle.top: unknown key"),
        (" }", " }\nrows = [0.5]", "9:8: instances[0].rows: `needle` already gives the rows and columns"),
    ] {
        let found = message(&spec(&needle.replace(from, to), uts));
        assert!(found.contains(expected), "{found:?} instead of {expected:?}");
    }
}

#[test]
fn a_calibrated_instance_is_written_as_its_summary() {
    let calibrated = "model = \"rank-one\"\ncalibrated = { items = 100, positions = 10, mu = 0.13, p_max = 0.85, seed = 1 }";
    let uts = "policy = \"uts\"";
    let experiment = read(&spec(calibrated, uts)).unwrap();
    let canonical = experiment.canonical();
    assert!(
        canonical.json.contains(
            "[{\"calibrated\":{\"items\":100,\"positions\":10,\"mu\":0.13,\"p_max\":0.85,\"seed\":1}}]"
        ),
        "{canonical:?}"
    );
    assert_eq!(read(&experiment.to_toml()).unwrap().canonical(), canonical);
    let users = experiment.instances.typed::<RankOneModel>().unwrap();
    let hardness = users[0].model.hardness();
    assert!((hardness.mu - 0.13).abs() < 1e-12 && (hardness.gamma - 0.15).abs() < 1e-12);
    let other = read(&spec(&calibrated.replace("seed = 1", "seed = 2"), uts)).unwrap();
    assert_ne!(other.identity(), experiment.identity());
    for (from, to, expected) in [
        (
            "mu = 0.13",
            "mu = 0.5",
            "8:14: instances[0].calibrated: an average of 0.5 with a maximum of 0.85 and 100 rows",
        ),
        ("mu = 0.13", "mu = 1.3", "instances[0].calibrated.mu: 1.3 found: expected a number from 0 to 1"),
        ("items = 100", "items = 0", "instances[0].calibrated.items: 0 is too small"),
        (", seed = 1", "", "instances[0].calibrated.seed: missing key"),
        (" }", " }\nrows = [0.5]", "9:8: instances[0].rows: `calibrated` already gives the rows and columns"),
        ("calibrated", "needle = {}\ncalibrated", "instances[0].calibrated: `needle` already gives the rows"),
    ] {
        let found = message(&spec(&calibrated.replace(from, to), uts));
        assert!(found.contains(expected), "{found:?} instead of {expected:?}");
    }
}

#[test]
fn runs_per_instance_give_every_instance_the_same_number_of_runs() {
    let instance = "model = \"rank-one\"\nrows = [0.5, 0.4]\ncolumns = [0.5]";
    let each =
        |each: &str| spec(instance, "policy = \"uts\"").replace("runs = 1\n", &format!("runs = {each}\n"));
    let two = format!("{}\n[[instances]]\n{instance}\n", each("{ per-instance = 5 }"));
    let mut experiment = read(&two).unwrap();
    assert_eq!(experiment.runs, 10);
    assert_eq!(read(&experiment.to_toml()).unwrap().identity(), experiment.identity());
    assert_ne!(read(&two.replace("{ per-instance = 5 }", "10")).unwrap().identity(), experiment.identity());
    experiment.apply(Overrides { runs: Some(7), ..Overrides::default() }).unwrap();
    assert_eq!((experiment.runs, experiment.runs_per_instance()), (14, Some(7)));
    assert!(message(&each("{ per-instance = 0 }")).contains("runs.per-instance: 0 is too small"));
    assert!(message(&each("{}")).contains("runs.per-instance: missing key"));
    assert!(message(&each("{ per-instance = 5, all = 1 }")).contains("runs.all: unknown key"));
}

#[test]
fn a_spec_refuses_instances_from_data() {
    let text = spec("model = \"rank-one\"", "policy = \"uts\"");
    let text = text
        .replace("[[instances]]\nmodel = \"rank-one\"", "")
        .replace("task =", "instances = \"data\"\ntask =");
    let found = message(&text);
    assert!(found.contains("instances: only `reproduce` takes data"), "{found}");
}

#[test]
fn policies_for_lists_do_not_play_cells_nor_the_other_way_round() {
    for (instance, policy, expected) in [
        (RANK_ONE, "policy = \"top-rank\"", "plays any list, but the instances are \"rank-one\""),
        (PBM, "policy = \"uts\"", "plays \"rank-one\", but the instances are \"pbm\""),
        (
            PBM,
            "policy = \"uts\"\nread-as = \"rank-one\"",
            "feedback on a list and on a cell cannot be read as each other",
        ),
        (RANK_ONE, "policy = \"pbm-ts\"\nread-as = \"pbm\"\nkappa = [0.5]", "cannot be read as each other"),
        (RANK_ONE, "policy = \"uts\"\nkappa = [0.5]", "does not use examination"),
    ] {
        let message = message(&spec(instance, policy));
        assert!(message.contains(expected), "{message}");
    }
    let large = format!("model = \"rank-one\"\nrows = {0:?}\ncolumns = {0:?}", vec![0.5; 2049]);
    assert!(
        message(&spec(&large, "policy = \"ucb1\""))
            .contains("keeps numbers for every cell, and an instance has 4198401 cells")
    );
    assert!(read(&spec(&large, "policy = \"rank1-elim\"")).is_ok());
}

#[test]
fn two_values_are_the_same_instance_as_the_listed_attractions() {
    let text = |parameters: &str| {
        format!(
            "name = \"x\"\ntask = \"regret\"\nhorizon = 10\nruns = 1\nseed = 1\n[[instances]]\nmodel = \"cascade\"\n{parameters}\n\
             [[policies]]\npolicy = \"uniform\"\n"
        )
    };
    let short = read(&text("two-values = { items = 5, best = 0.5, others = 0.25 }\npositions = 2")).unwrap();
    let long = read(&text("attraction = [0.5, 0.5, 0.25, 0.25, 0.25]\npositions = 2")).unwrap();
    assert_eq!(short.identity(), long.identity());
    for (parameters, expected) in [
        (
            "two-values = { items = 5, best = 0.5, others = 0.25 }\nattraction = [0.5]\npositions = 2",
            "spec.toml:9:14: instances[0].attraction: `two-values` already gives it: expected one or the other",
        ),
        (
            "two-values = { items = 1, best = 0.5, others = 0.25 }\npositions = 2",
            "spec.toml:9:13: instances[0].positions: 2 positions but only 1 item",
        ),
        (
            "two-values = { items = 4_000_000_000, best = 0.5, others = 0.25 }\npositions = 2",
            "spec.toml:8:24: instances[0].two-values.items: 4000000000 is too large",
        ),
        (
            "two-values = { items = 5, best = 1.5, others = 0.25 }\npositions = 2",
            "spec.toml:8:34: instances[0].two-values.best: 1.5 found: expected a number from 0 to 1",
        ),
        (
            "two-values = { items = 5, best = 0.5 }\npositions = 2",
            "instances[0].two-values.others: missing key",
        ),
    ] {
        let message = read(&text(parameters)).unwrap_err().to_string();
        assert!(message.contains(expected), "{message:?} instead of {expected:?}");
    }
}

/// A text, its replacement, and the message.
type Faults = &'static [(&'static str, &'static str, &'static str)];

/// Users of the models that show clicks and nothing else: their tables, and a fault with its place
/// and message in each parameter.
const CLICKS_ONLY: [(&str, Faults); 3] = [
    (
        "model = \"dbn\"\nattraction = [0.5, 0.4, 0.1]\nsatisfaction = [0.2, 0.6, 1.0]\ncontinuation = 0.9\npositions = 2\nreward = \"satisfaction\"\n",
        &[
            (
                "0.6, 1.0]",
                "0.6]",
                "9:16: instances[0].satisfaction: satisfaction: 2 given, expected one for each of the 3 items",
            ),
            (
                "continuation = 0.9",
                "continuation = 2",
                "10:16: instances[0].continuation: 2 is not a probability: expected a number from 0 to 1",
            ),
            (
                "continuation = 0.9\n",
                "",
                "6:1: instances[0].continuation: missing key: expected a number from 0 to 1",
            ),
            (
                "positions = 2",
                "positions = 4",
                "11:13: instances[0].positions: 4 positions but only 3 items: a list shows every item at most once",
            ),
            (
                "\"satisfaction\"",
                "\"click\"",
                "12:10: instances[0].reward: unknown reward \"click\": did you mean `clicks`? known: clicks, satisfaction",
            ),
        ],
    ),
    (
        "model = \"ccm\"\nattraction = [0.5, 0.4, 0.1]\ncontinuation = [0.9, 0.7, 0.2]\npositions = 2\n",
        &[
            (
                "[0.9, 0.7, 0.2]",
                "[0.9, 0.7]",
                "9:16: instances[0].continuation: expected an array of 3 entries, each a number from 0 to 1",
            ),
            (
                "positions = 2",
                "positions = 0",
                "10:13: instances[0].positions: no positions: a list has at least one",
            ),
        ],
    ),
    (
        "model = \"ubm\"\nattraction = [0.5, 0.4, 0.1]\nexamination = [[1.0], [0.5, 0.9]]\n",
        &[
            (
                "[0.5, 0.9]]",
                "[0.5]]",
                "9:23: instances[0].examination[1]: examination[1] has 1 entries, expected 2: one without a click above, and one for a last click at each position above",
            ),
            (
                "[[1.0], [0.5, 0.9]]",
                "[1.0, 0.5]",
                "9:16: instances[0].examination[0]: 1.0 found: expected an array, each entry a number from 0 to 1",
            ),
        ],
    ),
];

#[test]
fn users_who_show_clicks_and_nothing_else_are_read_and_written() {
    for (table, faults) in CLICKS_ONLY {
        let head = "name = \"x\"\ntask = \"regret\"\nhorizon = 10\nruns = 1\nseed = 1\n";
        let text = format!(
            "{head}[[instances]]\n{table}[[policies]]\npolicy = \"top-rank\"\n[[policies]]\npolicy = \"cascade-ts\"\nread-as = \"cascade\"\n"
        );
        let experiment = read(&text).unwrap();
        let again = read(&experiment.to_toml()).unwrap();
        assert_eq!(again.canonical(), experiment.canonical(), "{table}");
        assert_eq!(experiment.instances.count(), 1);
        for (from, to, message) in faults {
            let error = read(&text.replacen(from, to, 1)).unwrap_err().to_string();
            assert_eq!(error, format!("spec.toml:{message}"));
        }
    }
}

#[test]
fn values_are_drawn_from_their_own_seed() {
    let values = |instance: &str, seed: u64| {
        let text = spec(instance, UNIFORM).replace("seed = 1\nruns", "seed = 9\nruns");
        let drawn = format!("values = {{ log-normal = 0.8, seed = {seed} }}");
        let experiment = read(&text.replace("[[policies]]", &format!("{drawn}\n[[policies]]"))).unwrap();
        let (_, values) = experiment.instances().parameters()[0].values.pop().unwrap();
        assert_eq!(experiment.instances().unit(), "value");
        values.numbers().to_vec()
    };
    let many = format!("model = \"cascade\"\nattraction = {:?}\npositions = 5", [0.1; 1000]);
    let drawn = values(&many, 1);
    assert_eq!(values(&many, 1), drawn);
    assert_ne!(values(&many, 2), drawn);
    let logs: Vec<f64> = drawn.iter().map(|&value| confidence::math::ln(value)).collect();
    let mean = logs.iter().sum::<f64>() / 1000.0;
    let deviation = (logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / 999.0).sqrt();
    // Four standard errors.
    assert!(mean.abs() < 4.0 * 0.8 / 1000_f64.sqrt(), "{mean}");
    assert!((deviation - 0.8).abs() < 4.0 * 0.8 / 2000_f64.sqrt(), "{deviation}");
}

#[test]
fn values_are_refused_where_they_would_not_count() {
    let dear = with_values(CASCADE);
    let live = spec(&dear, "policy = \"cascade-ts\"\nlive = { window = 10 }");
    assert!(message(&live).contains("instances with `values` are played without disturbance"));
    let identify = spec(&dear, "policy = \"cascade-kl\"\ndelta = 0.1")
        .replace("regret", "identify")
        .replace("horizon", "max_steps");
    assert!(message(&identify).contains("asks for the most attractive items: leave out the `values`"));
    let differ = spec(&dear, UNIFORM).replace(
        "attraction = [0.5, 0.4, 0.2]",
        "context = { random = { users = 2, items = 3, user-features = 1 } }",
    );
    assert!(message(&differ).contains("users who differ have no values"), "{}", message(&differ));
    // Bounds are those of clicks.
    assert!(read(&spec(&dear, UNIFORM)).unwrap().instances().lower_bound().is_none());
    assert!(read(&spec(CASCADE, UNIFORM)).unwrap().instances().lower_bound().is_some());
}

#[test]
fn attraction_and_examination_have_two_names_each() {
    let others = [("theta", "attraction"), ("kappa", "examination")];
    let semi_bandit = PBM.replace("pbm", "semi-bandit");
    let assumed = "policy = \"pbm-ucb\"\nread-as = \"pbm\"\nkappa = [0.9, 0.5]";
    for text in [spec(PBM, UNIFORM), spec(&semi_bandit, UNIFORM), spec(CASCADE, assumed)] {
        let experiment = read(&text).unwrap();
        for (symbol, word) in others.into_iter().flat_map(|(symbol, word)| [(symbol, word), (word, symbol)]) {
            let named = |name: &str| format!("\n{name} = ");
            let Some((before, after)) = text.split_once(&named(symbol)) else { continue };
            let renamed = read(&format!("{before}{}{after}", named(word))).unwrap();
            assert_eq!(renamed.identity(), experiment.identity(), "{text}");
            let (list, _) = after.split_once('\n').unwrap_or((after, ""));
            let twice = message(&format!("{before}{}{list}{}{after}", named(symbol), named(word)));
            assert!(twice.contains("already gives it: expected one or the other"), "{twice}");
        }
    }
    // The place is that of the name in the file.
    let short = assumed.replace("kappa = [0.9, 0.5]", "examination = [0.9]");
    let found = message(&spec(CASCADE, &short));
    assert!(found.contains("policies[0].examination: 1 probability, but the lists"), "{found}");
}
