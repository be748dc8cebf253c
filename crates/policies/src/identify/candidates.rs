//! [`Candidates`]: the items that were accepted, rejected, or are still in question, and what was counted of them.

use crate::Error;
use crate::error::check_counts;
use crate::exact::float;
use click_models::{Clicks, ItemId, ListShape, Ranking};
use rand::Rng;
use rand::seq::SliceRandom;
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;

/// All items, shared out; and how often those in question were observed and clicked.
///
/// The first time that it is asked for a list the items are put into a random order, by which the caller can break ties.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "Saved")]
pub(super) struct Candidates {
    n_best: usize,
    has_begun: bool,
    observations: Vec<u64>,
    clicks: Vec<u64>,
    in_question: Vec<ItemId>,
    accepted: Vec<ItemId>,
    rejected: Vec<ItemId>,
    #[serde(skip)]
    is_in_question: Vec<bool>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Saved {
    n_best: usize,
    has_begun: bool,
    observations: Vec<u64>,
    clicks: Vec<u64>,
    in_question: Vec<ItemId>,
    accepted: Vec<ItemId>,
    rejected: Vec<ItemId>,
}

/// What becomes of an item in question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Accept,
    Reject,
    Open,
}

impl Candidates {
    /// As many items as a list has positions are looked for.
    pub(super) fn new(shape: ListShape) -> Self {
        let n_items = shape.n_items();
        Self {
            n_best: shape.n_positions(),
            has_begun: false,
            observations: vec![0; n_items],
            clicks: vec![0; n_items],
            in_question: (0..n_items).map(ItemId::from_index).collect(),
            accepted: Vec::with_capacity(n_items),
            rejected: Vec::with_capacity(n_items),
            is_in_question: vec![true; n_items],
        }
    }

    /// The same before anything was seen.
    pub(super) fn fresh(&self) -> Self {
        Self::new(ListShape::new(self.n_items(), self.n_best).expect("checked when it was made"))
    }

    pub(super) fn n_items(&self) -> usize {
        self.observations.len()
    }

    /// Items, and how many are looked for.
    pub(super) fn sizes(&self) -> [usize; 2] {
        [self.n_items(), self.n_best]
    }

    pub(super) fn n_best(&self) -> usize {
        self.n_best
    }

    /// How many are still to be found; before the end between 1 and the number of items in question less one.
    pub(super) fn n_open(&self) -> usize {
        self.n_best.saturating_sub(self.accepted.len())
    }

    pub(super) fn is_done(&self) -> bool {
        self.accepted.len() >= self.n_best || self.rejected.len() >= self.n_items() - self.n_best
    }

    pub(super) fn in_question(&self) -> &[ItemId] {
        &self.in_question
    }

    pub(super) fn accepted(&self) -> &[ItemId] {
        &self.accepted
    }

    pub(super) fn rejected(&self) -> &[ItemId] {
        &self.rejected
    }

    /// Observations of an item while it was in question; 0 for an unknown one.
    #[inline]
    pub(super) fn observations(&self, item: ItemId) -> u64 {
        self.observations.get(item.index()).copied().unwrap_or(0)
    }

    /// Clicks on an item while it was in question; 0 for an unknown one.
    #[inline]
    pub(super) fn clicks(&self, item: ItemId) -> u64 {
        self.clicks.get(item.index()).copied().unwrap_or(0)
    }

    /// What was observed of all items while they were in question.
    pub(super) fn total_observations(&self) -> u64 {
        self.observations.iter().sum()
    }

    /// What was observed of the items in question.
    pub(super) fn open_observations(&self) -> u64 {
        self.in_question.iter().map(|item| self.observations[item.index()]).sum()
    }

    /// Puts the items into a random order, the first time; and says whether it did.
    #[inline]
    pub(super) fn begin<R: Rng + ?Sized>(&mut self, rng: &mut R) -> bool {
        let is_first = !std::mem::replace(&mut self.has_begun, true);
        if is_first {
            self.in_question.shuffle(rng);
        }
        is_first
    }

