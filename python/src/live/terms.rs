//! Values of clicks, and pinned items, as arguments.

use crate::message::{type_error, value_error};
use crate::name::Name;
use crate::task::length;
use ::live::ItemValues;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The values of items by name.
pub(super) type Amounts = Vec<(Name, f64)>;

/// Reads a dict from items to what clicks on them are worth.
pub(super) fn amounts(given: &Bound<'_, PyAny>) -> PyResult<Amounts> {
    let dict =
        given.cast::<PyDict>().map_err(|_| type_error("values: expected a dict from items to numbers"))?;
    dict.iter().map(|(name, value)| Ok((Name::read("values", &name)?, value.extract()?))).collect()
}

/// Reads the values that items begin with, and where they come from.
pub(super) fn item_values(
    given: Option<&Bound<'_, PyAny>>,
    cap: Option<f64>,
) -> PyResult<(Option<Amounts>, ItemValues)> {
    match given {
        Some(given) if given.extract::<String>().is_ok_and(|text| text == "answers") => {
            Ok((None, ItemValues::Answers { cap }))
        }
        _ if cap.is_some() => Err(value_error("cap: values are not \"answers\"")),
        given => Ok((given.map(amounts).transpose()?, ItemValues::Told)),
    }
}

/// Reads a dict from positions to items.
pub(super) fn pins(given: &Bound<'_, PyAny>) -> PyResult<Vec<(usize, Name)>> {
    let dict =
        given.cast::<PyDict>().map_err(|_| type_error("pins: expected a dict from positions to items"))?;
    let pin = |(position, item): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
        Ok((length("pins", &position)?, Name::read("pins", &item)?))
    };
    dict.iter().map(pin).collect()
}
