//! What can be wrong with a saved policy.

/// A saved policy that cannot be restored.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The tables of a saved policy have lengths that do not belong together.
    #[error("the saved tables have lengths that do not belong together")]
    SavedSizes,
    /// A count of clicks above the count of displays that they happened on.
    #[error("the saved counts have more clicks than displays")]
    MoreClicksThanShows,
    /// The saved numbers of items and positions make no ranking problem.
    #[error(transparent)]
    Shape(#[from] click_models::Error),
    /// An exploring position beyond the list.
    #[error("position {position} (counted from 0) is beyond a list of {n_positions}")]
    PositionBeyondList {
        /// The position asked for.
        position: usize,
        /// Positions of a list.
        n_positions: usize,
    },
}
