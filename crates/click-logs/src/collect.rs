//! Counting from several threads: each thread gathers lines in batches by query, and counts a batch at once.
//!
//! Tables are split by a hash of the query. So all cells of a query are in one table, one lock serves hundreds of lines, and the table in
//! use fits into the processor's cache; look-ups in one large table would cost several times as much as reading the log. Sums do not
//! depend on the order of batches.

use crate::counts::Counts;
use crate::error::{Error, ErrorKind};
use crate::fault::Fault;
use crate::hold_out::HoldOut;
use crate::log::{HeldOut, Log};
use crate::names::{Id, Interner, MIX_B, lock, mix};
use crate::read_report::ReadReport;
use crate::session::Sessions;
use crate::sink::{Sink, Tally};
use crate::table::{MAX_COUNT, Shown, Table};
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

const SHARDS: usize = 128;
/// Lines of a batch, 40 bytes each.
const BATCH: usize = 256;
/// Words of a batch of sessions.
const SESSION_WORDS: usize = 2048;

#[derive(Debug)]
pub(crate) struct Collector {
    interner: Interner,
    /// Tables of the data to fit, and of the data held out.
    shards: Vec<Mutex<[Table; 2]>>,
    keep_sessions: bool,
    hold_out: Option<HoldOut>,
}

impl Collector {
    pub(crate) fn new(keep_sessions: bool, hold_out: Option<HoldOut>) -> Self {
        let shards = (0..SHARDS).map(|_| Mutex::default()).collect();
        Self { interner: Interner::new(), shards, keep_sessions, hold_out }
    }

    /// The receiver of one thread.
    pub(crate) fn batches(&self) -> Batches<'_> {
        Batches {
            collector: self,
            shown: (0..SHARDS).map(|_| Vec::with_capacity(BATCH)).collect(),
            sessions: vec![Vec::new(); SHARDS],
            tally: Tally::default(),
        }
    }

    /// Everything, sorted.
    pub(crate) fn finish(self, threads: NonZeroUsize, report: ReadReport) -> Result<Log, Error> {
        let (names, renaming) = self.interner.finish();
        let names = Arc::new(names);
        let next = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..threads.get() {
                scope.spawn(|| {
                    while let Some(shard) = self.shards.get(next.fetch_add(1, Ordering::Relaxed)) {
                        lock(shard).iter_mut().for_each(|table| table.finish(&renaming));
                    }
                });
            }
        });
        let mut parts = [Vec::with_capacity(SHARDS), Vec::with_capacity(SHARDS)];
        for shard in self.shards {
            let [fitted, held_out] = shard.into_inner().unwrap_or_else(PoisonError::into_inner);
            parts[0].push(fitted);
            parts[1].push(held_out);
        }
        let [fitted, held_out] = parts.map(|mut tables| {
            let sessions = Sessions::from_tables(Arc::clone(&names), &mut tables);
            HeldOut { counts: Counts::from_tables(Arc::clone(&names), tables), sessions }
        });
        for part in [&fitted, &held_out] {
            if let Some((query, cell)) = part.counts.overflown() {
                let message = format!(
                    "query {}, item {}, position {}: more impressions than can be counted, {}",
                    names.name(query).escape_debug(),
                    names.name(cell.item).escape_debug(),
                    cell.position + 1,
                    MAX_COUNT - 1,
                );
                return Err(Error::of(ErrorKind::TooManyImpressions, "", message));
            }
        }
        let held_out = self.hold_out.map(|_| held_out);
        Ok(Log { counts: fitted.counts, sessions: fitted.sessions, held_out, report })
    }
}

/// Data that one thread has read and not yet counted.
#[derive(Debug)]
pub(crate) struct Batches<'a> {
    collector: &'a Collector,
    shown: Vec<Vec<(Shown, bool)>>,
    /// For each session: query, whether it is held out, clicks, number of items, items.
    sessions: Vec<Vec<u64>>,
    pub(crate) tally: Tally,
}

#[inline]
fn shard_of(query: Id) -> usize {
    (mix(query.0, MIX_B) >> 50) as usize % SHARDS
}

impl Batches<'_> {
    #[inline]
    fn count(&mut self, shown: Shown, held_out: bool) {
        let shard = shard_of(shown.query);
        let batch = &mut self.shown[shard];
        batch.push((shown, held_out));
        if batch.len() == BATCH {
            let mut tables = lock(&self.collector.shards[shard]);
            for (shown, held_out) in batch.drain(..) {
                tables[usize::from(held_out)].add(&shown);
            }
        }
    }

    /// Not inlined: most lines are not split by the hold-out.
    #[inline(never)]
    fn count_cut(&mut self, hold_out: HoldOut, shown: &Shown, at: u64) {
        for (part, held_out) in hold_out.at(at).cut(shown).into_iter().zip([false, true]) {
            if part.impressions > 0 {
                self.count(part, held_out);
            }
        }
    }

    fn count_sessions(&mut self, shard: usize) {
        let mut tables = lock(&self.collector.shards[shard]);
        let mut words = self.sessions[shard].as_slice();
        while let [query, held_out, clicks, n_items, rest @ ..] = words {
            // This thread wrote the number, and the items after it.
            let n_items = usize::try_from(*n_items).unwrap_or(usize::MAX).min(rest.len());
            let (items, rest) = rest.split_at(n_items);
            tables[usize::from(*held_out != 0)].add_sessions(Id(*query), items, *clicks, 1);
            words = rest;
        }
        drop(tables);
        self.sessions[shard].clear();
    }

    /// Counts the rest.
    pub(crate) fn finish(mut self) -> Tally {
        for shard in 0..SHARDS {
            let mut tables = lock(&self.collector.shards[shard]);
            for (shown, held_out) in self.shown[shard].drain(..) {
                tables[usize::from(held_out)].add(&shown);
            }
            drop(tables);
            self.count_sessions(shard);
        }
        self.tally
    }
}

impl Sink for Batches<'_> {
    #[inline]
    fn id(&mut self, name: &[u8]) -> Result<Id, Fault> {
        self.collector.interner.id(name)
    }

    #[inline]
    fn shown(&mut self, shown: Shown, at: u64) {
        self.tally.shown(&shown);
        // Nothing was shown, so there is no cell.
        if shown.impressions > 0 {
            match self.collector.hold_out {
                None => self.count(shown, false),
                Some(hold_out) => self.count_cut(hold_out, &shown, at),
            }
        }
    }

    fn session(&mut self, query: Id, items: &[Id], clicks: u64, at: u64) {
        self.tally.session(items, clicks);
        let held_out = self.collector.hold_out.is_some_and(|hold_out| hold_out.at(at).takes_one());
        for (position, &item) in (0..).zip(items) {
            let clicks = clicks >> position & 1;
            self.count(Shown { query, item, clicks, impressions: 1, position }, held_out);
        }
        if self.collector.keep_sessions {
            let shard = shard_of(query);
            let words = &mut self.sessions[shard];
            words.extend([query.0, held_out.into(), clicks, items.len() as u64]);
            words.extend(items.iter().map(|item| item.0));
            if words.len() >= SESSION_WORDS {
                self.count_sessions(shard);
            }
        }
    }

    fn session_at_fault(&mut self) {
        self.tally.sessions_at_fault += 1;
    }

    fn clicks_outside(&mut self, clicks: u64) {
        self.tally.clicks_outside = self.tally.clicks_outside.saturating_add(clicks);
    }

    fn clicks_clipped(&mut self, clicks: u64) {
        self.tally.clicks_clipped(clicks);
    }
}
