//! Policies that show ranked lists.
//!
//! A policy that reads its users' own feedback is entered under its own type, so that its round
//! loop is compiled for both. A policy with `read-as` is chosen at run time. Otherwise every policy
//! would be compiled with every pair of models, most of which are never played.

use crate::fitted::{from_beliefs, of_log};
use crate::live::enter_live;
use crate::{Entrant, GOES_WITH_USERS, MaybeContender, Play};
use click_models::{
    Cascade, CascadeModel, ClickChain, ClickModel, Dcm, DependentClick, DynamicBayesian, Feedback, ItemId,
    ListFeedback, ListProtocol, ListShape, Pbm, PbmKnown, PositionBased, RandomSemiBandit, SemiBandit,
    UserBrowsing,
};
use policies::catalogue::{
    AnyPolicy, CatalogueProtocol, Knowledge, NamedPolicy, PolicySpec, Protocol, WithAnyList,
    WithPositionBased, WithPrefix, WithUnknownExamination,
};
use policies::{Error, InOrder, Policy, PositionsKnown, PrefixKnown, ReadAs};
use serde::{Serialize, de::DeserializeOwned};
use sim::{Conditions, Contender, Curve, Entry, Replication, Schedule, Start, StateError, oracle};
use std::marker::PhantomData;

/// The knowledge that policies may have of the users of a model.
type Known<'a, M> = <M as ClickModel>::Known<'a>;

/// A click model of lists, with the knowledge that it gives to policies.
pub(crate) trait ListModel: ClickModel<Interaction: ListProtocol> + 'static {
    /// Whether policies for position-based users are given the values of its items.
    const IS_POSITION_BASED: bool = false;

    /// Sizes, and the order of the positions for the best items if it is not from the top.
    fn prefix<'a>(known: &Known<'a, Self>) -> PrefixKnown<'a>;

    /// The knowledge that policies may have of the positions.
    fn positions<'a>(known: &Known<'a, Self>) -> PositionsKnown<'a> {
        Self::prefix(known).into()
    }

    /// The policy as a contender that reads these users' own feedback.
    fn enter(_entrant: &Entrant, _horizon: u64) -> MaybeContender<Self>
    where
        Self: Sized,
    {
        None
    }
}

/// The policy as a contender on users of the model `M`.
pub(crate) fn enter<M>(entrant: &Entrant, horizon: u64) -> MaybeContender<M>
where
    M: ListModel,
    Feedback<M>: ListFeedback,
    for<'a> EnterLists<'a, M>: WithAnyList<Output = Box<dyn Contender<M>>>,
{
    if let PolicySpec::Oracle {} = entrant.spec {
        return Some(oracle(entrant.label.clone()));
    }
    if let PolicySpec::Logged {} = entrant.spec {
        let lists = entrant.lists.clone()?;
        return Some(of_log(entrant.label.clone(), lists));
    }
    if let (PolicySpec::PbmGibbs { order }, Some(priors)) = (entrant.spec, &entrant.priors) {
        return Some(from_beliefs(entrant.label.clone(), order, priors.clone()));
    }
    let on_any_list = entrant.spec.with_any_list(EnterLists::<M>::new(entrant, horizon));
    on_any_list.or_else(|| match entrant.read_as {
        None => M::enter(entrant, horizon),
        Some(Protocol::PositionBased) => read_as::<M, Pbm>(entrant, horizon),
        Some(Protocol::SemiBandit) => read_as::<M, SemiBandit>(entrant, horizon),
        Some(Protocol::Cascade) => read_as::<M, Cascade>(entrant, horizon),
        Some(Protocol::Dcm) => read_as::<M, Dcm>(entrant, horizon),
        // Clicks without a meaning cannot be assumed, and cells and pairs are not lists.
        Some(_) => None,
    })
}

/// Enters a policy under its own type.
pub(crate) struct EnterLists<'a, M> {
    entrant: &'a Entrant,
    horizon: u64,
    users: PhantomData<fn() -> M>,
}

impl<'a, M> EnterLists<'a, M> {
    fn new(entrant: &'a Entrant, horizon: u64) -> Self {
        Self { entrant, horizon, users: PhantomData }
    }
}

