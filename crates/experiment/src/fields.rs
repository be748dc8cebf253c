//! Fields of an experiment that say how many.

use crate::toml_reader::{Error, Field, Table};
use sim::Assignment;
use std::ops::RangeInclusive;

/// Numbers of runs: what can be numbered with 32 bits.
pub const RUNS: RangeInclusive<u64> = 1..=u32::MAX as u64;

/// What `instances` and `policies` have to be.
pub(crate) const TABLES: &str = "at least one table, written with double brackets";

/// The tables of `[[key]]`, at least one.
pub(crate) fn read_tables<'doc>(field: &Field<'doc>) -> Result<Vec<Table<'doc>>, Error> {
    if !field.is_array() {
        return Err(field.error(format!("{} found: expected {TABLES}", field.describe())));
    }
    let tables: Vec<Table<'doc>> = field.get()?;
    if tables.is_empty() { Err(field.error(format!("none given: expected {TABLES}"))) } else { Ok(tables) }
}

/// The longest list that is said by its length: about what the largest file could write out.
const LONGEST_LIST: u64 = 1 << 24;

/// How many rows, columns or items there are, where they are not listed.
pub(crate) fn read_size(table: &Table<'_>, key: &str) -> Result<usize, Error> {
    let size = table.required::<Field<'_>>(key)?.integer_in(&(1..=LONGEST_LIST))?;
    Ok(usize::try_from(size).unwrap_or(usize::MAX))
}

/// Whether runs are counted in all or `{ per-instance = n }`.
pub(crate) fn assignment_of(runs: &Field<'_>) -> Assignment {
    if runs.is_table() { Assignment::InTurn } else { Assignment::Drawn }
}

/// How many runs, in all or `{ per-instance = n }`.
pub(crate) fn read_runs(field: &Field<'_>) -> Result<(u64, Assignment), Error> {
    if !field.is_table() {
        return Ok((field.integer_in(&RUNS)?, assignment_of(field)));
    }
    let table: Table<'_> = field.get()?;
    let each = table
        .field("per-instance")
        .ok_or_else(|| table.missing("per-instance", "the number of runs of each instance"))?;
    table.finish()?;
    Ok((each.integer_in(&RUNS)?, assignment_of(field)))
}
