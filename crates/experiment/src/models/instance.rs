//! One kind of user, whatever the model.

use super::calibration::Calibration;

/// One kind of user.
#[derive(Debug, Clone)]
pub struct Instance<M> {
    /// Name, when the file gives one.
    pub name: Option<String>,
    /// How these users click.
    pub model: M,
    /// What they were drawn to, if the file gives only that.
    pub(super) calibration: Option<Calibration>,
}

impl<M> Instance<M> {
    /// Users of a model, perhaps with a name for readers.
    pub fn new(name: Option<String>, model: M) -> Self {
        Self { name, model, calibration: None }
    }
}