/// The visitors of a family for each model, given how `build` makes the policy from what is known
/// of the users, and from the examination given in the experiment. Not generic: round loops are
/// compiled here.
macro_rules! enter {
    ($($Visitor:ident($Known:ty): $($model:ty),+ => |$given:ident, $known:ident, $build:ident| $policy:expr;)*) => {$($(
        impl $Visitor for EnterLists<'_, $model> {
            type Output = Box<dyn Contender<$model>>;

            fn with<P, F>(self, build: F) -> Self::Output
            where
                P: Policy<<$model as ClickModel>::Interaction> + Serialize + DeserializeOwned,
                F: Fn($Known, u64) -> Result<P, Error> + Send + Sync + 'static,
            {
                let Self { entrant, horizon, .. } = self;
                let examination = entrant.examination.clone();
                let $build = move |known: $Known| build(known, horizon).expect(GOES_WITH_USERS);
                Box::new(Entry::new(entrant.label.clone(), move |$known: Known<'_, $model>| {
                    let $given = examination.as_deref();
                    $policy
                }).saved())
            }
        }
    )+)*};
}

enter! {
    WithAnyList(ListShape): RandomSemiBandit, CascadeModel, DynamicBayesian, ClickChain, UserBrowsing
        => |_given, known, build| build(known);
    WithAnyList(ListShape): DependentClick => |_given, known, build| build(known.shape());
    // Lists are shown in the order of examination.
    WithAnyList(ListShape): PositionBased
        => |_given, known, build| InOrder::new(build(known.shape()), known);
    WithPrefix(PrefixKnown<'_>): RandomSemiBandit, CascadeModel, DependentClick
        => |_given, known, build| build(known.into());
    // The examination given, or else that of the users.
    WithPositionBased(PbmKnown<'_>): PositionBased => |given, known, build| {
        let examination = given.unwrap_or(known.examination());
        build(PbmKnown::new(known.shape(), examination).expect(GOES_WITH_USERS))
    };
    // The order of the positions, and no examination.
    WithUnknownExamination(PrefixKnown<'_>): PositionBased => |_given, known, build| {
        let places = PositionsKnown::from(known).places();
        build(PrefixKnown::with_places(known.shape(), &places).expect(GOES_WITH_USERS))
    };
}

/// The contender of a policy that reads feedback of `M` as that of `To`.
pub(crate) fn read_as<M, To>(entrant: &Entrant, horizon: u64) -> MaybeContender<M>
where
    M: ListModel,
    Feedback<M>: ListFeedback,
    To: CatalogueProtocol + ListProtocol,
{
    let (spec, told) = (entrant.spec, entrant.examination.clone());
    if !spec.speaks(To::PROTOCOL) {
        return None;
    }
    Some(Box::new(
        Entry::new(entrant.label.clone(), move |known: Known<'_, M>| {
            let (known, of_users) = (M::prefix(&known), Knowledge::positions(&M::positions(&known)));
            let known = match &told {
                Some(examination) if To::PROTOCOL == Protocol::PositionBased => {
                    Knowledge { examination: examination.clone(), ..Knowledge::list(known.shape()) }
                }
                None if To::PROTOCOL == Protocol::PositionBased && M::IS_POSITION_BASED => of_users,
                _ => Knowledge::prefix(&known),
            };
            let policy = AnyPolicy::build(spec, To::PROTOCOL, Knowledge { horizon: Some(horizon), ..known });
            let policy = policy.and_then(NamedPolicy::<To>::try_from);
            ReadAs::<To, _>::new(policy.expect(GOES_WITH_USERS))
        })
        .saved(),
    ))
}

/// The values of items, if the users have any.
pub(crate) fn values_of(users: &impl ClickModel) -> Vec<(ItemId, f64)> {
    (0..).map(ItemId::new).zip(users.values().unwrap_or_default().iter().copied()).collect()
}

/// A policy that is given the values of items by users who have them.
struct ByValue<M> {
    for_clicks: Box<dyn Contender<M>>,
    for_value: Box<dyn Contender<M>>,
}

impl<M: ClickModel> Contender<M> for ByValue<M> {
    fn label(&self) -> &str {
        self.for_clicks.label()
    }

    fn resume(&self, start: Start<'_, M>, schedule: &Schedule) -> Result<Curve, StateError> {
        let has_values = start.replication.told.values().is_some();
        let played = if has_values { &self.for_value } else { &self.for_clicks };
        played.resume(start, schedule)
    }

