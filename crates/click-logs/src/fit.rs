//! Fits click models to counts and sessions: estimates with intervals, identifiability, and
//! comparison of models.
//!
//! | model | a click at position `l` has probability | fitted from |
//! |---|---|---|
//! | [`Model::Pbm`] | `attraction[item] * examination[l]` | counts |
//! | [`Model::Cascade`] | `attraction[item]` down to the first click, none below | sessions |
//! | [`Model::Dcm`] | `attraction[item]` until the user leaves; a user leaves after a click with `leave[l]` | sessions |
//! | [`Model::Sdbn`] | `attraction[item]` until the user leaves; a user leaves after a click with `satisfaction[item]` | sessions |
//! | [`Model::Dbn`] | as SDBN; a user who has not left continues to the next position with `continuation` | sessions |
//! | [`Model::Ccm`] | `attraction[item]` until the user stops; continues with `continuation[0]` after no click, after a click with a mean of the other two, weighted by attraction | sessions |
//! | [`Model::Ubm`] | `attraction[item] * examination[l, position of the last click above]` | sessions |
//! | [`Model::CtrGlobal`], [`Model::CtrRank`], [`Model::CtrDocument`] | the click-through rate of all, of the position, of (query, item) | counts |
//!
//! Reference: Chuklin, Markov, de Rijke, *Click models for web search*, 2015; Guo, Liu, Wang,
//! *Efficient multiple-click models in web search*, WSDM 2009 (DCM); Dupret, Piwowarski, *A user
//! browsing model to predict search engine click data*, SIGIR 2008 (UBM); Chapelle, Zhang, *A
//! dynamic Bayesian network click model*, WWW 2009 (DBN, simplified DBN); Guo et al., *Click chain
//! model in web search*, WWW 2009 (CCM). Deviations: every probability of an item has a Beta prior,
//! whose strength is estimated from the log unless [`Options::prior_strength`] sets it; the exit
//! after the last click is hidden unless [`Options::exit`] specifies otherwise.
//!
//! | here | meaning |
//! |---|---|
//! | `attraction` | one per item and query; relative to a first position that is always examined |
//! | `positions` | of a query or of the site. PBM: examination, 1 at the first position; DCM: probability of leaving after a click; UBM: see [`Model::places`] |
//! | `typical` | attraction of an unseen item of the query |
//! | `lift` | ratio of the typical attraction at a position to that at the first: rankers put better items where they are seen |
//!
//! Numerics: results have the same bits on every machine, and do not depend on the order of the
//! log. Complexity: see the modules of the estimators; every step is linear in the counts.
//!
//! # Examples
//!
//! Each item has three times as many clicks at the first position as at the second:
//!
//! ```
//! use click_logs::fit::{Model, Options, fit};
//! use log_reader::{Format, Reader};
//!
//! let log = "query,item,position,clicks,impressions\n\
//!            q,a,1,600,1000\nq,a,2,200,1000\nq,b,1,300,1000\nq,b,2,100,1000\n";
//! let log = Reader::new(Format::counts()).read("counts.csv", log.as_bytes())?;
//! let options = Options { prior_strength: Some(0.0), ..Options::default() };
//! let pbm = fit(Model::Pbm, &log.counts, &log.sessions, &options)?;
//! let query = &pbm.queries()[0];
//! assert!((query.items[0].attraction.value - 0.6).abs() < 1e-9);
//! assert!((pbm.positions(query)[1].value - 1.0 / 3.0).abs() < 1e-9);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod bordered;
mod chain;
#[cfg(test)]
#[path = "fit/tests/climbs.rs"]
mod climbs;
mod compare;
mod comparison;
mod connected_columns;
mod credibility;
mod difference;
mod estimate;
#[cfg(test)]
#[path = "fit/tests/finite_differences.rs"]
mod finite_differences;
mod fitted;
mod identify;
mod in_order;
mod item_prior;
mod linear;
mod log_product;
pub(crate) mod models;
mod options;
mod position_based;
mod predict;
mod rank_one;
mod scanned;
mod squarem;
mod stopping;
pub(crate) mod strata;
mod svd;
#[cfg(test)]
#[path = "fit/tests/test_sessions.rs"]
mod test_sessions;
mod transfer;
mod users;

