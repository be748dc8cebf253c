//! All protocols behind one trait object: actions as numbers, answers as a set of clicks.
//!
//! A list is its items from the top down, followed by [`EMPTY`] if it is shorter than the others, a
//! cell its row and column, a pair its two items. The answer is the set of clicks on the positions
//! that were observed; of a cell, one position; of a pair, a click on one position if the first
//! item won.

use crate::live::AnyLive;
use crate::message::value_error;
use crate::prior::Prior;
use ::live::{Estimator, Live, Settings};
use click_models::{
    Cascade, CascadeFeedback, Cell, CellClick, Clicks, ClicksOnly, Context, Dcm, DcmFeedback, DuelOutcome,
    Dueling, ItemId, ListClicks, ListFeedback as _, Pair, Pbm, PbmFeedback, PrefixFeedback, RankOne, Ranking,
    SemiBandit,
};
use policies::catalogue::{Catalogued, Knowledge, NamedPolicy, NamedTable, Note, Protocol};
use policies::{
    Coefficients, Decision, Drawing, Draws, PolicySpec, Propensity, Recommend, Tallies as _, Tally, Update,
};
use pyo3::IntoPyObjectExt as _;
use pyo3::prelude::*;
use pyo3::types::PyList;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde_json::Value;

/// A position that a short list does not fill: `batrac(pulls=one)` shows one item at a time.
pub(crate) const EMPTY: u32 = u32::MAX;

/// An action without its empty positions.
pub(crate) fn filled(action: &[u32]) -> &[u32] {
    let end = action.iter().position(|&number| number == EMPTY).unwrap_or(action.len());
    &action[..end]
}

/// A policy of any protocol.
pub(crate) trait Play: Send {
    /// Writes the next action for a user to `action` and returns the policy's note.
    fn select(&mut self, user: &Context, generator: &mut Xoshiro256PlusPlus, action: &mut [u32]) -> Note;

    /// As [`select`](Self::select), with the propensities of the list; `None`, and nothing is
    /// chosen, if actions are no lists.
    fn draw(
        &mut self,
        user: &Context,
        drawing: Drawing,
        generator: &mut Xoshiro256PlusPlus,
        action: &mut [u32],
    ) -> Option<(Note, Vec<Propensity>)>;

    /// Learns from the clicks on an action. Late answers are as good as others.
    fn update(&mut self, action: &[u32], note: &Note, clicks: Clicks);

    /// The best items, if the policy has stopped.
    fn answer(&self) -> Option<Vec<u32>>;

    /// The items to show for good, if the policy recommends any.
    fn recommend(&self, generator: &mut Xoshiro256PlusPlus) -> Option<Vec<u32>>;

    /// Displays and clicks of every item, position by position if they are counted apart; `None` if
    /// the policy learns from no table.
    fn tallies(&self) -> Option<Vec<Vec<Tally>>>;

    /// The score of every item; `None` as [`tallies`](Self::tallies).
    fn scores(&mut self) -> Option<Vec<f64>>;

    /// The coefficients of features, if the policy estimates them.
    fn coefficients(&mut self) -> Option<&mut dyn Coefficients>;

    /// Adds displays and clicks of items, position by position, of this number of lists.
    fn add(&mut self, counts: &[(ItemId, usize, Tally)], lists: u64) -> PyResult<()>;

    /// Counts a list that the policy did not choose.
    fn pass(&mut self);

    /// Name and parameters.
    fn spec(&self) -> PolicySpec;

    /// The policy's knowledge of its users.
    fn told(&self) -> &Knowledge;

    /// Begins with a prior.
    fn set_prior(&mut self, prior: &Prior, query: Option<&str>) -> PyResult<()>;

    /// Continues with the prior that the items so far make most probable.
    fn estimate_prior(&mut self, estimator: &mut Estimator);

    /// The policy in live use, without items.
    fn into_live(self: Box<Self>, settings: Settings) -> PyResult<AnyLive>;

    /// The state as data.
    fn saved(&self) -> serde_json::Result<Value>;

    /// A copy of the policy.
    fn duplicate(&self) -> Box<dyn Play>;
}

/// The clicks, and the number of observed positions if the model reveals it.
pub(crate) type Outcome<'py> = (Bound<'py, PyAny>, Option<usize>);

/// A protocol whose actions and answers are numbers and clicks.
pub(crate) trait Played: Catalogued {
    /// How many numbers an action has.
    fn width(_action: &Self::Action) -> usize {
        2
    }

    /// Writes an action as numbers.
    fn write(action: &Self::Action, numbers: &mut [u32]);

    /// Reads an action from numbers.
    fn read(numbers: &[u32], action: &mut Self::Action);

    /// The feedback of this protocol.
    fn feedback(clicks: Clicks) -> Self::Feedback;

