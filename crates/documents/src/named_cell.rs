//! Names in tables whose separators have spaces after them.

/// The name in a cell of a CSV file, below this head of its column. Spaces around names are part of
/// them, as in logs; but if the head has spaces before it, they belong to the separators.
pub fn named_cell<'a>(head: &str, cell: &'a str) -> &'a str {
    if head.starts_with(' ') { cell.trim_start_matches(' ') } else { cell }
}
