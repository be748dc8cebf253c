//! Files that have a temporary name until they are complete.

use crate::regular::{is_link, open_regular};
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// The end of temporary names, which begin with a point.
const END: &str = ".click-bandits-part";

/// A complete file that still has its temporary name. `Drop` removes it unless it was renamed. It
/// is locked meanwhile: files without a lock are those of killed processes.
#[derive(Debug)]
pub struct TemporaryFile {
    temporary: PathBuf,
    path: PathBuf,
    file: File,
}

impl TemporaryFile {
    /// Writes `content` under a temporary name in the directory of `path`, and forces it to disk.
    ///
    /// A file of this name, such as that of a killed run, or a link, is removed first.
    ///
    /// # Errors
    ///
    /// An error of the system; the temporary file is removed.
    pub fn write(path: &Path, content: &[u8]) -> io::Result<Self> {
        Self::write_with(path, |file| file.write_all(content))
    }

    /// [`TemporaryFile::write`] with a function that writes the content.
    ///
    /// # Errors
    ///
    /// The error of the function or of the system; the temporary file is removed.
    pub fn write_with<E: From<io::Error>>(
        path: &Path,
        write: impl FnOnce(&mut File) -> Result<(), E>,
    ) -> Result<Self, E> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let temporary = path.with_file_name(format!(".{name}.{}{END}", std::process::id()));
        // This removes a link itself, not its target. If another link appears, the next line fails.
        let _ = fs::remove_file(&temporary);
        let file = File::create_new(&temporary)?;
        // Without locks, nothing is taken for left over.
        let _ = file.try_lock();
        let mut part = Self { temporary, path: path.to_owned(), file };
        write(&mut part.file)?;
        part.file.sync_all()?;
        Ok(part)
    }

    /// Where the file is now.
    pub fn temporary_path(&self) -> &Path {
        &self.temporary
    }

    /// Gives the file its final name.
    ///
    /// # Errors
    ///
    /// An error of the system; the file is removed.
    pub fn rename(self) -> io::Result<()> {
        fs::rename(&self.temporary, &self.path)
    }
}

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        // Does nothing after a rename.
        let _ = fs::remove_file(&self.temporary);
    }
}

/// Removes the temporary files of killed processes from a directory.
pub fn remove_left_overs(dir: &Path) {
    let Ok(entries) = fs::read_dir(dir) else { return };
    for entry in entries.flatten() {
        let (name, path) = (entry.file_name(), entry.path());
        let name = name.to_string_lossy();
        let is_left = || open_regular(&path).is_ok_and(|file| file.try_lock().is_ok());
        if name.starts_with('.') && name.ends_with(END) && !is_link(&path) && is_left() {
            let _ = fs::remove_file(path);
        }
    }
}

/// Forces the directory of a file to disk, and so a name that the file was given. A system that
/// cannot do so is left to itself.
pub fn sync_dir_of(path: &Path) {
    let dir = path.parent().map(File::open);
    let _ = dir.and_then(Result::ok).map(|dir| dir.sync_all());
}

/// Checks that a file can be created in a directory, by creating one without a name. Nothing is
/// left behind, even if the program is killed.
///
/// # Errors
///
/// An error of the system.
pub fn try_to_create_in(dir: &Path) -> io::Result<()> {
    tempfile::tempfile_in(dir).map(drop)
}

#[cfg(all(test, unix))]
mod tests;
