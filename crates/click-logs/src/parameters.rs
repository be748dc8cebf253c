//! `parameters.json`: what the fits of a log say, as a file for other programs, to be written and read.
//!
//! Queries and items have the names of the log, positions count from 1 as in logs. What is not known is left out or `null`: in a fit
//! without priors the attraction of an item without an impression is [`f64::NAN`] here and `null` in the file; the upper end of an
//! interval that has none is infinite here and `null` in the file.
//!
//! [`Parameters::new`] collects what fits say, [`Parameters::to_json`] gives the file's bytes, [`Parameters::read`] checks a file that
//! anybody may have written: what it refuses, [`ReadError`] says with line and column, or with the field.
//!
//! # Examples
//!
//! ```
//! use click_logs::fit::{Model, Options, fit};
//! use click_logs::parameters::Parameters;
//! use click_logs::{Format, Reader};
//!
//! let log = "query,item,position,clicks,impressions\nq,a,1,600,1000\nq,a,2,200,1000\nq,b,1,300,1000\nq,b,2,100,1000\n";
//! let log = Reader::new(Format::counts()).read("counts.csv", log.as_bytes())?;
//! let options = Options::default();
//! let pbm = fit(Model::Pbm, &log.counts, &log.sessions, &options)?;
//! let written = Parameters::new(&log.report, log.counts.n_queries(), &log.counts, &[pbm], &options);
//!
//! let read = Parameters::from_json("parameters.json", &written.to_json()?)?;
//! assert_eq!(read, written);
//! let query = &read.model(Model::Pbm).unwrap().queries[0];
//! assert_eq!((query.query.as_str(), query.items[1].item.as_str()), ("q", "b"));
//!
//! let error = Parameters::from_json("parameters.json", b"{\"schema\": 2}").unwrap_err();
//! assert_eq!(error.to_string(), "parameters.json: schema: 2, expected 1: the file is of another version of this program");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod check;
mod collect;
mod null;
mod read;

pub use read::{ReadError, ReadErrorKind};

use crate::fit::{Model, Scope};
use serde::{Deserialize, Serialize};

/// The version of the file.
const SCHEMA: u64 = 1;
/// Fewer impressions of an item, or clicks at a position, are listed as few.
pub const FEW: u64 = 20;

/// What the file holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    /// The version of the file, 1.
    pub schema: u64,
    /// What was read.
    pub log: LogRecord,
    /// What of it was fitted.
    pub fitted: FittedRecord,
    /// Which queries share the parameters of positions.
    pub scope: Scope,
    /// The confidence level of intervals.
    pub level: f64,
    /// The models that were fitted.
    pub models: Vec<ModelRecord>,
    /// What the counts cannot tell of a position-based model: a report for every query, or one for all.
    pub identifiability: Vec<IdentifiabilityRecord>,
    /// How nearly the click-through rates of every query are of rank one.
    pub rank_one: Vec<RankOneRecord>,
}

/// What was read: [`ReadReport`](crate::ReadReport).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogRecord {
    /// Files.
    pub files: usize,
    /// Lines, those that were skipped too.
    pub lines: u64,
    /// Bytes, decompressed.
    pub bytes: u64,
    /// Sessions.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub sessions: u64,
    /// Those that lost lines.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub sessions_at_fault: u64,
    /// Those whose list shows an item more than once.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub sessions_with_repeats: u64,
    /// Impressions.
    pub impressions: u64,
    /// Clicks.
    pub clicks: u64,
    /// Clicks on what no list shows.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub clicks_outside: u64,
    /// Clicks above the impressions of their line, which are not counted.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub clicks_clipped: u64,
    /// Queries.
    pub queries: usize,
    /// Lines that were skipped.
    pub skipped: Vec<SkippedRecord>,
}

/// Lines that were skipped for one reason.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SkippedRecord {
    /// The reason, [`Fault::reason`](crate::Fault::reason).
    pub reason: String,
    /// Lines.
    pub lines: u64,
    /// Their impressions, as far as they can be read.
    pub impressions: u64,
    /// Their clicks, as far as they can be read.
    pub clicks: u64,
    /// The first of them, and where it stands.
    pub first: String,
}

/// What passed the filter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FittedRecord {
    /// Queries.
    pub queries: usize,
    /// (query, item, position).
    pub cells: usize,
    /// Positions.
    pub positions: usize,
    /// Impressions.
    pub impressions: u64,
    /// Clicks.
    pub clicks: u64,
}

/// A fitted model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelRecord {
    /// Which model.
    pub model: Model,
    /// What holds for all queries.
    pub site: SiteRecord,
    /// Every query.
    pub queries: Vec<QueryRecord>,
}

