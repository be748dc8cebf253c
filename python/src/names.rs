//! Names of items: any hashable values, in the order of the items' numbers.

use crate::message::{type_error, value_error};
use crate::play::filled;
use crate::task::size;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString, PyTuple};
use serde_json::Value;
use std::sync::Arc;

/// The names of a policy's items.
pub(crate) struct Names {
    list: Py<PyTuple>,
    numbers: Py<PyDict>,
}

impl Names {
    /// The argument `items`: how many there are, and their names, if it gives names.
    pub(crate) fn read(given: Option<&Bound<'_, PyAny>>) -> PyResult<(Option<usize>, Option<Arc<Self>>)> {
        let Some(given) = given else { return Ok((None, None)) };
        if given.is_instance_of::<PyString>() || given.is_instance_of::<PyBytes>() {
            let found = given.get_type();
            return Err(type_error(format!(
                "items: expected a number, or the names of all items, got {found}"
            )));
        }
        if !given.hasattr("__iter__")? {
            return Ok((size("items", Some(given))?, None));
        }
        let names = Self::of(given)?;
        let n_items = names.list.bind(given.py()).len();
        Ok((Some(n_items), Some(Arc::new(names))))
    }

    /// Names from a sequence.
    pub(crate) fn of(given: &Bound<'_, PyAny>) -> PyResult<Self> {
        let (list, numbers) = module(given.py())?.call_method1("of", (given,))?.extract()?;
        Ok(Self { list, numbers })
    }

    /// Names that were saved, or those given in their place.
    pub(crate) fn restored(
        py: Python<'_>,
        saved: Option<&[Value]>,
        given: Option<&Bound<'_, PyTuple>>,
        n_items: usize,
    ) -> PyResult<Option<Arc<Self>>> {
        let names = match (given, saved) {
            (Some(given), _) => Self::of(given.as_any())?,
            (None, Some(saved)) => Self::of(from_json(py, saved)?.as_any())?,
            (None, None) => return Ok(None),
        };
        let found = names.all(py).len();
        if found != n_items {
            return Err(value_error(format!("{found} names of {n_items} items: expected one for each")));
        }
        Ok(Some(Arc::new(names)))
    }

    pub(crate) fn all<'py>(&self, py: Python<'py>) -> &Bound<'py, PyTuple> {
        self.list.bind(py)
    }

    /// The names of these items.
    pub(crate) fn shown<'py>(&self, py: Python<'py>, numbers: &[u32]) -> PyResult<Bound<'py, PyTuple>> {
        let all = self.list.bind(py);
        let name = |&number: &u32| all.get_item(usize::try_from(number).unwrap_or(usize::MAX));
        PyTuple::new(py, filled(numbers).iter().map(name).collect::<PyResult<Vec<_>>>()?)
    }

    /// The number of the item of this name; `what` is the place in an argument.
    pub(crate) fn number(&self, what: &str, name: &Bound<'_, PyAny>) -> PyResult<u32> {
        module(name.py())?.call_method1("number", (&self.numbers, what, name))?.extract()
    }

    /// Lists of names as numbers, one after the other, and whether it is a single list.
    pub(crate) fn lists(
        &self,
        what: &str,
        given: &Bound<'_, PyAny>,
        width: usize,
    ) -> PyResult<(Vec<u32>, bool)> {
        module(given.py())?.call_method1("lists", (&self.numbers, what, given, width))?.extract()
    }
}

/// The functions on names that Python has.
pub(crate) fn module(py: Python<'_>) -> PyResult<Bound<'_, PyModule>> {
    py.import("click_bandits._names")
}

/// Returns whether names are the same, or none in both places.
pub(crate) fn are_same(
    one: Option<&Bound<'_, PyTuple>>,
    other: Option<&Bound<'_, PyTuple>>,
) -> PyResult<bool> {
    match (one, other) {
        (Some(one), Some(other)) => one.eq(other),
        _ => Ok(one.is_none() && other.is_none()),
    }
}

pub(crate) fn to_json(names: &Bound<'_, PyTuple>) -> PyResult<Vec<Value>> {
    let text: String = module(names.py())?.call_method1("to_json", (names,))?.extract()?;
    serde_json::from_str(&text).map_err(value_error)
}

pub(crate) fn from_json<'py>(py: Python<'py>, names: &[Value]) -> PyResult<Bound<'py, PyTuple>> {
    let text = serde_json::to_string(names).map_err(value_error)?;
    Ok(module(py)?.call_method1("from_json", (text,))?.cast_into()?)
}
