//! Names of items: any hashable values, in the order of the items' numbers.

use crate::catalogue;
use crate::message::{did_you_mean, type_error, value_error};
use crate::play::filled;
use crate::task::size;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use serde_json::{Number, Value};
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
        let names = Self::of(&in_python(given)?)?;
        let n_items = names.list.bind(given.py()).len();
        Ok((Some(n_items), Some(Arc::new(names))))
    }

    /// Names from a sequence.
    pub(crate) fn of(given: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = given.py();
        let (names, numbers) = (PyList::empty(py), PyDict::new(py));
        for (number, name) in given.try_iter()?.enumerate() {
            let name = in_python(&name?)?;
            let hashed = numbers.contains(&name).map_err(|error| {
                if error.is_instance_of::<PyTypeError>(py) {
                    type_error(format!("items[{number}]: {}: a name is hashable", error.value(py)))
                } else {
                    error
                }
            });
            if hashed? {
                let (name, first) = (name.repr()?, numbers.get_item(&name)?);
                let first = first.map_or_else(String::new, |first| first.to_string());
                return Err(value_error(format!(
                    "items[{number}] is {name}, as items[{first}]: names differ"
                )));
            }
            numbers.set_item(&name, number)?;
            names.append(name)?;
        }
        Ok(Self { list: names.to_tuple().unbind(), numbers: numbers.unbind() })
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

    /// Whether two policies have the same names, or none.
    pub(crate) fn are_same(py: Python<'_>, one: Option<&Self>, other: Option<&Self>) -> PyResult<bool> {
        are_same(one.map(|names| names.all(py)), other.map(|names| names.all(py)))
    }

    /// All names.
    pub(crate) fn all<'py>(&self, py: Python<'py>) -> &Bound<'py, PyTuple> {
        self.list.bind(py)
    }

    /// The names of these items.
    pub(crate) fn shown<'py>(&self, py: Python<'py>, numbers: &[u32]) -> PyResult<Bound<'py, PyTuple>> {
        let all = self.list.bind(py);
        let name = |&number: &u32| all.get_item(usize::try_from(number).unwrap_or(usize::MAX));
        PyTuple::new(py, filled(numbers).iter().map(name).collect::<PyResult<Vec<_>>>()?)
    }

    /// Whether this is the name of an item.
    pub(crate) fn has(&self, name: &Bound<'_, PyAny>) -> PyResult<bool> {
        // A value without a hash is no name.
        Ok(name.hash().is_ok() && self.numbers.bind(name.py()).contains(name)?)
    }

    /// The number of the item of this name; `what` is the place in an argument.
    pub(crate) fn number(&self, what: &str, name: &Bound<'_, PyAny>) -> PyResult<u32> {
        let py = name.py();
        let name = in_python(name)?;
        if self.has(&name)?
            && let Some(number) = self.numbers.bind(py).get_item(&name)?
        {
            return number.extract();
        }
        let texts: Vec<String> = self.list.bind(py).iter().filter_map(|name| name.extract().ok()).collect();
        let text: Option<String> = name.extract().ok();
        let near =
            text.map_or_else(String::new, |text| did_you_mean(&text, texts.iter().map(String::as_str)));
        Err(value_error(format!("{what} is {}, which is no item of the policy{near}", name.repr()?)))
    }

    /// Lists of names as numbers, one after the other, and whether it is a single list.
    pub(crate) fn lists(
        &self,
        what: &str,
        given: &Bound<'_, PyAny>,
        width: usize,
    ) -> PyResult<(Vec<u32>, bool)> {
        let rows: Vec<Bound<'_, PyAny>> = in_python(given)?.try_iter()?.collect::<PyResult<_>>()?;
        let single = match rows.first() {
            Some(first) => self.has(first)?,
            None => false,
        };
        let mut numbers = Vec::new();
        let mut add = |what: &str, row: &Bound<'_, PyAny>| {
            let first = numbers.len();
            for (position, name) in row.try_iter()?.enumerate() {
                let (what, name) = (format!("{what}[{position}]"), name?);
                let number = self.number(&what, &name)?;
                if numbers[first..].contains(&number) {
                    return Err(value_error(format!("{what} is {}, which is there twice", name.repr()?)));
                }
                numbers.push(number);
            }
            let found = numbers.len() - first;
            let wrong = || value_error(format!("{what}: expected {width} items, got {found}"));
            if found == width { Ok(()) } else { Err(wrong()) }
        };
        if single {
            add(what, PyList::new(given.py(), &rows)?.as_any())?;
        } else {
            for (row, names) in rows.iter().enumerate() {
                add(&format!("{what}[{row}]"), names)?;
            }
        }
        Ok((numbers, single))
    }
}

/// Whether names are the same, or none in both places.
pub(crate) fn are_same(
    one: Option<&Bound<'_, PyTuple>>,
    other: Option<&Bound<'_, PyTuple>>,
) -> PyResult<bool> {
    match (one, other) {
        (Some(one), Some(other)) => one.eq(other),
        _ => Ok(one.is_none() && other.is_none()),
    }
}

/// Arrays, series and frames as lists of Python's own values, numbers of numpy as those of Python.
fn in_python<'py>(given: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    if given.hasattr("tolist")? {
        return given.call_method0("tolist");
    }
    if !given.hasattr("__array__")? {
        return Ok(given.clone());
    }
    numpy::get_array_module(given.py())?.call_method1("asarray", (given,))?.call_method0("tolist")
}

/// Names as JSON.
pub(crate) fn to_json(names: &Bound<'_, PyTuple>) -> PyResult<Vec<Value>> {
    let value = |name: Bound<'_, PyAny>| {
        let kept = if let Ok(flag) = name.cast_exact::<PyBool>() {
            Some(flag.is_true().into())
        } else if name.is_exact_instance_of::<PyString>() {
            Some(name.extract::<String>()?.into())
        } else if name.is_exact_instance_of::<PyInt>() {
            name.extract::<i64>().ok().map(Value::from)
        } else if name.is_exact_instance_of::<PyFloat>() {
            Number::from_f64(name.extract()?).map(Value::Number)
        } else {
            None
        };
        let lost = "is no str, bool, finite float or int of 64 bits, which JSON keeps: use pickle";
        match kept {
            Some(kept) => Ok(kept),
            None => Err(value_error(format!("item {} {lost}", name.repr()?))),
        }
    };
    names.iter().map(value).collect()
}

/// Names from JSON.
pub(crate) fn from_json<'py>(py: Python<'py>, names: &[Value]) -> PyResult<Bound<'py, PyTuple>> {
    let name = |value: &Value| match value {
        Value::Null | Value::Array(_) | Value::Object(_) => {
            Err(value_error(format!("{value} is no name of an item")))
        }
        _ => catalogue::to_python(py, value),
    };
    PyTuple::new(py, names.iter().map(name).collect::<PyResult<Vec<_>>>()?)
}
