//! Whatever happens to a process or its files, the result is that of one undisturbed process, or
//! there is an error that names the file.

mod attacked;

use super::{JOURNAL, JournalError};
use crate::manifest::Program;
use crate::result::EndValue;
use crate::{Claim, Measurement, PART, Parts, ResultDir, RunError, Runner, Shard};
use click_models::{CascadeModel, DuelingModel, PositionBased, PreferenceMatrix};
use spec::{Experiment, Instances};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::{TempDir, tempdir};

fn experiment(runs: u64, policies: &[&str]) -> Experiment {
    let users = PositionBased::from_values(&[0.5, 0.4, 0.2], &[0.9, 0.5]).unwrap();
    let builder = Experiment::builder("small", Instances::of([users])).horizon(60).runs(runs);
    let builder = builder.checkpoints([1, 10, 60]);
    policies.iter().fold(builder, |builder, policy| builder.policy(policy)).build().unwrap()
}

const POLICIES: [&str; 2] = ["pbm-ts", "pbm-ucb"];

/// One experiment of every kind of record.
fn every_kind(runs: u64) -> Vec<Experiment> {
    let cascade = || Instances::of([CascadeModel::from_values(&[0.9, 0.4, 0.1], 1).unwrap()]);
    let preferences = PreferenceMatrix::new(&[vec![0.5, 0.9], vec![0.1, 0.5]]).unwrap();
    let duels = Instances::of([DuelingModel::new(preferences)]);
    let build = |builder: spec::Builder| builder.runs(runs).build().unwrap();
    vec![
        experiment(runs, &POLICIES),
        build(
            Experiment::builder("answers", cascade())
                .task(spec::Task::Identify)
                .horizon(3_000)
                .policy("cascade-bai")
                .policy("kl-lucb"),
        ),
        build(
            Experiment::builder("budget", cascade())
                .task(spec::Task::Budget)
                .horizon(50)
                .policy("successive-rejects"),
        ),
        build(Experiment::builder("duels", duels).horizon(40).policy("rucb").policy("double-ts")),
    ]
}

/// The files of a result whose bytes do not depend on how it was made.
fn bytes(dir: &Path) -> Vec<Vec<u8>> {
    ["result.json", "curves.csv", "spec.toml"].map(|name| fs::read(dir.join(name)).unwrap()).to_vec()
}

/// The bytes of a result made at once.
fn at_once(experiment: &Experiment) -> Vec<Vec<u8>> {
    let dir = tempdir().unwrap();
    Runner::new(experiment).run_into(dir.path()).unwrap();
    bytes(dir.path())
}

fn run_into(experiment: &Experiment, dir: &Path) -> Measurement {
    Runner::new(experiment).run_into(dir).unwrap()
}

fn error(experiment: &Experiment, dir: &Path) -> String {
    Runner::new(experiment).run_into(dir).unwrap_err().to_string().replace(&dir.display().to_string(), "DIR")
}

fn files_of_runs(dir: &Path) -> Vec<PathBuf> {
    super::files(&dir.join(JOURNAL), ".runs").unwrap()
}

/// Every file below a directory with its content.
fn contents(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(contents(&path));
        } else {
            found.insert(path.clone(), fs::read(&path).unwrap());
        }
    }
    found
}

#[test]
fn a_finished_result_stays_as_it_is() {
    for experiment in every_kind(4) {
        let dir = tempdir().unwrap();
        let first = run_into(&experiment, dir.path());
        let before = contents(dir.path());
        let again = run_into(&experiment, dir.path());
        assert_eq!((first.n_new_runs, again.n_new_runs), (4 * experiment.policies().len() as u64, 0));
        assert_eq!(contents(dir.path()), before);
        assert_eq!((again.result, again.spreads), (first.result, first.spreads));
    }
}

