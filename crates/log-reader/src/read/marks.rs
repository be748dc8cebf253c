//! Cuts a block into lines, and lines into columns.
//!
//! Line ends, delimiters and quotation marks of 64 bytes are found at once, whatever lines they
//! belong to: columns are short, so a search for each end would cost more than all else.

#[cfg(test)]
#[path = "marks/tests.rs"]
mod tests;

use crate::fault::Fault;
use crate::fields::{digits_in, high_bits_of, in_lowest_bits, number_in};
use crate::names::Id;

/// The bytes that cut a log into columns.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cuts {
    pub(crate) delimiter: u8,
    /// Whether a column in quotation marks may contain delimiters and line ends.
    pub(crate) quotes: bool,
}

impl Cuts {
    /// Lines have no columns.
    pub(crate) const NONE: Self = Self { delimiter: b'\n', quotes: false };
}

/// The lines of a block, one after another.
pub(crate) struct Lines<'a> {
    bytes: &'a [u8],
    cuts: Cuts,
    /// Where the next line starts.
    start: usize,
    /// The start of the 64 bytes with these marks, without the marks of earlier lines.
    chunk: usize,
    marks: Marks,
    /// The ends of the columns of a line.
    ends: Vec<usize>,
}

/// The marks of 64 bytes, the first byte in the lowest bit.
#[derive(Clone, Copy, Default)]
struct Marks {
    delimiters: u64,
    /// Line ends and quotation marks.
    stops: u64,
}

/// A line without its end.
pub(crate) enum Line<'a> {
    /// With quotation marks, which only formats with quoted columns get.
    Quoted(&'a [u8]),
    Cut(CutLine<'a>),
}

impl<'a> Line<'a> {
    /// The number of lines of the file: a quoted column may contain line ends.
    pub(crate) fn n_lines(&self) -> u64 {
        match self {
            Self::Quoted(line) => 1 + memchr::memchr_iter(b'\n', line).count() as u64,
            Self::Cut(_) => 1,
        }
    }

    pub(crate) fn whole(&self) -> &'a [u8] {
        match self {
            Self::Quoted(line) => line,
            Self::Cut(line) => line.whole(),
        }
    }
}

/// A line that is cut into columns.
#[derive(Clone, Copy)]
pub(crate) struct CutLine<'a> {
    bytes: &'a [u8],
    start: usize,
    /// At least one; the last is the end of the line.
    ends: &'a [usize],
}

impl<'a> CutLine<'a> {
    pub(crate) fn n_columns(self) -> usize {
        self.ends.len()
    }

    /// A column, if the line has it.
    #[inline]
    pub(crate) fn get(self, column: usize) -> Option<&'a [u8]> {
        let (start, end) = self.range(column)?;
        Some(&self.bytes[start..end])
    }

    /// A number that fills a column; nothing is there if the line does not have the column.
    #[inline]
    pub(crate) fn number(self, column: usize) -> Result<u64, Fault> {
        let (start, end) = self.range(column).ok_or(Fault::Empty)?;
        number_in(self.bytes, start, end)
    }

    /// The number in a column whose text is no other name, if it has up to eight digits.
    #[inline]
    pub(crate) fn short_id(self, column: usize) -> Option<Id> {
        let (start, end) = self.range(column)?;
        let has_zeros = end - start > 1 && self.bytes[start] == b'0';
        digits_in(self.bytes, start, end).filter(|_| !has_zeros).map(Id)
    }

    fn range(self, column: usize) -> Option<(usize, usize)> {
        let end = *self.ends.get(column)?;
        Some((column.checked_sub(1).map_or(self.start, |before| self.ends[before] + 1), end))
    }

    pub(crate) fn whole(self) -> &'a [u8] {
        &self.bytes[self.start..self.ends.last().copied().unwrap_or(self.start)]
    }
}

impl<'a> Lines<'a> {
    pub(crate) fn new(bytes: &'a [u8], cuts: Cuts) -> Self {
        Self { bytes, cuts, start: 0, chunk: 0, marks: marks(bytes, cuts), ends: Vec::new() }
    }

    /// The next line, and where it starts.
    #[inline]
    pub(crate) fn next_line(&mut self) -> Option<(usize, Line<'_>)> {
        let start = self.start;
        if start >= self.bytes.len() {
            return None;
        }
        self.ends.clear();
        let mut has_quotes = false;
        let has_columns = self.cuts.delimiter != b'\n';
        let mut end = loop {
            if !has_columns {
                break start + line(&self.bytes[start..]).len();
            }
            let Marks { delimiters, stops } = &mut self.marks;
            let before_stop = stops.wrapping_sub(1) & !*stops;
            let mut columns = *delimiters & before_stop;
            *delimiters &= !before_stop;
            while columns != 0 {
                self.ends.push(self.chunk + columns.trailing_zeros() as usize);
                columns &= columns - 1;
            }
            if *stops == 0 {
                self.chunk += 64;
                let Some(rest) = self.bytes.get(self.chunk..) else { break self.bytes.len() };
                self.marks = marks(rest, self.cuts);
                continue;
            }
            let place = self.chunk + stops.trailing_zeros() as usize;
            *stops &= *stops - 1;
            if self.bytes[place] == b'\n' {
                break place;
            }
            has_quotes = true;
        };
        if has_quotes
            && let Some(record) = record_end(&self.bytes[start..], self.cuts.delimiter)
            && start + record > end + 1
        {
            let has_end = self.bytes[start + record - 1] == b'\n';
            end = start + record - usize::from(has_end);
            // The marks after the record.
            self.chunk = end & !63;
            let rest = &self.bytes[self.chunk.min(self.bytes.len())..];
            self.marks = marks(rest, self.cuts).among((u64::MAX << (end & 63)) & !(1 << (end & 63)));
        }
        self.start = end + 1;
        if end > start && self.bytes[end - 1] == b'\r' {
            end -= 1;
            // If it is also the delimiter.
            self.ends.pop_if(|last| *last == end);
        }
        if has_quotes {
            return Some((start, Line::Quoted(&self.bytes[start..end])));
        }
        self.ends.push(end);
        Some((start, Line::Cut(CutLine { bytes: self.bytes, start, ends: &self.ends })))
    }

