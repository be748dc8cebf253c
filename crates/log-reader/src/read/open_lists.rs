//! Lists whose lines name their session: lines of a list are gathered wherever they stand.
//!
//! A warehouse exports rows in any order, in several files. So the lists of a log are open until
//! its last line is read, in one table for all threads and files. A session of n lines takes about
//! 90 + 8 n bytes in it, if its lines stand together. Names of sessions are kept as 128 bits of
//! hash.
//!
//! A list shows a position once; a second line of it is a fault. A list may begin later and leave
//! gaps, such as the places of ads. It has one stratum. A session that starts from its first
//! position again, elsewhere in the log, has shown another list.
//!
//! If lists are handed over ([`Reader::read_lists`](crate::Reader::read_lists)), a list whose lines
//! stand together ends with the line after it, and only its key stays. If a line of it turns up
//! elsewhere after all, the log is read again, with the lists of these keys open to its end.

use crate::collect::Batches;
use crate::columns::{NUMBERS, POSITION, Places};
use crate::counts::Positions;
use crate::keys::ListKey;
use crate::lists::ShownList;
use crate::logged::{LoggedRow, Propensities};
use crate::names::Id;
use crate::table::LineCounts;

/// The place of a line or a row.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spot {
    /// Its place in the log; of two lines, the later one has the larger number.
    pub(crate) at: u64,
    pub(crate) file: usize,
    /// 1-based.
    pub(crate) line: u64,
    /// In milliseconds since 1970, if the log has times.
    pub(crate) time: i64,
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
    pub(super) positions: Positions,
}

impl Run {
    /// Returns whether a line follows its last one, or is the same one, which has a list.
    pub(super) fn continues(&self, spot: Spot) -> bool {
        let next = self.spot.line + self.positions.len() as u64;
        self.spot.file == spot.file && (next == spot.line || self.spot.line == spot.line)
    }

    /// Returns whether it is the beginning of a list that begins at the first position.
    pub(super) fn is_first(&self) -> bool {
        self.positions.contains(0)
    }
}

/// The user, the session and the columns of a run, if lists are handed over.
#[derive(Debug, Clone, Copy)]
pub(super) struct LoggedRun {
    pub(super) user: Option<u64>,
    pub(super) session: Option<u64>,
    /// The place of its file's columns in [`LoggedLines::places`].
    file: u32,
}

/// The loggers of lines.
#[derive(Debug, Default)]
pub(super) struct LoggedLines {
    /// The logger of each run.
    pub(super) runs: Vec<LoggedRun>,
    /// The places of all columns, of the files of the runs.
    places: Vec<Places>,
    /// The propensities and the value of each line, by kind, as far as the log has them.
    propensities: [Vec<f64>; NUMBERS],
    /// The first run of the block that is being read. It may continue a list of the block before,
    /// and the runs before it may continue in blocks that other threads read.
    first: usize,
}

/// The lines of one thread.
#[derive(Debug, Default)]
pub(crate) struct OpenLists {
    pub(super) runs: Vec<Run>,
    pub(super) items: Vec<Id>,
    /// There if lists are handed over.
    pub(super) logged: Option<Box<LoggedLines>>,
}

impl OpenLists {
    /// Counts what a line shows, or lets it wait in its list, which also notes a fault. `places`
    /// are the columns of its file.
    #[inline]
    pub(crate) fn take<E>(
        &mut self,
        key: Option<ListKey>,
        shown: Result<Option<(LineCounts, Option<LoggedRow>)>, E>,
        spot: Spot,
        places: &Places,
        batches: &mut Batches<'_>,
    ) -> Result<(), E> {
        match (&shown, key) {
            (Ok(None), _) | (Err(_), None) => {}
            (Ok(Some((shown, None))), None) => batches.count_shown(shown, spot.at),
            (Ok(Some((shown, Some(row)))), None) => batches.count_logged(shown, row, spot.at),
            (Ok(Some((shown, None))), Some(key)) => {
                self.push(key, shown, spot, places[POSITION].map_or(0, |place| place + 1));
            }
            (Ok(Some((shown, Some(row)))), Some(key)) => {
                self.push_logged(key, shown, row, spot, places, batches);
            }
            (Err(_), Some(key)) => self.skip(key, spot, batches),
        }
        shown.map(drop)
    }

    /// Adds a line. `column` is the 1-based column of its position.
    fn push(&mut self, key: ListKey, shown: &LineCounts, spot: Spot, column: usize) {
        if !self.extend(key, shown, spot) {
            self.start(key, shown, spot, column);
        }
    }

