//! The task of an experiment: what a run measures and when it ends.

use documents::toml_reader::{Error, Field, choice};
use policies::catalogue::PolicySpec;
use serde::{Deserialize, Serialize};

/// The quantity that a run measures, and when the run ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Task {
    /// A policy plays the whole horizon, and its regret is recorded.
    Regret,
    /// A policy plays until it stops and names the best items.
    Identify,
    /// A policy plays the whole horizon and then names the best items.
    Budget,
}

impl Task {
    /// Every task.
    pub const ALL: [Self; 3] = [Self::Regret, Self::Identify, Self::Budget];

    /// The name of the task in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Regret => "regret",
            Self::Identify => "identify",
            Self::Budget => "budget",
        }
    }

    /// The meaning of a run of the task, for readers.
    pub(crate) fn meaning(self) -> &'static str {
        match self {
            Self::Regret => "The whole horizon. Regret and clicks are recorded at checkpoints.",
            Self::Identify => "Until the policy stops and names the best items.",
            Self::Budget => "The whole horizon, then the policy names the best items.",
        }
    }

    /// Why the task does not accept this key; `None` if it does.
    pub(crate) fn refuses(self, key: &str) -> Option<String> {
        let reason = match (self, key) {
            (Self::Identify, "horizon") => "ends when the policy stops: expected `max_steps` in its place",
            (Self::Regret | Self::Budget, "max_steps") => "plays the whole `horizon`: leave it out",
            (Self::Identify | Self::Budget, "checkpoints") => {
                "has results at the end of a run only: leave it out"
            }
            _ => return None,
        };
        Some(format!("task {:?} {reason}", self.name()))
    }

    /// Returns whether a policy can be asked for it.
    pub(crate) fn is_for(self, spec: &PolicySpec) -> bool {
        match self {
            Self::Regret => !spec.recommends(),
            Self::Identify => spec.stops(),
            Self::Budget => spec.recommends(),
        }
    }

    /// Reads the task that a field names.
    pub(crate) fn read(field: &Field<'_>) -> Result<Self, Error> {
        choice(field, &Self::ALL.map(|task| (task.name(), task)), "task")
    }
}
