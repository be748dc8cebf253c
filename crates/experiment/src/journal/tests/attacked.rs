//! Files that something else changes while they are used, and directories that belong to somebody
//! else.

use super::{at_once, bytes, contents, error, experiment, files_of_runs, merge, play_parts, run_into};
use crate::journal::file::{FileHead, JournalFile};
use crate::{Claim, JOURNAL, Observer, PART, ResultDir, RunError, Runner, Shard, Step};
use click_models::CascadeModel;
use spec::{Experiment, Instances};
use std::fmt;
use std::fs::{self, OpenOptions};
use std::io::{Seek as _, SeekFrom, Write as _};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use tempfile::tempdir;

/// Records that reach the file while runs are played: it is written whenever 64 KiB are gathered.
fn large() -> Experiment {
    let users = CascadeModel::from_values(&[0.5, 0.4, 0.2], 2).unwrap();
    let builder = Experiment::builder("large", Instances::of([users])).horizon(600).runs(30);
    builder.checkpoints((1..=600).collect::<Vec<u64>>()).policy("cascade-ts").build().unwrap()
}

/// Does something once twenty runs have ended.
struct Meanwhile<F>(AtomicU64, F);

impl<F> fmt::Debug for Meanwhile<F> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Meanwhile")
    }
}

impl<F: Fn() + Sync> Observer for Meanwhile<F> {
    fn step(&self, step: &Step) {
        if step.ends_run && self.0.fetch_add(1, Ordering::Relaxed) == 19 {
            (self.1)();
        }
    }
}

fn run_meanwhile(dir: &Path, change: impl Fn(&Path) + Sync) -> Result<(), RunError> {
    let experiment = large();
    let observer = Meanwhile(AtomicU64::new(0), || change(&files_of_runs(dir)[0]));
    Runner::new(&experiment).threads(1).observer(&observer).run_into(dir).map(drop)
}

fn write_at(file: &Path, place: u64, content: &[u8]) {
    let mut file = OpenOptions::new().write(true).open(file).unwrap();
    file.seek(SeekFrom::Start(place)).unwrap();
    file.write_all(content).unwrap();
}

#[test]
fn a_journal_that_changes_while_runs_are_played_gives_no_result() {
    let truncate = |file: &Path| OpenOptions::new().write(true).open(file).unwrap().set_len(0).unwrap();
    let append = |file: &Path| write_at(file, fs::metadata(file).unwrap().len(), b"x");
    let flip = |file: &Path| {
        let changed: Vec<u8> = fs::read(file).unwrap()[5_000..9_000].iter().map(|byte| byte ^ 0x10).collect();
        write_at(file, 5_000, &changed);
    };
    // A second process writes to the same place: a whole record of another run.
    let write_twice = |file: &Path| {
        let whole = fs::read(file).unwrap();
        let begin = super::begin_of(file, &whole);
        let length = 8 + u32::from_le_bytes(whole[begin..begin + 4].try_into().unwrap()) as usize;
        write_at(file, (begin + length) as u64, &whole[begin..begin + length]);
    };
    let remove = |file: &Path| fs::remove_file(file).unwrap();
    let replace = |file: &Path| {
        fs::copy(file, file.with_extension("copy")).unwrap();
        fs::rename(file.with_extension("copy"), file).unwrap();
    };
    let changes: [&(dyn Fn(&Path) + Sync); 6] = [&truncate, &append, &flip, &write_twice, &remove, &replace];
    for (number, change) in changes.into_iter().enumerate() {
        let dir = tempdir().unwrap();
        let message = run_meanwhile(dir.path(), change).expect_err(&number.to_string()).to_string();
        assert!(message.contains(".runs: was changed by something else"), "{number}: {message}");
        assert!(!dir.path().join("result.json").exists());
    }
    let dir = tempdir().unwrap();
    run_meanwhile(dir.path(), |_| {}).unwrap();
    assert_eq!(bytes(dir.path()), at_once(&large()));
}

/// Replaces the journal at the end of the first run, and waits in the second until the thread that
/// writes finds that.
#[derive(Debug)]
struct ReplaceAndWait<'a>(&'a Path, AtomicU64);

