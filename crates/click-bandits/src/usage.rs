//! What is wrong with a command line: numbers out of their range, and what only a command itself
//! can see. The exit status of both is that of the errors that the parser finds.

use anyhow::Error;
use experiment::{OverrideError, SpecError};
use std::ops::RangeInclusive;

pub(crate) const STATUS: u8 = 2;

/// An invalid command line that the parser has accepted.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Usage(pub(crate) String);

/// Whether an error is one of the command line.
pub(crate) fn is_at_fault(error: &Error) -> bool {
    error.is::<Usage>()
        || error.is::<OverrideError>()
        || matches!(error.downcast_ref(), Some(SpecError::Override(_)))
}

pub(crate) fn integer<T: TryFrom<u64>>(
    range: RangeInclusive<u64>,
) -> impl Fn(&str) -> Result<T, String> + Clone {
    move |text| {
        let value = text.parse().ok().filter(|value| range.contains(value));
        let value = value.and_then(|value| T::try_from(value).ok());
        value.ok_or_else(|| format!("expected an integer from {} to {}", range.start(), range.end()))
    }
}

pub(crate) fn threads(text: &str) -> Result<u16, String> {
    integer(1..=1024)(text)
}
