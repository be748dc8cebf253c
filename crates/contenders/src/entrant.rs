//! A policy of the catalogue that takes part in an experiment.

use crate::{FittedPriors, LiveUse, LoggedLists};
use confidence::Probability;
use policies::catalogue::{PolicySpec, Protocol};
use sim::Sees;
use std::sync::Arc;

/// A policy of the catalogue that takes part in an experiment.
#[derive(Debug, Clone)]
pub struct Entrant {
    /// Name in this experiment, which also selects its random stream.
    pub label: String,
    /// The policy's own name, for results and messages.
    pub name: String,
    /// The policy with its parameters.
    pub spec: PolicySpec,
    /// The model whose feedback the policy assumes (`read-as`); `None` for the users' own.
    pub read_as: Option<Protocol>,
    /// Examination by position for the policy; `None` for that of the users.
    pub examination: Option<Vec<Probability>>,
    /// Whether the policy gets the `gamma` that each instance needs, instead of its own.
    pub told_gamma: bool,
    /// The part of the contexts that the policy is told, on users who differ.
    pub sees: Sees,
    /// The lists of the log for each instance, for the policy `logged` only.
    pub lists: Option<Arc<LoggedLists>>,
    /// Priors of each instance from a log's fit, for a policy that begins with them.
    pub priors: Option<Arc<FittedPriors>>,
    /// Whether the policy begins without a log, whatever the command line gives.
    pub begins_flat: bool,
    /// How the policy is used live, if it is.
    pub live: Option<LiveUse>,
}

impl Entrant {
    /// Enters `policy` under the name `label`, with the users' own feedback and parameters.
    pub fn new(name: impl Into<String>, spec: PolicySpec) -> Self {
        let name = name.into();
        Self {
            label: name.clone(),
            name,
            spec,
            read_as: None,
            examination: None,
            told_gamma: false,
            sees: Sees::default(),
            lists: None,
            priors: None,
            begins_flat: false,
            live: None,
        }
    }
}

documents::debug_is_display!(CannotPlay);

/// A policy cannot perform the task for which it was entered.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("policy `{policy}` {fault}")]
pub struct CannotPlay {
    /// The policy's own name.
    pub policy: String,
    fault: &'static str,
}

impl CannotPlay {
    pub(crate) const LIVE: &'static str = "cannot be used live on these users";
    pub(crate) const IDENTIFICATION: &'static str = "does not look for the best items";

    pub(crate) fn new(entrant: &Entrant, fault: &'static str) -> Self {
        Self { policy: entrant.name.clone(), fault }
    }

    /// The policy cannot play for regret.
    pub(crate) fn regret(entrant: &Entrant) -> Self {
        let has_no_lists = matches!(entrant.spec, PolicySpec::Logged {}) && entrant.lists.is_none();
        let fault = if has_no_lists { "has no lists of a log" } else { "cannot read these users' answers" };
        Self::new(entrant, fault)
    }
}
