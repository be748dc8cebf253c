//! Lines of JSON as lines of a table: a column is a key, or keys with points between them.
//!
//! An array on the way makes a list. Behind two arrays, as in `pyClickModels`, each element of the
//! outer one is a row.

use crate::list_cells::TEXTS;
use serde_json::Value as Json;

/// The value at a path.
enum Found {
    One(Vec<u8>),
    List(Vec<Found>),
}

/// Returns whether there is something at the path.
pub(super) fn has(line: &Json, path: &str) -> bool {
    !matches!(found(line, path), Found::One(text) if text.is_empty())
}

/// The rows of a line: the text of each path. `of_items` is the place of the path of items.
pub(super) fn rows(line: &Json, paths: &[String], of_items: Option<usize>) -> Vec<Vec<Vec<u8>>> {
    let columns: Vec<Found> = paths.iter().map(|path| found(line, path)).collect();
    let n_rows = match of_items.map(|place| &columns[place]) {
        Some(Found::List(outer)) if matches!(outer.first(), Some(Found::List(_))) => Some(outer.len()),
        _ => None,
    };
    let of_row = |column: &Found, row: usize| match column {
        Found::List(outer) if Some(outer.len()) == n_rows => text(&outer[row]),
        whole => text(whole),
    };
    (0..n_rows.unwrap_or(1)).map(|row| columns.iter().map(|column| of_row(column, row)).collect()).collect()
}

fn found(value: &Json, path: &str) -> Found {
    match value {
        Json::Array(all) => Found::List(all.iter().map(|one| found(one, path)).collect()),
        Json::Object(keys) => {
            let (key, rest) = match path.split_once('.') {
                Some(parts) if !keys.contains_key(path) => parts,
                _ => (path, ""),
            };
            keys.get(key).map_or_else(|| Found::One(Vec::new()), |value| found(value, rest))
        }
        _ if !path.is_empty() => Found::One(Vec::new()),
        Json::Null => Found::One(Vec::new()),
        Json::String(text) => Found::One(text.clone().into_bytes()),
        other => Found::One(other.to_string().into_bytes()),
    }
}

fn text(found: &Found) -> Vec<u8> {
    match found {
        Found::One(text) => text.clone(),
        Found::List(all) => all.iter().flat_map(|one| [vec![TEXTS], text(one)].concat()).collect(),
    }
}
