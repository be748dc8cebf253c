//! CSV. Numbers are the shortest decimals that read back as the same number.

use super::Sink;
use crate::export::tables::{Cell, Column};
use anyhow::Result;
use std::io::Write;

/// A table as CSV.
pub(super) struct Csv<W: Write>(csv::Writer<W>);

impl<W: Write> Csv<W> {
    pub(super) fn open(output: W, columns: &[Column]) -> Result<Self> {
        let mut writer = csv::Writer::from_writer(output);
        writer.write_record(columns.iter().map(|(name, _)| name))?;
        Ok(Self(writer))
    }
}

impl<W: Write> Sink for Csv<W> {
    fn row(&mut self, cells: &[Cell<'_>]) -> Result<()> {
        for cell in cells {
            match cell {
                Cell::Text(text) => self.0.write_field(text)?,
                Cell::Count(count) => self.0.write_field(count.to_string())?,
                Cell::Number(number) => self.0.write_field(number.to_string())?,
                Cell::Flag(flag) => self.0.write_field(flag.to_string())?,
                Cell::Missing => self.0.write_field("")?,
            }
        }
        Ok(self.0.write_record(None::<&[u8]>)?)
    }

    fn end(mut self: Box<Self>) -> Result<()> {
        Ok(self.0.flush()?)
    }
}
