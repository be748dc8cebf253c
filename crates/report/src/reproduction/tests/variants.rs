//! Panels with variants, and claims about them.

use super::*;

/// Claims about the variants.
const CLAIMS_OF_VARIANTS: &str = r#"
[[claims]]
name = "same"
panel = "sweep"
says = "The same."
place = "section 2"
[claims.test]
kind = "within"
series = ["a/pbm-ts", "b/pbm-ts"]
slope = [100, 1000]
most = 1.2
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
kind = "within"
series = ["a/pbm-ts"]
by = "bound"
t = 100
most = 1
[claims.known]
verdict = "undecided"
evidence = "open"

[[claims]]
name = "times"
panel = "sweep"
says = "Twice."
place = "section 2"
[claims.test]
kind = "within"
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

/// The experiment with a second panel, which has variants, and with claims about it.
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
    let experiment = EXPERIMENT
        .replace("checkpoints = [10, 1000]\n", "")
        .replace("model = \"pbm\"\nruns = 100", "model = \"pbm\"\nruns = 100\ncheckpoints = [10, 1000]");
    // Slopes end at round 1000, so both variants need it as a checkpoint.
    let panel = panel.replace("also = [100]", "also = [100, 1000]");
    (experiment + &panel, CLAIMS.to_owned() + CLAIMS_OF_VARIANTS)
}

#[test]
fn a_variant_takes_missing_keys_from_its_panel_and_from_the_top() {
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
    assert_eq!(plot_of::<HeatMap>(&panel.figures[1]).relative_to, "pbm-ucb");
    assert_eq!(panel.printed[0].series.to_string(), "b/pbm-ts");
    let styles = PolicyStyles::of(["pbm-ts"]);
    assert_eq!(panel.reader_name(&panel.printed[0].series, &styles), "pbm-ts, b");
    assert_eq!(test_of::<Within>(&reproduction.claims[2]).at, ComparedAt::Slope(100, 1000));
    let order = test_of::<Order>(&reproduction.claims[3]);
    assert_eq!((order.at, order.factor), (ComparedAt::Slope(100, 1000), 0.5));
}

#[test]
fn a_figure_of_parameters_has_the_numbers_of_every_instance() {
    let (experiment, claims) = with_variants();
    let figure = "kind = \"parameters\", parameter = \"kappa\"";
    let experiment = experiment.replace("kind = \"final\", scale = \"log\"", figure);
    let experiment = experiment.replace("kind = \"regret\", band = \"deciles\", scale = \"linear\"", figure);
    let panels = read(&experiment, &claims).unwrap().panels;
    let of = |panel: usize| plot_of::<Parameters>(&panels[panel].figures[0]).clone();
    assert_eq!(of(0).numbers, [("one".to_owned(), vec![1.0, 0.5])]);
    let each = [("kappa 1, .5".to_owned(), vec![1.0, 0.5]), ("b".to_owned(), vec![1.0, 0.1])];
    assert_eq!((of(1).parameter, of(1).numbers), ("Examination kappa", each.to_vec()));
    // Instances that are equal in all variants are shown once.
    let same = experiment.replace("instances = [{ theta = [0.5, 0.2], kappa = [1.0, 0.1] }]\n", "");
    let same = read(&same, &claims).unwrap();
    assert_eq!(plot_of::<Parameters>(&same.panels[1].figures[0]).numbers, of(0).numbers);
}

#[test]
fn errors_in_variants_name_their_place() {
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
        ("se = 0.5", "se = -0.5", "panels[1].printed[0].se: -0.5 is not a standard error"),
        (
            "[[panels.variants]]\nname = \"a\"",
            "[[panels.variant]]\nname = \"a\"",
            "panels[1].variant: unknown key: did you mean `variants`?",
        ),
    ]);
}

