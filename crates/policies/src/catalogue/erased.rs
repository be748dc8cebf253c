//! Policies whose type is known at run time only: one trait object for all policies of a protocol.
//!
//! Each policy has a note of its own type, and the catalogue has one note type for all. So every
//! policy is stored with a decision of its own, and actions and notes are copied between the two.

use super::Knowledge;
use super::reader::Reader;
use crate::context::{AnyFeaturedItems, Coefficients, PolicyFor, SegmentedNote, SelectFor};
use crate::live::OnAnyTable;
use crate::rank_one::Side;
use crate::setup::Setup;
use crate::{Decision, Error, Recommend, Stop};
use click_models::{Context, Interaction, ItemId, Ranking};
use rand::Rng;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::borrow::Cow;
use std::ops::ControlFlow;

/// The note of any policy of the catalogue.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
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
    /// The user for whom the policy chose.
    Context(Context),
    /// The segment for which the policy chose, and the note of its policy.
    Segment(Box<SegmentedNote<Note>>),
}

impl Clone for Note {
    fn clone(&self) -> Self {
        match self {
            Self::Nothing => Self::Nothing,
            Self::Number(number) => Self::Number(*number),
            Self::List(list) => Self::List(list.clone()),
            Self::Side(side) => Self::Side(*side),
            Self::Context(context) => Self::Context(context.clone()),
            Self::Segment(segment) => Self::Segment(segment.clone()),
        }
    }

    /// Keeps the memory of `self` if both are of one kind.
    fn clone_from(&mut self, source: &Self) {
        match source {
            Self::List(list) => list.store(self),
            Self::Context(context) => context.store(self),
            Self::Segment(segment) => segment.store(self),
            other => *self = other.clone(),
        }
    }
}

/// Converts between a policy's own note and [`Note`]. A note of another kind reads as the default.
pub trait AsNote: Sync + 'static {
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

impl AsNote for Context {
    #[inline]
    fn store(&self, note: &mut Note) {
        match note {
            Note::Context(context) => context.clone_from(self),
            _ => *note = Note::Context(self.clone()),
        }
    }

    #[inline]
    fn load(&mut self, note: &Note) {
        if let Note::Context(context) = note {
            self.clone_from(context);
        } else {
            self.segment = 0;
            self.features.clear();
        }
    }
}

impl AsNote for SegmentedNote<Note> {
    fn store(&self, note: &mut Note) {
        match note {
            Note::Segment(kept) => {
                kept.segment = self.segment;
                kept.note.clone_from(&self.note);
            }
            _ => *note = Note::Segment(Box::new(self.clone())),
        }
    }

    fn load(&mut self, note: &Note) {
        match note {
            Note::Segment(kept) => {
                self.segment = kept.segment;
                self.note.clone_from(&kept.note);
            }
            _ => *self = Self::default(),
        }
    }
}

/// Operations of every policy of the catalogue on actions of type `A`.
pub trait Member<A>: SelectFor<A, Note: AsNote> + Setup + Serialize + Clone + Send + Sync + 'static {}

impl<A, P: SelectFor<A, Note: AsNote> + Setup + Serialize + Clone + Send + Sync + 'static> Member<A> for P {}

/// A policy without its feedback: compiled once for all protocols with actions of type `A`.
pub(super) trait Chooses<A>: Send + Sync {
    fn select(&mut self, context: &Context, rng: &mut dyn Rng, out: &mut Decision<A, Note>);

    fn repeat_round(&mut self) -> bool;

    fn sizes(&self) -> [usize; 2];

    /// JSON pointers to the settings in [`state`](Self::state).
    fn settings(&self) -> Vec<Cow<'static, str>>;

    /// The policy, to be written.
    fn state(&self) -> &dyn erased_serde::Serialize;

    /// The best items, if the policy is one that stops and has stopped.
    fn answer(&self) -> Option<Vec<ItemId>>;

    /// Writes the recommended items to `out`; `false` if the policy recommends none.
    fn recommend(&self, rng: &mut dyn Rng, out: &mut Ranking) -> bool;

    /// The policy, if it learns from a table that can be changed.
    fn on_table(&self) -> Option<&dyn OnAnyTable>;

    /// As [`on_table`](Self::on_table), to change it.
    fn on_table_mut(&mut self) -> Option<&mut dyn OnAnyTable>;

