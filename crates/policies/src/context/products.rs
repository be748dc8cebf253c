//! Products of user and item features: `phi = (1, x) (1, z)'`, row by row.

use super::normal::dot;
use super::scale::{FeatureScale, first_difference, standardise};
use crate::Error;
use crate::checked::checked;
use click_models::{Context, ContextKnown};
use serde::{Deserialize, Serialize};

/// The most coefficients, since their precision has half the square of them.
const MOST_COEFFICIENTS: usize = 2048;

/// The largest feature in size: squares of products of such features are finite.
const LARGEST: f64 = 1e30;

/// Features of the items, and those of the user for whom the policy chooses.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self")]
pub(super) struct Products {
    pub(super) n_items: usize,
    n_user_features: usize,
    /// Item by item.
    item_features: Vec<f64>,
    /// Of features that are standardised here; those of items are kept standardised.
    scale: Option<FeatureScale>,
    /// `(1, x)` of the user.
    #[serde(skip)]
    pub(super) user: Vec<f64>,
    /// The coefficients of `(1, z)` for the user, after [`Self::contract`].
    #[serde(skip)]
    pub(super) of_user: Vec<f64>,
}

/// The scale of features that are taken as they are.
static AS_THEY_ARE: FeatureScale = FeatureScale::AS_THEY_ARE;

impl Products {
    pub(super) fn new(known: ContextKnown<'_>) -> Result<Self, Error> {
        let (width, height) = (1 + known.n_item_features(), known.n_user_features().saturating_add(1));
        match width.checked_mul(height) {
            Some(n) if n <= MOST_COEFFICIENTS => {}
            n => return Err(Error::TooManyCoefficients(n.unwrap_or(usize::MAX))),
        }
        let mut item_features = known.item_features().to_vec();
        bound(&mut item_features);
        Ok(Self {
            n_items: known.n_items(),
            n_user_features: known.n_user_features(),
            item_features,
            scale: None,
            user: vec![1.0; height],
            of_user: vec![0.0; width],
        })
    }

    /// Standardises the features of the items now, and those of every user later.
    pub(super) fn standardising(mut self, scale: FeatureScale) -> Result<Self, Error> {
        let sizes = [self.n_user_features, self.width() - 1];
        if [scale.user().len(), scale.item().len()] != sizes {
            return Err(Error::SavedSizes);
        }
        standardise(scale.item(), &mut self.item_features);
        bound(&mut self.item_features);
        self.scale = Some(scale);
        Ok(self)
    }

    /// The number and features of the items, with features as they are kept.
    pub(super) fn known(&self) -> ContextKnown<'_> {
        let known = ContextKnown::new(self.n_items, &self.item_features).expect("checked before");
        known.with_user_features(self.n_user_features)
    }

    pub(super) fn scale(&self) -> &FeatureScale {
        self.scale.as_ref().unwrap_or(&AS_THEY_ARE)
    }

    pub(super) fn set_scale(&mut self, scale: FeatureScale) {
        self.scale = Some(scale);
    }

    /// Adds an item with these features, as many as those of the others.
    pub(super) fn push_item(&mut self, features: &[f64]) {
        self.n_items += 1;
        self.item_features.extend_from_slice(features);
        self.standardise_item(self.n_items - 1);
    }

    /// Returns whether an item has these features, but for what standardising rounds off.
    pub(super) fn has_features(&self, item: usize, features: &[f64]) -> bool {
        let Some(scale) = &self.scale else { return self.item(item) == features };
        let mut features = features.to_vec();
        standardise(scale.item(), &mut features);
        first_difference(&features, self.item(item)).is_none()
    }

    pub(super) fn set_item(&mut self, item: usize, features: &[f64]) {
        let n = self.width() - 1;
        self.item_features[item * n..(item + 1) * n].copy_from_slice(features);
        self.standardise_item(item);
    }

    /// Standardises the features of an item that came later.
    fn standardise_item(&mut self, item: usize) {
        let n = self.width() - 1;
        let features = &mut self.item_features[item * n..(item + 1) * n];
        if let Some(scale) = &self.scale {
            standardise(scale.item(), features);
        }
        bound(features);
    }

    /// Number of products.
    pub(super) fn len(&self) -> usize {
        self.user.len() * self.width()
    }

    /// Length of `(1, z)`.
    pub(super) fn width(&self) -> usize {
        self.of_user.len()
    }

    /// Takes the user's features. One that is missing or not finite is 0, or the mean of its scale;
    /// one beyond [`LARGEST`] is read as that.
    pub(super) fn set_user(&mut self, context: &Context) {
        let features = context.features.iter().copied().chain(std::iter::repeat(f64::NAN));
        for (of_user, feature) in self.user[1..].iter_mut().zip(features) {
            *of_user = feature;
        }
        if let Some(scale) = &self.scale {
            standardise(scale.user(), &mut self.user[1..]);
        }
        bound(&mut self.user[1..]);
    }

    /// Adds the products of the user and an item to `out`.
    pub(super) fn push(&self, item: usize, out: &mut Vec<f64>) {
        for &of_user in &self.user {
            out.push(of_user);
            out.extend(self.item(item).iter().map(|feature| of_user * feature));
        }
    }

    /// Sums coefficients of products over the user's features.
    pub(super) fn contract(&mut self, coefficients: &[f64]) {
        self.of_user.fill(0.0);
        for (&of_user, row) in self.user.iter().zip(coefficients.chunks_exact(self.of_user.len())) {
            for (sum, coefficient) in self.of_user.iter_mut().zip(row) {
                *sum += of_user * coefficient;
            }
        }
    }

    /// The sum of coefficients times products of an item, after [`Self::contract`].
    #[inline]
    pub(super) fn sum(&self, item: usize) -> f64 {
        self.of_user[0] + dot(&self.of_user[1..], self.item(item))
    }

    #[inline]
    pub(super) fn item(&self, item: usize) -> &[f64] {
        let n = self.width() - 1;
        &self.item_features[item * n..(item + 1) * n]
    }
}

checked!(Products, |self| {
    let known = ContextKnown::new(self.n_items, &self.item_features)?;
    let products = Self::new(known.with_user_features(self.n_user_features))?;
    let sizes = [self.n_user_features, products.width() - 1];
    match self.scale {
        Some(scale) if [scale.user().len(), scale.item().len()] != sizes => Err(Error::SavedSizes),
        scale => Ok(Self { scale, ..products }),
    }
});

/// Replaces features with which sums would not stay finite.
fn bound(features: &mut [f64]) {
    for feature in features {
        *feature = if feature.is_finite() { feature.clamp(-LARGEST, LARGEST) } else { 0.0 };
    }
}