    fn is_saved(&self) -> bool {
        self.for_clicks.is_saved()
    }
}

/// The contender, with the values of items if its policy takes any.
fn by_value<M>(entrant: &Entrant, for_clicks: Box<dyn Contender<M>>) -> Box<dyn Contender<M>>
where
    M: ListModel<Interaction: CatalogueProtocol>,
{
    let (spec, told) = (entrant.spec, entrant.examination.clone());
    if spec.values_for(M::Interaction::PROTOCOL).is_err() {
        return for_clicks;
    }
    let build = move |replication: &Replication<'_, M>| {
        let mut known = Knowledge::positions(&M::positions(&replication.told.known()));
        known.examination = told.clone().unwrap_or(known.examination);
        let mut policy = AnyPolicy::build(spec, M::Interaction::PROTOCOL, known).expect(GOES_WITH_USERS);
        let values = values_of(replication.told);
        policy.valued().expect(GOES_WITH_USERS).set_values(&values).expect("checked values");
        NamedPolicy::<M::Interaction>::try_from(policy).expect(GOES_WITH_USERS)
    };
    let for_value = Box::new(Entry::from_replication(entrant.label.clone(), build).saved());
    Box::new(ByValue { for_clicks, for_value })
}

impl ListModel for PositionBased {
    const IS_POSITION_BASED: bool = true;

    fn prefix<'a>(known: &Known<'a, Self>) -> PrefixKnown<'a> {
        known.shape().into()
    }

    fn positions<'a>(known: &Known<'a, Self>) -> PositionsKnown<'a> {
        (*known).into()
    }

    fn enter(entrant: &Entrant, horizon: u64) -> MaybeContender<Self> {
        let known = entrant.spec.with_position_based(EnterLists::<Self>::new(entrant, horizon));
        let unknown = || entrant.spec.with_unknown_examination(EnterLists::<Self>::new(entrant, horizon));
        Some(by_value(entrant, known.or_else(unknown)?))
    }
}

/// Models that reveal a prefix, and those of which policies know the sizes alone.
macro_rules! prefix_models {
    ($($model:ty $(: $with:ident)?),*) => {$(
        impl ListModel for $model {
            fn prefix<'a>(known: &Known<'a, Self>) -> PrefixKnown<'a> {
                (*known).into()
            }
            $(
                fn enter(entrant: &Entrant, horizon: u64) -> MaybeContender<Self> {
                    let typed = entrant.spec.$with(EnterLists::<Self>::new(entrant, horizon))?;
                    Some(by_value(entrant, typed))
                }
            )?
        }
    )*};
}
prefix_models!(RandomSemiBandit: with_prefix, CascadeModel: with_prefix, DependentClick: with_prefix);
prefix_models!(DynamicBayesian, ClickChain, UserBrowsing);

/// Passes every click model that implements [`Play`] to a macro, behind other tokens.
#[macro_export]
macro_rules! every_model {
    ($to:ident, $($first:tt)*) => {
        $to!($($first)* ::click_models::PositionBased, ::click_models::RandomSemiBandit,
            ::click_models::CascadeModel, ::click_models::DependentClick, ::click_models::DynamicBayesian,
            ::click_models::ClickChain, ::click_models::UserBrowsing, ::click_models::RankOneModel,
            ::click_models::DuelingModel)
    };
}

/// Not generic, so that the round loops are compiled in this crate.
macro_rules! play {
    ($($model:ty $(, $live:ident)?);* $(;)?) => {$(
        impl Play for $model {
            fn contender(entrant: &Entrant, horizon: u64) -> MaybeContender<Self> {
                enter(entrant, horizon)
            }
            $(
                fn live_contender(
                    entrant: &Entrant,
                    horizon: u64,
                    conditions: &Conditions,
                ) -> MaybeContender<Self> {
                    $live(entrant, horizon, conditions)
                }
            )?
        }
    )*};
}
play! {
    PositionBased, enter_live;
    RandomSemiBandit, enter_live;
    CascadeModel, enter_live;
    DependentClick, enter_live;
    DynamicBayesian;
    ClickChain;
    UserBrowsing;
}
