//! The rows of the estimation: one for each item of each query.

use log_reader::{Id, Sessions};
use std::ops::Range;

/// The rows: items of queries, sorted by query and identifier.
pub(super) struct Rows {
    pub(super) items: Vec<Id>,
    pub(super) queries: Vec<Range<usize>>,
}

impl Rows {
    pub(super) fn new(sessions: &Sessions) -> Self {
        let mut rows = Self { items: Vec::new(), queries: Vec::new() };
        for query in sessions.queries() {
            let mut items: Vec<Id> = query.lists().flat_map(|list| list.items.iter().copied()).collect();
            items.sort_unstable();
            items.dedup();
            let start = rows.items.len();
            rows.items.extend(items);
            rows.queries.push(start..rows.items.len());
        }
        rows
    }
}
