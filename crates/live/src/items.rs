//! The items of a catalogue that changes.

use crate::{Among, Error, SavedError};
use click_models::{ItemId, ItemSet};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// An item: its place in the policy's table, and which of the items that had this place it is.
///
/// A handle of an item that was forgotten stays valid as a value. Answers about it change nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Handle {
    /// The place.
    pub slot: ItemId,
    /// Number of items that had this place before.
    pub generation: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum State {
    Present,
    /// Retired, as the item with this number in the order of retirement.
    Retired(u64),
    /// No item has it.
    Free,
}

/// The places of a policy's table, and which items have them.
#[derive(Debug, Clone)]
pub struct Items {
    states: Vec<State>,
    generations: Vec<u32>,
    present: ItemSet,
    /// Present items that are not in `present` for a moment.
    hidden: Vec<ItemId>,
    /// The items that were last asked for, if what is present of them has not changed.
    asked: Vec<Handle>,
    free: Vec<ItemId>,
    /// Retired items in order, with their number; those that have returned are still there.
    retired: VecDeque<(ItemId, u64)>,
    n_retired: usize,
    retirements: u64,
}

impl Items {
    /// All places have items, or none has.
    pub(crate) fn new(n_items: usize, present: bool) -> Self {
        let slots = (0..n_items).map(ItemId::from_index);
        Self {
            states: vec![if present { State::Present } else { State::Free }; n_items],
            generations: vec![0; n_items],
            present: if present { ItemSet::all(n_items) } else { ItemSet::none(n_items) },
            hidden: Vec::new(),
            asked: Vec::new(),
            // The first place is taken first.
            free: if present { Vec::new() } else { slots.rev().collect() },
            retired: VecDeque::new(),
            n_retired: 0,
            retirements: 0,
        }
    }

    /// Number of places.
    pub(crate) fn len(&self) -> usize {
        self.states.len()
    }

    pub(crate) fn present(&self) -> &ItemSet {
        &self.present
    }

    /// The item that has a place now.
    pub(crate) fn handle(&self, slot: ItemId) -> Handle {
        Handle { slot, generation: self.generations[slot.index()] }
    }

    /// Whether the item is present or retired.
    pub(crate) fn is_known(&self, item: Handle) -> bool {
        let place = item.slot.index();
        self.generations.get(place) == Some(&item.generation) && self.states[place] != State::Free
    }

    pub(crate) fn is_present(&self, item: Handle) -> bool {
        self.is_known(item) && self.present.contains(item.slot)
    }

