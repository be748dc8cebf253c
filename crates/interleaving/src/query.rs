//! A query: documents, each with a label and features.
//!
//! The label is a grade of relevance, 0 for a document that is not relevant. Features count from 0
//! here and from 1 in files. A feature that a document does not list is 0, as in the svmlight
//! format; only listed features take memory.

use crate::Error;
use crate::letor::MAX_FEATURES;
use std::collections::BTreeSet;

/// The documents of a query, with their labels and features.
#[derive(Debug, Clone, PartialEq, fieldwork::Fieldwork)]
#[fieldwork(get(doc_template = "{}"))]
pub struct Query {
    /// The name of the query.
    id: String,
    /// Grade of relevance of every document.
    labels: Vec<u8>,
    /// Listed features, document after document, in increasing order within each.
    #[field(skip)]
    mentioned: Vec<(u32, f64)>,
    /// Where the features of a document end in `mentioned`.
    #[field(skip)]
    ends: Vec<usize>,
    /// One more than the largest feature that any document lists.
    n_features: usize,
}

impl Query {
    /// A query named `id`, from one label and one row of features per document.
    ///
    /// # Errors
    ///
    /// If the name is empty or contains spaces or `#`, if there are no documents, if the numbers of
    /// rows and labels differ, if a value is not finite, or if there are too many features.
    ///
    /// # Examples
    ///
    /// ```
    /// use interleaving::Query;
    ///
    /// let query = Query::new("bern", vec![0, 1], &[&[0.25, 1.0], &[0.5]])?;
    /// assert_eq!((query.n_documents(), query.n_features()), (2, 2));
    /// assert_eq!((query.feature(0, 1), query.feature(1, 1)), (1.0, 0.0));
    /// # Ok::<(), interleaving::Error>(())
    /// ```
    pub fn new(id: impl Into<String>, labels: Vec<u8>, rows: &[&[f64]]) -> Result<Self, Error> {
        let id = id.into();
        if id.is_empty() || id.contains(|letter: char| letter.is_whitespace() || letter == '#') {
            return Err(Error::QueryName(id));
        }
        if rows.len() != labels.len() {
            return Err(Error::Rows { query: id, rows: rows.len(), labels: labels.len() });
        }
        let mut query = Self::named(id);
        for (&row, label) in rows.iter().zip(labels) {
            query.push(label, (0_u32..).zip(row.iter().copied()))?;
        }
        if query.labels.is_empty() { Err(Error::NoDocuments { query: query.id }) } else { Ok(query) }
    }

    /// A query without documents, to which documents are added.
    pub(crate) fn named(id: String) -> Self {
        Self { id, labels: Vec::new(), mentioned: Vec::new(), ends: Vec::new(), n_features: 0 }
    }

    /// Adds a document. After an error, the query must not be used any more.
    pub(crate) fn push(
        &mut self,
        label: u8,
        features: impl IntoIterator<Item = (u32, f64)>,
    ) -> Result<(), Error> {
        let document = self.labels.len();
        let mut next = 0;
        for (feature, value) in features {
            let index = feature as usize;
            if index < next || index >= MAX_FEATURES {
                return Err(Error::FeatureOrder { query: self.id.clone(), document, feature: index });
            }
            if !value.is_finite() {
                return Err(Error::NotFinite { query: self.id.clone(), document, feature: index, value });
            }
            next = index + 1;
            self.mentioned.push((feature, value));
        }
        self.n_features = self.n_features.max(next);
        self.labels.push(label);
        self.ends.push(self.mentioned.len());
        Ok(())
    }

    /// Number of documents, at least one.
    pub fn n_documents(&self) -> usize {
        self.labels.len()
    }

    /// The features that any document of these queries lists, in order.
    pub fn listed_features(queries: &[Self]) -> Vec<usize> {
        let mentioned = queries.iter().flat_map(|query| &query.mentioned);
        let features: BTreeSet<u32> = mentioned.map(|&(feature, _)| feature).collect();
        features.into_iter().map(|feature| feature as usize).collect()
    }

    /// The features that a document lists, in increasing order, with their values.
    ///
    /// # Panics
    ///
    /// If there is no such document.
    pub fn mentioned(&self, document: usize) -> &[(u32, f64)] {
        let start = if document == 0 { 0 } else { self.ends[document - 1] };
        &self.mentioned[start..self.ends[document]]
    }

    /// The value of a feature; 0 if the document does not list it.
    ///
    /// # Panics
    ///
    /// If there is no such document.
    pub fn feature(&self, document: usize, feature: usize) -> f64 {
        let row = self.mentioned(document);
        match row.get(feature) {
            // All features are listed, as in most files: no search is needed.
            Some(&(found, value)) if found as usize == feature => value,
            _ => row
                .binary_search_by_key(&feature, |&(found, _)| found as usize)
                .map_or(0.0, |place| row[place].1),
        }
    }
}
