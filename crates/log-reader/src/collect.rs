//! Counting from several threads: each gathers lines by query, and counts them in batches.
//!
//! A hash of the query selects one of many tables. One lock serves hundreds of lines, and the table
//! in use fits into the processor's cache; look-ups in one large table would cost several times as
//! much as reading the log. Sums do not depend on the order of batches.

use crate::counts::Counts;
use crate::error::{Error, ErrorKind};
use crate::fault::Fault;
use crate::fields::MAX_COUNT;
use crate::hold_out::HoldOut;
use crate::keys::{KeyHash, ListKey};
use crate::lists::{GROUPS, ShownList};
use crate::log::{Log, Part};
use crate::logged::{LastTexts, LoggedRow, Propensities};
use crate::names::{Id, Ids, MIX_B, lock, mix, unlocked};
use crate::read_report::ReadReport;
use crate::session::{MAX_FILES_IN_ORDER, ReadSession, Sessions, put_in_order};
use crate::table::{PackedCell, SHARDS, Shown, Table};
use hashbrown::HashTable;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// Lines of a batch, 32 bytes each.
const BATCH: usize = 1024;
/// Words of a batch of sessions.
const SESSION_WORDS: usize = 2048;

/// Keys of lists. Their first halves are hashes.
pub(crate) type Keys = HashTable<ListKey>;

/// Gets the lists of one thread.
pub(crate) trait Sink {
    fn list(&mut self, list: &ShownList<'_>);
    /// Called after the last list.
    fn finish(self: Box<Self>);
}

/// Makes the receivers of threads.
pub(crate) trait Sinks: Sync {
    fn sink(&self) -> Box<dyn Sink + '_>;
}

/// Lists to hand over.
pub(crate) struct Handing<'a> {
    pub(crate) sinks: &'a dyn Sinks,
    /// Lists that stay open to the end of the log. `None`: the log is read for the first time.
    pub(crate) apart: Option<Keys>,
}

pub(crate) struct Collector<'a> {
    ids: Ids,
    /// The same in all readings of a log.
    pub(crate) hash: KeyHash,
    handing: Option<Handing<'a>>,
    /// The first halves of the keys of lists that were handed over.
    handed_over: Mutex<Vec<Vec<u64>>>,
    /// Lists that were handed over and have lines elsewhere.
    apart: Mutex<Keys>,
    /// Whether counts are wanted.
    counts: bool,
    /// Tables of the data to fit, and after them those of the data held out, if any are.
    tables: Vec<Mutex<Table>>,
    /// The sessions of the threads that are done, if they are kept.
    order: Mutex<Vec<ReadSession>>,
    keep_sessions: bool,
    /// Sessions with more clicked positions are left out.
    max_clicks: Option<u32>,
    hold_out: Option<HoldOut>,
}

impl<'a> Collector<'a> {
    pub(crate) fn new(
        ids: Ids,
        keep_sessions: bool,
        max_clicks: Option<u32>,
        hold_out: Option<HoldOut>,
    ) -> Self {
        let n_tables = if hold_out.is_some() { 2 * SHARDS } else { SHARDS };
        Self {
            ids,
            hash: KeyHash::default(),
            handing: None,
            handed_over: Mutex::default(),
            apart: Mutex::default(),
            counts: true,
            tables: (0..n_tables).map(|_| Mutex::default()).collect(),
            order: Mutex::default(),
            keep_sessions,
            max_clicks,
            hold_out,
        }
    }

    /// The same collector, which hands lists over, and counts if it keeps sessions.
    /// The hash is that of the keys to hold, if any.
    pub(crate) fn handing(self, handing: Handing<'a>, hash: Option<KeyHash>) -> Self {
        let (counts, hash) = (self.keep_sessions, hash.unwrap_or(self.hash));
        Self { handing: Some(handing), counts, hash, ..self }
    }

    /// Whether lists are handed over.
    pub(crate) fn hands_over(&self) -> bool {
        self.handing.is_some()
    }

    /// Whether lists that were handed over have lines elsewhere; `unfinished` are the lists that
    /// have lines without a beginning. Asked at the end of the log.
    pub(crate) fn find_apart(&self, unfinished: impl FnOnce() -> Vec<ListKey>) -> bool {
        if self.handing.as_ref().is_none_or(|handing| handing.apart.is_some()) {
            return false;
        }
        let keys = unfinished();
        if keys.is_empty() {
            return false;
        }
        let mut handed_over: Vec<u64> = lock(&self.handed_over).concat();
        handed_over.sort_unstable();
        let mut apart = lock(&self.apart);
        for key in keys.into_iter().filter(|key| handed_over.binary_search(&key[0]).is_ok()) {
            apart.insert_unique(key[0], key, |key| key[0]);
        }
        !apart.is_empty()
    }

