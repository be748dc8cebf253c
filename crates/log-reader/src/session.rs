//! Sessions: lists in the order shown, with their clicks; equal sessions are counted together.
//!
//! Cascade models need the first click of a session, dependent click models the last one.

mod content;
mod order;

pub use self::order::Session;
pub(crate) use self::order::{MAX_FILES_IN_ORDER, ReadSession, put_in_order};

use self::order::{Calendar, Order, narrow};
use crate::counts::{Counts, Positions};
use crate::names::{Id, Names};
use crate::table::{LineCounts, PackedPattern, Table};
use click_models::Clicks;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The sessions of a log, sorted by query, list and clicks. The order of the log is kept beside
/// them ([`QuerySessions::in_order`]).
///
/// # Examples
///
/// Two of three sessions are equal:
///
/// ```
/// use log_reader::{Format, Reader};
///
/// let log = "query\tregion\turls\tclicked_mask\tn_clicks_outside_top10\n\
///            5\t1\t8,9\t10\t0\n5\t1\t8,9\t01\t0\n5\t1\t8,9\t10\t0\n";
/// let log = Reader::new(Format::Sessions).keep_sessions().read("sessions.tsv", log.as_bytes())?;
/// let query = log.sessions.queries().next().unwrap();
/// let list = query.lists().next().unwrap();
/// let patterns: Vec<_> = list.patterns.iter().map(|p| (p.clicks.bits(), p.sessions)).collect();
/// assert_eq!(patterns, [(0b01, 2), (0b10, 1)]);
/// # Ok::<(), log_reader::Error>(())
/// ```
#[derive(Debug, Clone, Default, Serialize, Deserialize, fieldwork::Fieldwork)]
#[fieldwork(opt_in, get(doc_template = "{}"))]
pub struct Sessions {
    /// The names of queries and items; identifiers are those of the counts of the same log.
    #[serde(skip)]
    #[field]
    names: Arc<Names>,
    queries: Vec<QueryEntry>,
    lists: Vec<ListEntry>,
    items: Vec<Id>,
    patterns: Vec<Pattern>,
    /// The sessions of each query, in the order of the log; empty if that order is unknown.
    order: Order,
    #[serde(default)]
    calendar: Arc<Calendar>,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct QueryEntry {
    id: Id,
    /// Range of its lists.
    lists: (usize, usize),
    /// The start of its sessions in the order.
    first_session: usize,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct ListEntry {
    items: (usize, usize),
    positions: Positions,
    patterns: (usize, usize),
}

/// Sessions with the same list and the same clicks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pattern {
    /// The clicked items of the list, from the top.
    pub clicks: Clicks,
    /// Number of sessions; at least 1.
    pub sessions: u64,
}

/// The sessions of one query.
#[derive(Debug, Clone, Copy)]
pub struct QuerySessions<'a> {
    sessions: &'a Sessions,
    entry: QueryEntry,
}

/// The sessions of one query with one list.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct ListSessions<'a> {
    /// The items, from the top; 1 to 64. A log may show an item twice.
    pub items: &'a [Id],
    /// The positions of the items in the log, which may begin later and leave gaps.
    pub positions: Positions,
    /// The patterns of clicks, sorted by their bits.
    pub patterns: &'a [Pattern],
}

impl<'a> QuerySessions<'a> {
    /// The query.
    pub fn id(&self) -> Id {
        self.entry.id
    }

    /// The lists that were shown, in the order of their items.
    pub fn lists(&self) -> impl ExactSizeIterator<Item = ListSessions<'a>> + Clone + use<'a> {
        let sessions = self.sessions;
        sessions.lists[self.entry.lists.0..self.entry.lists.1].iter().map(|list| ListSessions {
            items: &sessions.items[list.items.0..list.items.1],
            positions: list.positions,
            patterns: &sessions.patterns[list.patterns.0..list.patterns.1],
        })
    }

    /// As many positions as its longest list has: an item of a list counts from the top, whatever
    /// the gaps above it.
    pub fn positions(&self) -> Positions {
        Positions::first(self.lists().map(|list| list.items.len()).max().unwrap_or(0))
    }

    /// Number of sessions.
    pub fn n_sessions(&self) -> u64 {
        self.lists().flat_map(|list| list.patterns).map(|pattern| pattern.sessions).sum()
    }
}

