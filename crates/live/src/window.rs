//! The last observations of every item.

use crate::SavedError;
use click_models::ItemId;
use policies::Tally;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Observations for which an item has memory from the start: longer windows grow as they fill.
const AHEAD: usize = 4_096;

/// In place of the number of an observation that counts, but belongs to no window. No open decision
/// has it any more when an item has been shown as often.
pub(crate) const BEFORE: u32 = 1 << 31;

/// An observation in one byte: the click, the position, and whether it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
struct Observation(u8);

impl Observation {
    const WITHDRAWN: Self = Self(0x80);

    fn new(kind: usize, clicked: bool) -> Self {
        // Lists have at most 64 positions.
        let kind = u8::try_from(kind).unwrap_or(0) & 0x3f;
        Self(kind << 1 | u8::from(clicked))
    }

    fn stands(self) -> bool {
        self != Self::WITHDRAWN
    }

    fn kind(self) -> usize {
        usize::from(self.0 >> 1 & 0x3f)
    }

    fn tally(self) -> Tally {
        Tally { shows: 1, clicks: u64::from(self.0 & 1) }
    }
}

/// The last observations of an item, the oldest first. The first and the last one stand.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Ring {
    seen: VecDeque<Observation>,
    /// How many of them stand.
    standing: usize,
    /// The number that the next observation gets; numbers wrap.
    next: u32,
}

impl Ring {
    /// The place of an observation, if it has not left.
    fn place(&self, number: u32) -> Option<usize> {
        let back = self.next.wrapping_sub(number) as usize;
        self.seen.len().checked_sub(back).filter(|_| back > 0)
    }

    fn is_before(&self, number: u32) -> bool {
        number == BEFORE && self.next <= BEFORE
    }

    /// Lets the oldest observation go that stands.
    fn pop(&mut self) -> Option<Observation> {
        let oldest = self.seen.pop_front()?;
        self.standing -= 1;
        self.trim();
        Some(oldest)
    }

    fn trim(&mut self) {
        while self.seen.front().is_some_and(|seen| !seen.stands()) {
            self.seen.pop_front();
        }
        // Nobody refers to the number of a withdrawn observation.
        while self.seen.back().is_some_and(|seen| !seen.stands()) {
            self.seen.pop_back();
            self.next = self.next.wrapping_sub(1);
        }
    }
}

/// The last `most` observations of every item: those that the policy's table contains.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Windows {
    most: usize,
    rings: Vec<Ring>,
}

impl Windows {
    /// At least one observation of each of `n_items` items.
    pub(crate) fn new(most: usize, n_items: usize) -> Self {
        let mut windows = Self { most, rings: Vec::new() };
        (0..n_items).for_each(|_| windows.push());
        windows
    }

    /// Adds an item.
    pub(crate) fn push(&mut self) {
        self.rings.push(Ring { seen: VecDeque::with_capacity(self.most.min(AHEAD)), ..Ring::default() });
    }

    /// Whether an observation counts still.
    pub(crate) fn has(&self, item: ItemId, number: u32) -> bool {
        let ring = &self.rings[item.index()];
        ring.place(number).is_some() || ring.is_before(number)
    }

    /// Lets go what is too much, with its item, position and tally.
    pub(crate) fn set_most(&mut self, most: usize) -> Vec<(ItemId, usize, Tally)> {
        self.most = most;
        let mut leaving = vec![];
        for (item, ring) in self.rings.iter_mut().enumerate() {
            while ring.standing > most
                && let Some(seen) = ring.pop()
            {
                leaving.push((ItemId::from_index(item), seen.kind(), seen.tally()));
            }
        }
        leaving
    }

    /// Withdraws the observations at positions that are no longer counted.
    pub(crate) fn set_kinds(&mut self, kinds: usize) {
        for ring in &mut self.rings {
            for seen in ring.seen.iter_mut().filter(|seen| seen.stands() && seen.kind() >= kinds) {
                *seen = Observation::WITHDRAWN;
                ring.standing -= 1;
            }
            ring.trim();
        }
    }

    /// Forgets the observations of an item.
    pub(crate) fn clear(&mut self, item: ItemId) {
        let ring = &mut self.rings[item.index()];
        ring.seen.clear();
        ring.standing = 0;
    }

    /// Adds an observation. Its number, and the position and tally of the one that leaves.
    pub(crate) fn add(&mut self, item: ItemId, kind: usize, clicked: bool) -> (u32, Option<(usize, Tally)>) {
        let ring = &mut self.rings[item.index()];
        let leaving = if ring.standing >= self.most { ring.pop() } else { None };
        let leaving = leaving.map(|seen| (seen.kind(), seen.tally()));
        ring.seen.push_back(Observation::new(kind, clicked));
        ring.standing += 1;
        let number = ring.next;
        ring.next = number.wrapping_add(1);
        (number, leaving)
    }

    /// Changes whether an observation was a click. Returns false if it has left the window.
    pub(crate) fn correct(&mut self, item: ItemId, number: u32, kind: usize, clicked: bool) -> bool {
        let ring = &mut self.rings[item.index()];
        let place = ring.place(number);
        place.map(|place| ring.seen[place] = Observation::new(kind, clicked)).is_some()
            || ring.is_before(number)
    }

    /// Withdraws an observation. Returns false if it had left the window.
    pub(crate) fn withdraw(&mut self, item: ItemId, number: u32) -> bool {
        let ring = &mut self.rings[item.index()];
        let Some(place) = ring.place(number) else { return ring.is_before(number) };
        ring.seen[place] = Observation::WITHDRAWN;
        ring.standing -= 1;
        ring.trim();
        true
    }

    /// Checks a saved state against the policy's table.
    pub(crate) fn check(
        &self,
        most: usize,
        n_items: usize,
        table: impl Fn(ItemId, usize) -> Tally,
    ) -> Result<(), SavedError> {
        let is_sound = |(item, ring): (usize, &Ring)| {
            let standing = ring.seen.iter().filter(|seen| seen.stands());
            let ends_stand =
                [ring.seen.front(), ring.seen.back()].into_iter().flatten().all(|end| end.stands());
            let mut tallies = [Tally::default(); 64];
            for seen in standing.clone() {
                let tally = &mut tallies[seen.kind()];
                tally.shows += 1;
                tally.clicks += seen.tally().clicks;
            }
            let in_table = |(kind, own): (usize, &Tally)| {
                let all = table(ItemId::from_index(item), kind);
                own.shows == 0
                    || (own.clicks <= all.clicks && own.shows - own.clicks <= all.shows - all.clicks)
            };
            ends_stand
                && ring.seen.iter().all(|seen| seen.0 <= Observation::WITHDRAWN.0)
                && standing.count() == ring.standing
                && ring.standing <= self.most
                && tallies.iter().enumerate().all(in_table)
        };
        let all_sound =
            self.most == most && self.rings.len() == n_items && self.rings.iter().enumerate().all(is_sound);
        if all_sound { Ok(()) } else { Err(SavedError::Window) }
    }
}