    /// Whether the log has to be read again.
    pub(crate) fn is_to_read_again(&self) -> bool {
        !lock(&self.apart).is_empty()
    }

    /// What the next reading needs: the identifiers so far, the hash, and the lists to hold.
    pub(crate) fn again(self) -> (Ids, KeyHash, Keys) {
        (self.ids, self.hash, unlocked(self.apart))
    }

    /// The receiver of one thread.
    pub(crate) fn batches(&self) -> Batches<'_> {
        let capacity = if self.counts { BATCH } else { 0 };
        let batch = || Batch { queries: Vec::with_capacity(capacity), cells: Vec::with_capacity(capacity) };
        Batches {
            collector: self,
            sink: self.handing.as_ref().map(|handing| handing.sinks.sink()),
            handed_over: Vec::new(),
            texts: LastTexts::default(),
            lines: self.tables.iter().map(|_| batch()).collect(),
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
        let mut tables = self.tables.into_iter().map(unlocked);
        let mut places = Vec::new();
        let [mut fitted, mut held_out] = [(); 2].map(|()| {
            let mut tables: Vec<Table> = tables.by_ref().take(SHARDS).collect();
            let sessions = Sessions::from_tables(Arc::clone(&names), &mut tables, &mut places);
            Part { counts: Counts::from_tables(Arc::clone(&names), tables), sessions }
        });
        if report.files <= MAX_FILES_IN_ORDER {
            let with_groups = self.handing.is_some();
            let parts = [&mut fitted.sessions, &mut held_out.sessions];
            put_in_order(parts, unlocked(self.order), &places, with_groups);
        }
        let log = Log {
            counts: fitted.counts,
            sessions: fitted.sessions,
            held_out: self.hold_out.map(|_| held_out),
            report,
        };
        // A cell has at most the impressions of all.
        let overflown = (log.report.impressions >= MAX_COUNT).then(|| log.whole().0.overflown()).flatten();
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
        Ok(log)
    }
}

/// Data that one thread has read and not yet counted.
pub(crate) struct Batches<'a> {
    collector: &'a Collector<'a>,
    /// Lists are handed over to it.
    sink: Option<Box<dyn Sink + 'a>>,
    handed_over: Vec<u64>,
    /// The texts of the line before.
    pub(crate) texts: LastTexts,
    /// Lines for every table.
    lines: Vec<Batch>,
    /// Sessions of every table, one by one: query, place in the log, clicks, group of the user and
    /// number of items in one word, items.
    sessions: Vec<Vec<u64>>,
    /// The sessions that were counted, if they are kept.
    order: Vec<ReadSession>,
    /// Reused: the cells of sessions, and places of cells.
    expanded: Vec<PackedCell>,
    places: Vec<u32>,
    report: ReadReport,
}

/// Lines for one table.
#[derive(Debug)]
struct Batch {
    queries: Vec<u64>,
    /// Their queries are numbered when they are counted.
    cells: Vec<PackedCell>,
}

impl Batch {
    fn count(&mut self, table: &Mutex<Table>, places: &mut Vec<u32>) {
        let mut table = lock(table);
        for (cell, query) in self.cells.iter_mut().zip(self.queries.drain(..)) {
            cell.query = table.query(query);
        }
        table.add_all(&self.cells, places);
        self.cells.clear();
    }
}

/// The number of the table of a query.
#[inline]
fn table_of(query: Id, held_out: bool) -> usize {
    let shard = (mix(query.0, MIX_B) >> 50) as usize % SHARDS;
    shard + if held_out { SHARDS } else { 0 }
}