/// What holds for queries and items that no one has seen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SiteRecord {
    /// Attraction of an item of which nothing is known.
    #[serde(deserialize_with = "null::nan")]
    pub typical: f64,
    /// By position: an item that no one has seen is taken for `typical` times this.
    #[serde(default, deserialize_with = "null::nans", skip_serializing_if = "<[f64]>::is_empty")]
    pub lift: Vec<f64>,
    /// Pseudo-impressions of every item's prior.
    pub prior: f64,
    /// Simplified DBN: satisfaction of an item that no one has seen.
    #[serde(default, deserialize_with = "null::some_nan", skip_serializing_if = "Option::is_none")]
    pub typical_satisfaction: Option<f64>,
    /// Cascade: the click-through rate below the first click of a session, where the model has none.
    #[serde(default, deserialize_with = "null::some_nan", skip_serializing_if = "Option::is_none")]
    pub below_first_click: Option<f64>,
    /// Parameters of positions of all queries together.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub positions: Vec<PositionRecord>,
    /// How the fit ended where all queries were fitted together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub convergence: Option<ConvergenceRecord>,
}

/// What a model says of a query.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QueryRecord {
    /// Its name.
    pub query: String,
    /// Attraction of an item of which nothing is known, at the first position.
    #[serde(deserialize_with = "null::nan")]
    pub typical: f64,
    /// Its items.
    pub items: Vec<ItemRecord>,
    /// Parameters of positions where the query has its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub positions: Vec<PositionRecord>,
    /// How the fit ended where the query was fitted alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub convergence: Option<ConvergenceRecord>,
}

/// What a model says of an item of a query.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ItemRecord {
    /// Its name.
    pub item: String,
    /// How probably an examined impression is clicked.
    pub attraction: EstimateRecord,
    /// Simplified DBN: how probably a user leaves satisfied after a click.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub satisfaction: Option<EstimateRecord>,
    /// Clicks that the model makes use of.
    pub clicks: u64,
    /// Impressions that the model makes use of.
    pub impressions: u64,
}

/// A parameter of a position: examination, or in the DCM the probability to leave after a click.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PositionRecord {
    /// The position, from 1.
    pub position: usize,
    /// User browsing: the position of the last click above; 0 for none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_click: Option<usize>,
    /// Its value.
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

/// How a maximisation ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConvergenceRecord {
    /// Whether it met its criterion.
    pub converged: bool,
    /// Steps.
    pub iterations: usize,
    /// The log-likelihood there.
    #[serde(deserialize_with = "null::nan")]
    pub log_likelihood: f64,
}

/// What counts cannot tell of a position-based model: [`Identifiability`](crate::fit::Identifiability).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IdentifiabilityRecord {
    /// Of which query; of all without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    /// Whether the counts fix every ratio.
    pub identified: bool,
    /// Parts that no item connects.
    pub components: Vec<ComponentRecord>,
    /// Items that were never clicked.
    pub never_clicked: Vec<PairRecord>,
    /// Items that were clicked whenever shown.
    pub always_clicked: Vec<PairRecord>,
    /// Items with fewer impressions than `few`.
    pub few_impressions: Vec<PairRecord>,
    /// Positions with fewer clicks than `few`.
    pub few_clicks: Vec<PositionClicksRecord>,
    /// Positions that fewer clicks than `few` compare with the first.
    pub few_comparisons: Vec<ComparisonsRecord>,
    /// How many are few.
    pub few: u64,
}

/// Positions and items that are connected.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ComponentRecord {
    /// Positions, from 1.
    pub positions: Vec<usize>,
    /// Items.
    pub items: usize,
    /// Impressions.
    pub impressions: u64,
}

/// An item of a query.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PairRecord {
    /// The query.
    pub query: String,
    /// The item.
    pub item: String,
    /// How often it was shown, where that is the matter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub impressions: Option<u64>,
}

/// How many clicks a position has.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PositionClicksRecord {
    /// The position, from 1.
    pub position: usize,
    /// Its clicks.
    pub clicks: u64,
}

/// How many clicks compare the examination of a position with that of the first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ComparisonsRecord {
    /// The position, from 1.
    pub position: usize,
    /// The clicks.
    pub clicks: f64,
}

/// How nearly the click-through rates of a query are of rank one: [`RankOneSvd`](crate::fit::RankOneSvd).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RankOneRecord {
    /// The query.
    pub query: String,
    /// Items that were shown at every position.
    pub items: usize,
    /// The largest first.
    pub singular_values: Vec<f64>,
    /// Of the first in the sum of all.
    pub share: f64,
    /// Of its square in the sum of squares.
    pub share_of_squares: f64,
}

impl Parameters {
    /// What was fitted of a model.
    pub fn model(&self, model: Model) -> Option<&ModelRecord> {
        self.models.iter().find(|record| record.model == model)
    }

    /// The file's content.
    ///
    /// # Errors
    ///
    /// None, unless the serialiser fails.
    pub fn to_json(&self) -> Result<Vec<u8>, serde_json::Error> {
        let mut text = serde_json::to_vec_pretty(self)?;
        text.push(b'\n');
        Ok(text)
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the serialiser asks with a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}
