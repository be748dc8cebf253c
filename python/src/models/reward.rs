//! The reward of users who may leave satisfied.

use crate::message::{did_you_mean, value_error};
use pyo3::PyResult;

/// Whether the reward of this name is satisfaction, not clicks.
pub(super) fn is_satisfaction(reward: &str) -> PyResult<bool> {
    match reward {
        "satisfaction" => Ok(true),
        "clicks" => Ok(false),
        other => Err(value_error(format!(
            "unknown reward `{other}`: expected clicks or satisfaction{}",
            did_you_mean(other, ["clicks", "satisfaction"])
        ))),
    }
}
