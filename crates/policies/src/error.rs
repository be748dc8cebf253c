//! Errors in the parameters of a policy, or in a saved policy.

/// Invalid parameters of a policy, or an invalid saved policy.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "described where the messages do not say all")]
pub enum Error {
    #[error("the saved tables have lengths that do not belong together")]
    SavedSizes,
    #[error("the saved counts have more clicks than displays")]
    MoreClicksThanShows,
    #[error("a saved count is {0}, more than can have been counted: at most {max} is supported", max = MAX_COUNT)]
    TooManyRounds(u64),
    #[error(transparent)]
    Shape(#[from] click_models::Error),
    #[error("the saved batches do not share out distinct items among all positions")]
    SavedBatches,
    #[error("a saved row or column has a stand-in that does not stand for itself")]
    SavedStandIns,
    #[error("a sampled column that was saved is not a number from 0 to 1")]
    SavedColumns,
    #[error(
        "the saved order of the items does not have each of them once, or the saved threshold is beyond its range"
    )]
    SavedThinning,
    #[error("a saved leader has an unknown item, or an item twice")]
    SavedLeaders,
    #[error(
        "a factor of the saved chain is not inside 0 to 1, or not 1 at the position that is examined most"
    )]
    SavedChain,
    #[error(
        "a belief with mean {mean} and standard deviation {deviation}: expected a mean from 0 to 1 and a deviation of at least 0"
    )]
    NotABelief { mean: f64, deviation: f64 },
    #[error("beliefs of {found} {of}, but there are {most}")]
    TooManyBeliefs { of: &'static str, found: usize, most: usize },
    #[error("a saved belief has more clicks than displays, or more displays than a belief can be worth")]
    SavedPrior,
    #[error("the prior Beta({a}, {b}): expected a above 0 and b of at least 1, both at most 2^30")]
    NotAPrior { a: f64, b: f64 },
    #[error("the prior Beta({a}, {b}): this policy needs a of at least 1")]
    PriorTooSmall { a: f64, b: f64 },
    #[error("this policy draws from no posterior, so it has no prior")]
    NoPrior,
    #[error("a value of {0}: expected a number from 0 to {most}", most = crate::MAX_VALUE)]
    NotAValue(f64),
    #[error("{found} draws of a list: expected 1 to {most}")]
    Draws { found: u32, most: u32 },
    #[error("the saved absent items are not some of the items, each once and in order")]
    SavedAbsent,
    #[error("{0} products of user and item features: at most 2,048 are supported")]
    TooManyCoefficients(usize),
    #[error("{n_segments} segments of {n_items} items: at most 2^24 pairs are supported")]
    TooManyCells { n_segments: u32, n_items: usize },
    #[error("a precision or information of {0}: expected a positive number")]
    NotAScale(f64),
    #[error("the features of an item are {found:?}: expected {expected} finite numbers")]
    FeaturesOfItem { found: Vec<f64>, expected: usize },
    #[error("features of {found} items, but lists of {n_items}")]
    FeaturesOfOtherItems { found: usize, n_items: usize },
    #[error(
        "a feature with mean {mean} and standard deviation {deviation}: expected finite numbers, the second above 0"
    )]
    NotAFeatureScale { mean: f64, deviation: f64 },
    #[error("{found} {of}, but the prior has {expected}")]
    PriorOfOthers { of: &'static str, found: usize, expected: usize },
    #[error("item {item}, feature {feature}, from 0: another value than in the prior")]
    PriorOfOtherFeatures { item: usize, feature: usize },
    #[error("the prior was learned with interactions = {0}: expected the same")]
    PriorWithInteractions(bool),
    #[error(
        "a saved posterior has a mean that is no number, a precision that is not positive, or a deviation outside 0.03 to 3"
    )]
    SavedPosterior,
    #[error("the saved clicks at the positions of an item do not sum to its clicks, or exceed its displays")]
    SavedCellClicks,
    #[error("the saved stage, sweep and place do not belong together")]
    SavedStage,
    #[error(transparent)]
    Number(#[from] confidence::Error),
    #[error("the saved items are not each accepted, rejected or still in question")]
    SavedItems,
    #[error("the saved items that are left are not some of the items, each once and where it belongs")]
    SavedLeft,
    #[error("the places of a list of {n_positions} are not its positions, counted from 0, in some order")]
    NotTheirPlaces { n_positions: usize },
    #[error("the policy does not know examination: it was saved with probabilities")]
    KnowsExamination,
    #[error("position {position} (counted from 0) is beyond a list of {n_positions}")]
    PositionBeyondList { position: usize, n_positions: usize },
}

/// The largest count that a table takes ([`Tallies::add`](crate::Tallies::add)) and that is
/// restored: a thousand displays a second for more than thirty years. Up to this count the exact
/// posterior sampler is accurate, sums over 64 positions are exact as floating-point numbers, and
/// further counting does not overflow.
pub const MAX_COUNT: u64 = 1 << 40;

/// Checks saved tables of displays and clicks cell by cell, and the number of rounds.
pub(crate) fn check_counts(rounds: u64, shows: &[u64], clicks: &[u64]) -> Result<(), Error> {
    check_up_to(MAX_COUNT, shows, clicks)?;
    if rounds > MAX_COUNT { Err(Error::TooManyRounds(rounds)) } else { Ok(()) }
}

/// Checks saved displays and clicks cell by cell, up to a count.
pub(crate) fn check_up_to(most: u64, shows: &[u64], clicks: &[u64]) -> Result<(), Error> {
    if shows.len() != clicks.len() {
        return Err(Error::SavedSizes);
    }
    if clicks.iter().zip(shows).any(|(clicks, shows)| clicks > shows) {
        return Err(Error::MoreClicksThanShows);
    }
    let too_large = shows.iter().find(|&&count| count > most);
    too_large.map_or(Ok(()), |&count| Err(Error::TooManyRounds(count)))
}

/// Returns whether saved numbers are distinct, and below `n`.
pub(crate) fn are_distinct(mut numbers: impl Iterator<Item = usize>, n: usize) -> bool {
    let mut is_there = vec![false; n];
    numbers.all(|number| number < n && !std::mem::replace(&mut is_there[number], true))
}

/// Returns whether saved numbers are a permutation of those below `n`.
pub(crate) fn is_permutation(numbers: impl Iterator<Item = usize> + Clone, n: usize) -> bool {
    numbers.clone().count() == n && are_distinct(numbers, n)
}
