//! Lists whose lines name their session: lines of a list are gathered wherever they stand.
//!
//! A warehouse exports rows in any order, in several files. So the lists of a log are open until
//! its last line is read, in one table for all threads and files. A session of n lines takes about
//! 80 + 8 n bytes in it, if its lines stand together. Names of sessions are kept as 128 bits of
//! hash.
//!
//! A list shows every position from the first on once; lines that do not fit are faults. A session
//! that starts from the first position again, elsewhere in the log, has shown another list.

use super::line::Lost;
use super::meaning::Meaning;
use super::progress::Progress;
use crate::collect::Batches;
use crate::error::{Error, ErrorKind, Place};
use crate::fault::Fault;
use crate::names::{Id, TextHash};
use crate::table::Shown;
use std::sync::Arc;

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
struct Run {
    key: ListKey,
    query: Id,
    spot: Spot,
    /// The start of its items.
    start: usize,
    /// Bit `l` is the `l`-th line.
    clicks: u64,
    /// 1-based column of positions.
    column: u32,
    first: u8,
    len: u8,
}

impl Run {
    /// Whether a line follows its last one.
    fn continues(&self, spot: Spot) -> bool {
        self.spot.file == spot.file && self.spot.line + u64::from(self.len) == spot.line
    }
}

/// The lines of one thread.
#[derive(Debug, Default)]
pub(crate) struct OpenLists {
    runs: Vec<Run>,
    items: Vec<Id>,
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

/// A line of a list.
type Line<'a> = (u8, u64, &'a Run, usize);

/// Ends all lists: those of all threads, in any order.
pub(crate) struct Closing<'a> {
    pub(crate) names: &'a [Arc<str>],
    /// The name of the column of positions.
    pub(crate) column: &'a str,
    pub(crate) meaning: Meaning,
    pub(crate) lenient: bool,
}

impl Closing<'_> {
    pub(crate) fn close(&self, parts: &[OpenLists], batches: &mut Batches<'_>, progress: &mut Progress) {
        let mut runs: Vec<(&Run, &[Id])> = Vec::with_capacity(parts.iter().map(|part| part.runs.len()).sum());
        for part in parts {
            runs.extend(part.runs.iter().map(|run| (run, &part.items[run.start..][..usize::from(run.len)])));
        }
        runs.sort_unstable_by_key(|(run, _)| (run.key, run.spot.at));
        for mut of_key in runs.chunk_by(|(a, _), (b, _)| a.key == b.key) {
            while !of_key.is_empty() {
                let starts = |run: &Run| run.len > 0 && run.first == 0;
                // The next list starts where the first position comes again.
                let again = (1..of_key.len()).find(|&place| {
                    let (run, before) = (of_key[place].0, of_key[place - 1].0);
                    starts(run)
                        && !before.continues(run.spot)
                        && of_key[..place].iter().any(|(earlier, _)| starts(earlier))
                });
                let (list, rest) = of_key.split_at(again.unwrap_or(of_key.len()));
                of_key = rest;
                self.list(list, batches, progress);
            }
        }
    }

    /// Ends a list.
    fn list(&self, runs: &[(&Run, &[Id])], batches: &mut Batches<'_>, progress: &mut Progress) {
        // The usual case.
        if let &[(run @ &Run { first: 0, len: 1.., .. }, items)] = runs {
            return batches.session(run.query, items, run.clicks, run.spot.at);
        }
        let mut at_fault = runs.iter().any(|(run, _)| run.len == 0);
        let mut lines: Vec<(Line<'_>, Id)> = Vec::new();
        for &(run, items) in runs {
            let of_run = |(number, &item): (usize, &Id)| {
                // A run has at most 64 lines.
                let line = run.spot.line + number as u64;
                ((run.first + u8::try_from(number).unwrap_or(0), line, run, number), item)
            };
            lines.extend(items.iter().enumerate().map(of_run));
        }
        lines.sort_by_key(|((position, line, run, _), _)| (*position, run.spot.file, *line));
        let (mut items, mut clicks) = (Vec::new(), 0);
        for &(line @ (position, _, run, number), item) in &lines {
            let clicked = run.clicks >> number & 1;
            if usize::from(position) == items.len() {
                clicks |= clicked << position;
                items.push(item);
            } else {
                at_fault = true;
                self.at_fault(line, clicked, items.len(), progress);
            }
        }
        if let ([_, ..], Some(first)) = (items.as_slice(), runs.iter().find(|(run, _)| run.len > 0)) {
            batches.session(first.0.query, &items, clicks, first.0.spot.at);
            if at_fault {
                batches.session_at_fault();
            }
        }
    }

    #[cold]
    fn at_fault(&self, line: Line<'_>, clicks: u64, next: usize, progress: &mut Progress) {
        let (position, line, run, _) = line;
        let fault = Fault::OutOfOrder { next: self.meaning.named(next) };
        let file = run.spot.file;
        let place = Place {
            file: self.names.get(file).map_or("", |name| name).to_owned(),
            line,
            column: Some((run.column as usize, self.column.to_owned())),
            text: self.meaning.named(position.into()).to_string(),
            message: fault.to_string(),
        };
        if self.lenient {
            progress.skip(fault, Lost { clicks, impressions: 1 }, (file, line), place);
        } else {
            progress.fail((file, line), Error::at(ErrorKind::Line(fault), place));
        }
    }
}
