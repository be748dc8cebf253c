//! The formats of tables.

use super::tables::{Cell, Table};
use anyhow::Result;
use std::io::Write;

/// Writes CSV. Numbers are the shortest decimals that read back as the same number.
pub(super) fn csv(table: &Table<'_>, output: &mut dyn Write) -> Result<()> {
    let mut writer = csv::Writer::from_writer(output);
    writer.write_record(table.columns())?;
    table.write(&mut |cells| {
        for cell in cells {
            match cell {
                Cell::Text(text) => writer.write_field(text)?,
                Cell::Count(count) => writer.write_field(count.to_string())?,
                Cell::Number(number) => writer.write_field(number.to_string())?,
                Cell::Flag(flag) => writer.write_field(flag.to_string())?,
                Cell::Missing => writer.write_field("")?,
            }
        }
        Ok(writer.write_record(None::<&[u8]>)?)
    })?;
    Ok(writer.flush()?)
}

/// Writes a JSON array with one object a row, one row a line.
pub(super) fn json(table: &Table<'_>, output: &mut dyn Write) -> Result<()> {
    let (names, mut begins) = (table.columns(), "[\n{");
    table.write(&mut |cells| {
        output.write_all(begins.as_bytes())?;
        begins = ",\n{";
        for (index, (name, cell)) in names.iter().zip(cells).enumerate() {
            write!(output, "{}\"{name}\":", if index > 0 { "," } else { "" })?;
            serde_json::to_writer(&mut *output, cell)?;
        }
        Ok(write!(output, "}}")?)
    })?;
    output.write_all(if begins.starts_with('[') { b"[\n]\n" } else { b"\n]\n" })?;
    Ok(output.flush()?)
}
