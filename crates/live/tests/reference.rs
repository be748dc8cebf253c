//! The contents of the table, computed from the history alone: no code of the crate.

use live::Handle;
use policies::Tally;
use std::collections::BTreeMap;

/// How a protocol reads the clicks on a list of `length` items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reading {
    Positions,
    FirstClick,
    LastClick,
    Prefix,
}

impl Reading {
    fn observed(self, clicks: &[bool], end: Option<usize>) -> Vec<bool> {
        let first = clicks.iter().position(|&click| click);
        let last = clicks.iter().rposition(|&click| click);
        (0..clicks.len())
            .map(|position| {
                let seen = end.is_some_and(|end| position < end);
                match self {
                    Self::Positions => clicks[position] || seen,
                    Self::FirstClick => first.map_or(seen, |first| position <= first),
                    Self::LastClick => last.map_or(seen, |last| position <= last),
                    Self::Prefix => seen || last.is_some_and(|last| position <= last),
                }
            })
            .collect()
    }
}

#[derive(Debug, Clone)]
struct History {
    id: u64,
    list: Vec<Handle>,
    clicks: Vec<bool>,
    end: Option<usize>,
}

/// An observation of an item, by decision and position.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Observation {
    decision: usize,
    position: usize,
    clicked: bool,
    has_left: bool,
}

/// All that happened, and the observations of each item in order.
#[derive(Debug, Clone)]
pub(crate) struct Reference {
    reading: Reading,
    at_once: bool,
    window: Option<usize>,
    keep_open: usize,
    history: Vec<History>,
    observations: BTreeMap<Handle, Vec<Observation>>,
}

impl Reference {
    pub(crate) fn new(reading: Reading, at_once: bool, window: Option<usize>, keep_open: usize) -> Self {
        Self { reading, at_once, window, keep_open, history: Vec::new(), observations: BTreeMap::new() }
    }

    fn open(&mut self, id: u64) -> Option<usize> {
        let oldest = self.history.len().saturating_sub(self.keep_open);
        (oldest..self.history.len()).rev().find(|&place| self.history[place].id == id)
    }

    pub(crate) fn decided(&mut self, id: u64, list: &[Handle]) {
        if self.open(id).is_none() {
            self.history.push(History {
                id,
                list: list.to_vec(),
                clicks: vec![false; list.len()],
                end: None,
            });
            self.observe(self.history.len() - 1);
        }
    }

    pub(crate) fn click(&mut self, id: u64, position: usize) {
        if let Some(place) = self.open(id)
            && let Some(click) = self.history[place].clicks.get_mut(position)
        {
            *click = true;
            self.observe(place);
        }
    }

    pub(crate) fn close(&mut self, id: u64, seen: Option<usize>) {
        if let Some(place) = self.open(id) {
            let decision = &mut self.history[place];
            let seen = seen.unwrap_or(decision.list.len()).min(decision.list.len());
            decision.end = decision.end.max(Some(seen));
            self.observe(place);
        }
    }

    pub(crate) fn forget(&mut self, item: Handle) {
        self.observations.insert(item, Vec::new());
        for decision in &mut self.history {
            // Nothing about it counts any more.
            decision
                .list
                .iter_mut()
                .filter(|other| **other == item)
                .for_each(|other| other.generation = u32::MAX);
        }
    }

    fn observe(&mut self, place: usize) {
        let History { list, clicks, end, .. } = self.history[place].clone();
        let end = end.or(self.at_once.then_some(list.len()));
        for (position, is_observed) in self.reading.observed(&clicks, end).into_iter().enumerate() {
            if list[position].generation == u32::MAX {
                continue;
            }
            let all = self.observations.entry(list[position]).or_default();
            let known = all.iter().position(|own| (own.decision, own.position) == (place, position));
            match known {
                Some(known) if is_observed => all[known].clicked = clicks[position],
                Some(known) if all[known].has_left => {
                    // It counts no more, and may be observed again.
                    all.remove(known);
                }
                Some(known) => _ = all.remove(known),
                None if is_observed => {
                    let clicked = clicks[position];
                    all.push(Observation { decision: place, position, clicked, has_left: false });
                    let standing = all.iter().filter(|own| !own.has_left).count();
                    if self.window.is_some_and(|window| standing > window)
                        && let Some(oldest) = all.iter_mut().find(|own| !own.has_left)
                    {
                        oldest.has_left = true;
                    }
                }
                None => {}
            }
        }
    }

    /// Displays and clicks of an item, at one position or all.
    pub(crate) fn tally(&self, item: Handle, position: Option<usize>) -> Tally {
        let all = self.observations.get(&item).map_or(&[][..], Vec::as_slice);
        let standing = || {
            all.iter().filter(|own| !own.has_left && position.is_none_or(|position| own.position == position))
        };
        let clicks = standing().filter(|own| own.clicked).count() as u64;
        Tally { shows: standing().count() as u64, clicks }
    }
}
