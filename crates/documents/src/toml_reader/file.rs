//! The contents of files: of those on disk, and of those that are part of the program.

use super::{Error, Field};
use crate::regular::open_regular;
use crate::unix::names_and_identity;
use std::fs::{File, Metadata};
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// The size of the largest file that is read.
pub(crate) const MAX_BYTES: u64 = 64 << 20;

/// Name and content of a file that is part of the program.
pub type EmbeddedFile = (&'static str, &'static [u8]);

/// Reads the content of a file. `expected` names what it should be, for messages.
///
/// # Errors
///
/// The file cannot be read, is a directory, a pipe or a device, or is larger than 64 MiB.
pub fn read_file(path: &Path, expected: &str) -> Result<Vec<u8>, Error> {
    let file = path.display().to_string();
    let file = if file.is_empty() { "\"\"" } else { &file };
    let content = open(path, expected).and_then(|opened| content_of(opened, expected));
    content.map_err(|fault| Error::whole_file(file, fault))
}

/// Opens a file that is read whole.
fn open(path: &Path, expected: &str) -> Result<File, String> {
    if path.is_dir() {
        return Err(format!("is a directory: expected {expected}"));
    }
    open_regular(path).map_err(|error| unreadable(&error))
}

/// The content of a file, or what is wrong with it.
pub(super) fn content_of(opened: File, expected: &str) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    opened.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(|error| unreadable(&error))?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(format!("is larger than 64 MiB: expected {expected}"));
    }
    Ok(bytes)
}

/// An error of the operating system without its number.
fn unreadable(error: &std::io::Error) -> String {
    let message = error.to_string();
    match message.find(" (os error") {
        Some(end) => format!("cannot be read: {}", message[..end].to_lowercase()),
        None => format!("cannot be read: {message}"),
    }
}

impl Field<'_> {
    /// Reads a file whose name is relative to the folder of this file, and which is in that folder,
    /// below it, or allowed ([`Source::allowing`](super::Source::allowing)), wherever links lead.
    /// `expected` is its expected kind, for messages.
    ///
    /// # Errors
    ///
    /// The file is elsewhere; the errors of [`read_file`]. They are errors of this field.
    pub fn read_beside(&self, name: &str, expected: &str) -> Result<Vec<u8>, Error> {
        let folder = self.folder();
        let path = folder.join(name);
        let content = match self.source.beside {
            Some(files) => {
                let found = files.iter().find(|(other, _)| *other == name);
                let missing = || "is not among the files of the program".to_owned();
                found.map(|(_, content)| content.to_vec()).ok_or_else(missing)
            }
            None => open_in(folder, &path, &self.source.allowed, expected)
                .and_then(|opened| content_of(opened, expected)),
        };
        content.map_err(|fault| self.error(format!("{}: {fault}", path.display())))
    }
}

/// Opens a file that is in a folder, below it, or in an allowed one, wherever links lead. It is
/// looked for again afterwards: a link may have taken its place meanwhile.
pub(super) fn open_in(
    folder: &Path,
    path: &Path,
    allowed: &[PathBuf],
    expected: &str,
) -> Result<File, String> {
    let opened = open(&find_in(folder, path, allowed)?, expected)?;
    let now = find_in(folder, path, allowed)?.metadata();
    let identity = |file: std::io::Result<Metadata>| file.ok().map(|file| names_and_identity(&file).1);
    if identity(now) != identity(opened.metadata()) {
        return Err("was replaced while it was opened: try again".to_owned());
    }
    Ok(opened)
}

/// Where a file is when all links are followed.
fn find_in(folder: &Path, path: &Path, allowed: &[PathBuf]) -> Result<PathBuf, String> {
    let found = path.canonicalize().map_err(|error| unreadable(&error))?;
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let is_in = |root: &Path| root.canonicalize().is_ok_and(|root| found.starts_with(root));
    if !std::iter::once(folder).chain(allowed.iter().map(PathBuf::as_path)).any(is_in) {
        return Err("is outside of the folder of this file: move it there, or allow its folder".to_owned());
    }
    Ok(found)
}