    /// The line that starts here, without its end.
    pub(crate) fn line_from(&self, start: usize) -> &'a [u8] {
        let line = line(&self.bytes[start..]);
        line.strip_suffix(b"\r").unwrap_or(line)
    }
}

/// The longest start of a line up to the mark that ends a quoted column. Without a limit, one mark
/// too many would make the rest of a file one column.
const MAX_QUOTED: usize = 1 << 16;

/// The end of the line that starts with `bytes`, after its LF, where quoted columns may have line
/// ends. A line with misplaced quotation marks ends at the next LF. `None`: a column is not closed.
fn record_end(bytes: &[u8], delimiter: u8) -> Option<usize> {
    let in_reach = &bytes[..bytes.len().min(MAX_QUOTED)];
    let mut at = 0;
    loop {
        if bytes.get(at) == Some(&b'"') {
            loop {
                let from = at + 1;
                match in_reach.get(from..).and_then(|rest| memchr::memchr(b'"', rest)) {
                    Some(end) => at = from + end + 1,
                    None if in_reach.len() < bytes.len() => return Some(after_line(bytes)),
                    None => return None,
                }
                if bytes.get(at) != Some(&b'"') {
                    break;
                }
            }
            match bytes[at..] {
                [] | [b'\r'] => return Some(bytes.len()),
                [b'\n', ..] => return Some(at + 1),
                [b'\r', b'\n', ..] => return Some(at + 2),
                [byte, ..] if byte == delimiter => at += 1,
                _ => return Some(after_line(bytes)),
            }
        } else {
            match memchr::memchr2(delimiter, b'\n', &bytes[at..]) {
                None => return Some(bytes.len()),
                Some(end) if bytes[at + end] == delimiter => at += end + 1,
                Some(end) => return Some(at + end + 1),
            }
        }
    }
}

fn after_line(bytes: &[u8]) -> usize {
    (line(bytes).len() + 1).min(bytes.len())
}

/// The end of the last whole line, where quoted columns may have line ends; 0 if there is none.
pub(crate) fn after_last_record(bytes: &[u8], delimiter: u8) -> usize {
    let mut end = 0;
    loop {
        let last_line = || memchr::memrchr(b'\n', &bytes[end..]).map_or(end, |place| end + place + 1);
        let Some(quote) = memchr::memchr(b'"', &bytes[end..]) else { return last_line() };
        end += memchr::memrchr(b'\n', &bytes[end..end + quote]).map_or(0, |place| place + 1);
        match record_end(&bytes[end..], delimiter) {
            Some(record) if bytes[end + record - 1] == b'\n' => end += record,
            _ => return end,
        }
    }
}

/// The bytes before LF. The last line of a file may have no line end.
fn line(bytes: &[u8]) -> &[u8] {
    &bytes[..memchr::memchr(b'\n', bytes).unwrap_or(bytes.len())]
}

impl Marks {
    fn among(self, bytes: u64) -> Self {
        Self { delimiters: self.delimiters & bytes, stops: self.stops & bytes }
    }
}

#[inline]
fn marks(bytes: &[u8], cuts: Cuts) -> Marks {
    if let Some(chunk) = bytes.first_chunk() {
        return marks_of_64(chunk, cuts);
    }
    let mut chunk = [0; 64];
    chunk[..bytes.len()].copy_from_slice(bytes);
    // The delimiter may be 0.
    marks_of_64(&chunk, cuts).among((1 << bytes.len()) - 1)
}

#[inline]
fn marks_of_64(chunk: &[u8; 64], Cuts { delimiter, quotes }: Cuts) -> Marks {
    let quote = if quotes { b'"' } else { b'\n' };
    let mut marks = Marks::default();
    for (number, eight) in chunk.as_chunks().0.iter().enumerate() {
        let eight = u64::from_le_bytes(*eight);
        let stops = high_bits_of(eight, b'\n') | high_bits_of(eight, quote);
        marks.stops |= in_lowest_bits(stops) << (8 * number);
        marks.delimiters |= in_lowest_bits(high_bits_of(eight, delimiter)) << (8 * number);
    }
    marks
}
