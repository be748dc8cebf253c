//! `parameters.json`: the fits of a log, which `fit` writes and experiments read.
//!
//! Queries and items have the names of the log; positions count from 1 as in logs. Unknown values
//! are left out or `null`. In a fit without priors, the attraction of an item without impressions
//! is [`f64::NAN`] here and `null` in the file. The upper end of an unbounded interval is infinite
//! here and `null` in the file.
//!
//! A file of version 2 names a table with the parameters of queries. It is refused: what it has
//! itself is of no use without the table, which other programs read.
//!
//! # Examples
//!
//! ```
//! use documents::parameters::Parameters;
//!
//! let error = Parameters::from_json("parameters.json", b"{\"schema\": 3}").unwrap_err();
//! assert_eq!(error.to_string(), "parameters.json: schema: 3, expected 1: the file is of another version of this program");
//! ```

#![expect(missing_docs, reason = "some fields need no more than their names")]

mod check;
mod model;
mod null;
mod prior;

pub use model::{Model, ModelParameters, PositionParameters, Scope};
pub use prior::{FittedPrior, common_prior, continuation, item_prior, item_prior_in};

use crate::json::read_json;
use crate::regular::read_regular;
use crate::toml_reader::{Error, Location};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The version of a file with the parameters of all queries.
pub const SCHEMA: u64 = 1;
/// The version of a file that names a table with the parameters of queries.
pub const WITH_TABLE: u64 = 2;

/// The content of the file. The types are those of its lists, which are in memory unless a file is
/// written query by query.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters<M = Vec<ModelRecord>, I = Vec<IdentifiabilityRecord>, R = Vec<RankOneRecord>> {
    /// The version of the file: 1.
    pub schema: u64,
    /// Counts of what was read.
    pub log: LogRecord,
    /// Size of the data that were fitted.
    pub fitted: FittedRecord,
    /// Whether queries share the parameters of positions and continuation.
    pub scope: Scope,
    /// The confidence level of intervals.
    pub level: f64,
    /// The type of the names of items in the log.
    #[serde(default, skip_serializing_if = "IdType::is_text")]
    pub item_type: IdType,
    /// The type of the names of queries in the log.
    #[serde(default, skip_serializing_if = "IdType::is_text")]
    pub query_type: IdType,
    /// The models that were fitted.
    pub models: M,
    /// Parameters of a position-based model that the counts cannot identify: one report per query,
    /// or one for all.
    pub identifiability: I,
    /// How close the click-through rates of every query are to rank one.
    pub rank_one: R,
}

/// The type of the names of items, or of queries, in the log. A file has them as text: a whole
/// number in decimal digits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum IdType {
    /// Texts, as those of every text file.
    #[default]
    Text,
    /// Whole numbers.
    Integer,
}

impl IdType {
    /// Returns whether names are texts: files leave that out.
    pub fn is_text(&self) -> bool {
        *self == Self::Text
    }
}

/// Counts of what was read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogRecord {
    pub files: usize,
    /// Lines, with skipped lines.
    pub lines: u64,
    /// Bytes, decompressed.
    pub bytes: u64,
    /// Sessions, without those left out.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub sessions: u64,
    /// Sessions left out since they have too many clicks.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub sessions_left_out: u64,
    /// Sessions that lost lines.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub sessions_at_fault: u64,
    /// Sessions whose list shows an item more than once.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub sessions_with_repeats: u64,
    pub impressions: u64,
    pub clicks: u64,
    /// Clicks on items that no list shows.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub clicks_outside: u64,
    /// Clicks above the impressions of their lines; not counted.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub clicks_clipped: u64,
    pub queries: usize,
    /// Skipped lines.
    pub skipped: Vec<SkippedRecord>,
}

/// The lines skipped for one reason.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SkippedRecord {
    pub reason: String,
    pub lines: u64,
    /// Their impressions, as far as they can be read.
    pub impressions: u64,
    /// Their clicks, as far as they can be read.
    pub clicks: u64,
    /// The first of these lines, with its place.
    pub first: String,
}

/// Size of the data that passed the filter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FittedRecord {
    pub queries: usize,
    /// Cells: (query, item, position).
    pub cells: usize,
    pub positions: usize,
    pub impressions: u64,
    pub clicks: u64,
}

