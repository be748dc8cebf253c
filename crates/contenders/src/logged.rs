//! Today's ranking as a contender: the lists of a log, instance by instance.

use click_models::{ClickModel, Interaction, Ranking};
use policies::Logged;
use sim::{
    Contender, Curve, Keeper, KeepsNothing, Replication, Saves, Schedule, StateError, play_replication,
};
use std::sync::Arc;

/// The lists of a log for every instance of an experiment.
#[derive(Debug, Clone, PartialEq)]
pub struct LoggedLists {
    /// The path of their file as it was given.
    pub file: String,
    /// SHA-256 of the file, in hexadecimal.
    pub sha256: String,
    /// The content of the file.
    pub content: Vec<u8>,
    /// The lists of each instance, in the order of the instances.
    pub of_instances: Vec<Logged>,
}

/// Plays the lists that a log has for the instance of a replication.
#[derive(Debug)]
pub(crate) struct LoggedEntry {
    label: String,
    lists: Arc<LoggedLists>,
}

impl LoggedEntry {
    /// Enters the lists of a log under the name `label`.
    pub(crate) fn new(label: String, lists: Arc<LoggedLists>) -> Self {
        Self { label, lists }
    }
}

impl<M> Contender<M> for LoggedEntry
where
    M: ClickModel<Interaction: Interaction<Action = Ranking>>,
{
    fn label(&self) -> &str {
        &self.label
    }

    fn replicate(&self, replication: Replication<'_, M>, schedule: &Schedule) -> Curve {
        self.resume(replication, schedule, None, &mut KeepsNothing).expect("a replication from the beginning")
    }

    fn is_saved(&self) -> bool {
        true
    }

    fn resume(
        &self,
        replication: Replication<'_, M>,
        schedule: &Schedule,
        state: Option<&[u8]>,
        keeper: &mut dyn Keeper,
    ) -> Result<Curve, StateError> {
        let policy = || self.lists.of_instances[replication.instance].clone();
        play_replication::<Saves, M, Logged>(replication, &self.label, policy, schedule, state, keeper)
    }
}
