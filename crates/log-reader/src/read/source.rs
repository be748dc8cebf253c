//! Files and streams: decompressed, and cut into blocks of whole lines.

use super::formats::Frame;
use super::line::{LineFormat, MAX_TEXT, is_blank};
use crate::error::{Error, ErrorKind, HIDDEN, Place};
use crate::read_report::ReadReport;
use documents::{BYTE_ORDER_MARK, Decompressor};
use std::collections::VecDeque;
use std::fmt;
use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Largest length of a line or a session.
pub(crate) const MAX_BLOCK: usize = 1 << 26;
/// First bytes of files that are not UTF-8 text, and the names of their formats.
const OTHERS: [(&[u8], &str); 7] = [
    (b"\xff\xfe", "text in UTF-16, expected UTF-8"),
    (b"\xfe\xff", "text in UTF-16, expected UTF-8"),
    (b"PAR1", "a Parquet file: its format is parquet"),
    (b"\x28\xb5\x2f\xfd", "compressed with zstd: only gzip is read, decompress it first"),
    (b"BZh", "compressed with bzip2: only gzip is read, decompress it first"),
    (b"\xfd7zXZ\0", "compressed with xz: only gzip is read, decompress it first"),
    (b"PK\x03\x04", "a zip archive: only gzip is read, decompress it first"),
];

type Stream<'a> = Box<dyn Read + Send + 'a>;

/// A file, a stream or a table in memory to read, with the name that errors and reports use.
pub struct Input<'a> {
    pub(crate) name: Arc<str>,
    /// `None` for a file, which is opened when it is its turn.
    pub(crate) stream: Option<Stream<'a>>,
    /// A table in the place of a file.
    pub(crate) frame: Option<&'a Frame<'a>>,
    /// Called with the number of bytes read.
    pub(crate) watch: Option<Watch<'a>>,
    /// Ends the reading once it is true.
    pub(crate) stop: Option<&'a AtomicBool>,
}

impl fmt::Debug for Input<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Input").field("name", &self.name).finish_non_exhaustive()
    }
}

pub(crate) type Watch<'a> = &'a (dyn Fn(u64) + Sync);

/// Reads until it is stopped, and reports how much.
struct ProgressStream<'a> {
    stream: Stream<'a>,
    watch: Option<Watch<'a>>,
    stop: Option<&'a AtomicBool>,
}

const STOPPED: &str = "stopped while it was read";

impl Read for ProgressStream<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
            // Not `Interrupted`, after which readers try again.
            return Err(io::Error::other(STOPPED));
        }
        let len = self.stream.read(buffer)?;
        if let Some(watch) = self.watch {
            watch(len as u64);
        }
        Ok(len)
    }
}

/// The error of an input that was stopped.
pub(crate) fn stopped(stop: Option<&AtomicBool>, name: &str) -> Option<Error> {
    let is_stopped = stop.is_some_and(|stop| stop.load(Ordering::Relaxed));
    is_stopped.then(|| Error::of(ErrorKind::Read, name, STOPPED))
}

impl<'a> Input<'a> {
    /// A file, which must exist; it is opened when it is its turn.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Read`] if there is no such file, it is a directory, or its name is not UTF-8.
    pub fn file(path: &Path) -> Result<Self, Error> {
        // Errors and reports print the name, and a file of the printed name can be opened.
        let Some(name) = path.to_str() else {
            return Err(Error::of(ErrorKind::Read, &path.to_string_lossy(), "the file's name is not UTF-8"));
        };
        match std::fs::metadata(path) {
            Err(error) => Err(Error::io(name, error, false)),
            Ok(metadata) if metadata.is_dir() => {
                Err(Error::of(ErrorKind::Read, name, "a directory: name the files in it"))
            }
            Ok(_) => Ok(Self::new(name, None)),
        }
    }

    fn new(name: &str, stream: Option<Stream<'a>>) -> Self {
        Self { name: name.into(), stream, frame: None, watch: None, stop: None }
    }

    pub(crate) fn name(&self) -> Arc<str> {
        Arc::clone(&self.name)
    }

    /// The beginning of the content, from this many stored bytes, which remain to be read.
    pub(crate) fn beginning(&mut self, n_stored: u64) -> io::Result<Vec<u8>> {
        let (mut stored, mut beginning) = (Vec::new(), Vec::new());
        if let Some(mut stream) = self.stream.take() {
            (&mut stream).take(n_stored).read_to_end(&mut stored)?;
            self.stream = Some(Box::new(Cursor::new(stored.clone()).chain(stream)));
        } else {
            File::open(self.name.as_ref())?.take(n_stored).read_to_end(&mut stored)?;
        }
        let stream = ProgressStream { stream: Box::new(Cursor::new(stored)), watch: None, stop: None };
        // Damaged compression is reported when the file is read.
        let _ = Decompressor::new(stream)?.take(n_stored).read_to_end(&mut beginning);
        Ok(beginning)
    }

