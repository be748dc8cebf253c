//! Errors of journals.

use std::io;
use std::path::PathBuf;

/// Why the journal of an experiment cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JournalError {
    /// The operating system refused.
    #[error("{}: {action}: {error}", path.display())]
    System {
        /// File or directory.
        path: PathBuf,
        /// What failed.
        action: &'static str,
        /// The system's error.
        error: io::Error,
    },
    /// A file has bytes that its program did not write.
    #[error("{}: damaged at byte {offset}: {fault}: restore the file, or move it away to play its runs again", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Where the damage begins.
        offset: u64,
        /// What is wrong.
        fault: String,
    },
    /// Something else has written to a file that is being used, has cut it, or has put another one in its place.
    #[error("{}: was changed by something else while it was used: start again; if the file is damaged, restore it or move it away", .0.display())]
    Changed(PathBuf),
    /// The journal or one of its files is a link.
    #[error("{}: is a link: give another --out, or move the journal itself there", .0.display())]
    Link(PathBuf),
    /// Another run holds the lock.
    #[error("{}: another run writes here: wait until it is done, or give another --out", .0.display())]
    InUse(PathBuf),
    /// The runs are those of another experiment.
    #[error("{}: has runs of another experiment ({name:?}): give another --out, or move {} away first", dir.display(), journal.display())]
    AnotherExperiment {
        /// The directory.
        dir: PathBuf,
        /// Its journal.
        journal: PathBuf,
        /// The name of the other experiment.
        name: String,
    },
    /// The runs were played by another version of the program.
    #[error("{}: was played by {found}, this program is {this}: play everything again with --fresh, or go on with that program", path.display())]
    AnotherProgram {
        /// The file.
        path: PathBuf,
        /// The program that played the runs.
        found: String,
        /// This program.
        this: String,
    },
    /// The directory has more runs than the experiment.
    #[error("{}: has runs up to number {found} of {label:?}, the experiment has {asked} in all: ask for as many runs as before, or play everything again with --fresh", path.display())]
    FewerRuns {
        /// The file.
        path: PathBuf,
        /// The policy.
        label: String,
        /// The largest number of a run.
        found: u64,
        /// The runs of the experiment.
        asked: u64,
    },
    /// A file has the name of another policy's.
    #[error("{}: has runs of {label:?}, whose file is {}: a file was renamed or copied there; restore it", path.display(), own_path.display())]
    Misnamed {
        /// The file.
        path: PathBuf,
        /// The policy whose runs it has.
        label: String,
        /// The file's own path.
        own_path: PathBuf,
    },
    /// A file has runs of something else.
    #[error("{}: has runs of {label:?} that were played by another program, or on other users, rounds or seed: restore the file", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// The policy whose runs it has.
        label: String,
    },
    /// The directory has runs that do not belong to the shard.
    #[error("{}: run {run} is not one of shard {shard}: give another --out", path.display())]
    OtherShard {
        /// The file.
        path: PathBuf,
        /// The run, counted from 1.
        run: u64,
        /// The shard.
        shard: String,
    },
    /// The experiment no longer has a policy.
    #[error("{}: has runs of {label:?}, which the experiment no longer has: keep the policy, or play everything again with --fresh", dir.display())]
    RemovedPolicy {
        /// The directory.
        dir: PathBuf,
        /// The label.
        label: String,
    },
    /// A policy of the experiment has other parameters than before.
    #[error("{}: has runs of {label:?} with other parameters ({before}, now {now}): give it another label, or play everything again with --fresh", dir.display())]
    OtherParameters {
        /// The directory.
        dir: PathBuf,
        /// The label.
        label: String,
        /// The parameters of the runs.
        before: String,
        /// The parameters of the experiment.
        now: String,
    },
    /// There is a result without its runs.
    #[error("{}: has a result without its runs ({}), perhaps of an earlier version: play everything again with --fresh, or give another --out", dir.display(), journal.display())]
    NoRuns {
        /// The directory.
        dir: PathBuf,
        /// The missing journal.
        journal: PathBuf,
    },
    /// The caller stopped all runs.
    #[error("stopped: finished runs and states of long ones are kept if there is a directory")]
    Stopped,
    /// A run cannot be played, or was stopped because another one failed.
    #[error("{0}")]
    Run(String),
    /// A kept state is not one of this replication.
    #[error("{}: {fault}: move it away to begin this run again", path.display())]
    State {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        fault: String,
    },
}

impl JournalError {
    /// `dir` has a result, but no journal.
    pub(crate) fn no_runs(dir: &std::path::Path) -> Self {
        Self::NoRuns { dir: dir.to_owned(), journal: dir.join(super::JOURNAL) }
    }

    /// Turns an error of the system into one of this file.
    pub(crate) fn system(
        path: &std::path::Path,
        action: &'static str,
    ) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |error| Self::System { path, action, error }
    }
}