#[test]
fn runs_and_policies_that_are_added_give_the_bytes_of_doing_it_at_once() {
    for (few, many) in every_kind(3).iter().zip(every_kind(8)) {
        let dir = tempdir().unwrap();
        run_into(few, dir.path());
        assert_eq!(run_into(&many, dir.path()).n_new_runs, 5 * many.policies().len() as u64);
        assert_eq!(bytes(dir.path()), at_once(&many), "{}", many.name());
    }
    let dir = tempdir().unwrap();
    run_into(&experiment(5, &["pbm-ucb"]), dir.path());
    let both = experiment(5, &POLICIES);
    assert_eq!(run_into(&both, dir.path()).n_new_runs, 5);
    assert_eq!(bytes(dir.path()), at_once(&both));
}

/// A killed process leaves the beginning of what it would have written. No place to cut changes the
/// result.
#[test]
fn a_journal_that_ends_anywhere_is_continued() {
    for experiment in every_kind(2) {
        let expected = at_once(&experiment);
        let dir = tempdir().unwrap();
        run_into(&experiment, dir.path());
        for file in files_of_runs(dir.path()) {
            let whole = fs::read(&file).unwrap();
            let (head, _) = super::JournalFile::head(&file).unwrap();
            let begin = whole.len() - records_of(&whole, &head);
            for end in (begin..whole.len()).step_by(41).chain([begin + 1, whole.len() - 1]) {
                fs::write(&file, &whole[..end]).unwrap();
                let measured = run_into(&experiment, dir.path());
                assert!((1..=2).contains(&measured.n_new_runs), "{end}");
                assert_eq!(bytes(dir.path()), expected, "cut at {end} of {}", whole.len());
            }
            // After a power failure there may be zeros.
            for zeros in [1, 8, 100, 5_000] {
                fs::write(&file, [&whole[..begin], &vec![0; zeros]].concat()).unwrap();
                assert_eq!(run_into(&experiment, dir.path()).n_new_runs, 2);
                assert_eq!(bytes(dir.path()), expected);
            }
        }
    }
}

/// The bytes of the records of a file.
fn records_of(whole: &[u8], head: &super::FileHead) -> usize {
    let json = serde_json::to_vec(head).unwrap().len();
    whole.len() - "click-bandits runs 1\n".len() - super::frame::HEAD - json
}

/// Where the records of a file begin.
fn begin_of(file: &Path, whole: &[u8]) -> usize {
    let (head, _) = super::JournalFile::head(file).unwrap();
    whole.len() - records_of(whole, &head)
}

#[test]
fn a_damaged_record_is_an_error_with_its_place_unless_it_is_the_last_one() {
    let (experiment, dir) = (experiment(3, &["pbm-ts"]), tempdir().unwrap());
    run_into(&experiment, dir.path());
    let expected = bytes(dir.path());
    let file = files_of_runs(dir.path()).remove(0);
    let whole = fs::read(&file).unwrap();
    let (head, _) = super::JournalFile::head(&file).unwrap();
    let length = records_of(&whole, &head);
    let begin = whole.len() - length;
    // Records of one policy differ by some bytes of their times.
    for place in (begin..begin + length / 2).step_by(3) {
        let mut damaged = whole.clone();
        damaged[place] ^= 0x10;
        fs::write(&file, &damaged).unwrap();
        let message = error(&experiment, dir.path());
        assert!(message.contains(".runs: damaged at byte "), "{place}: {message}");
        assert!(message.contains("a record that is not whole stands before others"), "{message}");
    }
    let mut damaged = whole.clone();
    *damaged.last_mut().unwrap() ^= 1;
    fs::write(&file, &damaged).unwrap();
    assert_eq!(run_into(&experiment, dir.path()).n_new_runs, 1);
    assert_eq!(bytes(dir.path()), expected);
    for damaged in [&whole[..5], b"", b"click-bandits runs 2\nxxxxxxxxxxxxxxxxxxxxxxx", &whole[..begin - 1]] {
        fs::write(&file, damaged).unwrap();
        assert!(error(&experiment, dir.path()).contains("damaged at byte 0"));
    }
}

#[test]
fn a_run_that_is_recorded_twice_is_damage() {
    let (experiment, dir) = (experiment(1, &["pbm-ts"]), tempdir().unwrap());
    run_into(&experiment, dir.path());
    let file = files_of_runs(dir.path()).remove(0);
    let mut whole = fs::read(&file).unwrap();
    let (head, _) = super::JournalFile::head(&file).unwrap();
    let begin = whole.len() - records_of(&whole, &head);
    whole.extend_from_within(begin..);
    fs::write(&file, whole).unwrap();
    let message = error(&experiment, dir.path());
    assert!(message.contains("a run has number 1, which another one also has"), "{message}");
}

