//! Sequences of Python objects.

use crate::arrays::Shape;
use crate::message::{type_error, value_error};
use numpy::{PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyDict, PyList, PyString};

/// Most elements of a sequence that is read one by one. A longer one, such as a `range`, would take
/// the memory of the process.
const MOST: usize = 1 << 28;

/// The shape of an array of numpy; `None` for other objects.
pub(crate) fn shape_of<'a>(given: &'a Bound<'_, PyAny>) -> Option<&'a [usize]> {
    given.cast::<PyUntypedArray>().ok().map(PyUntypedArrayMethods::shape)
}

/// The elements of a sequence, or of an array of `N` axes along the first one; `what` names in the
/// plural what was expected.
///
/// Room is made as elements arrive, since a length is only what an object claims. Exceptions of the
/// elements' own methods, such as an interrupt, go through.
fn elements<'py, const N: usize, T>(
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
    if let Some(shape) = shape_of(given).filter(|shape| shape.len() != N) {
        let expected = if N == 1 { "(n,)" } else { "(n, m)" };
        return Err(value_error(format!("{name}: expected shape {expected}, got {}", Shape(shape))));
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
    elements::<1, _>(name, "numbers", given, |place, element| {
        if element.is_instance_of::<PyList>() {
            let n = element.len()?;
            return Err(type_error(format!("{name}[{place}]: expected a number, got a list of length {n}")));
        }
        if let Some(shape) = shape_of(element).filter(|shape| !shape.is_empty()) {
            let found = Shape(shape);
            return Err(value_error(format!(
                "{name}[{place}]: expected a number, got an array of shape {found}"
            )));
        }
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

pub(crate) fn rows(name: &str, given: &Bound<'_, PyAny>) -> PyResult<Vec<Vec<f64>>> {
    elements::<2, _>(name, "rows of numbers", given, |row, numbers_of_row| {
        numbers(&format!("{name}[{row}]"), numbers_of_row)
    })
}
