//! A synthetic collection in the form of LETOR data: queries, documents, and features that
//! distinguish relevant documents from others, a few of them well, most of them hardly.
//!
//! One document of a query is relevant, and each other one is relevant with probability 1/20;
//! labels are 0 or 1. Feature `f` has a strength `s_f = 3 u^2`, with `u` uniform. In every query it
//! has an independent share of that strength, uniform from 0 to 2, so some features suit some
//! queries. Its value is `strength * share * label + noise`, with noise of mean 0 and variance 1.
//! Every fourth feature is rounded down to whole numbers, like counts, so that it has ties. Values
//! are scaled to 0 to 1 in every query, as in LETOR, and rounded to six decimals.
//!
//! Reference: none; the form is that of LETOR 3.0. Deviations: none. The constants are round
//! numbers chosen once.
//!
//! | here | meaning | default |
//! |---|---|---|
//! | `n_queries` | queries | 100 |
//! | `n_documents` | documents per query | 100 |
//! | `n_features` | features; each is a ranker | 64 |
//! | `seed` | master seed | 1 |
//!
//! Numerics: noise is the sum of four uniform numbers, scaled: no logarithm, the same bits
//! everywhere. Complexity: linear in the number of values.
//!
//! # Examples
//!
//! ```
//! use interleaving::{Synthetic, letor};
//!
//! let queries = Synthetic { n_queries: 2, n_documents: 5, n_features: 3, seed: 1 }.queries()?;
//! let mut text = Vec::new();
//! letor::write(&queries, &mut text).expect("memory can be written to");
//! let again: Vec<_> = letor::Reader::new("synthetic.txt", &text[..]).collect::<Result<_, _>>().unwrap();
//! assert_eq!(again, queries);
//! # Ok::<(), interleaving::Error>(())
//! ```

use crate::letor::MAX_FEATURES;
use crate::streams::{Role, stream};
use crate::{Error, Query};
use rand::{Rng, RngExt};

/// Sizes of a synthetic collection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Synthetic {
    /// Number of queries.
    pub n_queries: usize,
    /// Documents of every query.
    pub n_documents: usize,
    /// Features of every document.
    pub n_features: usize,
    /// Master seed.
    pub seed: u64,
}

impl Default for Synthetic {
    fn default() -> Self {
        Self { n_queries: 100, n_documents: 100, n_features: 64, seed: 1 }
    }
}

impl Synthetic {
    /// The queries, named 1, 2 and so on.
    ///
    /// # Errors
    ///
    /// [`Error::CollectionSize`].
    pub fn queries(self) -> Result<Vec<Query>, Error> {
        let Self { n_queries, n_documents, n_features, seed } = self;
        let n_values = n_queries.checked_mul(n_documents).and_then(|rows| rows.checked_mul(n_features));
        if n_values.is_none_or(|values| values == 0 || values > 1 << 28) || n_features > MAX_FEATURES {
            return Err(Error::CollectionSize { n_queries, n_documents, n_features });
        }
        let mut rng = stream(seed, Role::SyntheticFeatures, 0);
        let strengths: Vec<f64> = (0..n_features)
            .map(|_| {
                let uniform = rng.random::<f64>();
                3.0 * uniform * uniform
            })
            .collect();
        (0..n_queries).map(|number| self.query(number, &strengths)).collect()
    }

    fn query(self, number: usize, strengths: &[f64]) -> Result<Query, Error> {
        let mut rng = stream(self.seed, Role::SyntheticQuery, number as u64);
        let certain = rng.random_range(0..self.n_documents);
        let labels: Vec<u8> = (0..self.n_documents)
            .map(|document| u8::from(rng.random::<f64>() < 0.05 || (document == certain)))
            .collect();
        let mut rows = vec![vec![0.0; strengths.len()]; self.n_documents];
        let mut column = vec![0.0; self.n_documents];
        for (feature, strength) in strengths.iter().enumerate() {
            let here = strength * 2.0 * rng.random::<f64>();
            for (value, &label) in column.iter_mut().zip(&labels) {
                *value = here * f64::from(label) + noise(&mut rng);
                if feature % 4 == 3 {
                    *value = value.floor();
                }
            }
            let least = column.iter().copied().fold(f64::INFINITY, f64::min);
            let range = column.iter().copied().fold(f64::NEG_INFINITY, f64::max) - least;
            for (row, value) in rows.iter_mut().zip(&column) {
                let scaled = if range > 0.0 { (value - least) / range } else { 0.0 };
                row[feature] = (scaled * 1e6).round() / 1e6;
            }
        }
        let rows: Vec<&[f64]> = rows.iter().map(Vec::as_slice).collect();
        Query::new((number + 1).to_string(), labels, &rows)
    }
}

/// Noise with mean 0 and variance 1, nearly normal within two standard deviations.
fn noise<R: Rng + ?Sized>(rng: &mut R) -> f64 {
    let sum: f64 = (0..4).map(|_| rng.random::<f64>()).sum();
    (sum - 2.0) * 3_f64.sqrt()
}
