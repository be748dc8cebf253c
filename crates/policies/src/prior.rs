//! The prior of the attraction of every item.

use crate::Error;
use serde::{Deserialize, Serialize};

/// A Beta distribution as prior of the attraction of every item: as if every item began with
/// `a - 1` clicks and `b - 1` displays without a click.
///
/// # Examples
///
/// ```
/// use click_models::ListShape;
/// use policies::{Bayesian, PrefixTs, Prior};
///
/// // Three clicks in a hundred displays are usual.
/// let prior = Prior::new(0.3, 9.7)?;
/// PrefixTs::new(ListShape::new(5, 3)?).set_prior(prior)?;
/// assert!(Prior::new(0.0, 9.7).is_err() && Prior::new(0.3, 0.7).is_err());
/// # Ok::<(), policies::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Shapes")]
pub struct Prior {
    a: f64,
    b: f64,
}

#[derive(Deserialize)]
struct Shapes {
    a: f64,
    b: f64,
}

impl Prior {
    /// The most displays that a prior is worth.
    pub(crate) const MOST: f64 = 1_073_741_824.0;

    /// The least first shape of an estimate.
    pub(crate) const LEAST: f64 = 1e-3;

    /// Beta(1, 1), which is uniform.
    pub const UNIFORM: Self = Self { a: 1.0, b: 1.0 };

    /// Beta(`a`, `b`).
    ///
    /// # Errors
    ///
    /// [`Error::NotAPrior`] unless `a` is above 0, `b` is at least 1, and both are at most 2^30.
    pub fn new(a: f64, b: f64) -> Result<Self, Error> {
        let is_sound = a > 0.0 && (1.0..=Self::MOST).contains(&b) && a <= Self::MOST;
        if is_sound { Ok(Self { a, b }) } else { Err(Error::NotAPrior { a, b }) }
    }

    /// The first shape.
    #[inline]
    pub fn a(self) -> f64 {
        self.a
    }

    /// The second shape.
    pub fn b(self) -> f64 {
        self.b
    }

    /// The clicks that the prior is worth; negative if `a` is below 1.
    #[inline]
    pub(crate) fn clicks(self) -> f64 {
        self.a - 1.0
    }

    /// The displays without a click that the prior is worth.
    #[inline]
    pub(crate) fn failures(self) -> f64 {
        self.b - 1.0
    }

    /// The prior, if its first shape is at least 1.
    pub(crate) fn at_least_1(self) -> Result<Self, Error> {
        let Self { a, b } = self;
        if a >= 1.0 { Ok(self) } else { Err(Error::PriorTooSmall { a, b }) }
    }
}

impl Default for Prior {
    fn default() -> Self {
        Self::UNIFORM
    }
}

impl TryFrom<Shapes> for Prior {
    type Error = Error;

    fn try_from(Shapes { a, b }: Shapes) -> Result<Self, Error> {
        Self::new(a, b)
    }
}
