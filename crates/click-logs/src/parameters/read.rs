//! Reads a file of parameters, and trusts none of it.

use super::check::check;
use super::with_table::WithTable;
use super::{Parameters, SCHEMA, WITH_TABLE};
use serde::Deserialize;
use std::path::Path;

/// Why a file of parameters could not be read: the file, and the fault.
#[derive(Debug, thiserror::Error)]
#[error("{file}{kind}")]
pub struct ReadError {
    file: String,
    #[source]
    kind: ReadErrorKind,
}

/// A fault of a file of parameters.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadErrorKind {
    /// The file could not be read.
    #[error(": {0}")]
    Read(std::io::Error),
    /// Not JSON, truncated, or with other fields than those of parameters: missing, unknown, repeated, or of another type.
    #[error(":{line}:{column}: {message}")]
    Json {
        /// 1-based line.
        line: usize,
        /// 1-based column, where the reader stopped.
        column: usize,
        /// Description of the fault.
        message: String,
    },
    /// A file of another version.
    #[error(
        ": schema: {found}, expected {SCHEMA} or {WITH_TABLE}: the file is of another version of this program"
    )]
    Version {
        /// The file's version.
        found: u64,
    },
    /// A field with an invalid value.
    #[error(": {field}: {message}")]
    Field {
        /// The field, as in `$.models[0].queries[2].typical`.
        field: String,
        /// Description of the fault.
        message: String,
    },
}

impl ReadError {
    /// The fault.
    pub fn kind(&self) -> &ReadErrorKind {
        &self.kind
    }

    /// The name of the file, as given.
    pub fn file(&self) -> &str {
        &self.file
    }
}

/// The version, which is read first: only a file of the same version has the same fields.
#[derive(Deserialize)]
struct Version {
    schema: u64,
}

impl Parameters {
    /// Reads a file. If it names a table, the result has [`table`](Self::table) and no queries; the table is not read.
    ///
    /// # Errors
    ///
    /// [`ReadErrorKind::Read`], and the errors of [`from_json`](Self::from_json).
    pub fn read(path: &Path) -> Result<Self, ReadError> {
        let name = path.display().to_string();
        // A pipe may wait forever, and a device may never end.
        let is_pipe = path.metadata().is_ok_and(|found| !found.is_file() && !found.is_dir());
        let refused = || std::io::Error::other("is not a regular file: write the content to one first");
        match if is_pipe { Err(refused()) } else { std::fs::read(path) } {
            Ok(json) => Self::from_json(&name, &json),
            Err(error) => Err(ReadError { file: name, kind: ReadErrorKind::Read(error) }),
        }
    }

    /// Reads the content of a file; errors call it `name`.
    ///
    /// # Errors
    ///
    /// [`ReadErrorKind::Json`], [`ReadErrorKind::Version`], [`ReadErrorKind::Field`].
    pub fn from_json(name: &str, json: &[u8]) -> Result<Self, ReadError> {
        parse(json).map_err(|kind| ReadError { file: name.to_owned(), kind })
    }
}

fn parse(json: &[u8]) -> Result<Parameters, ReadErrorKind> {
    let Version { schema } = from_slice(json)?;
    let parameters = match schema {
        SCHEMA => from_slice(json)?,
        WITH_TABLE => from_slice::<WithTable>(json)?.into(),
        _ => return Err(ReadErrorKind::Version { found: schema }),
    };
    check(&parameters).map_err(|(field, message)| ReadErrorKind::Field { field, message })?;
    Ok(parameters)
}

fn from_slice<'a, T: Deserialize<'a>>(json: &'a [u8]) -> Result<T, ReadErrorKind> {
    serde_json::from_slice(json).map_err(|error| {
        let (line, column, message) = (error.line(), error.column(), error.to_string());
        let place = format!(" at line {line} column {column}");
        let message = message.strip_suffix(&place).unwrap_or(&message).to_owned();
        ReadErrorKind::Json { line, column, message }
    })
}