impl Batches<'_> {
    #[inline]
    fn count(&mut self, shown: &Shown, held_out: bool) {
        let number = table_of(shown.query, held_out);
        let batch = &mut self.lines[number];
        batch.queries.push(shown.query.0);
        batch.cells.push(shown.in_query(0));
        if batch.cells.len() == BATCH {
            batch.count(&self.collector.tables[number], &mut self.places);
        }
    }

    /// Not inlined: most lines are not split by the hold-out.
    #[inline(never)]
    fn count_cut(&mut self, hold_out: HoldOut, shown: &Shown, at: u64) {
        for (part, held_out) in hold_out.at(at).cut(shown).into_iter().zip([false, true]) {
            if part.impressions > 0 {
                self.count(&part, held_out);
            }
        }
    }

    /// Looks the query of a session up once, for all of its items.
    fn count_sessions(&mut self, number: usize) {
        let mut table = lock(&self.collector.tables[number]);
        self.expanded.clear();
        let number_of_table = u16::try_from(number).unwrap_or(u16::MAX);
        let mut words = self.sessions[number].as_slice();
        while let [query, at, clicks, numbers, rest @ ..] = words {
            // This thread wrote the numbers, and the items after them.
            let [n_items, group, ..] = numbers.to_le_bytes();
            let n_items = usize::from(n_items).min(rest.len());
            let (items, rest) = rest.split_at(n_items);
            let query = table.query(*query);
            self.expanded.extend((0..).zip(items).map(|(position, &item)| PackedCell {
                item,
                query,
                clicks: (clicks >> position & 1).into(),
                impressions: 1.into(),
                position,
            }));
            if self.collector.keep_sessions {
                let pattern = table.add_session(query, items, *clicks);
                self.order.push(ReadSession { at: *at, pattern, table: number_of_table, group });
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
            self.lines[number].count(&self.collector.tables[number], &mut self.places);
            self.count_sessions(number);
        }
        if let Some(sink) = self.sink.take() {
            sink.finish();
        }
        lock(&self.collector.handed_over).push(std::mem::take(&mut self.handed_over));
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

    /// Whether lists are handed over.
    pub(crate) fn hands_over(&self) -> bool {
        self.sink.is_some()
    }

    /// Whether a list has lines that stand apart.
    pub(crate) fn stands_apart(&self, key: ListKey) -> bool {
        let apart = self.collector.handing.as_ref().and_then(|handing| handing.apart.as_ref());
        apart.is_some_and(|apart| apart.find(key[0], |other| *other == key).is_some())
    }

    /// Notes the key of the list that was handed over last.
    pub(crate) fn handed_over(&mut self, key: ListKey) {
        self.handed_over.push(key[0]);
    }

    /// Counts an item that was shown without its list; `at` is the line's place in the log.
    #[inline]
    pub(crate) fn count_shown(&mut self, shown: Shown, at: u64) {
        if self.sink.is_none() {
            self.count_line(shown, at);
        } else {
            self.count_logged(shown, &LoggedRow::default(), at);
        }
    }

    /// Hands such an item over, with its user and propensities, and counts it if counts are wanted.
    #[inline(never)]
    pub(crate) fn count_logged(&mut self, shown: Shown, row: &LoggedRow, at: u64) {
        self.hand_over(&shown, row, at);
        if self.collector.counts {
            self.count_line(shown, at);
        } else {
            self.report.add_shown(shown.clicks, shown.impressions);
        }
    }

    /// Hands over a line: a list of one item for every impression.
    fn hand_over(&mut self, shown: &Shown, row: &LoggedRow, at: u64) {
        let Some(sink) = &mut self.sink else { return };
        let propensities = row.propensities.each_ref().map(Option::as_slice);
        for (clicks, times) in [(1, shown.clicks), (0, shown.impressions - shown.clicks)] {
            if times > 0 {
                let list = ShownList::plain(shown.query, std::slice::from_ref(&shown.item), clicks, at);
                let list = ShownList { first_position: shown.position.into(), times, ..list };
                sink.list(&Propensities(propensities).with(list.of(row.user, row.session)));
            }
        }
    }

    #[inline]
    fn count_line(&mut self, shown: Shown, at: u64) {
        self.report.add_shown(shown.clicks, shown.impressions);
        // Nothing was shown, so there is no cell.
        if shown.impressions > 0 {
            match self.collector.hold_out {
                None => self.count(&shown, false),
                Some(hold_out) => self.count_cut(hold_out, &shown, at),
            }
        }
    }

    /// Counts a list of 64 items at most, unless it is left out, and hands it over if it is
    /// `whole`. Returns whether it was counted.
    pub(crate) fn session(&mut self, list: &ShownList<'_>, whole: bool) -> bool {
        let &ShownList { query, items, clicks, place: at, unit, .. } = list;
        if self.collector.max_clicks.is_some_and(|most| clicks.count_ones() > most) {
            self.report.sessions_left_out += 1;
            return false;
        }
        self.report.add_session(items, clicks);
        if let Some(sink) = self.sink.as_mut().filter(|_| whole) {
            sink.list(list);
        }
        if !self.collector.counts {
            return true;
        }
        let held_out = self.collector.hold_out.is_some_and(|hold_out| hold_out.at(at).takes_one());
        let number = table_of(query, held_out);
        let words = &mut self.sessions[number];
        words.extend([query.0, at, clicks, items.len() as u64 | (unit % GROUPS) << 8]);
        words.extend(items.iter().map(|item| item.0));
        if words.len() >= SESSION_WORDS {
            self.count_sessions(number);
        }
        true
    }

    /// Notes that lines of the session counted last were skipped.
    pub(crate) fn session_at_fault(&mut self) {
        self.report.sessions_at_fault += 1;
    }

    /// Counts clicks on items that no list shows.
    pub(crate) fn clicks_outside(&mut self, clicks: u64) {
        self.report.clicks_outside = self.report.clicks_outside.saturating_add(clicks);
    }

    /// Notes a line with this number of clicks above its impressions, which are not counted.
    pub(crate) fn clicks_clipped(&mut self, clicks: u64) {
        self.report.add_clipped(clicks);
    }
}
