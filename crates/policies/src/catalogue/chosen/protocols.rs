//! The protocols for which the catalogue has policies, and how each builds and restores them.

use super::super::families::{
    AnyListPolicy, CellPolicy, IdentifyPolicy, Note, OneOf, PairPolicy, PositionBasedPolicy, PrefixPolicy,
};
use super::super::{
    Family, PairKnown, PolicySpec, Protocol, WithAnyList, WithBudgeted, WithCells, WithPairs,
    WithPositionBased, WithPrefix, WithStopping,
};
use super::Knowledge;
use crate::sizes::Sizes;
use crate::{Error, PrefixKnown, Select, Update};
use click_models::{
    Cascade, Dcm, DuelShape, Dueling, Interaction, ListShape, Pbm, PbmKnown, RankOne, SemiBandit, TableShape,
};
use confidence::NonNegative;
use serde::de::DeserializeOwned;
use serde::{Deserializer, Serialize};
use std::fmt::Debug;
use std::marker::PhantomData;

/// A protocol for which the catalogue has policies.
pub trait Catalogued: Interaction + Sized {
    /// The protocol among those that rows of the catalogue name.
    const PROTOCOL: Protocol;
    /// What its policies are told.
    type Known<'a>;
    /// Any of its policies.
    type Chosen: Select<Self::Action, Note = Note>
        + Update<Self::Action, Self::Feedback>
        + Sizes
        + Serialize
        + Clone
        + Debug
        + Send
        + Sync;

    /// What was told, to be kept.
    fn told(known: &Self::Known<'_>) -> Knowledge;

    /// A fresh policy; none if it is not of this protocol.
    fn fresh(spec: &PolicySpec, told: &Knowledge) -> Option<Result<Self::Chosen, Error>>;

    /// The policy that was saved; none if it is not of this protocol.
    fn restored<'de, D: Deserializer<'de>>(
        spec: &PolicySpec,
        state: D,
    ) -> Option<Result<Self::Chosen, D::Error>>;
}

/// Builds a policy from what it is told.
struct Fresh<'a>(&'a Knowledge);

/// Reads a policy that was saved.
struct Restored<'de, D>(D, PhantomData<&'de ()>);

/// Both for a family: what a policy is told, of all that is told.
macro_rules! build {
    ($($Visitor:ident -> $Chosen:ty, |$told:ident| -> $Known:ty $known:block)*) => {$(
        impl $Visitor for Fresh<'_> {
            type Output = Result<$Chosen, Error>;

            fn with<P, F>(self, build: F) -> Self::Output
            where
                P: Into<$Chosen>,
                F: Fn($Known, u64) -> Result<P, Error>,
            {
                let $told = self.0;
                build($known, $told.horizon.unwrap_or(0)).map(Into::into)
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
    WithPositionBased -> PositionBasedPolicy, |told| -> PbmKnown<'_> {
        PbmKnown { shape: told.list_shape()?, examination: &told.examination }
    }
    WithPrefix -> PrefixPolicy, |told| -> PrefixKnown<'_> { PrefixKnown::with_places(told.list_shape()?, &told.places)? }
    WithAnyList -> AnyListPolicy, |told| -> ListShape { told.list_shape()? }
    WithBudgeted -> IdentifyPolicy, |told| -> ListShape { told.list_shape()? }
    WithCells -> CellPolicy, |told| -> TableShape { TableShape::new(told.sizes[0], told.sizes[1])? }
    WithPairs -> PairPolicy, |told| -> PairKnown {
        PairKnown { shape: DuelShape::new(told.sizes[0])?, gamma: told.gamma }
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

/// A policy of the protocol's own, or for any list.
type OrAnyList<P> = OneOf<P, AnyListPolicy>;

/// A protocol of lists.
macro_rules! lists {
    ($($Interaction:ident: $Protocol:ident, $Known:ident, $Policy:ty,
        |$known:ident| $told:expr, |$spec:ident, $family:ident, $visitor:ident| $visit:expr;)*) => {$(
        impl Catalogued for $Interaction {
            const PROTOCOL: Protocol = Protocol::$Protocol;
            type Known<'a> = $Known<'a>;
            type Chosen = OrAnyList<$Policy>;

            fn told($known: &$Known<'_>) -> Knowledge {
                $told
            }

            fn fresh($spec: &PolicySpec, told: &Knowledge) -> Option<Result<Self::Chosen, Error>> {
                let ($visitor, $family) = (Fresh(told), $spec.row().family_on(Self::PROTOCOL)?);
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
    Pbm: PositionBased, PbmKnown, PositionBasedPolicy,
        |known| Knowledge { examination: known.examination.to_vec(), ..Knowledge::list(known.shape) },
        |spec, family, visitor| spec.with_position_based(visitor);
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

impl Catalogued for RankOne {
    const PROTOCOL: Protocol = Protocol::RankOne;
    type Known<'a> = TableShape;
    type Chosen = CellPolicy;

    fn told(known: &TableShape) -> Knowledge {
        Knowledge::sizes(known.n_rows(), known.n_columns())
    }

    fn fresh(spec: &PolicySpec, told: &Knowledge) -> Option<Result<CellPolicy, Error>> {
        spec.with_cells(Fresh(told))
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

    fn told(known: &PairKnown) -> Knowledge {
        Knowledge { gamma: known.gamma, ..Knowledge::sizes(known.shape.n_items(), 2) }
    }

    fn fresh(spec: &PolicySpec, told: &Knowledge) -> Option<Result<PairPolicy, Error>> {
        spec.with_pairs(Fresh(told))
    }

    fn restored<'de, D: Deserializer<'de>>(
        spec: &PolicySpec,
        state: D,
    ) -> Option<Result<PairPolicy, D::Error>> {
        spec.with_pairs(Restored(state, PhantomData))
    }
}
