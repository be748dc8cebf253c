//! Features on the scale of 1: differences from a mean, in standard deviations.

use crate::Error;
use crate::checked::checked;
use serde::{Deserialize, Serialize};

/// The largest difference between standardised features that are the same.
const TOLERANCE: f64 = 1e-6;

/// Means and standard deviations of features, from a log. A policy with a scale is told features as
/// they are, and standardises them by these numbers and no others.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, fieldwork::Fieldwork)]
#[serde(remote = "Self")]
#[fieldwork(get(doc_template = "{}"))]
pub struct FeatureScale {
    /// Scales of the features of users.
    user: Vec<[f64; 2]>,
    /// Scales of the features of items.
    item: Vec<[f64; 2]>,
}

impl FeatureScale {
    pub(super) const AS_THEY_ARE: Self = Self { user: vec![], item: vec![] };

    /// Mean and standard deviation of each feature of users and of items.
    ///
    /// # Errors
    ///
    /// [`Error::NotAFeatureScale`] for a mean that is not finite, or a deviation that is not
    /// positive.
    pub fn new(user: Vec<[f64; 2]>, item: Vec<[f64; 2]>) -> Result<Self, Error> {
        let is_scale = |[mean, deviation]: [f64; 2]| {
            mean.is_finite() && deviation > 0.0 && (1.0 / deviation).is_finite() && deviation.is_finite()
        };
        match user.iter().chain(&item).find(|&&one| !is_scale(one)) {
            Some(&[mean, deviation]) => Err(Error::NotAFeatureScale { mean, deviation }),
            None => Ok(Self { user, item }),
        }
    }

    /// The scale for features that `first` has standardised before.
    pub(super) fn after(&self, first: &Self) -> Result<Self, Error> {
        let after = |scale: &[[f64; 2]], first: &[[f64; 2]]| {
            let one = |(&[mean, deviation], &[first, unit]): (&[f64; 2], &[f64; 2])| {
                [(mean - first) / unit, deviation / unit]
            };
            scale.iter().zip(first).map(one).collect()
        };
        Self::new(after(&self.user, &first.user), after(&self.item, &first.item))
    }
}

/// Standardises features, row by row.
pub(super) fn standardise(scale: &[[f64; 2]], features: &mut [f64]) {
    for (feature, [mean, deviation]) in features.iter_mut().zip(scale.iter().cycle()) {
        *feature = (*feature - mean) / deviation;
    }
}

/// The place of the first standardised feature that is not the expected one.
pub(super) fn first_difference(found: &[f64], expected: &[f64]) -> Option<usize> {
    let differs = |(a, b): (&f64, &f64)| (a - b).abs() > TOLERANCE * (1.0 + b.abs());
    found.iter().zip(expected).position(differs)
}

checked!(FeatureScale, |self| Self::new(self.user, self.item));
