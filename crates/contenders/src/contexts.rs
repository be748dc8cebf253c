//! Policies on users who differ.
//!
//! All of them are chosen at run time: compiled under their own types, those that ignore contexts
//! would be compiled once more for each of these models.

use crate::{Beliefs, Entrant, GOES_WITH_USERS, MaybeContender, Play};
use click_models::{
    Cascade, CascadeModel, ClickModel, ContextKnown, Dcm, DependentClick, Pbm, PbmKnown, Personal,
    PositionBased, WithAttraction,
};
use policies::catalogue::{CatalogueProtocol, Family, NamedFor, NamedPolicy, PolicySpec, Purpose};
use policies::{InOrder, PositionsKnown};
use serde::{Serialize, de::DeserializeOwned};
use sim::{Contender, Entry, PersonalKnown};

/// Returns whether the policy plays these users, with a fit of a log at most besides what they give
/// it.
fn goes_with<I: CatalogueProtocol>(entrant: &Entrant) -> bool {
    let spec = &entrant.spec;
    let priors = entrant.priors.as_ref().map(|priors| &priors.beliefs);
    spec.row().is_built_from_knowledge()
        && spec.row().purpose() == Purpose::Regret
        && entrant.read_as.is_none()
        && matches!((priors, spec), (None, _) | (Some(Beliefs::OfUsers(_)), PolicySpec::HybridTs { .. }))
        && (spec.speaks(I::PROTOCOL) || spec.sees_contexts(I::PROTOCOL))
}

/// Builds the policy, which begins with the fit of a log if the entrant does.
fn named<I: CatalogueProtocol>(
    entrant: &Entrant,
    horizon: u64,
) -> impl for<'a> Fn(I::Known<'a>, ContextKnown<'_>) -> NamedFor<I> + Send + Sync + use<I> {
    let (spec, priors) = (entrant.spec, entrant.priors.clone());
    move |known, context| {
        let mut policy = NamedFor::build_for(spec, known, context, horizon).expect(GOES_WITH_USERS);
        if let Some(Beliefs::OfUsers(prior)) = priors.as_ref().map(|priors| &priors.beliefs) {
            policy.begin_with(prior).expect(GOES_WITH_USERS);
        }
        policy
    }
}

/// Enters a policy for the users of a model with an observed prefix.
macro_rules! play_prefix {
    ($($Model:ident speaks $Interaction:ident;)+) => {$(
        impl Play for Personal<$Model> {
            fn contender(entrant: &Entrant, horizon: u64) -> MaybeContender<Self> {
                let build = named::<$Interaction>(entrant, horizon);
                goes_with::<$Interaction>(entrant).then(|| {
                    enter(entrant, move |(known, context): PersonalKnown<'_, $Model>| {
                        build(known.into(), context)
                    })
                })
            }
        }
    )+};
}
play_prefix! {
    CascadeModel speaks Cascade;
    DependentClick speaks Dcm;
}

impl Play for Personal<PositionBased> {
    fn contender(entrant: &Entrant, horizon: u64) -> MaybeContender<Self> {
        if !goes_with::<Pbm>(entrant) {
            return None;
        }
        let spec = entrant.spec;
        if spec.row().family_on(Pbm::PROTOCOL) == Some(Family::AnyList) {
            // Lists are shown in the order of examination.
            return Some(enter(entrant, move |(known, _): PersonalKnown<'_, PositionBased>| {
                let policy = NamedPolicy::<Pbm>::build(spec, PositionsKnown::from(known), horizon);
                InOrder::new(policy.expect(GOES_WITH_USERS), known)
            }));
        }
        let (told, build) = (entrant.examination.clone(), named::<Pbm>(entrant, horizon));
        Some(enter(entrant, move |(known, context): PersonalKnown<'_, PositionBased>| {
            let examination = told.as_deref().unwrap_or(known.examination());
            let known = PbmKnown::new(known.shape(), examination).expect(GOES_WITH_USERS);
            build(known.into(), context)
        }))
    }
}

/// Enters the policy that `build` makes from what is known of users and items.
fn enter<M, P, F>(entrant: &Entrant, build: F) -> Box<dyn Contender<Personal<M>>>
where
    M: WithAttraction + 'static,
    F: Fn(PersonalKnown<'_, M>) -> P + Send + Sync + 'static,
    P: policies::PolicyFor<<M as ClickModel>::Interaction> + Serialize + DeserializeOwned + 'static,
{
    Box::new(Entry::for_users(entrant.label.clone(), build).seeing(entrant.sees).saved())
}
