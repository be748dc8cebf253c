//! [`Candidates`]: the accepted, rejected and undecided items, with their observations and clicks.

use crate::Error;
use crate::checked::with_state;
use crate::error::{check_counts, is_permutation};
use crate::exact::float;
use crate::setup::restored;
use crate::sort::sort;
use click_models::{Clicks, ItemId, ListShape, Ranking};
use rand::Rng;
use rand::seq::SliceRandom;
use std::ops::ControlFlow;

with_state! {
/// Accepted, rejected and undecided items, and the observations and clicks while undecided.
///
/// The first request for a list puts the items into a random order, by which the caller can break
/// ties.
pub(super) struct Candidates {
    pub(super) n_best: usize,
    has_begun: bool,
    observations: Vec<u64>,
    clicks: Vec<u64>,
    pub(super) in_question: Vec<ItemId>,
    pub(super) accepted: Vec<ItemId>,
    pub(super) rejected: Vec<ItemId>,
} derived {
    is_in_question: Vec<bool> = {
        let mut is_in_question = vec![false; observations.len()];
        for item in &in_question {
            is_in_question[item.index()] = true;
        }
        is_in_question
    },
} then make_room with #[serde(deny_unknown_fields)]
}

/// The decision about an undecided item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Accept,
    Reject,
    Open,
}

impl Candidates {
    /// Looks for as many items as a list has positions.
    pub(super) fn new(shape: ListShape) -> Self {
        let n_items = shape.n_items();
        Self::assemble(State {
            n_best: shape.n_positions(),
            has_begun: false,
            observations: vec![0; n_items],
            clicks: vec![0; n_items],
            in_question: (0..n_items).map(ItemId::from_index).collect(),
            accepted: vec![],
            rejected: vec![],
        })
    }

    fn make_room(&mut self) {
        let n_items = self.n_items();
        for items in [&mut self.accepted, &mut self.rejected] {
            items.reserve_exact(n_items - items.len());
        }
    }

    /// The same problem without observations.
    pub(super) fn fresh(&self) -> Self {
        Self::new(ListShape::new(self.n_items(), self.n_best).expect("checked when it was made"))
    }

    pub(super) fn n_items(&self) -> usize {
        self.observations.len()
    }

    /// Numbers of items, and of items to find.
    pub(super) fn sizes(&self) -> [usize; 2] {
        [self.n_items(), self.n_best]
    }

    /// Items still to be found; before the end from 1 to the undecided items less one.
    pub(super) fn n_open(&self) -> usize {
        self.n_best.saturating_sub(self.accepted.len())
    }

    pub(super) fn is_done(&self) -> bool {
        self.accepted.len() >= self.n_best || self.rejected.len() >= self.n_items() - self.n_best
    }

    /// Observations of an item while undecided; 0 for an unknown item.
    pub(super) fn observations(&self, item: ItemId) -> u64 {
        self.observations.get(item.index()).copied().unwrap_or(0)
    }

    /// Clicks on an item while undecided; 0 for an unknown item.
    pub(super) fn clicks(&self, item: ItemId) -> u64 {
        self.clicks.get(item.index()).copied().unwrap_or(0)
    }

    /// Observations of all items while undecided.
    pub(super) fn total_observations(&self) -> u64 {
        self.observations.iter().sum()
    }

    /// Observations of the undecided items.
    pub(super) fn open_observations(&self) -> u64 {
        self.in_question.iter().map(|item| self.observations[item.index()]).sum()
    }

    /// Shuffles the items at the first call, and returns whether this was the first.
    #[inline]
    pub(super) fn begin<R: Rng + ?Sized>(&mut self, rng: &mut R) -> bool {
        let is_first = !std::mem::replace(&mut self.has_begun, true);
        if is_first {
            self.in_question.shuffle(rng);
        }
        is_first
    }

    /// Counts the observations of the undecided items on a list, and calls `counted` for each.
    #[inline]
    pub(super) fn record(
        &mut self,
        shown: &Ranking,
        seen: Clicks,
        mut counted: impl FnMut(&mut Self, ItemId),
    ) {
        let clicks = seen.bits();
        for (position, &item) in shown.as_slice().iter().take(seen.len()).enumerate() {
            if self.is_in_question.get(item.index()) == Some(&true) {
                self.observations[item.index()] += 1;
                self.clicks[item.index()] += clicks >> position & 1;
                counted(self, item);
            }
        }
    }

