//! Errors in rankings and settings.

/// Invalid rankings, or settings of an estimation. Documents, features and places count from 0.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "described where the messages do not say all")]
pub enum Error {
    #[error("{field}[{index}] is {value}, not a probability: expected a number from 0 to 1")]
    NotAProbability { field: &'static str, index: usize, value: f64 },
    #[error("{click} grades in `click`, {stop} in `stop`: expected the same number of both, at least one")]
    Grades { click: usize, stop: usize },
    /// A name of a query that could not be read back from a file.
    #[error("{0:?} cannot be the name of a query: expected something without spaces and #")]
    QueryName(String),
    #[error("query {query:?}: {rows} rows of features for {labels} labels")]
    Rows { query: String, rows: usize, labels: usize },
    #[error("query {query:?} has no documents")]
    NoDocuments { query: String },
    #[error("query {query:?}, document {document}, feature {feature}: {value} is not a finite number")]
    NotFinite { query: String, document: usize, feature: usize, value: f64 },
    #[error("query {query:?}, document {document}: feature {feature} is out of order, or not below {max}", max = crate::letor::MAX_FEATURES)]
    FeatureOrder { query: String, document: usize, feature: usize },
    #[error(
        "not a ranking of {n_documents} documents: expected every number from 0 up once, position {position} has {document}"
    )]
    NotAPermutation { n_documents: usize, position: usize, document: u32 },
    #[error("a ranking of {first} documents and one of {second}: expected the same documents in both")]
    DifferentDocuments { first: usize, second: usize },
    #[error("query {query} (counted from 0) is ranked by {found} rankers, the first one by {expected}")]
    DifferentRankers { query: usize, found: usize, expected: usize },
    #[error("no queries: at least one is needed")]
    NoQueries,
    #[error("{0} rankers: at least two are needed for a comparison, at most 65535 are supported")]
    Rankers(usize),
    #[error("{n_rankers} rankers of {n_documents} documents: at most 2^30 places in rankings are supported")]
    TooManyPlaces { n_rankers: usize, n_documents: usize },
    #[error("list_length is {0}: expected 1 to 64")]
    ListLength(usize),
    #[error("comparisons_per_pair is 0: expected at least 1")]
    NoComparisons,
    #[error("{found} pairs with counts: expected {expected}")]
    Tallies { found: usize, expected: usize },
    #[error("a collection of {n_queries} queries, {n_documents} documents each, {n_features} features: expected at least one of each, at most 2^28 values, at most {max} features", max = crate::letor::MAX_FEATURES)]
    CollectionSize { n_queries: usize, n_documents: usize, n_features: usize },
}