/// A fitted model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelRecord<Q = Vec<QueryRecord>> {
    pub model: Model,
    /// Parameters of all queries.
    pub site: SiteRecord,
    /// Parameters of each query.
    pub queries: Q,
}

/// Parameters of all queries, which also apply to unseen queries and items.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SiteRecord {
    /// Attraction of an unseen item.
    #[serde(deserialize_with = "null::nan")]
    pub typical: f64,
    /// By position: an unseen item has `typical` times this factor as its attraction; null where
    /// the log shows no position.
    #[serde(default, deserialize_with = "null::nans", skip_serializing_if = "<[f64]>::is_empty")]
    pub lift: Vec<f64>,
    /// Pseudo-impressions of every item's prior.
    pub prior: f64,
    /// DBN and simplified DBN: satisfaction of an unseen item.
    #[serde(default, deserialize_with = "null::some_nan", skip_serializing_if = "Option::is_none")]
    pub typical_satisfaction: Option<f64>,
    /// The probability of examining the next position. DBN: one number, for users who have not left
    /// satisfied. Click chain: after no click, after a click on an item that attracts nobody, after
    /// one on an item that attracts everybody.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub continuation: Vec<EstimateRecord>,
    /// Cascade: the click-through rate below the first click of a session; the model itself allows
    /// no such click.
    #[serde(default, deserialize_with = "null::some_nan", skip_serializing_if = "Option::is_none")]
    pub below_first_click: Option<f64>,
    /// Parameters of positions, for all queries together; a position without impressions has no
    /// row.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub positions: Vec<PositionRecord>,
    /// Convergence of the fit of all queries together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub convergence: Option<Convergence>,
}

/// Parameters of a query.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QueryRecord {
    pub query: String,
    /// Attraction of an unseen item at the first position.
    #[serde(deserialize_with = "null::nan")]
    pub typical: f64,
    pub items: Vec<ItemRecord>,
    /// Number of positions at which items of the query were shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub n_positions: Option<usize>,
    /// These positions, from 1, if they are not the first ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shown: Vec<usize>,
    /// Parameters of positions, if the query has its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub positions: Vec<PositionRecord>,
    /// The probability of examining the next position, if the query has its own; see
    /// [`SiteRecord::continuation`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub continuation: Vec<EstimateRecord>,
    /// Convergence of the query's own fit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub convergence: Option<Convergence>,
}

/// Parameters of an item of a query.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ItemRecord {
    pub item: String,
    /// Probability of a click on an examined impression.
    pub attraction: EstimateRecord,
    /// Mean of the prior of attraction; absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prior: Option<f64>,
    /// DBN and simplified DBN: probability of leaving satisfied after a click.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub satisfaction: Option<EstimateRecord>,
    /// Clicks used by the model.
    pub clicks: u64,
    /// Impressions used by the model.
    pub impressions: u64,
}

/// A parameter of a position: examination; in the DCM the probability of leaving after a click.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PositionRecord {
    pub position: usize,
    /// User browsing: the position of the last click above; 0 if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_click: Option<usize>,
    #[serde(flatten)]
    pub estimate: EstimateRecord,
}

/// An estimated parameter.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EstimateRecord {
    /// The estimate.
    #[serde(deserialize_with = "null::nan")]
    pub value: f64,
    /// Its standard error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub se: Option<f64>,
    /// The lower end of its interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lower: Option<f64>,
    /// The upper end of its interval.
    #[serde(default, deserialize_with = "null::some_infinity", skip_serializing_if = "Option::is_none")]
    pub upper: Option<f64>,
}

/// The end of a maximisation.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Convergence {
    /// Whether the stopping rule was met; if not, the iterations were used up.
    pub converged: bool,
    /// EM steps or Newton steps.
    pub iterations: usize,
    /// Log-likelihood with the log-prior, in nats, up to a constant that depends on the counts
    /// only.
    #[serde(deserialize_with = "null::nan")]
    pub log_likelihood: f64,
}

impl Convergence {
    /// An estimate in closed form.
    pub fn closed_form(log_likelihood: f64) -> Self {
        Self { converged: true, iterations: 0, log_likelihood }
    }

    /// A maximisation that was continued by another one.
    #[must_use]
    pub fn then(self, next: Self) -> Self {
        Self { iterations: self.iterations + next.iterations, ..next }
    }
}

