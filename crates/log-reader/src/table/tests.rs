//! Tables that grow.

use super::*;
use crate::fields::MAX_COUNT;

type Totals = BTreeMap<(u64, u64, u8), [u64; 2]>;

/// Adds, and saturates at the largest count.
fn add(totals: &mut Totals, key: (u64, u64, u8), more: [u64; 2]) {
    let sums = totals.entry(key).or_default();
    sums.iter_mut().zip(more).for_each(|(sum, more)| *sum = MAX_COUNT.min(*sum + more.min(MAX_COUNT)));
}

/// The cells of a table; each is there once.
fn totals(mut table: Table) -> Totals {
    let n_cells = table.n_cells;
    table.finish(&Renaming::default());
    let mut totals = Totals::new();
    for query in table.counts.queries() {
        for cell in query.cells() {
            let key = (query.id().0, cell.item.0, u8::try_from(cell.position).unwrap());
            assert!(totals.insert(key, [cell.clicks, cell.impressions]).is_none());
        }
    }
    assert_eq!(totals.len(), n_cells);
    totals
}

/// Lines of 40 queries and items at 4 positions, some of them with counts beyond those of a packed
/// cell, or near the largest.
fn lines(n: u64) -> Vec<LineCounts> {
    let line = |number: u64| {
        let bits = crate::names::mix(number, 5);
        let impressions = match bits % 50 {
            0 => MAX_COUNT - 3,
            1..5 => 1 << (10 + bits % 12),
            small => small,
        };
        LineCounts {
            query: Id(bits >> 32 & 0x1f),
            item: Id(bits >> 8 & 0x3f),
            clicks: impressions - impressions.min(bits >> 20 & 1),
            impressions: impressions.max(1),
            position: (bits >> 16 & 3) as u8,
        }
    };
    (0..n).map(line).collect()
}

/// Batches of any size, with new and repeated cells, sum up as one line after the other.
#[test]
fn cells_of_batches_are_those_of_lines() {
    let lines = lines(20_000);
    let mut expected = Totals::new();
    for line in &lines {
        add(&mut expected, (line.query.0, line.item.0, line.position), [line.clicks, line.impressions]);
    }
    for batch in [1, 2, 7, 1024, lines.len()] {
        let (mut table, mut places) = (Table::default(), Vec::new());
        for lines in lines.chunks(batch) {
            let (small, large): (Vec<_>, Vec<_>) =
                lines.iter().map(|line| PackedLine::of(line).ok_or(line)).partition(Result::is_ok);
            table.add_all(&small.into_iter().flatten().collect::<Vec<_>>(), &mut places);
            large.into_iter().filter_map(Result::err).for_each(|line| table.add(line));
        }
        assert_eq!(totals(table), expected, "{batch}");
    }
}
