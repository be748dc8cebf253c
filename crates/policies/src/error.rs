//! What can be wrong with a policy's parameters, or with a saved policy.

/// Parameters that a policy cannot have, or a saved policy that cannot be restored.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The tables of a saved policy have lengths that do not belong together.
    #[error("the saved tables have lengths that do not belong together")]
    SavedSizes,
    /// A count of clicks above the count of displays that they happened on.
    #[error("the saved counts have more clicks than displays")]
    MoreClicksThanShows,
    /// A saved count that no service reaches, and that sums of counts could not hold exactly.
    #[error("a saved count is {0}, more than can have been counted: at most {max} is supported", max = MAX_COUNT)]
    TooManyRounds(u64),
    /// The saved numbers of items and positions make no ranking problem.
    #[error(transparent)]
    Shape(#[from] click_models::Error),
    /// Saved batches of `BatchRank` that overlap, name unknown items, or do not fill the list.
    #[error("the saved batches do not share out distinct items among all positions")]
    SavedBatches,
    /// Saved rows or columns that somebody stands in for who is gone.
    #[error("a saved row or column has a stand-in that does not stand for itself")]
    SavedStandIns,
    /// Saved columns of a sample that are no probabilities.
    #[error("a sampled column that was saved is not a number from 0 to 1")]
    SavedColumns,
    /// A saved stage of an elimination that it cannot be in.
    #[error("the saved stage, sweep and place do not belong together")]
    SavedStage,
    /// A number outside the range that its meaning allows.
    #[error(transparent)]
    Number(#[from] confidence::Error),
    /// Saved items of an identification that are not shared out among the accepted, the rejected and those in question.
    #[error("the saved items are not each accepted, rejected or still in question")]
    SavedItems,
    /// Saved items that are left of an elimination, or still to come, which are not some of the items, each once and where it belongs.
    #[error("the saved items that are left are not some of the items, each once and where it belongs")]
    SavedLeft,
    /// Places of a list that are not its positions in some order.
    #[error("the places of a list of {n_positions} are not its positions, counted from 0, in some order")]
    NotTheirPlaces {
        /// Positions of a list.
        n_positions: usize,
    },
    /// An exploring position beyond the list.
    #[error("position {position} (counted from 0) is beyond a list of {n_positions}")]
    PositionBeyondList {
        /// The position asked for.
        position: usize,
        /// Positions of a list.
        n_positions: usize,
    },
}

/// The largest count that is restored: a thousand displays a second for more than thirty years. Below it the exact posterior's
/// sampler keeps its promises, sums over 64 positions are exact as floating-point numbers, and counting on does not overflow.
pub(crate) const MAX_COUNT: u64 = 1 << 40;

/// Checks saved tables of displays and of clicks, cell by cell, and the number of rounds.
pub(crate) fn check_counts(rounds: u64, shows: &[u64], clicks: &[u64]) -> Result<(), Error> {
    if shows.len() != clicks.len() {
        return Err(Error::SavedSizes);
    }
    if clicks.iter().zip(shows).any(|(clicks, shows)| clicks > shows) {
        return Err(Error::MoreClicksThanShows);
    }
    match shows.iter().chain([&rounds]).find(|&&count| count > MAX_COUNT) {
        Some(&count) => Err(Error::TooManyRounds(count)),
        None => Ok(()),
    }
}
