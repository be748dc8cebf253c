//! Files that an input names, and what is at the edges of their texts.

use crate::hash::sha256;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::ffi::OsStr;
use std::io::{self, Read};
use std::path::Path;

/// A file that was read whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputFile {
    /// Its path as it was given.
    pub name: String,
    /// SHA-256 of its content, in hexadecimal.
    pub sha256: String,
    /// Its content.
    pub content: Vec<u8>,
}

impl InputFile {
    /// A file of this name and content.
    pub fn new(name: impl Into<String>, content: Vec<u8>) -> Self {
        Self { name: name.into(), sha256: sha256(&content), content }
    }

    /// Its name without its folder.
    pub fn file_name(&self) -> &str {
        Path::new(&self.name).file_name().and_then(OsStr::to_str).unwrap_or_default()
    }
}

/// The byte order mark of UTF-8.
pub const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The content of a file after its byte order mark, if it has one.
pub fn without_byte_order_mark(content: &[u8]) -> &[u8] {
    content.strip_prefix(BYTE_ORDER_MARK).unwrap_or(content)
}

/// A CSV file that is read through it, and the lines of its records.
///
/// A reader begins a record where it has read the one before: there may still be the line feed of a
/// line end of two bytes, and lines without text. Its own line numbers are those of this place.
#[derive(Debug)]
pub struct RecordLines<R>(RefCell<Lines<R>>);

#[derive(Debug)]
struct Lines<R> {
    stream: R,
    /// Bytes that were read.
    byte: u64,
    /// The line after them.
    line: u64,
    /// Whether it has text.
    has_text: bool,
    /// First bytes of lines with text, with the numbers of these lines, from the last record on.
    starts: VecDeque<(u64, u64)>,
}

impl<R> RecordLines<R> {
    /// For a stream of which nothing is read.
    pub fn new(stream: R) -> Self {
        Self(RefCell::new(Lines { stream, byte: 0, line: 1, has_text: false, starts: VecDeque::new() }))
    }

    /// The line, from 1, of the record that the reader begins at this byte. Records are asked for
    /// in their order.
    pub fn line(&self, byte: Option<u64>) -> u64 {
        let mut lines = self.0.borrow_mut();
        while lines.starts.front().is_some_and(|(start, _)| Some(*start) < byte) {
            lines.starts.pop_front();
        }
        lines.starts.front().map_or(lines.line, |(_, line)| *line)
    }
}

impl<R: Read> Read for &RecordLines<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let lines = &mut *self.0.borrow_mut();
        let n = lines.stream.read(buffer)?;
        for byte in &buffer[..n] {
            match byte {
                b'\n' => (lines.line, lines.has_text) = (lines.line + 1, false),
                b'\r' => {}
                _ if lines.has_text => {}
                _ => {
                    lines.starts.push_back((lines.byte, lines.line));
                    lines.has_text = true;
                }
            }
            lines.byte += 1;
        }
        Ok(n)
    }
}

/// The name in a cell of a CSV file, below this head of its column. Spaces around names are part of
/// them, as in logs; but if the head has spaces before it, they belong to the separators.
pub fn named_cell<'a>(head: &str, cell: &'a str) -> &'a str {
    if head.starts_with(' ') { cell.trim_start_matches(' ') } else { cell }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_has_the_line_of_its_first_byte() {
        // Where a reader begins: after CR LF at the line feed, and before lines without text.
        for (content, begins) in
            [("h\na\n\"b\nb\"\n\nc\n", [0, 2, 4, 10]), ("h\r\na\r\n\"b\r\nb\"\r\n\r\nc\r\n", [0, 2, 5, 14])]
        {
            let lines = RecordLines::new(content.as_bytes());
            io::copy(&mut &lines, &mut io::sink()).unwrap();
            assert_eq!(begins.map(|byte| lines.line(Some(byte))), [1, 2, 3, 6], "{content:?}");
            assert_eq!([None, Some(99)].map(|byte| lines.line(byte)), [6, 7]);
        }
    }
}
