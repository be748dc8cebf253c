//! The error of a file or directory.

use std::io;
use std::path::{Path, PathBuf};

/// A file or directory that cannot be used: its place, what is wrong, and what to do.
#[derive(Debug, thiserror::Error)]
#[error("{}: {fault}", .path.display())]
pub struct PathError {
    path: PathBuf,
    fault: String,
}

impl PathError {
    pub(crate) fn new(path: impl Into<PathBuf>, fault: impl Into<String>) -> Self {
        Self { path: path.into(), fault: fault.into() }
    }

    /// Turns an error of the system into one of this path.
    pub(crate) fn system(path: &Path, action: &'static str) -> impl Fn(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |error| Self::new(&path, format!("{action}: {error}"))
    }

    /// Another process holds the lock of a directory.
    pub(crate) fn in_use(dir: impl Into<PathBuf>) -> Self {
        Self::new(dir, "another run writes here: wait until it is done, or give another directory")
    }

    /// The file or directory.
    pub fn path(&self) -> &Path {
        &self.path
    }
}
