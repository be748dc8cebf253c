//! Decisions that may still be answered.

use crate::error::MOST_POSITIONS;
use crate::{Handle, SavedError};
use click_models::Clicks;
use hashbrown::HashTable;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher, Hash};

/// A list that was shown, and what is known about it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Shown {
    pub(crate) list: Vec<Handle>,
    pub(crate) clicks: Clicks,
    /// The positions that were seen, once the client has closed the decision.
    pub(crate) end: Option<usize>,
    /// Bits of the positions that the table contains.
    pub(crate) counted: u64,
    /// Those of them that it contains as clicks.
    pub(crate) as_clicks: u64,
    /// The number of each counted observation in the window of its item; empty without windows.
    pub(crate) numbers: Vec<u32>,
}

impl Shown {
    /// Begins with the items of a list, in the memory of an old one.
    pub(crate) fn reset(&mut self, list: impl Iterator<Item = Handle>, numbered: bool) {
        self.list.clear();
        self.list.extend(list);
        self.numbers.clear();
        if numbered {
            self.numbers.resize(self.list.len(), 0);
        }
        self.clicks = Clicks::new(self.list.len());
        (self.end, self.counted, self.as_clicks) = (None, 0, 0);
    }

    fn is_sound(&self, has_windows: bool) -> bool {
        let Self { list, clicks, end, counted, as_clicks, numbers } = self;
        let positions = list.len();
        positions <= MOST_POSITIONS
            && clicks.len() == positions
            && end.is_none_or(|end| end <= positions)
            && counted.checked_shr(u32::try_from(positions).unwrap_or(u32::MAX)).unwrap_or(0) == 0
            && as_clicks & !(counted & clicks.bits()) == 0
            && numbers.len() == if has_windows { positions } else { 0 }
    }
}

/// The last decisions, by the client's name of each.
#[derive(Debug, Clone)]
pub(crate) struct OpenDecisions<D> {
    /// The oldest first.
    decisions: VecDeque<(D, Shown)>,
    /// The number of the oldest; numbers wrap.
    first: usize,
    most: usize,
    /// Numbers of decisions by the hash of the name.
    numbers: HashTable<usize>,
}

fn hash<D: Hash>(id: &D) -> u64 {
    BuildHasherDefault::<DefaultHasher>::default().hash_one(id)
}

impl<D: Clone + Eq + Hash> OpenDecisions<D> {
    pub(crate) fn new(most: usize) -> Self {
        Self { decisions: VecDeque::new(), first: 0, most, numbers: HashTable::new() }
    }

    /// Where the decision with this name is, until another one is added or removed.
    pub(crate) fn find(&self, id: &D) -> Option<usize> {
        let Self { decisions, first, numbers, .. } = self;
        let is_it = |number: &usize| decisions[number.wrapping_sub(*first)].0 == *id;
        numbers.find(hash(id), is_it).map(|number| number.wrapping_sub(*first))
    }

    pub(crate) fn at(&self, place: usize) -> &Shown {
        &self.decisions[place].1
    }

    pub(crate) fn at_mut(&mut self, place: usize) -> &mut Shown {
        &mut self.decisions[place].1
    }

    /// A place for a new decision, with the memory of the oldest one if there are as many as may be.
    pub(crate) fn add(&mut self, id: &D) -> usize {
        let old = if self.decisions.len() < self.most { None } else { self.remove_oldest() };
        let shown = old.map(|(_, shown)| shown).unwrap_or_default();
        let (place, first) = (self.decisions.len(), self.first);
        self.decisions.push_back((id.clone(), shown));
        let decisions = &self.decisions;
        let hash_of = |&number: &usize| hash(&decisions[number.wrapping_sub(first)].0);
        self.numbers.insert_unique(hash(id), first.wrapping_add(place), hash_of);
        place
    }

    /// Removes the oldest decision.
    pub(crate) fn remove_oldest(&mut self) -> Option<(D, Shown)> {
        let old = self.decisions.pop_front()?;
        let number = self.first;
        if let Ok(entry) = self.numbers.find_entry(hash(&old.0), |&other| other == number) {
            entry.remove();
        }
        self.first = number.wrapping_add(1);
        Some(old)
    }

    /// The decisions, the oldest first.
    pub(crate) fn in_order(&self) -> impl Iterator<Item = &(D, Shown)> {
        self.decisions.iter()
    }

    /// Checks saved decisions, the oldest first.
    pub(crate) fn restore(
        saved: Vec<(D, Shown)>,
        most: usize,
        has_windows: bool,
        is_place: impl Fn(Handle) -> bool,
    ) -> Result<Self, SavedError> {
        let mut open = Self::new(most);
        for (id, shown) in saved {
            let is_sound = shown.is_sound(has_windows)
                && open.decisions.len() < most
                && open.find(&id).is_none()
                && shown.list.iter().all(|&item| is_place(item));
            if !is_sound {
                return Err(SavedError::Decision);
            }
            let place = open.add(&id);
            open.decisions[place].1 = shown;
        }
        Ok(open)
    }
}
