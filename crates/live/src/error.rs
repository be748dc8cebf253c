//! Errors of live use.

use crate::Handle;
use click_models::ListShape;
use policies::catalogue::WITH_VALUES;

/// Why a setting or a list is refused. Positions count from 0.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "described where the messages do not say all")]
pub enum Error {
    #[error("a window needs at least one observation")]
    EmptyWindow,
    #[error("the probability of exploration is {0}, which is not from 0 to 1")]
    Exploration(f64),
    #[error("`explore` is above 0, but propensities have an epsilon that explores")]
    ExploresTwice,
    #[error("the policy draws from no posterior, so it has no prior to estimate")]
    NoPrior,
    #[error("`{0}` corrects a table, but the policy learns from whole answers, which cannot be taken back")]
    NoTable(&'static str),
    /// The policies learn from whole answers, or only one of the two counts positions apart.
    #[error("the counts of the present policy do not tell what another one would have learned")]
    OtherCounts,
    #[error("a value of {0}: expected a number from 0 to {most}", most = policies::MAX_VALUE)]
    Value(f64),
    #[error("a `cap` of {0}: expected a number above 0")]
    Cap(f64),
    #[error("the policy has no values of items: {WITH_VALUES}")]
    NoValues,
    #[error("the values of items are those of the answers, and cannot be told")]
    ValuesOfAnswers,
    #[error("the position has no click, and no value")]
    NoClick(usize),
    #[error("the value of the position has a `revision`: another one needs one too")]
    NoRevision(usize),
    #[error("the policy sees who asks: it takes no values, groups or pins")]
    NoTerms,
    /// Pins or limits of groups beside propensities, which would not be those of the list.
    #[error("pins and `most` are not possible together with propensities")]
    TermsAndPropensities,
    #[error("`most` is 0: at least one item of a group may be shown")]
    NoneOfAGroup,
    #[error("`most` limits the items of a group, but no item has a group")]
    NoGroups,
    #[error("a pin beyond a list of {positions}")]
    PinBeyondList { position: usize, positions: usize },
    #[error("an item or a position is pinned twice")]
    PinnedTwice(Handle),
    #[error("the pinned item is not available")]
    PinNotAvailable(Handle),
    #[error("at least one decision must stay open")]
    NothingOpen,
    /// A list with an item that is neither present nor retired.
    #[error("item {} (generation {}) is not in the catalogue", .0.slot.index(), .0.generation)]
    UnknownItem(Handle),
    #[error("item {} is twice in the list", .0.slot.index())]
    RepeatedItem(Handle),
    /// A list with more positions than the policy counts, else [`ListShape::MAX_POSITIONS`].
    #[error("the list has {positions} positions, and at most {most} are counted")]
    TooManyPositions { positions: usize, most: usize },
}

/// Why a saved state is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "described where the messages do not say all")]
pub enum SavedError {
    #[error("saved state: the items contradict each other or the policy")]
    Items,
    #[error("saved state: a window does not belong to the table")]
    Window,
    #[error("saved state: an open decision contradicts itself or the settings")]
    Decision,
    #[error("saved state: the displays and clicks of the items are impossible")]
    Tallies,
    /// The counts behind an estimated prior are impossible, or the policy has no prior.
    #[error("saved state: the counts from which the prior is estimated are impossible")]
    Prior,
    /// Values or groups of items are impossible, or not those of the items and decisions.
    #[error("saved state: values or groups are impossible")]
    Values,
    #[error("saved state: a setting is invalid")]
    Settings,
}

/// The most positions of a list.
pub(crate) const MOST_POSITIONS: usize = ListShape::MAX_POSITIONS;
