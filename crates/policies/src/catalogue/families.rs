//! One type for all policies of a family; the policy is chosen at run time.
//!
//! Each policy has a note of its own type, and the family has one note type for all. So every policy is stored with a decision of its
//! own, and actions and notes are copied between the two.

use crate::rank_one::Side;
use crate::sizes::Sizes;
use crate::{Decision, Recommend, Select, Stop, Update};
use click_models::{
    CascadeFeedback, Cell, CellClick, DuelOutcome, ItemId, ListFeedback, ObservedPrefix, Pair, Ranking,
    RenderedClicks,
};
use rand::Rng;
use serde::{Deserialize, Serialize, Serializer};
use std::ops::ControlFlow;

/// The note of any policy of the catalogue.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Note {
    /// Nothing.
    #[default]
    Nothing,
    /// An epoch or a stage.
    Number(u64),
    /// The list that the policy chose, which may differ from the list shown.
    List(Ranking),
    /// Whether a row or a column was played.
    Side(Side),
}

/// Converts between a policy's own note and [`Note`]. A note of another kind reads as the default.
trait AsNote {
    fn store(&self, note: &mut Note);
    fn load(&mut self, note: &Note);
}

impl AsNote for () {
    #[inline]
    fn store(&self, note: &mut Note) {
        *note = Note::Nothing;
    }

    #[inline]
    fn load(&mut self, _note: &Note) {}
}

impl AsNote for u64 {
    #[inline]
    fn store(&self, note: &mut Note) {
        *note = Note::Number(*self);
    }

    #[inline]
    fn load(&mut self, note: &Note) {
        *self = if let Note::Number(number) = note { *number } else { 0 };
    }
}

impl AsNote for u32 {
    #[inline]
    fn store(&self, note: &mut Note) {
        *note = Note::Number((*self).into());
    }

    #[inline]
    fn load(&mut self, note: &Note) {
        *self =
            if let Note::Number(number) = note { Self::try_from(*number).unwrap_or(Self::MAX) } else { 0 };
    }
}

impl AsNote for Ranking {
    #[inline]
    fn store(&self, note: &mut Note) {
        match note {
            Note::List(list) => list.clone_from(self),
            _ => *note = Note::List(self.clone()),
        }
    }

    #[inline]
    fn load(&mut self, note: &Note) {
        match note {
            Note::List(list) => self.clone_from(list),
            _ => self.clear(),
        }
    }
}

impl AsNote for Side {
    #[inline]
    fn store(&self, note: &mut Note) {
        *note = Note::Side(*self);
    }

    #[inline]
    fn load(&mut self, note: &Note) {
        *self = if let Note::Side(side) = note { *side } else { Self::default() };
    }
}

/// A policy, and a buffer for its decision.
#[derive(Debug, Clone)]
struct Member<A, P: Select<A>> {
    policy: P,
    decision: Decision<A, P::Note>,
}

impl<A: Default + Clone, P: Select<A, Note: AsNote>> Member<A, P> {
    fn new(policy: P) -> Self {
        Self { policy, decision: Decision::default() }
    }

    #[inline]
    fn select<R: Rng + ?Sized>(&mut self, rng: &mut R, out: &mut Decision<A, Note>) {
        std::mem::swap(&mut self.decision.action, &mut out.action);
        self.policy.select(rng, &mut self.decision);
        std::mem::swap(&mut self.decision.action, &mut out.action);
        self.decision.note.store(&mut out.note);
    }

    #[inline]
    fn update<F>(&mut self, decision: &Decision<A, Note>, feedback: &F)
    where
        P: Update<A, F>,
    {
        self.decision.action.clone_from(&decision.action);
        self.decision.note.load(&decision.note);
        self.policy.update(&self.decision, feedback);
    }
}

