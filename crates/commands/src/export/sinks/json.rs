//! JSON: an array with one object a row, one row a line.

use super::Sink;
use crate::export::tables::{Cell, Column};
use anyhow::Result;
use std::io::Write;

/// A table as JSON.
pub(super) struct Json<W: Write> {
    output: W,
    names: Vec<&'static str>,
    has_rows: bool,
}

impl<W: Write> Json<W> {
    pub(super) fn open(mut output: W, columns: &[Column]) -> Result<Self> {
        write!(output, "[")?;
        Ok(Self { output, names: columns.iter().map(|(name, _)| *name).collect(), has_rows: false })
    }
}

impl<W: Write> Sink for Json<W> {
    fn row(&mut self, cells: &[Cell<'_>]) -> Result<()> {
        let output = &mut self.output;
        write!(output, "{}", if self.has_rows { ",\n{" } else { "\n{" })?;
        self.has_rows = true;
        for (index, (name, cell)) in self.names.iter().zip(cells).enumerate() {
            write!(output, "{}\"{name}\":", if index > 0 { "," } else { "" })?;
            match cell {
                Cell::Text(text) => serde_json::to_writer(&mut *output, text)?,
                Cell::Count(count) => serde_json::to_writer(&mut *output, count)?,
                Cell::Number(number) => serde_json::to_writer(&mut *output, number)?,
                Cell::Flag(flag) => serde_json::to_writer(&mut *output, flag)?,
                Cell::Missing => write!(output, "null")?,
            }
        }
        Ok(write!(output, "}}")?)
    }

    fn end(mut self: Box<Self>) -> Result<()> {
        writeln!(self.output, "\n]")?;
        Ok(self.output.flush()?)
    }
}
