//! The formats of tables.

use super::tables::{Cell, Each};
use anyhow::Result;
use std::io::Write;

/// Gives every row of a table.
type Rows<'a> = dyn Fn(&mut Each<'_>) -> Result<()> + 'a;

fn cell<'a>(column: &str, row: &[(&str, Cell<'a>)]) -> Cell<'a> {
    row.iter().find(|(name, _)| *name == column).map_or(Cell::Missing, |(_, cell)| *cell)
}

/// Writes CSV. Numbers are the shortest decimals that read back as the same number.
pub(super) fn csv(columns: &[&str], rows: &Rows<'_>, output: &mut dyn Write) -> Result<()> {
    let mut writer = csv::Writer::from_writer(output);
    writer.write_record(columns)?;
    rows(&mut |row| {
        let text = |column: &&str| match cell(column, row) {
            Cell::Text(text) => text.to_owned(),
            Cell::Count(count) => count.to_string(),
            Cell::Number(number) => number.to_string(),
            Cell::Flag(flag) => flag.to_string(),
            Cell::Missing => String::new(),
        };
        Ok(writer.write_record(columns.iter().map(text))?)
    })?;
    Ok(writer.flush()?)
}

/// Writes a JSON array with one object a row, one row a line.
pub(super) fn json(columns: &[&str], rows: &Rows<'_>, output: &mut dyn Write) -> Result<()> {
    let mut begins = "[\n{";
    rows(&mut |row| {
        output.write_all(begins.as_bytes())?;
        begins = ",\n{";
        for (index, column) in columns.iter().enumerate() {
            write!(output, "{}\"{column}\":", if index > 0 { "," } else { "" })?;
            serde_json::to_writer(&mut *output, &cell(column, row))?;
        }
        Ok(write!(output, "}}")?)
    })?;
    output.write_all(if begins.starts_with('[') { b"[\n]\n" } else { b"\n]\n" })?;
    Ok(output.flush()?)
}
