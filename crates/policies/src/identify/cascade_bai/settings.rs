//! Settings, which do not change while a policy plays.

use crate::Delta;
use confidence::NonNegative;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Settings {
    pub(super) n_best: usize,
    pub(super) n_shown: usize,
    pub(super) delta: Delta,
    pub(super) epsilon: NonNegative,
    pub(super) radius_scale: NonNegative,
    pub(super) order: ShowOrder,
    pub(super) rival: Rival,
}

/// The order of the items on a list; it does not affect which items are shown.
///
/// All orders but the first are from section 6.1 of the paper. They have no guarantee: an item at
/// the end may never be observed. An ascending order is the reverse of the descending one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ShowOrder {
    /// The least observed first: Algorithm 1.
    #[default]
    LeastObserved,
    /// The smallest empirical mean first; it is 0 without an observation.
    MeanAsc,
    /// The largest empirical mean first.
    MeanDesc,
    /// The smallest upper bound first.
    UpperAsc,
    /// The largest upper bound first.
    UpperDesc,
    /// The smallest lower bound first.
    LowerAsc,
    /// The largest lower bound first.
    LowerDesc,
}

/// The bounds that an item has to beat.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Rival {
    /// The bounds of the items whose means have the ranks k and k + 1: `CascadeBAI`.
    OfMean,
    /// The bounds that themselves have the ranks k and k + 1: `BatchRacing`.
    OfBound,
}

/// Number of items that `BatchRacing` pulls in a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pulls {
    /// The number of items to find: BatRac(K).
    #[default]
    List,
    /// One: BatRac(1).
    One,
}
