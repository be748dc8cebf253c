//! The runs of one policy in a file that only grows.
//!
//! The file begins with a line that names the format, and a frame with the policy and the experiment it belongs to. Every other frame is
//! the record of a run. The file gets its name when its beginning is on disk, so only its end can be unfinished.

use super::error::JournalError;
use super::frame;
use crate::temporary::{TemporaryFile, sync_dir_of};
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The first line of a file.
const FORMAT: &[u8] = b"click-bandits runs 1\n";
/// The largest beginning of a file: a policy told the examination of every position is far smaller.
const LONGEST_HEAD: usize = 1 << 24;
/// Bytes that are gathered before they are written.
const GATHERED: usize = 1 << 16;

/// What the runs of a file belong to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileHead {
    /// The program that played them.
    pub(crate) program: String,
    /// The name of the experiment.
    pub(crate) experiment: String,
    /// SHA-256 of the base of its canonical form.
    pub(crate) base: String,
    /// Label of the policy.
    pub(crate) label: String,
    /// Canonical form of the policy, with its label.
    pub(crate) policy: String,
}

/// A file that is open for appending and reading.
#[derive(Debug)]
pub(crate) struct JournalFile {
    path: PathBuf,
    file: Arc<File>,
    /// Bytes in the file.
    written: u64,
    /// Frames that are not in the file yet.
    gathered: Vec<u8>,
    /// Whether the file has bytes that may not be on disk.
    is_dirty: bool,
    /// The whole content, if it was loaded.
    loaded: Option<Vec<u8>>,
}

/// A file that has been read: its head, and where its unfinished end was cut off.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) file: JournalFile,
    /// Bytes of an unfinished end.
    pub(crate) cut_off: u64,
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
        let (file, _) = open(path)?;
        Ok(Self::at(path, file, content.len() as u64))
    }

    fn at(path: &Path, file: File, written: u64) -> Self {
        let (path, file) = (path.to_owned(), Arc::new(file));
        Self { path, file, written, gathered: Vec::new(), is_dirty: false, loaded: None }
    }

    /// Opens a file that has to begin with `head`, and calls `each` for every record: with its place in the file and its content. A record
    /// has at most `longest` bytes. An unfinished end is cut off.
    pub(crate) fn open(
        path: &Path,
        head: &FileHead,
        longest: usize,
        each: impl FnMut(u64, &[u8]) -> Result<(), String>,
    ) -> Result<Opened, JournalError> {
        let (file, length) = open(path)?;
        let end = scan(path, head, &file, length, longest, each)?;
        if end < length {
            file.set_len(end).map_err(JournalError::system(path, "cannot be cut"))?;
        }
        Ok(Opened { file: Self::at(path, file, end), cut_off: length - end })
    }

    /// [`JournalFile::open`] for reading alone: the file stays as it is, and an unfinished end is left out.
    pub(crate) fn open_to_read(
        path: &Path,
        head: &FileHead,
        longest: usize,
        each: impl FnMut(u64, &[u8]) -> Result<(), String>,
    ) -> Result<Self, JournalError> {
        let file = File::open(path).map_err(JournalError::system(path, "cannot be opened"))?;
        let metadata = file.metadata().map_err(JournalError::system(path, "cannot be read"))?;
        let end = scan(path, head, &file, metadata.len(), longest, each)?;
        Ok(Self::at(path, file, end))
    }

    /// Calls `each` for every record of a file that has to begin with `head`, and stays as it is. An unfinished end is left out.
    pub(crate) fn visit(
        path: &Path,
        head: &FileHead,
        longest: usize,
        mut each: impl FnMut(&[u8]) -> Result<(), String>,
    ) -> Result<(), JournalError> {
        let file = File::open(path).map_err(JournalError::system(path, "cannot be opened"))?;
        let metadata = file.metadata().map_err(JournalError::system(path, "cannot be read"))?;
        scan(path, head, &file, metadata.len(), longest, |_, content| each(content)).map(drop)
    }

    /// What the runs of a file belong to, and whether it has runs.
    pub(crate) fn head(path: &Path) -> Result<(FileHead, bool), JournalError> {
        let system = || JournalError::system(path, "cannot be read");
        let file = File::open(path).map_err(system())?;
        let length = file.metadata().map_err(system())?.len();
        let (head, begin) = read_head(path, &mut BufReader::new(file))?;
        Ok((head, length > begin))
    }

    /// The path of the file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Appends a record. Returns the place of its content in the file. The caller flushes now and then.
    pub(crate) fn append(&mut self, content: &[u8]) -> Result<u64, JournalError> {
        let place = self.written + (self.gathered.len() + frame::HEAD) as u64;
        frame::write(content, &mut self.gathered);
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

    /// Whether something was written since the last call.
    pub(crate) fn take_dirty(&mut self) -> bool {
        std::mem::take(&mut self.is_dirty)
    }

    /// Bytes of the file.
    pub(crate) fn length(&self) -> u64 {
        self.written + self.gathered.len() as u64
    }

    /// Loads the whole file, so that reading it is fast.
    pub(crate) fn load(&mut self) -> Result<(), JournalError> {
        self.flush()?;
        if self.loaded.is_none() {
            let mut content = Vec::new();
            let mut file = &*self.file;
            let read = file.seek(SeekFrom::Start(0)).and_then(|_| file.read_to_end(&mut content));
            read.map_err(JournalError::system(&self.path, "cannot be read"))?;
            self.loaded = Some(content);
        }
        Ok(())
    }

    /// Reads bytes at a place, into `buffer` if the file is not loaded.
    pub(crate) fn read<'a>(
        &'a mut self,
        place: u64,
        length: usize,
        buffer: &'a mut Vec<u8>,
    ) -> Result<&'a [u8], JournalError> {
        self.flush()?;
        if let Some(loaded) = &self.loaded {
            let begin = usize::try_from(place).unwrap_or(usize::MAX);
            let bytes = loaded.get(begin..begin.saturating_add(length));
            return bytes.ok_or_else(|| {
                let error = io::Error::from(io::ErrorKind::UnexpectedEof);
                JournalError::system(&self.path, "cannot be read")(error)
            });
        }
        buffer.resize(length, 0);
        let mut file = &*self.file;
        let read = file.seek(SeekFrom::Start(place)).and_then(|_| file.read_exact(buffer));
        read.map_err(JournalError::system(&self.path, "cannot be read"))?;
        Ok(buffer)
    }
}