#[test]
fn a_directory_with_other_runs_is_refused_and_stays_as_it_is() {
    let dir = tempdir().unwrap();
    run_into(&experiment(4, &POLICIES), dir.path());
    let before = contents(dir.path());
    let cases: [(Experiment, &[&str]); 4] = [
        (
            experiment(3, &POLICIES),
            &[".runs: has runs up to number 4 of \"pbm-ts\", the experiment has 3 in all: ask for"],
        ),
        (
            experiment(4, &["pbm-ts"]),
            &["DIR: has runs of \"pbm-ucb\", which the experiment no longer has: keep"],
        ),
        (
            experiment(4, &["pbm-ts", "pbm-ucb(epsilon=0.5)"]),
            &[
                "DIR: has runs of \"pbm-ucb\" with other parameters (",
                "\"epsilon\":0.0",
                "now ",
                "\"epsilon\":0.5",
            ],
        ),
        (
            Experiment::from_toml(&experiment(4, &POLICIES).to_toml().replace("seed = 1", "seed = 2"))
                .unwrap(),
            &[
                "DIR: belongs to another experiment (\"small\" as well, but with other settings or other data)",
            ],
        ),
    ];
    for (experiment, expected) in &cases {
        let message = error(experiment, dir.path());
        assert!(expected.iter().all(|part| message.contains(part)), "{message}");
        assert_eq!(contents(dir.path()), before);
    }
    let other = Program { version: "9".to_owned(), ..Program::library() };
    let experiment_again = experiment(4, &POLICIES);
    let runner = Runner::new(&experiment_again);
    let message = ResultDir::claim(&runner, dir.path(), Claim::by(other)).unwrap_err().to_string();
    let own = Program::library().results();
    let expected = format!("was played by {own}, this program is version 9");
    assert!(message.contains(&expected) && message.contains("play everything again"), "{message}");
    assert_eq!(contents(dir.path()), before);
    // Everything but another base can be replaced.
    for (experiment, _) in &cases[..3] {
        let fresh = || Claim { fresh: true, ..Claim::default() };
        let claimed = ResultDir::claim(&Runner::new(experiment), dir.path(), fresh()).unwrap();
        let measured = Runner::new(experiment).run_in(&claimed).unwrap();
        claimed.write(&measured, Vec::new()).unwrap();
        assert_eq!(bytes(dir.path()), at_once(experiment));
    }
}

#[test]
fn a_result_without_its_runs_needs_fresh() {
    let (experiment, dir) = (experiment(2, &POLICIES), tempdir().unwrap());
    run_into(&experiment, dir.path());
    fs::remove_dir_all(dir.path().join(JOURNAL)).unwrap();
    let message = error(&experiment, dir.path());
    assert!(message.starts_with("DIR: has a result without its runs (DIR/journal)"), "{message}");
}

/// A policy that was started with a wrong parameter and stopped at once is not in the way.
#[test]
fn a_policy_without_runs_is_forgotten() {
    let (experiment, dir) = (experiment(2, &POLICIES), tempdir().unwrap());
    run_into(&experiment, dir.path());
    let file = files_of_runs(dir.path()).remove(0);
    let whole = fs::read(&file).unwrap();
    let (head, _) = super::JournalFile::head(&file).unwrap();
    fs::write(&file, &whole[..whole.len() - records_of(&whole, &head)]).unwrap();
    let other = self::experiment(2, &[if head.label == "pbm-ts" { "pbm-ucb" } else { "pbm-ts" }]);
    assert_eq!(run_into(&other, dir.path()).n_new_runs, 0);
}

#[test]
fn a_second_process_is_refused_by_name() {
    let (experiment, dir) = (experiment(2, &POLICIES), tempdir().unwrap());
    run_into(&experiment, dir.path());
    let lock = super::lock(&dir.path().join(JOURNAL)).unwrap();
    assert!(lock.is_some());
    let message = error(&experiment, dir.path());
    assert_eq!(message, "DIR: another run writes here: wait until it is done, or give another directory");
}

