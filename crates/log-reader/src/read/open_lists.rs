//! Lists whose lines name their session: lines of a list are gathered wherever they stand.
//!
//! A warehouse exports rows in any order, in several files. So the lists of a log are open until
//! its last line is read, in one table for all threads and files. A session of n lines takes about
//! 80 + 8 n bytes in it, if its lines stand together. Names of sessions are kept as 128 bits of
//! hash.
//!
//! A list shows every position from the first on once; lines that do not fit are faults. A session
//! that starts from the first position again, elsewhere in the log, has shown another list.

use crate::names::{Id, TextHash};
use crate::table::Shown;

/// The hash of a list's session and query.
pub(crate) type ListKey = [u64; 2];

/// The hash functions of names of sessions.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct KeyHash([TextHash; 2]);

impl KeyHash {
    pub(crate) fn of_text(self, text: &[u8]) -> ListKey {
        self.0.map(|hash| hash.of(text))
    }

    pub(crate) fn of_numbers(self, a: u64, b: u64) -> ListKey {
        self.0.map(|hash| hash.of_numbers(a, b))
    }

    /// The key of two parts, in their order.
    pub(crate) fn of_both(self, a: ListKey, b: ListKey) -> ListKey {
        [0, 1].map(|half| self.0[half].of_numbers(a[half], b[half]))
    }
}

/// The place of a line or a row.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spot {
    /// Its place in the log; of two lines, the later one has the larger number.
    pub(crate) at: u64,
    pub(crate) file: usize,
    /// 1-based.
    pub(crate) line: u64,
}

/// Adjacent lines of a list with increasing positions, or a skipped line, which has no items.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) key: ListKey,
    pub(super) query: Id,
    pub(super) spot: Spot,
    /// The start of its items.
    pub(super) start: usize,
    /// Bit `l` is the `l`-th line.
    pub(super) clicks: u64,
    /// 1-based column of positions.
    pub(super) column: u32,
    pub(super) first: u8,
    pub(super) len: u8,
}

impl Run {
    /// Whether a line follows its last one.
    pub(super) fn continues(&self, spot: Spot) -> bool {
        self.spot.file == spot.file && self.spot.line + u64::from(self.len) == spot.line
    }
}

/// The lines of one thread.
#[derive(Debug, Default)]
pub(crate) struct OpenLists {
    pub(super) runs: Vec<Run>,
    pub(super) items: Vec<Id>,
}

impl OpenLists {
    /// Adds a line. `column` is the 1-based column of its position.
    pub(crate) fn push(&mut self, key: ListKey, shown: &Shown, spot: Spot, column: usize) {
        let clicked = shown.clicks.min(1);
        self.items.push(shown.item);
        if let Some(run) = self.runs.last_mut()
            && run.key == key
            && run.len > 0
            && run.continues(spot)
            && run.first + run.len == shown.position
        {
            run.clicks |= clicked << run.len;
            run.len += 1;
            return;
        }
        self.runs.push(Run {
            key,
            query: shown.query,
            spot,
            start: self.items.len() - 1,
            clicks: clicked,
            column: u32::try_from(column).unwrap_or(0),
            first: shown.position,
            len: 1,
        });
    }

    /// Notes that a line of the list was skipped.
    pub(crate) fn skip(&mut self, key: ListKey, spot: Spot) {
        let (start, query) = (self.items.len(), Id(0));
        self.runs.push(Run { key, query, spot, start, clicks: 0, column: 0, first: 0, len: 0 });
    }
}
