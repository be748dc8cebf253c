//! The runs of one policy in a file that only grows.
//!
//! The file begins with a line that names the format, and a frame with the policy and the
//! experiment it belongs to. Every other frame is the record of a run. The file gets its name when
//! its beginning is on disk, so only its end can be unfinished.
//!
//! Nothing is taken for granted while a file is open. Every record is compared with its checksum
//! when it is read, and the file's length and name before it is written. A file with a second name,
//! such as that of a backup, is copied first, so that the backup stays.

use super::error::JournalError;
use super::frame;
use crate::path_error::PathError;
use documents::{TemporaryFile, names_and_identity, open_regular, sync_dir_of};
use serde::{Deserialize, Serialize};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The first line of a file.
const FORMAT: &[u8] = b"click-bandits runs 1\n";
/// The largest beginning of a file: a policy told the examination of every position is far smaller.
const LONGEST_HEAD: usize = 1 << 24;
/// Bytes that are gathered before they are written.
const GATHERED: usize = 1 << 16;

/// The owner of a file's runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileHead {
    pub(crate) program: String,
    pub(crate) experiment: String,
    /// SHA-256 of the base of its canonical form.
    pub(crate) base: String,
    pub(crate) label: String,
    /// Canonical form of the policy, with its label.
    pub(crate) policy: String,
}

/// Where a record is, and its checksum.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    begin: u64,
    length: u32,
    sum: u32,
}

impl Place {
    /// A place in memory, where nothing changes.
    pub(crate) fn in_memory(begin: usize, content: &[u8]) -> Self {
        Self::new(begin as u64, content, 0)
    }

    fn new(begin: u64, content: &[u8], sum: u32) -> Self {
        // A layout has far fewer bytes.
        Self { begin, length: u32::try_from(content.len()).unwrap_or(u32::MAX), sum }
    }

    /// The record in these bytes.
    pub(crate) fn of(self, bytes: &[u8]) -> Option<&[u8]> {
        let begin = usize::try_from(self.begin).ok()?;
        bytes.get(begin..begin.checked_add(self.length as usize)?)
    }

    fn is_sound(self, content: &[u8]) -> bool {
        frame::checksum(content) == self.sum
    }
}

/// A file that is open for appending and reading.
#[derive(Debug)]
pub(crate) struct JournalFile {
    pub(crate) path: PathBuf,
    file: Arc<File>,
    /// Whether this process writes to it, and has locked it.
    is_own: bool,
    /// Bytes in the file.
    written: u64,
    /// Frames that are not in the file yet.
    gathered: Vec<u8>,
    /// Whether the file has bytes that may not be on disk.
    is_dirty: bool,
    /// The whole content, if it was loaded; its records were compared with their checksums.
    loaded: Option<Vec<u8>>,
}

impl JournalFile {
    /// Creates a file without runs.
    pub(crate) fn create(path: &Path, head: &FileHead) -> Result<Self, JournalError> {
        let mut content = FORMAT.to_vec();
        // A head has only text.
        frame::write(&serde_json::to_vec(head).unwrap_or_default(), &mut content);
        let created = TemporaryFile::write(path, &content).and_then(TemporaryFile::rename);
        created.map_err(JournalError::system(path, "cannot be written"))?;
        sync_dir_of(path);
        Self::own(path)
    }

    fn at(path: &Path, file: File, written: u64) -> Self {
        let (path, file) = (path.to_owned(), Arc::new(file));
        Self { path, file, is_own: false, written, gathered: Vec::new(), is_dirty: false, loaded: None }
    }

    /// Opens a file to write to it: locked, and without a second name.
    fn own(path: &Path) -> Result<Self, JournalError> {
        let file = lock_to_write(path)?;
        let metadata = file.metadata().map_err(JournalError::system(path, "cannot be read"))?;
        let mut own = Self { is_own: true, ..Self::at(path, file, metadata.len()) };
        own.check_own()?;
        Ok(own)
    }

    /// Checks that the file is as this process has written it. If it got a second name, that one
    /// keeps it, and the first one gets a copy.
    fn check_own(&mut self) -> Result<(), JournalError> {
        let found = self.file.metadata().map_err(JournalError::system(&self.path, "cannot be read"))?;
        let (names, identity) = names_and_identity(&found);
        let named = fs::symlink_metadata(&self.path).map(|named| names_and_identity(&named).1);
        if found.len() != self.written || named.ok() != Some(identity) {
            return Err(JournalError::changed(&self.path));
        }
        if names > 1 {
            let mut file = &*self.file;
            let copied = file.seek(SeekFrom::Start(0)).and_then(|_| {
                TemporaryFile::write_with(&self.path, |copy| io::copy(&mut file, copy).map(drop))?.rename()
            });
            copied.map_err(JournalError::system(&self.path, "cannot be copied"))?;
            self.file = Arc::new(lock_to_write(&self.path)?);
        }
        Ok(())
    }

