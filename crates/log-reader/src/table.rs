//! Tables that grow while a log is read: cells and sessions, equal ones counted together.
//!
//! Cells are in a hash table, 27 to 34 bytes each. Sessions are in vectors, and hash tables find
//! their index. Everything is sorted at the end.

#[cfg(test)]
#[path = "table/tests.rs"]
mod tests;

use crate::counts::{Counts, Positions};
use crate::names::{Id, Renaming, TextHash, find_or_add};
use hashbrown::HashTable;
use std::collections::BTreeMap;

/// Tables of one part of a log.
pub(crate) const SHARDS: usize = 128;

/// Bits of clicks, and of impressions, of a packed line, and their largest number.
const COUNT_BITS: u32 = 16;
const MOST: u64 = (1 << COUNT_BITS) - 1;
/// Bits of its position.
const POSITION_BITS: u32 = 6;

/// Clicks and impressions of a line, or of a cell, as far as they are not large.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PackedLine {
    pub(crate) query: u64,
    pub(crate) item: u64,
    /// Clicks, impressions, and the position in the lowest bits.
    pub(crate) counts: u64,
}

impl PackedLine {
    pub(crate) fn new([query, item]: [u64; 2], clicks: u64, impressions: u64, position: u8) -> Self {
        let counts = (clicks << COUNT_BITS | impressions) << POSITION_BITS | u64::from(position);
        Self { query, item, counts }
    }

    /// The line, unless its counts are too large.
    pub(crate) fn of(shown: &LineCounts) -> Option<Self> {
        let &LineCounts { query, item, clicks, impressions, position } = shown;
        (clicks.max(impressions) <= MOST).then(|| Self::new([query.0, item.0], clicks, impressions, position))
    }

    pub(crate) fn position(&self) -> u8 {
        (self.counts & ((1 << POSITION_BITS) - 1)) as u8
    }

    #[expect(clippy::cast_possible_truncation, reason = "two counts")]
    fn packed_counts(&self) -> u32 {
        (self.counts >> POSITION_BITS) as u32
    }

    pub(crate) fn key(&self) -> (u64, u64, u8) {
        (self.query, self.item, self.position())
    }
}

/// Cells of a bucket.
const SLOTS: usize = 3;

/// A line of the processor's cache: cells whose hashes are neighbours.
#[derive(Debug, Clone, Copy, Default)]
#[repr(align(64))]
struct Bucket {
    queries: [u64; SLOTS],
    items: [u64; SLOTS],
    /// Clicks in the upper half, impressions in the lower.
    counts: [u32; SLOTS],
    positions: [u8; SLOTS],
    n_cells: u8,
}

impl Bucket {
    /// The cell of a line; [`SLOTS`] or above if it is not here.
    #[inline]
    fn slot_of(&self, line: &PackedLine) -> usize {
        // All are compared, without a branch, which would be a coin's.
        let is_same = |slot: usize| {
            let of_position = u64::from(self.positions[slot] ^ line.position());
            let other = (self.queries[slot] ^ line.query) | (self.items[slot] ^ line.item) | of_position;
            u32::from(other == 0) << slot
        };
        let same = is_same(0) | is_same(1) | is_same(2);
        (same & ((1 << self.n_cells) - 1)).trailing_zeros() as usize
    }

    /// Adds a cell, if there is room.
    fn push(&mut self, line: &PackedLine) -> bool {
        let slot = usize::from(self.n_cells);
        if slot < SLOTS {
            (self.queries[slot], self.items[slot]) = (line.query, line.item);
            (self.counts[slot], self.positions[slot]) = (line.packed_counts(), line.position());
            self.n_cells += 1;
        }
        slot < SLOTS
    }

    fn lines(&self) -> impl Iterator<Item = PackedLine> {
        (0..self.n_cells.into()).map(|slot| {
            let counts = u64::from(self.counts[slot]) << POSITION_BITS | u64::from(self.positions[slot]);
            PackedLine { query: self.queries[slot], item: self.items[slot], counts }
        })
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
    pub(crate) query: u64,
    pub(crate) start: usize,
    /// One for each item.
    pub(crate) positions: Positions,
}

#[derive(Debug, Default)]
pub(crate) struct Table {
    /// Its key is drawn anew for every table: with a known one, all cells of an item could collide.
    hash: TextHash,
    /// A cell is in the first bucket with room from that of its hash on, and buckets are in the
    /// order of hashes. At most four fifths are taken.
    buckets: Vec<Bucket>,
    n_cells: usize,
    /// Clicks and impressions of cells, as far as they did not fit into their bucket.
    large: BTreeMap<(u64, u64, u8), [u64; 2]>,
    /// Everything, once the table is finished.
    pub(crate) counts: Counts,
    list_index: HashTable<u32>,
    pub(crate) lists: Vec<PackedList>,
    pub(crate) items: Vec<u64>,
    pattern_index: HashTable<u32>,
    pub(crate) patterns: Vec<PackedPattern>,
}

impl Table {
    /// Adds a line with large counts: its cell gets a part of them.
    #[cold]
    pub(crate) fn add(&mut self, shown: &LineCounts) {
        let LineCounts { query, item, clicks, impressions, position } = *shown;
        let part = PackedLine::new([query.0, item.0], clicks.min(MOST), impressions.min(MOST), position);
        self.add_all(&[part], &mut Vec::new());
        self.add_large(part.key(), [clicks, impressions].map(|count| count.saturating_sub(MOST)));
    }

