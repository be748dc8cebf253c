//! The journal of an experiment: its finished runs, a file for each policy, and states of
//! unfinished ones, in the folder `journal` of its directory.
//!
//! A process that is started again with the same experiment plays only the runs that are missing.
//! The journal stays when the experiment is finished, so that runs and policies can be added later.

mod error;
mod file;
mod frame;
mod recorder;
mod state;
mod sync;

pub use error::JournalError;

pub(crate) use file::{FileHead, JournalFile, Place};
pub(crate) use recorder::Recorder;
pub(crate) use sync::Syncer;

use crate::path_error::PathError;
use crate::runs::{Layout, Sequence};
use crate::shard::Shard;
use documents::number::counted;
use documents::{is_link, remove_left_overs, sha256};
use spec::{Canonical, CanonicalPolicy};
use state::StateFiles;
use std::fs::{self, File, TryLockError};
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// The folder of the journal in the directory of an experiment.
pub const JOURNAL: &str = "journal";
/// The end of the names of files with runs.
const RUNS_END: &str = ".runs";
/// Digits of a hash in the name of a file.
const KEY: usize = 16;

/// The program and experiment to which a journal belongs.
#[derive(Debug)]
pub(crate) struct Belongs<'a> {
    pub(crate) program: String,
    pub(crate) name: &'a str,
    pub(crate) canonical: &'a Canonical,
}

impl Belongs<'_> {
    /// The heads of the files of all policies, in their order.
    pub(crate) fn heads(&self) -> Vec<FileHead> {
        self.canonical.policies.iter().map(|policy| self.head(policy)).collect()
    }

    fn head(&self, policy: &CanonicalPolicy) -> FileHead {
        FileHead {
            program: self.program.clone(),
            experiment: self.name.to_owned(),
            base: self.canonical.base.clone(),
            label: policy.label.clone(),
            policy: policy.json.clone(),
        }
    }
}

/// The journal of an experiment, locked for this process.
#[derive(Debug)]
pub(crate) struct Journal {
    /// The lock, if the file system has locks.
    _lock: Option<File>,
    /// The states of every policy of the catalogue.
    states: Vec<StateFiles>,
}

impl Journal {
    /// Checks that the journal of `dir`, if there is one, belongs to an experiment, or with `fresh`
    /// to its base. Changes nothing. Returns the files that stay and those that do not.
    pub(crate) fn check(
        dir: &Path,
        belongs: &Belongs<'_>,
        fresh: bool,
    ) -> Result<[Vec<PathBuf>; 2], JournalError> {
        let mut found = [Vec::new(), Vec::new()];
        for path in files(&dir.join(JOURNAL), RUNS_END)? {
            let stays = belongs_to(dir, &path, belongs, fresh)?;
            found[usize::from(!stays)].push(path);
        }
        Ok(found)
    }

    /// Locks the journal of `dir`, and reads the runs of every policy of the catalogue: those of
    /// `runs`. Creates what is missing; with `fresh`, everything. `note` gets sentences for the
    /// user.
    pub(crate) fn open(
        dir: &Path,
        belongs: &Belongs<'_>,
        layout: Layout,
        runs: &Range<u64>,
        shard: Option<Shard>,
        fresh: bool,
        note: &dyn Fn(&str),
    ) -> Result<(Self, Vec<Sequence>), JournalError> {
        let journal = dir.join(JOURNAL);
        files(&journal, RUNS_END)?;
        fs::create_dir_all(&journal).map_err(JournalError::system(&journal, "cannot be created"))?;
        let lock = lock(&journal)?;
        remove_left_overs(&journal);
        if lock.is_none() {
            let journal = journal.display();
            note(&format!(
                "{journal}: this file system has no locks: run only one process in this directory"
            ));
        }
        let [_, others] = Self::check(dir, belongs, fresh)?;
        for path in others {
            for path in states_beside(&path)?.into_iter().chain([path]) {
                fs::remove_file(&path).map_err(JournalError::system(&path, "cannot be removed"))?;
            }
        }
        let (mut states, mut sequences) = (Vec::new(), Vec::new());
        for policy in &belongs.canonical.policies {
            let (key, path) = (&policy.sha256[..KEY], runs_path(&journal, &policy.sha256));
            let head = belongs.head(policy);
            sequences.push(open_sequence(&path, &head, layout, runs, shard, note)?);
            states.push(StateFiles::new(&journal, key, &head));
        }
        Ok((Self { _lock: lock, states }, sequences))
    }

