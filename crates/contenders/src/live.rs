//! Policies of the catalogue under the conditions of live use.
//!
//! A policy is chosen at run time, so that the round loop is compiled once for the users of each
//! model and each way to learn: from a table, or from whole answers.

use crate::lists::ListModel;
use crate::{CannotPlay, Entrant, Play};
use click_models::{
    CascadeModel, DependentClick, Feedback, ListProtocol, PositionBased, RandomSemiBandit, WithAttraction,
};
use live::{Counted, Settings};
use policies::catalogue::{Catalogued, Live, NamedPolicy, NamedTable, PolicySpec};
use policies::{PositionsKnown, PrefixKnown, Prior};
use serde::Serialize;
use sim::{Conditions, Contender, InParts, InWhole, OnTable, UnderConditions};

/// How a policy is used live.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct LiveUse {
    /// The settings of a policy with a table.
    pub settings: Settings,
    /// The prior of a policy that draws from posteriors; its own without one.
    pub prior: Option<Prior>,
    /// Learns from whole answers in the order of the decisions, with the number of later decisions
    /// after which an answer is taken as it is.
    pub wait: Option<u64>,
}

/// A click model whose users can change while a policy is used live.
pub(crate) trait LiveModel:
    ListModel + Play + WithAttraction<Interaction: Catalogued + Counted + ListProtocol>
{
    /// What a policy of the catalogue may know of the users.
    fn told<'a>(known: &Self::Known<'a>) -> <Self::Interaction as Catalogued>::Known<'a>;
}

impl LiveModel for PositionBased {
    fn told<'a>(known: &Self::Known<'a>) -> PositionsKnown<'a> {
        Self::positions(known)
    }
}

/// Models that reveal a prefix.
macro_rules! prefix_models {
    ($($model:ty),*) => {$(
        impl LiveModel for $model {
            fn told<'a>(known: &Self::Known<'a>) -> PrefixKnown<'a> {
                Self::prefix(known)
            }
        }
    )*};
}
prefix_models!(RandomSemiBandit, CascadeModel, DependentClick);

/// Enters policies. A policy that nothing disturbs and that has no settings plays as one without
/// live use.
pub(crate) fn enter_all_live<M: LiveModel>(
    entrants: &[Entrant],
    horizon: u64,
    conditions: &Conditions,
) -> Result<Vec<Box<dyn Contender<M>>>, CannotPlay>
where
    Feedback<M>: InParts,
{
    let enter = |entrant: &Entrant| -> Result<Box<dyn Contender<M>>, CannotPlay> {
        if entrant.live.is_none() && !conditions.disturb() {
            let mut alone = M::contenders(std::slice::from_ref(entrant), horizon)?;
            return alone.pop().ok_or_else(|| CannotPlay::answers(entrant));
        }
        enter_live(entrant, horizon, conditions).ok_or_else(|| CannotPlay::live(entrant))
    };
    entrants.iter().map(enter).collect()
}

/// Panic message; experiments reject other policies when they are read.
const FITS: &str = "a policy that fits its users and its live use";

fn enter_live<M: LiveModel>(
    entrant: &Entrant,
    horizon: u64,
    conditions: &Conditions,
) -> Option<Box<dyn Contender<M>>>
where
    Feedback<M>: InParts,
{
    let (label, conditions, spec) = (entrant.label.clone(), *conditions, entrant.spec);
    let LiveUse { settings, prior, wait } = entrant.live.unwrap_or_default();
    let is_plain = entrant.read_as.is_none() && entrant.examination.is_none() && entrant.priors.is_none();
    let plays = is_plain && spec.speaks(M::Interaction::PROTOCOL);
    if !plays || matches!(spec, PolicySpec::Oracle {} | PolicySpec::Logged {}) {
        return None;
    }
    if spec.row().live == Live::Table && wait.is_none() {
        return Some(Box::new(UnderConditions::new(label, conditions, move |users: M::Known<'_>| {
            let mut policy = NamedTable::<M::Interaction>::build(spec, M::told(&users)).expect(FITS);
            if let Some(prior) = prior {
                policy.set_prior(prior).expect(FITS);
            }
            OnTable::<M::Interaction, _>::new(policy, settings, &conditions.delay).expect(FITS)
        })));
    }
    if conditions.items_change() || settings != Settings::default() || prior.is_some() {
        return None;
    }
    Some(Box::new(UnderConditions::new(label, conditions, move |users: M::Known<'_>| {
        let policy = NamedPolicy::<M::Interaction>::build(spec, M::told(&users), horizon).expect(FITS);
        InWhole::<M::Interaction, _>::new(policy, wait)
    })))
}
