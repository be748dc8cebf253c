//! Clicks and impressions of every (query, item, position): all that a position-based model needs of a log.
//!
//! Queries are in the order of their identifiers, cells in that of (item, position), so that the same log gives the same counts, byte
//! by byte, whichever thread read which part. Positions count from 0.

use crate::names::{self, Id, Names, Renaming};
use crate::table::{MAX_COUNT, PackedCell, Table};
use std::borrow::Cow;
use std::io::{self, Write};
use std::sync::Arc;

/// Clicks and impressions of every (query, item, position) of a log.
///
/// # Examples
///
/// ```
/// use click_logs::{Format, Reader};
///
/// let log = "query,item,position,clicks,impressions\nshoes,7,1,30,100\nshoes,9,2,5,100\nshoes,7,1,2,20\n";
/// let columns = "query=query,item=item,position=position,click=clicks,impressions=impressions";
/// let counts = Reader::new(Format::delimited(columns)?).read("counts.csv", log.as_bytes())?.counts;
/// let query = counts.queries().next().unwrap();
/// let cell = query.cells().next().unwrap();
/// assert_eq!((cell.position, cell.clicks, cell.impressions), (0, 32, 120));
/// # Ok::<(), click_logs::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Counts {
    names: Arc<Names>,
    queries: Vec<QueryEntry>,
    /// Cells of one query stand side by side.
    cells: Vec<Vec<PackedCell>>,
}

#[derive(Debug, Clone, Copy)]
struct QueryEntry {
    id: Id,
    table: u32,
    start: u32,
    end: u32,
}

/// An item of a query at a position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cell {
    /// The item.
    pub item: Id,
    /// Where it was shown, from 0, below 64.
    pub position: usize,
    /// How often it was clicked there; at most `impressions`.
    pub clicks: u64,
    /// How often it was shown there; at least 1.
    pub impressions: u64,
}

/// What is known of one query.
#[derive(Debug, Clone, Copy)]
pub struct QueryCounts<'a> {
    id: Id,
    cells: &'a [PackedCell],
}

impl<'a> QueryCounts<'a> {
    /// The query.
    pub fn id(&self) -> Id {
        self.id
    }

    /// Its cells, by item, then position.
    pub fn cells(&self) -> impl ExactSizeIterator<Item = Cell> + Clone + use<'a> {
        self.cells.iter().map(unpack)
    }

    /// Its items, in order, each once.
    pub fn items(&self) -> impl Iterator<Item = Id> + Clone + use<'a> {
        self.cells.chunk_by(|a, b| a.item == b.item).map(|cells| Id(cells[0].item))
    }

    /// Impressions of all its cells.
    pub fn impressions(&self) -> u64 {
        self.cells.iter().map(|cell| cell.impressions.get()).sum()
    }

    /// Clicks on all its cells.
    pub fn clicks(&self) -> u64 {
        self.cells.iter().map(|cell| cell.clicks.get()).sum()
    }

    /// Positions down to the last that was shown.
    pub fn n_positions(&self) -> usize {
        self.cells.iter().map(|cell| usize::from(cell.position) + 1).max().unwrap_or(0)
    }
}

fn unpack(cell: &PackedCell) -> Cell {
    Cell {
        item: Id(cell.item),
        position: cell.position.into(),
        clicks: cell.clicks.get(),
        impressions: cell.impressions.get(),
    }
}

/// Which queries and items are worth a fit. What a filter does not name, it lets pass.
///
/// The PBM paper and the RSF paper keep, of the KDD Cup 2012 log, the queries with at least 5 items that each have at least 1000
/// impressions at each of the 3 positions, and of these the 8 with the most impressions.
///
/// # Examples
///
/// ```
/// use click_logs::Filter;
///
/// let papers = Filter { min_impressions: 1000, min_items: 5, n_positions: Some(3), top_queries: Some(8), ..Filter::default() };
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Filter {
    /// An item is kept if it has at least this number of impressions at every position.
    pub min_impressions: u64,
    /// An item is kept if it has at least this number of impressions in all, at the positions meant.
    pub min_total_impressions: u64,
    /// A query is kept if at least this number of its items is.
    pub min_items: usize,
    /// The positions meant, from the top: cells below are dropped. Without it: down to the last position of the log.
    pub n_positions: Option<usize>,
    /// At most this number of queries: those with the most impressions in what is kept, the first ones where they have the same.
    pub top_queries: Option<usize>,
}

impl Counts {
    /// What queries and items are called.
    pub fn names(&self) -> &Names {
        &self.names
    }

