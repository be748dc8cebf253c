//! Clicks and impressions of every (query, item, position): the data of a position-based model.
//!
//! Queries are sorted by identifier, cells by (item, position). So the same log gives the same
//! counts, byte by byte, for any number of threads. Positions count from 0.

use crate::fields::MAX_COUNT;
use crate::hold_out::HoldOut;
use crate::names::{Id, Names};
use crate::table::{LineCounts, PackedLine, Table};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::io::{self, Write};
use std::sync::Arc;

/// Clicks and impressions of every (query, item, position) of a log.
///
/// # Examples
///
/// ```
/// use log_reader::{Format, Reader};
///
/// let log = "query,item,position,clicks,impressions\nshoes,7,1,30,100\nshoes,9,2,5,100\nshoes,7,1,2,20\n";
/// let columns = "query=query,item=item,position=position,click=clicks,impressions=impressions";
/// let counts = Reader::new(Format::delimited(columns)?).read("counts.csv", log.as_bytes())?.counts;
/// let query = counts.queries().next().unwrap();
/// let cell = query.cells().next().unwrap();
/// assert_eq!((cell.position, cell.clicks, cell.impressions), (0, 32, 120));
/// # Ok::<(), log_reader::Error>(())
/// ```
#[derive(Debug, Clone, Default, Serialize, Deserialize, fieldwork::Fieldwork)]
#[fieldwork(opt_in, get(doc_template = "{}"))]
pub struct Counts {
    /// The names of queries and items.
    #[field]
    names: Arc<Names>,
    queries: Vec<QueryEntry>,
    /// The cells of a query are contiguous.
    cells: Vec<Vec<QueryCell>>,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct QueryEntry {
    id: Id,
    table: u32,
    start: u32,
    end: u32,
}

/// A count below 2^40, in five bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
struct Count40([u8; 5]);

impl From<u64> for Count40 {
    /// The number, or the largest count.
    #[inline]
    fn from(number: u64) -> Self {
        let [a, b, c, d, e, ..] = number.min(MAX_COUNT).to_le_bytes();
        Self([a, b, c, d, e])
    }
}

impl Count40 {
    fn get(self) -> u64 {
        let [a, b, c, d, e] = self.0;
        u64::from_le_bytes([a, b, c, d, e, 0, 0, 0])
    }
}

/// A cell of a query, in 19 bytes: a log may have millions.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct QueryCell {
    item: [u8; 8],
    clicks: Count40,
    impressions: Count40,
    position: u8,
}

impl QueryCell {
    fn new(item: u64, [clicks, impressions]: [u64; 2], position: u8) -> Self {
        let [clicks, impressions] = [clicks, impressions].map(Count40::from);
        Self { item: item.to_le_bytes(), clicks, impressions, position }
    }

    fn item(&self) -> u64 {
        u64::from_le_bytes(self.item)
    }
}

/// A set of positions. A log need not show the first one, and may leave gaps.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Positions(pub(crate) u64);

impl FromIterator<usize> for Positions {
    /// The positions, from 0 to 63; others are left out.
    fn from_iter<I: IntoIterator<Item = usize>>(positions: I) -> Self {
        let below = positions.into_iter().filter(|&position| position < 64);
        Self(below.fold(0, |all, position| all | 1 << position))
    }
}

impl Positions {
    /// The first `n` positions, at most 64.
    pub fn first(n: usize) -> Self {
        Self(if n < 64 { (1 << n) - 1 } else { u64::MAX })
    }

    /// The positions in order, from 0.
    pub fn iter(self) -> impl Iterator<Item = usize> + Clone {
        let mut left = self.0;
        std::iter::from_fn(move || {
            let next = left.trailing_zeros() as usize;
            left &= left.wrapping_sub(1);
            (next < 64).then_some(next)
        })
    }

    /// Returns whether a position is in the set.
    pub fn contains(self, position: usize) -> bool {
        position < 64 && self.0 >> position & 1 == 1
    }

    /// Number of positions of the set above this one.
    pub fn rank(self, position: usize) -> usize {
        (self.0 & ((1 << position) - 1)).count_ones() as usize
    }

    /// Number of positions.
    pub fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// Returns whether there are none.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The last position, plus 1.
    pub fn end(self) -> usize {
        64 - self.0.leading_zeros() as usize
    }
}

/// Clicks and impressions of an item of a query at a position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cell {
    /// The item.
    pub item: Id,
    /// The position, from 0 to 63.
    pub position: usize,
    /// Clicks; at most `impressions`.
    pub clicks: u64,
    /// Impressions; at least 1.
    pub impressions: u64,
}