    fn add_large(&mut self, key: (u64, u64, u8), more: [u64; 2]) {
        let known = self.large.entry(key).or_default();
        known.iter_mut().zip(more).for_each(|(known, more)| *known = known.saturating_add(more));
    }

    /// Adds lines. Their buckets are touched first: this depends on nothing else, so the processor
    /// waits for the memory of many of them at once.
    pub(crate) fn add_all(&mut self, lines: &[PackedLine], places: &mut Vec<usize>) {
        self.make_room(lines.len());
        places.clear();
        places.extend(lines.iter().map(|line| self.place_of(line)));
        let n_cells = |place: usize| self.buckets[place].n_cells;
        let touched = places.iter().fold(0, |touched, &place| touched | n_cells(place) | n_cells(place + 1));
        std::hint::black_box(touched);
        for (line, &place) in lines.iter().zip(&*places) {
            self.add_from(place, line);
        }
    }

    /// The bucket of the hash of a cell.
    #[expect(clippy::cast_possible_truncation, reason = "below the number of buckets")]
    #[inline]
    fn place_of(&self, line: &PackedLine) -> usize {
        let of_query = line.query.rotate_left(POSITION_BITS) ^ u64::from(line.position());
        let hash = self.hash.of_numbers(line.item, of_query);
        // The last bucket is for those that follow the others.
        let place = (u128::from(hash) * (self.buckets.len() - 1) as u128) >> 64;
        place as usize
    }

    /// Adds a line to the first bucket from this one on that has its cell or room.
    #[inline]
    fn add_from(&mut self, mut place: usize, line: &PackedLine) {
        loop {
            let bucket = &mut self.buckets[place];
            let slot = bucket.slot_of(line);
            if slot < SLOTS {
                let (known, counts) = (bucket.counts[slot], line.packed_counts());
                let before = [u64::from(known >> COUNT_BITS), u64::from(known) & MOST];
                if before[1] + (u64::from(counts) & MOST) <= MOST {
                    bucket.counts[slot] = known + counts;
                } else {
                    bucket.counts[slot] = counts;
                    self.add_large(line.key(), before);
                }
                return;
            }
            if bucket.push(line) {
                self.n_cells += 1;
                return;
            }
            place = (place + 1) % self.buckets.len();
        }
    }

    /// Grows by a quarter if these may be too many: memory limits large logs, and copies cost less
    /// than look-ups.
    fn make_room(&mut self, more: usize) {
        let (len, needed) = (self.buckets.len(), (self.n_cells + more) * 5 / (4 * SLOTS) + 2);
        if needed > len {
            let larger = vec![Bucket::default(); needed.max(len / 4 * 5 + 64)];
            for line in std::mem::replace(&mut self.buckets, larger).iter().flat_map(Bucket::lines) {
                let mut place = self.place_of(&line);
                while !self.buckets[place].push(&line) {
                    place = (place + 1) % self.buckets.len();
                }
            }
        }
    }

    /// Adds a session with this list and these clicks. Returns the number of its pattern.
    pub(crate) fn add_session(
        &mut self,
        query: u64,
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
        let number = u32::try_from(self.patterns.len()).unwrap_or(u32::MAX);
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

    /// Sorts cells by query, item and position; drops the hash tables.
    ///
    /// Lists stay unsorted; their reader sorts them.
    pub(crate) fn finish(&mut self, renaming: &Renaming) {
        self.list_index = HashTable::new();
        self.pattern_index = HashTable::new();
        let mut cells = Vec::with_capacity(self.n_cells);
        cells.extend(std::mem::take(&mut self.buckets).iter().flat_map(Bucket::lines));
        let mut large = std::mem::take(&mut self.large);
        if !renaming.is_empty() {
            let of_cells = cells.iter_mut().flat_map(|cell| [&mut cell.query, &mut cell.item]);
            let of_lists = self.lists.iter_mut().map(|list| &mut list.query);
            of_cells.chain(of_lists).chain(&mut self.items).for_each(|id| *id = renaming.apply(*id));
            let renamed = |(query, item, position)| (renaming.apply(query), renaming.apply(item), position);
            large = large.into_iter().map(|(key, more)| (renamed(key), more)).collect();
        }
        let of_query = |cell: &PackedLine| u128::from(cell.query) << 64 | u128::from(cell.item);
        cells.sort_unstable_by_key(|cell| (of_query(cell), cell.position()));
        self.counts = Counts::of_sorted(&cells, |cell| {
            let [clicks, impressions] = large.get(&cell.key()).copied().unwrap_or_default();
            let counts = cell.counts >> POSITION_BITS;
            [clicks.saturating_add(counts >> COUNT_BITS), impressions.saturating_add(counts & MOST)]
        });
    }
}

fn list_hash(hash: TextHash, query: u64, positions: Positions, items: &[u64]) -> u64 {
    let start = hash.of_numbers(query, positions.0);
    items.iter().fold(start, |sum, &item| hash.of_numbers(sum ^ item, 0))
}
