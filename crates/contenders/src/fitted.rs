//! `pbm-gibbs` that begins with the fit of a log, instance by instance.

use crate::lists::ListModel;
use click_models::{Feedback, ListFeedback, Pbm};
use documents::InputFile;
use policies::{PbmGibbs, PbmGibbsOrder, PbmPrior, PrefixKnown, ReadAs};
use sim::{Contender, Entry, Replication};
use std::sync::Arc;

/// Priors from a log's fit for every instance of an experiment.
#[derive(Debug, Clone, PartialEq)]
pub struct FittedPriors {
    /// The file of the fit.
    pub file: InputFile,
    /// The beliefs of each instance, in the order of the instances.
    pub of_instances: Vec<PbmPrior>,
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
        let policy = PbmGibbs::new(known, order).with_prior(&priors.of_instances[replication.instance]);
        ReadAs::new(policy.expect("beliefs that fit the instance"))
    };
    Box::new(Entry::from_replication(label, fresh).saved())
}
