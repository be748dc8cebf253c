//! Errors in the parameters of a click model.

use confidence::Probability;
use std::fmt;

/// A `main` that returns the error prints it so.
impl fmt::Debug for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

/// Parameters that do not describe a click model. Places in lists and matrices count from 0.
#[derive(Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "described where the messages do not say all")]
pub enum Error {
    #[error("{field}[{index}] is {value}, not a probability: expected a number from 0 to 1")]
    NotAProbability { field: &'static str, index: usize, value: f64 },
    #[error("no items: at least one attraction probability is needed")]
    NoItems,
    #[error("{0} items: at most {max} are supported", max = u32::MAX)]
    TooManyItems(usize),
    #[error("{found} features of {n_items} items: expected equally many for every item")]
    ItemFeatures { found: usize, n_items: usize },
    #[error("feature {feature} of item {item} (both counted from 0) is {value}: expected a finite number")]
    NotAFeature { item: usize, feature: usize, value: f64 },
    #[error("no users: at least one is needed")]
    NoUsers,
    #[error("user {user} (counted from 0) has attractions of {found} items, the first one of {n_items}")]
    OtherItems { user: usize, found: usize, n_items: usize },
    #[error("user {user} (counted from 0) has {found} features, the first one {n_features}")]
    OtherFeatures { user: usize, found: usize, n_features: usize },
    #[error("user {user} (counted from 0) is of segment {segment}: expected one below {n_segments}")]
    BeyondSegments { user: usize, segment: u32, n_segments: u32 },
    #[error("{name}: {found} coefficients: expected {expected} finite numbers, or none")]
    Coefficients { name: &'static str, found: usize, expected: usize },
    #[error("no positions: a list has at least one")]
    NoPositions,
    #[error(
        "{n_positions} positions but only {n_items} item{s}: a list shows every item at most once",
        s = if *n_items == 1 { "" } else { "s" }
    )]
    MorePositionsThanItems { n_positions: usize, n_items: usize },
    #[error("a table of {n_rows} rows and {n_columns} columns has no cell: at least one of each is needed")]
    NoCells { n_rows: usize, n_columns: usize },
    #[error("{n_rows} rows and {n_columns} columns: at most {max} cells are supported", max = u32::MAX)]
    TooManyCells { n_rows: usize, n_columns: usize },
    #[error("{0} to compare: at least 2 are needed")]
    TooFewToCompare(usize),
    /// More items than 65,535, the largest number whose ordered pairs 32 bits can number.
    #[error("{0} to compare: at most {max} are supported", max = u16::MAX)]
    TooManyToCompare(usize),
    #[error("row {row} has {found} entries, expected {expected}: a preference matrix is square")]
    NotSquare { row: usize, found: usize, expected: usize },
    #[error("row {row}, column {column}: {value} is not a probability: expected a number from 0 to 1")]
    NotAPreference { row: usize, column: usize, value: f64 },
    #[error("row {item}, column {item}: {value} on the diagonal: expected 1/2, an item compared with itself")]
    DiagonalNotHalf { item: usize, value: f64 },
    #[error(
        "row {row}, column {column}: {value} and {mirrored} the other way round do not add up to 1, as the two outcomes of a \
         comparison do"
    )]
    NotSkew { row: usize, column: usize, value: f64, mirrored: f64 },
    #[error("item {0} is unknown or named twice")]
    NotInASubset(usize),
    #[error("a subset of {size} of {n_items} items: expected from 1 to {n_items}")]
    NotASubsetSize { size: usize, n_items: usize },
    /// [`RankOneModel::calibrated`](crate::RankOneModel::calibrated) cannot construct an instance
    /// with this average and this maximum.
    #[error(
        "an average of {mu} with a maximum of {p_max} and {n_rows} rows: expected more than maximum / rows, at most half the \
         maximum"
    )]
    NotCalibrated { mu: f64, p_max: f64, n_rows: usize },
    /// Feedback is a bit set of 64 positions.
    #[error("{0} positions: at most 64 are supported")]
    TooManyPositions(usize),
    #[error("clicks name a position beyond the last of {len}")]
    ClickBeyondList { len: usize },
    #[error(
        "examination rises from {above} to {below} at position {position} (counted from 0): the user scans from the top, so it cannot"
    )]
    ExaminationRises { position: usize, above: f64, below: f64 },
    #[error("{field}: {found} given, expected one for each of the {n_positions} positions")]
    OneForEachPosition { field: &'static str, found: usize, n_positions: usize },
    #[error("{field}: {found} given, expected one for each of the {n_items} items")]
    OneForEachItem { field: &'static str, found: usize, n_items: usize },
    #[error(
        "examination[{position}] has {found} entries, expected {expected}: one without a click above, and one for a last click at each \
         position above", expected = position + 1
    )]
    NotATriangle { position: usize, found: usize },
    #[error(
        "{n_positions} of {n_items} items: after 10,000,000 beginnings of lists the best list is not certain. Too many lists are about as good: \
         fewer positions or fewer items make the search shorter"
    )]
    SearchTooLong { n_items: usize, n_positions: usize },
    #[error("places: expected the positions 0 to {last}, each once", last = n_positions - 1)]
    NotAnOrder { n_positions: usize },
    #[error("weights[{index}] is {value}: expected a number from 0 to 1e9")]
    NotAWeight { index: usize, value: f64 },
    #[error("values[{index}] is {value}: expected a number from 0 to 1e9")]
    NotAValue { index: usize, value: f64 },
    #[error("clicks have weights by position or values by item: expected one or the other")]
    WeightsAndValues,
    #[error("values of items need one probability to leave after a click, the same at all positions")]
    OtherContinuations,
    /// With such weights the most attractive items need not make the best list.
    #[error(
        "weights rise from {above} to {below} at position {position} (counted from 0): expected them not to"
    )]
    WeightsRise { position: usize, above: f64, below: f64 },
    #[error(
        "{n_positions} positions whose leave probabilities neither fall nor rise from the top down: the list of most clicks is \
         searched for among at most {most} positions"
    )]
    TooManyOrders { n_positions: usize, most: usize },
}

impl Error {
    /// Validates a slice of probabilities; the error names the first invalid entry.
    pub(crate) fn probabilities(field: &'static str, values: &[f64]) -> Result<Vec<Probability>, Self> {
        let check = |(index, &value)| {
            Probability::new(value).map_err(|_| Self::NotAProbability { field, index, value })
        };
        values.iter().enumerate().map(check).collect()
    }
}