    /// Calls `watch`, from any thread, with the number of further bytes read, as stored on disk.
    #[must_use]
    pub fn watched(self, watch: Watch<'a>) -> Self {
        Self { watch: Some(watch), ..self }
    }

    /// A stream, from its current place.
    pub fn stream(name: &str, stream: impl Read + Send + 'a) -> Self {
        Self::new(name, Some(Box::new(stream)))
    }

    /// A table in memory, which is a log of its own; errors count its rows from 1.
    pub fn frame(name: &str, frame: &'a Frame<'a>) -> Self {
        Self { frame: Some(frame), ..Self::new(name, None) }
    }

    /// Ends the reading with [`ErrorKind::Read`] once `stop` is true, which another thread may set.
    #[must_use]
    pub fn until(self, stop: &'a AtomicBool) -> Self {
        Self { stop: Some(stop), ..self }
    }
}

/// Whole lines of one file. The caller's buffer holds the bytes.
pub(crate) struct Block {
    pub(crate) file: usize,
    pub(crate) name: Arc<str>,
    /// 1-based line of the file.
    pub(crate) first_line: u64,
    pub(crate) len: usize,
    offset: u64,
}

/// A block, and the layout of its file.
pub(crate) type BlockOf<F> = (Block, Arc<<F as LineFormat>::Layout>);

impl Block {
    /// A number for a place in the log: of the file, and of the byte in its decompressed content.
    pub(crate) fn at(&self, start: usize) -> u64 {
        (self.offset + start as u64) ^ (self.file as u64).rotate_right(16)
    }
}

/// The unread part of a file.
struct Bytes<'a> {
    name: Arc<str>,
    stream: Decompressor<ProgressStream<'a>>,
    /// Bytes that were read and belong to the next block.
    tail: Vec<u8>,
    next_line: u64,
    offset: u64,
    any_line: bool,
}

/// The files of a log in a format.
pub(crate) struct Source<'a, F: LineFormat> {
    format: &'a F,
    /// That of the file that is open.
    layout: Arc<F::Layout>,
    inputs: VecDeque<Input<'a>>,
    open: Option<Bytes<'a>>,
    block_bytes: usize,
    lenient: bool,
    /// Files and bytes so far.
    pub(crate) report: ReadReport,
    failed: bool,
}

impl<'a, F: LineFormat> Source<'a, F> {
    pub(crate) fn new(format: &'a F, inputs: Vec<Input<'a>>, block_bytes: usize, lenient: bool) -> Self {
        let (inputs, layout, report) = (inputs.into(), Arc::default(), ReadReport::default());
        Self { format, layout, inputs, open: None, block_bytes, lenient, report, failed: false }
    }

    /// Reads the next block of the log into `buffer`. `None` after the last block or an error.
    pub(crate) fn next_block(&mut self, buffer: &mut Vec<u8>) -> Result<Option<BlockOf<F>>, (usize, Error)> {
        if self.failed {
            return Ok(None);
        }
        let result = self.try_next(buffer);
        self.failed = result.is_err();
        let result = result.map_err(|error| (self.report.files.saturating_sub(1), error))?;
        Ok(result.map(|block| (block, Arc::clone(&self.layout))))
    }

    fn try_next(&mut self, buffer: &mut Vec<u8>) -> Result<Option<Block>, Error> {
        loop {
            let open = match self.open.take() {
                Some(open) => Some(open),
                None => match self.inputs.pop_front() {
                    Some(input) => self.open(input)?,
                    None => return Ok(None),
                },
            };
            let Some(mut open) = open else { continue };
            let (len, cut) =
                open.fill(buffer, self.block_bytes, &|bytes| self.format.cut(&self.layout, bytes))?;
            if len == 0 {
                if !open.any_line {
                    self.empty(&open.name)?;
                }
                continue;
            }
            open.any_line = true;
            open.tail.clear();
            open.tail.extend_from_slice(&buffer[cut..len]);
            let block = Block {
                file: self.report.files - 1,
                name: Arc::clone(&open.name),
                first_line: open.next_line,
                len: cut,
                offset: open.offset,
            };
            open.next_line += memchr::memchr_iter(b'\n', &buffer[..cut]).count() as u64;
            open.offset += cut as u64;
            self.report.bytes += cut as u64;
            self.open = Some(open);
            return Ok(Some(block));
        }
    }

