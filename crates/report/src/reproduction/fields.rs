//! Readers that several tables of an experiment share.

use documents::toml_reader::{Error, Table};

/// Reads the tables of `[[key]]`, at least one.
pub(super) fn tables<'doc>(table: &Table<'doc>, key: &str) -> Result<Vec<Table<'doc>>, Error> {
    let Some(field) = table.field(key) else {
        return Err(table.missing(key, &format!("at least one table, written [[{key}]]")));
    };
    let list: Vec<Table<'doc>> = field.get()?;
    if list.is_empty() {
        Err(field.error(format!("none given: expected at least one table, [[{key}]]")))
    } else {
        Ok(list)
    }
}