/// Generates a sum type of policies with the same actions and feedback. It is saved as the policy that it holds.
macro_rules! family {
    ($(#[$doc:meta])* $Family:ident($Members:ident) of $Action:ty,
        reading [$($generic:tt)*] $Feedback:ty; $($Policy:ident),+ $(,)?) => {
        $(#[$doc])*
        #[derive(Debug, Clone)]
        pub struct $Family($Members);

        #[allow(clippy::enum_variant_names, reason = "named after the types")]
        #[derive(Debug, Clone)]
        enum $Members {
            $($Policy(Box<Member<$Action, crate::$Policy>>),)+
        }

        $(impl From<crate::$Policy> for $Family {
            fn from(policy: crate::$Policy) -> Self {
                Self($Members::$Policy(Box::new(Member::new(policy))))
            }
        })+

        impl Select<$Action> for $Family {
            type Note = Note;

            #[inline]
            fn select<R: Rng + ?Sized>(&mut self, rng: &mut R, out: &mut Decision<$Action, Note>) {
                match &mut self.0 {
                    $($Members::$Policy(member) => member.select(rng, out),)+
                }
            }
        }

        impl<$($generic)*> Update<$Action, $Feedback> for $Family {
            #[inline]
            fn update(&mut self, decision: &Decision<$Action, Note>, feedback: &$Feedback) {
                match &mut self.0 {
                    $($Members::$Policy(member) => member.update(decision, feedback),)+
                }
            }
        }

        impl Sizes for $Family {
            fn sizes(&self) -> [usize; 2] {
                match &self.0 {
                    $($Members::$Policy(member) => member.policy.sizes(),)+
                }
            }
        }

        impl Serialize for $Family {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match &self.0 {
                    $($Members::$Policy(member) => member.policy.serialize(serializer),)+
                }
            }
        }
    };
}

family! {
    /// A policy that knows the examination of positions.
    PositionBasedPolicy(PositionBasedMembers) of Ranking, reading [F: RenderedClicks] F;
    PbmUcb, PbmKlUcb, PbmPie, PbmTs, BcMpTs
}

family! {
    /// A policy for position-based users that does not know the examination of positions.
    UnknownExaminationPolicy(UnknownExaminationMembers) of Ranking, reading [F: RenderedClicks] F;
    Grab, PbMhb, PbmGibbs, PbmTsPlugIn, PbmUcbPlugIn,
}

family! {
    /// A policy that reads an observed prefix.
    PrefixPolicy(PrefixMembers) of Ranking, reading [F: ObservedPrefix] F;
    PrefixUcb, PrefixUcbV, PrefixKlUcb, PrefixTs, TsCascade, Pie
}

family! {
    /// A policy that identifies the best items of cascade users.
    IdentifyPolicy(IdentifyMembers) of Ranking, reading [] CascadeFeedback;
    CascadeBai, CascadeKl, KlLucb, SuccessiveRejects
}

family! {
    /// A policy that reads the clicks of any list.
    AnyListPolicy(AnyListMembers) of Ranking, reading [F: ListFeedback] F;
    RbaKlUcb, TopRank, BatchRank, EpsilonGreedy, Uniform
}

family! {
    /// A policy that chooses a row and a column.
    CellPolicy(CellMembers) of Cell, reading [] CellClick;
    Rank1Elim, Ucb1Elim, Ucb1, CellKlUcb, Uts, Rank1Gibbs, UniformCell
}

family! {
    /// A policy that compares two items.
    PairPolicy(PairMembers) of Pair, reading [] DuelOutcome;
    Rucb, BeatTheMean, CondorcetSavage, InterleavedFilter, Rmed1, EcwRmed, DoubleTs, MergeDts, UniformPair
}

impl IdentifyPolicy {
    /// The best items, if the policy is one that stops and has stopped.
    pub(super) fn answer(&self) -> Option<Vec<ItemId>> {
        let checked = match &self.0 {
            IdentifyMembers::CascadeBai(member) => member.policy.check(),
            IdentifyMembers::CascadeKl(member) => member.policy.check(),
            IdentifyMembers::KlLucb(member) => member.policy.check(),
            IdentifyMembers::SuccessiveRejects(_) => return None,
        };
        if let ControlFlow::Break(answer) = checked { Some(answer) } else { None }
    }
}

impl Recommend<Ranking> for IdentifyPolicy {
    fn recommend<R: Rng + ?Sized>(&self, rng: &mut R, out: &mut Ranking) {
        match &self.0 {
            IdentifyMembers::CascadeBai(member) => member.policy.recommend(rng, out),
            IdentifyMembers::CascadeKl(member) => member.policy.recommend(rng, out),
            IdentifyMembers::KlLucb(member) => member.policy.recommend(rng, out),
            IdentifyMembers::SuccessiveRejects(member) => member.policy.recommend(rng, out),
        }
    }
}

impl Recommend<ItemId> for PairPolicy {
    fn recommend<R: Rng + ?Sized>(&self, rng: &mut R, out: &mut ItemId) {
        match &self.0 {
            PairMembers::Rucb(member) => member.policy.recommend(rng, out),
            PairMembers::BeatTheMean(member) => member.policy.recommend(rng, out),
            PairMembers::CondorcetSavage(member) => member.policy.recommend(rng, out),
            PairMembers::InterleavedFilter(member) => member.policy.recommend(rng, out),
            PairMembers::Rmed1(member) => member.policy.recommend(rng, out),
            PairMembers::EcwRmed(member) => member.policy.recommend(rng, out),
            PairMembers::DoubleTs(member) => member.policy.recommend(rng, out),
            PairMembers::MergeDts(member) => member.policy.recommend(rng, out),
            PairMembers::UniformPair(member) => member.policy.recommend(rng, out),
        }
    }
}

/// A policy of one of two families.
#[derive(Debug, Clone)]
pub enum OneOf<A, B> {
    /// Of the first family.
    First(A),
    /// Of the second family.
    Second(B),
}

impl<C, A, B> Select<C> for OneOf<A, B>
where
    A: Select<C, Note = Note>,
    B: Select<C, Note = Note>,
{
    type Note = Note;

    #[inline]
    fn select<R: Rng + ?Sized>(&mut self, rng: &mut R, out: &mut Decision<C, Note>) {
        match self {
            Self::First(policy) => policy.select(rng, out),
            Self::Second(policy) => policy.select(rng, out),
        }
    }
}

impl<C, F, A, B> Update<C, F> for OneOf<A, B>
where
    A: Update<C, F, Note = Note>,
    B: Update<C, F, Note = Note>,
{
    #[inline]
    fn update(&mut self, decision: &Decision<C, Note>, feedback: &F) {
        match self {
            Self::First(policy) => policy.update(decision, feedback),
            Self::Second(policy) => policy.update(decision, feedback),
        }
    }
}

impl<A: Sizes, B: Sizes> Sizes for OneOf<A, B> {
    fn sizes(&self) -> [usize; 2] {
        match self {
            Self::First(policy) => policy.sizes(),
            Self::Second(policy) => policy.sizes(),
        }
    }
}

impl<A: Serialize, B: Serialize> Serialize for OneOf<A, B> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::First(policy) => policy.serialize(serializer),
            Self::Second(policy) => policy.serialize(serializer),
        }
    }
}
