//! The protocols of the catalogue, and how each one makes its policies.

use super::super::erased::{Abilities, AsList, Maker};
use super::super::visit::{
    self, PairKnown, WithAnyList, WithBudgeted, WithCells, WithPairs, WithPositionBased,
    WithPositionContexts, WithPrefix, WithPrefixContexts, WithStopping, WithUnknownExamination,
};
use super::super::{Family, PolicySpec, Protocol};
use super::Knowledge;
use super::segments::segments;
use crate::{Error, PositionsKnown, PrefixKnown};
use click_models::{
    Cascade, CellClick, Clicks, ClicksOnly, ContextKnown, Dcm, DcmFeedback, DuelOutcome, DuelShape, Dueling,
    Interaction, ListClicks, ListProtocol as _, ListShape, Pbm, PbmFeedback, PbmKnown, PrefixFeedback,
    RankOne, SemiBandit, TableShape,
};
use confidence::NonNegative;
use std::marker::PhantomData;

/// A protocol of the catalogue.
pub trait CatalogueProtocol: Interaction<Action: AsList> + Sized {
    /// The protocol as rows of the catalogue name it.
    const PROTOCOL: Protocol;
    /// The knowledge that a click model of this protocol gives to a policy.
    type Known<'a>;

    /// The knowledge in a form that is saved with the policy.
    fn knowledge(known: &Self::Known<'_>) -> Knowledge;

    /// The clicks of an answer, on the positions that were observed. A cell has one position. So
    /// has a pair: its click says that the first item won.
    fn clicks(feedback: &Self::Feedback) -> Clicks;

    /// The answer with these clicks.
    fn feedback(clicks: Clicks) -> Self::Feedback;

    /// Makes the policies of this name. `None` if they do not play this protocol.
    #[doc(hidden)]
    fn maker(spec: &PolicySpec) -> Option<Maker>;
}

/// Visitor that makes policies for the protocol `I`.
struct Make<I>(PhantomData<fn() -> I>);

/// Implements a visitor for protocols of a family, given the part of the knowledge that its
/// policies use.
macro_rules! make {
    ($($Visitor:ident on $($Interaction:ident $(within $tolerance:ident)?),+: $Policy:ident, |$knowledge:ident| -> $Known:ty $known:block;)*) => {$($(
        impl $Visitor for Make<$Interaction> {
            type Output = Maker;

            fn with<P, F>(self, build: F $(, $tolerance: NonNegative)?) -> Self::Output
            where
                P: visit::$Policy,
                F: Fn($Known, u64) -> Result<P, Error> + Send + Sync + 'static,
            {
                $Visitor::with_abilities(self, build, Abilities::none() $(, $tolerance)?)
            }

            fn with_abilities<P, F>(self, build: F, abilities: Abilities<P> $(, $tolerance: NonNegative)?) -> Self::Output
            where
                P: visit::$Policy,
                F: Fn($Known, u64) -> Result<P, Error> + Send + Sync + 'static,
            {
                let fresh = move |$knowledge: &Knowledge| build($known, $knowledge.horizon.unwrap_or(0));
                Maker::new::<$Interaction, _>(fresh, abilities)
            }
        }
    )+)*};
}

make! {
    WithPositionBased on Pbm: PositionBasedPolicy, |knowledge| -> PbmKnown<'_> {
        knowledge.position_based()?
    };
    WithUnknownExamination on Pbm: UnknownExaminationPolicy, |knowledge| -> PrefixKnown<'_> {
        knowledge.prefix_known()?
    };
    WithPrefix on SemiBandit, Cascade, Dcm: PrefixPolicy, |knowledge| -> PrefixKnown<'_> {
        knowledge.prefix_known()?
    };
    WithPositionContexts on Pbm: PositionContextsPolicy, |knowledge| -> (PbmKnown<'_>, ContextKnown<'_>) {
        (knowledge.position_based()?, knowledge.contexts()?)
    };
    WithPrefixContexts on SemiBandit, Cascade, Dcm: PrefixContextsPolicy, |knowledge| -> (PrefixKnown<'_>, ContextKnown<'_>) {
        (knowledge.prefix_known()?, knowledge.contexts()?)
    };
    WithAnyList on Pbm, SemiBandit, Cascade, Dcm, ClicksOnly: AnyListPolicy, |knowledge| -> ListShape {
        knowledge.list_shape()?
    };
    WithStopping on Cascade within _tolerance: StoppingPolicy, |knowledge| -> ListShape {
        knowledge.list_shape()?
    };
    WithBudgeted on Cascade: BudgetedPolicy, |knowledge| -> ListShape {
        knowledge.list_shape()?
    };
    WithCells on RankOne: CellsPolicy, |knowledge| -> TableShape {
        TableShape::new(knowledge.sizes[0], knowledge.sizes[1])?
    };
    WithPairs on Dueling: PairsPolicy, |knowledge| -> PairKnown {
        PairKnown { shape: DuelShape::new(knowledge.sizes[0])?, gamma: knowledge.gamma }
    };
}

