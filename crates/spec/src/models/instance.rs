//! One instance: a click model with its parameters.

use super::calibration::Calibration;
use super::posterior::Posterior;
use std::sync::Arc;

/// One instance: a click model with its parameters. A run plays on one instance.
#[derive(Debug, Clone)]
pub struct Instance<M: 'static> {
    /// Name for readers, if there is one.
    pub name: Option<String>,
    /// The click model.
    pub model: M,
    /// The summary that the users were drawn to match, if the file gives only that.
    pub(super) calibration: Option<Calibration>,
    /// The distribution from which each run draws its users; `model` has the means. `None`: the
    /// users are those of `model`.
    pub(super) posterior: Option<Arc<Posterior<M>>>,
}

impl<M> Instance<M> {
    /// An instance of a click model, with an optional name for readers.
    pub fn new(name: Option<String>, model: M) -> Self {
        Self { name, model, calibration: None, posterior: None }
    }
}
