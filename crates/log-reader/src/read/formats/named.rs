//! Tables whose columns the user names: delimited, or Parquet.

use super::Format;
use super::parquet::not_built;
use crate::columns::Columns;
use crate::error::{Error, ErrorKind};
use std::fs::{self, File};
use std::io::Read as _;
use std::path::Path;

impl Format {
    /// Any table with a header, whose columns are named as for [`Columns::parse`]. With
    /// `session=..`, the order of clicks is known; all lists are in memory until the log is read.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Settings`] if the names cannot be read.
    pub fn delimited(columns: &str) -> Result<Self, Error> {
        Ok(Self::Delimited(Columns::parse(columns)?))
    }

    /// The table that [`Counts::write_csv`](crate::Counts::write_csv) writes.
    pub fn counts() -> Self {
        Self::Delimited(Columns::counts())
    }

    /// The same table in files, all Parquet, by their first bytes or names, or all delimited.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Settings`] for files of both kinds, and as [`parquet_of`](Self::parquet_of).
    pub fn counts_of<P: AsRef<Path>>(files: &[P]) -> Result<Self, Error> {
        match files.iter().filter(|path| is_parquet(path.as_ref())).count() {
            0 => Ok(Self::counts()),
            all if all == files.len() => Self::parquet_of(Columns::counts()),
            _ => {
                let message = "some of the files are Parquet and some are not: expected files of one kind";
                Err(Error::of(ErrorKind::Settings, "counts", message))
            }
        }
    }

    /// A Parquet table; columns are named as for [`delimited`](Self::delimited).
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Settings`] if the names cannot be read, and without the feature `parquet`.
    pub fn parquet(columns: &str) -> Result<Self, Error> {
        Self::parquet_of(Columns::parse(columns)?)
    }

    /// A Parquet table with these columns.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Settings`] without the feature `parquet`.
    pub fn parquet_of(columns: Columns) -> Result<Self, Error> {
        if cfg!(feature = "parquet") { Ok(Self::Parquet(columns)) } else { Err(not_built()) }
    }
}

/// Returns whether a file is Parquet, by its first bytes or its name.
pub fn is_parquet(path: &Path) -> bool {
    let mut beginning = [0; 4];
    // A pipe can be read only once, so its bytes are not checked.
    let is_file = fs::metadata(path).is_ok_and(|metadata| metadata.is_file());
    let of_content = is_file
        && File::open(path).and_then(|mut file| file.read_exact(&mut beginning)).is_ok()
        && beginning == *b"PAR1";
    of_content || path.extension().is_some_and(|end| end.eq_ignore_ascii_case("parquet"))
}
