//! `pbm-gibbs` that begins with the fit of a log, instance by instance.

use crate::lists::ListModel;
use click_models::{Feedback, ListFeedback, Pbm};
use policies::{PbmGibbs, PbmGibbsOrder, PbmPrior, PositionsKnown, PrefixKnown, ReadAs};
use sim::{
    Contender, Curve, Keeper, KeepsNothing, Replication, Saves, Schedule, StateError, play_replication,
};
use std::sync::Arc;

/// What a log's fit says of every instance of an experiment.
#[derive(Debug, Clone, PartialEq)]
pub struct FittedPriors {
    /// The path of the file as it was given.
    pub file: String,
    /// SHA-256 of the file, in hexadecimal.
    pub sha256: String,
    /// The content of the file.
    pub content: Vec<u8>,
    /// The beliefs of each instance, in the order of the instances.
    pub of_instances: Vec<PbmPrior>,
}

/// Plays `pbm-gibbs` from the beliefs of the instance of a replication. The users may be of any list model.
#[derive(Debug)]
pub(crate) struct FittedEntry {
    label: String,
    order: PbmGibbsOrder,
    priors: Arc<FittedPriors>,
}

impl FittedEntry {
    pub(crate) fn new(label: String, order: PbmGibbsOrder, priors: Arc<FittedPriors>) -> Self {
        Self { label, order, priors }
    }

    fn fresh(&self, known: PositionsKnown<'_>, instance: usize) -> ReadAs<Pbm, PbmGibbs> {
        let places = known.places();
        let known = PrefixKnown::with_places(known.shape(), &places).expect("the positions of a list");
        let policy = PbmGibbs::new(known, self.order).with_prior(&self.priors.of_instances[instance]);
        ReadAs::new(policy.expect("beliefs that fit the instance"))
    }
}

impl<M: ListModel> Contender<M> for FittedEntry
where
    Feedback<M>: ListFeedback,
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
        let policy = || self.fresh(M::positions(&replication.told.known()), replication.instance);
        play_replication::<Saves, M, _>(replication, &self.label, policy, schedule, state, keeper)
    }
}