fn open(path: &Path) -> Result<(File, u64), JournalError> {
    let opened = OpenOptions::new().read(true).write(true).open(path);
    let file = opened.map_err(JournalError::system(path, "cannot be opened"))?;
    let metadata = file.metadata().map_err(JournalError::system(path, "cannot be read"))?;
    Ok((file, metadata.len()))
}

/// Calls `each` for every record of a file; returns where the last one ends.
fn scan(
    path: &Path,
    head: &FileHead,
    file: &File,
    length: u64,
    longest: usize,
    mut each: impl FnMut(u64, &[u8]) -> Result<(), String>,
) -> Result<u64, JournalError> {
    let mut reader = BufReader::with_capacity(1 << 18, file);
    let system = || JournalError::system(path, "cannot be read");
    let damaged = |offset, fault| JournalError::Damaged { path: path.to_owned(), offset, fault };
    let (found, mut place) = read_head(path, &mut reader)?;
    if found != *head {
        return Err(JournalError::Foreign { path: path.to_owned(), label: found.label });
    }
    let mut bytes = Vec::new();
    while place < length {
        let content = read_frame(&mut reader, longest, length - place, &mut bytes).map_err(system())?;
        let Some(content) = content else {
            reader.seek(SeekFrom::Start(place + 1)).map_err(system())?;
            bytes.clear();
            reader.read_to_end(&mut bytes).map_err(system())?;
            if frame::is_within(&bytes, longest) {
                return Err(damaged(place, "a record that is not whole stands before others".to_owned()));
            }
            break;
        };
        let begin = place + frame::HEAD as u64;
        each(begin, content).map_err(|fault| damaged(place, format!("a run {fault}")))?;
        place = begin + content.len() as u64;
    }
    Ok(place)
}

/// Reads the beginning of a file; returns it and its number of bytes.
fn read_head(path: &Path, reader: &mut impl Read) -> Result<(FileHead, u64), JournalError> {
    let damaged =
        |fault: &str| JournalError::Damaged { path: path.to_owned(), offset: 0, fault: fault.to_owned() };
    let mut format = [0; FORMAT.len()];
    let mut bytes = Vec::new();
    let read = reader.read_exact(&mut format).and_then(|()| {
        read_frame(reader, LONGEST_HEAD, u64::MAX, &mut bytes).map(|content| content.map(<[u8]>::to_vec))
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

/// Reads the next frame, which has at most `left` bytes with its head; `None` if no whole, undamaged frame is there.
fn read_frame<'a>(
    reader: &mut impl Read,
    longest: usize,
    left: u64,
    bytes: &'a mut Vec<u8>,
) -> io::Result<Option<&'a [u8]>> {
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
