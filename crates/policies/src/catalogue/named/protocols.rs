//! The protocols of the catalogue, and how each one makes its policies.

use super::super::erased::{Identifies, Maker, Member};
use super::super::{
    Family, PairKnown, PolicySpec, Protocol, WithAnyList, WithBudgeted, WithCells, WithPairs,
    WithPositionBased, WithPositionContexts, WithPrefix, WithPrefixContexts, WithStopping,
    WithUnknownExamination,
};
use super::Knowledge;
use super::segments::segments;
use crate::context::PolicyFor;
use crate::{Error, Policy, PositionsKnown, PrefixKnown, Recommend, Stop};
use click_models::{
    Cascade, Cell, ClicksOnly, ContextKnown, Dcm, DuelShape, Dueling, Interaction, ItemId, ListShape, Pair,
    Pbm, PbmKnown, RankOne, Ranking, SemiBandit, TableShape,
};
use confidence::NonNegative;
use serde::de::DeserializeOwned;
use std::marker::PhantomData;

/// A protocol of the catalogue.
pub trait Catalogued: Interaction<Action: Sync> + Sized {
    /// The protocol as rows of the catalogue name it.
    const PROTOCOL: Protocol;
    /// The knowledge that a click model of this protocol gives to a policy.
    type Known<'a>;

    /// The knowledge in a form that is saved with the policy.
    fn knowledge(known: &Self::Known<'_>) -> Knowledge;

    /// Makes the policies of this name. `None` if they do not play this protocol.
    #[doc(hidden)]
    fn maker(spec: &PolicySpec) -> Option<Maker<Self>>;
}

/// Visitor that makes policies for the protocol `I`.
struct Make<I>(PhantomData<fn() -> I>);

/// Implements a visitor for protocols of a family, given what else its policies can do, the part of
/// the knowledge that they use, and their answer on the best items.
macro_rules! make {
    ($($Visitor:ident on $($Interaction:ident),+: $Member:path, $Bound:path, |$knowledge:ident| -> $Known:ty $known:block, $identifies:ident;)*) => {$($(
        impl $Visitor for Make<$Interaction> {
            type Output = Maker<$Interaction>;

            fn with<P, F>(self, build: F) -> Self::Output
            where
                P: PolicyFor<$Interaction> + $Member + $Bound + DeserializeOwned,
                F: Fn($Known, u64) -> Result<P, Error> + Send + Sync + 'static,
            {
                let fresh = move |$knowledge: &Knowledge| build($known, $knowledge.horizon.unwrap_or(0));
                Maker::new(fresh, Identifies::$identifies())
            }
        }
    )+)*};
}

make! {
    WithPositionBased on Pbm: Member<Ranking>, Sized, |knowledge| -> PbmKnown<'_> {
        PbmKnown::new(knowledge.list_shape()?, &knowledge.examination)?
    }, nothing;
    WithUnknownExamination on Pbm: Member<Ranking>, Sized, |knowledge| -> PrefixKnown<'_> {
        PrefixKnown::with_places(knowledge.list_shape()?, &knowledge.places)?
    }, nothing;
    WithPrefix on SemiBandit, Cascade, Dcm: Member<Ranking>, Sized, |knowledge| -> PrefixKnown<'_> {
        PrefixKnown::with_places(knowledge.list_shape()?, &knowledge.places)?
    }, nothing;
    WithPositionContexts on Pbm: Member<Ranking>, Sized, |knowledge| -> (PbmKnown<'_>, ContextKnown<'_>) {
        (PbmKnown::new(knowledge.list_shape()?, &knowledge.examination)?, knowledge.contexts()?)
    }, nothing;
    WithPrefixContexts on SemiBandit, Cascade, Dcm: Member<Ranking>, Sized, |knowledge| -> (PrefixKnown<'_>, ContextKnown<'_>) {
        (PrefixKnown::with_places(knowledge.list_shape()?, &knowledge.places)?, knowledge.contexts()?)
    }, nothing;
    WithAnyList on Pbm, SemiBandit, Cascade, Dcm, ClicksOnly: Member<Ranking>, Sized, |knowledge| -> ListShape {
        knowledge.list_shape()?
    }, nothing;
    WithBudgeted on Cascade: Member<Ranking>, Recommend<Ranking>, |knowledge| -> ListShape {
        knowledge.list_shape()?
    }, list;
    WithCells on RankOne: Member<Cell>, Sized, |knowledge| -> TableShape {
        TableShape::new(knowledge.sizes[0], knowledge.sizes[1])?
    }, nothing;
    WithPairs on Dueling: Member<Pair>, Recommend<ItemId>, |knowledge| -> PairKnown {
        PairKnown { shape: DuelShape::new(knowledge.sizes[0])?, gamma: knowledge.gamma }
    }, item;
}

