//! Messages of exceptions, and words that arguments stand for.

use documents::toml_reader::closest;
use pyo3::exceptions::{PyMemoryError, PyRuntimeError, PyTypeError, PyUserWarning, PyValueError};
use pyo3::{PyErr, PyResult, Python};
use std::ffi::CString;
use std::fmt::Display;

pub(crate) fn value_error(message: impl Display) -> PyErr {
    PyValueError::new_err(message.to_string())
}

pub(crate) fn type_error(message: impl Display) -> PyErr {
    PyTypeError::new_err(message.to_string())
}

pub(crate) fn memory_error(message: impl Display) -> PyErr {
    PyMemoryError::new_err(message.to_string())
}

/// Warns with this message: an error where warnings are errors.
pub(crate) fn warn(py: Python<'_>, message: impl Display) -> PyResult<()> {
    let message = CString::new(message.to_string().replace('\0', "\\0")).map_err(value_error)?;
    PyErr::warn(py, &py.get_type::<PyUserWarning>(), &message, 1)
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

/// A fault of a word, the words that there are, and the nearest.
pub(crate) fn none_of<'a>(fault: String, word: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    let expected = match &known[..] {
        [one, other] => format!("{one} or {other}"),
        several => format!("one of {}", several.join(", ")),
    };
    format!("{fault}: expected {expected}{}", did_you_mean(word, known))
}

/// `; did you mean `name`?` with the nearest of the names, or nothing if none is near.
pub(crate) fn did_you_mean<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    let nearest = closest(word, &names.into_iter().collect::<Vec<_>>());
    nearest.map_or_else(String::new, |name| format!("; did you mean `{name}`?"))
}