impl Sessions {
    /// Every query, in order.
    pub fn queries(&self) -> impl ExactSizeIterator<Item = QuerySessions<'_>> + Clone {
        self.queries.iter().map(|&entry| QuerySessions { sessions: self, entry })
    }

    /// The sessions of one query.
    pub fn query(&self, id: Id) -> Option<QuerySessions<'_>> {
        let place = self.queries.binary_search_by_key(&id, |entry| entry.id).ok()?;
        Some(QuerySessions { sessions: self, entry: self.queries[place] })
    }

    /// Whether there are no sessions: the format has none, or the reader does not keep them.
    pub fn is_empty(&self) -> bool {
        self.queries.is_empty()
    }

    /// Number of sessions.
    pub fn n_sessions(&self) -> u64 {
        self.patterns.iter().map(|pattern| pattern.sessions).sum()
    }

    /// Clicks and impressions of these sessions.
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::empty(&self.names);
        for query in self.queries() {
            let cells = query.lists().flat_map(|list| {
                let impressions = list.patterns.iter().map(|pattern| pattern.sessions).sum();
                let shown = move |(place, (position, &item)): (usize, (usize, &Id))| {
                    let clicked = list.patterns.iter().filter(|pattern| pattern.clicks.get(place));
                    let clicks = clicked.map(|pattern| pattern.sessions).sum();
                    let position = u8::try_from(position).unwrap_or(u8::MAX);
                    LineCounts { query: query.id(), item, clicks, impressions, position }
                };
                list.positions.iter().zip(list.items).enumerate().map(shown)
            });
            counts.push(query.id(), cells.collect());
        }
        counts
    }

    /// The sessions of the queries that pass.
    #[must_use]
    pub fn restricted(&self, keep: &dyn Fn(Id) -> bool) -> Self {
        let mut rest = self.none();
        for query in self.queries().filter(|query| keep(query.id())) {
            rest.open(query.id());
            for list in query.lists() {
                rest.push((list.items, list.positions), list.patterns.iter().copied());
            }
            rest.order.extend(query.order());
        }
        rest
    }

    /// No sessions of the same log.
    fn none(&self) -> Self {
        let (names, calendar) = (Arc::clone(&self.names), Arc::clone(&self.calendar));
        Self { names, calendar, ..Self::default() }
    }

    fn open(&mut self, query: Id) {
        let lists = (self.lists.len(), self.lists.len());
        self.queries.push(QueryEntry { id: query, lists, first_session: self.order.len() });
    }

    /// Adds a list to the query opened last.
    fn push(&mut self, items: (&[Id], Positions), patterns: impl Iterator<Item = Pattern>) {
        let before = self.patterns.len();
        self.patterns.extend(patterns);
        self.push_items(items, self.patterns.len() - before);
    }

    /// Adds a list to the query opened last, with as many of the last patterns.
    fn push_items(&mut self, (items, positions): (&[Id], Positions), n_patterns: usize) {
        let first_item = self.items.len();
        self.items.extend_from_slice(items);
        self.lists.push(ListEntry {
            items: (first_item, self.items.len()),
            positions,
            patterns: (self.patterns.len() - n_patterns, self.patterns.len()),
        });
        if let Some(query) = self.queries.last_mut() {
            query.lists.1 = self.lists.len();
        }
    }

    /// The sessions of sorted tables, and the new index of each pattern of each table; every query
    /// is in one table only.
    pub(crate) fn from_tables(names: Arc<Names>, tables: &mut [Table]) -> (Self, Vec<Vec<u32>>) {
        // (query, table, list): sorted by query, then by the items of the list.
        let mut order: Vec<(Id, usize, usize)> = Vec::new();
        for (number, table) in tables.iter_mut().enumerate() {
            table.patterns.sort_unstable_by_key(|pattern| (pattern.list, pattern.clicks));
            order.extend(table.lists.iter().enumerate().map(|(place, list)| (Id(list.query), number, place)));
        }
        let items = |&(_, number, place): &(Id, usize, usize)| {
            let list = tables[number].lists[place];
            (&tables[number].items[list.start..][..list.positions.len()], list.positions)
        };
        order.sort_unstable_by(|a, b| a.0.cmp(&b.0).then_with(|| items(a).cmp(&items(b))));
        let mut sessions = Self { names, ..Self::default() };
        let mut places: Vec<Vec<u32>> = tables.iter().map(|table| vec![0; table.patterns.len()]).collect();
        for list in &order {
            let &(query, number, place) = list;
            if sessions.queries.last().is_none_or(|last| last.id != query) {
                sessions.open(query);
            }
            let (items, positions) = items(list);
            let ids: Vec<Id> = items.iter().map(|&item| Id(item)).collect();
            let patterns = &tables[number].patterns;
            let start = patterns.partition_point(|pattern| (pattern.list as usize) < place);
            let of_list = patterns[start..].iter().take_while(|pattern| pattern.list as usize == place);
            let first = sessions.patterns.len();
            let pattern = |(place, packed): (usize, &PackedPattern)| {
                places[number][packed.number as usize] = narrow(place);
                let clicks = (0..items.len()).filter(|position| packed.clicks >> position & 1 == 1);
                Pattern {
                    clicks: clicks.fold(Clicks::new(items.len()), Clicks::with),
                    sessions: packed.sessions,
                }
            };
            sessions.push((&ids, positions), (first..).zip(of_list).map(pattern));
        }
        (sessions, places)
    }
}

impl PartialEq for Sessions {
    /// Compares sessions and their order, by names and not by identifiers.
    fn eq(&self, other: &Self) -> bool {
        let names = |sessions: &Self, items: &[Id]| -> Vec<String> {
            items.iter().map(|&item| sessions.names.name(item).into_owned()).collect()
        };
        self.queries.len() == other.queries.len()
            && self.order == other.order
            && self.queries().zip(other.queries()).all(|(a, b)| {
                self.names.name(a.id()) == other.names.name(b.id())
                    && a.lists().len() == b.lists().len()
                    && a.lists().zip(b.lists()).all(|(a, b)| {
                        a.positions == b.positions
                            && a.patterns == b.patterns
                            && names(self, a.items) == names(other, b.items)
                    })
            })
    }
}