    /// The policy, if it sees who asks and its items may come and go.
    fn featured(&mut self) -> Option<&mut dyn AnyFeaturedItems>;

    /// The policy, if it estimates coefficients of features.
    fn coefficients(&mut self) -> Option<&mut dyn Coefficients>;
}

/// A policy for the protocol `I`.
pub(super) trait Erased<I: Interaction>: Chooses<I::Action> {
    fn update(&mut self, decision: &Decision<I::Action, Note>, feedback: &I::Feedback);

    fn duplicate(&self) -> BoxedPolicy<I>;
}

/// A policy of the protocol `I` whose type is known at run time only.
pub(super) type BoxedPolicy<I> = Box<dyn Erased<I>>;

/// A policy's answer on the best items.
#[derive(Clone)]
pub(super) struct Identifies<P> {
    answer: fn(&P) -> Option<Vec<ItemId>>,
    recommend: fn(&P, &mut dyn Rng, &mut Ranking) -> bool,
}

impl<P> Identifies<P> {
    /// Nothing.
    pub(super) fn nothing() -> Self {
        Self { answer: |_| None, recommend: |_, _, _| false }
    }

    /// It recommends a list.
    pub(super) fn list() -> Self
    where
        P: Recommend<Ranking>,
    {
        let recommend = |policy: &P, rng: &mut dyn Rng, out: &mut Ranking| {
            policy.recommend(rng, out);
            true
        };
        Self { recommend, ..Self::nothing() }
    }

    /// It recommends a list, and stops with an answer.
    pub(super) fn answer() -> Self
    where
        P: Recommend<Ranking> + Stop<Answer: AsRef<[ItemId]>>,
    {
        let answer = |policy: &P| match policy.check() {
            ControlFlow::Break(answer) => Some(answer.as_ref().to_vec()),
            ControlFlow::Continue(()) => None,
        };
        Self { answer, ..Self::list() }
    }

    /// It recommends one item.
    pub(super) fn item() -> Self
    where
        P: Recommend<ItemId>,
    {
        let recommend = |policy: &P, rng: &mut dyn Rng, out: &mut Ranking| {
            policy.recommend(rng, &mut out.positions_mut(1)[0]);
            true
        };
        Self { recommend, ..Self::nothing() }
    }
}

/// A policy, and a buffer for its decision.
#[derive(Clone)]
struct Kept<A, P: SelectFor<A>> {
    policy: P,
    decision: Decision<A, P::Note>,
    identifies: Identifies<P>,
}

// Not inlined, so that they are compiled once for all protocols.
impl<A: Clone + Default, P: SelectFor<A> + Clone> Kept<A, P> {
    #[inline(never)]
    fn new(policy: P, identifies: Identifies<P>) -> Self {
        Self { policy, decision: Decision::default(), identifies }
    }

    #[inline(never)]
    fn copy(&self) -> Self {
        self.clone()
    }
}

impl<A: Clone + Send + Sync, P: Member<A>> Chooses<A> for Kept<A, P> {
    fn select(&mut self, context: &Context, rng: &mut dyn Rng, out: &mut Decision<A, Note>) {
        std::mem::swap(&mut self.decision.action, &mut out.action);
        self.policy.select_for(context, rng, &mut self.decision);
        std::mem::swap(&mut self.decision.action, &mut out.action);
        self.decision.note.store(&mut out.note);
    }

    fn repeat_round(&mut self) -> bool {
        self.policy.repeat_round_for()
    }

    fn sizes(&self) -> [usize; 2] {
        self.policy.sizes()
    }

    fn settings(&self) -> Vec<Cow<'static, str>> {
        self.policy.settings()
    }

    fn state(&self) -> &dyn erased_serde::Serialize {
        &self.policy
    }

    fn answer(&self) -> Option<Vec<ItemId>> {
        (self.identifies.answer)(&self.policy)
    }

    fn recommend(&self, rng: &mut dyn Rng, out: &mut Ranking) -> bool {
        (self.identifies.recommend)(&self.policy, rng, out)
    }

    fn on_table(&self) -> Option<&dyn OnAnyTable> {
        self.policy.on_table()
    }

    fn on_table_mut(&mut self) -> Option<&mut dyn OnAnyTable> {
        self.policy.on_table_mut()
    }

    fn featured(&mut self) -> Option<&mut dyn AnyFeaturedItems> {
        self.policy.featured()
    }

    fn coefficients(&mut self) -> Option<&mut dyn Coefficients> {
        self.policy.coefficients()
    }
}

