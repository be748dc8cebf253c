//! States of unfinished runs: one file for each run that is being played.
//!
//! A file contains a line that names the format, and a frame: the SHA-256 of what the state belongs
//! to (program, base, policy), the number of the run, the time so far, and the state. It is
//! replaced as a whole.

use super::error::JournalError;
use super::file::FileHead;
use super::frame;
use crate::runs::record::Head;
use crate::timing::Span;
use documents::{TemporaryFile, read_own, sync_dir_of};
use sha2::{Digest, Sha256};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The first line of a file.
const FORMAT: &[u8] = b"click-bandits state 1\n";
/// The end of a file's name.
const END: &str = ".state";

/// The states in a folder whose names begin with this key and have the number of a run.
pub(super) fn files_of(folder: &Path, key: &str) -> Result<Vec<PathBuf>, JournalError> {
    let mut states = super::files(folder, END)?;
    states.retain(|path| {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let run = stem.strip_prefix(key).and_then(|rest| rest.strip_prefix('-'));
        run.is_some_and(|run| run.parse::<u64>().is_ok())
    });
    Ok(states)
}

/// The place of the states of one policy.
#[derive(Debug, Clone)]
pub(crate) struct StateFiles {
    dir: PathBuf,
    /// The beginning of a file's name.
    key: String,
    /// SHA-256 of what the states belong to.
    owner: [u8; 32],
}

impl StateFiles {
    pub(super) fn new(dir: &Path, key: &str, head: &FileHead) -> Self {
        let FileHead { program, base, policy, .. } = head;
        let owner = Sha256::digest([program, base, policy].map(String::as_str).join("\n")).into();
        Self { dir: dir.to_owned(), key: key.to_owned(), owner }
    }

    fn path(&self, run: u64) -> PathBuf {
        self.dir.join(format!("{}-{run}{END}", self.key))
    }

    /// Keeps the state of a run, which took this time so far.
    pub(crate) fn write(&self, run: u64, elapsed: Span, state: &[u8]) -> Result<(), JournalError> {
        let mut content = self.owner.to_vec();
        Head { run, elapsed }.write_to(&mut content);
        content.extend(state);
        let mut bytes = FORMAT.to_vec();
        frame::write(&content, &mut bytes);
        let path = self.path(run);
        let written = TemporaryFile::write(&path, &bytes).and_then(TemporaryFile::rename);
        written.map_err(JournalError::system(&path, "cannot be written"))?;
        sync_dir_of(&path);
        Ok(())
    }

    /// The state of a run and the time it took; `None` if none was kept.
    pub(crate) fn read(&self, run: u64) -> Result<Option<(Span, Vec<u8>)>, JournalError> {
        let path = self.path(run);
        let bytes = match read_own(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(JournalError::system(&path, "cannot be read")(error)),
        };
        let wrong = |fault: &str| self.fault(run, fault);
        let framed =
            bytes.strip_prefix(FORMAT).ok_or_else(|| wrong("not a state, or one of another version"))?;
        let content = frame::read(framed, usize::MAX)
            .filter(|(_, content)| content.len() + frame::HEAD == framed.len());
        let (_, content) = content.ok_or_else(|| wrong("damaged"))?;
        let rest = content.strip_prefix(&self.owner).ok_or_else(|| {
            wrong("the state of another experiment or policy, or one kept by another version of the program")
        })?;
        let (head, n_head) = Head::read(rest).ok_or_else(|| wrong("damaged"))?;
        if head.run != run {
            return Err(wrong("the state of another run"));
        }
        Ok(Some((head.elapsed, rest[n_head..].to_vec())))
    }

    /// The number of runs with a state.
    pub(super) fn count(&self) -> u64 {
        files_of(&self.dir, &self.key).unwrap_or_default().len() as u64
    }

    /// An error in the content of a state.
    pub(crate) fn fault(&self, run: u64, fault: &str) -> JournalError {
        JournalError::new(self.path(run), format!("{fault}: move it away to begin this run again"))
    }

    /// Removes the state of a run, which is recorded.
    pub(crate) fn remove(&self, run: u64) {
        // It does no harm if it stays: it is read only while the run is not recorded.
        let _ = fs::remove_file(self.path(run));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn head(program: &str, base: &str, policy: &str) -> FileHead {
        let [program, base, policy] = [program, base, policy].map(str::to_owned);
        FileHead { program, experiment: "x".to_owned(), base, label: "p".to_owned(), policy }
    }

    #[test]
    fn a_state_is_read_only_by_what_it_belongs_to() {
        let dir = tempfile::tempdir().unwrap();
        let files = |program, base, policy| StateFiles::new(dir.path(), "key", &head(program, base, policy));
        let own = files("1", "base", "policy");
        let elapsed = Span { cpu: Duration::from_nanos(5), wall: Duration::from_secs(9) };
        assert_eq!(own.read(3).unwrap(), None);
        own.write(3, elapsed, b"state").unwrap();
        assert_eq!(own.read(4).unwrap(), None);
        assert_eq!(own.read(3).unwrap(), Some((elapsed, b"state".to_vec())));
        let message = |files: &StateFiles, run| files.read(run).unwrap_err().to_string();
        for other in
            [files("2", "base", "policy"), files("1", "other", "policy"), files("1", "base", "other")]
        {
            assert!(message(&other, 3).contains("the state of another experiment or policy, or one kept by"));
        }
        let path = |run| dir.path().join(format!("key-{run}.state"));
        fs::copy(path(3), path(4)).unwrap();
        assert!(message(&own, 4).contains("key-4.state: the state of another run: move it away to begin"));
        let whole = fs::read(path(3)).unwrap();
        for place in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[place] ^= 1;
            fs::write(path(3), &damaged).unwrap();
            message(&own, 3);
            fs::write(path(3), &whole[..place]).unwrap();
            message(&own, 3);
        }
        fs::write(path(3), [&whole[..], b"x"].concat()).unwrap();
        assert!(message(&own, 3).contains("damaged"));
        own.write(3, elapsed, b"later").unwrap();
        assert_eq!(own.read(3).unwrap().unwrap().1, b"later");
        own.remove(3);
        assert_eq!(own.read(3).unwrap(), None);
    }
}
