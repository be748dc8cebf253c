//! Counting from several threads: each gathers lines by query, and counts them in batches.
//!
//! A hash of the query selects one of many tables. One lock serves hundreds of lines, and the table
//! in use fits into the processor's cache; look-ups in one large table would cost several times as
//! much as reading the log. Sums do not depend on the order of batches.

use crate::columns::READ;
use crate::counts::{Counts, Positions};
use crate::error::{Error, ErrorKind};
use crate::fault::Fault;
use crate::fields::MAX_COUNT;
use crate::hand_over::{Handing, HandingThread};
use crate::keys::KeyHash;
use crate::lists::{GROUPS, ShownList};
use crate::log::Log;
use crate::logged::{LastTexts, LoggedRow};
use crate::names::{Id, Ids, MIX_B, lock, mix, unlocked};
use crate::read::Value;
use crate::read_report::ReadReport;
use crate::session::{MAX_FILES_IN_ORDER, ReadSession, Sessions, put_in_order};
use crate::table::{LineCounts, PackedLine, SHARDS, Table};
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// Lines of a batch, 24 bytes each: the batches of all tables fit into the processor's cache.
const BATCH: usize = 128;
/// Words of a batch of sessions.
const SESSION_WORDS: usize = 2048;

/// Takes the values of a row, by column, and those of further columns; an error has the column at
/// fault.
pub(crate) type TakeRow<'a> =
    dyn Fn(&[Option<Value<'_>>; READ], &[Value<'_>]) -> Result<(), (usize, Fault)> + Sync + 'a;

pub(crate) struct Collector<'a> {
    pub(crate) ids: Ids,
    /// The same in all readings of a log.
    pub(crate) hash: KeyHash,
    pub(crate) handing: Option<Handing<'a>>,
    /// Takes rows as they are, in place of all else.
    rows: Option<&'a TakeRow<'a>>,
    /// Whether counts are wanted.
    counts: bool,
    tables: Vec<Mutex<Table>>,
    /// The sessions of the threads that are done, if they are kept.
    order: Mutex<Vec<ReadSession>>,
    keep_sessions: bool,
    /// Sessions with more clicked positions are left out.
    max_clicks: Option<u32>,
}

impl<'a> Collector<'a> {
    pub(crate) fn new(ids: Ids, keep_sessions: bool, max_clicks: Option<u32>) -> Self {
        Self {
            ids,
            hash: KeyHash::default(),
            handing: None,
            rows: None,
            counts: true,
            tables: (0..SHARDS).map(|_| Mutex::default()).collect(),
            order: Mutex::default(),
            keep_sessions,
            max_clicks,
        }
    }

    /// The same collector, which hands lists over, and counts if it keeps sessions.
    pub(crate) fn handing(self, handing: Handing<'a>) -> Self {
        let (counts, hash) = (self.keep_sessions, handing.hash().unwrap_or(self.hash));
        Self { handing: Some(handing), counts, hash, ..self }
    }

    /// The same collector for rows that are taken as they are.
    pub(crate) fn taking(self, rows: &'a TakeRow<'a>) -> Self {
        Self { rows: Some(rows), counts: false, ..self }
    }

    /// The receiver of one thread.
    pub(crate) fn batches(&self) -> Batches<'_> {
        Batches {
            collector: self,
            lists: self.handing.as_ref().map(Handing::thread),
            texts: LastTexts::default(),
            lines: vec![Vec::new(); self.tables.len()],
            sessions: vec![Vec::new(); self.tables.len()],
            order: Vec::new(),
            expanded: Vec::new(),
            places: Vec::with_capacity(BATCH),
            report: ReadReport::default(),
        }
    }

    /// Everything, sorted.
    pub(crate) fn finish(self, threads: NonZeroUsize, report: ReadReport) -> Result<Log, Error> {
        let (names, renaming) = self.ids.finish();
        let names = Arc::new(names);
        let next = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..threads.get() {
                scope.spawn(|| {
                    while let Some(table) = self.tables.get(next.fetch_add(1, Ordering::Relaxed)) {
                        lock(table).finish(&renaming);
                    }
                });
            }
        });
        let mut tables: Vec<Table> = self.tables.into_iter().map(unlocked).collect();
        let (mut sessions, places) = Sessions::from_tables(Arc::clone(&names), &mut tables);
        let counts = Counts::from_tables(Arc::clone(&names), tables);
        if report.files <= MAX_FILES_IN_ORDER {
            put_in_order(&mut sessions, unlocked(self.order), &places, self.handing.is_some());
        }
        // A cell has at most the impressions of all.
        let overflown = (report.impressions >= MAX_COUNT).then(|| counts.overflown()).flatten();
        if let Some((query, cell)) = overflown {
            let message = format!(
                "query {}, item {}, position {}: more impressions than can be counted, {}",
                names.name(query).escape_debug(),
                names.name(cell.item).escape_debug(),
                cell.position + 1,
                MAX_COUNT - 1,
            );
            return Err(Error::of(ErrorKind::TooManyImpressions, "", message));
        }
        Ok(Log { counts, sessions, report })
    }
}

/// Data that one thread has read and not yet counted.
pub(crate) struct Batches<'a> {
    collector: &'a Collector<'a>,
    /// There if lists are handed over.
    pub(crate) lists: Option<HandingThread<'a>>,
    /// The texts of the line before.
    pub(crate) texts: LastTexts,
    /// Lines for every table.
    lines: Vec<Vec<PackedLine>>,
    /// Sessions of every table, one by one: query, place in the log, time, clicks, positions, group
    /// of the user, items.
    sessions: Vec<Vec<u64>>,
    /// The sessions that were counted, if they are kept.
    order: Vec<ReadSession>,
    /// Reused: the cells of sessions, and places of cells.
    expanded: Vec<PackedLine>,
    places: Vec<usize>,
    pub(crate) report: ReadReport,
}

