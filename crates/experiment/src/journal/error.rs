//! Errors of journals.

use crate::path_error::PathError;
use std::io;
use std::path::{Path, PathBuf};

documents::debug_is_display!(JournalError);

/// Why the journal of an experiment cannot be used.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum JournalError {
    /// A file or directory of the journal cannot be used.
    #[error(transparent)]
    Path(#[from] PathError),
    /// The caller stopped all runs.
    #[error("stopped: finished runs and states of long ones are kept if there is a directory")]
    Stopped,
    /// A run cannot be played, or was stopped because another one failed.
    #[error("{0}")]
    Run(String),
}

impl JournalError {
    pub(crate) fn new(path: impl Into<PathBuf>, fault: impl Into<String>) -> Self {
        Self::Path(PathError::new(path, fault))
    }

    /// A file has bytes that its program did not write.
    pub(crate) fn damaged(path: &Path, offset: u64, fault: &str) -> Self {
        Self::new(
            path,
            format!(
                "damaged at byte {offset}: {fault}: restore the file, or move it away to play its runs again"
            ),
        )
    }

    /// Something else has written to a file that is being used, has cut it, or has replaced it.
    pub(crate) fn changed(path: &Path) -> Self {
        Self::new(
            path,
            "was changed by something else while it was used: start again; if the file is damaged, \
             restore it or move it away",
        )
    }

    /// The journal or one of its files is a link.
    pub(crate) fn link(path: &Path) -> Self {
        Self::new(path, "is a link: give another directory, or move the journal itself there")
    }

    /// Turns an error of the system into one of this file.
    pub(crate) fn system(path: &Path, action: &'static str) -> impl FnOnce(io::Error) -> Self + use<> {
        let system = PathError::system(path, action);
        move |error| Self::Path(system(error))
    }
}
