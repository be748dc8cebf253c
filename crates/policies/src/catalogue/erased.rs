//! Policies whose type is known at run time only: one trait object for all policies.
//!
//! Each policy has actions and notes of its own types. The catalogue has one type of each for all:
//! a list of items, and [`Note`]. So every policy is stored with a decision of its own, and actions
//! and notes are copied between the two.

use super::reader::Reader;
use super::{CatalogueProtocol, Knowledge};
use crate::context::{Coefficients, FeaturedItems, PolicyFor, SegmentedNote, SelectAmongFor, SelectFor};
use crate::live::OnAnyTable;
use crate::rank_one::Side;
use crate::setup::Setup;
use crate::{Decision, Error, Recommend, SelectAmong, Stop};
use click_models::{Cell, Clicks, Context, ItemId, ItemSet, Pair, Ranking};
use dyn_clone::DynClone;
use rand::Rng;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::ops::ControlFlow;

/// The context of an ordinary user.
static NOBODY: Context = Context { segment: 0, features: Vec::new() };

/// The circumstances of a choice. By default an ordinary user may be shown all items.
#[derive(Debug, Clone, Copy)]
pub struct Ask<'a> {
    /// The user. A policy that was told of no contexts ignores it.
    pub context: &'a Context,
    /// The items that may be shown, for a policy in live use; by default all.
    pub among: Option<&'a ItemSet>,
    /// The most positions of a list.
    pub positions: usize,
}

impl Default for Ask<'_> {
    fn default() -> Self {
        Self { context: &NOBODY, among: None, positions: usize::MAX }
    }
}

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
        match (&mut *self, source) {
            (_, Self::List(list)) => list.store(self),
            (_, Self::Context(context)) => context.store(self),
            (Self::Segment(kept), Self::Segment(segment)) => {
                kept.segment = segment.segment;
                kept.note.clone_from(&segment.note);
            }
            (_, other) => *self = other.clone(),
        }
    }
}

/// Converts between a policy's own note and [`Note`]. A note of another kind reads as the default.
/// One of the same kind is kept and overwritten: dropping it would be a call.
pub trait AsNote: Default + Sync + 'static {
    /// Takes a note to be overwritten, with the memory of `note`.
    #[inline]
    fn take(_note: &mut Note) -> Self {
        Self::default()
    }

    /// Writes the note to `note`, to which it gives its memory.
    #[inline]
    fn give(self, note: &mut Note) {
        self.store(note);
    }

    fn store(&self, note: &mut Note);
    fn load(&mut self, note: &Note);
}

impl AsNote for () {
    #[inline]
    fn store(&self, note: &mut Note) {
        if !matches!(note, Note::Nothing) {
            *note = Note::Nothing;
        }
    }

    #[inline]
    fn load(&mut self, _note: &Note) {}
}

/// Implements notes that are the content of a variant.
macro_rules! notes {
    ($($Type:ident in $Variant:ident),+) => {$(
        impl AsNote for $Type {
            #[inline]
            fn take(note: &mut Note) -> Self {
                if let Note::$Variant(kept) = note { std::mem::take(kept) } else { Self::default() }
            }

            #[inline]
            fn give(self, note: &mut Note) {
                if let Note::$Variant(kept) = note { *kept = self } else { *note = Note::$Variant(self) }
            }

            #[inline]
            fn store(&self, note: &mut Note) {
                match note {
                    Note::$Variant(kept) => kept.clone_from(self),
                    _ => *note = Note::$Variant(self.clone()),
                }
            }

            #[inline]
            fn load(&mut self, note: &Note) {
                if let Note::$Variant(kept) = note {
                    self.clone_from(kept);
                } else {
                    self.clone_from(&Self::default());
                }
            }
        }
    )+};
}
notes!(u64 in Number, Ranking in List, Side in Side, Context in Context);

