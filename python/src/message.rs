//! Messages of exceptions, and words that arguments stand for.

use crate::names::module;
use documents::toml_reader::closest;
use pyo3::exceptions::{
    PyFileNotFoundError, PyMemoryError, PyRuntimeError, PyTypeError, PyUserWarning, PyValueError,
};
use pyo3::prelude::*;
use serde_json::Value;
use std::ffi::CString;
use std::fmt::Display;
use std::path::PathBuf;

/// Names that a message has at most.
const MOST_NAMES: usize = 20;
/// Names among which the nearest is searched: refusals may be many, and what is known large.
pub(crate) const MOST_SEARCHED: usize = 1000;

pub(crate) fn value_error(message: impl Display) -> PyErr {
    PyValueError::new_err(in_python(message.to_string()))
}

/// A sentence whose remedies are options of the command, with the arguments of Python.
pub(crate) fn in_python(text: String) -> String {
    if !text.contains("--") && !text.contains("=COLUMN") {
        return text;
    }
    let spelt = |py: Python<'_>| module(py)?.call_method1("spelt", (&text,))?.extract();
    Python::attach(spelt).unwrap_or(text)
}

/// [`in_python`] of every text of a document.
pub(crate) fn respelt(document: Value) -> Value {
    match document {
        Value::String(text) => in_python(text).into(),
        Value::Array(all) => all.into_iter().map(respelt).collect(),
        Value::Object(fields) => fields.into_iter().map(|(key, value)| (key, respelt(value))).collect(),
        other => other,
    }
}

pub(crate) fn type_error(message: impl Display) -> PyErr {
    PyTypeError::new_err(message.to_string())
}

pub(crate) fn memory_error(message: impl Display) -> PyErr {
    PyMemoryError::new_err(message.to_string())
}

/// Warns with this message: an error where warnings are errors.
pub(crate) fn warn(py: Python<'_>, message: impl Display) -> PyResult<()> {
    let message = in_python(message.to_string()).replace('\0', "\\0");
    let message = CString::new(message).map_err(value_error)?;
    PyErr::warn(py, &py.get_type::<PyUserWarning>(), &message, 1)
}

/// The value of an argument, or of a part of one; a `TypeError` begins with its name.
pub(crate) fn argument<'py, T>(name: &str, given: &Bound<'py, PyAny>) -> PyResult<T>
where
    T: for<'a> FromPyObject<'a, 'py, Error = PyErr>,
{
    given.extract().map_err(|error: PyErr| {
        let is_type = error.is_instance_of::<PyTypeError>(given.py());
        if is_type { type_error(format!("{name}: {}", error.value(given.py()))) } else { error }
    })
}

/// The mutex is poisoned.
pub(crate) fn broken<T>(_error: T) -> PyErr {
    PyRuntimeError::new_err("an earlier call panicked: the state may be wrong")
}

/// The meaning of the word that an argument gives.
pub(crate) fn one_of<T: Copy>(name: &str, given: &str, known: &[(&str, T)]) -> PyResult<T> {
    let found = known.iter().find(|(word, _)| *word == given).map(|(_, value)| *value);
    let words = known.iter().map(|(word, _)| *word);
    found.ok_or_else(|| value_error(none_of(format!("{name} is `{given}`"), given, words)))
}

/// Refuses an argument that is given and not what a fit has in its place.
pub(crate) fn check_fit(name: &str, found: Option<&str>, expected: Option<&str>) -> PyResult<()> {
    match found {
        Some(found) if Some(found) != expected => {
            let expected = expected.unwrap_or("none");
            Err(value_error(format!("{name} is {found:?}: that of the fit is {expected:?}")))
        }
        _ => Ok(()),
    }
}

/// A fault of a word, the words that there are, and the nearest.
pub(crate) fn none_of<'a>(fault: String, word: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    let expected = match &known[..] {
        [] => "there is none".to_owned(),
        [one] => format!("expected {one}"),
        [one, other] => format!("expected {one} or {other}"),
        several if several.len() <= MOST_NAMES => format!("expected one of {}", several.join(", ")),
        several => format!("expected one of {}, ..", several[..MOST_NAMES].join(", ")),
    };
    format!("{fault}: {expected}{}", did_you_mean(word, known))
}

/// A fault of a row of a table in memory, which counts its rows as its library does.
pub(crate) fn in_row(of: &str, row: impl Display, column: &str, fault: impl Display) -> String {
    let column = if column.is_empty() { String::new() } else { format!(", column `{column}`") };
    format!("{of}: row {row}{column}: {fault} (rows count from 0)")
}

/// The path that an argument gives.
///
/// # Errors
///
/// `FileNotFoundError` if nothing is there; one of the words may be meant, which are no paths.
pub(crate) fn existing(name: &str, path: PathBuf, expected: &str, words: &[&str]) -> PyResult<PathBuf> {
    if path.exists() {
        return Ok(path);
    }
    let (text, words) = (path.display().to_string(), words.iter().copied());
    let fault = format!("{name}: no such file or directory: {text}: expected {expected}");
    Err(PyFileNotFoundError::new_err(fault + &did_you_mean(&text, words)))
}

/// `; did you mean `name`?` with the nearest of the names, or nothing if none is near.
pub(crate) fn did_you_mean<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    let nearest = closest(word, &names.into_iter().take(MOST_SEARCHED).collect::<Vec<_>>());
    nearest.map_or_else(String::new, |name| format!("; did you mean `{name}`?"))
}
