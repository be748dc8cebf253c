//! A policy's knowledge of its users before the first round.

use crate::{Error, PositionsKnown, PrefixKnown};
use click_models::{ContextKnown, ListShape, PbmKnown};
use confidence::{NonNegative, Probability};
use serde::{Deserialize, Serialize};

/// A policy's knowledge of its users before the first round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Knowledge {
    /// Numbers of items and positions, of rows and columns, or of items and the two items compared
    /// (2).
    pub sizes: [usize; 2],
    /// Examination probabilities, one per position; empty if the policy does not know them.
    pub examination: Vec<Probability>,
    /// Position of the best item, of the second best, and so on; empty means from the top down.
    pub places: Vec<usize>,
    /// The constant of relaxed stochastic transitivity, if known.
    pub gamma: Option<NonNegative>,
    /// Number of rounds, if known.
    pub horizon: Option<u64>,
    /// Segments and features, for a policy that sees who asks for a list.
    pub context: Option<ContextKnowledge>,
}

/// Knowledge of users who differ, and of the items.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ContextKnowledge {
    /// Number of segments, at least 1.
    pub segments: u32,
    /// Number of features of a user.
    pub user_features: usize,
    /// Features of the items, item by item; standardised if the policy has begun with a prior.
    pub item_features: Vec<f64>,
}

impl From<ContextKnown<'_>> for ContextKnowledge {
    fn from(known: ContextKnown<'_>) -> Self {
        Self {
            segments: known.n_segments(),
            user_features: known.n_user_features(),
            item_features: known.item_features().to_vec(),
        }
    }
}

impl Knowledge {
    /// The knowledge of these [`sizes`](Self#structfield.sizes) alone.
    pub fn sizes(n_items: usize, n_positions: usize) -> Self {
        Self {
            sizes: [n_items, n_positions],
            examination: vec![],
            places: vec![],
            gamma: None,
            horizon: None,
            context: None,
        }
    }

    /// The knowledge of this shape alone.
    pub fn list(shape: ListShape) -> Self {
        Self::sizes(shape.n_items(), shape.n_positions())
    }

    /// The knowledge of sizes, and perhaps of the order of the positions.
    pub fn prefix(known: &PrefixKnown<'_>) -> Self {
        Self { places: known.places.to_vec(), ..Self::list(known.shape()) }
    }

    /// The knowledge of sizes, and perhaps of the order or the examination of the positions.
    pub fn positions(known: &PositionsKnown<'_>) -> Self {
        match known {
            PositionsKnown::Examination(known) => {
                Self { examination: known.examination().to_vec(), ..Self::list(known.shape()) }
            }
            PositionsKnown::Order(known) => Self::prefix(known),
        }
    }

    /// Without the examination of the positions; what is left of it is their order.
    pub(super) fn without_examination(self) -> Result<Self, Error> {
        if self.examination.is_empty() {
            return Ok(self);
        }
        let places = PositionsKnown::from(PbmKnown::new(self.list_shape()?, &self.examination)?).places();
        let places = if places.is_sorted() { vec![] } else { places };
        Ok(Self { places, examination: vec![], ..self })
    }

    /// The first field that differs, and both values, in words.
    pub(super) fn difference(&self, expected: &Self) -> String {
        let or_none = |value: Option<String>| value.unwrap_or_else(|| "none".to_owned());
        let fields = |knowledge: &Self| {
            let examination: Vec<f64> = knowledge.examination.iter().map(|value| value.get()).collect();
            [
                ("sizes", format!("{:?}", knowledge.sizes)),
                ("examination", format!("{examination:?}")),
                ("places", format!("{:?}", knowledge.places)),
                ("gamma", or_none(knowledge.gamma.map(|gamma| gamma.get().to_string()))),
                ("horizon", or_none(knowledge.horizon.map(|rounds| rounds.to_string()))),
                ("context", or_none(knowledge.context.as_ref().map(|known| format!("{known:?}")))),
            ]
        };
        let pairs = fields(self).into_iter().zip(fields(expected));
        let differing = pairs.into_iter().find(|(found, expected)| found != expected);
        differing.map_or_else(String::new, |((name, found), (_, expected))| {
            format!("{name} = {found}, expected {expected}")
        })
    }

    /// The knowledge of users who differ; nothing if the policy does not see who asks.
    pub(super) fn contexts(&self) -> Result<ContextKnown<'_>, Error> {
        let n_items = self.sizes[0];
        Ok(match &self.context {
            None => ContextKnown::new(n_items, &[])?,
            Some(ContextKnowledge { segments, user_features, item_features }) => {
                ContextKnown::new(n_items, item_features)?
                    .with_user_features(*user_features)
                    .with_segments(*segments)
            }
        })
    }

    // Not inlined in the constructors of all policies.
    #[inline(never)]
    pub(super) fn position_based(&self) -> Result<PbmKnown<'_>, Error> {
        Ok(PbmKnown::new(self.list_shape()?, &self.examination)?)
    }

    #[inline(never)]
    pub(super) fn prefix_known(&self) -> Result<PrefixKnown<'_>, Error> {
        PrefixKnown::with_places(self.list_shape()?, &self.places)
    }

    pub(super) fn list_shape(&self) -> Result<ListShape, Error> {
        Ok(ListShape::new(self.sizes[0], self.sizes[1])?)
    }
}