/// Implements [`CatalogueProtocol`], given how an answer becomes clicks and the reverse, and the
/// visits of the families that play the protocol. Policies that see who asks are made as such.
macro_rules! protocols {
    ($($Interaction:ident: $Protocol:ident, $Known:ty, |$known:ident| $knowledge:expr,
        |$feedback:ident| $clicks:expr, |$of:ident| $answer:expr,
        |$spec:ident, $family:ident, $make:ident| $visit:expr $(, contexts $contexts:expr)?;)*) => {$(
        impl CatalogueProtocol for $Interaction {
            const PROTOCOL: Protocol = Protocol::$Protocol;
            type Known<'a> = $Known;

            fn knowledge($known: &Self::Known<'_>) -> Knowledge {
                $knowledge
            }

            #[inline]
            fn clicks($feedback: &Self::Feedback) -> Clicks {
                $clicks
            }

            #[inline]
            fn feedback($of: Clicks) -> Self::Feedback {
                $answer
            }

            fn maker($spec: &PolicySpec) -> Option<Maker> {
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
    Pbm: PositionBased, PositionsKnown<'a>, |known| Knowledge::positions(known),
        |feedback| feedback.clicks, |clicks| PbmFeedback { clicks },
        |spec, family, make| match family {
        Family::AnyList => spec.with_any_list(make),
        Family::UnknownExamination => spec.with_unknown_examination(make),
        _ => spec.with_position_based(make),
    }, contexts segments::<Self>(spec).or_else(|| spec.with_position_contexts(make));
    SemiBandit: SemiBandit, PrefixKnown<'a>, |known| Knowledge::prefix(known),
        |feedback| feedback.clicks, |clicks| PrefixFeedback { clicks },
        |spec, family, make| match family {
        Family::AnyList => spec.with_any_list(make),
        _ => spec.with_prefix(make),
    }, contexts segments::<Self>(spec).or_else(|| spec.with_prefix_contexts(make));
    Dcm: Dcm, PrefixKnown<'a>, |known| Knowledge::prefix(known),
        |feedback| feedback.clicks, |clicks| DcmFeedback { clicks },
        |spec, family, make| match family {
        Family::AnyList => spec.with_any_list(make),
        _ => spec.with_prefix(make),
    }, contexts segments::<Self>(spec).or_else(|| spec.with_prefix_contexts(make));
    Cascade: Cascade, PrefixKnown<'a>, |known| Knowledge::prefix(known),
        |feedback| feedback.click().into_iter().fold(Clicks::new(feedback.n_positions()), Clicks::with), |clicks| Self::read(clicks, clicks.len()),
        |spec, family, make| match family {
        Family::AnyList => spec.with_any_list(make),
        Family::Stopping => spec.with_stopping(make),
        Family::FullFeedback => spec.with_full_feedback(make),
        Family::Budgeted => spec.with_budgeted(make),
        _ => spec.with_prefix(make),
    }, contexts segments::<Self>(spec).or_else(|| spec.with_prefix_contexts(make));
    ClicksOnly: ClicksOnly, ListShape, |known| Knowledge::list(*known),
        |feedback| feedback.clicks, |clicks| ListClicks { clicks },
        |spec, _family, make| spec.with_any_list(make), contexts segments::<Self>(spec);
    RankOne: RankOne, TableShape, |known| Knowledge::sizes(known.n_rows(), known.n_columns()),
        |feedback| one(feedback.clicked), |clicks| CellClick { clicked: clicks.get(0) },
        |spec, _family, make| spec.with_cells(make);
    Dueling: Dueling, PairKnown, |known| Knowledge { gamma: known.gamma, ..Knowledge::sizes(known.shape.n_items(), 2) },
        |feedback| one(feedback.first_won()), |clicks| if clicks.get(0) { DuelOutcome::FirstWon } else { DuelOutcome::SecondWon },
        |spec, _family, make| spec.with_pairs(make);
}

/// One position, with a click or without.
fn one(clicked: bool) -> Clicks {
    if clicked { Clicks::new(1).with(0) } else { Clicks::new(1) }
}