fn play_parts(experiment: &Experiment, shards: &[(u64, u64)]) -> (TempDir, Vec<PathBuf>) {
    let top = tempdir().unwrap();
    let mut dirs = Vec::new();
    for &(number, of) in shards {
        let dir = top.path().join(format!("{number}-{of}"));
        let shard = Shard::new(number, of).unwrap();
        Runner::new(experiment).run_part(&dir, shard, &Claim::default()).unwrap();
        // A part that is finished stays as it is.
        let before = contents(&dir);
        Runner::new(experiment).run_part(&dir, shard, &Claim::default()).unwrap();
        assert_eq!(contents(&dir), before);
        assert!(!dir.join("result.json").exists());
        dirs.push(dir);
    }
    (top, dirs)
}

fn merge(experiment: &Experiment, dirs: &[PathBuf], out: &Path) -> Result<Measurement, RunError> {
    let parts = Parts::read(dirs)?;
    let claim = Claim { parts: Some(&parts), ..Claim::default() };
    let claimed = ResultDir::claim(&Runner::new(experiment), out, claim)?;
    let measured = Runner::new(experiment).run_in(&claimed)?;
    claimed.write(&measured, Vec::new())?;
    Ok(measured)
}

#[test]
fn parts_of_any_numbers_are_merged_into_the_bytes_of_one_process() {
    for experiment in every_kind(7) {
        let expected = at_once(&experiment);
        let divisions: [&[(u64, u64)]; 5] = [
            &[(1, 1)],
            &[(2, 3), (1, 3), (3, 3)],
            &[(1, 8), (2, 8), (3, 8), (4, 8), (5, 8), (6, 8), (7, 8), (8, 8)],
            // Runs 1 to 3 of 7, then 4 to 7 in other shares.
            &[(1, 2), (4, 7), (5, 7), (6, 7), (7, 7)],
            &[(2, 2), (1, 7), (2, 7), (3, 7)],
        ];
        for shards in divisions {
            let (top, dirs) = play_parts(&experiment, shards);
            let out = top.path().join("out");
            let measured = merge(&experiment, &dirs, &out).unwrap();
            assert_eq!((measured.n_new_runs, bytes(&out)), (0, expected.clone()), "{shards:?}");
            // The merged directory can be extended as any other.
            assert_eq!(merge(&experiment, &dirs, &out).unwrap().n_new_runs, 0);
            assert_eq!(run_into(&experiment, &out).n_new_runs, 0);
        }
    }
}

