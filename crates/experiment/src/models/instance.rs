//! One instance: a click model with its parameters.

use super::calibration::Calibration;

/// One instance: a click model with its parameters. A run plays on one instance.
#[derive(Debug, Clone)]
pub struct Instance<M> {
    /// Name for readers, if there is one.
    pub name: Option<String>,
    /// The click model.
    pub model: M,
    /// The summary that the users were drawn to match, if the file gives only that.
    pub(super) calibration: Option<Calibration>,
}

impl<M> Instance<M> {
    /// An instance of a click model, with an optional name for readers.
    pub fn new(name: Option<String>, model: M) -> Self {
        Self { name, model, calibration: None }
    }
}
