//! One kind of user, whatever the model.

use super::calibration::Calibration;

/// One kind of user.
#[derive(Debug, Clone)]
pub(crate) struct Instance<M> {
    /// Name, when the file gives one.
    pub(crate) name: Option<String>,
    /// How these users click.
    pub(crate) model: M,
    /// What they were drawn to, if the file gives only that.
    pub(crate) calibration: Option<Calibration>,
}
