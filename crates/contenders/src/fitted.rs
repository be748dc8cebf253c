//! Policies with something of a log, instance by instance: `logged`, today's ranking, has its
//! lists, `pbm-gibbs` the priors of its fit.

use crate::lists::{ListModel, values_of};
use click_models::{ClickModel, Feedback, Interaction, ListFeedback, Pbm, Ranking};
use documents::InputFile;
use policies::{HybridPrior, Logged, PbmGibbs, PbmGibbsOrder, PbmPrior, PrefixKnown, ReadAs, Valued as _};
use sim::{Contender, Entry, Replication};
use std::sync::Arc;

/// Priors from a log's fit.
#[derive(Debug, Clone)]
pub struct FittedPriors {
    /// The file of the fit.
    pub file: InputFile,
    /// Beliefs about its users.
    pub beliefs: Beliefs,
}

/// Beliefs about the users of a log.
#[derive(Debug, Clone)]
pub enum Beliefs {
    /// For `pbm-gibbs`, of each instance, in the order of the instances.
    OfInstances(Vec<PbmPrior>),
    /// For `hybrid-ts`, of users who differ.
    OfUsers(Box<HybridPrior>),
}

/// Plays `pbm-gibbs` from the beliefs of a replication's instance, on users of any list model.
pub(crate) fn from_beliefs<M: ListModel>(
    label: String,
    order: PbmGibbsOrder,
    priors: Arc<FittedPriors>,
) -> Box<dyn Contender<M>>
where
    Feedback<M>: ListFeedback,
{
    let fresh = move |replication: &Replication<'_, M>| -> ReadAs<Pbm, PbmGibbs> {
        let known = M::positions(&replication.told.known());
        let places = known.places();
        let known = PrefixKnown::with_places(known.shape(), &places).expect("the positions of a list");
        let Beliefs::OfInstances(priors) = &priors.beliefs else {
            return ReadAs::new(PbmGibbs::new(known, order));
        };
        let policy = PbmGibbs::new(known, order).with_prior(&priors[replication.instance]);
        let mut policy = policy.expect("beliefs that fit the instance");
        if M::IS_POSITION_BASED {
            policy.set_values(&values_of(replication.told)).expect("checked values");
        }
        ReadAs::new(policy)
    };
    Box::new(Entry::from_replication(label, fresh).saved())
}

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
