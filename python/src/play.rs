//! A policy of the catalogue whose actions are numbers.
//!
//! A list is its items from the top down, followed by [`EMPTY`] if it is shorter than the others, a
//! cell its row and column, a pair its two items. The answer is the set of clicks on the positions
//! that were observed; of a cell, one position; of a pair, a click on one position if the first
//! item won.

use click_models::{Clicks, Context, ItemId, Ranking};
use policies::catalogue::{AnyPolicy, AsList, Ask, CatalogueProtocol, Note, Protocol};
use policies::{Decision, Drawing, Draws, Propensity, Tally};
use pyo3::IntoPyObjectExt as _;
use pyo3::prelude::*;
use pyo3::types::PyList;
use rand_xoshiro::Xoshiro256PlusPlus;

/// A position that a short list does not fill: `batrac(pulls=one)` shows one item at a time.
pub(crate) const EMPTY: u32 = u32::MAX;

/// An action without its empty positions.
pub(crate) fn filled(action: &[u32]) -> &[u32] {
    let end = action.iter().position(|&number| number == EMPTY).unwrap_or(action.len());
    &action[..end]
}

/// A policy, and buffers for its decisions.
#[derive(Clone)]
pub(crate) struct Player {
    pub(crate) policy: AnyPolicy,
    /// Reused by `select`.
    chosen: Decision<Ranking, Note>,
    /// Reused by `draw`.
    draws: Draws<Note>,
    /// Reused by `update`.
    answered: Decision<Ranking, Note>,
}

impl Player {
    pub(crate) fn new(policy: AnyPolicy) -> Self {
        Self { policy, chosen: Decision::default(), draws: Draws::default(), answered: Decision::default() }
    }

    /// Writes the next action for a user to `action` and returns the policy's note.
    pub(crate) fn select(
        &mut self,
        user: &Context,
        generator: &mut Xoshiro256PlusPlus,
        action: &mut [u32],
    ) -> Note {
        self.policy.select(&Ask { context: user, ..Ask::default() }, generator, &mut self.chosen);
        self.write(action)
    }

    /// As [`select`](Self::select), with the propensities of the list; `None`, and nothing is
    /// chosen, if actions are no lists.
    pub(crate) fn draw(
        &mut self,
        user: &Context,
        drawing: Drawing,
        generator: &mut Xoshiro256PlusPlus,
        action: &mut [u32],
    ) -> Option<(Note, Vec<Propensity>)> {
        let Self { policy, chosen, draws, .. } = self;
        if !policy.protocol().has_lists() {
            return None;
        }
        let items = (policy.told().sizes[0], ItemId::from_index);
        draws.decide(drawing, items, (policy, generator), chosen, |policy, generator, chosen| {
            policy.select(&Ask { context: user, ..Ask::default() }, generator, chosen);
        });
        let note = self.write(action);
        Some((note, self.draws.propensities().to_vec()))
    }

    fn write(&mut self, action: &mut [u32]) -> Note {
        let items = self.chosen.action.iter().map(ItemId::number).chain(std::iter::repeat(EMPTY));
        for (into, item) in action.iter_mut().zip(items) {
            *into = item;
        }
        std::mem::take(&mut self.chosen.note)
    }

    /// Learns from the clicks on an action. Late answers are as good as others.
    pub(crate) fn update(&mut self, action: &[u32], note: &Note, clicks: Clicks) {
        fill(action, &mut self.answered.action);
        self.answered.note.clone_from(note);
        self.policy.update(&self.answered, clicks);
    }

    /// The items to show for good, if the policy recommends any.
    pub(crate) fn recommend(&self, generator: &mut Xoshiro256PlusPlus) -> Option<Vec<u32>> {
        let mut list = Ranking::default();
        self.policy.recommend(generator, &mut list).then(|| list.iter().map(ItemId::number).collect())
    }

    /// Displays and clicks of every item, position by position if they are counted apart; `None` if
    /// the policy learns from no table.
    pub(crate) fn tallies(&self) -> Option<Vec<Vec<Tally>>> {
        let table = self.policy.tallies()?;
        let of_item =
            |item| (0..table.n_kinds()).map(|kind| table.tally(ItemId::from_index(item), kind)).collect();
        Some((0..table.n_items()).map(of_item).collect())
    }
}

/// Writes the items of an action to `list`.
fn fill(numbers: &[u32], list: &mut Ranking) {
    let numbers = filled(numbers);
    for (into, &number) in list.positions_mut(numbers.len()).iter_mut().zip(numbers) {
        *into = ItemId::new(number);
    }
}

/// Reads an action from numbers.
pub(crate) fn read<A: AsList>(numbers: &[u32]) -> A {
    let (mut list, mut action) = (Ranking::default(), A::default());
    fill(numbers, &mut list);
    action.read(&list);
    action
}

/// How many numbers an action has.
pub(crate) fn width<A: AsList>(action: &A) -> usize {
    let mut list = Ranking::default();
    action.write(&mut list);
    list.len()
}

/// The clicks, and the number of observed positions if the model reveals it.
pub(crate) type Outcome<'py> = (Bound<'py, PyAny>, Option<usize>);

/// The arguments of `update` of a policy written in Python, after the decision.
pub(crate) fn outcome<'py, I: CatalogueProtocol>(
    py: Python<'py>,
    numbers: &[u32],
    feedback: &I::Feedback,
) -> PyResult<Outcome<'py>> {
    let clicks = I::clicks(feedback);
    match I::PROTOCOL {
        Protocol::RankOne => Ok((clicks.get(0).into_bound_py_any(py)?, None)),
        Protocol::Dueling => Ok((numbers[usize::from(!clicks.get(0))].into_bound_py_any(py)?, None)),
        protocol => {
            let flags = PyList::new(py, (0..numbers.len()).map(|position| clicks.get(position)))?.into_any();
            Ok((flags, (protocol == Protocol::SemiBandit).then_some(clicks.len())))
        }
    }
}