impl Observer for ReplaceAndWait<'_> {
    fn step(&self, step: &Step) {
        if step.ends_run {
            let file = files_of_runs(self.0).remove(0);
            fs::copy(&file, file.with_extension("copy")).unwrap();
            fs::rename(file.with_extension("copy"), file).unwrap();
            self.1.store(1, Ordering::Relaxed);
        } else if self.1.swap(0, Ordering::Relaxed) == 1 {
            std::thread::sleep(std::time::Duration::from_millis(1_200));
        }
    }
}

/// The error is that of the thread that writes, and not that a run was stopped because of it.
#[test]
fn a_change_that_stops_a_run_is_named() {
    let users = CascadeModel::from_values(&[0.5, 0.4, 0.2], 2).unwrap();
    let builder = Experiment::builder("long", Instances::of([users])).horizon(4_000_000).runs(2);
    let experiment = builder.policy("cascade-ts").build().unwrap();
    let dir = tempdir().unwrap();
    let observer = ReplaceAndWait(dir.path(), AtomicU64::new(0));
    let run = Runner::new(&experiment).threads(1).observer(&observer).run_into(dir.path());
    let message = run.map(drop).unwrap_err().to_string();
    assert!(message.contains(".runs: was changed by something else"), "{message}");
}

/// A directory that was copied by hard links is a backup, or one where the same experiment runs
/// at the same time.
#[test]
fn a_file_with_a_second_name_is_not_changed_by_the_first() {
    let expected = at_once(&large());
    let (dir, other) = (tempdir().unwrap(), tempdir().unwrap());
    let backup = other.path().join("backup.runs");
    run_meanwhile(dir.path(), |file| fs::hard_link(file, &backup).unwrap()).unwrap();
    assert_eq!(bytes(dir.path()), expected);
    let file = files_of_runs(dir.path()).remove(0);
    let (kept, whole) = (fs::read(&backup).unwrap(), fs::read(&file).unwrap());
    assert!(kept.len() < whole.len() && whole.starts_with(&kept));

    // An unfinished end is cut off from the copy alone, and a file that is being written to under
    // another name is not copied.
    fs::write(&backup, &whole[..whole.len() - 1]).unwrap();
    fs::remove_file(&file).unwrap();
    fs::hard_link(&backup, &file).unwrap();
    let held = fs::File::open(&backup).unwrap();
    held.lock().unwrap();
    assert!(error(&large(), dir.path()).starts_with("DIR: another run writes here"));
    drop(held);
    assert_eq!(run_into(&large(), dir.path()).n_new_runs, 1);
    assert_eq!(bytes(dir.path()), expected);
    assert_eq!(fs::read(&backup).unwrap(), whole[..whole.len() - 1]);
}

/// Journals too large to be loaded are read record by record, long after they were checked.
#[test]
fn a_record_is_compared_with_its_checksum_whenever_it_is_read() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("a.runs");
    let [program, experiment, base, label, policy] = ["p", "e", "b", "l", "{}"].map(str::to_owned);
    let mut file =
        JournalFile::create(&path, &FileHead { program, experiment, base, label, policy }).unwrap();
    let places = [b"first", b"other"].map(|content| file.append(content).unwrap());
    let mut read =
        |place| file.read(place, &mut Vec::new()).map(<[u8]>::to_vec).map_err(|error| error.to_string());
    assert_eq!(places.map(&mut read), [Ok(b"first".to_vec()), Ok(b"other".to_vec())]);
    let whole = fs::read(&path).unwrap();
    write_at(&path, (whole.len() - 1) as u64, b"R");
    let changed = format!("{}: was changed by something else", path.display());
    assert_eq!(read(places[0]), Ok(b"first".to_vec()));
    assert!(read(places[1]).unwrap_err().starts_with(&changed));
    fs::write(&path, &whole[..whole.len() - 1]).unwrap();
    assert!(read(places[1]).unwrap_err().starts_with(&changed));
    fs::write(&path, whole).unwrap();
    assert_eq!(read(places[1]), Ok(b"other".to_vec()));
}

fn fresh(experiment: &Experiment, dir: &Path) -> Result<(), String> {
    let runner = Runner::new(experiment);
    let claimed = ResultDir::claim(&runner, dir, Claim { fresh: true, ..Claim::default() });
    let played = claimed.and_then(|claimed| {
        let measured = runner.run_in(&claimed)?;
        claimed.write(&measured, Vec::new())
    });
    played.map(drop).map_err(|error| error.to_string().replace(&dir.display().to_string(), "DIR"))
}

