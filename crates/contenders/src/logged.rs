//! Today's ranking as a contender: the lists of a log, instance by instance.

use click_models::{ClickModel, Interaction, Ranking};
use documents::InputFile;
use policies::Logged;
use sim::{Contender, Entry, Replication};
use std::sync::Arc;

/// The lists of a log for every instance of an experiment.
#[derive(Debug, Clone, PartialEq)]
pub struct LoggedLists {
    /// Their file.
    pub file: InputFile,
    /// The lists of each instance, in the order of the instances.
    pub of_instances: Vec<Logged>,
    /// The clicks on the lists of each instance, if the file has them.
    pub clicks: Option<Vec<u64>>,
    /// The lists of the whole log, if those of the instances are only its last part.
    pub of_log: Option<Vec<Logged>>,
}

/// Plays the lists that a log has for the instance of a replication.
pub(crate) fn of_log<M>(label: String, lists: Arc<LoggedLists>) -> Box<dyn Contender<M>>
where
    M: ClickModel<Interaction: Interaction<Action = Ranking>> + 'static,
{
    let lists = move |replication: &Replication<'_, M>| lists.of_instances[replication.instance].clone();
    Box::new(Entry::from_replication(label, lists).saved())
}
