//! Lists and sessions of generated logs.

use click_models::{Clicks, ItemId, Ranking};
use std::fmt::Write;

/// The first line of a log of sessions.
pub(crate) const HEADER: &str = "query\tregion\turls\tclicked_mask\tn_clicks_outside_top10\n";

/// The items with the smallest keys, smallest first.
pub(crate) fn ranked(keys: &[f64], n_positions: usize) -> Ranking {
    let mut order: Vec<usize> = (0..keys.len()).collect();
    order.sort_by(|&a, &b| keys[a].total_cmp(&keys[b]));
    order.into_iter().take(n_positions).map(ItemId::from_index).collect()
}

/// Adds a session. Queries and items are named by their numbers, from 1 on.
pub(crate) fn push_session(log: &mut String, query: usize, list: &Ranking, clicks: Clicks) {
    write!(log, "{}\t0\t", query + 1).unwrap();
    for (position, item) in list.iter().enumerate() {
        let comma = if position == 0 { "" } else { "," };
        write!(log, "{comma}{}", item.index() + 1).unwrap();
    }
    log.push('\t');
    log.extend((0..list.len()).map(|position| if clicks.get(position) { '1' } else { '0' }));
    log.push_str("\t0\n");
}