    /// An empty file: Spark and other engines write such parts, but it may be a mistake.
    fn empty(&mut self, name: &str) -> Result<(), Error> {
        self.report.empty_files += 1;
        if self.lenient { Ok(()) } else { Err(Error::of(ErrorKind::Empty, name, "no line to read")) }
    }

    /// Opens a file, removes a byte order mark and reads the header, if there is one.
    fn open(&mut self, input: Input<'a>) -> Result<Option<Bytes<'a>>, Error> {
        self.report.files += 1;
        let Input { name, stream, watch, stop, .. } = input;
        let in_file = |error| Error::io(&name, error, false);
        let stream = match stream {
            Some(stream) => stream,
            None => Box::new(File::open(name.as_ref()).map_err(in_file)?),
        };
        let stream = Decompressor::new(ProgressStream { stream, watch, stop }).map_err(in_file)?;
        let mut bytes = Bytes { name, stream, tail: Vec::new(), next_line: 1, offset: 0, any_line: false };
        let mut start = Vec::new();
        // Blank lines may be above a header.
        let first_line = |bytes: &[u8]| {
            let mut ends = memchr::memchr_iter(b'\n', bytes).map(|end| end + 1);
            ends.find(|&end| !is_blank(&bytes[..end])).unwrap_or(0)
        };
        let (len, _) = bytes.fill(&mut start, 1 << 12, &first_line)?;
        start.truncate(len);
        let name = &bytes.name;
        if let Some((_, what)) = OTHERS.iter().find(|(beginning, _)| start.starts_with(beginning)) {
            return Err(Error::of(ErrorKind::Read, name, *what));
        }
        if start.starts_with(BYTE_ORDER_MARK) {
            self.report.byte_order_marks += 1;
            start.drain(..BYTE_ORDER_MARK.len());
        }
        let end = Some(first_line(&start)).filter(|end| *end > 0).unwrap_or(start.len());
        let line = start[..end].strip_suffix(b"\n").unwrap_or(&start[..end]);
        let line = &line[memchr::memrchr(b'\n', line).map_or(0, |end| end + 1)..];
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let has_header = self.format.has_header(line);
        let header = if has_header { end } else { 0 };
        if has_header && is_blank(line) {
            return self.empty(name).map(|()| None);
        }
        let n_lines = memchr::memchr_iter(b'\n', &start[..header]).count() as u64;
        let layout = self.format.layout(line).map_err(|message| {
            let shown = if self.format.is_header(line) {
                &line[..line.len().min(MAX_TEXT)]
            } else {
                HIDDEN.as_bytes()
            };
            let text = String::from_utf8_lossy(shown).escape_debug().to_string();
            let place = Place { file: name.to_string(), line: n_lines.max(1), column: None, text, message };
            Error::at(ErrorKind::Header, place)
        })?;
        self.layout = Arc::new(layout);
        self.report.bytes += header as u64;
        start.drain(..header);
        let next_line = 1 + if has_header { n_lines.max(1) } else { 0 };
        Ok(Some(Bytes { tail: start, next_line, offset: header as u64, ..bytes }))
    }
}

impl Bytes<'_> {
    /// Reads the bytes left over and about `block_bytes` from the stream, or more until `cut` finds
    /// the end of a block. Returns how much there is, and how much of it is the block; all at the
    /// end of the file.
    fn fill(
        &mut self,
        buffer: &mut Vec<u8>,
        block_bytes: usize,
        cut: &dyn Fn(&[u8]) -> usize,
    ) -> Result<(usize, usize), Error> {
        let mut len = self.tail.len();
        let mut want = block_bytes.max(1).max(len);
        if buffer.len() < want {
            buffer.resize(want, 0);
        }
        buffer[..len].copy_from_slice(&self.tail);
        loop {
            while len < want {
                match self.stream.read(&mut buffer[len..want]) {
                    Ok(0) => return Ok((len, len)),
                    Ok(more) => len += more,
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) => return Err(Error::io(&self.name, error, self.stream.is_gzip())),
                }
            }
            let end = cut(&buffer[..len]);
            if end > 0 {
                return Ok((len, end));
            }
            if want >= MAX_BLOCK {
                let message = format!("a line or a session of more than {MAX_BLOCK} bytes");
                return Err(Error::of(ErrorKind::Read, &self.name, message));
            }
            want = (want * 2).min(MAX_BLOCK);
            if buffer.len() < want {
                buffer.resize(want, 0);
            }
        }
    }
}
