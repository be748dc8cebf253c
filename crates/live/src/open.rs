//! Decisions that may still be answered.

use crate::error::MOST_POSITIONS;
use crate::groups::Earned;
use crate::{Handle, SavedError};
use click_models::Clicks;
use hashbrown::HashTable;
use policies::Propensity;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher, Hash};

/// A list that was shown, and what is known about it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShownList {
    pub(crate) list: Box<[Handle]>,
    pub(crate) clicks: Clicks,
    /// The positions that were seen, once the client has closed the decision.
    pub(crate) end: Option<u8>,
    /// Bits of the positions that the table contains.
    pub(crate) counted: u64,
    /// Bits of the positions that the table contains as clicks.
    pub(crate) as_clicks: u64,
    /// The number of each counted observation in the window of its item; empty without windows.
    pub(crate) numbers: Box<[u32]>,
    /// Propensities of the list, position by position; empty if they are not known.
    pub(crate) propensities: Box<[Propensity]>,
    /// Values of clicks, position by position; empty until there is one. Saved apart.
    #[serde(skip)]
    pub(crate) earned: Box<[Option<Earned>]>,
}

/// Replaces what a slice has, in its memory if that is as long.
fn replace<T>(old: &mut Box<[T]>, new: impl ExactSizeIterator<Item = T>) {
    if old.len() == new.len() {
        old.iter_mut().zip(new).for_each(|(old, new)| *old = new);
    } else {
        *old = new.collect();
    }
}

impl ShownList {
    /// Begins with the items of a list, in the memory of an old one.
    pub(crate) fn reset(&mut self, list: impl ExactSizeIterator<Item = Handle>, numbered: bool) {
        replace(&mut self.list, list);
        let positions = self.list.len();
        replace(&mut self.numbers, std::iter::repeat_n(0, if numbered { positions } else { 0 }));
        self.propensities = Box::default();
        self.earned = Box::default();
        self.clicks = Clicks::new(positions);
        (self.end, self.counted, self.as_clicks) = (None, 0, 0);
    }

    /// Takes the propensities of the list that was chosen, which may have been longer.
    pub(crate) fn set_propensities(&mut self, of_choice: &[Propensity]) {
        replace(&mut self.propensities, of_choice.iter().take(self.list.len()).copied());
    }

    /// The positions that were seen, once the client has closed the decision.
    pub(crate) fn end(&self) -> Option<usize> {
        self.end.map(usize::from)
    }

    /// Sets the value of a click, in place of the one before. Returns false if there is no click.
    pub(crate) fn give(&mut self, position: usize, earned: Earned) -> bool {
        let is_clicked = position < self.list.len() && self.clicks.get(position);
        if is_clicked {
            if self.earned.is_empty() {
                self.earned = vec![None; self.list.len()].into();
            }
            self.earned[position] = Some(earned);
        }
        is_clicked
    }

    /// The revision of the value of a click.
    pub(crate) fn revision(&self, position: usize) -> Option<u64> {
        self.earned.get(position).copied().flatten()?.revision
    }

    /// Values of clicks, with their positions.
    pub(crate) fn earned(&self) -> impl Iterator<Item = (u8, Earned)> + '_ {
        (0..).zip(&self.earned).filter_map(|(position, earned)| Some((position, (*earned)?)))
    }

    pub(crate) fn is_sound(&self, has_windows: bool, is_place: impl Fn(Handle) -> bool) -> bool {
        let Self { list, clicks, end, counted, as_clicks, numbers, propensities, .. } = self;
        let is_probability = |value: f64| value > 0.0 && value <= 1.0;
        let positions = list.len();
        positions <= MOST_POSITIONS
            && list.iter().all(|&item| is_place(item))
            && clicks.len() == positions
            && end.is_none_or(|end| usize::from(end) <= positions)
            && counted.checked_shr(u32::try_from(positions).unwrap_or(u32::MAX)).unwrap_or(0) == 0
            && as_clicks & !(counted & clicks.bits()) == 0
            && numbers.len() == if has_windows { positions } else { 0 }
            && (propensities.is_empty() || propensities.len() == positions)
            && propensities.iter().all(|of| is_probability(of.item) && is_probability(of.prefix))
    }
}

