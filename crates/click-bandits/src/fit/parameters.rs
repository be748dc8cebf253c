//! How the parameters are written: all to `parameters.json` and `parameters.csv`; or, if they are
//! large, to `parameters.parquet`, and those of all queries together to `parameters.json`.

use super::{PARAMETERS_CSV, PARAMETERS_PARQUET, tables};
use anyhow::{Result, bail};
use clap::ValueEnum;
use click_logs::fit::Options;
use click_logs::parameters::{write, write_with_table};
use click_logs::study::Study;
use std::io::{self, Write};

/// The most bytes of `parameters.json` with the parameters of queries, if no form is asked for.
const MOST_OF_JSON: usize = 20_000_000;

/// A form of the parameters, by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Form {
    /// All in parameters.json, and in parameters.csv
    Json,
    /// All in parameters.parquet; parameters.json has what belongs to all queries together
    Parquet,
}

impl Form {
    /// Refuses a form that this program cannot write.
    pub(super) fn check(asked: Option<Self>) -> Result<()> {
        if asked == Some(Self::Parquet) && cfg!(not(feature = "parquet")) {
            bail!(
                "--parameters parquet: this program was built without Parquet: build it with the feature `parquet`, or choose json"
            );
        }
        Ok(())
    }
}

#[derive(Debug)]
pub(super) struct Parameters {
    /// Rows of the Parquet table, of all models together; `None` if there is no such table.
    pub(super) in_table: Option<u64>,
    /// `parameters.json`.
    pub(super) json: Vec<u8>,
    /// Name and content of the table: `parameters.csv` or `parameters.parquet`.
    pub(super) table: (&'static str, Vec<u8>),
}

impl Parameters {
    /// Chooses the form, and writes to memory.
    pub(super) fn new(asked: Option<Form>, study: &Study, options: &Options) -> Result<Self> {
        let most = match asked {
            None if cfg!(feature = "parquet") => MOST_OF_JSON,
            None | Some(Form::Json) => usize::MAX,
            Some(Form::Parquet) => 0,
        };
        let Study { log, fits, .. } = study;
        let mut json = AtMost { bytes: Vec::new(), most };
        match write(log, fits, options, &|_| true, &mut json) {
            Ok(()) => {
                let table = tables::parameters(&log.counts, fits)?;
                Ok(Self { in_table: None, json: json.bytes, table: (PARAMETERS_CSV, table) })
            }
            Err(error) if error.is_io() => {
                let (n, table) = as_parquet(study)?;
                let mut json = Vec::new();
                write_with_table(PARAMETERS_PARQUET, log, fits, options, &mut json)?;
                Ok(Self { in_table: Some(n), json, table: (PARAMETERS_PARQUET, table) })
            }
            Err(error) => Err(error.into()),
        }
    }
}

/// Takes a number of bytes, and fails beyond.
struct AtMost {
    bytes: Vec<u8>,
    most: usize,
}

impl Write for AtMost {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.bytes.len() + bytes.len() > self.most {
            self.bytes = Vec::new();
            self.most = 0;
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.bytes.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The number of rows of the table, and its content.
#[cfg(feature = "parquet")]
fn as_parquet(study: &Study) -> Result<(u64, Vec<u8>)> {
    let mut table = Vec::new();
    Ok((click_logs::parameters::write_table(&study.log.counts, &study.fits, &mut table)?, table))
}

#[cfg(not(feature = "parquet"))]
fn as_parquet(_: &Study) -> Result<(u64, Vec<u8>)> {
    bail!("this program was built without Parquet")
}
