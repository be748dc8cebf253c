//! The error of a file or directory.

use std::io;
use std::path::{Path, PathBuf};

documents::debug_is_display!(PathError);

/// A file or directory that cannot be used: its place, what is wrong, and what to do.
#[derive(thiserror::Error, fieldwork::Fieldwork)]
#[error("{}: {fault}", .path.display())]
#[fieldwork(opt_in, get(doc_template = "{}"))]
pub struct PathError {
    /// The file or directory.
    #[field]
    path: PathBuf,
    fault: String,
}

impl PathError {
    /// A fault of a file or directory, and what to do.
    pub fn new(path: impl Into<PathBuf>, fault: impl Into<String>) -> Self {
        Self { path: path.into(), fault: fault.into() }
    }

    /// A file that this program did not write would be replaced.
    pub fn in_the_way(path: impl Into<PathBuf>) -> Self {
        let fault =
            "is in the way and not a result of this program: give another directory, or move the file";
        Self::new(path, fault)
    }

    /// Turns an error of the system into one of this path.
    pub fn system(path: &Path, action: &'static str) -> impl Fn(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |error| Self::new(&path, format!("{action}: {error}"))
    }

    /// Another process holds the lock of a directory.
    pub(crate) fn in_use(dir: impl Into<PathBuf>) -> Self {
        Self::new(dir, "another run writes here: wait until it is done, or give another directory")
    }
}
