use super::*;
use click_models::{CascadeModel, DuelingModel, PositionBased, PreferenceMatrix, RankOneModel};
use confidence::Probability;
use policies::catalogue::Protocol;

fn pbm() -> Instances {
    Instances::of([PositionBased::from_values(&[0.5, 0.4, 0.2], &[0.9, 0.5]).unwrap()])
}

fn cascade() -> Instances {
    Instances::of([CascadeModel::from_values(&[0.5, 0.4, 0.2], 2).unwrap()])
}

/// For every model without a calibration.
#[test]
fn the_file_of_a_built_experiment_reads_back_as_the_same_experiment() {
    let matrix = PreferenceMatrix::new(&[vec![0.5, 0.6], vec![0.4, 0.5]]).unwrap();
    let kappa = [0.9, 0.1].map(|value| Probability::new(value).unwrap()).to_vec();
    let spec = |name: &str| name.parse::<PolicySpec>().unwrap();
    let informed = Entrant { examination: Some(kappa), ..Entrant::new("pbm-ts", spec("pbm-ts")) };
    let read_as =
        Entrant { read_as: Some(Protocol::Cascade), ..Entrant::new("cascade-ts", spec("cascade-ts")) };
    let named = RankOneModel::from_values(&[0.5, 0.4], &[0.5]).unwrap();
    for builder in [
        Experiment::builder("a", pbm()).policy("pbm-ucb(epsilon=0.5)").runs_per_instance(3),
        Experiment::builder("b", pbm()).entrant(informed).entrant(read_as).checkpoints([7, 3, 99_999]),
        Experiment::builder("c", cascade()).task(Task::Identify).policy("cascade-kl").horizon(77),
        Experiment::builder("d", cascade()).task(Task::Budget).policy("successive-rejects").seed(9),
        Experiment::builder("e", Instances::of([DuelingModel::new(matrix)])).labelled("x", "rucb"),
        Experiment::builder("g", pbm())
            .policy("pbm-ts")
            .horizon(99_999)
            .checkpoints((1..=10_000).collect::<Vec<u64>>()),
        Experiment::builder("f", Instances::named([("query 7".to_owned(), named)])).policy("uts"),
    ] {
        let experiment = builder.build().unwrap();
        let read = Experiment::from_toml(&experiment.to_toml()).unwrap();
        assert_eq!(read.canonical(), experiment.canonical(), "{}", experiment.to_toml());
    }
}

#[test]
fn comments_are_written_in_place_and_do_not_change_the_experiment() {
    let plain = Experiment::builder("a", pbm()).policy("pbm-ts").build().unwrap();
    let comments = (vec!["top".to_owned()], vec![vec!["one\ntheta = 2".to_owned(), "two".to_owned()]]);
    let commented = Experiment::builder("a", pbm()).policy("pbm-ts").comments(comments.0, comments.1);
    let commented = commented.build().unwrap();
    assert_eq!(commented.identity(), plain.identity());
    let text = commented.to_toml();
    assert!(text.starts_with("# top\nname = \"a\"\n"), "{text}");
    assert!(text.contains("model = \"pbm\"\n# one\\ntheta = 2\n# two\ntheta = ["), "{text}");
    assert_eq!(Experiment::from_toml(&text).unwrap().identity(), plain.identity());
}

#[test]
fn errors_name_the_field() {
    let with = |policy: &str| Experiment::builder("a", pbm()).policy(policy);
    let none: Vec<PositionBased> = Vec::new();
    let model = || PositionBased::from_values(&[0.5, 0.4], &[0.9]).unwrap();
    let read_as =
        Entrant { read_as: Some(Protocol::PositionBased), ..Entrant::new("pbm-ts", PolicySpec::PbmTs {}) };
    for (builder, expected) in [
        (Experiment::builder("a b", pbm()), "name: the name has characters"),
        (with("pbm-ts").horizon(0), "horizon: 0 found: expected an integer from 1 to"),
        (with("pbm-ts").horizon(u64::MAX), "horizon: 18446744073709551615 found"),
        (with("pbm-ts").runs(0), "runs: 0 found"),
        (with("pbm-ts").runs(1 << 31).horizon(1 << 40), "runs: 2147483648 runs of 1099511627776 rounds"),
        (with("pbm-ts").checkpoints([0, 5]), "checkpoints: 0 found"),
        (
            with("pbm-ts").horizon(99_999).checkpoints((1..=20_000).collect::<Vec<u64>>()),
            "checkpoints: 20000 found: expected an integer from 1 to 10000",
        ),
        (
            Experiment::builder("a", pbm()).entrant(Entrant::new("mine", PolicySpec::PbmTs {})),
            "policies[0].name: \"mine\" found: expected \"pbm-ts\"",
        ),
        (with("pbm-ts").task(Task::Identify), "task: \"identify\" asks for best items"),
        (with("no-such-policy"), "policies[0]: unknown policy"),
        (with("pbm-ucb(epsilon=-1)"), "policies[0]: "),
        (with("pbm-ts").policy("pbm-ts"), "policies[1].label: \"pbm-ts\" is already used"),
        (Experiment::builder("a", pbm()).labelled("", "pbm-ts"), "policies[0].label: the text is empty"),
        (with("cascade-ts"), "policies[0].policy: \"cascade-ts\" plays"),
        (with("cascade-bai"), "policies[0].policy: \"cascade-bai\" looks for the best items"),
        (Experiment::builder("a", cascade()).policy("pie(position=2)"), "policies[0].position: position 2"),
        (Experiment::builder("a", cascade()).entrant(read_as), "policies[0].kappa: missing: expected"),
        (Experiment::builder("a", Instances::of(none)), "instances: none given"),
        (
            Experiment::builder("a", Instances::named([(" x".to_owned(), model())])),
            "instances[0].name: the text begins or ends with a space",
        ),
        (
            Experiment::builder(
                "a",
                Instances::named([("x".to_owned(), model()), ("x".to_owned(), model())]),
            ),
            "instances[1].name: is already used",
        ),
    ] {
        let error = builder.build().unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error:?} instead of {expected:?}");
    }
}
