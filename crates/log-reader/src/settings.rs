//! Options of every command that reads a log.

use crate::{Error, ErrorKind, Format, Reader, formats};
#[cfg(feature = "clap")]
use documents::toml_reader::option;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::num::NonZeroUsize;

/// How a log is read, whatever its format.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
#[serde(default)]
pub struct ReadSettings {
    /// Number of the first position, 0 or 1, in logs with --columns and in counts
    #[cfg_attr(feature = "clap", arg(long, value_name = "P", default_value_t = Self::default().first_position,
        value_parser = option::<Self, u8>("first_position")))]
    #[schemars(range(max = 1))]
    pub first_position: u8,
    /// Maximal share of lines, of impressions and of clicks that may be skipped [default: 0.01]
    #[cfg_attr(feature = "clap", arg(long, value_name = "SHARE", requires = "lenient", value_parser = option::<Self, f64>("max_skipped")))]
    #[schemars(range(min = 0, max = 1))]
    pub max_skipped: Option<f64>,
    /// Number of threads that read the log; fits use one per core [default: one per core]
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", value_parser = option::<Self, u16>("threads")))]
    #[schemars(range(min = 1, max = 1024))]
    pub threads: Option<u16>,
}

impl Default for ReadSettings {
    fn default() -> Self {
        Self { first_position: 1, max_skipped: None, threads: None }
    }
}

impl ReadSettings {
    /// A reader of a log in this format. It is lenient if a share may be skipped.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Settings`] for an option that the format does not have, which it names.
    pub fn reader(&self, format: Format) -> Result<Reader, Error> {
        let is_from_zero = self.first_position == 0;
        if is_from_zero && !format.row().names_columns() {
            let with_columns = formats::names(formats::FormatRow::names_columns).join(" and ");
            let message = format!(
                "only for format {with_columns}, and for counts; the other formats define the first position"
            );
            return Err(Error::of(ErrorKind::Settings, "first_position", message));
        }
        let mut reader = Reader::new(format);
        if let Some(threads) = self.threads.and_then(|threads| NonZeroUsize::new(threads.into())) {
            reader = reader.threads(threads);
        }
        if let Some(share) = self.max_skipped {
            reader = reader.lenient(share)?;
        }
        Ok(if is_from_zero { reader.positions_from_zero() } else { reader })
    }
}
