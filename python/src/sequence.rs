//! Sequences of Python objects.

use crate::message::{type_error, value_error};
use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyDict, PyString};

/// Most elements of a sequence that is read one by one. A longer one, such as a `range`, would take
/// the memory of the process.
const MOST: usize = 1 << 28;

/// The elements of a sequence, or of an array along its first axis; `what` names in the plural what
/// was expected.
///
/// Room is made as elements arrive, since a length is only what an object claims. Exceptions of the
/// elements' own methods, such as an interrupt, go through.
pub(crate) fn elements<'py, T>(
    name: &str,
    what: &str,
    given: &Bound<'py, PyAny>,
    mut read: impl FnMut(usize, &Bound<'py, PyAny>) -> PyResult<T>,
) -> PyResult<Vec<T>> {
    let py = given.py();
    let is_other = given.is_instance_of::<PyString>()
        || given.is_instance_of::<PyBytes>()
        || given.is_instance_of::<PyByteArray>()
        || given.is_instance_of::<PyDict>();
    if is_other || !given.hasattr("__getitem__")? {
        let found = given.get_type();
        return Err(type_error(format!("{name}: expected a sequence of {what}, got {found}")));
    }
    let wrong = |error: PyErr| {
        if error.is_instance_of::<PyTypeError>(py) {
            type_error(format!("{name}: expected a sequence of {what}: {}", error.value(py)))
        } else {
            error
        }
    };
    let too_long = || value_error(format!("{name}: expected at most {MOST} {what}"));
    match given.len() {
        Ok(length) if length > MOST => return Err(too_long()),
        Ok(_) => {}
        Err(error) if error.is_instance_of::<PyOverflowError>(py) => return Err(too_long()),
        Err(error) => return Err(wrong(error)),
    }
    let mut elements = Vec::new();
    for element in given.try_iter().map_err(wrong)? {
        let place = elements.len();
        if place == MOST {
            return Err(too_long());
        }
        elements.push(read(place, &element?)?);
    }
    Ok(elements)
}

/// The elements as numbers of the type `T`.
pub(crate) fn numbers<'py, T>(name: &str, given: &Bound<'py, PyAny>) -> PyResult<Vec<T>>
where
    T: for<'a> FromPyObject<'a, 'py, Error = PyErr>,
{
    let py = given.py();
    elements(name, "numbers", given, |place, element| {
        element.extract().map_err(|error: PyErr| {
            if error.is_instance_of::<PyTypeError>(py) {
                type_error(format!("{name}: expected a sequence of numbers: [{place}]: {}", error.value(py)))
            } else if error.is_instance_of::<PyOverflowError>(py) {
                value_error(format!("{name}[{place}] is out of range: {}", error.value(py)))
            } else {
                error
            }
        })
    })
}

/// Rows of numbers.
pub(crate) fn rows(name: &str, given: &Bound<'_, PyAny>) -> PyResult<Vec<Vec<f64>>> {
    elements(name, "rows of numbers", given, |row, numbers_of_row| {
        numbers(&format!("{name}[{row}]"), numbers_of_row)
    })
}
