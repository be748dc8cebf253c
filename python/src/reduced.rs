//! The parts of an object that `pickle` and `copy` get.

use pyo3::PyTypeInfo;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// The method of the class `T` that makes the object again, and its arguments.
pub(crate) fn reduced<'py, T: PyTypeInfo>(
    py: Python<'py>,
    method: &str,
    arguments: impl IntoPyObject<'py>,
) -> PyResult<Bound<'py, PyTuple>> {
    (py.get_type::<T>().getattr(method)?, arguments).into_pyobject(py)
}
