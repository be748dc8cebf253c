//! Tables that grow while a log is read: cells and sessions, equal ones counted together.
//!
//! Entries are in vectors, and a hash table finds their index; everything is sorted at the end. A
//! cell takes 24 bytes, and about 9 in the hash table.

#[cfg(test)]
#[path = "table/tests.rs"]
mod tests;

use crate::counts::Positions;
use crate::fields::MAX_COUNT;
use crate::names::{Id, Renaming, TextHash, find_or_add};
use hashbrown::HashTable;
use serde::{Deserialize, Serialize};

/// Tables of one part of a log.
pub(crate) const SHARDS: usize = 128;
/// The place of a cell that the table does not have.
const NEW: u32 = u32::MAX;

/// A count below 2^40, in five bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct Count40([u8; 5]);

impl From<u64> for Count40 {
    /// The number, or the largest count.
    #[inline]
    fn from(number: u64) -> Self {
        let [a, b, c, d, e, ..] = number.min(MAX_COUNT).to_le_bytes();
        Self([a, b, c, d, e])
    }
}

impl Count40 {
    #[inline]
    pub(crate) fn get(self) -> u64 {
        let [a, b, c, d, e] = self.0;
        u64::from_le_bytes([a, b, c, d, e, 0, 0, 0])
    }

    /// Adds, and saturates at the largest count, in whatever order.
    #[inline]
    pub(crate) fn add(&mut self, more: u64) {
        *self = self.get().saturating_add(more).into();
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

impl PackedCell {
    /// Returns whether both are of the same query, item and position.
    #[inline]
    fn is_same(&self, other: &Self) -> bool {
        (self.item, self.query, self.position) == (other.item, other.query, other.position)
    }

    #[inline]
    fn add(&mut self, more: &Self) {
        self.clicks.add(more.clicks.get());
        self.impressions.add(more.impressions.get());
    }

    #[inline]
    fn hash(&self, hash: TextHash) -> u64 {
        hash.of_numbers(self.item, u64::from(self.query) << 8 | u64::from(self.position))
    }
}

/// Clicks and impressions of one line at one cell.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LineCounts {
    pub(crate) query: Id,
    pub(crate) item: Id,
    pub(crate) clicks: u64,
    pub(crate) impressions: u64,
    pub(crate) position: u8,
}

impl LineCounts {
    /// The cell, with the index of its query.
    #[inline]
    pub(crate) fn in_query(&self, query: u32) -> PackedCell {
        let Self { item, clicks, impressions, position, .. } = *self;
        PackedCell { item: item.0, query, clicks: clicks.into(), impressions: impressions.into(), position }
    }
}

/// Sessions with the same list and the same clicks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PackedPattern {
    pub(crate) list: u32,
    /// Its index before patterns are sorted.
    pub(crate) number: u32,
    pub(crate) clicks: u64,
    pub(crate) sessions: u64,
}

/// A list of items shown for a query.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PackedList {
    pub(crate) query: u32,
    pub(crate) start: usize,
    /// One for each item.
    pub(crate) positions: Positions,
}

#[derive(Debug, Default)]
pub(crate) struct Table {
    /// Its key is drawn anew for every table: with a known one, all cells of an item could collide.
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
    pub(crate) fn query(&mut self, query: u64) -> u32 {
        let hash = |id: &u64| self.hash.of_numbers(*id, 0);
        let Self { queries, query_ids, .. } = self;
        find_or_add(queries, query_ids, hash(&query), |&id| id == query, hash, || query).0
    }

    /// The indices of queries. They are looked up as the places of cells are ([`Self::add_all`]).
    pub(crate) fn queries(&mut self, ids: impl Iterator<Item = u64> + Clone, places: &mut Vec<u32>) {
        let likely = |id: u64| self.queries.find(self.hash.of_numbers(id, 0), |_| true).copied();
        places.clear();
        places.extend(ids.clone().map(|id| likely(id).unwrap_or(NEW)));
        for (place, id) in places.iter_mut().zip(ids) {
            if self.query_ids.get(*place as usize) != Some(&id) {
                *place = self.query(id);
            }
        }
    }

    /// Adds a cell, or adds to it.
    pub(crate) fn add(&mut self, shown: &LineCounts) {
        let cell = shown.in_query(self.query(shown.query.0));
        self.add_cell(cell);
    }

    /// Adds cells. Their places are looked up first: these look-ups do not depend on each other, so
    /// the processor waits for the memory of many of them at once.
    pub(crate) fn add_all(&mut self, cells: &[PackedCell], places: &mut Vec<u32>) {
        let (hash, index) = (self.hash, &self.index);
        places.clear();
        // The first cell with seven equal bits of the hash, unread: nearly always the right one.
        let likely = |cell: &PackedCell| index.find(cell.hash(hash), |_| true).copied().unwrap_or(NEW);
        places.extend(cells.iter().map(likely));
        for (cell, &place) in cells.iter().zip(&*places) {
            match self.cells.get_mut(place as usize) {
                Some(known) if known.is_same(cell) => known.add(cell),
                _ => self.add_cell(*cell),
            }
        }
    }

    #[inline]
    fn add_cell(&mut self, cell: PackedCell) {
        let hash = |cell: &PackedCell| cell.hash(self.hash);
        let is = |known: &PackedCell| known.is_same(&cell);
        let (place, is_new) = find_or_add(&mut self.index, &mut self.cells, hash(&cell), is, hash, || cell);
        if !is_new {
            self.cells[place as usize].add(&cell);
        }
    }

    /// Adds a session with this list and these clicks. Returns the number of its pattern.
    pub(crate) fn add_session(
        &mut self,
        query: u32,
        items: &[u64],
        positions: Positions,
        clicks: u64,
    ) -> u32 {
        let (hash, known) = (self.hash, &self.items);
        let items_of = |list: &PackedList| &known[list.start..][..list.positions.len()];
        let (list, is_new) = find_or_add(
            &mut self.list_index,
            &mut self.lists,
            list_hash(hash, query, positions, items),
            |list| list.query == query && list.positions == positions && items_of(list) == items,
            |list| list_hash(hash, list.query, list.positions, items_of(list)),
            || PackedList { query, start: known.len(), positions },
        );
        if is_new {
            self.items.extend_from_slice(items);
        }
        let number = u32::try_from(self.patterns.len()).unwrap_or(NEW);
        let (pattern, _) = find_or_add(
            &mut self.pattern_index,
            &mut self.patterns,
            hash.of_numbers(clicks, list.into()),
            |pattern| pattern.list == list && pattern.clicks == clicks,
            |pattern| hash.of_numbers(pattern.clicks, pattern.list.into()),
            || PackedPattern { list, number, clicks, sessions: 0 },
        );
        self.patterns[pattern as usize].sessions += 1;
        pattern
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
        let mut order: Vec<u32> = (0..).take(self.query_ids.len()).collect();
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

fn list_hash(hash: TextHash, query: u32, positions: Positions, items: &[u64]) -> u64 {
    let start = hash.of_numbers(query.into(), positions.0);
    items.iter().fold(start, |sum, &item| hash.of_numbers(sum ^ item, 0))
}
