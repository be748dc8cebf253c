//! Tables that grow.

use super::*;
use std::collections::BTreeMap;

type Totals = BTreeMap<(u32, u64, u8), (u64, u64)>;

fn totals(cells: &[PackedCell]) -> Totals {
    let mut totals = Totals::new();
    for cell in cells {
        let (clicks, impressions) = totals.entry((cell.query, cell.item, cell.position)).or_default();
        *clicks = MAX_COUNT.min(*clicks + cell.clicks.get());
        *impressions = MAX_COUNT.min(*impressions + cell.impressions.get());
    }
    totals
}

/// Cells of 40 queries and items at 4 positions, some of them with counts near the largest.
fn cells(n: u64) -> Vec<PackedCell> {
    let cell = |number: u64| {
        let bits = crate::names::mix(number, 5);
        let impressions = if bits.is_multiple_of(50) { MAX_COUNT - 3 } else { 1 + bits % 7 };
        let shown = LineCounts {
            query: Id(0),
            item: Id(bits >> 8 & 0x3f),
            clicks: bits >> 20 & 1,
            impressions,
            position: (bits >> 16 & 3) as u8,
        };
        shown.in_query((bits >> 32 & 0x1f) as u32)
    };
    (0..n).map(cell).collect()
}

/// Batches of any size, with new and repeated cells, sum up as one cell after the other.
#[test]
fn cells_that_are_looked_up_first_are_counted_once() {
    let cells = cells(20_000);
    let expected = totals(&cells);
    for batch in [1, 2, 7, 1024, cells.len()] {
        let (mut table, mut places) = (Table::default(), Vec::new());
        cells.chunks(batch).for_each(|cells| table.add_all(cells, &mut places));
        assert_eq!(table.cells.len(), expected.len(), "{batch}");
        assert_eq!(totals(&table.cells), expected, "{batch}");
    }
    // If every cell that was not found first were new, most cells would be there twice.
    let (mut table, mut places) = (Table::default(), Vec::new());
    table.add_all(&cells, &mut places);
    assert!(places.iter().filter(|&&place| place == NEW).count() > 2 * expected.len());
}
