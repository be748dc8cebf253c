//! Clicks and impressions by query, item and column.

use crate::names::Id;

/// Clicks on an item in a column.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct Count {
    pub(in super::super) item: Id,
    pub(in super::super) column: usize,
    pub(in super::super) clicks: u64,
    /// Not a whole number if it is unknown which impressions were examined.
    pub(in super::super) impressions: f64,
}

/// A source of counts.
pub(in super::super) trait Source: Sync {
    fn n_queries(&self) -> usize;
    /// Writes the counts of a query, sorted by item, then column.
    fn counts(&self, query: usize, out: &mut Vec<Count>);
}

/// The items of a query's counts.
pub(in super::super) fn items(counts: &[Count]) -> impl Iterator<Item = &[Count]> {
    counts.chunk_by(|a, b| a.item == b.item)
}

/// The share of each count in the item's impressions; equal shares if there are no impressions.
pub(super) fn shares(of_item: &[Count]) -> impl Iterator<Item = f64> {
    let impressions: f64 = of_item.iter().map(|count| count.impressions).sum();
    let share = move |count: &Count| {
        if impressions > 0.0 { count.impressions / impressions } else { 1.0 / of_item.len() as f64 }
    };
    of_item.iter().map(share)
}

/// Sorts by item, then column, and merges equal ones.
pub(in super::super) fn merged(mut counts: Vec<Count>) -> Vec<Count> {
    counts.sort_unstable_by_key(|count| (count.item, count.column));
    counts.dedup_by(|next, kept| {
        let same = (next.item, next.column) == (kept.item, kept.column);
        if same {
            kept.clicks += next.clicks;
            kept.impressions += next.impressions;
        }
        same
    });
    counts
}

/// Number of items of all queries.
pub(in super::super) fn n_items(source: &impl Source) -> usize {
    let mut counts = Vec::new();
    let of_query = |query| {
        source.counts(query, &mut counts);
        items(&counts).count()
    };
    (0..source.n_queries()).map(of_query).sum()
}
