//! Files that have a temporary name until they are complete.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// End of the temporary names, which begin with a point.
const END: &str = ".click-bandits-part";

/// A complete file that still has its temporary name; removed unless it gets its own.
#[derive(Debug)]
pub struct TemporaryFile {
    temporary: PathBuf,
    path: PathBuf,
}

impl TemporaryFile {
    /// Writes `content`, forced to disk, under a temporary name in the directory of `path`.
    ///
    /// Nothing that has this name is written to: what a killed run left there, or a link that somebody put there, is removed.
    ///
    /// # Errors
    ///
    /// What the system says; what was begun is removed.
    pub fn write(path: &Path, content: &[u8]) -> io::Result<Self> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let temporary = path.with_file_name(format!(".{name}.{}{END}", std::process::id()));
        // The link itself, not what it leads to. If another one is made in between, the next line fails.
        let _ = fs::remove_file(&temporary);
        let mut file = File::create_new(&temporary)?;
        let part = Self { temporary, path: path.to_owned() };
        file.write_all(content)?;
        file.sync_all()?;
        Ok(part)
    }

    /// Gives the file its own name.
    ///
    /// # Errors
    ///
    /// What the system says; the file is removed then.
    pub fn rename(self) -> io::Result<()> {
        fs::rename(&self.temporary, &self.path)
    }
}

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        // Gone already when it was renamed.
        let _ = fs::remove_file(&self.temporary);
    }
}

/// Removes the temporary files of runs that were killed; only while no other run can be writing in the directory.
pub fn remove_left_overs(dir: &Path) {
    let Ok(entries) = fs::read_dir(dir) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        if name.to_string_lossy().starts_with('.') && name.to_string_lossy().ends_with(END) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Finds out whether a file can be created in a directory, by one without a name: nothing is left of it, killed or not.
///
/// # Errors
///
/// What the system says.
pub fn try_to_create_in(dir: &Path) -> io::Result<()> {
    tempfile::tempfile_in(dir).map(drop)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    /// The name can be guessed, so a link may wait there: what it leads to must stay as it is.
    #[test]
    fn a_planted_link_is_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        let victim = dir.path().join("victim");
        fs::write(&victim, "mine").unwrap();
        let path = dir.path().join("result.json");
        symlink(&victim, dir.path().join(format!(".result.json.{}{END}", std::process::id()))).unwrap();
        TemporaryFile::write(&path, b"{}").unwrap().rename().unwrap();
        assert_eq!(fs::read_to_string(&victim).unwrap(), "mine");
        assert!(fs::symlink_metadata(&path).unwrap().is_file());
        assert_eq!(fs::read_to_string(&path).unwrap(), "{}");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
    }

    #[test]
    fn what_is_not_renamed_is_removed() {
        let dir = tempfile::tempdir().unwrap();
        drop(TemporaryFile::write(&dir.path().join("a"), b"x").unwrap());
        try_to_create_in(dir.path()).unwrap();
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
        assert!(try_to_create_in(&dir.path().join("missing")).is_err());
    }
}