/// Parameters of a position-based model that the counts cannot identify.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IdentifiabilityRecord {
    /// The query; absent for all queries together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    /// Whether the counts identify every ratio.
    pub identified: bool,
    /// Parts of the log that no item connects.
    pub components: Vec<ComponentRecord>,
    /// Items that were never clicked.
    pub never_clicked: Vec<PairRecord>,
    /// Items that were clicked whenever shown.
    pub always_clicked: Vec<PairRecord>,
    /// Items with fewer impressions than `few`.
    pub few_impressions: Vec<PairRecord>,
    /// Positions with fewer clicks than `few`.
    pub few_clicks: Vec<PositionClicksRecord>,
    /// Positions that are compared with the first by fewer clicks than `few`.
    pub few_comparisons: Vec<PositionClicksRecord<f64>>,
    /// The limit of these lists.
    pub few: u64,
}

/// Connected positions and items.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ComponentRecord {
    pub positions: Vec<usize>,
    pub items: usize,
    pub impressions: u64,
}

/// An item of a query.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PairRecord {
    pub query: String,
    pub item: String,
    /// Number of impressions, if it matters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub impressions: Option<u64>,
}

/// Number of clicks at a position, or of those that compare its examination with the first one's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PositionClicksRecord<N = u64> {
    pub position: usize,
    pub clicks: N,
}

/// How close the click-through rates of a query are to rank one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RankOneRecord {
    pub query: String,
    /// Items that were shown at every position.
    pub items: usize,
    /// Singular values, largest first.
    pub singular_values: Vec<f64>,
    /// Share of the first one in their sum.
    pub share: f64,
    /// Share of its square in the sum of squares.
    pub share_of_squares: f64,
}

/// The part of a file that all versions have.
#[derive(Deserialize)]
struct Version {
    schema: u64,
    table: Option<String>,
}

impl Parameters {
    /// Reads a file.
    ///
    /// # Errors
    ///
    /// The file cannot be read or is no regular file, and the errors of
    /// [`from_json`](Self::from_json).
    pub fn read(path: &Path) -> Result<Self, Error> {
        let name = path.display().to_string();
        let json = read_regular(path).map_err(|error| Error::whole_file(&name, error.to_string()))?;
        Self::from_json(&name, &json)
    }

    /// Reads the content of a file, and checks it completely; errors call it `name`.
    ///
    /// # Errors
    ///
    /// The place at which the content is not JSON, is truncated, or has other fields than those of
    /// parameters; another version; the first field with an invalid value, as in
    /// `$.models[0].queries[2].typical`.
    pub fn from_json(name: &str, json: &[u8]) -> Result<Self, Error> {
        let expected = "the parameters that `fit` writes";
        let field = |field: &str, message| Location::new(name, 0, 0, field).error(message);
        match read_json(name, json, expected)? {
            Version { schema: SCHEMA, .. } => {}
            Version { schema: WITH_TABLE, table: Some(table) } => {
                let elsewhere = format!(
                    "the parameters of queries are in {table:?}, which experiments do not read: write them to this file \
                     with `fit --parameters json`"
                );
                return Err(field("table", elsewhere));
            }
            Version { schema, .. } => {
                let other =
                    format!("{schema}, expected {SCHEMA}: the file is of another version of this program");
                return Err(field("schema", other));
            }
        }
        let parameters = match without_retired(json) {
            Some(json) => read_json(name, &json, expected)?,
            None => read_json(name, json, expected)?,
        };
        check::check(&parameters).map_err(|(path, message)| field(&path, message))?;
        Ok(parameters)
    }

    /// The fit of a model.
    pub fn model(&self, model: Model) -> Option<&ModelRecord> {
        self.models.iter().find(|record| record.model == model)
    }
}

/// A model that earlier versions fitted.
const RETIRED: &str = "ctr-logistic";

/// The content of a file without the fits of a retired model; `None` if it has none.
fn without_retired(json: &[u8]) -> Option<Vec<u8>> {
    std::str::from_utf8(json).ok().filter(|text| text.contains(RETIRED))?;
    let mut content: serde_json::Value = serde_json::from_slice(json).ok()?;
    content.get_mut("models")?.as_array_mut()?.retain(|record| record["model"] != RETIRED);
    serde_json::to_vec(&content).ok()
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the serialiser asks with a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}
