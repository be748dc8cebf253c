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
    pub calibration: Option<Calibration>,
}