#[test]
fn errors_in_claims_about_variants_name_their_place() {
    check_places(&[
        ("\"a/pbm-ts\", ", "\"pbm-ts\", ", "claims[2].test.series[0]: unknown variant/policy \"pbm-ts\""),
        ("\"a/pbm-ts\", ", "", "claims[2].test.series: a single series"),
        ("by = \"bound\"\n", "by = \"bound\"\nbound = \"Theorem 7\"\n", "claims[4].test.bound: unknown key"),
        (
            "factor = 0.5",
            "factor = 1e7",
            "claims[3].test.factor: 1e7 found: expected a number above 0 and at most 1,000,000",
        ),
        ("\"a/pbm-ts\", ", "\"b/pbm-ts\", ", "claims[2].test.series[1]: \"b/pbm-ts\" is already given"),
        (
            "slope = [100, 1000]\nmost",
            "slope = [100, 999]\nmost",
            "claims[2].test.slope[1]: round 999 is not a checkpoint of the variant \"a\": the nearest one is 1000",
        ),
        (
            "slope = [100, 1000]\nmost",
            "slope = [1000, 100]\nmost",
            "claims[2].test.slope: round 100 is not after round 1000",
        ),
        (
            "slope = [100, 1000]\nmost",
            "slope = [100]\nmost",
            "claims[2].test.slope: 1 entry found: expected two rounds, [t1, t2]",
        ),
        ("most = 1.2", "most = 0", "claims[2].test.most: 0 found: expected a number above 0"),
        ("most = 1.2\n", "", "claims[2].test.least: missing key"),
        ("most = 1.2", "by-t = 5", "claims[2].test.by-t: does not go with this `by`"),
        ("by = \"bound\"", "by = \"bounds\"", "claims[4].test.by: unknown divisor \"bounds\""),
        ("factor = 0.5", "factor = 0", "claims[3].test.factor: 0 found: expected a number above 0"),
        ("factor = 0.5", "t = 100", "claims[3].test.t: `slope` already gives the rounds"),
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
            "t = 100\nmost = 1",
            "t = 101\nmost = 1",
            "claims[4].test.t: round 101 is not a checkpoint of the variant \"a\"",
        ),
        ("by = [\"a/pbm-ts\", ", "by = [", "claims[5].test.by: 2 series by 1: expected as many"),
        ("by-t = 100\n", "", "claims[5].test.by: \"b/pbm-ts\" by itself at the same round is 1"),
        ("by-t = 100\n", "by-t = 1000\n", "claims[5].test.by: \"b/pbm-ts\" by itself at the same round is 1"),
        (
            "by-t = 100\n",
            "by-t = 99\n",
            "claims[5].test.by-t: round 99 is not a checkpoint of the variant \"a\"",
        ),
        ("t = 1000\nby-t = 100\n", "by-t = 100\n", "claims[5].test.t: missing key: expected a checkpoint"),
        (
            "least = 1.8\nmost = 2.2\n",
            "",
            "claims[5].test.least: missing key: expected a number, here or as `most`",
        ),
        ("most = 2.2", "most = 1.8", "claims[5].test.most: `most` is not above `least`"),
        ("least = 1.8", "least = 0", "claims[5].test.least: 0 found: expected a number above 0"),
        ("least = 1.8", "leest = 1.8", "claims[5].test.leest: unknown key"),
        (
            "\"b/pbm-ts\", \"b/pbm-ucb\"]",
            "\"b/pbm-ts\"]",
            "claims[6].test.series: 2 entries found: expected an array of labels of policies, at least 3",
        ),
        ("[1, 2, 4.5]", "[1, 2]", "claims[6].test.sizes: 2 entries found: expected at least 3 numbers"),
        (
            "[1, 2, 4.5]",
            "[1, 2, 2]",
            "claims[6].test.sizes: expected numbers above 0, each larger than the one before",
        ),
        ("[1, 2, 4.5]", "[0, 2, 4]", "claims[6].test.sizes[0]: 0 found: expected a number above 0"),
    ]);
}

/// Checks messages: (replaced text in either file, replacement, beginning of the message after line
/// and column).
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
