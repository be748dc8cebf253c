//! Tables that grow while a log is read: cells, and sessions, of which equal ones are counted together.
//!
//! Entries are in vectors, and a hash table finds their index. The order of the hash table has no effect, since everything is sorted at
//! the end. A cell takes 24 bytes, and about 9 in the hash table.

use crate::names::{Id, Renaming, TextHash};
use hashbrown::HashTable;

/// Clicks and impressions of a line and of a cell are below this number.
pub(crate) const MAX_COUNT: u64 = (1 << 40) - 1;

/// A count below 2^40, in five bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Count40([u8; 5]);

impl Count40 {
    #[inline]
    pub(crate) fn get(self) -> u64 {
        let [a, b, c, d, e] = self.0;
        u64::from_le_bytes([a, b, c, d, e, 0, 0, 0])
    }

    /// Adds, and saturates at the largest count. Whether a sum saturates does not depend on the order.
    #[inline]
    pub(crate) fn add(&mut self, more: u64) {
        let [a, b, c, d, e, ..] = self.get().saturating_add(more).min(MAX_COUNT).to_le_bytes();
        self.0 = [a, b, c, d, e];
    }
}

/// One (query, item, position).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PackedCell {
    pub(crate) item: u64,
    /// Index of the query in its table.
    pub(crate) query: u32,
    pub(crate) clicks: Count40,
    pub(crate) impressions: Count40,
    pub(crate) position: u8,
}

/// Clicks and impressions of one line at one cell.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shown {
    pub(crate) query: Id,
    pub(crate) item: Id,
    pub(crate) clicks: u64,
    pub(crate) impressions: u64,
    pub(crate) position: u8,
}

/// Sessions with the same list and the same clicks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PackedPattern {
    pub(crate) list: u32,
    pub(crate) clicks: u64,
    pub(crate) sessions: u64,
}

/// A list of items shown for a query.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PackedList {
    pub(crate) query: u32,
    pub(crate) start: usize,
    pub(crate) len: u8,
}

#[derive(Debug, Default)]
pub(crate) struct Table {
    /// Its key is drawn anew for every table: with a known one, a single item can be chosen whose cells all collide.
    hash: TextHash,
    queries: HashTable<u32>,
    pub(crate) query_ids: Vec<u64>,
    index: HashTable<u32>,
    pub(crate) cells: Vec<PackedCell>,
    list_index: HashTable<u32>,
    pub(crate) lists: Vec<PackedList>,
    pub(crate) items: Vec<u64>,
    pattern_index: HashTable<u32>,
    pub(crate) patterns: Vec<PackedPattern>,
}

impl Table {
    /// The index of a query.
    #[inline]
    fn query(&mut self, query: u64) -> u32 {
        let (hash, ids) = (self.hash, &self.query_ids);
        let entry = self.queries.entry(
            hash.of_numbers(query, 0),
            |&place| ids[place as usize] == query,
            |&place| hash.of_numbers(ids[place as usize], 0),
        );
        match entry {
            hashbrown::hash_table::Entry::Occupied(place) => *place.get(),
            hashbrown::hash_table::Entry::Vacant(vacant) => {
                let place = place_of(self.query_ids.len());
                vacant.insert(place);
                push(&mut self.query_ids, query);
                place
            }
        }
    }

    #[inline]
    pub(crate) fn add(&mut self, shown: &Shown) {
        let query = self.query(shown.query.0);
        let (item, position) = (shown.item.0, shown.position);
        let (hash, cells) = (self.hash, &self.cells);
        let entry = self.index.entry(
            cell_hash(hash, query, item, position),
            |&place| {
                let cell = &cells[place as usize];
                cell.item == item && cell.query == query && cell.position == position
            },
            |&place| {
                let cell = &cells[place as usize];
                cell_hash(hash, cell.query, cell.item, cell.position)
            },
        );
        match entry {
            hashbrown::hash_table::Entry::Occupied(place) => {
                let cell = &mut self.cells[*place.get() as usize];
                cell.clicks.add(shown.clicks);
                cell.impressions.add(shown.impressions);
            }
            hashbrown::hash_table::Entry::Vacant(vacant) => {
                vacant.insert(place_of(self.cells.len()));
                let mut cell = PackedCell {
                    item,
                    query,
                    clicks: Count40::default(),
                    impressions: Count40::default(),
                    position,
                };
                cell.clicks.add(shown.clicks);
                cell.impressions.add(shown.impressions);
                push(&mut self.cells, cell);
            }
        }
    }

