use super::*;
use click_models::CascadeModel;
use experiment::Runner;
use spec::{Builder, Experiment, Instances};
use std::fs;
use tempfile::{TempDir, tempdir};

fn builder(seed: u64, runs: u64) -> Builder {
    let users = CascadeModel::from_values(&[0.6, 0.4, 0.3, 0.1], 2).unwrap();
    Experiment::builder("small", Instances::of([users])).horizon(200).runs(runs).seed(seed)
}

fn played(builder: Builder) -> (TempDir, FinishedResult) {
    let dir = tempdir().unwrap();
    Runner::new(&builder.build().unwrap()).threads(1).run_into(dir.path()).unwrap();
    let finished = FinishedResult::open(dir.path()).unwrap();
    (dir, finished)
}

fn two(seed: u64, runs: u64) -> (TempDir, FinishedResult) {
    played(builder(seed, runs).policy("cascade-ts").policy("uniform"))
}

#[test]
fn the_same_runs_are_identical() {
    let ((_a, first), (_b, second)) = (two(1, 30), two(1, 30));
    let same = ResultComparison::of(&first, &second).unwrap();
    assert!(same.same_bytes && same.is_identical() && same.differing().count() == 0);
    assert_eq!((same.run_by_run, same.comparisons), (Some(30), 4));
    assert!(same.rows.iter().all(|row| row.difference == 0.0 && row.equal_runs == Some(30)));
    // More runs of the same seed: those that both have are the same.
    let (_c, more) = two(1, 40);
    let more = ResultComparison::of(&first, &more).unwrap();
    assert!(more.is_identical() && !more.same_bytes);
    assert_eq!((more.run_by_run, more.runs), (Some(30), [30, 40]));
}

#[test]
fn another_seed_differs_by_chance_alone() {
    let ((_a, first), (_b, second)) = (two(1, 60), two(2, 50));
    let compared = ResultComparison::of(&first, &second).unwrap();
    assert_eq!((compared.run_by_run, compared.not_run_by_run.clone()), (None, None));
    assert_eq!(compared.differing().count(), 0, "{compared:?}");
    let row = &compared.rows[0];
    let se = (row.ses[0] * row.ses[0] + row.ses[1] * row.ses[1]).sqrt();
    assert_eq!((row.se, row.z), (Some(se), Some((row.means[1] - row.means[0]) / se)));
    assert!(row.p.unwrap() <= 1.0 && row.equal_runs.is_none());
}

#[test]
fn a_policy_that_chooses_otherwise_is_found() {
    let (_a, first) = played(builder(1, 30).labelled("x", "cascade-ts").policy("uniform"));
    for (seed, run_by_run) in [(1, Some(30)), (2, None)] {
        let (_b, second) = played(builder(seed, 30).labelled("x", "uniform").policy("cascade-ucb1"));
        let compared = ResultComparison::of(&first, &second).unwrap();
        assert_eq!(compared.run_by_run, run_by_run);
        let differing: Vec<&str> = compared.differing().map(|row| row.quantity).collect();
        assert_eq!(differing, ["regret", "clicks"]);
        assert!(
            compared
                .rows
                .iter()
                .all(|row| row.policy == "x" && row.equal_runs.is_none_or(|equal| equal < 30))
        );
        assert_eq!(compared.other_parameters, ["x"]);
        assert_eq!(compared.only, [vec!["uniform".to_owned()], vec!["cascade-ucb1".to_owned()]]);
    }
    // Few runs show nothing, however large the difference.
    let (_c, few) = played(builder(1, 9).labelled("x", "uniform"));
    let compared = ResultComparison::of(&first, &few).unwrap();
    assert!(compared.rows[0].z.unwrap() > 10.0 && compared.differing().count() == 0);
}

#[test]
fn without_a_journal_means_are_compared_and_the_reason_is_told() {
    let ((_a, first), (b, second)) = (two(1, 30), two(1, 30));
    fs::remove_dir_all(b.path().join("journal")).unwrap();
    let compared = ResultComparison::of(&first, &second).unwrap();
    assert!(compared.same_bytes && !compared.is_identical());
    assert!(compared.not_run_by_run.unwrap().contains("has 0 of the 30 runs of \"cascade-ts\""));
    assert_eq!(compared.rows.iter().filter(|row| row.z == Some(0.0)).count(), 4);
}

#[test]
fn another_experiment_is_refused_with_what_differs() {
    let (_a, first) = two(1, 10);
    let (_b, second) = played(builder(1, 10).horizon(300).policy("cascade-ts"));
    let error = ResultComparison::of(&first, &second).unwrap_err().to_string();
    let expected = "the results are of different experiments: checkpoints differ; horizon is 200 in the first and 300 in the second";
    assert_eq!(error, expected);
}

#[test]
fn answers_are_compared_run_by_run() {
    let experiment = |seed| {
        let users = CascadeModel::from_values(&[0.9, 0.1], 1).unwrap();
        let builder = Experiment::builder("best", Instances::of([users])).runs(12).seed(seed);
        played(builder.task(spec::Task::Identify).horizon(5_000).policy("cascade-bai"))
    };
    let ((_a, first), (_b, second), (_c, third)) = (experiment(1), experiment(1), experiment(2));
    let same = ResultComparison::of(&first, &second).unwrap();
    let quantities: Vec<&str> = same.rows.iter().map(|row| row.quantity).collect();
    assert_eq!(quantities, ["stopping_time", "observations", "correct", "stopped"]);
    assert!(same.is_identical());
    assert_eq!(ResultComparison::of(&first, &third).unwrap().differing().count(), 0);
}

#[test]
fn degrees_of_freedom_of_unequal_samples_are_between_those_of_one_and_of_both() {
    assert_eq!(welch([1.0, 1.0], [11, 11]), 20);
    assert_eq!(welch([1.0, 0.0], [11, 500]), 10);
    assert_eq!(welch([0.0, 0.0], [11, 500]), 10);
}
