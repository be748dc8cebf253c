//! Options of a fit.

use super::item_prior::STRENGTH;
use serde::{Deserialize, Serialize};

use super::FitError;
pub use documents::parameters::Scope;

/// Default strength of the prior of leaving and satisfaction, in pseudo-clicks. The log hardly
/// shows whether a user left, so more would move probabilities near 0.
const STRENGTH_OF_HIDDEN: f64 = 1.0;

/// The method that maximises the likelihood of a position-based model without priors, or query by
/// query. The maximum is the same. Examination of all queries with priors is always estimated by
/// Newton's method.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub enum Method {
    /// Newton's method in the logarithms of the parameters, in which the likelihood is concave; EM
    /// if the maximum is on the edge.
    #[default]
    Direct,
    /// Expectation-maximisation.
    Em,
}

/// Stopping rule of EM.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct EmOptions {
    /// Stops when a step changes no parameter by more; 1e-8 by default.
    pub tolerance: f64,
    /// Largest number of steps; 100,000 by default.
    pub max_iterations: usize,
}

impl Default for EmOptions {
    fn default() -> Self {
        Self { tolerance: 1e-8, max_iterations: 100_000 }
    }
}

/// The end of a session in a dependent click model or a simplified DBN. Logs do not show when users
/// leave.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Exit {
    /// Hidden: the user may have read on below the last click, without clicking. Maximum
    /// likelihood, by EM.
    #[default]
    Hidden,
    /// At the last click. In closed form. Overestimates leaving, and the attraction of items that
    /// stand low: positions below the last click do not count even if they were examined.
    LastClick,
}

/// Options of a fit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Options {
    /// Strength of the Beta prior of every probability of an item, in pseudo-impressions; its mean
    /// is the query's. 0 means no prior, maximum likelihood. `None`, the default: estimated from
    /// the log.
    pub prior_strength: Option<f64>,
    /// Which queries share the parameters of positions.
    pub scope: Scope,
    /// How the likelihood of a position-based model is maximised.
    pub method: Method,
    /// Options of EM.
    pub em: EmOptions,
    /// The end of a session in the DCM and the simplified DBN.
    pub exit: Exit,
    /// The confidence level of intervals, 0.95 by default.
    pub level: f64,
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
        }
    }
}

impl Options {
    pub(crate) fn has_priors(&self) -> bool {
        self.prior_strength != Some(0.0)
    }

    /// These options for a fit without standard errors and intervals, at level 0.
    pub(crate) fn without_errors(&self) -> Self {
        Self { level: 0.0, ..*self }
    }

    /// These options for a fit that predicts a part of the log, without errors: sampling moves its
    /// predictions further than the tolerance does.
    pub(super) fn of_folds(&self) -> Self {
        Self { em: self.em_of_priors(), ..self.without_errors() }
    }

    /// Whether the fit has standard errors and intervals.
    pub(super) fn has_errors(&self) -> bool {
        self.level > 0.0
    }

    /// EM between two priors of attraction, which need other parameters no better than 1e-4.
    pub(crate) fn em_of_priors(&self) -> EmOptions {
        EmOptions { tolerance: self.em.tolerance.max(1e-4), ..self.em }
    }

    /// The given strength of priors, or the default.
    pub(crate) fn given_strength(&self) -> f64 {
        self.prior_strength.unwrap_or(STRENGTH)
    }

    /// The strength of priors of what is hidden: the given one, or [`STRENGTH_OF_HIDDEN`].
    pub(super) fn strength_of_hidden(&self) -> f64 {
        self.prior_strength.unwrap_or(STRENGTH_OF_HIDDEN)
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