/// The counts of one query.
#[derive(Debug, Clone, Copy, fieldwork::Fieldwork)]
#[fieldwork(opt_in, get(doc_template = "{}"))]
pub struct QueryCounts<'a> {
    /// The query.
    #[field(copy)]
    id: Id,
    cells: &'a [QueryCell],
}

impl<'a> QueryCounts<'a> {
    /// Its cells, sorted by item, then position.
    pub fn cells(&self) -> impl ExactSizeIterator<Item = Cell> + Clone + use<'a> {
        self.cells.iter().map(unpack)
    }

    /// Its distinct items, in order.
    pub fn items(&self) -> impl Iterator<Item = Id> + Clone + use<'a> {
        self.cells.chunk_by(|a, b| a.item == b.item).map(|cells| Id(cells[0].item()))
    }

    /// Impressions of all its cells.
    pub fn impressions(&self) -> u64 {
        self.cells.iter().map(|cell| cell.impressions.get()).sum()
    }

    /// Clicks on all its cells.
    pub fn clicks(&self) -> u64 {
        self.cells.iter().map(|cell| cell.clicks.get()).sum()
    }

    /// Adds clicks and impressions to those of positions.
    pub fn add_to(&self, by_position: &mut [(u64, u64)]) {
        for cell in self.cells() {
            by_position[cell.position].0 += cell.clicks;
            by_position[cell.position].1 += cell.impressions;
        }
    }

    /// Number of positions at which it has impressions.
    pub fn n_positions(&self) -> usize {
        self.positions().len()
    }

    /// The positions at which it has impressions.
    pub fn positions(&self) -> Positions {
        Positions(self.cells.iter().fold(0, |all, cell| all | 1 << cell.position))
    }
}

fn unpack(cell: &QueryCell) -> Cell {
    Cell {
        item: Id(cell.item()),
        position: cell.position.into(),
        clicks: cell.clicks.get(),
        impressions: cell.impressions.get(),
    }
}

/// Selects queries and items with enough data for a fit. The default selects everything.
///
/// The PBM and RSF papers select 8 queries of the KDD Cup 2012 log with `min_impressions: 1000`,
/// `min_items: 5`, `n_positions: Some(3)` and `top_queries: Some(8)`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Filter {
    /// Keeps an item if it has at least this number of impressions at every position.
    pub min_impressions: u64,
    /// Keeps an item if it has at least this number of impressions at all positions together.
    pub min_total_impressions: u64,
    /// Keeps a query if it has at least this number of kept items.
    pub min_items: usize,
    /// Number of positions, from the top; `None`: all positions with impressions.
    pub n_positions: Option<usize>,
    /// Keeps at most this number of queries, by kept impressions; ties go to the first.
    pub top_queries: Option<usize>,
}

impl Counts {
    /// No counts, with names.
    pub fn of_nothing(names: Names) -> Self {
        Self::empty(&Arc::new(names))
    }

