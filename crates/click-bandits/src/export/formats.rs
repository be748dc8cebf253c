//! Tables as JSON.

use anyhow::{Error, Result};
use experiment::tables::{Rows, cell};
use std::io::Write;

/// Writes a JSON array with one object a row, one row a line.
pub(super) fn json(columns: &[&str], rows: &Rows<'_, Error>, output: &mut dyn Write) -> Result<()> {
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
