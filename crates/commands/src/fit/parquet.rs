//! Logs in Parquet, which a build may do without.

use anyhow::Result;
use click_logs::Format;

/// Parquet with these columns.
///
/// # Errors
///
/// Columns that make no table; a build without Parquet.
#[cfg(feature = "parquet")]
pub(super) fn format(columns: &str) -> Result<Format> {
    Format::parquet(columns).map_err(|error| anyhow::anyhow!("--{error}"))
}

#[cfg(not(feature = "parquet"))]
pub(super) fn format(_: &str) -> Result<Format> {
    anyhow::bail!("this click-bandits was built without Parquet: build it with its default features")
}

/// Whether the format is Parquet.
#[cfg(feature = "parquet")]
pub(super) fn is(format: &Format) -> bool {
    matches!(format, Format::Parquet(_))
}

#[cfg(not(feature = "parquet"))]
pub(super) fn is(_: &Format) -> bool {
    false
}