    /// The first `n_runs` runs of the policy with this label in the journal of `dir`, which stays
    /// as it is. `None` if there are none of an experiment with this base. Runs of any program are
    /// read.
    pub(crate) fn read(
        dir: &Path,
        base: &str,
        label: &str,
        layout: Layout,
        n_runs: u64,
    ) -> Result<Option<Sequence>, JournalError> {
        for path in files(&dir.join(JOURNAL), RUNS_END)? {
            let (head, _) = JournalFile::head(&path)?;
            if head.base != base || head.label != label {
                continue;
            }
            let mut sequence = Sequence::in_memory(layout, 0, usize::try_from(n_runs).unwrap_or(usize::MAX));
            let file = JournalFile::open_to_read(&path, &head, layout.longest(), |place, content| {
                // An experiment that is being extended has more runs than its result.
                if Sequence::run_of(content)? < n_runs { sequence.add(place, content) } else { Ok(()) }
            })?;
            sequence.put_into(file);
            return Ok(Some(sequence));
        }
        Ok(None)
    }

    /// The number of unfinished runs with a state.
    pub(crate) fn n_states(&self) -> u64 {
        self.states.iter().map(StateFiles::count).sum()
    }

    /// The place of the states of the policy with this index; `None` for a contender of the caller.
    fn states(&self, policy: usize) -> Option<&StateFiles> {
        self.states.get(policy)
    }
}

/// The file with the runs of the policy with this hash.
pub(crate) fn runs_path(journal: &Path, sha256: &str) -> PathBuf {
    journal.join(format!("{}{RUNS_END}", sha256.get(..KEY).unwrap_or(sha256)))
}

/// Returns whether a file with runs belongs to an experiment; not if it is of another policy, but
/// has neither runs nor states. With `fresh` no file does, and those with runs of another base are
/// errors still.
fn belongs_to(dir: &Path, path: &Path, belongs: &Belongs<'_>, fresh: bool) -> Result<bool, JournalError> {
    let (found, has_records) = JournalFile::head(path)?;
    let has_runs = has_records || !states_beside(path)?.is_empty();
    let own_path = runs_path(&dir.join(JOURNAL), &sha256(found.policy.as_bytes()));
    if own_path != path {
        let (label, own_path) = (found.label, own_path.display());
        let fault = format!(
            "has runs of {label:?}, whose file is {own_path}: a file was renamed or copied there; restore it"
        );
        return Err(JournalError::new(path, fault));
    }
    let policies = &belongs.canonical.policies;
    let is_same = found.base == belongs.canonical.base;
    let same_label = policies.iter().find(|policy| policy.label == found.label).filter(|_| is_same);
    let FileHead { program, experiment, label, policy: parameters, .. } = &found;
    let (place, fault) = match same_label {
        Some(policy) if !fresh && policy.json == *parameters && *program == belongs.program => {
            return Ok(true);
        }
        _ if !has_runs || (fresh && is_same) => return Ok(false),
        _ if !is_same => {
            let journal = dir.join(JOURNAL);
            let remedy = format!("give another directory, or move {} away first", journal.display());
            (dir, format!("has runs of another experiment ({experiment:?}): {remedy}"))
        }
        Some(policy) if policy.json == *parameters => {
            let remedy = "play everything again (`--fresh`), or continue with that program";
            (path, format!("was played by {program}, this program is {}: {remedy}", belongs.program))
        }
        Some(CanonicalPolicy { json, .. }) => {
            let remedy = "give it another label, or play everything again (`--fresh`)";
            (dir, format!("has runs of {label:?} with other parameters ({parameters}, now {json}): {remedy}"))
        }
        None => {
            let remedy = "keep the policy, or play everything again (`--fresh`)";
            (dir, format!("has runs of {label:?}, which the experiment no longer has: {remedy}"))
        }
    };
    Err(JournalError::new(place, fault))
}

