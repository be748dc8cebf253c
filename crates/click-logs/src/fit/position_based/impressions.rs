//! Impressions by item and column: positions, or in the user browsing model pairs of a position and the last click above.

use super::super::credibility::{Count, Source, merged};
use super::super::in_order::in_order;
use crate::counts::{Positions, QueryCounts};
use crate::names::Id;
use crate::session::{QuerySessions, Sessions};

/// The column of an impression in the user browsing model; `None` if the last click is not above.
pub(in super::super) fn browsing_column(position: usize, last_click: Option<usize>) -> Option<usize> {
    match last_click {
        Some(above) if above >= position => None,
        Some(above) => Some(position * (position + 1) / 2 + above + 1),
        None => Some(position * (position + 1) / 2),
    }
}

/// The source of counts: cells of every query, sorted by item, then column.
pub(in super::super) enum Impressions<'a> {
    /// With the positions of the log, which are the columns.
    Positions(Vec<QueryCounts<'a>>, Positions),
    Browsing(Vec<(Id, Positions, Vec<Count>)>),
}

impl Impressions<'_> {
    /// The impressions of sessions, by item and browsing column.
    pub(in super::super) fn browsing(sessions: &Sessions) -> Self {
        let of_query = |query: QuerySessions<'_>| (query.id(), query.positions(), browsing(&query));
        Self::Browsing(in_order(sessions.queries().collect(), of_query))
    }

    pub(in super::super) fn id(&self, query: usize) -> Id {
        match self {
            Self::Positions(queries, _) => queries[query].id(),
            Self::Browsing(queries) => queries[query].0,
        }
    }

    /// The positions of a query.
    pub(in super::super) fn positions(&self, query: usize) -> Positions {
        match self {
            Self::Positions(queries, _) => queries[query].positions(),
            Self::Browsing(queries) => queries[query].1,
        }
    }
}

impl Source for Impressions<'_> {
    fn n_queries(&self) -> usize {
        match self {
            Self::Positions(queries, _) => queries.len(),
            Self::Browsing(queries) => queries.len(),
        }
    }

    fn counts(&self, query: usize, out: &mut Vec<Count>) {
        out.clear();
        match self {
            Self::Positions(queries, all) => out.extend(queries[query].cells().map(|cell| Count {
                item: cell.item,
                column: all.rank(cell.position),
                clicks: cell.clicks,
                impressions: cell.impressions as f64,
            })),
            Self::Browsing(queries) => out.extend_from_slice(&queries[query].2),
        }
    }
}

/// The counts of one query by item and browsing column.
fn browsing(query: &QuerySessions<'_>) -> Vec<Count> {
    let mut counts = Vec::new();
    for list in query.lists() {
        for pattern in list.patterns() {
            let mut last_click = None;
            for (position, &item) in list.items().iter().enumerate() {
                let clicked = pattern.clicks.get(position);
                if let Some(column) = browsing_column(position, last_click) {
                    let clicks = if clicked { pattern.sessions } else { 0 };
                    counts.push(Count { item, column, clicks, impressions: pattern.sessions as f64 });
                }
                if clicked {
                    last_click = Some(position);
                }
            }
        }
    }
    merged(counts)
}
