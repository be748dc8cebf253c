//! Measured queries, read from a JSON file or fitted to a log. Panels with `instances = "data"` run
//! on them. If the experiment says how to read its log, panels that share instances do so too.
//!
//! A JSON file holds the list of `click-bandits formats queries.json`, or a map from names to
//! queries. The keys may also be `thetas` and `kappas`, or `attraction` and `examination`.

use click_models::PositionBased;
use confidence::Probability;
use documents::names::title_fault;
use documents::number::counted;
use documents::toml_reader::{Error, read_file};
use documents::{read_json, sha256};
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;

/// Queries and their source.
#[derive(Debug, Clone, Default)]
pub struct Queries {
    /// The path of the file as it was given.
    file: String,
    /// SHA-256 in hexadecimal, of a JSON file or of the parameters fitted to a log.
    pub sha256: String,
    list: Vec<Query>,
    /// One entry for each query of a log; empty without a log.
    pub found_in_log: Vec<FittedQuery>,
    /// The strength of the fit's prior, in pseudo-impressions; `None` if the log decided it.
    pub prior: Option<f64>,
}

/// A query's parameters.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a query")]
struct Query {
    name: String,
    #[serde(rename = "theta", alias = "thetas", alias = "attraction")]
    attraction: Vec<Probability>,
    #[serde(rename = "kappa", alias = "kappas", alias = "examination")]
    examination: Vec<Probability>,
}

/// The two forms of a file, for messages.
const FORMS: &str = "[{\"name\": .., \"theta\": [..], \"kappa\": [..]}, ..] or {NAME: {\"theta\": [..], \"kappa\": [..]}, ..}";

/// A query of a log: its fitted attractions, and the log's statistics of the fit.
#[derive(Debug, Clone, PartialEq)]
pub struct FittedQuery {
    /// Its name in the log.
    pub name: String,
    /// Attractions of its items at the log's first position.
    pub theta: Vec<f64>,
    /// Number of impressions of these items in the fit.
    pub records: u64,
    /// The first singular value of the matrix of click-through rates (item by position), as a share
    /// of the sum of all singular values. The matrix contains the items that were shown at every
    /// position. `None` without such items, or without a click at the first position.
    pub first_singular_value: Option<f64>,
}

impl Queries {
    /// Reads a JSON file.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or does not have the form that the head of this module describes.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let bytes = read_file(path, "a JSON file")?;
        Self::from_bytes(&path.display().to_string(), &bytes)
    }

    fn from_bytes(file: &str, bytes: &[u8]) -> Result<Self, Error> {
        let sha256 = sha256(bytes);
        let Content(list) = read_json(file, bytes, FORMS)?;
        let mut names = BTreeSet::new();
        let fault = list.iter().find_map(|query| {
            let is_new = names.insert(&query.name);
            let twice = || "is already given: expected another name".to_owned();
            let fault = fault_of(query).or_else(|| (!is_new).then(twice))?;
            Some(format!("query {:?}: {fault}", query.name))
        });
        let none = || list.is_empty().then(|| format!("no queries: expected {FORMS}"));
        if let Some(fault) = fault.or_else(none) {
            return Err(Error::whole_file(file, fault));
        }
        Ok(Self { file: file.to_owned(), sha256, list, ..Self::default() })
    }

    /// Queries fitted to a log, each with its users. `prior` is the strength of the prior in
    /// pseudo-impressions; `None` if the log decided it. `sha256` is the hash of the fitted
    /// parameters.
    pub fn fitted(
        log: &Path,
        sha256: String,
        queries: Vec<(FittedQuery, PositionBased)>,
        prior: Option<f64>,
    ) -> Self {
        let mut all = Self { file: log.display().to_string(), sha256, prior, ..Self::default() };
        for (query, users) in queries {
            all.list.push(Query {
                name: query.name.clone(),
                attraction: users.attraction().to_vec(),
                examination: users.examination().to_vec(),
            });
            all.found_in_log.push(query);
        }
        all
    }

    /// A description for readers: how many queries, from which file, with its SHA-256.
    pub fn label(&self) -> String {
        let count = counted(self.list.len() as u64, "query");
        let (of, parameters) =
            if self.found_in_log.is_empty() { ("of", "") } else { ("fitted to", "parameters: ") };
        format!("Measured: {count} {of} {} ({parameters}SHA-256 {}).", self.file, self.sha256)
    }

    /// Builds users from each query's attraction and examination; gives them with the query's name.
    pub(crate) fn each<M>(
        &self,
        build: impl Fn(Vec<Probability>, Vec<Probability>) -> Result<M, click_models::Error>,
    ) -> Result<Vec<(String, M)>, Error> {
        let user = |query: &Query| {
            let model = build(query.attraction.clone(), query.examination.clone())
                .map_err(|error| Error::whole_file(&self.file, format!("query {:?}: {error}", query.name)))?;
            Ok((query.name.clone(), model))
        };
        self.list.iter().map(user).collect()
    }
}

/// The queries of a file, in its order.
struct Content(Vec<Query>);

/// A query without its name.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a query without its name")]
struct Parameters {
    #[serde(alias = "thetas", alias = "attraction")]
    theta: Vec<Probability>,
    #[serde(alias = "kappas", alias = "examination")]
    kappa: Vec<Probability>,
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Forms)
    }
}

/// The two forms of a file.
struct Forms;

impl<'de> Visitor<'de> for Forms {
    type Value = Content;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("queries")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut entries: A) -> Result<Content, A::Error> {
        let mut queries = Vec::new();
        while let Some(query) = entries.next_element()? {
            queries.push(query);
        }
        Ok(Content(queries))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Content, A::Error> {
        let mut queries = Vec::new();
        while let Some((name, Parameters { theta, kappa })) = entries.next_entry()? {
            queries.push(Query { name, attraction: theta, examination: kappa });
        }
        Ok(Content(queries))
    }
}

/// The fault of a query, which tables will show; `None` without one.
fn fault_of(query: &Query) -> Option<String> {
    let is_empty = query.attraction.is_empty() || query.examination.is_empty();
    let fault = || "no entries: expected a probability for each item and position".to_owned();
    title_fault(&query.name).or_else(|| is_empty.then(fault))
}

#[cfg(test)]
mod tests;
