//! Messages of exceptions.

use pyo3::PyErr;
use pyo3::exceptions::{PyMemoryError, PyTypeError, PyValueError};
use std::fmt::Display;

/// `ValueError` with this message.
pub(crate) fn value_error(message: impl Display) -> PyErr {
    PyValueError::new_err(message.to_string())
}

/// `TypeError` with this message.
pub(crate) fn type_error(message: impl Display) -> PyErr {
    PyTypeError::new_err(message.to_string())
}

/// `MemoryError` with this message.
pub(crate) fn memory_error(message: impl Display) -> PyErr {
    PyMemoryError::new_err(message.to_string())
}

/// `; did you mean `name`?` with the nearest of the names, or nothing if none is near.
pub(crate) fn did_you_mean<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    // No name is that long, and distances take the product of the lengths.
    if word.len() > 64 {
        return String::new();
    }
    let normal = |text: &str| text.to_lowercase().replace(['_', ' '], "-");
    let word = normal(word);
    let enough = 1 + word.chars().count() / 4;
    let near = |name: &str| strsim::damerau_levenshtein(&word, &normal(name));
    let nearest = names.into_iter().min_by_key(|name| near(name)).filter(|name| near(name) <= enough);
    nearest.map_or_else(String::new, |name| format!("; did you mean `{name}`?"))
}
