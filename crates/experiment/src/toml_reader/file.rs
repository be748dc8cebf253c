//! The contents of files: of those on disk, and of those that are part of the program.

use super::{Error, Field};
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

/// The size of the largest file that is read.
const MAX_BYTES: u64 = 64 << 20;

/// Name and content of a file that is part of the program.
pub type EmbeddedFile = (&'static str, &'static [u8]);

/// Reads the content of a file. `expected` names what it should be, for messages.
///
/// # Errors
///
/// The file cannot be read, is a directory, or is larger than 64 MiB.
pub fn read_file(path: &Path, expected: &str) -> Result<Vec<u8>, Error> {
    let file = path.display().to_string();
    let file = if file.is_empty() { "\"\"".to_owned() } else { file };
    let unreadable = |error: std::io::Error| {
        Error::whole_file(&file, format!("cannot be read: {}", plain_io_message(&error)))
    };
    if path.is_dir() {
        return Err(Error::whole_file(&file, format!("is a directory: expected {expected}")));
    }
    let mut bytes = Vec::new();
    let opened = File::open(path).map_err(unreadable)?;
    opened.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(Error::whole_file(&file, format!("is larger than 64 MiB: expected {expected}")));
    }
    Ok(bytes)
}

/// An error of the operating system without its number.
fn plain_io_message(error: &std::io::Error) -> String {
    let message = error.to_string();
    match message.find(" (os error") {
        Some(end) => message[..end].to_lowercase(),
        None => message,
    }
}

impl Field<'_> {
    /// Reads a file whose name is relative to the folder of this file. `expected` says what it should be, for messages.
    ///
    /// # Errors
    ///
    /// The errors of [`read_file`].
    pub fn read_beside(&self, name: &str, expected: &str) -> Result<Vec<u8>, Error> {
        let path = self.folder().join(name);
        let Some(files) = self.source.beside else { return read_file(&path, expected) };
        let found = files.iter().find(|(other, _)| *other == name);
        found.map(|(_, content)| content.to_vec()).ok_or_else(|| {
            Error::whole_file(&path.display().to_string(), "is not among the files of the program")
        })
    }
}