#[test]
fn parts_that_do_not_belong_together_are_refused_by_name() {
    let experiment = experiment(8, &POLICIES);
    let (top, dirs) = play_parts(&experiment, &[(1, 2), (2, 2), (1, 4), (3, 4)]);
    let out = top.path().join("out");
    let refused = |dirs: &[PathBuf]| {
        let message = merge(&experiment, dirs, &out).unwrap_err().to_string();
        assert!(!out.exists());
        message.replace(&top.path().display().to_string(), "TOP")
    };
    let of = |indices: &[usize]| indices.iter().map(|&index| dirs[index].clone()).collect::<Vec<_>>();
    assert!(refused(&of(&[0])).ends_with(": runs 5 to 8 of \"small\" are in none of the parts"));
    assert!(refused(&of(&[2, 1])).ends_with(": runs 3 to 4 of \"small\" are in none of the parts"));
    assert!(refused(&of(&[1])).ends_with(": runs 1 to 4 of \"small\" are in none of the parts"));
    let twice = "TOP/1-2: shard 1/2 and shard 1/2 in TOP/1-2 both have run 1: leave one of them out";
    assert_eq!(refused(&of(&[0, 1, 0])), twice);
    let overlap = "TOP/2-2: shard 2/2 and shard 3/4 in TOP/3-4 both have run 5: leave one of them out";
    assert!(
        [overlap, "TOP/3-4: shard 3/4 and shard 2/2 in TOP/2-2 both have run 5: leave one of them out"]
            .contains(&refused(&of(&[0, 1, 3])).as_str())
    );
    assert!(
        refused(&[top.path().join("none")])
            .starts_with("TOP/none: is not a part of an experiment: it has no")
    );

    for (change, difference) in [
        (self::experiment(9, &POLICIES), "the experiment has 9 runs, not 8"),
        (self::experiment(8, &["pbm-ts", "pbm-ucb(epsilon=0.5)"]), "policy \"pbm-ucb\" differs"),
        (self::experiment(8, &["pbm-ucb", "pbm-ts"]), "the policies have another order"),
        (self::experiment(8, &["pbm-ts", "pbm-ucb", "uniform"]), "policy \"uniform\" differs"),
    ] {
        let (_other, other) = play_parts(&change, &[(2, 2)]);
        let message = refused(&[dirs[0].clone(), other[0].clone()]);
        assert!(
            message.ends_with(&format!("is a part of another experiment than TOP/1-2: {difference}")),
            "{message}"
        );
    }

    // An unfinished part.
    let file = files_of_runs(&dirs[1]).remove(0);
    let whole = fs::read(&file).unwrap();
    fs::write(&file, &whole[..whole.len() - 1]).unwrap();
    let message = merge(&experiment, &of(&[0, 1]), &out).unwrap_err().to_string();
    assert!(
        message.contains("/2-2: 1 of 4 runs of ") && message.ends_with(" are missing: run shard 2/2 again")
    );
    assert!(!out.join("result.json").exists());
    fs::write(&file, whole).unwrap();
    let _held = super::lock(&dirs[1].join(JOURNAL)).unwrap();
    let message = merge(&experiment, &of(&[0, 1]), &out).unwrap_err().to_string();
    assert!(message.contains("/2-2: another run writes here: wait until it is done"), "{message}");
}

#[test]
fn a_part_and_a_whole_result_do_not_share_a_directory() {
    let experiment = experiment(4, &POLICIES);
    let (_top, dirs) = play_parts(&experiment, &[(1, 2)]);
    let message = error(&experiment, &dirs[0]);
    assert!(message.starts_with("DIR: holds shard 1/2 of \"small\": join it with"), "{message}");
    let play = |dir: &Path, experiment: &Experiment, number| {
        let shard = Shard::new(number, 2).unwrap();
        let message =
            Runner::new(experiment).run_part(dir, shard, &Claim::default()).unwrap_err().to_string();
        message.replace(&dir.display().to_string(), "DIR")
    };
    let other = "DIR: holds another part (shard 1/2 of \"small\"): give another directory";
    assert_eq!(play(&dirs[0], &experiment, 2), other);
    let more = self::experiment(5, &POLICIES);
    assert!(
        play(&dirs[0], &more, 1).starts_with("DIR: holds another part (the experiment has 4 runs, not 5)")
    );
    let whole = tempdir().unwrap();
    run_into(&experiment, whole.path());
    assert!(
        play(whole.path(), &experiment, 1)
            .starts_with("DIR: has a whole result, and so cannot hold shard 1/2")
    );
    // A whole experiment that was interrupted before it had a result.
    for name in ["result.json", "manifest.json", "spec.toml"] {
        fs::remove_file(whole.path().join(name)).unwrap();
    }
    let message = play(whole.path(), &experiment, 1);
    assert!(message.contains("is not one of shard 1/2: give another directory"), "{message}");
    fs::write(dirs[0].join(PART), "{}").unwrap();
    assert!(
        play(&dirs[0], &experiment, 1)
            .starts_with("DIR: is not a part of an experiment: part.json: missing field")
    );
}

