//! Measured queries, read from a JSON file or fitted to a log. Panels with `instances = "data"` run on them. If the experiment says how to
//! read its log, panels that share instances run on them too.
//!
//! A query has a list of attractions (one for each item) and a list of examination probabilities (one for each position). A JSON file holds
//! a list of named queries, or a map from names to queries:
//!
//! ```json
//! [{ "name": "7", "theta": [0.05, 0.03], "kappa": [1.0, 0.5] }]
//! { "7": { "thetas": [0.05, 0.03], "kappas": [1.0, 0.5] } }
//! ```
//!
//! Both forms accept both spellings of the two keys. If the text is not JSON, an error reads `FILE:LINE:COLUMN: what is wrong`; otherwise
//! `FILE: PATH: what is wrong`, with a path such as `$[3].theta[0]`.

mod json;

use self::json::Json;
use click_models::PositionBased;
use confidence::Probability;
use documents::names::{MAX_TITLE, has_invisible};
use documents::toml_reader::{Error, Location, read_file};
use documents::{read_json, sha256};
use std::collections::BTreeSet;
use std::path::Path;

/// Queries and their source.
#[derive(Debug, Clone, Default)]
pub struct Queries {
    /// The path of the file as it was given.
    file: String,
    /// SHA-256 in hexadecimal: of a JSON file's content, or of the parameters that were fitted to a log.
    sha256: String,
    list: Vec<Query>,
    /// One entry for each query of a log; empty without a log.
    fitted: Vec<FittedQuery>,
    /// The strength of the prior of the fit to the log, in pseudo-impressions; `None` if the log decides it.
    prior: Option<f64>,
}

/// A query's parameters.
#[derive(Debug, Clone)]
struct Query {
    name: String,
    /// Its place in the file, for messages.
    place: String,
    attraction: Vec<Probability>,
    examination: Vec<Probability>,
}

/// A query of a log: its fitted attractions, and what the log says of the fit.
#[derive(Debug, Clone, PartialEq)]
pub struct FittedQuery {
    /// Its name in the log.
    pub name: String,
    /// Attractions of its items at the log's first position.
    pub theta: Vec<f64>,
    /// Number of impressions of these items in the fit.
    pub records: u64,
    /// The first singular value of the matrix of click-through rates (item by position), as a share of the sum of all singular values.
    /// The matrix has the items that were shown at every position. `None` without such items, or without a click at the first position.
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
        let list = Reader { file }.queries(&read_json(file, bytes, "JSON")?)?;
        Ok(Self { file: file.to_owned(), sha256, list, ..Self::default() })
    }

    /// Queries fitted to a log, each with its users. `prior` is the strength of the prior in pseudo-impressions; `None` if the log
    /// decided it. `sha256` is the hash of the fitted parameters.
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
                place: format!("query {}", query.name),
                attraction: users.attraction().to_vec(),
                examination: users.examination().to_vec(),
            });
            all.fitted.push(query);
        }
        all
    }

    /// SHA-256 in hexadecimal: of a JSON file's content, or of the parameters that were fitted to a log.
    pub fn sha256(&self) -> &str {
        &self.sha256
    }

    /// One entry for each query of a log; empty without a log.
    pub fn found_in_log(&self) -> &[FittedQuery] {
        &self.fitted
    }

    /// The strength of the prior of the fit to the log, in pseudo-impressions; `None` if the log decided it.
    pub fn prior(&self) -> Option<f64> {
        self.prior
    }

    /// A description for readers: how many queries, from which file, with its SHA-256.
    pub fn label(&self) -> String {
        let count = match self.list.len() {
            1 => "1 query".to_owned(),
            n => format!("{n} queries"),
        };
        let (of, parameters) =
            if self.fitted.is_empty() { ("of", "") } else { ("fitted to", "parameters: ") };
        format!("Measured: {count} {of} {} ({parameters}SHA-256 {}).", self.file, self.sha256)
    }

    /// Builds users from each query's attraction and examination; gives them with the query's name.
    pub(crate) fn each<M>(
        &self,
        build: impl Fn(Vec<Probability>, Vec<Probability>) -> Result<M, click_models::Error>,
    ) -> Result<Vec<(String, M)>, Error> {
        let user = |query: &Query| {
            let model = build(query.attraction.clone(), query.examination.clone())
                .map_err(|error| Reader { file: &self.file }.error(&query.place, &error.to_string()))?;
            Ok((query.name.clone(), model))
        };
        self.list.iter().map(user).collect()
    }
}

/// Reads queries from JSON. Errors name the file and the place.
#[derive(Debug, Clone, Copy)]
struct Reader<'a> {
    file: &'a str,
}

/// The two forms of a file, for messages.
const FORMS: &str = "[{\"name\": .., \"theta\": [..], \"kappa\": [..]}, ..] or {NAME: {\"theta\": [..], \"kappa\": [..]}, ..}";

