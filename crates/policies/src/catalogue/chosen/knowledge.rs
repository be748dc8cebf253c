//! A policy's knowledge of its users before the first round.

use crate::{Error, PrefixKnown};
use click_models::ListShape;
use confidence::{NonNegative, Probability};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A policy's knowledge of its users before the first round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Knowledge {
    /// Numbers of items and positions, of rows and columns, or of items and the two items compared (2).
    pub sizes: [usize; 2],
    /// Examination probabilities, one per position; empty if the policy does not know them.
    pub examination: Vec<Probability>,
    /// Position of the best item, of the second best, and so on; empty means from the top down.
    pub places: Vec<usize>,
    /// The constant of relaxed stochastic transitivity, if known.
    pub gamma: Option<NonNegative>,
    /// Number of rounds, if known.
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

    /// The first field that differs, with both values.
    pub(super) fn first_difference(&self, other: &Self) -> Option<(String, Value, Value)> {
        let fields = |knowledge| serde_json::to_value(knowledge).unwrap_or_default();
        let (Value::Object(own), mut others) = (fields(self), fields(other)) else { return None };
        own.into_iter()
            .map(|(key, value)| {
                let other = others[&key].take();
                (key, value, other)
            })
            .find(|(_, value, other)| value != other)
    }

    pub(super) fn list_shape(&self) -> Result<ListShape, Error> {
        Ok(ListShape::new(self.sizes[0], self.sizes[1])?)
    }
}