    /// Ends writing: checks the file for a last time, and unlocks it.
    pub(crate) fn release(&mut self) -> Result<(), JournalError> {
        if self.is_own {
            self.flush()?;
            self.check_own()?;
            // A file system without locks has nothing to unlock.
            let _ = self.file.unlock();
        }
        Ok(())
    }

    /// Opens a file that has to begin with `head`, and calls `each` for every record: with its
    /// place and its content. A record has at most `longest` bytes. An unfinished end is cut off;
    /// returns its number of bytes.
    pub(crate) fn open(
        path: &Path,
        head: &FileHead,
        longest: usize,
        each: impl FnMut(Place, &[u8]) -> Result<(), String>,
    ) -> Result<(Self, u64), JournalError> {
        let mut file = Self::own(path)?;
        let length = file.written;
        file.written = scan(path, head, &file.file, length, longest, each)?;
        let cut_off = length - file.written;
        if cut_off > 0 {
            file.file.set_len(file.written).map_err(JournalError::system(path, "cannot be cut"))?;
        }
        Ok((file, cut_off))
    }

    /// [`JournalFile::open`] for reading alone: an unfinished end is left out, not cut off.
    pub(crate) fn open_to_read(
        path: &Path,
        head: &FileHead,
        longest: usize,
        each: impl FnMut(Place, &[u8]) -> Result<(), String>,
    ) -> Result<Self, JournalError> {
        let file = open_regular(path).map_err(JournalError::system(path, "cannot be opened"))?;
        let metadata = file.metadata().map_err(JournalError::system(path, "cannot be read"))?;
        let end = scan(path, head, &file, metadata.len(), longest, each)?;
        Ok(Self::at(path, file, end))
    }

    /// The owner of a file's runs, and whether it has runs.
    pub(crate) fn head(path: &Path) -> Result<(FileHead, bool), JournalError> {
        let system = || JournalError::system(path, "cannot be read");
        let file = open_regular(path).map_err(system())?;
        let length = file.metadata().map_err(system())?.len();
        let (head, begin) = read_head(path, &mut BufReader::new(file))?;
        Ok((head, length > begin))
    }

    /// Appends a record. Returns its place. The caller flushes now and then.
    pub(crate) fn append(&mut self, content: &[u8]) -> Result<Place, JournalError> {
        let begin = self.written + (self.gathered.len() + frame::HEAD) as u64;
        let place = Place::new(begin, content, frame::write(content, &mut self.gathered));
        if self.gathered.len() >= GATHERED {
            self.flush()?;
        }
        Ok(place)
    }

    /// Writes what was gathered.
    pub(crate) fn flush(&mut self) -> Result<(), JournalError> {
        if self.gathered.is_empty() {
            return Ok(());
        }
        self.check_own()?;
        let mut file = &*self.file;
        let written = file.seek(SeekFrom::Start(self.written)).and_then(|_| file.write_all(&self.gathered));
        written.map_err(JournalError::system(&self.path, "cannot be written"))?;
        self.written += self.gathered.len() as u64;
        self.gathered.clear();
        (self.is_dirty, self.loaded) = (true, None);
        Ok(())
    }

    /// The file, to force to disk what was written.
    pub(crate) fn to_sync(&self) -> Arc<File> {
        Arc::clone(&self.file)
    }

    /// Returns whether something was written since the last call.
    pub(crate) fn take_dirty(&mut self) -> bool {
        std::mem::take(&mut self.is_dirty)
    }

    /// Bytes of the file.
    pub(crate) fn length(&self) -> u64 {
        self.written + self.gathered.len() as u64
    }

    /// Loads the whole file with these records, so that reading it is fast.
    pub(crate) fn load(&mut self, places: impl Iterator<Item = Place>) -> Result<(), JournalError> {
        self.flush()?;
        if self.loaded.is_none() {
            let mut content = Vec::new();
            let mut file = &*self.file;
            let read = file.seek(SeekFrom::Start(0)).and_then(|_| file.read_to_end(&mut content));
            read.map_err(JournalError::system(&self.path, "cannot be read"))?;
            for place in places {
                if !place.of(&content).is_some_and(|record| place.is_sound(record)) {
                    return Err(JournalError::changed(&self.path));
                }
            }
            self.loaded = Some(content);
        }
        Ok(())
    }

