//! Policies on users who differ.
//!
//! All of them are chosen at run time: compiled under their own types, those that ignore contexts
//! would be compiled once more for each of these models.

use crate::fitted::of_users;
use crate::{CannotPlay, Entrant, MaybeContender, Play, enter_all};
use click_models::{
    Cascade, CascadeModel, ClickModel, Dcm, DependentClick, Pbm, PbmKnown, Personal, PositionBased,
    WithAttraction,
};
use policies::catalogue::{Catalogued, Family, NamedFor, NamedPolicy, Purpose};
use policies::{HybridTs, InOrder, PbmHybridTs, PositionsKnown, PrefixKnown};
use serde::{Serialize, de::DeserializeOwned};
use sim::{Contender, Entry, PersonalKnown};

/// Panic message; experiments reject other policies when they are read.
const GOES_WITH_USERS: &str = "a policy that goes with its users";

/// Whether the policy plays these users without more than they give it.
fn goes_with<I: Catalogued>(entrant: &Entrant) -> bool {
    let spec = &entrant.spec;
    spec.row().is_built_from_knowledge()
        && spec.row().purpose() == Purpose::Regret
        && entrant.read_as.is_none()
        && entrant.priors.is_none()
        && (spec.speaks(I::PROTOCOL) || spec.sees_contexts(I::PROTOCOL))
}

/// Enters a policy for the users of a model with an observed prefix.
macro_rules! play_prefix {
    ($($Model:ident speaks $Interaction:ident;)+) => {$(
        impl Play for Personal<$Model> {
            fn contenders(
                entrants: &[Entrant],
                horizon: u64,
            ) -> Result<Vec<Box<dyn Contender<Self>>>, CannotPlay> {
                enter_all(entrants, |entrant| {
                    if let Some((settings, prior)) = of_users(entrant) {
                        return Some(enter(entrant, move |(known, context): PersonalKnown<'_, $Model>| {
                            let policy = HybridTs::new(known, context, settings);
                            policy.and_then(|policy| policy.with_prior(&prior)).expect(GOES_WITH_USERS)
                        }));
                    }
                    goes_with::<$Interaction>(entrant).then(|| {
                        let spec = entrant.spec;
                        enter(entrant, move |(known, context): PersonalKnown<'_, $Model>| {
                            let known: PrefixKnown<'_> = known.into();
                            NamedFor::<$Interaction>::build_for(spec, known, context, horizon).expect(GOES_WITH_USERS)
                        })
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
    fn contenders(entrants: &[Entrant], horizon: u64) -> Result<Vec<Box<dyn Contender<Self>>>, CannotPlay> {
        enter_all(entrants, |entrant| enter_position_based(entrant, horizon))
    }
}

fn enter_position_based(entrant: &Entrant, horizon: u64) -> MaybeContender<Personal<PositionBased>> {
    if let Some((settings, prior)) = of_users(entrant) {
        let told = entrant.examination.clone();
        return Some(enter(entrant, move |(known, context): PersonalKnown<'_, PositionBased>| {
            let examination = told.as_deref().unwrap_or(known.examination());
            let known = PbmKnown::new(known.shape(), examination).expect(GOES_WITH_USERS);
            let policy = PbmHybridTs::new(known, context, settings);
            policy.and_then(|policy| policy.with_prior(&prior)).expect(GOES_WITH_USERS)
        }));
    }
    if !goes_with::<Pbm>(entrant) {
        return None;
    }
    let (spec, told) = (entrant.spec, entrant.examination.clone());
    if spec.row().family_on(Pbm::PROTOCOL) == Some(Family::AnyList) {
        // Lists are shown in the order of examination.
        return Some(enter(entrant, move |(known, _): PersonalKnown<'_, PositionBased>| {
            let policy = NamedPolicy::<Pbm>::build(spec, PositionsKnown::from(known), horizon);
            InOrder::new(policy.expect(GOES_WITH_USERS), known)
        }));
    }
    Some(enter(entrant, move |(known, context): PersonalKnown<'_, PositionBased>| {
        let examination = told.as_deref().unwrap_or(known.examination());
        let known = PbmKnown::new(known.shape(), examination).expect(GOES_WITH_USERS);
        let policy = NamedFor::<Pbm>::build_for(spec, PositionsKnown::from(known), context, horizon);
        policy.expect(GOES_WITH_USERS)
    }))
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