    /// Adds `sessions` with this list and these clicks.
    pub(crate) fn add_sessions(&mut self, query: Id, items: &[u64], clicks: u64, sessions: u64) {
        let query = self.query(query.0);
        let (hash, lists, known) = (self.hash, &self.lists, &self.items);
        let items_of = |list: &PackedList| &known[list.start..][..usize::from(list.len)];
        let entry = self.list_index.entry(
            list_hash(hash, query, items),
            |&place| lists[place as usize].query == query && items_of(&lists[place as usize]) == items,
            |&place| list_hash(hash, lists[place as usize].query, items_of(&lists[place as usize])),
        );
        let list = match entry {
            hashbrown::hash_table::Entry::Occupied(place) => *place.get(),
            hashbrown::hash_table::Entry::Vacant(vacant) => {
                let place = place_of(self.lists.len());
                vacant.insert(place);
                let len = u8::try_from(items.len()).expect("a list has at most 64 positions");
                push(&mut self.lists, PackedList { query, start: self.items.len(), len });
                self.items.extend_from_slice(items);
                place
            }
        };
        let patterns = &self.patterns;
        let entry = self.pattern_index.entry(
            hash.of_numbers(clicks, list.into()),
            |&place| patterns[place as usize].list == list && patterns[place as usize].clicks == clicks,
            |&place| hash.of_numbers(patterns[place as usize].clicks, patterns[place as usize].list.into()),
        );
        match entry {
            hashbrown::hash_table::Entry::Occupied(place) => {
                let count = &mut self.patterns[*place.get() as usize].sessions;
                *count = count.saturating_add(sessions);
            }
            hashbrown::hash_table::Entry::Vacant(vacant) => {
                vacant.insert(place_of(self.patterns.len()));
                push(&mut self.patterns, PackedPattern { list, clicks, sessions });
            }
        }
    }

    /// Sorts queries by identifier, and cells by query, item and position; drops the hash tables.
    ///
    /// Lists stay unsorted; their reader sorts them.
    pub(crate) fn finish(&mut self, renaming: &Renaming) {
        self.queries = HashTable::new();
        self.index = HashTable::new();
        self.list_index = HashTable::new();
        self.pattern_index = HashTable::new();
        if !renaming.is_empty() {
            let ids = self.query_ids.iter_mut().chain(&mut self.items);
            for id in ids.chain(self.cells.iter_mut().map(|cell| &mut cell.item)) {
                *id = renaming.apply(*id);
            }
        }
        let mut order: Vec<u32> = (0..place_of(self.query_ids.len())).collect();
        order.sort_unstable_by_key(|&place| self.query_ids[place as usize]);
        let mut ranks = vec![0; order.len()];
        for (rank, &place) in (0..).zip(&order) {
            ranks[place as usize] = rank;
        }
        self.query_ids.sort_unstable();
        for query in self.cells.iter_mut().map(|cell| &mut cell.query) {
            *query = ranks[*query as usize];
        }
        for query in self.lists.iter_mut().map(|list| &mut list.query) {
            *query = ranks[*query as usize];
        }
        self.cells.sort_unstable_by_key(|cell| (cell.query, cell.item, cell.position));
        self.cells.shrink_to_fit();
    }
}

/// # Panics
///
/// With 2^32 entries in one table, which take 100 GB.
#[inline]
fn place_of(len: usize) -> u32 {
    u32::try_from(len).expect("a table holds fewer than 2^32 entries, 100 GB")
}

/// Grows by an eighth instead of doubling: large logs are limited by memory, and copying is cheap compared with look-ups.
#[inline]
fn push<T>(entries: &mut Vec<T>, entry: T) {
    if entries.len() == entries.capacity() {
        entries.reserve_exact(entries.len() / 8 + 64);
    }
    entries.push(entry);
}

#[inline]
fn cell_hash(hash: TextHash, query: u32, item: u64, position: u8) -> u64 {
    hash.of_numbers(item, u64::from(query) << 8 | u64::from(position))
}

fn list_hash(hash: TextHash, query: u32, items: &[u64]) -> u64 {
    items.iter().fold(hash.of_numbers(query.into(), 0), |sum, &item| hash.of_numbers(sum ^ item, 0))
}
