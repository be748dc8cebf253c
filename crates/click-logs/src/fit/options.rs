//! What a fit can be told.

use super::FitError;
use super::item_prior::STRENGTH;
use serde::{Deserialize, Serialize};

/// Which queries share the parameters of positions: examination in the PBM, leaving in the DCM.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// Every query has its own, as in the PBM and RSF papers.
    #[default]
    Query,
    /// All queries have the same: the position bias of the site.
    Site,
}

/// How the likelihood of a position-based model is maximised, without priors or query by query. The maximum is the same. Examination of
/// all queries with priors is always found by Newton's method.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Method {
    /// Newton's method, in logarithms of the parameters, where the likelihood is concave; EM where the maximum is on the edge.
    #[default]
    Direct,
    /// Expectation-maximisation.
    Em,
}

/// When EM stops, and whether it is accelerated.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EmOptions {
    /// By squared extrapolation (SQUAREM); true by default.
    pub accelerate: bool,
    /// It stops where one step changes no parameter by more; 1e-8 by default.
    pub tolerance: f64,
    /// Steps that it may take; 100,000 by default.
    pub max_iterations: usize,
}

impl Default for EmOptions {
    fn default() -> Self {
        Self { accelerate: true, tolerance: 1e-8, max_iterations: 100_000 }
    }
}

/// What a dependent click model or a simplified DBN takes for the end of a session: users who leave are not seen to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Exit {
    /// Hidden: the user may have read on below the last click, in vain. Maximum likelihood, by EM.
    #[default]
    Hidden,
    /// At the last click. In closed form. Leaving comes out too probable, and items that stand low too attractive: what is below
    /// the last click is left out even where it was read.
    LastClick,
}

/// How to fit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Options {
    /// Pseudo-impressions of the Beta prior that every probability of an item has; its mean is what is usual in the query. 0:
    /// none, maximum likelihood. None, the default: those under which the log is the most probable.
    pub prior_strength: Option<f64>,
    /// Which queries share the parameters of positions.
    pub scope: Scope,
    /// How the likelihood of a position-based model is maximised.
    pub method: Method,
    /// For EM.
    pub em: EmOptions,
    /// For the DCM and the simplified DBN.
    pub exit: Exit,
    /// The confidence level of intervals, 0.95 by default.
    pub level: f64,
    /// Whether to keep the way that the maximisation took.
    pub trace: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            prior_strength: None,
            scope: Scope::default(),
            method: Method::default(),
            em: EmOptions::default(),
            exit: Exit::default(),
            level: 0.95,
            trace: false,
        }
    }
}

impl Options {
    /// Whether there are priors.
    pub(crate) fn has_priors(&self) -> bool {
        self.prior_strength != Some(0.0)
    }

    /// The strength of priors that the log does not choose.
    pub(crate) fn given_strength(&self) -> f64 {
        self.prior_strength.unwrap_or(STRENGTH)
    }

    pub(crate) fn check(&self) -> Result<(), FitError> {
        let refuse = |option, value| Err(FitError::Option { option, value });
        if let Some(strength) = self.prior_strength.filter(|strength| !(0.0..=1e9).contains(strength)) {
            return refuse("prior_strength", strength);
        }
        if !(self.level > 0.0 && self.level < 1.0) {
            return refuse("level", self.level);
        }
        if !(self.em.tolerance > 0.0 && self.em.tolerance < 1.0) {
            return refuse("tolerance", self.em.tolerance);
        }
        if self.em.max_iterations == 0 {
            return refuse("max_iterations", 0.0);
        }
        Ok(())
    }
}