fn table_of(query: u64) -> usize {
    (mix(query, MIX_B) >> 50) as usize % SHARDS
}

impl Batches<'_> {
    /// Returns whether rows are taken as they are.
    pub(crate) fn takes_rows(&self) -> bool {
        self.collector.rows.is_some()
    }

    /// Hands over the values of a row, by column; an error has the column at fault.
    #[inline]
    pub(crate) fn take_row(
        &self,
        values: &[Option<Value<'_>>; READ],
        further: &[Value<'_>],
    ) -> Result<(), (usize, Fault)> {
        self.collector.rows.map_or(Ok(()), |take| take(values, further))
    }

    /// Words rather than a line: one that was just written would have to be read again.
    #[inline(never)]
    fn count_packed(&mut self, number: usize, query: u64, item: u64, counts: u64) {
        let lines = &mut self.lines[number];
        lines.push(PackedLine { query, item, counts });
        if lines.len() >= BATCH {
            self.count_batch(number);
        }
    }

    #[inline(never)]
    fn count_batch(&mut self, number: usize) {
        lock(&self.collector.tables[number]).add_all(&self.lines[number], &mut self.places);
        self.lines[number].clear();
    }

    fn count_sessions(&mut self, number: usize) {
        let mut table = lock(&self.collector.tables[number]);
        self.expanded.clear();
        let number_of_table = u16::try_from(number).unwrap_or(u16::MAX);
        let mut words = self.sessions[number].as_slice();
        while let [query, at, time, clicks, positions, group, rest @ ..] = words {
            let positions = Positions(*positions);
            // This thread wrote the positions, and an item for each.
            let (items, rest) = rest.split_at(positions.len().min(rest.len()));
            let [group, ..] = group.to_le_bytes();
            let placed = (0..).zip(positions.iter()).zip(items);
            self.expanded.extend(placed.map(|((place, position), &item): ((u8, _), _)| {
                let position = u8::try_from(position).unwrap_or(0);
                PackedLine::new([*query, item], clicks >> place & 1, 1, position)
            }));
            if self.collector.keep_sessions {
                let pattern = table.add_session(*query, items, positions, *clicks);
                let time = time.cast_signed();
                self.order.push(ReadSession { at: *at, time, pattern, table: number_of_table, group });
            }
            words = rest;
        }
        table.add_all(&self.expanded, &mut self.places);
        drop(table);
        self.sessions[number].clear();
    }

    /// Counts the rest.
    pub(crate) fn finish(mut self) -> ReadReport {
        for number in 0..self.collector.tables.len() {
            self.count_batch(number);
            self.count_sessions(number);
        }
        if let Some(lists) = self.lists.take() {
            lists.finish();
        }
        let mut order = lock(&self.collector.order);
        if order.is_empty() {
            *order = self.order;
        } else {
            order.append(&mut self.order);
        }
        self.report
    }

    /// The identifier of a name.
    #[inline]
    pub(crate) fn id(&mut self, name: &[u8]) -> Result<Id, Fault> {
        self.collector.ids.id(name)
    }

    /// Counts an item that was shown without its list; `at` is the line's place in the log.
    #[inline]
    pub(crate) fn count_shown(&mut self, shown: &LineCounts, at: u64) {
        if self.lists.is_none() {
            self.count_line(shown);
        } else {
            self.count_logged(shown, &LoggedRow::default(), at);
        }
    }

    /// Hands such an item over, with its user and propensities, and counts it if counts are wanted.
    #[inline(never)]
    pub(crate) fn count_logged(&mut self, shown: &LineCounts, row: &LoggedRow, at: u64) {
        if let Some(lists) = &mut self.lists {
            lists.line(shown, row, at);
        }
        if self.collector.counts {
            self.count_line(shown);
        } else {
            self.report.add_line(shown);
        }
    }

    #[inline]
    fn count_line(&mut self, shown: &LineCounts) {
        self.report.add_line(shown);
        let number = table_of(shown.query.0);
        match PackedLine::of(shown) {
            // Nothing was shown, so there is no cell.
            _ if shown.impressions == 0 => {}
            Some(line) => self.count_packed(number, line.query, line.item, line.counts),
            None => lock(&self.collector.tables[number]).add(shown),
        }
    }

    /// Counts a list of 64 items at most, unless it is left out, and hands it over if it is
    /// `whole`. Returns whether it was counted.
    pub(crate) fn session(&mut self, list: &ShownList<'_>, whole: bool) -> bool {
        let &ShownList { query, items, positions, clicks, place: at, time, unit, .. } = list;
        if self.collector.max_clicks.is_some_and(|most| clicks.count_ones() > most) {
            self.report.sessions_left_out += 1;
            return false;
        }
        self.report.add_session(items, positions, clicks);
        if let Some(lists) = self.lists.as_mut().filter(|_| whole) {
            lists.list(list);
        }
        if !self.collector.counts {
            return true;
        }
        let number = table_of(query.0);
        let words = &mut self.sessions[number];
        words.extend([query.0, at, time.cast_unsigned(), clicks, positions.0, unit % GROUPS]);
        words.extend(items.iter().map(|item| item.0));
        if words.len() >= SESSION_WORDS {
            self.count_sessions(number);
        }
        true
    }
}