impl WithStopping for Make<Cascade> {
    type Output = Maker<Cascade>;

    fn with<P, F>(self, build: F, _tolerance: NonNegative) -> Self::Output
    where
        P: Policy<Cascade>
            + Recommend<Ranking>
            + Stop<Answer: AsRef<[ItemId]>>
            + Member<Ranking>
            + DeserializeOwned,
        F: Fn(ListShape, u64) -> Result<P, Error> + Send + Sync + 'static,
    {
        Maker::new(move |knowledge: &Knowledge| build(knowledge.list_shape()?, 0), Identifies::answer())
    }
}

/// Implements [`Catalogued`], given the visits of the families that play the protocol. Policies
/// that see who asks are made as such.
macro_rules! protocols {
    ($($Interaction:ident: $Protocol:ident, $Known:ty, |$known:ident| $knowledge:expr,
        |$spec:ident, $family:ident, $make:ident| $visit:expr $(, contexts $contexts:expr)?;)*) => {$(
        impl Catalogued for $Interaction {
            const PROTOCOL: Protocol = Protocol::$Protocol;
            type Known<'a> = $Known;

            fn knowledge($known: &Self::Known<'_>) -> Knowledge {
                $knowledge
            }

            fn maker($spec: &PolicySpec) -> Option<Maker<Self>> {
                let $make = Make::<Self>(PhantomData);
                $(if $spec.row().sees_contexts(Self::PROTOCOL) {
                    return $contexts;
                })?
                let $family = $spec.row().family_on(Self::PROTOCOL)?;
                $visit
            }
        }
    )*};
}

protocols! {
    Pbm: PositionBased, PositionsKnown<'a>, |known| Knowledge::positions(known), |spec, family, make| match family {
        Family::AnyList => spec.with_any_list(make),
        Family::UnknownExamination => spec.with_unknown_examination(make),
        _ => spec.with_position_based(make),
    }, contexts segments(spec).or_else(|| spec.with_position_contexts(make));
    SemiBandit: SemiBandit, PrefixKnown<'a>, |known| Knowledge::prefix(known), |spec, family, make| match family {
        Family::AnyList => spec.with_any_list(make),
        _ => spec.with_prefix(make),
    }, contexts segments(spec).or_else(|| spec.with_prefix_contexts(make));
    Dcm: Dcm, PrefixKnown<'a>, |known| Knowledge::prefix(known), |spec, family, make| match family {
        Family::AnyList => spec.with_any_list(make),
        _ => spec.with_prefix(make),
    }, contexts segments(spec).or_else(|| spec.with_prefix_contexts(make));
    Cascade: Cascade, PrefixKnown<'a>, |known| Knowledge::prefix(known), |spec, family, make| match family {
        Family::AnyList => spec.with_any_list(make),
        Family::Stopping => spec.with_stopping(make),
        Family::FullFeedback => spec.with_full_feedback(make),
        Family::Budgeted => spec.with_budgeted(make),
        _ => spec.with_prefix(make),
    }, contexts segments(spec).or_else(|| spec.with_prefix_contexts(make));
    ClicksOnly: ClicksOnly, ListShape, |known| Knowledge::list(*known), |spec, _family, make| spec.with_any_list(make), contexts segments(spec);
    RankOne: RankOne, TableShape, |known| Knowledge::sizes(known.n_rows(), known.n_columns()),
        |spec, _family, make| spec.with_cells(make);
    Dueling: Dueling, PairKnown, |known| Knowledge { gamma: known.gamma, ..Knowledge::sizes(known.shape.n_items(), 2) },
        |spec, _family, make| spec.with_pairs(make);
}
