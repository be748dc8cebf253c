//! Reads the counts of an experiment: runs, instances, policies, rows, columns and items.

use documents::toml_reader::{Error, Field, Table, all};
use sim::Assignment;
use std::ops::RangeInclusive;

/// Valid numbers of runs: a run has a 32-bit number.
pub const RUNS: RangeInclusive<u64> = 1..=u32::MAX as u64;

/// The expected value of `instances` and `policies`, for messages.
pub(crate) const TABLES: &str = "at least one table, written with double brackets";

/// The tables of `[[key]]`, at least one, such as `example`.
pub(crate) fn read_tables<'doc>(field: &Field<'doc>, example: &str) -> Result<Vec<Table<'doc>>, Error> {
    if !field.is_array() {
        return Err(field.error(format!("{} found: expected {TABLES}", field.describe())));
    }
    if let Some(other) = field.get::<Vec<Field<'doc>>>()?.iter().find(|element| !element.is_table()) {
        return Err(other.error(format!("{} found: expected a table, such as {example}", other.describe())));
    }
    let tables: Vec<Table<'doc>> = field.get()?;
    if tables.is_empty() { Err(field.error(format!("none given: expected {TABLES}"))) } else { Ok(tables) }
}

/// The largest size that may stand for a list: about the longest list that fits into a file.
pub(crate) const LONGEST_LIST: u64 = 1 << 24;

/// Reads a number of rows, columns or items that are not listed one by one.
pub(crate) fn read_size(table: &Table<'_>, key: &str) -> Result<usize, Error> {
    let size = table.required::<Field<'_>>(key)?.integer_in(&(1..=LONGEST_LIST))?;
    Ok(usize::try_from(size).unwrap_or(usize::MAX))
}

/// The order of the instances in blocks of runs: drawn, or in turn for `{ per-instance = n }`.
pub(crate) fn assignment_of(runs: &Field<'_>) -> Assignment {
    if runs.is_table() { Assignment::InTurn } else { Assignment::Drawn }
}

/// Reads the number of runs: the total, or `{ per-instance = n }`.
pub(crate) fn read_runs(field: &Field<'_>) -> Result<(u64, Assignment), Error> {
    if !field.is_table() {
        return Ok((field.integer_in(&RUNS)?, assignment_of(field)));
    }
    let table: Table<'_> = field.get()?;
    let each = table
        .field("per-instance")
        .ok_or_else(|| table.missing("per-instance", "the number of runs of each instance"));
    let (each, ()) = all((each.and_then(|each| each.integer_in(&RUNS)), table.finish()))?;
    Ok((each, assignment_of(field)))
}