    /// Reads a record, into `buffer` if the file is not loaded.
    pub(crate) fn read<'a>(
        &'a mut self,
        place: Place,
        buffer: &'a mut Vec<u8>,
    ) -> Result<&'a [u8], JournalError> {
        self.flush()?;
        let changed = || JournalError::changed(&self.path);
        if let Some(loaded) = &self.loaded {
            return place.of(loaded).ok_or_else(changed);
        }
        buffer.resize(place.length as usize, 0);
        let mut file = &*self.file;
        let read = file.seek(SeekFrom::Start(place.begin)).and_then(|_| file.read_exact(buffer));
        match read {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Err(changed()),
            Err(error) => Err(JournalError::system(&self.path, "cannot be read")(error)),
            Ok(()) if place.is_sound(buffer) => Ok(buffer),
            Ok(()) => Err(changed()),
        }
    }
}

/// Opens a file for writing, and locks it. This also covers files in directories of two names,
/// which the lock of a directory misses.
fn lock_to_write(path: &Path) -> Result<File, JournalError> {
    let system = || JournalError::system(path, "cannot be opened");
    open_regular(path).map_err(system())?;
    let file = OpenOptions::new().read(true).write(true).open(path).map_err(system())?;
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => {
            let dir = path.parent().and_then(Path::parent).unwrap_or(path);
            Err(PathError::in_use(dir).into())
        }
        // The journal reports that the file system has no locks.
        Ok(()) | Err(TryLockError::Error(_)) => Ok(file),
    }
}

/// Calls `each` for every record of a file; returns where the last one ends.
fn scan(
    path: &Path,
    head: &FileHead,
    file: &File,
    length: u64,
    longest: usize,
    mut each: impl FnMut(Place, &[u8]) -> Result<(), String>,
) -> Result<u64, JournalError> {
    let mut reader = BufReader::with_capacity(1 << 18, file);
    let system = || JournalError::system(path, "cannot be read");
    let damaged = |offset, fault: &str| JournalError::damaged(path, offset, fault);
    let (found, mut place) = read_head(path, &mut reader)?;
    if found != *head {
        let label = found.label;
        return Err(JournalError::new(
            path,
            format!(
                "has runs of {label:?} that were played by another program, or on other users, rounds or \
                 seed: restore the file"
            ),
        ));
    }
    let mut bytes = Vec::new();
    while place < length {
        let found = read_frame(&mut reader, longest, length - place, &mut bytes).map_err(system())?;
        let Some((sum, content)) = found else {
            reader.seek(SeekFrom::Start(place + 1)).map_err(system())?;
            bytes.clear();
            reader.read_to_end(&mut bytes).map_err(system())?;
            if frame::is_within(&bytes, longest) {
                return Err(damaged(place, "a record that is not whole stands before others"));
            }
            break;
        };
        let begin = place + frame::HEAD as u64;
        each(Place::new(begin, content, sum), content)
            .map_err(|fault| damaged(place, &format!("a run {fault}")))?;
        place = begin + content.len() as u64;
    }
    Ok(place)
}

/// Reads the beginning of a file; returns it and its number of bytes.
fn read_head(path: &Path, reader: &mut impl Read) -> Result<(FileHead, u64), JournalError> {
    let damaged = |fault: &str| JournalError::damaged(path, 0, fault);
    let mut format = [0; FORMAT.len()];
    let mut bytes = Vec::new();
    let read = reader.read_exact(&mut format).and_then(|()| {
        read_frame(reader, LONGEST_HEAD, u64::MAX, &mut bytes)
            .map(|frame| frame.map(|(_, content)| content.to_vec()))
    });
    let content = match read {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => None,
        read => read.map_err(JournalError::system(path, "cannot be read"))?,
    };
    if format != FORMAT {
        return Err(damaged("not a file of runs, or one of another version"));
    }
    let content = content.ok_or_else(|| damaged("no beginning of a file of runs"))?;
    let head = serde_json::from_slice(&content).map_err(|error| damaged(&error.to_string()))?;
    Ok((head, (FORMAT.len() + frame::HEAD + content.len()) as u64))
}

/// Reads the next frame, which has at most `left` bytes with its head; `None` if no whole,
/// undamaged frame is there.
fn read_frame<'a>(
    reader: &mut impl Read,
    longest: usize,
    left: u64,
    bytes: &'a mut Vec<u8>,
) -> io::Result<Option<(u32, &'a [u8])>> {
    if left < frame::HEAD as u64 {
        return Ok(None);
    }
    bytes.resize(frame::HEAD, 0);
    reader.read_exact(bytes)?;
    let size = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    let size = usize::try_from(size).unwrap_or(usize::MAX);
    if size > longest || size as u64 > left - frame::HEAD as u64 {
        return Ok(None);
    }
    bytes.resize(frame::HEAD + size, 0);
    reader.read_exact(&mut bytes[frame::HEAD..])?;
    Ok(frame::read(bytes, longest))
}
