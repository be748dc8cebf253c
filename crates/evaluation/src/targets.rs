//! The new lists, as shown lists are compared with them, item by item.

use crate::level::Level;
use crate::ranking::{Key, Ranking};
use hashbrown::HashMap;
use log_reader::{Fault, Id, Ids, unit_hash};
use std::ops::Range;

/// Lists whose items are named.
const NAMED: usize = 3;

/// A ranking with the identifiers of its names.
#[derive(Debug)]
pub(crate) struct Targets {
    pub(crate) ranking: Ranking,
    /// The identifiers of items by the number of their name.
    ids: Vec<Option<Id>>,
    /// The places of the lists of each query, or of each session, by the hash of its name.
    queries: HashMap<Id, Range<u32>>,
    sessions: HashMap<u64, Range<u32>>,
}

/// The parts of new lists that a thread has read, by the list's place.
pub(crate) type Marks = HashMap<usize, Mark>;

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
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct NeverShown {
    /// Whole lists.
    pub list: f64,
    /// Prefixes, mean over positions.
    pub prefix: f64,
    /// Items at their positions, mean over positions.
    pub position: f64,
    /// Items at any position, mean over positions.
    pub item: f64,
    /// Items of the first lists that have some, in words.
    #[serde(skip)]
    pub items: Vec<String>,
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
    pub(crate) fn new(ranking: Ranking, ids: &Ids) -> Result<Self, Fault> {
        let id_of = |number: u32| ids.id(ranking.names.name(number).as_bytes());
        let mut of_items = vec![None; ranking.names.len()];
        for &item in &ranking.items {
            let known: &mut Option<Id> = &mut of_items[item as usize];
            *known = Some(known.map_or_else(|| id_of(item), Ok)?);
        }
        let (mut queries, mut sessions) = (HashMap::default(), HashMap::default());
        let mut first = 0;
        for lists in ranking.queries() {
            let (end, name) = (first + narrow(lists.len()), lists[0].name);
            let places = first..end;
            first = end;
            match ranking.key {
                Key::Query => queries.insert(id_of(name)?, places),
                Key::Session => sessions.insert(unit_hash(ranking.names.name(name).as_bytes()), places),
            };
        }
        Ok(Self { ids: of_items, queries, sessions, ranking })
    }

    /// The places of the new lists for a query or for a session.
    #[inline]
    pub(crate) fn find(&self, query: Id, session: Option<u64>) -> Option<Range<usize>> {
        let places = match self.ranking.key {
            Key::Query => self.queries.get(&query),
            Key::Session => self.sessions.get(&session?),
        };
        places.map(|places| places.start as usize..places.end as usize)
    }

    /// The number of positions of a new list.
    #[inline]
    pub(crate) fn n_positions(&self, place: usize) -> usize {
        self.ranking.lists[place].items.len()
    }

    /// The probability of a new list, and its items from the top.
    #[inline]
    pub(crate) fn list(&self, place: usize) -> (f64, impl Iterator<Item = Option<Id>> + Clone) {
        let list = &self.ranking.lists[place];
        let items = self.ranking.items[list.items.clone()].iter();
        (list.probability, items.map(|&item| self.ids[item as usize]))
    }

    /// The part that the log never shows, from the marks of all threads. `None` for personal lists:
    /// a session shows one list.
    pub(crate) fn never_shown(&self, marks: &Marks) -> Option<NeverShown> {
        let mut never = NeverShown::default();
        let mut marks: Vec<(usize, &Mark)> = marks.iter().map(|(&place, mark)| (place, mark)).collect();
        // The sums are those of the order of the lists.
        marks.sort_unstable_by_key(|(place, _)| *place);
        let of_all =
            |(place, mark): &(usize, &Mark)| self.ranking.lists[*place].probability * mark.lists as f64;
        let all: f64 = marks.iter().map(of_all).sum();
        for (place, mark) in &marks {
            let (share, n) = (of_all(&(*place, mark)) / all, self.n_positions(*place));
            let of = |unseen: usize| share * unseen as f64 / n as f64;
            let unseen = |bits: u64| of(n - bits.count_ones() as usize);
            never.list += if mark.prefix < n { share } else { 0.0 };
            never.prefix += of(n - mark.prefix);
            never.position += unseen(mark.positions);
            never.item += unseen(mark.items);
            if mark.items.count_ones() as usize == n || never.items.len() == NAMED {
                continue;
            }
            let list = &self.ranking.lists[*place];
            let items = self.ranking.items(list).enumerate().filter(|(bit, _)| mark.items >> bit & 1 == 0);
            let items = items.map(|(_, item)| item).collect::<Vec<_>>().join(" · ");
            never.items.push(format!("for `{}` {items}", self.ranking.names.name(list.name)));
        }
        (self.ranking.key == Key::Query).then_some(never)
    }
}

/// A place in a table whose entries take 32 bytes and more.
fn narrow(len: usize) -> u32 {
    u32::try_from(len).expect("a ranking holds fewer than 2^32 lists, 100 GB")
}
