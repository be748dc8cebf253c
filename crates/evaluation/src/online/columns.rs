//! The columns of a test.

use super::{Kind, Settings};
use log_reader::RowColumn;

pub(super) const USER: usize = 0;
/// The team or the arm.
pub(super) const NAME: usize = 1;
/// The clicks of a session, or the position of a click.
pub(super) const THIRD: usize = 2;
pub(super) const TIME: usize = 3;
pub(super) const LIST: usize = 4;

/// The columns by place, and whether a table may lack them.
const INTERLEAVING: [(&str, bool); 5] =
    [("user", false), ("team", false), ("position", true), ("time", true), ("list", true)];
const AB: [(&str, bool); 4] = [("user", false), ("arm", false), ("clicks", false), ("time", true)];

/// The columns of a test, from `key=column,..`; a key that is not given is its column's name, and
/// `time=` leaves that column out.
///
/// # Errors
///
/// A message for an unknown or repeated key, or a key without a column.
pub fn row_columns<'a>(settings: &Settings, named: Option<&'a str>) -> Result<Vec<RowColumn<'a>>, String> {
    let known: &[(&'static str, bool)] = if settings.kind == Kind::Ab { &AB } else { &INTERLEAVING };
    let is_needed =
        |key: &str| key == "list" && settings.by_list || key == "position" && settings.depth.is_some();
    let mut columns: Vec<RowColumn<'a>> = known
        .iter()
        .map(|&(name, optional)| RowColumn {
            name,
            optional: (optional && !is_needed(name)) || (settings.before && name == "arm"),
        })
        .collect();
    let mut given = vec![false; known.len()];
    for pair in named.into_iter().flat_map(|named| named.split(',')) {
        let (key, name) = pair.split_once('=').ok_or_else(|| format!("`{pair}`: expected key=column"))?;
        let (key, name) = (key.trim(), name.trim());
        let Some(place) = known.iter().position(|known| known.0 == key) else {
            let keys: Vec<&str> = known.iter().map(|known| known.0).collect();
            return Err(format!("`{key}`: expected one of {}", keys.join(", ")));
        };
        if name.is_empty() && (!known[place].1 || is_needed(key)) {
            return Err(format!("`{key}=`: a column has a name"));
        }
        if std::mem::replace(&mut given[place], true) {
            return Err(format!("`{key}` is given twice"));
        }
        columns[place] = RowColumn { name, optional: false };
    }
    Ok(columns)
}
