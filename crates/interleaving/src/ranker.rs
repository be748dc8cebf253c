//! Rankers, given by the order in which they show the documents of a query.
//!
//! A feature ranker sorts the documents of a query by one feature, the largest value first.
//! [`RankedCollection::by_features`] ranks all queries by each of several features. To supply other
//! rankings, build [`RankedDocuments`] of a [`RankedQuery`].
//!
//! Reference: the rankers of Zoghi, Whiteson, Munos, de Rijke, *Relative upper confidence bound for
//! the K-armed dueling bandit problem*, ICML 2014, section 6: one for each feature of LETOR NP2004.
//!
//! Deviations: documents with equal values are put in a random order, drawn once per query (from
//! the seed and the index of the query) and shared by all rankers. So a ranker is a function of the
//! query, as in section 6; neither the order of the file nor a document's name matters, and rankers
//! with equal values show equal lists.
//!
//! | here | paper | shape | unit |
//! |---|---|---|---|
//! | `n_rankers` | K | number | rankers |
//! | `order` | - | one per document, the top first | 0-based documents |
//! | `rank` | - | one per document | 0-based positions |
//!
//! Numerics: values are only compared. Complexity: O(n log n) once per ranker and query with n
//! documents; 8 bytes per ranker and document.
//!
//! # Examples
//!
//! ```
//! use interleaving::{Query, RankedCollection};
//!
//! let query = Query::new("bern", vec![0, 1, 0], &[&[0.5, 3.0], &[0.7, 1.0], &[0.6, 2.0]])?;
//! let ranked = RankedCollection::by_features(&[query], &[0, 1], 1)?;
//! assert_eq!(ranked.queries()[0].rankings()[0].order(), [1, 2, 0]);
//! assert_eq!(ranked.queries()[0].rankings()[1].order(), [0, 2, 1]);
//! # Ok::<(), interleaving::Error>(())
//! ```

use crate::streams::{Role, stream};
use crate::{Error, Query};
use rand::Rng;
use rayon::prelude::*;

/// All documents of a query, best first.
#[derive(Debug, Clone, PartialEq, Eq, fieldwork::Fieldwork)]
#[fieldwork(get(doc_template = "{}"))]
pub struct RankedDocuments {
    /// Documents from the top down.
    order: Vec<u32>,
    /// 0-based position of every document.
    rank: Vec<u32>,
}

impl RankedDocuments {
    /// Documents, counted from 0, in this order.
    ///
    /// # Errors
    ///
    /// [`Error::NotAPermutation`] unless every number from 0 to the length minus 1 occurs once.
    pub fn new(order: Vec<u32>) -> Result<Self, Error> {
        const MISSING: u32 = u32::MAX;
        let n_documents = order.len();
        let mut rank = vec![MISSING; n_documents];
        for (position, &document) in order.iter().enumerate() {
            let wrong = Error::NotAPermutation { n_documents, position, document };
            let (Some(place), Ok(position)) = (rank.get_mut(document as usize), u32::try_from(position))
            else {
                return Err(wrong);
            };
            if *place != MISSING {
                return Err(wrong);
            }
            *place = position;
        }
        Ok(Self { order, rank })
    }
}

/// A query with the ranking of every ranker.
#[derive(Debug, Clone, PartialEq, Eq, fieldwork::Fieldwork)]
#[fieldwork(get(doc_template = "{}"))]
pub struct RankedQuery {
    /// Grade of relevance of every document.
    labels: Vec<u8>,
    /// The ranking of every ranker.
    rankings: Vec<RankedDocuments>,
}

impl RankedQuery {
    /// Documents with these labels, in the order of every ranker.
    ///
    /// # Errors
    ///
    /// If there is no document, there are fewer than two rankers, or a ranker ranks another number
    /// of documents.
    pub fn new(labels: Vec<u8>, rankings: Vec<RankedDocuments>) -> Result<Self, Error> {
        if labels.is_empty() {
            return Err(Error::NoDocuments { query: String::new() });
        }
        if rankings.len() < 2 || rankings.len() > usize::from(u16::MAX) {
            return Err(Error::Rankers(rankings.len()));
        }
        match rankings.iter().find(|ranking| ranking.order.len() != labels.len()) {
            Some(other) => Err(Error::DifferentDocuments { first: labels.len(), second: other.order.len() }),
            None => Ok(Self { labels, rankings }),
        }
    }
}

/// Queries with the rankings of the same rankers.
#[derive(Debug, Clone, PartialEq, Eq, fieldwork::Fieldwork)]
#[fieldwork(get(doc_template = "{}"))]
pub struct RankedCollection {
    /// The queries, at least one.
    queries: Vec<RankedQuery>,
}

impl RankedCollection {
    /// These queries.
    ///
    /// # Errors
    ///
    /// If there is no query, or the numbers of rankers differ.
    pub fn new(queries: Vec<RankedQuery>) -> Result<Self, Error> {
        let expected = queries.first().ok_or(Error::NoQueries)?.rankings.len();
        match queries.iter().position(|query| query.rankings.len() != expected) {
            Some(query) => {
                Err(Error::DifferentRankers { query, found: queries[query].rankings.len(), expected })
            }
            None => Ok(Self { queries }),
        }
    }

    /// One ranker for each of these features, counted from 0; `seed` breaks ties.
    ///
    /// # Errors
    ///
    /// If there is no query, there are fewer than two features, or more than 2^30 documents times
    /// features.
    pub fn by_features(queries: &[Query], features: &[usize], seed: u64) -> Result<Self, Error> {
        let (n_rankers, n_documents) =
            (features.len(), queries.iter().map(Query::n_documents).sum::<usize>());
        if n_rankers.checked_mul(n_documents).is_none_or(|places| places > 1 << 30) {
            return Err(Error::TooManyPlaces { n_rankers, n_documents });
        }
        let ranked = queries.par_iter().enumerate().map(|(number, query)| {
            let mut rng = stream(seed, Role::Ties, number as u64);
            let ties: Vec<u64> = (0..query.n_documents()).map(|_| rng.next_u64()).collect();
            let rankings = features.iter().map(|&feature| by_feature(query, feature, &ties)).collect();
            RankedQuery::new(query.labels().to_vec(), rankings)
        });
        Self::new(ranked.collect::<Result<_, _>>()?)
    }

    /// Number of rankers, at least two.
    pub fn n_rankers(&self) -> usize {
        self.queries[0].rankings.len()
    }
}

/// The documents of a query, sorted by one feature; ties by the smaller key.
fn by_feature(query: &Query, feature: usize, ties: &[u64]) -> RankedDocuments {
    let mut keyed: Vec<(f64, u64, u32)> = (0_u32..)
        .zip(ties)
        .map(|(document, &tie)| (query.feature(document as usize, feature), tie, document))
        .collect();
    // Not `total_cmp`: 0 and -0 are the same value.
    keyed.sort_unstable_by(|left, right| {
        let values = right.0.partial_cmp(&left.0).unwrap_or(std::cmp::Ordering::Equal);
        values.then((left.1, left.2).cmp(&(right.1, right.2)))
    });
    let order = keyed.into_iter().map(|(_, _, document)| document).collect();
    RankedDocuments::new(order).expect("every document once")
}