impl<I, P> Erased<I> for Kept<I::Action, P>
where
    I: Interaction<Action: Sync>,
    P: PolicyFor<I> + Member<I::Action>,
{
    fn update(&mut self, decision: &Decision<I::Action, Note>, feedback: &I::Feedback) {
        self.decision.action.clone_from(&decision.action);
        self.decision.note.load(&decision.note);
        self.policy.update_for(&self.decision, feedback);
    }

    fn duplicate(&self) -> BoxedPolicy<I> {
        Box::new(self.copy())
    }
}

/// Makes the policies of one name: fresh ones, and saved ones from their state.
#[expect(missing_debug_implementations, reason = "it holds functions")]
pub struct Maker<I>(Box<dyn Makes<I>>);

/// The functions of a [`Maker`] for policies of one type.
trait Makes<I> {
    fn fresh(&self, knowledge: &Knowledge) -> Result<BoxedPolicy<I>, Error>;

    fn saved(&self, state: Reader<'_, '_>) -> Result<BoxedPolicy<I>, erased_serde::Error>;

    /// Path of the policies' type.
    fn path(&self) -> &'static str;
}

/// Functions that make policies of type `P`.
struct Functions<P, F, S> {
    fresh: F,
    saved: S,
    identifies: Identifies<P>,
}

impl<I, P, F, S> Makes<I> for Functions<P, F, S>
where
    I: Interaction<Action: Sync>,
    P: PolicyFor<I> + Member<I::Action>,
    F: Fn(&Knowledge) -> Result<P, Error>,
    S: Fn(Reader<'_, '_>) -> Result<P, erased_serde::Error>,
{
    fn fresh(&self, knowledge: &Knowledge) -> Result<BoxedPolicy<I>, Error> {
        Ok(Box::new(Kept::new((self.fresh)(knowledge)?, self.identifies.clone())))
    }

    fn saved(&self, state: Reader<'_, '_>) -> Result<BoxedPolicy<I>, erased_serde::Error> {
        Ok(Box::new(Kept::new((self.saved)(state)?, self.identifies.clone())))
    }

    fn path(&self) -> &'static str {
        std::any::type_name::<P>()
    }
}

/// Reads a policy. Not inlined, so that it is compiled once for all protocols.
#[inline(never)]
fn read<P: DeserializeOwned>(state: Reader<'_, '_>) -> Result<P, erased_serde::Error> {
    P::deserialize(state)
}

impl<I: Interaction<Action: Sync>> Maker<I> {
    pub(super) fn new<P: PolicyFor<I> + Member<I::Action> + DeserializeOwned>(
        fresh: impl Fn(&Knowledge) -> Result<P, Error> + 'static,
        identifies: Identifies<P>,
    ) -> Self {
        Self::with(fresh, read, identifies)
    }

    /// As [`new`](Self::new), of policies that `saved` reads.
    pub(super) fn with<P: PolicyFor<I> + Member<I::Action>>(
        fresh: impl Fn(&Knowledge) -> Result<P, Error> + 'static,
        saved: impl Fn(Reader<'_, '_>) -> Result<P, erased_serde::Error> + 'static,
        identifies: Identifies<P>,
    ) -> Self {
        Self(Box::new(Functions { fresh, saved, identifies }))
    }

    /// The name of the policies' type.
    pub(super) fn type_name(&self) -> &'static str {
        let path = self.0.path();
        let path = path.split('<').next().unwrap_or(path);
        path.rsplit("::").next().unwrap_or(path)
    }

    pub(super) fn fresh(&self, knowledge: &Knowledge) -> Result<BoxedPolicy<I>, Error> {
        self.0.fresh(knowledge)
    }

    pub(super) fn saved<'de, D: serde::Deserializer<'de>>(
        &self,
        state: D,
    ) -> Result<BoxedPolicy<I>, D::Error> {
        let format = &mut <dyn erased_serde::Deserializer<'_>>::erase(state);
        self.0.saved(Reader::Format(format)).map_err(serde::de::Error::custom)
    }

    /// As [`saved`](Self::saved), from a value of a format that describes itself.
    pub(super) fn saved_value(&self, state: Value) -> Result<BoxedPolicy<I>, erased_serde::Error> {
        self.0.saved(Reader::Value(state))
    }
}