    /// Every query, in order.
    pub fn queries(&self) -> impl ExactSizeIterator<Item = QueryCounts<'_>> + Clone {
        self.queries.iter().map(|entry| self.of(entry))
    }

    /// The counts of one query.
    pub fn query(&self, id: Id) -> Option<QueryCounts<'_>> {
        let place = self.queries.binary_search_by_key(&id, |entry| entry.id).ok()?;
        Some(self.of(&self.queries[place]))
    }

    fn of(&self, entry: &QueryEntry) -> QueryCounts<'_> {
        let cells = &self.cells[entry.table as usize][entry.start as usize..entry.end as usize];
        QueryCounts { id: entry.id, cells }
    }

    /// Number of queries.
    pub fn n_queries(&self) -> usize {
        self.queries.len()
    }

    /// Number of cells with impressions.
    pub fn n_cells(&self) -> usize {
        self.cells.iter().map(Vec::len).sum()
    }

    /// Number of positions at which any query has impressions.
    pub fn n_positions(&self) -> usize {
        self.positions().len()
    }

    /// The positions at which any query has impressions.
    pub fn positions(&self) -> Positions {
        Positions(self.queries().fold(0, |all, query| all | query.positions().0))
    }

    /// Impressions of all cells.
    pub fn impressions(&self) -> u64 {
        self.queries().map(|query| query.impressions()).sum()
    }

    /// Clicks on all cells.
    pub fn clicks(&self) -> u64 {
        self.queries().map(|query| query.clicks()).sum()
    }

    /// Clicks and impressions by position, to the last one.
    pub fn by_position(&self) -> Vec<(u64, u64)> {
        let mut totals = vec![(0, 0); self.positions().end()];
        self.queries().for_each(|query| query.add_to(&mut totals));
        totals
    }

    /// The counts that pass a filter.
    #[must_use]
    pub fn filtered(&self, filter: &Filter) -> Self {
        let positions = self.positions();
        let n_positions = filter.n_positions.unwrap_or_else(|| positions.end());
        let n_full = positions.iter().filter(|&position| position < n_positions).count();
        let mut kept = Self::empty(&self.names);
        for query in self.queries() {
            let cells = &mut kept.cells[0];
            let start = cells.len();
            let mut n_items = 0;
            for item in query.cells.chunk_by(|a, b| a.item == b.item) {
                let upper = item.partition_point(|cell| usize::from(cell.position) < n_positions);
                let item = &item[..upper];
                let enough = |cell: &&QueryCell| cell.impressions.get() >= filter.min_impressions;
                let full = filter.min_impressions == 0 || item.iter().filter(enough).count() == n_full;
                let total: u64 = item.iter().map(|cell| cell.impressions.get()).sum();
                if full && total >= filter.min_total_impressions && !item.is_empty() {
                    n_items += 1;
                    cells.extend_from_slice(item);
                }
            }
            if n_items < filter.min_items {
                cells.truncate(start);
            }
            kept.close(query.id, start);
        }
        if let Some(top) = filter.top_queries {
            let sizes = kept.queries().map(|query| (query.id, query.impressions()));
            let mut sizes: Vec<(Id, u64)> = sizes.collect();
            // The sort is stable: queries with equal numbers stay in order.
            sizes.sort_by_key(|&(_, impressions)| std::cmp::Reverse(impressions));
            sizes.truncate(top);
            sizes.sort_unstable_by_key(|&(query, _)| query);
            return kept
                .restricted(&mut |query, _| sizes.binary_search_by_key(&query, |size| size.0).is_ok());
        }
        kept
    }

    pub(crate) fn empty(names: &Arc<Names>) -> Self {
        Self { names: Arc::clone(names), queries: Vec::new(), cells: vec![Vec::new()] }
    }

    /// Adds a query with the cells of the first table from `start` on, if there are any.
    fn close(&mut self, id: Id, start: usize) {
        let end = self.cells[0].len();
        if start < end {
            self.queries.push(QueryEntry { id, table: 0, start: place(start), end: place(end) });
        }
    }

    /// The counts of the cells that pass; `keep` gets the query of each cell.
    #[must_use]
    pub fn restricted(&self, keep: &mut dyn FnMut(Id, &Cell) -> bool) -> Self {
        let mut rest = Self::empty(&self.names);
        for query in self.queries() {
            let start = rest.cells[0].len();
            let passing = query.cells.iter().filter(|cell| keep(query.id, &unpack(cell)));
            rest.cells[0].extend(passing.copied());
            rest.close(query.id, start);
        }
        rest
    }

    /// The rest without the counts of a part of the same log.
    #[must_use]
    pub fn without(&self, part: &Self) -> Self {
        let mut rest = Self::empty(&self.names);
        for (id, [all, part]) in in_step(self.queries(), part.queries(), QueryCounts::id) {
            let [all, part] = [all, part].map(|query| query.map_or(&[][..], |query| query.cells).iter());
            let start = rest.cells[0].len();
            for (_, [cell, part]) in in_step(all, part, |cell| (cell.item(), cell.position)) {
                let mut left = cell.copied();
                if let (Some(QueryCell { clicks, impressions, .. }), Some(part)) = (&mut left, part) {
                    *clicks = clicks.get().saturating_sub(part.clicks.get()).into();
                    *impressions = impressions.get().saturating_sub(part.impressions.get()).into();
                }
                rest.cells[0].extend(left.filter(|left| left.impressions.get() > 0));
            }
            rest.close(id, start);
        }
        rest
    }

    /// Splits counts into those without one impression in `one_in`, at least 2, and these
    /// impressions. Every impression, click or skip, is drawn independently, so it is better to
    /// hold out whole sessions, if there are any. The same counts and the same seed give the same
    /// parts, whatever else the log contains.
    pub fn split(&self, one_in: u64, seed: u64) -> [Self; 2] {
        let hold_out = HoldOut::new(one_in, seed);
        let mut parts = [(); 2].map(|()| Self::empty(&self.names));
        for query in self.queries() {
            // The identifier of a text depends on other names in the log, its name does not.
            let name = self.names.name(query.id);
            let starts = parts.each_ref().map(|part| part.cells[0].len());
            for cell in query.cells {
                let draws = hold_out.of_cell(&name, &self.names.name(Id(cell.item())), cell.position);
                let cut = draws.cut([cell.clicks.get(), cell.impressions.get()]);
                for (part, totals) in parts.iter_mut().zip(cut).filter(|(_, [_, shown])| *shown > 0) {
                    part.cells[0].push(QueryCell::new(cell.item(), totals, cell.position));
                }
            }
            for (part, start) in parts.iter_mut().zip(starts) {
                part.close(query.id, start);
            }
        }
        parts
    }

    /// Writes all cells as CSV that [`Format::counts`](crate::Format::counts) reads: a header, then
    /// `query,item,position,clicks,impressions`, positions from 1. Names are written as in the log,
    /// even if a spreadsheet or a terminal would interpret them.
    ///
    /// # Errors
    ///
    /// Errors of `out`.
    pub fn write_csv(&self, mut out: impl Write) -> io::Result<()> {
        writeln!(out, "query,item,position,clicks,impressions")?;
        for query in self.queries() {
            let name = quoted(self.names.name(query.id));
            for Cell { item, position, clicks, impressions } in query.cells() {
                let item = quoted(self.names.name(item));
                writeln!(out, "{name},{item},{},{clicks},{impressions}", position + 1)?;
            }
        }
        Ok(())
    }

    /// Adds a query that sorts after those here. Lines of the same cell add up.
    pub(crate) fn push(&mut self, query: Id, mut lines: Vec<LineCounts>) {
        lines.sort_unstable_by_key(|shown| (shown.item, shown.position));
        let start = self.cells[0].len();
        for lines in lines.chunk_by(|a, b| (a.item, a.position) == (b.item, b.position)) {
            let sum = |of: fn(&LineCounts) -> u64| lines.iter().map(of).fold(0, u64::saturating_add);
            let totals = [sum(|line| line.clicks), sum(|line| line.impressions)];
            self.cells[0].push(QueryCell::new(lines[0].item.0, totals, lines[0].position));
        }
        self.close(query, start);
    }

    /// The counts of sorted cells, each there once.
    pub(crate) fn of_sorted(cells: &[PackedLine], totals: impl Fn(&PackedLine) -> [u64; 2]) -> Self {
        let mut counts = Self::empty(&Arc::default());
        counts.cells[0].reserve_exact(cells.len());
        for cells in cells.chunk_by(|a, b| a.query == b.query) {
            let start = counts.cells[0].len();
            let of_query = cells.iter().map(|cell| QueryCell::new(cell.item, totals(cell), cell.position()));
            counts.cells[0].extend(of_query);
            counts.close(Id(cells[0].query), start);
        }
        counts
    }

    /// The counts of finished tables; every query is in one table only.
    pub(crate) fn from_tables(names: Arc<Names>, tables: Vec<Table>) -> Self {
        let mut all = Self { names, ..Self::default() };
        for (table, Table { counts, .. }) in (0..).zip(tables) {
            all.queries.extend(counts.queries.into_iter().map(|entry| QueryEntry { table, ..entry }));
            all.cells.push(counts.cells.into_iter().next().unwrap_or_default());
        }
        all.queries.sort_unstable_by_key(|entry| entry.id);
        all
    }

    /// The first cell whose impressions may have saturated.
    pub(crate) fn overflown(&self) -> Option<(Id, Cell)> {
        let full = |cell: &Cell| cell.impressions == MAX_COUNT;
        self.queries().find_map(|query| query.cells().find(full).map(|cell| (query.id, cell)))
    }
}

