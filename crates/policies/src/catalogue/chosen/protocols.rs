//! The protocols of the catalogue, and how each one builds and restores its policies.

use super::super::families::{
    AnyListPolicy, CellPolicy, IdentifyPolicy, Note, OneOf, PairPolicy, PositionBasedPolicy, PrefixPolicy,
    UnknownExaminationPolicy,
};
use super::super::{
    Family, PairKnown, PolicySpec, Protocol, WithAnyList, WithBudgeted, WithCells, WithPairs,
    WithPositionBased, WithPrefix, WithStopping, WithUnknownExamination,
};
use super::Knowledge;
use crate::sizes::Sizes;
use crate::{Error, PositionsKnown, PrefixKnown, Select, Update};
use click_models::{
    Cascade, ClicksOnly, Dcm, DuelShape, Dueling, Interaction, ListShape, Pbm, PbmKnown, RankOne, SemiBandit,
    TableShape,
};
use confidence::NonNegative;
use serde::de::DeserializeOwned;
use serde::{Deserializer, Serialize};
use std::fmt::Debug;
use std::marker::PhantomData;

/// A protocol of the catalogue.
pub trait Catalogued: Interaction + Sized {
    /// The protocol as rows of the catalogue name it.
    const PROTOCOL: Protocol;
    /// The knowledge that a click model of this protocol gives to a policy.
    type Known<'a>;
    /// A policy of this protocol, chosen at run time.
    type Chosen: Select<Self::Action, Note = Note>
        + Update<Self::Action, Self::Feedback>
        + Sizes
        + Serialize
        + Clone
        + Debug
        + Send
        + Sync;

    /// The knowledge in a form that is saved with the policy.
    fn knowledge(known: &Self::Known<'_>) -> Knowledge;

    /// Builds a fresh policy. `None` if the policy does not play this protocol.
    fn fresh(spec: &PolicySpec, knowledge: &Knowledge) -> Option<Result<Self::Chosen, Error>>;

    /// Reads a saved policy. `None` if the policy does not play this protocol.
    fn restored<'de, D: Deserializer<'de>>(
        spec: &PolicySpec,
        state: D,
    ) -> Option<Result<Self::Chosen, D::Error>>;
}

/// Visitor that builds a policy from its knowledge of the users.
struct Fresh<'a>(&'a Knowledge);

/// Visitor that reads the state of a saved policy.
struct Restored<'de, D>(D, PhantomData<&'de ()>);

/// Implements both visitors for a family, given the part of the knowledge that the family uses.
macro_rules! build {
    ($($Visitor:ident -> $Chosen:ty, |$knowledge:ident| -> $Known:ty $known:block)*) => {$(
        impl $Visitor for Fresh<'_> {
            type Output = Result<$Chosen, Error>;

            fn with<P, F>(self, build: F) -> Self::Output
            where
                P: Into<$Chosen>,
                F: Fn($Known, u64) -> Result<P, Error>,
            {
                let $knowledge = self.0;
                build($known, $knowledge.horizon.unwrap_or(0)).map(Into::into)
            }
        }

        impl<'de, D: Deserializer<'de>> $Visitor for Restored<'de, D> {
            type Output = Result<$Chosen, D::Error>;

            fn with<P, F>(self, _build: F) -> Self::Output
            where
                P: Into<$Chosen> + DeserializeOwned,
            {
                P::deserialize(self.0).map(Into::into)
            }
        }
    )*};
}

build! {
    WithPositionBased -> PositionBasedPolicy, |knowledge| -> PbmKnown<'_> {
        PbmKnown::new(knowledge.list_shape()?, &knowledge.examination)?
    }
    WithUnknownExamination -> UnknownExaminationPolicy, |knowledge| -> PrefixKnown<'_> {
        PrefixKnown::with_places(knowledge.list_shape()?, &knowledge.places)?
    }
    WithPrefix -> PrefixPolicy, |knowledge| -> PrefixKnown<'_> { PrefixKnown::with_places(knowledge.list_shape()?, &knowledge.places)? }
    WithAnyList -> AnyListPolicy, |knowledge| -> ListShape { knowledge.list_shape()? }
    WithBudgeted -> IdentifyPolicy, |knowledge| -> ListShape { knowledge.list_shape()? }
    WithCells -> CellPolicy, |knowledge| -> TableShape { TableShape::new(knowledge.sizes[0], knowledge.sizes[1])? }
    WithPairs -> PairPolicy, |knowledge| -> PairKnown {
        PairKnown { shape: DuelShape::new(knowledge.sizes[0])?, gamma: knowledge.gamma }
    }
}

impl WithStopping for Fresh<'_> {
    type Output = Result<IdentifyPolicy, Error>;

    fn with<P, F>(self, build: F, _tolerance: NonNegative) -> Self::Output
    where
        P: Into<IdentifyPolicy>,
        F: Fn(ListShape, u64) -> Result<P, Error>,
    {
        build(self.0.list_shape()?, 0).map(Into::into)
    }
}

impl<'de, D: Deserializer<'de>> WithStopping for Restored<'de, D> {
    type Output = Result<IdentifyPolicy, D::Error>;

    fn with<P, F>(self, _build: F, _tolerance: NonNegative) -> Self::Output
    where
        P: Into<IdentifyPolicy> + DeserializeOwned,
    {
        P::deserialize(self.0).map(Into::into)
    }
}