/// The states of unfinished runs beside a file of runs.
fn states_beside(path: &Path) -> Result<Vec<PathBuf>, JournalError> {
    let key = path.file_stem().unwrap_or_default().to_string_lossy();
    state::files_of(path.parent().unwrap_or(path), &key)
}

/// Opens or creates the file of a policy.
fn open_sequence(
    path: &Path,
    head: &FileHead,
    layout: Layout,
    runs: &Range<u64>,
    shard: Option<Shard>,
    note: &dyn Fn(&str),
) -> Result<Sequence, JournalError> {
    let n_runs = usize::try_from(runs.end.saturating_sub(runs.start)).unwrap_or(usize::MAX);
    let mut sequence = Sequence::in_memory(layout, runs.start, n_runs);
    if !path.exists() {
        sequence.put_into(JournalFile::create(path, head)?);
        return Ok(sequence);
    }
    let mut outside = None;
    let (file, cut_off) = JournalFile::open(path, head, layout.longest(), |place, content| {
        let run = Sequence::run_of(content)?;
        if !runs.contains(&run) {
            outside = outside.max(Some(run));
            return Ok(());
        }
        sequence.add(place, content)
    })?;
    if let (Some(run), Some(shard)) = (outside, shard) {
        let run = run + 1;
        let fault = format!("run {run} is not one of shard {shard}: give another directory");
        return Err(JournalError::new(path, fault));
    }
    if let Some(run) = outside {
        return Err(JournalError::new(
            path,
            format!(
                "has runs up to number {} of {:?}, the experiment has {} in all: ask for as many runs as \
                 before, or play everything again (`--fresh`)",
                run + 1,
                head.label,
                runs.end
            ),
        ));
    }
    if cut_off > 0 {
        let bytes = counted(cut_off, "byte");
        note(&format!("{}: an unfinished record of {bytes} is cut off", path.display()));
    }
    sequence.put_into(file);
    Ok(sequence)
}

/// Locks a directory for this process; `None` if the file system has no locks.
pub(crate) fn lock(journal: &Path) -> Result<Option<File>, JournalError> {
    // A pipe of this name would wait for another process.
    let open =
        || if journal.is_dir() { File::open(journal) } else { Err(io::ErrorKind::NotADirectory.into()) };
    let dir = open().map_err(JournalError::system(journal, "cannot be opened"))?;
    match dir.try_lock() {
        Ok(()) => Ok(Some(dir)),
        Err(TryLockError::WouldBlock) => Err(PathError::in_use(journal.parent().unwrap_or(journal)).into()),
        Err(TryLockError::Error(_)) => Ok(None),
    }
}

/// The files of a folder with this end of their names, sorted. None if there is no folder. A link
/// is refused: nothing outside of the directory is written or removed.
fn files(folder: &Path, end: &str) -> Result<Vec<PathBuf>, JournalError> {
    let system = || JournalError::system(folder, "cannot be read");
    if is_link(folder) {
        return Err(JournalError::link(folder));
    }
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(system()(error)),
    };
    let mut paths = Vec::new();
    for entry in entries {
        let path = entry.map_err(system())?.path();
        if path.file_name().is_some_and(|name| name.to_string_lossy().ends_with(end)) {
            if is_link(&path) {
                return Err(JournalError::link(&path));
            }
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

#[cfg(test)]
mod tests;