    /// Counts what was seen of those items of a list that are in question, and tells `counted` of each.
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

    /// Moves an item in question behind all that have not been observed more often. If this is done with all that are observed, those
    /// in question are in order, the least observed first; of equals the one observed longest ago.
    #[inline]
    pub(super) fn requeue(&mut self, item: ItemId) {
        let Self { in_question, observations, .. } = self;
        let Some(from) = in_question.iter().position(|&other| other == item) else { return };
        let n = observations[item.index()];
        let after = in_question[from + 1..].partition_point(|other| observations[other.index()] <= n);
        in_question[from..=from + after].rotate_left(1);
    }

    /// Shares out items in question, in the order in which they are named; those not named stay.
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

    /// Writes a list: first the items in question that are given, then those accepted, then those rejected, and after the end the answer.
    #[inline]
    pub(super) fn show(&self, first: impl Iterator<Item = ItemId>, out: &mut Ranking) {
        let list = out.positions_mut(self.n_best);
        if self.is_done() {
            fill(list, self.answer());
        } else {
            fill(list, first.chain(self.accepted.iter().chain(&self.rejected).copied()));
        }
    }

    /// What is known to be best, or taken for it, in order of entry.
    pub(super) fn answer(&self) -> impl Iterator<Item = ItemId> + '_ {
        self.accepted.iter().chain(&self.in_question).copied().take(self.n_best)
    }

    /// The answer, in increasing order, if there is one.
    pub(super) fn check(&self) -> ControlFlow<Vec<ItemId>> {
        if !self.is_done() {
            return ControlFlow::Continue(());
        }
        let mut answer: Vec<ItemId> = self.answer().collect();
        answer.sort_unstable();
        ControlFlow::Break(answer)
    }

    /// The items accepted so far, and of those in question the ones of largest mean, ties at random.
    pub(super) fn recommend<R: Rng + ?Sized>(&self, rng: &mut R, out: &mut Ranking) {
        let n_accepted = self.accepted.len().min(self.n_best);
        let list = out.positions_mut(n_accepted + self.in_question.len());
        let (first, rest) = list.split_at_mut(n_accepted);
        first.copy_from_slice(&self.accepted[..n_accepted]);
        rest.copy_from_slice(&self.in_question);
        rest.shuffle(rng);
        rest.sort_by(|&a, &b| self.mean(b).total_cmp(&self.mean(a)));
        out.positions_mut(self.n_best);
    }

    /// The empirical mean, 0 without an observation.
    pub(super) fn mean(&self, item: ItemId) -> f64 {
        let n = self.observations[item.index()];
        if n == 0 { 0.0 } else { float(self.clicks[item.index()]) / float(n) }
    }
}

/// Writes items to places, as far as both go.
pub(super) fn fill(places: &mut [ItemId], items: impl Iterator<Item = ItemId>) {
    for (place, item) in places.iter_mut().zip(items) {
        *place = item;
    }
}

impl TryFrom<Saved> for Candidates {
    type Error = Error;

    fn try_from(saved: Saved) -> Result<Self, Error> {
        let Saved { n_best, has_begun, observations, clicks, in_question, accepted, rejected } = saved;
        let mut fresh = Self::new(ListShape::new(observations.len(), n_best)?);
        check_counts(0, &observations, &clicks)?;
        if rejected.len() > fresh.n_items() - n_best {
            return Err(Error::SavedItems);
        }
        // Every item once.
        for item in in_question.iter().chain(&accepted).chain(&rejected) {
            match fresh.is_in_question.get_mut(item.index()) {
                Some(is_missing @ true) => *is_missing = false,
                _ => return Err(Error::SavedItems),
            }
        }
        if fresh.is_in_question.contains(&true) {
            return Err(Error::SavedItems);
        }
        for item in &in_question {
            fresh.is_in_question[item.index()] = true;
        }
        fresh.accepted.extend(accepted);
        fresh.rejected.extend(rejected);
        Ok(Self { has_begun, observations, clicks, in_question, ..fresh })
    }
}
