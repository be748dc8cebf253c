//! Handing lists over while a log is read: to whom, and which of them have lines that stand apart.

use crate::counts::Positions;
use crate::keys::{KeyHash, ListKey};
use crate::lists::ShownList;
use crate::logged::{LoggedRow, Propensities};
use crate::names::lock;
use crate::table::LineCounts;
use hashbrown::HashTable;
use std::sync::Mutex;

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

/// Lists that stay open to the end of the log. The first halves of their keys are hashes.
pub(crate) struct ListsToTheEnd {
    pub(crate) hash: KeyHash,
    keys: HashTable<ListKey>,
}

/// Lists to hand over in one reading of a log.
pub(crate) struct Handing<'a> {
    sinks: &'a dyn Sinks,
    /// `None`: the log is read for the first time.
    held: Option<ListsToTheEnd>,
    /// The first halves of the keys of lists that were handed over, by thread.
    handed_over: Mutex<Vec<Vec<u64>>>,
    /// Lists that were handed over and have lines elsewhere.
    apart: Mutex<HashTable<ListKey>>,
    /// The positions that the log shows, if they are not the first ones: lists are handed over with
    /// their places among them, which are the positions that users have.
    positions: Option<Positions>,
    /// The positions of all lists.
    seen: Mutex<u64>,
}

impl<'a> Handing<'a> {
    pub(crate) fn new(
        sinks: &'a dyn Sinks,
        held: Option<ListsToTheEnd>,
        positions: Option<Positions>,
    ) -> Self {
        let (handed_over, apart, seen) = Default::default();
        Self { sinks, held, handed_over, apart, positions, seen }
    }

    /// The positions of all lists, if they are neither the first ones nor known before.
    pub(crate) fn new_positions(&self) -> Option<Positions> {
        let all = Positions(*lock(&self.seen));
        (self.positions.is_none() && all.end() > all.len()).then_some(all)
    }

    /// The hash of the keys of lists that are held.
    pub(crate) fn hash(&self) -> Option<KeyHash> {
        self.held.as_ref().map(|held| held.hash)
    }

    /// Returns whether lists that were handed over have lines elsewhere; `unfinished` are the lists
    /// that have lines without a beginning. Asked at the end of the log.
    pub(crate) fn find_apart(&self, unfinished: impl FnOnce() -> Vec<ListKey>) -> bool {
        if self.held.is_some() {
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

    /// The lists to hold when the log is read again, if it has to be.
    pub(crate) fn to_hold(&self, hash: KeyHash) -> Option<ListsToTheEnd> {
        let keys = std::mem::take(&mut *lock(&self.apart));
        (!keys.is_empty()).then_some(ListsToTheEnd { hash, keys })
    }

    /// The part of one thread.
    pub(crate) fn thread(&self) -> HandingThread<'_> {
        HandingThread { handing: self, sink: self.sinks.sink(), handed_over: Vec::new(), positions: 0 }
    }
}

/// The lists that one thread hands over.
pub(crate) struct HandingThread<'a> {
    handing: &'a Handing<'a>,
    sink: Box<dyn Sink + 'a>,
    handed_over: Vec<u64>,
    positions: u64,
}

impl HandingThread<'_> {
    pub(crate) fn list(&mut self, list: &ShownList<'_>) {
        self.positions |= list.positions.0;
        match self.handing.positions {
            None => self.sink.list(list),
            Some(all) => {
                let ranks = list.positions.iter().map(|position| all.rank(position)).collect();
                self.sink.list(&list.at(ranks));
            }
        }
    }

    /// Hands over a line without a session: a list of one item for every impression.
    pub(crate) fn line(&mut self, shown: &LineCounts, row: &LoggedRow, at: u64) {
        let propensities = Propensities(row.propensities.each_ref().map(Option::as_slice));
        for (clicks, times) in [(1, shown.clicks), (0, shown.impressions - shown.clicks)] {
            if times > 0 {
                let list = ShownList::plain(shown.query, std::slice::from_ref(&shown.item), clicks, at);
                let list = ShownList { times, ..list.at(Positions(1 << shown.position)) };
                self.list(&propensities.with(list.of(row.user, row.session)));
            }
        }
    }

    /// Returns whether a list stays open to the end of the log.
    pub(crate) fn is_held(&self, key: ListKey) -> bool {
        let held = self.handing.held.as_ref();
        held.is_some_and(|held| held.keys.find(key[0], |other| *other == key).is_some())
    }

    /// Notes the key of a list that was handed over before the end of the log.
    pub(crate) fn note(&mut self, key: ListKey) {
        self.handed_over.push(key[0]);
    }

    pub(crate) fn finish(self) {
        self.sink.finish();
        lock(&self.handing.handed_over).push(self.handed_over);
        *lock(&self.handing.seen) |= self.positions;
    }
}