#[test]
fn a_recorded_number_takes_less_than_twenty_bytes_on_disk() {
    for (experiment, numbers) in every_kind(50).iter().zip([6, 4, 4, 60]) {
        let dir = tempdir().unwrap();
        run_into(experiment, dir.path());
        for file in files_of_runs(dir.path()) {
            let whole = fs::read(&file).unwrap();
            let (head, _) = super::JournalFile::head(&file).unwrap();
            let per_number = records_of(&whole, &head) as f64 / f64::from(50 * numbers);
            assert!(per_number < 20.0, "{}: {per_number}", head.label);
        }
    }
    // Two numbers a run are the least.
    let users = PositionBased::from_values(&[0.5, 0.4], &[0.9]).unwrap();
    let one = Experiment::builder("x", Instances::of([users])).horizon(1).runs(5_000).checkpoints([1]);
    let (one, dir) = (one.policy("uniform").build().unwrap(), tempdir().unwrap());
    run_into(&one, dir.path());
    let length = fs::metadata(&files_of_runs(dir.path())[0]).unwrap().len();
    assert!(length < 20 * 2 * 5_000, "{length}");
}

#[test]
fn the_runs_are_read_the_same_from_memory_and_from_a_journal() {
    for experiment in every_kind(5) {
        let dir = tempdir().unwrap();
        let (memory, journal) = (Runner::new(&experiment).run().unwrap(), run_into(&experiment, dir.path()));
        assert_eq!((&memory.result, &memory.spreads), (&journal.result, &journal.spreads));
        for policy in 0..experiment.policies().len() {
            for value in [EndValue::of_task(experiment.task()), EndValue::Accuracy] {
                assert_eq!(memory.values(policy, value).unwrap(), journal.values(policy, value).unwrap());
            }
            assert_eq!(memory.runs.curve(policy, 3).unwrap(), journal.runs.curve(policy, 3).unwrap());
            assert_eq!(memory.runs.answers(policy).unwrap(), journal.runs.answers(policy).unwrap());
        }
    }
}

#[test]
fn an_error_of_a_journal_is_an_error_of_the_run() {
    let (experiment, dir) = (experiment(2, &POLICIES), tempdir().unwrap());
    // A file has the name of the folder.
    fs::write(dir.path().join(JOURNAL), "mine").unwrap();
    let failed = Runner::new(&experiment).run_into(dir.path()).unwrap_err();
    assert!(matches!(&failed, RunError::Journal(JournalError::Path(_))), "{failed}");
    assert_eq!(fs::read(dir.path().join(JOURNAL)).unwrap(), b"mine");
}

/// Files of all seeds, users and programs have the same names, so a copy to a wrong place is found
/// by what is in them.
#[test]
fn a_file_of_other_runs_is_refused_wherever_it_is() {
    let experiment = experiment(4, &POLICIES);
    let (top, dirs) = play_parts(&experiment, &[(1, 2), (2, 2)]);
    let other_seed = Experiment::from_toml(&experiment.to_toml().replace("seed = 1", "seed = 2")).unwrap();
    let (_other, others) = play_parts(&other_seed, &[(1, 2)]);
    let out = top.path().join("out");
    let (own, foreign) = (files_of_runs(&dirs[0]), files_of_runs(&others[0]));
    let whole = fs::read(&own[0]).unwrap();
    let message = || merge(&experiment, &dirs, &out).unwrap_err().to_string();
    fs::copy(&foreign[0], &own[0]).unwrap();
    assert!(message().contains("on other users, rounds or seed: restore the file"), "{}", message());
    fs::copy(&own[1], &own[0]).unwrap();
    assert!(message().contains("on other users, rounds or seed: restore the file"), "{}", message());
    assert!(!out.exists());
    fs::write(&own[0], whole).unwrap();

    let dir = tempdir().unwrap();
    run_into(&experiment, dir.path());
    let files = files_of_runs(dir.path());
    fs::copy(&files[0], &files[1]).unwrap();
    let found = error(&experiment, dir.path());
    assert!(found.contains("a file was renamed or copied there; restore it"), "{found}");
}

