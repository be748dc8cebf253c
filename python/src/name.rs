//! Names of items, decisions and queries: ints or strs, with the type that they have in Python.

use crate::message::{type_error, value_error};
use click_logs::parameters::IdType;
use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyInt, PyString};
use serde::{Deserialize, Serialize};

/// The name of an item, a decision or a query. The int 3 and the str "3" are two names.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Name {
    Number(i64),
    Text(String),
}

impl Name {
    /// A whole float is an int, as in a column of a log; a truth value is none.
    pub(crate) fn read(what: &str, given: &Bound<'_, PyAny>) -> PyResult<Self> {
        if given.is_instance_of::<PyString>() {
            return given.extract().map(Self::Text);
        }
        let wrong = || type_error(format!("{what}: expected an int or a str, got {}", given.get_type()));
        if !given.is_exact_instance_of::<PyInt>() && given.extract::<bool>().is_ok() {
            return Err(wrong());
        }
        given.extract().map(Self::Number).or_else(|error: PyErr| {
            if error.is_instance_of::<PyTypeError>(given.py()) {
                let whole = given.call_method0("is_integer").and_then(|whole| whole.extract());
                if whole.unwrap_or(false) {
                    Self::read(what, &given.call_method0("__int__")?)
                } else {
                    Err(wrong())
                }
            } else if error.is_instance_of::<PyOverflowError>(given.py()) {
                Err(value_error(format!("{what} is {given}: expected an int of 64 bits")))
            } else {
                Err(error)
            }
        })
    }

    pub(crate) fn of_each(what: &str, given: Option<&Bound<'_, PyAny>>) -> PyResult<Option<Vec<Self>>> {
        let Some(given) = given else { return Ok(None) };
        let wrong = || type_error(format!("{what}: expected items, got {}", given.get_type()));
        if given.is_instance_of::<PyString>() || given.is_instance_of::<PyBytes>() {
            return Err(wrong());
        }
        given
            .try_iter()
            .map_err(|_| wrong())?
            .map(|item| Self::read(what, &item?))
            .collect::<PyResult<_>>()
            .map(Some)
    }

    /// The text that it has in a file.
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Number(number) => number.to_string(),
            Self::Text(text) => text.clone(),
        }
    }

    /// The name of the other type that has the same text.
    pub(crate) fn twin(&self) -> Option<Self> {
        match self {
            Self::Number(number) => Some(Self::Text(number.to_string())),
            Self::Text(text) => text.parse().ok().map(Self::Number).filter(|number| number.text() == *text),
        }
    }

    pub(crate) fn is_text(&self) -> bool {
        matches!(self, Self::Text(_))
    }

    pub(crate) fn to_python<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(match self {
            Self::Number(number) => number.into_pyobject(py)?.into_any(),
            Self::Text(text) => PyString::new(py, text).into_any(),
        })
    }
}

impl std::fmt::Display for Name {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Self::Text(text) = self { write!(f, "{text:?}") } else { f.write_str(&self.text()) }
    }
}

/// A name of a log with the type that its column had.
pub(crate) fn typed<'py>(py: Python<'py>, text: &str, of: IdType) -> PyResult<Bound<'py, PyAny>> {
    match text.parse::<i128>() {
        Ok(number) if !of.is_text() => Ok(number.into_pyobject(py)?.into_any()),
        _ => Ok(PyString::new(py, text).into_any()),
    }
}

/// The text that a query has in a log; the type of its queries, if it is known, is that of the
/// name.
pub(crate) fn query_text(given: &Bound<'_, PyAny>, of: Option<IdType>) -> PyResult<String> {
    let name = Name::read("query", given)?;
    if of.is_some_and(|of| of.is_text() != name.is_text()) {
        return Err(type_error(format!("query is {name}, which is of another type than the log's queries")));
    }
    Ok(name.text())
}