#[test]
fn fresh_removes_nothing_but_the_runs_of_the_same_experiment() {
    let (own, dir) = (experiment(3, &["pbm-ts"]), tempdir().unwrap());
    let other = Experiment::from_toml(&own.to_toml().replace("seed = 1", "seed = 2")).unwrap();
    run_into(&other, dir.path());
    // An experiment that has not ended has only its journal.
    for name in ["result.json", "manifest.json", "spec.toml", "curves.csv", "timing.json"] {
        fs::remove_file(dir.path().join(name)).unwrap();
    }
    let before = contents(dir.path());
    let message = fresh(&own, dir.path()).unwrap_err();
    let expected = "DIR: has runs of another experiment (\"small\"): give another directory, or move DIR/journal away first";
    assert_eq!(message, expected);
    let shard = Runner::new(&own).run_part(
        dir.path(),
        Shard::new(1, 2).unwrap(),
        &Claim { fresh: true, ..Claim::default() },
    );
    assert!(shard.unwrap_err().to_string().contains("has runs of another experiment"));
    assert_eq!(contents(dir.path()), before);

    let strangers = tempdir().unwrap();
    fs::create_dir(strangers.path().join(JOURNAL)).unwrap();
    let [runs, state] = ["mine.runs", "mine-1.state"].map(|name| strangers.path().join(JOURNAL).join(name));
    fs::write(&runs, "my morning runs").unwrap();
    fs::write(&state, "tired").unwrap();
    let before = contents(strangers.path());
    let message = fresh(&own, strangers.path()).unwrap_err();
    assert!(message.contains("mine.runs: damaged at byte 0") && !message.contains("fresh"), "{message}");
    assert_eq!(contents(strangers.path()), before);
    fs::remove_file(runs).unwrap();
    fresh(&own, strangers.path()).unwrap();
    fresh(&own, strangers.path()).unwrap();
    assert_eq!(bytes(strangers.path()), at_once(&own));
    assert_eq!(fs::read(state).unwrap(), b"tired");

    // If runs are replaced, their states are also replaced, whichever program kept them.
    let file = files_of_runs(strangers.path()).remove(0);
    let state = file.with_file_name(format!("{}-1.state", file.file_stem().unwrap().to_string_lossy()));
    fs::write(&state, "of another version").unwrap();
    fresh(&own, strangers.path()).unwrap();
    assert!(!state.exists());
}

#[cfg(unix)]
#[test]
fn a_linked_journal_is_refused_and_stays() {
    let (own, dir, elsewhere) = (experiment(3, &["pbm-ts"]), tempdir().unwrap(), tempdir().unwrap());
    run_into(&own, elsewhere.path());
    let before = contents(elsewhere.path());
    std::os::unix::fs::symlink(elsewhere.path().join(JOURNAL), dir.path().join(JOURNAL)).unwrap();
    assert!(error(&own, dir.path()).starts_with("DIR/journal: is a link: give another directory"));
    assert!(
        fresh(&own, dir.path()).unwrap_err().starts_with("DIR/journal: is a link: give another directory")
    );
    fs::remove_file(dir.path().join(JOURNAL)).unwrap();
    fs::create_dir(dir.path().join(JOURNAL)).unwrap();
    let file = files_of_runs(elsewhere.path()).remove(0);
    let linked = dir.path().join(JOURNAL).join(file.file_name().unwrap());
    std::os::unix::fs::symlink(&file, &linked).unwrap();
    assert!(fresh(&own, dir.path()).unwrap_err().contains(".runs: is a link: give another directory"));
    assert_eq!(contents(elsewhere.path()), before);
}

#[test]
fn the_hashes_of_a_part_are_no_names_of_files() {
    let experiment = experiment(4, &["pbm-ts"]);
    let (top, dirs) = play_parts(&experiment, &[(1, 1)]);
    let text = fs::read_to_string(dirs[0].join(PART)).unwrap();
    let own = files_of_runs(&dirs[0]).remove(0);
    let key = own.file_stem().unwrap().to_string_lossy().into_owned();
    fs::write(dirs[0].join(PART), text.replace(&key, "../../../../../xx")).unwrap();
    let out = top.path().join("out");
    merge(&experiment, &dirs, &out).unwrap();
    assert_eq!(bytes(&out), at_once(&experiment));
}