    /// Every query, in order.
    pub fn queries(&self) -> impl ExactSizeIterator<Item = QueryCounts<'_>> + Clone {
        self.queries.iter().map(|entry| self.of(entry))
    }

    /// One query.
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

    /// Number of cells that were shown at all.
    pub fn n_cells(&self) -> usize {
        self.cells.iter().map(Vec::len).sum()
    }

    /// Positions down to the last that was shown.
    pub fn n_positions(&self) -> usize {
        self.queries().map(|query| query.n_positions()).max().unwrap_or(0)
    }

    /// Impressions of all cells.
    pub fn impressions(&self) -> u64 {
        self.queries().map(|query| query.impressions()).sum()
    }

    /// Clicks on all cells.
    pub fn clicks(&self) -> u64 {
        self.queries().map(|query| query.clicks()).sum()
    }

    /// The counts of what passes a filter.
    #[must_use]
    pub fn filtered(&self, filter: &Filter) -> Self {
        let n_positions = filter.n_positions.unwrap_or_else(|| self.n_positions());
        let mut kept: Vec<(QueryEntry, u64)> = Vec::new();
        let mut cells: Vec<PackedCell> = Vec::new();
        for query in self.queries() {
            let start = cells.len();
            let mut n_items = 0;
            for item in query.cells.chunk_by(|a, b| a.item == b.item) {
                let upper = item.partition_point(|cell| usize::from(cell.position) < n_positions);
                let item = &item[..upper];
                let enough = |cell: &&PackedCell| cell.impressions.get() >= filter.min_impressions;
                let full = filter.min_impressions == 0 || item.iter().filter(enough).count() == n_positions;
                let total: u64 = item.iter().map(|cell| cell.impressions.get()).sum();
                if full && total >= filter.min_total_impressions && !item.is_empty() {
                    n_items += 1;
                    cells.extend_from_slice(item);
                }
            }
            if n_items == 0 || n_items < filter.min_items {
                cells.truncate(start);
                continue;
            }
            let impressions = cells[start..].iter().map(|cell| cell.impressions.get()).sum();
            let entry = QueryEntry { id: query.id, table: 0, start: place(start), end: place(cells.len()) };
            kept.push((entry, impressions));
        }
        if let Some(top) = filter.top_queries {
            // Stable: queries with the same number stay in order.
            kept.sort_by_key(|&(_, impressions)| std::cmp::Reverse(impressions));
            kept.truncate(top);
            kept.sort_unstable_by_key(|(entry, _)| entry.id);
        }
        let mut counts =
            Self { names: Arc::clone(&self.names), queries: Vec::new(), cells: vec![Vec::new()] };
        for (entry, _) in kept {
            let start = counts.cells[0].len();
            counts.cells[0].extend_from_slice(&cells[entry.start as usize..entry.end as usize]);
            let end = counts.cells[0].len();
            counts.queries.push(QueryEntry { start: place(start), end: place(end), ..entry });
        }
        counts
    }

    /// The counts of the cells that pass; the query comes with each.
    #[must_use]
    pub fn restricted(&self, mut keep: impl FnMut(Id, &Cell) -> bool) -> Self {
        let mut rest = Self { names: Arc::clone(&self.names), queries: Vec::new(), cells: vec![Vec::new()] };
        for query in self.queries() {
            let start = rest.cells[0].len();
            let passing = query.cells.iter().filter(|cell| keep(query.id, &unpack(cell)));
            rest.cells[0].extend(passing.copied());
            let end = rest.cells[0].len();
            if start < end {
                rest.queries.push(QueryEntry {
                    id: query.id,
                    table: 0,
                    start: place(start),
                    end: place(end),
                });
            }
        }
        rest
    }

    /// The counts of two logs, or of two parts of one.
    #[must_use]
    pub fn merged(&self, other: &Self) -> Self {
        let (names, renamings) = names::merge(&self.names, &other.names);
        let mut table = Table::default();
        for (counts, renaming) in [self, other].into_iter().zip(&renamings) {
            for query in counts.queries() {
                for cell in query.cells() {
                    table.add(&crate::table::Shown {
                        query: Id(renaming.apply(query.id.0)),
                        item: Id(renaming.apply(cell.item.0)),
                        clicks: cell.clicks,
                        impressions: cell.impressions,
                        position: u8::try_from(cell.position).unwrap_or(u8::MAX),
                    });
                }
            }
        }
        table.finish(&Renaming::none());
        Self::from_tables(Arc::new(names), vec![table])
    }

    /// Writes all cells as CSV that [`Format::counts`](crate::Format::counts) reads: a header, then
    /// `query,item,position,clicks,impressions`, positions from 1. Names are as they are in the log, whatever a spreadsheet or a terminal
    /// makes of them.
    ///
    /// # Errors
    ///
    /// Those of `out`.
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

    /// Counts of tables that are in order; every query is in one of them.
    pub(crate) fn from_tables(names: Arc<Names>, tables: Vec<Table>) -> Self {
        let mut counts = Self { names, ..Self::default() };
        for (number, table) in (0..).zip(tables) {
            let mut start = 0;
            for cells in table.cells.chunk_by(|a, b| a.query == b.query) {
                let end = start + cells.len();
                let id = Id(table.query_ids[cells[0].query as usize]);
                counts.queries.push(QueryEntry { id, table: number, start: place(start), end: place(end) });
                start = end;
            }
            counts.cells.push(table.cells);
        }
        counts.queries.sort_unstable_by_key(|entry| entry.id);
        counts
    }

    /// The first cell whose impressions may be more than what was counted.
    pub(crate) fn overflown(&self) -> Option<(Id, Cell)> {
        let full = |cell: &Cell| cell.impressions == MAX_COUNT;
        self.queries().find_map(|query| query.cells().find(full).map(|cell| (query.id, cell)))
    }
}

impl PartialEq for Counts {
    /// The same cells under the same names.
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

fn place(len: usize) -> u32 {
    u32::try_from(len).expect("a table holds fewer than 2^32 cells, 100 GB")
}

/// A name as CSV has it: in quotation marks where it would be misread.
fn quoted(name: Cow<'_, str>) -> Cow<'_, str> {
    if name.contains(['"', ',', '\n', '\r']) {
        format!("\"{}\"", name.replace('"', "\"\"")).into()
    } else {
        name
    }
}
