//! Parquet with Snappy. Every column is optional: text is a UTF-8 string, counts are INT64, numbers DOUBLE.

use super::Sink;
use crate::export::tables::{Cell, Column, Kind};
use anyhow::{Context as _, Result};
use parquet::basic::Compression;
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use std::io::Write;
use std::sync::Arc;

/// Rows of a row group: what is in memory at once.
const ROWS: usize = 1 << 17;

/// A table as Parquet.
pub(super) struct Parquet<W: Write + Send> {
    writer: SerializedFileWriter<W>,
    columns: Vec<Gathered>,
    n_rows: usize,
}

/// The values of a column in the current row group, and for every row whether it has one (1) or not (0).
struct Gathered {
    values: Values,
    levels: Vec<i16>,
}

enum Values {
    Text(Vec<ByteArray>),
    Count(Vec<i64>),
    Number(Vec<f64>),
    Flag(Vec<bool>),
}

impl<W: Write + Send> Parquet<W> {
    pub(super) fn open(output: W, columns: &[Column]) -> Result<Self> {
        let field = |(name, kind): &Column| match kind {
            Kind::Text => format!("optional binary {name} (STRING);"),
            Kind::Count => format!("optional int64 {name};"),
            Kind::Number => format!("optional double {name};"),
            Kind::Flag => format!("optional boolean {name};"),
        };
        let schema = format!("message table {{ {} }}", columns.iter().map(field).collect::<String>());
        let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
        let schema = Arc::new(parse_message_type(&schema)?);
        let gathered = |(_, kind): &Column| Gathered {
            levels: Vec::new(),
            values: match kind {
                Kind::Text => Values::Text(Vec::new()),
                Kind::Count => Values::Count(Vec::new()),
                Kind::Number => Values::Number(Vec::new()),
                Kind::Flag => Values::Flag(Vec::new()),
            },
        };
        let writer = SerializedFileWriter::new(output, schema, Arc::new(properties))?;
        Ok(Self { writer, columns: columns.iter().map(gathered).collect(), n_rows: 0 })
    }

    /// Writes the rows that were gathered.
    fn write_group(&mut self) -> Result<()> {
        let mut group = self.writer.next_row_group()?;
        for Gathered { values, levels } in &mut self.columns {
            let mut column = group.next_column()?.context("the schema has fewer columns than a row")?;
            let levels = std::mem::take(levels);
            match (column.untyped(), values) {
                (ColumnWriter::ByteArrayColumnWriter(writer), Values::Text(values)) => {
                    writer.write_batch(&std::mem::take(values), Some(&levels), None)?;
                }
                (ColumnWriter::Int64ColumnWriter(writer), Values::Count(values)) => {
                    writer.write_batch(&std::mem::take(values), Some(&levels), None)?;
                }
                (ColumnWriter::DoubleColumnWriter(writer), Values::Number(values)) => {
                    writer.write_batch(&std::mem::take(values), Some(&levels), None)?;
                }
                (ColumnWriter::BoolColumnWriter(writer), Values::Flag(values)) => {
                    writer.write_batch(&std::mem::take(values), Some(&levels), None)?;
                }
                _ => anyhow::bail!("a column has another type than its schema"),
            }
            column.close()?;
        }
        group.close()?;
        self.n_rows = 0;
        Ok(())
    }
}

impl<W: Write + Send> Sink for Parquet<W> {
    fn row(&mut self, cells: &[Cell<'_>]) -> Result<()> {
        for (Gathered { values, levels }, cell) in self.columns.iter_mut().zip(cells) {
            match (values, cell) {
                (_, Cell::Missing) => {
                    levels.push(0);
                    continue;
                }
                (Values::Text(values), Cell::Text(text)) => values.push(ByteArray::from(*text)),
                (Values::Count(values), Cell::Count(count)) => {
                    values.push(i64::try_from(*count).context("a count does not fit into 63 bits")?);
                }
                (Values::Number(values), Cell::Number(number)) => values.push(*number),
                (Values::Flag(values), Cell::Flag(flag)) => values.push(*flag),
                _ => anyhow::bail!("a cell has another type than its column"),
            }
            levels.push(1);
        }
        self.n_rows += 1;
        if self.n_rows == ROWS { self.write_group() } else { Ok(()) }
    }

    fn end(mut self: Box<Self>) -> Result<()> {
        if self.n_rows > 0 {
            self.write_group()?;
        }
        self.writer.close()?;
        Ok(())
    }
}
