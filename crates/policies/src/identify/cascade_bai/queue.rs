//! The undecided items, in the order in which they are shown.
//!
//! The item with the fewest turns comes first. Its turns are its observations and its open
//! displays: displays on lists without feedback so far. Among items with equally many turns the one
//! observed or shown longest ago comes first. An item whose display ended without an observation
//! loses that turn, and comes before its equals.
//!
//! As long as every list gets its feedback before the next request, the queue is a ring: observed
//! items move from the front to the back by moving the start of the ring. Once a list is requested
//! while another one is open, or feedback arrives out of turn, items stand in a line, and moving an
//! item costs O(items).
//!
//! The displays of the last list, the *front*, are entered only when another list is requested, or
//! other feedback arrives, before its own feedback. If its feedback comes first, only the observed
//! items move.

mod line;

use crate::sort::{sort, sort_unstable};
use click_models::ItemId;
use line::Line;
use rand::Rng;
use rand::seq::SliceRandom as _;

#[derive(Debug)]
pub(super) struct Queue {
    /// All undecided items; in order from `front` on and around, unless they stand in a line.
    ring: Vec<ItemId>,
    front: usize,
    n_shown: usize,
    /// Whether the first items are on a list without feedback, and not entered as open.
    is_front_open: bool,
    /// The items of that list, once items stand in a line; in a ring they are the next ones.
    front_items: Vec<ItemId>,
    is_lined_up: bool,
    /// Open displays of every item, once items stand in a line.
    open: Vec<u64>,
    line: Line,
}