impl Reader<'_> {
    fn queries(self, json: &Json) -> Result<Vec<Query>, Error> {
        let mut queries: Vec<Query> = Vec::new();
        let mut names = BTreeSet::new();
        let mut push = |query: Query| {
            if !names.insert(query.name.clone()) {
                let message = format!("query {:?} is already given: expected another name", query.name);
                return Err(self.error(&query.place, &message));
            }
            queries.push(query);
            Ok(())
        };
        match json {
            Json::List(list) => {
                for (index, entry) in list.iter().enumerate() {
                    let path = format!("$[{index}]");
                    push(self.query(path, entry, None)?)?;
                }
            }
            Json::Map(map) => {
                for (name, entry) in map {
                    let path = format!("$[{name:?}]");
                    push(self.query(path, entry, Some(name))?)?;
                }
            }
            other => {
                return Err(self.error("$", &format!("{} found: expected {FORMS}", other.describe())));
            }
        }
        if queries.is_empty() {
            Err(self.error("$", &format!("no queries: expected {FORMS}")))
        } else {
            Ok(queries)
        }
    }

    /// Reads a query. `name` is its key in a map; without one the query has a key `name`.
    fn query(self, place: String, json: &Json, name: Option<&str>) -> Result<Query, Error> {
        let path = place.as_str();
        let Json::Map(entries) = json else {
            return Err(self.error(path, &format!("{} found: expected a query, {FORMS}", json.describe())));
        };
        let known: &[&str] = match name {
            Some(_) => &["theta", "thetas", "kappa", "kappas"],
            None => &["name", "theta", "thetas", "kappa", "kappas"],
        };
        for (index, (key, _)) in entries.iter().enumerate() {
            if !known.contains(&key.as_str()) {
                return Err(self.error(path, &format!("unknown key {key:?}: known are {}", known.join(", "))));
            }
            let same = |other: &str| other.trim_end_matches('s') == key.trim_end_matches('s');
            if entries[..index].iter().any(|(other, _)| same(other)) {
                return Err(self.error(&format!("{path}.{key}"), "is already given: expected it once"));
            }
        }
        let name = match name {
            Some(name) => self.name(path, name)?,
            None => match entries.iter().find(|(key, _)| key == "name") {
                Some((_, Json::Text(name))) => self.name(&format!("{path}.name"), name)?,
                Some((_, other)) => {
                    let message = format!("{} found: expected a string", other.describe());
                    return Err(self.error(&format!("{path}.name"), &message));
                }
                None => return Err(self.error(path, "no \"name\": expected what the query is called")),
            },
        };
        let attraction = self.probabilities(path, entries, ["theta", "thetas"], "item")?;
        let examination = self.probabilities(path, entries, ["kappa", "kappas"], "position")?;
        Ok(Query { name, place, attraction, examination })
    }

    /// Checks the name of a query, which tables will show.
    fn name(self, path: &str, name: &str) -> Result<String, Error> {
        let fault = if name.trim().is_empty() || name.trim() != name {
            "the name is empty, or begins or ends with a space"
        } else if has_invisible(name) {
            "the name has a line break, a control character or one that cannot be seen"
        } else if name.chars().count() > MAX_TITLE {
            "the name is longer than 100 characters"
        } else {
            return Ok(name.to_owned());
        };
        Err(self.error(path, &format!("{fault}: expected one line of text")))
    }

    /// Reads the list under one of two keys.
    fn probabilities(
        self,
        path: &str,
        entries: &[(String, Json)],
        keys: [&str; 2],
        each: &str,
    ) -> Result<Vec<Probability>, Error> {
        let Some((key, list)) = entries.iter().find(|(key, _)| keys.contains(&key.as_str())) else {
            let message = format!("no {:?}: expected a list of probabilities, one for each {each}", keys[0]);
            return Err(self.error(path, &message));
        };
        let path = format!("{path}.{key}");
        let Json::List(list) = list else {
            let message = format!("{} found: expected a list of probabilities", list.describe());
            return Err(self.error(&path, &message));
        };
        if list.is_empty() {
            return Err(self.error(&path, &format!("no entries: expected a probability for each {each}")));
        }
        let entry = |(index, entry): (usize, &Json)| {
            let value = if let Json::Number(number) = entry { *number } else { f64::NAN };
            Probability::new(value).map_err(|_| {
                let message =
                    format!("{} is not a probability: expected a number from 0 to 1", entry.describe());
                self.error(&format!("{path}[{index}]"), &message)
            })
        };
        list.iter().enumerate().map(entry).collect()
    }

    fn error(self, path: &str, message: &str) -> Error {
        Location::new(self.file, 0, 0, path).error(message)
    }
}

#[cfg(test)]
mod tests;
