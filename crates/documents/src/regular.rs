//! Files that are read to their end: no pipe, which may wait, and no device, which may never end.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

/// Opens a file that a user has named; all but regular files are refused before they are opened.
///
/// # Errors
///
/// An error of the system; a directory, a pipe or a device.
pub fn open_regular(path: &Path) -> io::Result<File> {
    let found = fs::metadata(path)?;
    if found.is_file() {
        return File::open(path);
    }
    Err(io::Error::other(if found.is_dir() {
        "is a directory: name a file in it"
    } else {
        "is not a regular file: write the content to one first"
    }))
}

/// The first two of these paths that are one file.
pub fn named_twice(paths: &[PathBuf]) -> Option<[&Path; 2]> {
    // A pipe has no canonical path. A missing file is reported when it is opened.
    let canonical: Vec<PathBuf> =
        paths.iter().map(|path| fs::canonicalize(path).unwrap_or_else(|_| path.clone())).collect();
    let again = (1..paths.len()).find_map(|place| {
        Some([canonical[..place].iter().position(|other| *other == canonical[place])?, place])
    });
    again.map(|places| places.map(|place| &*paths[place]))
}

/// The content of a file that a user has named.
///
/// # Errors
///
/// Those of [`open_regular`].
pub fn read_regular(path: &Path) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    open_regular(path)?.read_to_end(&mut content)?;
    Ok(content)
}

/// The content of a file that this program has written, which is no link.
///
/// # Errors
///
/// Those of [`open_regular`]; a link.
pub fn read_own(path: &Path) -> io::Result<Vec<u8>> {
    if is_link(path) {
        return Err(io::Error::other("is a link, which this program does not write"));
    }
    read_regular(path)
}

/// Returns whether a path is a link.
pub fn is_link(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|found| found.is_symlink())
}
