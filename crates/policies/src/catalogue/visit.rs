//! Visitors: access to the static types of the catalogue's policies, one visitor trait per family.
//!
//! A visitor receives the constructor of a policy and is compiled for its type, as round loops are.
//! So only the catalogue lists the policies.

use super::erased::{Abilities, Member};
use crate::context::{Coefficients, PolicyFor};
use crate::{Error, Policy, PrefixKnown, Recommend, Stop};
use click_models::{
    Cascade, Cell, ClicksOnly, ContextKnown, Dcm, DuelShape, Dueling, ItemId, ListShape, Pair, Pbm, PbmKnown,
    RankOne, Ranking, SemiBandit, TableShape,
};
use confidence::NonNegative;
use serde::de::DeserializeOwned;

/// The knowledge of a policy that compares two items.
#[derive(Debug, Clone, Copy)]
pub struct PairKnown {
    /// Number of items.
    pub shape: DuelShape,
    /// The users' constant of relaxed stochastic transitivity; `None`: the policy's parameter.
    pub gamma: Option<NonNegative>,
}

impl From<DuelShape> for PairKnown {
    fn from(shape: DuelShape) -> Self {
        Self { shape, gamma: None }
    }
}

macro_rules! visitors {
    ($($(#[$doc:meta])* $Visitor:ident($Known:ty $(, $tolerance:ident: $Tolerance:ty)?) for $Policy:ident: [$($Bound:tt)+];)*) => {$(
        #[doc = concat!("Policies that [`", stringify!($Visitor), "`] visits.")]
        pub trait $Policy: $($Bound)+ + DeserializeOwned {}

        impl<P: $($Bound)+ + DeserializeOwned> $Policy for P {}

        $(#[$doc])*
        pub trait $Visitor {
            /// The visitor's result.
            type Output;

            /// `build` constructs a fresh policy from its knowledge and the horizon.
            fn with<P, F>(self, build: F $(, $tolerance: $Tolerance)?) -> Self::Output
            where
                P: $Policy,
                F: Fn($Known, u64) -> Result<P, Error> + Send + Sync + 'static;

            /// As `with`, of a policy that can do more.
            #[doc(hidden)]
            fn with_abilities<P, F>(self, build: F, _abilities: Abilities<P> $(, $tolerance: $Tolerance)?) -> Self::Output
            where
                Self: Sized,
                P: $Policy,
                F: Fn($Known, u64) -> Result<P, Error> + Send + Sync + 'static,
            {
                self.with(build $(, $tolerance)?)
            }
        }
    )*};
}

visitors! {
    /// Visits policies of [`Family::PositionBased`](super::Family::PositionBased).
    WithPositionBased(PbmKnown<'_>) for PositionBasedPolicy: [Policy<Pbm> + Member<Ranking>];
    /// Visits policies of [`Family::UnknownExamination`](super::Family::UnknownExamination).
    WithUnknownExamination(PrefixKnown<'_>) for UnknownExaminationPolicy: [Policy<Pbm> + Member<Ranking>];
    /// Visits policies of [`Family::Prefix`](super::Family::Prefix).
    WithPrefix(PrefixKnown<'_>) for PrefixPolicy: [Policy<SemiBandit> + Policy<Cascade> + Policy<Dcm> + Member<Ranking>];
    /// Visits policies of [`Family::AnyList`](super::Family::AnyList).
    WithAnyList(ListShape) for AnyListPolicy: [Policy<Pbm> + Policy<SemiBandit> + Policy<Cascade> + Policy<Dcm> + Policy<ClicksOnly> + Member<Ranking>];
    /// Visits policies of [`Family::PositionContexts`](super::Family::PositionContexts).
    WithPositionContexts((PbmKnown<'_>, ContextKnown<'_>)) for PositionContextsPolicy: [PolicyFor<Pbm> + Coefficients + Member<Ranking>];
    /// Visits policies of [`Family::PrefixContexts`](super::Family::PrefixContexts).
    WithPrefixContexts((PrefixKnown<'_>, ContextKnown<'_>)) for PrefixContextsPolicy: [PolicyFor<SemiBandit> + PolicyFor<Cascade> + PolicyFor<Dcm> + Coefficients + Member<Ranking>];
    /// Visits policies of [`Family::Budgeted`](super::Family::Budgeted).
    WithBudgeted(ListShape) for BudgetedPolicy: [Policy<Cascade> + Recommend<Ranking> + Member<Ranking>];
    /// Visits policies of [`Family::Cells`](super::Family::Cells).
    WithCells(TableShape) for CellsPolicy: [Policy<RankOne> + Member<Cell>];
    /// Visits policies of [`Family::Pairs`](super::Family::Pairs).
    WithPairs(PairKnown) for PairsPolicy: [Policy<Dueling> + Recommend<ItemId> + Member<Pair>];
    /// Visits policies of [`Family::Stopping`](super::Family::Stopping) and `FullFeedback`. Items
    /// of an answer are less attractive than the K-th best by at most `tolerance`.
    WithStopping(ListShape, tolerance: NonNegative) for StoppingPolicy: [
        Policy<Cascade> + Policy<SemiBandit> + Recommend<Ranking> + Stop<Answer: AsRef<[ItemId]>> + Member<Ranking>
    ];
}
