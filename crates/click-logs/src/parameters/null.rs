//! Numbers that JSON has no name for: it has `null` in their place.

use serde::{Deserialize, Deserializer};

/// A number, or one that is not known.
pub(super) fn nan<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or(f64::NAN))
}

/// The same in a list.
pub(super) fn nans<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<f64>, D::Error> {
    let numbers: Vec<Option<f64>> = Vec::deserialize(from)?;
    Ok(numbers.into_iter().map(|number| number.unwrap_or(f64::NAN)).collect())
}

/// The same where the field may be left out.
pub(super) fn some_nan<'de, D: Deserializer<'de>>(from: D) -> Result<Option<f64>, D::Error> {
    nan(from).map(Some)
}

/// The end of an interval that has none.
pub(super) fn some_infinity<'de, D: Deserializer<'de>>(from: D) -> Result<Option<f64>, D::Error> {
    Ok(Some(Option::deserialize(from)?.unwrap_or(f64::INFINITY)))
}
