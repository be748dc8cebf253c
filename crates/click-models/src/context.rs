//! Users who differ: what a learner is told of the user who asks for a list, and of the items.

use crate::Error;
use serde::{Deserialize, Serialize};

/// A policy's knowledge of the user who asks for a list: a segment, and numbers.
///
/// # Examples
///
/// ```
/// use click_models::Context;
///
/// let user = Context { segment: 3, features: vec![0.5, -1.0] };
/// assert_eq!(Context::default(), Context { segment: 0, features: vec![] });
/// # let _ = user;
/// ```
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Context {
    /// Segment of the user, from 0.
    pub segment: u32,
    /// Features of the user, one number each. Numbers that are missing or not finite count as 0.
    pub features: Vec<f64>,
}

impl Clone for Context {
    fn clone(&self) -> Self {
        Self { segment: self.segment, features: self.features.clone() }
    }

    /// Keeps the memory of `self`.
    fn clone_from(&mut self, source: &Self) {
        self.segment = source.segment;
        self.features.clone_from(&source.features);
    }
}

/// A learner's knowledge of users and items beside the shape of the lists: how many segments and
/// features of users there are, and the features of every item.
///
/// # Examples
///
/// ```
/// use click_models::ContextKnown;
///
/// // Three items with two features each; users have one feature, and no segments.
/// let known = ContextKnown::new(3, &[0.1, 1.0, 0.4, 0.0, -0.2, 1.0])?.with_user_features(1);
/// assert_eq!((known.n_items(), known.n_item_features(), known.n_segments()), (3, 2, 1));
/// assert!(ContextKnown::new(3, &[0.1, 1.0]).is_err());
/// # Ok::<(), click_models::Error>(())
/// ```
#[derive(Debug, Clone, Copy, fieldwork::Fieldwork)]
#[fieldwork(get(doc_template = "{}"))]
pub struct ContextKnown<'a> {
    /// Number of items.
    n_items: usize,
    /// Number of segments, at least 1.
    n_segments: u32,
    /// Number of features of a user.
    n_user_features: usize,
    /// Features of the items, item by item.
    item_features: &'a [f64],
}

impl<'a> ContextKnown<'a> {
    /// Items with these features, item by item; users without features, in one segment.
    ///
    /// # Errors
    ///
    /// [`Error::NoItems`]; [`Error::ItemFeatures`] if not every item has equally many features;
    /// [`Error::NotAFeature`].
    pub fn new(n_items: usize, item_features: &'a [f64]) -> Result<Self, Error> {
        if n_items == 0 {
            return Err(Error::NoItems);
        }
        if !item_features.len().is_multiple_of(n_items) {
            return Err(Error::ItemFeatures { found: item_features.len(), n_items });
        }
        let of_item = item_features.len() / n_items;
        if let Some(at) = item_features.iter().position(|feature| !feature.is_finite()) {
            let (item, feature) = (at / of_item, at % of_item);
            return Err(Error::NotAFeature { item, feature, value: item_features[at] });
        }
        Ok(Self { n_items, n_segments: 1, n_user_features: 0, item_features })
    }

    /// Users with `n_user_features` features each.
    #[must_use]
    pub fn with_user_features(self, n_user_features: usize) -> Self {
        Self { n_user_features, ..self }
    }

    /// Users of `n_segments` segments; at least one.
    #[must_use]
    pub fn with_segments(self, n_segments: u32) -> Self {
        Self { n_segments: n_segments.max(1), ..self }
    }

    /// Number of features of an item.
    pub fn n_item_features(self) -> usize {
        self.item_features.len() / self.n_items
    }
}