    /// Adds a line to the last run, if it continues it.
    #[inline]
    fn extend(&mut self, key: ListKey, shown: &LineCounts, spot: Spot) -> bool {
        let last = self.runs.last_mut().filter(|run| {
            run.key == key
                && run.query == shown.query
                && !run.positions.is_empty()
                && run.positions.0 >> shown.position == 0
                && run.continues(spot)
        });
        let Some(run) = last else { return false };
        run.clicks |= shown.clicks.min(1) << run.positions.len();
        run.positions.0 |= 1 << shown.position;
        self.items.push(shown.item);
        true
    }

    fn start(&mut self, key: ListKey, shown: &LineCounts, spot: Spot, column: usize) {
        self.items.push(shown.item);
        self.runs.push(Run {
            key,
            query: shown.query,
            spot,
            start: self.items.len() - 1,
            clicks: shown.clicks.min(1),
            column: u32::try_from(column).unwrap_or(0),
            positions: Positions(1 << shown.position),
        });
    }

    /// Notes that a line of the list was skipped.
    pub(crate) fn skip(&mut self, key: ListKey, spot: Spot, batches: &mut Batches<'_>) {
        self.hand_over(key, spot, batches);
        let (start, query) = (self.items.len(), Id(0));
        self.runs.push(Run {
            key,
            query,
            spot,
            start,
            clicks: 0,
            column: 0,
            positions: Positions::default(),
        });
        if batches.lists.is_some() {
            let run = LoggedRun { user: None, session: None, file: 0 };
            self.logged.get_or_insert_default().runs.push(run);
        }
    }

    /// Adds a line of a list to hand over. `places` are the columns of its file.
    #[inline]
    fn push_logged(
        &mut self,
        key: ListKey,
        shown: &LineCounts,
        row: &LoggedRow,
        spot: Spot,
        places: &Places,
        batches: &mut Batches<'_>,
    ) {
        let logged = self.logged.get_or_insert_default();
        let is_same = logged.runs.last().is_some_and(|run| run.user == row.user);
        // A line of another user is a fault that is found when the list ends.
        if !(is_same && self.extend(key, shown, spot)) {
            self.hand_over(key, spot, batches);
            self.start(key, shown, spot, places[POSITION].map_or(0, |place| place + 1));
            let logged = self.logged.get_or_insert_default();
            if logged.places.last() != Some(places) {
                logged.places.push(*places);
            }
            let file = u32::try_from(logged.places.len() - 1).unwrap_or(u32::MAX);
            logged.runs.push(LoggedRun { user: row.user, session: row.session, file });
        }
        if let Some(logged) = &mut self.logged {
            for (all, one) in logged.propensities.iter_mut().zip(row.propensities) {
                all.extend(one);
            }
        }
    }

    /// Hands the last list over before a line that begins another run, unless lines elsewhere may
    /// belong to it: it stands at an edge of a block or beside other lines of its session, has
    /// another first position, or is known to stand apart. A list with a fault is found at the end.
    fn hand_over(&mut self, next: ListKey, at: Spot, batches: &mut Batches<'_>) {
        let Some(logged) = &mut self.logged else { return };
        let [.., before, run] = self.runs.as_slice() else { return };
        let joins = |run: &Run, key: ListKey, spot: Spot| run.key == key && run.continues(spot);
        if self.runs.len() - 1 <= logged.first
            || !run.is_first()
            || joins(before, run.key, run.spot)
            || joins(run, next, at)
            || batches.lists.as_ref().is_none_or(|lists| lists.is_held(run.key))
        {
            return;
        }
        let (start, key, number) = (run.start, run.key, self.runs.len() - 1);
        let propensities = logged.propensities(start, run.positions.len());
        if propensities.fault().is_some() {
            return;
        }
        let of = logged.runs[number];
        let list = ShownList::plain(run.query, &self.items[start..], run.clicks, run.spot.at)
            .at(run.positions)
            .timed(run.spot.time);
        batches.session(&propensities.with(list.of(of.user, of.session)), true);
        if let Some(lists) = &mut batches.lists {
            lists.note(key);
        }
        self.runs.pop();
        self.items.truncate(start);
        logged.runs.pop();
        logged.propensities.iter_mut().for_each(|all| all.truncate(start));
    }

    /// Called at the end of a block: its last list may continue in the next one.
    pub(crate) fn end_block(&mut self) {
        if let Some(logged) = &mut self.logged {
            logged.first = self.runs.len();
        }
    }
}

impl LoggedLines {
    /// The place of a column in the file of a run.
    pub(super) fn place(&self, run: usize, role: usize) -> Option<usize> {
        self.places.get(self.runs[run].file as usize)?[role]
    }

    /// The propensities of adjacent lines, from `start` on.
    pub(super) fn propensities(&self, start: usize, len: usize) -> Propensities<'_> {
        Propensities(self.propensities.each_ref().map(|all| all.get(start..start + len).unwrap_or_default()))
    }
}
