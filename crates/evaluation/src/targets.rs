//! The new lists, as shown lists are compared with them, item by item.

use crate::level::Level;
use crate::mix::Mix;
use crate::ranking::{Key, Ranking};
use click_logs::{Fault, Id, Ids, unit_hash};
use hashbrown::HashMap;
use std::ops::Range;

/// The new lists of all queries.
#[derive(Debug)]
pub(crate) struct Targets {
    key: Key,
    /// The places of the lists of each query, or of each session, by the hash of its name.
    queries: HashMap<Id, Range<u32>, Mix>,
    sessions: HashMap<u64, Range<u32>, Mix>,
    lists: Vec<Target>,
}

/// A new list.
#[derive(Debug)]
pub(crate) struct Target {
    pub(crate) probability: f64,
    pub(crate) items: Vec<Id>,
}

/// The part of a new list that a thread has read.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Mark {
    /// Lists of the log that are compared with it.
    pub(crate) lists: u64,
    /// Items from the top that a shown list has in common with it, at most.
    pub(crate) prefix: usize,
    /// Bit `k`: the item at position `k` was shown there.
    pub(crate) positions: u64,
    /// Bit `k`: the item at position `k` was shown somewhere.
    pub(crate) items: u64,
}

impl Mark {
    pub(crate) fn merge(&mut self, other: &Self) {
        self.lists += other.lists;
        self.prefix = self.prefix.max(other.prefix);
        self.positions |= other.positions;
        self.items |= other.items;
    }
}

/// Shares of the new ranking that the log never shows, by lists of the log.
#[derive(Debug, Clone, Copy, Default, PartialEq, serde::Serialize)]
pub struct NeverShown {
    /// Whole lists.
    pub list: f64,
    /// Prefixes, mean over positions.
    pub prefix: f64,
    /// Items at their positions, mean over positions.
    pub position: f64,
    /// Items at any position, mean over positions.
    pub item: f64,
}

impl NeverShown {
    /// The probability that a level needs.
    pub fn of(&self, level: Level) -> f64 {
        match level {
            Level::List => self.list,
            Level::Prefix => self.prefix,
            Level::Position => self.position,
        }
    }
}

impl Targets {
    /// `ids` are those of the lists to compare.
    pub(crate) fn new(ranking: &Ranking, ids: &Ids) -> Result<Self, Fault> {
        let mut targets = Self {
            key: ranking.key,
            queries: HashMap::default(),
            sessions: HashMap::default(),
            lists: Vec::new(),
        };
        for lists in ranking.queries() {
            let name = &lists[0].name;
            let first = narrow(targets.lists.len());
            for list in lists {
                let items =
                    list.items.iter().map(|item| ids.id(item.as_bytes())).collect::<Result<_, _>>()?;
                targets.lists.push(Target { probability: list.probability, items });
            }
            let places = first..narrow(targets.lists.len());
            match ranking.key {
                Key::Query => targets.queries.insert(ids.id(name.as_bytes())?, places),
                Key::Session => targets.sessions.insert(unit_hash(name.as_bytes()), places),
            };
        }
        Ok(targets)
    }

    /// The places of the new lists for a query or for a session.
    #[inline]
    pub(crate) fn find(&self, query: Id, session: Option<u64>) -> Option<Range<usize>> {
        let places = match self.key {
            Key::Query => self.queries.get(&query),
            Key::Session => self.sessions.get(&session?),
        };
        places.map(|places| places.start as usize..places.end as usize)
    }

    /// All new lists, by place.
    pub(crate) fn lists(&self) -> &[Target] {
        &self.lists
    }

    /// The part that the log never shows, from the marks of all threads. `None` for personal lists:
    /// a session shows one list.
    pub(crate) fn never_shown(&self, marks: &[Mark]) -> Option<NeverShown> {
        let mut never = NeverShown::default();
        let of_all = |(target, mark): (&Target, &Mark)| target.probability * mark.lists as f64;
        let all: f64 = self.lists.iter().zip(marks).map(of_all).sum();
        for (target, mark) in self.lists.iter().zip(marks).filter(|(_, mark)| mark.lists > 0) {
            let (share, n) = (of_all((target, mark)) / all, target.items.len());
            let of = |unseen: usize| share * unseen as f64 / n as f64;
            let unseen = |bits: u64| of(n - bits.count_ones() as usize);
            never.list += if mark.prefix < n { share } else { 0.0 };
            never.prefix += of(n - mark.prefix);
            never.position += unseen(mark.positions);
            never.item += unseen(mark.items);
        }
        (self.key == Key::Query).then_some(never)
    }
}

/// A place in a table whose entries take 32 bytes and more.
fn narrow(len: usize) -> u32 {
    u32::try_from(len).expect("a ranking holds fewer than 2^32 lists, 100 GB")
}