    /// The arguments of `update` of a policy written in Python, after the decision.
    fn outcome<'py>(py: Python<'py>, numbers: &[u32], feedback: &Self::Feedback) -> PyResult<Outcome<'py>>;

    /// The policy in live use, or why it cannot be.
    fn live(_policy: NamedTable<Self>, _settings: Settings) -> Result<AnyLive, String> {
        Err("it chooses no lists".to_owned())
    }

    /// Decides by several draws. Whether actions are lists.
    fn draw(
        _policy: &mut NamedPolicy<Self>,
        _user: &Context,
        _draws: (&mut Draws<Note>, Drawing),
        _generator: &mut Xoshiro256PlusPlus,
        _chosen: &mut Decision<Self::Action, Note>,
    ) -> bool {
        false
    }

    /// The best items, if the policy has stopped.
    fn answer(_policy: &NamedPolicy<Self>) -> Option<Vec<ItemId>> {
        None
    }

    /// The items to show for good, if the policy recommends any.
    fn recommend(_policy: &NamedPolicy<Self>, _generator: &mut Xoshiro256PlusPlus) -> Option<Vec<ItemId>> {
        None
    }
}

/// A policy, and buffers for its decisions.
pub(crate) struct Player<I: Played> {
    policy: NamedPolicy<I>,
    /// Reused by `select`.
    chosen: Decision<I::Action, Note>,
    /// Reused by `draw`.
    draws: Draws<Note>,
    /// Reused by `update`.
    answered: Decision<I::Action, Note>,
}

impl<I: Played> Player<I> {
    pub(crate) fn new(policy: NamedPolicy<I>) -> Self {
        Self { policy, chosen: Decision::default(), draws: Draws::default(), answered: Decision::default() }
    }
}

impl<I: Played> Play for Player<I> {
    fn select(&mut self, user: &Context, generator: &mut Xoshiro256PlusPlus, action: &mut [u32]) -> Note {
        self.policy.choose_for(user, generator, &mut self.chosen);
        I::write(&self.chosen.action, action);
        std::mem::take(&mut self.chosen.note)
    }

    fn draw(
        &mut self,
        user: &Context,
        drawing: Drawing,
        generator: &mut Xoshiro256PlusPlus,
        action: &mut [u32],
    ) -> Option<(Note, Vec<Propensity>)> {
        let Self { policy, chosen, draws, .. } = self;
        I::draw(policy, user, (draws, drawing), generator, chosen).then(|| {
            I::write(&chosen.action, action);
            (std::mem::take(&mut chosen.note), draws.propensities().to_vec())
        })
    }

    fn update(&mut self, action: &[u32], note: &Note, clicks: Clicks) {
        I::read(action, &mut self.answered.action);
        self.answered.note.clone_from(note);
        self.policy.update(&self.answered, &I::feedback(clicks));
    }

    fn answer(&self) -> Option<Vec<u32>> {
        I::answer(&self.policy).map(numbers)
    }

    fn recommend(&self, generator: &mut Xoshiro256PlusPlus) -> Option<Vec<u32>> {
        I::recommend(&self.policy, generator).map(numbers)
    }

    fn tallies(&self) -> Option<Vec<Vec<Tally>>> {
        let table = self.policy.tallies()?;
        let of_item =
            |item| (0..table.n_kinds()).map(|kind| table.tally(ItemId::from_index(item), kind)).collect();
        Some((0..table.n_items()).map(of_item).collect())
    }

    fn scores(&mut self) -> Option<Vec<f64>> {
        self.policy.scores()
    }

    fn coefficients(&mut self) -> Option<&mut dyn Coefficients> {
        self.policy.coefficients()
    }

    fn add(&mut self, counts: &[(ItemId, usize, Tally)], lists: u64) -> PyResult<()> {
        let mut table = NamedTable::try_from(self.policy.clone()).map_err(value_error)?;
        let n_kinds = table.n_kinds();
        for &(item, position, tally) in counts {
            table.add(item, position.min(n_kinds - 1), tally);
        }
        self.policy = table.policy().clone();
        (0..lists).for_each(|_| self.policy.pass_round());
        Ok(())
    }

    fn pass(&mut self) {
        self.policy.pass_round();
    }

    fn spec(&self) -> PolicySpec {
        *self.policy.spec()
    }

    fn told(&self) -> &Knowledge {
        self.policy.told()
    }

    fn set_prior(&mut self, prior: &Prior, query: Option<&str>) -> PyResult<()> {
        self.policy = prior.give(&self.policy, query)?;
        Ok(())
    }

    fn estimate_prior(&mut self, estimator: &mut Estimator) {
        if let Ok(mut table) = NamedTable::try_from(self.policy.clone()) {
            estimator.estimate(&mut table);
            self.policy = table.policy().clone();
        }
    }

    fn into_live(self: Box<Self>, settings: Settings) -> PyResult<AnyLive> {
        let name = self.policy.spec().name();
        let policy = NamedTable::try_from(self.policy).map_err(value_error)?;
        I::live(policy, settings).map_err(|error| value_error(format!("`{name}`: {error}")))
    }

    fn saved(&self) -> serde_json::Result<Value> {
        serde_json::to_value(&self.policy)
    }

    fn duplicate(&self) -> Box<dyn Play> {
        Box::new(Self::new(self.policy.clone()))
    }
}

fn numbers(items: Vec<ItemId>) -> Vec<u32> {
    items.into_iter().map(number).collect()
}