/// An action as a list of items: a cell is its row and its column, a pair its two items.
pub trait AsList: Clone + Default + Send + Sync + 'static {
    /// Writes the action to `list`.
    fn write(&self, list: &mut Ranking);

    /// Reads the action from `list`.
    fn read(&mut self, list: &Ranking);

    /// Takes an action to be overwritten, with the memory of `list`.
    #[doc(hidden)]
    #[inline]
    fn take(_list: &mut Ranking) -> Self {
        Self::default()
    }

    /// Writes the action to `list`, to which it gives its memory.
    #[doc(hidden)]
    #[inline]
    fn give(self, list: &mut Ranking) {
        self.write(list);
    }

    /// Decides with `decide`, in `buffer` if the action is no list.
    #[doc(hidden)]
    fn decide(
        decision: &mut Decision<Self, Note>,
        buffer: &mut Decision<Ranking, Note>,
        decide: impl FnOnce(&mut Decision<Ranking, Note>),
    ) {
        decide(buffer);
        decision.action.read(&buffer.action);
        std::mem::swap(&mut decision.note, &mut buffer.note);
    }

    /// The decision; in `buffer` if the action is no list.
    #[doc(hidden)]
    fn decided<'a>(
        decision: &'a Decision<Self, Note>,
        buffer: &'a mut Decision<Ranking, Note>,
    ) -> &'a Decision<Ranking, Note> {
        decision.action.write(&mut buffer.action);
        buffer.note.clone_from(&decision.note);
        buffer
    }
}

impl AsList for Ranking {
    #[inline]
    fn write(&self, list: &mut Ranking) {
        list.clone_from(self);
    }

    #[inline]
    fn read(&mut self, list: &Ranking) {
        self.clone_from(list);
    }

    fn take(list: &mut Ranking) -> Self {
        std::mem::take(list)
    }

    #[inline]
    fn give(self, list: &mut Ranking) {
        *list = self;
    }

    #[inline]
    fn decide(
        decision: &mut Decision<Self, Note>,
        _: &mut Decision<Ranking, Note>,
        decide: impl FnOnce(&mut Decision<Ranking, Note>),
    ) {
        decide(decision);
    }

    fn decided<'a>(
        decision: &'a Decision<Self, Note>,
        _: &'a mut Decision<Ranking, Note>,
    ) -> &'a Decision<Ranking, Note> {
        decision
    }
}

/// The two items of a list; numbers that are absent are 0.
fn two(list: &Ranking) -> [ItemId; 2] {
    let mut items = list.iter();
    [(); 2].map(|()| items.next().unwrap_or_default())
}

impl AsList for Cell {
    fn write(&self, list: &mut Ranking) {
        list.positions_mut(2).copy_from_slice(&[ItemId::new(self.row), ItemId::new(self.column)]);
    }

    fn read(&mut self, list: &Ranking) {
        let [row, column] = two(list).map(ItemId::number);
        *self = Self::new(row, column);
    }
}

impl AsList for Pair {
    fn write(&self, list: &mut Ranking) {
        list.positions_mut(2).copy_from_slice(&[self.first, self.second]);
    }

    fn read(&mut self, list: &Ranking) {
        let [first, second] = two(list);
        *self = Self::new(first, second);
    }
}

/// Operations of every policy of the catalogue on actions of type `A`.
pub trait Member<A>: SelectFor<A, Note: AsNote> + Setup + Serialize + Clone + Send + Sync + 'static {}

impl<A, P: SelectFor<A, Note: AsNote> + Setup + Serialize + Clone + Send + Sync + 'static> Member<A> for P {}