/// A policy of the protocol's own family, or of the family for any list.
type OrAnyList<P> = OneOf<P, AnyListPolicy>;

/// Implements [`Catalogued`] for a protocol whose actions are lists.
macro_rules! lists {
    ($($Interaction:ident: $Protocol:ident, $Known:ident, $Policy:ty,
        |$known:ident| $knowledge:expr, |$spec:ident, $family:ident, $visitor:ident| $visit:expr;)*) => {$(
        impl Catalogued for $Interaction {
            const PROTOCOL: Protocol = Protocol::$Protocol;
            type Known<'a> = $Known<'a>;
            type Chosen = OrAnyList<$Policy>;

            fn knowledge($known: &$Known<'_>) -> Knowledge {
                $knowledge
            }

            fn fresh($spec: &PolicySpec, knowledge: &Knowledge) -> Option<Result<Self::Chosen, Error>> {
                let ($visitor, $family) = (Fresh(knowledge), $spec.row().family_on(Self::PROTOCOL)?);
                if $family == Family::AnyList {
                    return $spec.with_any_list($visitor).map(|built| built.map(OneOf::Second));
                }
                $visit.map(|built| built.map(OneOf::First))
            }

            fn restored<'de, D: Deserializer<'de>>(
                $spec: &PolicySpec,
                state: D,
            ) -> Option<Result<Self::Chosen, D::Error>> {
                let ($visitor, $family) = (Restored(state, PhantomData), $spec.row().family_on(Self::PROTOCOL)?);
                if $family == Family::AnyList {
                    return $spec.with_any_list($visitor).map(|read| read.map(OneOf::Second));
                }
                $visit.map(|read| read.map(OneOf::First))
            }
        }
    )*};
}

lists! {
    Pbm: PositionBased, PositionsKnown, OneOf<PositionBasedPolicy, UnknownExaminationPolicy>,
        |known| Knowledge::positions(known), |spec, family, visitor| match family {
            Family::UnknownExamination => {
                spec.with_unknown_examination(visitor).map(|made| made.map(OneOf::Second))
            }
            _ => spec.with_position_based(visitor).map(|made| made.map(OneOf::First)),
        };
    SemiBandit: SemiBandit, PrefixKnown, PrefixPolicy,
        |known| Knowledge::prefix(known), |spec, family, visitor| spec.with_prefix(visitor);
    Dcm: Dcm, PrefixKnown, PrefixPolicy,
        |known| Knowledge::prefix(known), |spec, family, visitor| spec.with_prefix(visitor);
    Cascade: Cascade, PrefixKnown, OneOf<PrefixPolicy, IdentifyPolicy>,
        |known| Knowledge::prefix(known), |spec, family, visitor| match family {
            Family::Stopping => spec.with_stopping(visitor).map(|made| made.map(OneOf::Second)),
            Family::FullFeedback => spec.with_full_feedback(visitor).map(|made| made.map(OneOf::Second)),
            Family::Budgeted => spec.with_budgeted(visitor).map(|made| made.map(OneOf::Second)),
            _ => spec.with_prefix(visitor).map(|made| made.map(OneOf::First)),
        };
}

impl Catalogued for ClicksOnly {
    const PROTOCOL: Protocol = Protocol::ClicksOnly;
    type Known<'a> = ListShape;
    type Chosen = AnyListPolicy;

    fn knowledge(known: &ListShape) -> Knowledge {
        Knowledge::list(*known)
    }

    fn fresh(spec: &PolicySpec, knowledge: &Knowledge) -> Option<Result<AnyListPolicy, Error>> {
        spec.with_any_list(Fresh(knowledge))
    }

    fn restored<'de, D: Deserializer<'de>>(
        spec: &PolicySpec,
        state: D,
    ) -> Option<Result<AnyListPolicy, D::Error>> {
        spec.with_any_list(Restored(state, PhantomData))
    }
}

impl Catalogued for RankOne {
    const PROTOCOL: Protocol = Protocol::RankOne;
    type Known<'a> = TableShape;
    type Chosen = CellPolicy;

    fn knowledge(known: &TableShape) -> Knowledge {
        Knowledge::sizes(known.n_rows(), known.n_columns())
    }

    fn fresh(spec: &PolicySpec, knowledge: &Knowledge) -> Option<Result<CellPolicy, Error>> {
        spec.with_cells(Fresh(knowledge))
    }

    fn restored<'de, D: Deserializer<'de>>(
        spec: &PolicySpec,
        state: D,
    ) -> Option<Result<CellPolicy, D::Error>> {
        spec.with_cells(Restored(state, PhantomData))
    }
}

impl Catalogued for Dueling {
    const PROTOCOL: Protocol = Protocol::Dueling;
    type Known<'a> = PairKnown;
    type Chosen = PairPolicy;

    fn knowledge(known: &PairKnown) -> Knowledge {
        Knowledge { gamma: known.gamma, ..Knowledge::sizes(known.shape.n_items(), 2) }
    }

    fn fresh(spec: &PolicySpec, knowledge: &Knowledge) -> Option<Result<PairPolicy, Error>> {
        spec.with_pairs(Fresh(knowledge))
    }

    fn restored<'de, D: Deserializer<'de>>(
        spec: &PolicySpec,
        state: D,
    ) -> Option<Result<PairPolicy, D::Error>> {
        spec.with_pairs(Restored(state, PhantomData))
    }
}