/// A list that was shown, perhaps with more about it.
pub trait OpenDecision: Clone + Default {
    fn shown(&self) -> &ShownList;
    fn shown_mut(&mut self) -> &mut ShownList;
}

impl OpenDecision for ShownList {
    fn shown(&self) -> &ShownList {
        self
    }

    fn shown_mut(&mut self) -> &mut ShownList {
        self
    }
}

/// The last decisions, by the client's name of each, with what is known about them.
#[derive(Debug, Clone)]
pub(crate) struct OpenDecisions<D, S = ShownList> {
    /// The oldest first.
    decisions: VecDeque<(D, S)>,
    /// The number of the oldest; numbers wrap, and fewer decisions than 2^32 are open.
    first: u32,
    most: usize,
    /// Numbers of decisions by the hash of the name.
    numbers: HashTable<u32>,
}

fn hash<D: Hash>(id: &D) -> u64 {
    BuildHasherDefault::<DefaultHasher>::default().hash_one(id)
}

impl<D: Clone + Eq + Hash, S: Default> OpenDecisions<D, S> {
    pub(crate) fn new(most: usize) -> Self {
        Self { decisions: VecDeque::new(), first: 0, most, numbers: HashTable::new() }
    }

    /// Where the decision with this name is, until another one is added or removed.
    pub(crate) fn find(&self, id: &D) -> Option<usize> {
        let Self { decisions, first, numbers, .. } = self;
        let place = |number: &u32| number.wrapping_sub(*first) as usize;
        numbers.find(hash(id), |number| decisions[place(number)].0 == *id).map(place)
    }

    pub(crate) fn len(&self) -> usize {
        self.decisions.len()
    }

    pub(crate) fn at(&self, place: usize) -> &S {
        &self.decisions[place].1
    }

    pub(crate) fn at_mut(&mut self, place: usize) -> &mut S {
        &mut self.decisions[place].1
    }

    /// A place for a new decision, with the memory of the oldest one if there are as many as may
    /// be.
    pub(crate) fn add(&mut self, id: &D) -> usize {
        let old = if self.decisions.len() < self.most { None } else { self.remove_oldest() };
        let shown = old.map(|(_, shown)| shown).unwrap_or_default();
        let (place, first) = (self.decisions.len(), self.first);
        self.decisions.push_back((id.clone(), shown));
        let decisions = &self.decisions;
        let hash_of = |&number: &u32| hash(&decisions[number.wrapping_sub(first) as usize].0);
        let number = first.wrapping_add(u32::try_from(place).expect("fewer decisions than 2^32 are open"));
        self.numbers.insert_unique(hash(id), number, hash_of);
        place
    }

    /// Sets the most decisions: beyond, the oldest ones are removed.
    pub(crate) fn set_most(&mut self, most: usize) {
        self.most = most;
        while self.decisions.len() > most {
            self.remove_oldest();
        }
    }

    pub(crate) fn states_mut(&mut self) -> impl Iterator<Item = &mut S> {
        self.decisions.iter_mut().map(|(_, state)| state)
    }

    /// Removes the oldest decision.
    pub(crate) fn remove_oldest(&mut self) -> Option<(D, S)> {
        let old = self.decisions.pop_front()?;
        let number = self.first;
        if let Ok(entry) = self.numbers.find_entry(hash(&old.0), |&other| other == number) {
            entry.remove();
        }
        self.first = number.wrapping_add(1);
        Some(old)
    }

    /// The decisions, the oldest first.
    pub(crate) fn in_order(&self) -> impl Iterator<Item = &(D, S)> {
        self.decisions.iter()
    }

    /// Checks saved decisions, the oldest first.
    pub(crate) fn restore(
        saved: Vec<(D, S)>,
        most: usize,
        is_sound: impl Fn(&S) -> bool,
    ) -> Result<Self, SavedError> {
        let mut open = Self::new(most);
        for (id, state) in saved {
            if !is_sound(&state) || open.len() >= most || open.find(&id).is_some() {
                return Err(SavedError::Decision);
            }
            let place = open.add(&id);
            *open.at_mut(place) = state;
        }
        Ok(open)
    }
}
