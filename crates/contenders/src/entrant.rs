//! A policy of the catalogue that takes part in an experiment.

use confidence::Probability;
use policies::catalogue::{PolicySpec, Protocol};

/// A policy of the catalogue that takes part in an experiment.
#[derive(Debug, Clone)]
pub struct Entrant {
    /// Name in this experiment, which also picks its stream of random numbers.
    pub label: String,
    /// The policy's own name, for results and messages.
    pub name: String,
    /// The policy with its parameters.
    pub spec: PolicySpec,
    /// As which model's answers it reads those of the users; `None`: as what they are.
    pub read_as: Option<Protocol>,
    /// The examination probabilities that it is told, one per position; `None`: those of the users.
    pub examination: Option<Vec<Probability>>,
    /// Whether it is told the `gamma` that each instance needs, in place of its own.
    pub told_gamma: bool,
}

impl Entrant {
    /// The policy under its own name, which reads the users' answers as what they are.
    pub fn new(name: impl Into<String>, spec: PolicySpec) -> Self {
        let name = name.into();
        Self { label: name.clone(), name, spec, read_as: None, examination: None, told_gamma: false }
    }
}

/// A policy cannot do what it was entered for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("policy `{policy}` {fault}")]
pub struct CannotPlay {
    /// The policy's own name.
    pub policy: String,
    fault: &'static str,
}

impl CannotPlay {
    /// It cannot read the answers.
    pub(crate) fn answers(entrant: &Entrant) -> Self {
        Self { policy: entrant.name.clone(), fault: "cannot read these users' answers" }
    }

    /// It names no best items.
    pub(crate) fn identification(entrant: &Entrant) -> Self {
        Self { policy: entrant.name.clone(), fault: "does not look for the best items" }
    }
}