pub use documents::parameters::Model;

pub use compare::{Score, compare, score};
pub use comparison::{Choice, Comparison};
pub use difference::Difference;
pub use estimate::Estimate;
pub(crate) use fitted::browsing_column;
pub use fitted::{Attractions, Estimates, Fit, ItemFit, QueryFit, Site};
pub use identify::{Component, Identifiability, identifiability};
pub use linear::Cholesky;
pub use options::{EmOptions, Exit, Method, Options, Scope};
pub use predict::Prediction;
pub use squarem::Convergence;
pub use strata::{Cluster, FeatureScore};
pub use svd::{RankOneSvd, rank_one_svd};
pub use transfer::{
    Deviation, EXCEEDED, OwnVariance, SessionVariance, Transfer, Transfers, Verdict, jackknife,
};
pub use users::Users;

use log_reader::{Counts, Id, Sessions};

/// Why a model cannot be fitted or compared.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "described where the messages do not say all")]
pub enum FitError {
    #[error("nothing to fit: no impressions")]
    NoImpressions,
    #[error("the model `{0}` is fitted from sessions: this format has none, or they were not kept")]
    NoSessions(Model),
    #[error("nothing was held out to compare the models on")]
    NothingHeldOut,
    #[error(
        "no last half can be held out: counts have no order, nor have sessions of more than 65,536 files"
    )]
    NoOrder,
    #[error("option `{option}`: {value} is not possible")]
    Option { option: &'static str, value: f64 },
}

/// Fits a model to the counts if they suffice for it, and otherwise to the sessions.
///
/// # Errors
///
/// [`FitError::NoImpressions`], [`FitError::NoSessions`], [`FitError::Option`].
pub fn fit(model: Model, counts: &Counts, sessions: &Sessions, options: &Options) -> Result<Fit, FitError> {
    options.check()?;
    fit_checked(model, counts, sessions, options, Purpose::default())
}

/// [`fit`] without standard errors and intervals: predictions do not use them. `near` is a fit of
/// the model to a similar log, which is faster: the search for the parameters starts near those of
/// that fit, with an estimated prior or none. They differ from those of a fit that starts anywhere
/// by no more than the tolerance of the options allows.
///
/// # Errors
///
/// As [`fit`].
pub fn fit_values(
    model: Model,
    near: Option<&Fit>,
    counts: &Counts,
    sessions: &Sessions,
    options: &Options,
) -> Result<Fit, FitError> {
    options.check()?;
    let purpose = Purpose { near, predicted: None };
    fit_checked(model, counts, sessions, &options.without_errors(), purpose)
}

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Purpose<'a> {
    /// A fit to a similar log, near which the search starts.
    pub(crate) near: Option<&'a Fit>,
    /// The queries that are predicted, sorted; `None`: all. The fit has no others: each of a sparse
    /// log's many queries costs a search of its own.
    pub(crate) predicted: Option<&'a [Id]>,
}

impl Purpose<'_> {
    fn has(&self, query: Id) -> bool {
        self.predicted.is_none_or(|predicted| predicted.binary_search(&query).is_ok())
    }
}

pub(crate) fn fit_checked(
    model: Model,
    counts: &Counts,
    sessions: &Sessions,
    options: &Options,
    purpose: Purpose<'_>,
) -> Result<Fit, FitError> {
    if model.needs_sessions() && sessions.is_empty() {
        return Err(FitError::NoSessions(model));
    }
    if !model.needs_sessions() && counts.n_cells() == 0 {
        return Err(FitError::NoImpressions);
    }
    Ok((models::row(model).fit)(counts, sessions, options, purpose))
}