impl PartialEq for Counts {
    /// Compares by names, not by identifiers.
    fn eq(&self, other: &Self) -> bool {
        self.n_queries() == other.n_queries()
            && self.queries().zip(other.queries()).all(|(a, b)| {
                self.names.name(a.id) == other.names.name(b.id)
                    && a.cells.len() == b.cells.len()
                    && a.cells().zip(b.cells()).all(|(a, b)| {
                        self.names.name(a.item) == other.names.name(b.item)
                            && (a.position, a.clicks, a.impressions) == (b.position, b.clicks, b.impressions)
                    })
            })
    }
}

/// Goes through two sorted sequences: each key in order, with the entries that have it.
pub(crate) fn in_step<T, K: Ord + Copy>(
    a: impl Iterator<Item = T>,
    b: impl Iterator<Item = T>,
    key: impl Fn(&T) -> K,
) -> impl Iterator<Item = (K, [Option<T>; 2])> {
    let (mut a, mut b) = (a.peekable(), b.peekable());
    std::iter::from_fn(move || {
        let least = [a.peek(), b.peek()].into_iter().flatten().map(&key).min()?;
        let is_least = |entry: &T| key(entry) == least;
        Some((least, [a.next_if(is_least), b.next_if(is_least)]))
    })
}

fn place(len: usize) -> u32 {
    u32::try_from(len).expect("a table holds fewer than 2^32 cells, 100 GB")
}

/// A name as a field of CSV: in quotation marks if necessary.
fn quoted(name: Cow<'_, str>) -> Cow<'_, str> {
    if name.contains(['"', ',', '\n', '\r']) {
        format!("\"{}\"", name.replace('"', "\"\"")).into()
    } else {
        name
    }
}