impl Queue {
    /// Undecided items sorted by turns, and the open displays of every item in the catalogue.
    pub(super) fn new(in_question: Vec<ItemId>, displays: &[u64], n_shown: usize) -> Self {
        let mut open = vec![0; displays.len()];
        for item in &in_question {
            open[item.index()] = displays[item.index()];
        }
        Self {
            ring: in_question,
            front: 0,
            n_shown,
            is_front_open: false,
            front_items: Vec::with_capacity(n_shown),
            is_lined_up: false,
            line: Line::new(open.len()),
            open,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.ring.len()
    }

    /// All undecided items, in any order.
    pub(super) fn items(&self) -> &[ItemId] {
        &self.ring
    }

    /// Puts the items in a random order. [`Queue::arrange`] makes a queue of it again.
    pub(super) fn shuffle<R: Rng + ?Sized>(&mut self, rng: &mut R) {
        self.ring.sort_unstable();
        self.ring.shuffle(rng);
    }

    /// Returns whether the ring has an open list and cannot distinguish it from the next one.
    pub(super) fn needs_line(&self) -> bool {
        self.is_front_open && !self.is_lined_up
    }

    /// The number of undecided items on a list, if they are the next items of the ring.
    #[inline]
    pub(super) fn n_next(&self, shown: &[ItemId]) -> Option<usize> {
        let n_next = self.n_shown.min(self.ring.len());
        if self.is_lined_up || shown.len() != self.n_shown {
            return None;
        }
        let (around, after) = self.ring.split_at(self.front);
        let (first, second) = shown[..n_next].split_at(n_next.min(after.len()));
        (after.starts_with(first) && around.starts_with(second)).then_some(n_next)
    }

    /// Returns whether items stand in a line, and the displays of the front are not entered yet.
    pub(super) fn has_front_in_line(&self) -> bool {
        self.is_lined_up && self.is_front_open
    }

    /// Ends the displays of the front of the line: adds a turn to the observed ones, in
    /// this order. The others stay among the first items, since no item moves forward past them.
    pub(super) fn advance_in_line(&mut self, observed: &[ItemId]) {
        self.is_front_open = false;
        for &item in observed {
            self.line.raise(item);
        }
    }

    /// Ends the open display at the front of the ring: moves the observed items to the back.
    #[inline]
    pub(super) fn advance(&mut self, n_observed: usize) {
        self.is_front_open = false;
        self.front += n_observed;
        if self.front >= self.ring.len() {
            self.front -= self.ring.len();
        }
    }

    /// Copies the first items in order, as many as `out` has room for.
    #[inline]
    pub(super) fn copy_to(&self, out: &mut [ItemId]) {
        if self.is_lined_up {
            let n_shown = out.len().min(self.ring.len());
            out[..n_shown].copy_from_slice(&self.line.items[..n_shown]);
            return;
        }
        let out_len = out.len().min(self.ring.len());
        let (around, after) = self.ring.split_at(self.front);
        let (first, second) = out[..out_len].split_at_mut(out_len.min(after.len()));
        first.copy_from_slice(&after[..first.len()]);
        second.copy_from_slice(&around[..second.len()]);
    }

    /// Takes the next items, one for every place of `out`, and opens their displays.
    #[inline]
    pub(super) fn take(&mut self, out: &mut [ItemId]) {
        if self.is_lined_up {
            self.enter_front();
        }
        self.copy_to(out);
        self.is_front_open = true;
        if self.is_lined_up {
            self.front_items.clear();
            self.front_items.extend_from_slice(out);
        }
    }

    /// Enters the displays of the front, if that is still to be done. Items must stand in a line.
    pub(super) fn enter_front(&mut self) {
        if std::mem::take(&mut self.is_front_open) {
            for &item in &self.front_items {
                self.open[item.index()] += 1;
                self.line.raise(item);
            }
        }
    }

    /// Links the items, if they are not. `observations` gives those of an item.
    #[cold]
    pub(super) fn make_line(&mut self, observations: impl Fn(ItemId) -> u64) {
        if self.is_lined_up {
            return;
        }
        let Self { ring, front, open, line, front_items, n_shown, .. } = self;
        let (around, after) = ring.split_at(*front);
        front_items.clear();
        front_items.extend(after.iter().chain(around).take(*n_shown));
        line.clear();
        for &item in after.iter().chain(around) {
            line.push(item, observations(item) + open[item.index()]);
        }
        self.is_lined_up = true;
        self.front = 0;
    }

    /// Sorts the items: by turns, those of equally many turns by rank.
    pub(super) fn arrange(&mut self, observations: impl Fn(ItemId) -> u64, rank: impl Fn(ItemId) -> u32) {
        let Self { ring, open, .. } = self;
        let key = |item: ItemId| (observations(item) + open[item.index()], rank(item));
        sort_unstable(ring, &|&a, &b| key(a).cmp(&key(b)));
        self.front = 0;
        if std::mem::take(&mut self.is_lined_up) {
            self.make_line(observations);
        }
    }

    /// Ends a display of each of these items without an observation. `in_order` is a buffer.
    pub(super) fn close(&mut self, unobserved: &[ItemId], in_order: &mut Vec<ItemId>) {
        in_order.clear();
        let is_open = |open: &[u64], item: ItemId| open.get(item.index()).is_some_and(|&open| open > 0);
        in_order.extend(unobserved.iter().filter(|&&item| is_open(&self.open, item)));
        sort_unstable(in_order, &|&a, &b| self.line.place(a).cmp(&self.line.place(b)));
        for &item in in_order.iter().rev() {
            if is_open(&self.open, item) {
                self.open[item.index()] -= 1;
                self.line.lower(item);
            }
        }
    }

    /// Counts an observation of an item: ends one of its open displays, if there is one.
    pub(super) fn observe(&mut self, item: ItemId) {
        match &mut self.open[item.index()] {
            0 => self.line.raise(item),
            open => {
                *open -= 1;
                self.line.move_back(item);
            }
        }
    }

    /// Removes all items for which `keep` is `false`.
    pub(super) fn retain(&mut self, keep: impl Fn(ItemId) -> bool) {
        if self.is_lined_up {
            self.line.retain(&keep);
            for &item in self.ring.iter().filter(|&&item| !keep(item)) {
                self.open[item.index()] = 0;
            }
        } else {
            self.ring.rotate_left(self.front);
            self.front = 0;
        }
        self.ring.retain(|&item| keep(item));
    }

    /// The items in order, and the open displays of all items; empty if there are none.
    pub(super) fn saved(&self, observations: impl Fn(ItemId) -> u64) -> (Vec<ItemId>, Vec<u64>) {
        let mut items = self.ring.clone();
        self.copy_to(&mut items);
        let mut open = self.open.clone();
        if self.is_front_open {
            let n_shown = self.n_shown.min(items.len());
            for item in &items[..n_shown] {
                open[item.index()] += 1;
            }
            items.rotate_left(n_shown);
            let turns = |item: ItemId| observations(item) + open[item.index()];
            sort(&mut items, &|&a, &b| turns(a).cmp(&turns(b)));
        }
        if open.iter().all(|&open| open == 0) {
            open.clear();
        }
        (items, open)
    }
}
