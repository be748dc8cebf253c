//! Numbers that JSON writes as `null`: NaN and infinity.

use serde::{Deserialize, Deserializer};

/// Reads a number; `null` is NaN. Bytes have NaN itself.
pub(super) fn nan<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    if from.is_human_readable() {
        Ok(Option::deserialize(from)?.unwrap_or(f64::NAN))
    } else {
        f64::deserialize(from)
    }
}

/// Reads a list of numbers; `null` is NaN.
pub(super) fn nans<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<f64>, D::Error> {
    let numbers: Vec<Option<f64>> = Vec::deserialize(from)?;
    Ok(numbers.into_iter().map(|number| number.unwrap_or(f64::NAN)).collect())
}

/// Reads an optional number; `null` is NaN.
pub(super) fn some_nan<'de, D: Deserializer<'de>>(from: D) -> Result<Option<f64>, D::Error> {
    nan(from).map(Some)
}

/// Reads the end of an interval; `null` is infinity.
pub(super) fn some_infinity<'de, D: Deserializer<'de>>(from: D) -> Result<Option<f64>, D::Error> {
    Ok(Some(Option::deserialize(from)?.unwrap_or(f64::INFINITY)))
}
