//! Rows of a ranking, wherever they stand, as lists; and what they must fulfil.

use super::{Key, NewList, Ranking, RankingError};

/// A list of a log has at most this many positions; items of a ranking below are left out.
const MAX_POSITIONS: usize = 64;
/// Probabilities of a query sum to 1 within this.
pub(crate) const TOLERANCE: f64 = 1e-6;
/// Letters of a name in a message.
const LETTERS: usize = 60;

/// A row of a ranking.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Row<'a> {
    /// The query, or the session.
    pub query: &'a str,
    /// The list, if a query has several.
    pub list: &'a str,
    /// The probability of the list; 1 if a query has one.
    pub probability: f64,
    /// From 1.
    pub position: u64,
    /// The item.
    pub item: &'a str,
}

/// The 1-based columns of query, probability, position and item, with their names.
pub(super) type Columns = [(usize, &'static str); 4];

/// Columns of rows in memory.
pub(super) const COLUMNS: Columns = [(1, "query"), (3, "probability"), (4, "position"), (5, "item")];

/// The ranking of numbered rows.
pub(super) fn ranking(
    key: Key,
    mut rows: Vec<(u64, Row<'_>)>,
    columns: &Columns,
) -> Result<Ranking, RankingError> {
    let at = |line, column: usize, message| RankingError {
        column: Some(columns[column]),
        ..RankingError::of(line, message)
    };
    for (line, row) in &rows {
        let empty = [(0, row.query), (3, row.item)].into_iter().find(|(_, name)| name.is_empty());
        if let Some((column, _)) = empty {
            return Err(at(*line, column, "expected a name, found none".to_owned()));
        }
        if row.position == 0 {
            return Err(at(*line, 2, "expected a position from 1, found `0`".to_owned()));
        }
        if !(row.probability > 0.0 && row.probability <= 1.0) {
            let expected = "expected a probability above 0, at most 1";
            return Err(at(*line, 1, format!("{expected}, found `{}`", row.probability)));
        }
    }
    if rows.is_empty() {
        return Err(RankingError::of(0, "the ranking has no rows"));
    }
    rows.sort_by_key(|(line, row)| (row.query, row.list, row.position, *line));
    let mut lists = Vec::new();
    for query in rows.chunk_by(|(_, a), (_, b)| a.query == b.query) {
        let (first, name) = (query[0].0, short(query[0].1.query));
        let (mut sum, mut len) = (0.0, 0);
        for list in query.chunk_by(|(_, a), (_, b)| a.list == b.list) {
            let probability = list[0].1.probability;
            let mut items: Vec<String> = Vec::with_capacity(list.len());
            for (position, (line, row)) in (1..).zip(list) {
                if row.probability != probability {
                    let found = row.probability;
                    let expected =
                        format!("expected {probability}, as elsewhere in the same list, found `{found}`");
                    return Err(at(*line, 1, expected));
                }
                if row.position != position {
                    let found = row.position;
                    let twice = found < position;
                    let gap = format!("expected position {position} of `{name}`, found `{found}`");
                    let message =
                        if twice { format!("position {found} of `{name}` twice in a list") } else { gap };
                    return Err(at(*line, 2, message));
                }
                if items.iter().any(|item| item == row.item) {
                    let item = short(row.item);
                    return Err(at(*line, 3, format!("item `{item}` twice in a list of `{name}`")));
                }
                items.push(row.item.to_owned());
            }
            items.truncate(MAX_POSITIONS);
            if ![0, items.len()].contains(&len) {
                let message = format!(
                    "the lists of `{name}` have {len} and {} positions: expected as many in each",
                    items.len()
                );
                return Err(RankingError::of(list[0].0, message));
            }
            (sum, len) = (sum + probability, items.len());
            lists.push(NewList { name: list[0].1.query.to_owned(), probability, items });
        }
        if (sum - 1.0_f64).abs() > TOLERANCE {
            let message = format!("the probabilities of the lists of `{name}` sum to {sum}: expected 1");
            return Err(at(first, 1, message));
        }
    }
    Ok(Ranking { key, lists })
}

/// A name in a message.
fn short(name: &str) -> String {
    let visible: String = name.chars().take(LETTERS).collect();
    let more = if visible.len() < name.len() { "…" } else { "" };
    format!("{}{more}", visible.escape_debug())
}