/// The number of an item; an `ItemId` holds 32 bits.
#[expect(clippy::cast_possible_truncation, reason = "an item's number has 32 bits")]
fn number(item: ItemId) -> u32 {
    item.index() as u32
}

/// Implements [`Played`] for a protocol whose actions are lists.
macro_rules! lists {
    ($($Protocol:ident: $feedback:expr $(, { $($more:item)* })?;)*) => {$(
        impl Played for $Protocol {
            fn width(action: &Ranking) -> usize {
                action.len()
            }

            fn write(action: &Ranking, numbers: &mut [u32]) {
                let items = action.iter().map(number).chain(std::iter::repeat(EMPTY));
                for (into, item) in numbers.iter_mut().zip(items) {
                    *into = item;
                }
            }

            fn read(numbers: &[u32], action: &mut Ranking) {
                let numbers = filled(numbers);
                for (into, &number) in action.positions_mut(numbers.len()).iter_mut().zip(numbers) {
                    *into = ItemId::new(number);
                }
            }

            fn draw(
                policy: &mut NamedPolicy<Self>,
                user: &Context,
                (draws, drawing): (&mut Draws<Note>, Drawing),
                generator: &mut Xoshiro256PlusPlus,
                chosen: &mut Decision<Ranking, Note>,
            ) -> bool {
                let items = (policy.told().sizes[0], ItemId::from_index);
                draws.decide(drawing, items, (policy, generator), chosen, |policy, generator, chosen| {
                    policy.choose_for(user, generator, chosen);
                });
                true
            }

            fn feedback(clicks: Clicks) -> Self::Feedback {
                $feedback(clicks)
            }

            fn outcome<'py>(
                py: Python<'py>,
                numbers: &[u32],
                feedback: &Self::Feedback,
            ) -> PyResult<Outcome<'py>> {
                let clicks = feedback.list_clicks();
                let flag = |position: usize| position < clicks.len() && clicks.get(position);
                let flags = PyList::new(py, (0..numbers.len()).map(flag))?.into_any();
                Ok((flags, (Self::PROTOCOL == Protocol::SemiBandit).then_some(clicks.len())))
            }

            fn live(policy: NamedTable<Self>, settings: Settings) -> Result<AnyLive, String> {
                Live::empty(policy, settings).map(AnyLive::$Protocol).map_err(|error| error.to_string())
            }

            $($($more)*)?
        }
    )*};
}

lists! {
    Pbm: |clicks| PbmFeedback { clicks };
    SemiBandit: |clicks| PrefixFeedback { clicks };
    Dcm: |clicks| DcmFeedback { clicks };
    ClicksOnly: |clicks| ListClicks { clicks };
    Cascade: first_click, {
        fn answer(policy: &NamedPolicy<Self>) -> Option<Vec<ItemId>> {
            policy.answer()
        }

        fn recommend(policy: &NamedPolicy<Self>, generator: &mut Xoshiro256PlusPlus) -> Option<Vec<ItemId>> {
            let mut list = Ranking::default();
            policy.recommend(generator, &mut list).then(|| list.into_iter().collect())
        }
    };
}

fn first_click(clicks: Clicks) -> CascadeFeedback {
    let click = (clicks.count() > 0).then(|| clicks.bits().trailing_zeros() as usize);
    CascadeFeedback::new(click, clicks.len()).expect("a click on one of at most 64 positions")
}

impl Played for RankOne {
    fn write(action: &Cell, numbers: &mut [u32]) {
        numbers.copy_from_slice(&[action.row, action.column]);
    }

    fn read(numbers: &[u32], action: &mut Cell) {
        *action = Cell::new(numbers[0], numbers[1]);
    }

    fn feedback(clicks: Clicks) -> CellClick {
        CellClick { clicked: clicks.get(0) }
    }

    fn outcome<'py>(py: Python<'py>, _numbers: &[u32], feedback: &CellClick) -> PyResult<Outcome<'py>> {
        Ok((feedback.clicked.into_bound_py_any(py)?, None))
    }
}

impl Played for Dueling {
    fn write(action: &Pair, numbers: &mut [u32]) {
        numbers.copy_from_slice(&[number(action.first), number(action.second)]);
    }

    fn read(numbers: &[u32], action: &mut Pair) {
        *action = Pair::new(ItemId::new(numbers[0]), ItemId::new(numbers[1]));
    }

    fn feedback(clicks: Clicks) -> DuelOutcome {
        if clicks.get(0) { DuelOutcome::FirstWon } else { DuelOutcome::SecondWon }
    }

    fn outcome<'py>(py: Python<'py>, numbers: &[u32], feedback: &DuelOutcome) -> PyResult<Outcome<'py>> {
        Ok((numbers[usize::from(!feedback.first_won())].into_bound_py_any(py)?, None))
    }

    fn recommend(policy: &NamedPolicy<Self>, generator: &mut Xoshiro256PlusPlus) -> Option<Vec<ItemId>> {
        let mut item = ItemId::default();
        policy.recommend(generator, &mut item);
        Some(vec![item])
    }
}
