//! Data of the library as Python's own: dicts, lists, numbers and texts.

/// A dict of these names and values, in their order.
macro_rules! dict {
    ($py:expr; $($name:literal: $value:expr),+ $(,)?) => {{
        let dict = ::pyo3::types::PyDict::new($py);
        $(dict.set_item($name, $value)?;)+
        dict
    }};
}
pub(crate) use dict;

use crate::message::{type_error, value_error};
use pyo3::prelude::*;
use serde::Serialize;

/// The data as `json.loads` gives them.
pub(crate) fn to_python<'py>(py: Python<'py>, data: &impl Serialize) -> PyResult<Bound<'py, PyAny>> {
    let text = serde_json::to_string(data).map_err(value_error)?;
    py.import("json")?.call_method1("loads", (text,))
}

pub(crate) struct SavedBytes<'a>(pub(crate) &'a [u8]);

impl<'a> FromPyObject<'a, '_> for SavedBytes<'a> {
    type Error = PyErr;

    fn extract(data: Borrowed<'a, '_, PyAny>) -> PyResult<Self> {
        data.extract().map(Self).map_err(|_| {
            let found = data.get_type();
            type_error(format!(
                "data: expected the bytes of `save`, as of open(path, \"rb\").read(), got {found}"
            ))
        })
    }
}
