//! Logs whose columns seem to be named for each other.

use log_reader::{Counts, Sessions};

/// With fewer queries or lists, it may be chance.
const FEWEST: usize = 10;

/// A doubt about a log whose lists have one item each, or whose queries have one list each, with
/// other names for its columns. `None` for other logs.
pub fn misnamed(counts: &Counts, sessions: &Sessions) -> Option<&'static str> {
    let n_lists = sessions.n_sessions();
    let are_rows = if sessions.is_empty() {
        counts.n_queries() >= FEWEST && counts.queries().all(|query| query.items().count() == 1)
    } else {
        let mut lists = sessions.queries().flat_map(|query| query.lists());
        n_lists >= FEWEST as u64 && lists.all(|list| list.items.len() == 1)
    };
    if are_rows {
        return Some(
            "Every list has one item, so there is nothing to rank. Unless a single item is shown at a time, the columns of `query` and \
             `item` are swapped, or that of `session` names rows: it has one name for all rows of a list.",
        );
    }
    let are_lists = counts.n_queries() >= FEWEST && n_lists == counts.n_queries() as u64;
    are_lists.then_some(
        "Every query is in the log once, so that no two lists can be compared. If the column of `query` names visits or users, name \
         that of what they searched for, or none if all lists stand at one place.",
    )
}