#[test]
fn a_merge_that_is_refused_leaves_the_directory_as_it_is() {
    let experiment = experiment(4, &POLICIES);
    let (top, dirs) = play_parts(&experiment, &[(1, 2), (2, 2)]);
    let out = top.path().join("out");
    merge(&experiment, &dirs, &out).unwrap();
    let before = contents(&out);
    let file = files_of_runs(&dirs[1]).remove(0);
    let whole = fs::read(&file).unwrap();
    fs::write(&file, &whole[..whole.len() - 1]).unwrap();
    let parts = Parts::read(&dirs).unwrap();
    let claim = || Claim { parts: Some(&parts), fresh: true, ..Claim::default() };
    let claimed = ResultDir::claim(&Runner::new(&experiment), &out, claim()).unwrap();
    let message = Runner::new(&experiment).run_in(&claimed).unwrap_err().to_string();
    assert!(message.contains(" are missing: run shard 2/2 again"), "{message}");
    assert_eq!(contents(&out), before);
    let message = ResultDir::claim(&Runner::new(&experiment), &dirs[0], claim()).unwrap_err().to_string();
    assert!(message.contains("holds shard 1/2 of"), "{message}");
}

#[test]
fn a_part_replaces_nothing_but_a_part_of_the_same_experiment() {
    let experiment = experiment(4, &POLICIES);
    let shard = |number| Shard::new(number, 2).unwrap();
    let play = |dir: &Path, number, fresh| {
        let claim = Claim { fresh, ..Claim::default() };
        let played = Runner::new(&experiment).run_part(dir, shard(number), &claim);
        played.map_err(|error| error.to_string().replace(&dir.display().to_string(), "DIR"))
    };
    let dir = tempdir().unwrap();
    fs::write(dir.path().join("spec.toml"), "# mine").unwrap();
    for fresh in [false, true] {
        let message = play(dir.path(), 1, fresh).unwrap_err();
        assert_eq!(
            message,
            "DIR/spec.toml: is in the way and not of a part: give another directory, or move the file"
        );
    }
    assert_eq!(fs::read(dir.path().join("spec.toml")).unwrap(), b"# mine");
    let whole = tempdir().unwrap();
    run_into(&experiment, whole.path());
    let before = contents(whole.path());
    assert!(play(whole.path(), 1, true).unwrap_err().starts_with("DIR: has a whole result"));
    assert_eq!(contents(whole.path()), before);
    let (_top, dirs) = play_parts(&experiment, &[(1, 2)]);
    assert_eq!(play(&dirs[0], 2, true), Ok(()));
    assert!(fs::read_to_string(dirs[0].join(PART)).unwrap().contains("\"2/2\""));
    for part in [r#"{ "reproduction": "x" }"#, "[]"] {
        fs::write(dirs[0].join(PART), part).unwrap();
        assert!(play(&dirs[0], 2, true).unwrap_err().starts_with("DIR: is not a part of an experiment: "));
    }
    let (_top, dirs) = play_parts(&experiment, &[(1, 2)]);
    let text = fs::read_to_string(dirs[0].join(PART)).unwrap();
    fs::write(dirs[0].join(PART), text.replace("\"first\": 0", "\"first\": 3")).unwrap();
    let message = Parts::read(&dirs).unwrap_err().to_string();
    assert!(message.ends_with("part.json: runs from 3 to 2 of 4"), "{message}");
}

/// A long run that has not ended is as much worth as a finished one.
#[test]
fn a_directory_with_nothing_but_a_state_belongs_to_its_experiment() {
    let (experiment, dir) = (experiment(2, &["pbm-ts"]), tempdir().unwrap());
    run_into(&experiment, dir.path());
    let file = files_of_runs(dir.path()).remove(0);
    let whole = fs::read(&file).unwrap();
    let (head, _) = super::JournalFile::head(&file).unwrap();
    fs::write(&file, &whole[..whole.len() - records_of(&whole, &head)]).unwrap();
    for name in ["result.json", "manifest.json", "spec.toml", "curves.csv", "timing.json"] {
        fs::remove_file(dir.path().join(name)).unwrap();
    }
    let key = file.file_stem().unwrap().to_string_lossy().into_owned();
    fs::write(dir.path().join(JOURNAL).join(format!("{key}-0.state")), "a state").unwrap();
    let other = self::experiment(2, &["pbm-ucb"]);
    assert!(error(&other, dir.path()).contains("has runs of \"pbm-ts\", which the experiment no longer has"));
    // A file that is not a state is an error of its own.
    let message = error(&experiment, dir.path());
    assert!(message.contains("-0.state: not a state, or one of another version: move it away"), "{message}");
}
