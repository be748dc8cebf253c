//! The interface of formats with lines, and where blocks of lines are cut.

use super::marks::{CutLine, Cuts};
use super::open_lists::{OpenLists, Spot};
use crate::collect::Batches;
use crate::error::{Error, HIDDEN};
use crate::fault::Fault;

/// A fault, its column, and the text there.
#[derive(Debug)]
pub(crate) struct LineFault {
    pub(super) fault: Fault,
    /// 1-based; 0 for the line as a whole.
    pub(super) column: usize,
    pub(super) text: Box<[u8]>,
    /// Clicks and impressions of the line, as far as they can be read.
    pub(super) lost: Lost,
}

/// Clicks and impressions of skipped lines.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Lost {
    pub(crate) clicks: u64,
    pub(crate) impressions: u64,
}

impl Lost {
    pub(crate) fn add(&mut self, more: Self) {
        self.clicks = self.clicks.saturating_add(more.clicks);
        self.impressions = self.impressions.saturating_add(more.impressions);
    }
}

impl From<Fault> for LineFault {
    fn from(fault: Fault) -> Self {
        Self::new(fault, 0, HIDDEN.as_bytes())
    }
}

impl LineFault {
    #[cold]
    pub(super) fn new(fault: Fault, column: usize, text: &[u8]) -> Self {
        // Shortened: a line may be as long as a file.
        Self { fault, column, text: text[..text.len().min(MAX_TEXT)].into(), lost: Lost::default() }
    }

    /// The counts of a line with these texts of clicks and impressions, as far as they are numbers.
    #[cold]
    pub(super) fn of(mut self, clicks: Result<u64, Fault>, impressions: Result<u64, Fault>) -> Self {
        self.lost = Lost { clicks: clicks.unwrap_or(0), impressions: impressions.unwrap_or(0) };
        self
    }
}

/// Reports a fault in a file, by its number, and at a line.
pub(super) type AtFault<'a> = dyn FnMut(LineFault, (usize, u64)) + 'a;

/// The longest text that an error shows, in bytes.
pub(super) const MAX_TEXT: usize = 80;

pub(crate) trait LineFormat: Sync {
    /// The content of the header.
    type Layout: Default + Send + Sync;
    /// The state of a thread from line to line.
    type Memory: Default;
    const HEADER: bool = false;

    fn has_header(&self, _first_line: &[u8]) -> bool {
        Self::HEADER
    }

    /// Reads the header; it is empty if the format has none.
    fn layout(&self, _header: &[u8]) -> Result<Self::Layout, String> {
        Ok(Self::Layout::default())
    }

    /// Returns whether the first line has any name that belongs into a header. If not, an error
    /// must not show it: it may be data, and identify a user.
    fn is_header(&self, _line: &[u8]) -> bool {
        false
    }

    /// The bytes that cut lines into columns.
    fn cuts(&self, _layout: &Self::Layout) -> Cuts {
        Cuts { delimiter: b'\t', quotes: false }
    }

    fn line(
        &self,
        layout: &Self::Layout,
        line: CutLine<'_>,
        at: Spot,
        memory: &mut Self::Memory,
        batches: &mut Batches<'_>,
    ) -> Result<(), LineFault>;

    /// Called instead of [`line`](Self::line) for a line with quotation marks ([`Cuts::quotes`]).
    fn quoted(
        &self,
        _layout: &Self::Layout,
        _line: &[u8],
        _at: Spot,
        _memory: &mut Self::Memory,
        _batches: &mut Batches<'_>,
    ) -> Result<(), LineFault> {
        Err(LineFault::new(Fault::UnclosedQuote, 0, b"\""))
    }

    /// Called at the end of a block, where everything but open lists ends.
    fn end(&self, _memory: &mut Self::Memory, _batches: &mut Batches<'_>) {}

    /// Called after the last block of the log.
    fn close(&self, _batches: &mut Batches<'_>, _at_fault: &mut AtFault<'_>) -> Result<(), Error> {
        Ok(())
    }

    /// The lists that are open until the end of the log.
    fn open_lists(_memory: Self::Memory) -> OpenLists {
        OpenLists::default()
    }

    /// The end of a block that starts with `bytes`, after a group of lines; 0 if it is later.
    fn cut(&self, _layout: &Self::Layout, bytes: &[u8]) -> usize {
        after_last_line(bytes)
    }

    /// The format's name of its `column`-th column, from 1.
    fn column_name(&self, _layout: &Self::Layout, _column: usize) -> String {
        String::new()
    }
}

/// The end of the last whole line; 0 if there is none.
pub(crate) fn after_last_line(bytes: &[u8]) -> usize {
    memchr::memrchr(b'\n', bytes).map_or(0, |place| place + 1)
}

/// Returns whether a line has nothing but blanks; such lines are skipped.
pub(crate) fn is_blank(line: &[u8]) -> bool {
    // The first byte tells nearly always.
    line.first().is_none_or(u8::is_ascii_whitespace) && line.iter().all(u8::is_ascii_whitespace)
}

/// The start of the last group of whole lines, which may continue; 0 if all lines are one group.
/// `together` gets the last line and one above; blank lines belong to the group.
pub(crate) fn cut_between(bytes: &[u8], mut together: impl FnMut(&[u8], &[u8]) -> bool) -> usize {
    let Some(last) = memchr::memrchr(b'\n', bytes) else { return 0 };
    let start_of = |end: usize| memchr::memrchr(b'\n', &bytes[..end]).map_or(0, |before| before + 1);
    let mut cut = start_of(last);
    let mut lowest = &bytes[cut..last];
    while cut > 0 {
        let above = start_of(cut - 1);
        let line = &bytes[above..cut - 1];
        if is_blank(lowest) {
            lowest = line;
        } else if !is_blank(line) && !together(lowest, line) {
            break;
        }
        cut = above;
    }
    cut
}