/// A policy of any type, for users of any protocol.
pub(super) trait DynPolicy: Able + DynClone + Send + Sync {
    /// Chooses as asked, among some items only if the policy has a table or items that come and go.
    fn select(&mut self, ask: &Ask<'_>, rng: &mut dyn Rng, out: &mut Decision<Ranking, Note>);

    /// Learns from clicks on the positions that were observed; of a cell, one position; of a pair,
    /// a click on one position if the first item won.
    fn update(&mut self, decision: &Decision<Ranking, Note>, clicks: Clicks);

    fn repeat_round(&mut self) -> bool {
        false
    }

    fn sizes(&self) -> [usize; 2];

    /// JSON pointers to the settings in [`state`](Self::state).
    fn settings(&self) -> Vec<Cow<'static, str>>;

    /// The policy, to be written.
    fn state(&self) -> &dyn erased_serde::Serialize;
}

/// A policy whose type is known at run time only.
pub(super) type BoxedPolicy = Box<dyn DynPolicy>;
dyn_clone::clone_trait_object!(DynPolicy);

/// Declares what only some policies can do, and what is so of the others: the functions of a policy
/// of any type, and those of its own type behind them.
macro_rules! abilities {
    ($($(#[$doc:meta])* fn $name:ident(&$([$mut:tt])? $(, $argument:ident: $type:ty)*) -> $output:ty, else $none:expr;)+) => {
        /// Abilities of a policy beyond choosing and learning.
        #[allow(unused_variables, reason = "most policies have no abilities")]
        pub(super) trait Able {
            $($(#[$doc])* fn $name(&$($mut)? self $(, $argument: $type)*) -> $output {
                $none
            })+
        }

        /// Abilities of policies of type `P`.
        #[derive(Clone)]
        #[expect(missing_debug_implementations, reason = "it holds functions")]
        pub struct Abilities<P> {
            $($name: fn(&$($mut)? P $(, $type)*) -> $output,)+
        }

        impl<P> Abilities<P> {
            /// Nothing.
            #[allow(unused_variables, reason = "as above")]
            pub(super) fn none() -> Self {
                Self { $($name: |_ $(, $argument)*| $none,)+ }
            }
        }

        impl<A, P: SelectFor<A>> Able for Adapter<A, P> {
            $(fn $name(&$($mut)? self $(, $argument: $type)*) -> $output {
                (self.abilities.$name)(&$($mut)? self.policy $(, $argument)*)
            })+
        }
    };
}

abilities! {
    /// Chooses among some items, if the policy has a table or items that come and go.
    fn select_among(
        &[mut], context: &Context, available: &ItemSet, rng: &mut dyn Rng, out: &mut Decision<Ranking, Note>
    ) -> (), else {
        out.note = Note::Nothing;
        out.action.clear();
    };
    /// The best items, if the policy is one that stops and has stopped.
    fn answer(&) -> Option<Vec<ItemId>>, else None;
    /// Writes the recommended items to `out`; `false` if the policy recommends none.
    fn recommend(&, rng: &mut dyn Rng, out: &mut Ranking) -> bool, else false;
    /// The policy, if it learns from a table that can be changed.
    fn table(&) -> Option<&dyn OnAnyTable>, else None;
    /// As [`table`](Self::table), to change it.
    fn table_mut(&[mut]) -> Option<&mut dyn OnAnyTable>, else None;
    /// The policy, if it sees who asks and its items may come and go.
    fn items(&[mut]) -> Option<&mut dyn FeaturedItems>, else None;
    /// The policy, if it estimates coefficients of features.
    fn coefficients(&[mut]) -> Option<&mut dyn Coefficients>, else None;
}

impl<P> Abilities<P> {
    /// It recommends a list.
    pub(super) fn list() -> Self
    where
        P: Recommend<Ranking>,
    {
        let recommend = |policy: &P, rng: &mut dyn Rng, out: &mut Ranking| {
            policy.recommend(rng, out);
            true
        };
        Self { recommend, ..Self::none() }
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
        Self { recommend, ..Self::none() }
    }

    /// It learns from a table that can be changed.
    pub(super) fn table() -> Self
    where
        P: OnAnyTable + SelectAmong<Ranking, Note = ()>,
    {
        let select_among =
            |policy: &mut P, _: &_, available: &_, mut rng: &mut dyn Rng, out: &mut Decision<_, _>| {
                let mut decision = Decision { action: std::mem::take(&mut out.action), note: () };
                policy.select_among(available, &mut rng, &mut decision);
                *out = Decision { action: decision.action, note: Note::Nothing };
            };
        Self { select_among, table: |policy| Some(policy), table_mut: |policy| Some(policy), ..Self::none() }
    }

    /// It estimates coefficients of features.
    pub(super) fn coefficients() -> Self
    where
        P: Coefficients,
    {
        Self { coefficients: |policy| Some(policy), ..Self::none() }
    }

    /// It sees who asks, and its items may come and go.
    pub(super) fn items() -> Self
    where
        P: FeaturedItems + SelectAmongFor<Ranking, Note = Context> + Coefficients,
    {
        let select_among =
            |policy: &mut P, context: &_, available: &_, mut rng: &mut dyn Rng, out: &mut Decision<_, _>| {
                let note = Context::take(&mut out.note);
                let mut decision = Decision { action: std::mem::take(&mut out.action), note };
                policy.select_among_for(context, available, &mut rng, &mut decision);
                *out = Decision { action: decision.action, note: Note::Context(decision.note) };
            };
        Self { select_among, items: |policy| Some(policy), ..Self::coefficients() }
    }
}

/// A policy, and a buffer for the decision that it learns from.
#[derive(Clone)]
struct Adapter<A, P: SelectFor<A>> {
    policy: P,
    decision: Decision<A, P::Note>,
    /// Reads clicks by the protocol of the users.
    learn: Learn<A, P, P::Note>,
    abilities: Abilities<P>,
}

// Compiled once for all protocols with actions of type `A`.
impl<A: AsList, P: Member<A>> DynPolicy for Adapter<A, P> {
    fn select(&mut self, ask: &Ask<'_>, rng: &mut dyn Rng, out: &mut Decision<Ranking, Note>) {
        if let Some(available) = ask.among {
            return self.select_among(ask.context, available, rng, out);
        }
        // A local decision may stay in registers: read back at once from memory, the two numbers of
        // a pair wait for both writes.
        let mut decision = Decision { action: A::take(&mut out.action), note: P::Note::take(&mut out.note) };
        self.policy.select_for(ask.context, rng, &mut decision);
        decision.action.give(&mut out.action);
        decision.note.give(&mut out.note);
    }

    fn update(&mut self, decision: &Decision<Ranking, Note>, clicks: Clicks) {
        self.decision.action.read(&decision.action);
        self.decision.note.load(&decision.note);
        (self.learn)(&mut self.policy, &self.decision, clicks);
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
}

type Fresh = dyn Fn(&Knowledge) -> Result<BoxedPolicy, Error>;
type ReadSaved = dyn Fn(Reader<'_, '_>) -> Result<BoxedPolicy, erased_serde::Error>;
/// Learns from clicks.
type Learn<A, P, N> = fn(&mut P, &Decision<A, N>, Clicks);

/// Makes the policies of one name: fresh ones, and saved ones from their state.
#[expect(missing_debug_implementations, reason = "it holds functions")]
pub struct Maker {
    pub(super) fresh: Box<Fresh>,
    /// Reads a policy.
    pub(super) saved: Box<ReadSaved>,
    /// The name of the policies' type.
    pub(super) type_name: &'static str,
}

/// Reads a policy. Not inlined, so that it is compiled once for all protocols.
#[inline(never)]
fn read<P: DeserializeOwned>(state: Reader<'_, '_>) -> Result<P, erased_serde::Error> {
    P::deserialize(state)
}

impl Maker {
    /// Makes policies of type `P`, for the protocol `I`.
    pub(super) fn new<I: CatalogueProtocol, P: PolicyFor<I> + Member<I::Action> + DeserializeOwned>(
        fresh: impl Fn(&Knowledge) -> Result<P, Error> + 'static,
        abilities: Abilities<P>,
    ) -> Self {
        // Not inlined, so that it is compiled once for all protocols.
        #[inline(never)]
        fn kept<A: AsList, P: Member<A>>(
            policy: P,
            learn: Learn<A, P, P::Note>,
            abilities: &Abilities<P>,
        ) -> BoxedPolicy {
            Box::new(Adapter { policy, decision: Decision::default(), learn, abilities: abilities.clone() })
        }
        let of_saved = abilities.clone();
        let learn: Learn<I::Action, P, P::Note> =
            |policy, decision, clicks| policy.update_for(decision, &I::feedback(clicks));
        let path = std::any::type_name::<P>();
        let path = path.split('<').next().unwrap_or(path);
        Self {
            fresh: Box::new(move |knowledge| Ok(kept(fresh(knowledge)?, learn, &abilities))),
            saved: Box::new(move |state| Ok(kept(read(state)?, learn, &of_saved))),
            type_name: path.rsplit("::").next().unwrap_or(path),
        }
    }
}
