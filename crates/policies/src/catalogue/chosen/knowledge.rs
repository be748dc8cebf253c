//! What a policy knows of its users before the first round.

use crate::{Error, PrefixKnown};
use click_models::ListShape;
use confidence::{NonNegative, Probability};
use serde::{Deserialize, Serialize};

/// What a policy was told of its users before the first round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Knowledge {
    /// Items and positions; rows and columns; or items and the two that are compared.
    pub sizes: [usize; 2],
    /// Examination probabilities, one a position; empty where the policy knows nothing of them.
    pub examination: Vec<Probability>,
    /// Positions of the best item, of the next one, and so on; empty for from the top down.
    pub places: Vec<usize>,
    /// The constant of relaxed stochastic transitivity, if it was told one.
    pub gamma: Option<NonNegative>,
    /// Rounds, if it was told how many.
    pub horizon: Option<u64>,
}

impl Knowledge {
    pub(super) fn sizes(n_items: usize, n_positions: usize) -> Self {
        Self {
            sizes: [n_items, n_positions],
            examination: vec![],
            places: vec![],
            gamma: None,
            horizon: None,
        }
    }

    pub(super) fn list(shape: ListShape) -> Self {
        Self::sizes(shape.n_items(), shape.n_positions())
    }

    pub(super) fn prefix(known: &PrefixKnown<'_>) -> Self {
        Self { places: known.places().to_vec(), ..Self::list(known.shape()) }
    }

    pub(super) fn list_shape(&self) -> Result<ListShape, Error> {
        Ok(ListShape::new(self.sizes[0], self.sizes[1])?)
    }
}
