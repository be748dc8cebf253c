//! The knowledge that a policy may have of simulated users.

use click_models::ClickModel;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Users that tell a policy in Python what it may know; the classes of `models` implement it.
pub(crate) trait Known: ClickModel {
    /// Keyword arguments of `Policy`.
    fn known_in<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>>;
}
