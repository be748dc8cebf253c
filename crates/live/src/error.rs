//! Errors of live use.

use crate::Handle;
use click_models::ListShape;

/// Why a setting or a list is refused.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A window without observations.
    #[error("a window needs at least one observation")]
    EmptyWindow,
    /// A probability of exploration outside [0, 1].
    #[error("the probability of exploration is {0}, which is not from 0 to 1")]
    Exploration(f64),
    /// Exploration beside propensities, which do not contain it.
    #[error("`explore` is above 0, but propensities have an epsilon that explores")]
    ExploresTwice,
    /// The prior of a policy without one cannot be estimated.
    #[error("the policy draws from no posterior, so it has no prior to estimate")]
    NoPrior,
    /// A setting that corrects a table, of a policy that has none.
    #[error("`{0}` corrects a table, but the policy learns from whole answers, which cannot be taken back")]
    NoTable(&'static str),
    /// A policy that learns from whole answers, or one that counts positions apart in place of one
    /// that does not: the counts of the other do not tell what it has learned.
    #[error("the counts of the present policy do not tell what another one would have learned")]
    OtherCounts,
    /// No decision would stay open.
    #[error("at least one decision must stay open")]
    NothingOpen,
    /// A list with an item that is neither present nor retired.
    #[error("item {} (generation {}) is not in the catalogue", .0.slot.index(), .0.generation)]
    UnknownItem(Handle),
    /// A list with an item twice.
    #[error("item {} is twice in the list", .0.slot.index())]
    RepeatedItem(Handle),
    /// A list with more positions than the policy counts.
    #[error("the list has {positions} positions, and at most {most} are counted")]
    TooManyPositions {
        /// Positions of the list.
        positions: usize,
        /// The most that it may have: those of the policy if it counts them apart, otherwise
        /// [`ListShape::MAX_POSITIONS`].
        most: usize,
    },
}

/// Why a saved state is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SavedError {
    /// The places of the items contradict each other or the policy.
    #[error("saved state: the items contradict each other or the policy")]
    Items,
    /// A window does not belong to the policy's table.
    #[error("saved state: a window does not belong to the table")]
    Window,
    /// An open decision contradicts itself.
    #[error("saved state: an open decision contradicts itself or the settings")]
    Decision,
    /// The displays and clicks of the items are impossible, or not those of the items.
    #[error("saved state: the displays and clicks of the items are impossible")]
    Tallies,
    /// The counts behind an estimated prior are impossible, or the policy has no prior.
    #[error("saved state: the counts from which the prior is estimated are impossible")]
    Prior,
    /// A setting is invalid.
    #[error("saved state: a setting is invalid")]
    Settings,
}

/// The most positions of a list.
pub(crate) const MOST_POSITIONS: usize = ListShape::MAX_POSITIONS;