    /// Moves an undecided item behind all that have at most as many observations. If every observed
    /// item is moved so, the undecided items are sorted by observations, fewest first; among equals
    /// the one observed longest ago comes first.
    #[inline]
    pub(super) fn requeue(&mut self, item: ItemId) {
        let Self { in_question, observations, .. } = self;
        let Some(from) = in_question.iter().position(|&other| other == item) else { return };
        let n = observations[item.index()];
        let after = in_question[from + 1..].partition_point(|other| observations[other.index()] <= n);
        in_question[from..=from + after].rotate_left(1);
    }

    /// Accepts and rejects undecided items in the order given; items not named stay undecided.
    pub(super) fn decide(&mut self, verdicts: impl Iterator<Item = (ItemId, Verdict)>) {
        for (item, verdict) in verdicts {
            let decided = match verdict {
                Verdict::Accept => &mut self.accepted,
                Verdict::Reject => &mut self.rejected,
                Verdict::Open => continue,
            };
            decided.push(item);
            self.is_in_question[item.index()] = false;
        }
        let is_in_question = &self.is_in_question;
        self.in_question.retain(|item| is_in_question[item.index()]);
    }

    /// Writes the undecided items `first`, then accepted and rejected ones; at the end the answer.
    #[inline]
    pub(super) fn show(&self, first: impl Iterator<Item = ItemId>, out: &mut Ranking) {
        let list = out.positions_mut(self.n_best);
        if self.is_done() {
            fill(list, self.answer());
        } else {
            fill(list, first.chain(self.accepted.iter().chain(&self.rejected).copied()));
        }
    }

    /// The accepted items in order of entry, then undecided ones.
    pub(super) fn answer(&self) -> impl Iterator<Item = ItemId> + '_ {
        self.accepted.iter().chain(&self.in_question).copied().take(self.n_best)
    }

    /// The answer in increasing order, if there is one.
    pub(super) fn check(&self) -> ControlFlow<Vec<ItemId>> {
        if !self.is_done() {
            return ControlFlow::Continue(());
        }
        let mut answer: Vec<ItemId> = self.answer().collect();
        answer.sort_unstable();
        ControlFlow::Break(answer)
    }

    /// The items accepted so far, and the undecided items of largest mean; ties are random.
    pub(super) fn recommend<R: Rng + ?Sized>(&self, rng: &mut R, out: &mut Ranking) {
        recommend([&self.accepted, &self.in_question], self.n_best, |item| self.mean(item), rng, out);
    }

    /// The empirical mean; 0 without an observation.
    pub(super) fn mean(&self, item: ItemId) -> f64 {
        let n = self.observations[item.index()];
        if n == 0 { 0.0 } else { float(self.clicks[item.index()]) / float(n) }
    }
}

/// Writes accepted items in order of entry, then undecided ones, the largest mean first; ties are
/// random.
pub(super) fn recommend<R: Rng + ?Sized>(
    [accepted, undecided]: [&[ItemId]; 2],
    n_best: usize,
    mean: impl Fn(ItemId) -> f64,
    rng: &mut R,
    out: &mut Ranking,
) {
    let n_accepted = accepted.len().min(n_best);
    let (first, rest) = out.positions_mut(n_accepted + undecided.len()).split_at_mut(n_accepted);
    first.copy_from_slice(&accepted[..n_accepted]);
    rest.copy_from_slice(undecided);
    rest.shuffle(rng);
    sort(rest, &|&a, &b| mean(b).total_cmp(&mean(a)));
    out.positions_mut(n_best);
}

/// Writes items to places, as far as both reach.
pub(super) fn fill(places: &mut [ItemId], items: impl Iterator<Item = ItemId>) {
    for (place, item) in places.iter_mut().zip(items) {
        *place = item;
    }
}

restored!(Candidates, |saved| {
    let n_items = saved.observations.len();
    ListShape::new(n_items, saved.n_best)?;
    check_counts(0, &saved.observations, &saved.clicks)?;
    let sets = saved.in_question.iter().chain(&saved.accepted).chain(&saved.rejected);
    let is_every_item_once = is_permutation(sets.map(|item| item.index()), n_items);
    if saved.rejected.len() > n_items - saved.n_best || !is_every_item_once {
        return Err(Error::SavedItems);
    }
    Ok(Self::assemble(saved))
});