    /// The present items that a list may have. `some` gets them if they are only some. Those that
    /// it may not have, and those that are pinned, are hidden until [`Self::reveal`] is called.
    pub(crate) fn available<'a>(
        &'a mut self,
        among: Among<'_>,
        pins: &[(usize, Handle)],
        some: &'a mut ItemSet,
    ) -> &'a ItemSet {
        if !pins.is_empty() {
            self.asked.clear();
        }
        for &(_, item) in pins {
            self.hide(item);
        }
        match among {
            Among::All => return &self.present,
            Among::Only([]) => {
                some.clear();
                self.asked.clear();
            }
            // Comparing lists is ten times as fast as making a set.
            Among::Only(items) if is_same(items, &self.asked) => {}
            Among::Only(items) => {
                some.clear();
                for &Handle { slot, generation } in items {
                    // A place of this generation is the item's, unless it is free.
                    if self.present.contains(slot) && self.generations[slot.index()] == generation {
                        some.insert(slot);
                    }
                }
                self.asked.clear();
                if pins.is_empty() {
                    self.asked.extend_from_slice(items);
                }
            }
            Among::Except(items) => {
                for &item in items {
                    self.hide(item);
                }
                return &self.present;
            }
        }
        some
    }

    fn hide(&mut self, item: Handle) {
        if self.is_present(item) {
            self.present.remove(item.slot);
            self.hidden.push(item.slot);
        }
    }

    /// Ends [`Self::available`].
    pub(crate) fn reveal(&mut self) {
        for item in self.hidden.drain(..) {
            self.present.insert(item);
        }
    }

    /// Whether a list may have been shown.
    pub(crate) fn check_list(&self, list: &[Handle], most: usize) -> Result<(), Error> {
        let positions = list.len();
        if positions > most {
            return Err(Error::TooManyPositions { positions, most });
        }
        for (position, &item) in list.iter().enumerate() {
            if !self.is_known(item) {
                return Err(Error::UnknownItem(item));
            }
            if list[..position].contains(&item) {
                return Err(Error::RepeatedItem(item));
            }
        }
        Ok(())
    }

    /// The items by place, present and retired.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Handle> + '_ {
        let slots = (0..self.len()).map(ItemId::from_index);
        slots.map(|slot| self.handle(slot)).filter(|&item| self.is_known(item))
    }

    /// A free place for a new item, if there is one.
    pub(crate) fn take_free(&mut self) -> Option<Handle> {
        self.asked.clear();
        let slot = self.free.pop()?;
        self.states[slot.index()] = State::Present;
        self.present.insert(slot);
        Some(self.handle(slot))
    }

    /// The place that [`Self::take_free`] would take.
    pub(crate) fn first_free(&self) -> Option<ItemId> {
        self.free.last().copied()
    }

    /// Adds places without items, so that there are as many.
    pub(crate) fn grow(&mut self, n_items: usize) {
        let new = (self.len()..n_items).rev().map(ItemId::from_index);
        self.free.splice(..0, new);
        let n_items = self.len().max(n_items);
        self.states.resize(n_items, State::Free);
        self.generations.resize(n_items, 0);
        self.present.grow(n_items);
    }

    /// A new place, for a new item.
    pub(crate) fn push(&mut self) -> Handle {
        self.asked.clear();
        let slot = ItemId::from_index(self.len());
        self.states.push(State::Present);
        self.generations.push(0);
        self.present.grow(self.states.len());
        self.present.insert(slot);
        self.handle(slot)
    }

    /// Whether the item was present.
    pub(crate) fn retire(&mut self, item: Handle) -> bool {
        if !self.is_present(item) {
            return false;
        }
        self.asked.clear();
        self.present.remove(item.slot);
        self.states[item.slot.index()] = State::Retired(self.retirements);
        // Items that return again and again leave their old numbers.
        if self.retired.len() > 2 * self.n_retired + 16 {
            let states = &self.states;
            self.retired.retain(|&(slot, number)| states[slot.index()] == State::Retired(number));
        }
        self.retired.push_back((item.slot, self.retirements));
        self.n_retired += 1;
        self.retirements += 1;
        true
    }

    /// Whether the item was retired.
    pub(crate) fn bring_back(&mut self, item: Handle) -> bool {
        let was_retired = self.is_known(item) && self.present.insert(item.slot);
        if was_retired {
            self.asked.clear();
            self.states[item.slot.index()] = State::Present;
            self.n_retired -= 1;
        }
        was_retired
    }

    /// The item that retired first, if more than `most` are retired.
    pub(crate) fn beyond(&mut self, most: usize) -> Option<Handle> {
        while self.n_retired > most {
            let (slot, number) = self.retired.pop_front()?;
            if self.states[slot.index()] == State::Retired(number) {
                return Some(self.handle(slot));
            }
        }
        None
    }

    /// Frees the place of a retired item. Returns false if it is not retired.
    pub(crate) fn forget(&mut self, item: Handle) -> bool {
        let was_retired = self.is_known(item) && !self.is_present(item);
        if was_retired {
            self.states[item.slot.index()] = State::Free;
            let generation = &mut self.generations[item.slot.index()];
            *generation = generation.wrapping_add(1);
            self.free.push(item.slot);
            self.n_retired -= 1;
        }
        was_retired
    }
}

/// Whether two lists are equal, sixty-four items at a time.
fn is_same(items: &[Handle], others: &[Handle]) -> bool {
    let differ = |one: &Handle, other: &Handle| {
        (one.slot.number() ^ other.slot.number()) | (one.generation ^ other.generation)
    };
    let are_equal = |(items, others): (&[Handle], &[Handle])| {
        items.iter().zip(others).fold(0, |found, (one, other)| found | differ(one, other)) == 0
    };
    items.len() == others.len() && items.chunks(64).zip(others.chunks(64)).all(are_equal)
}

/// The form in which places are saved.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SavedItems {
    states: Vec<State>,
    generations: Vec<u32>,
    free: Vec<ItemId>,
    retirements: u64,
}

impl From<&Items> for SavedItems {
    fn from(items: &Items) -> Self {
        Self {
            states: items.states.clone(),
            generations: items.generations.clone(),
            free: items.free.clone(),
            retirements: items.retirements,
        }
    }
}

impl SavedItems {
    /// The places of a policy with this number of items, if they do not contradict each other.
    pub(crate) fn check(self, n_items: usize) -> Result<Items, SavedError> {
        let Self { states, generations, free, retirements } = self;
        let mut items = Items { states, generations, free, retirements, ..Items::new(0, true) };
        if items.states.len() != items.generations.len() || items.len() != n_items {
            return Err(SavedError::Items);
        }
        items.present.grow(items.len());
        let mut is_free = ItemSet::none(items.len());
        let all_new = items.free.iter().all(|&slot| is_free.insert(slot));
        for (place, &state) in items.states.iter().enumerate() {
            let slot = ItemId::from_index(place);
            match state {
                State::Present => _ = items.present.insert(slot),
                State::Retired(number) => items.retired.push_back((slot, number)),
                State::Free if is_free.remove(slot) => {}
                State::Free => return Err(SavedError::Items),
            }
        }
        items.retired.make_contiguous().sort_unstable_by_key(|&(_, number)| number);
        items.n_retired = items.retired.len();
        let in_order = items.retired.iter().is_sorted_by(|one, next| one.1 < next.1);
        let last = items.retired.back().is_none_or(|last| last.1 < items.retirements);
        if all_new && is_free.is_empty() && in_order && last { Ok(items) } else { Err(SavedError::Items) }
    }
}
