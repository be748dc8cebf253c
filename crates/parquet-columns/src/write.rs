//! A table of texts, whole numbers and floating-point numbers, written as Parquet.

use parquet::basic::Compression;
use parquet::column::writer::{ColumnWriter, ColumnWriterImpl};
use parquet::data_type::{ByteArray, DataType};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use std::fmt;
use std::io::Write;
use std::sync::Arc;

/// A column, and for every row whether it has a value (1) or not (0).
#[derive(Debug, Clone)]
pub struct Column<T> {
    values: Vec<T>,
    levels: Vec<i16>,
}

impl<T> Default for Column<T> {
    fn default() -> Self {
        Self { values: Vec::new(), levels: Vec::new() }
    }
}

impl<T> Column<T> {
    /// Adds a row.
    pub fn push(&mut self, value: Option<T>) {
        self.levels.push(value.is_some().into());
        self.values.extend(value);
    }

    /// The number of rows.
    pub fn n_rows(&self) -> usize {
        self.levels.len()
    }
}

/// Writes a table, compressed with Snappy. The same columns give the same bytes.
pub struct TableWriter<'a>(SerializedFileWriter<&'a mut (dyn Write + Send)>);

impl fmt::Debug for TableWriter<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TableWriter").finish_non_exhaustive()
    }
}

impl<'a> TableWriter<'a> {
    /// A table with this schema. The file names the program without a date or a build.
    ///
    /// # Errors
    ///
    /// Errors of `out`; the text is no schema.
    pub fn new(
        out: &'a mut (dyn Write + Send),
        schema: &str,
        created_by: &str,
    ) -> Result<Self, ParquetError> {
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_created_by(created_by.to_owned())
            .build();
        let schema = Arc::new(parse_message_type(schema)?);
        Ok(Self(SerializedFileWriter::new(out, schema, Arc::new(properties))?))
    }

    /// Writes rows as a row group: columns by their type, in the order of the schema.
    ///
    /// # Errors
    ///
    /// Errors of `out`; the schema has other columns.
    pub fn write(
        &mut self,
        texts: &[Column<ByteArray>],
        wholes: &[Column<i64>],
        numbers: &[Column<f64>],
    ) -> Result<(), ParquetError> {
        let mut group = self.0.next_row_group()?;
        let (mut texts, mut wholes, mut numbers) = (texts.iter(), wholes.iter(), numbers.iter());
        while let Some(mut out) = group.next_column()? {
            match out.untyped() {
                ColumnWriter::ByteArrayColumnWriter(out) => write_column(out, texts.next())?,
                ColumnWriter::Int64ColumnWriter(out) => write_column(out, wholes.next())?,
                ColumnWriter::DoubleColumnWriter(out) => write_column(out, numbers.next())?,
                _ => return Err(other_schema()),
            }
            out.close()?;
        }
        group.close()?;
        Ok(())
    }

    /// Writes the end of the file.
    ///
    /// # Errors
    ///
    /// Errors of `out`.
    pub fn close(self) -> Result<(), ParquetError> {
        self.0.close().map(drop)
    }
}

fn write_column<T: DataType>(
    out: &mut ColumnWriterImpl<'_, T>,
    column: Option<&Column<T::T>>,
) -> Result<(), ParquetError> {
    let column = column.ok_or_else(other_schema)?;
    let levels = (out.get_descriptor().max_def_level() > 0).then_some(&column.levels[..]);
    out.write_batch(&column.values, levels, None)?;
    Ok(())
}

fn other_schema() -> ParquetError {
    ParquetError::General("a column has another type than in the schema".to_owned())
}
