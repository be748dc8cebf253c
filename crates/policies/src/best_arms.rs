//! The arms of largest index, round after round.
//!
//! Few arms are searched in full; many arms are found through a [`shortlist`](crate::shortlist).
//! Both make the same choice to the last bit, because an index is a pure function of the arm and
//! the level, and ties do not depend on the order in which arms are visited. Tests compare them
//! with the naive versions of the policies.

use crate::live::{LiveState, present_items};
use crate::shortlist::{Arm, Filter as _, Shortlist};
use crate::top_l::{Ties, TopL};
use click_models::{ItemId, ItemSet};
use std::fmt::Debug;

/// The search among few arms. By default it compares all of them.
pub(crate) trait FewArms<A>: Clone + Debug {
    /// Up to this number of arms the search is faster than a shortlist.
    const MOST: usize;

    fn new(n_arms: usize, capacity: usize) -> Self;

    /// There is a further arm, which is fresh.
    fn push(&mut self) {}

    /// An arm changed.
    #[inline]
    fn set(&mut self, _item: usize, _before: &A, _after: &A) {}

    /// The arms of largest index at `level`, best first; `None`: all are to be compared.
    #[inline]
    fn select(&mut self, _arms: &mut [A], _level: f64, _ties: Ties) -> Option<&[u32]> {
        None
    }
}

/// Arms, and the arms of largest index round after round.
#[derive(Debug, Clone)]
pub(crate) struct BestArms<A: Arm> {
    arms: Vec<A>,
    few: A::Few,
    /// Of many arms.
    shortlist: Option<Box<Shortlist<A>>>,
    top: TopL,
    winners: Vec<u32>,
    /// Buffer: arms of the same index.
    equals: ItemSet,
}

impl<A: Arm> BestArms<A> {
    /// These arms; `capacity` winners a round.
    pub(crate) fn new(arms: impl Iterator<Item = A>, capacity: usize) -> Self {
        let plain = Self::without_shortlist(arms, capacity);
        if plain.arms.len() <= A::Few::MOST { plain } else { plain.with_shortlist() }
    }

    pub(crate) fn without_shortlist(arms: impl Iterator<Item = A>, capacity: usize) -> Self {
        let (arms, winners) = (arms.collect::<Vec<A>>(), Vec::with_capacity(capacity));
        let (few, equals) = (A::Few::new(arms.len(), capacity), ItemSet::none(arms.len()));
        Self { arms, few, shortlist: None, top: TopL::new(capacity), winners, equals }
    }

    pub(crate) fn with_shortlist(mut self) -> Self {
        self.few = A::Few::new(0, self.top.capacity);
        self.shortlist = Some(Box::new(Shortlist::new(&mut self.arms, self.top.capacity)));
        self
    }

    /// Breaks ties of up to this number of arms by hashes.
    pub(crate) fn hashing(mut self, most_hashed: usize) -> Self {
        if let Some(list) = &mut self.shortlist {
            list.most_hashed = most_hashed;
        }
        self
    }

    /// These items are absent.
    pub(crate) fn without(mut self, absent: &ItemSet) -> Self {
        absent.iter().for_each(|item| self.set_present(item.index(), false));
        self
    }

    pub(crate) fn set(&mut self, item: usize, arm: A) {
        let before = std::mem::replace(&mut self.arms[item], arm);
        match &mut self.shortlist {
            Some(list) => list.set(item, before.is_fresh(), &mut self.arms[item]),
            None => self.few.set(item, &before, &self.arms[item]),
        }
    }

    /// Adds an arm, which is fresh.
    pub(crate) fn push(&mut self, arm: A, absent: &ItemSet) {
        self.arms.push(arm);
        self.equals.grow(self.arms.len());
        if let (Some(list), Some(last)) = (&mut self.shortlist, self.arms.last_mut()) {
            list.push(last);
        } else if self.arms.len() <= A::Few::MOST {
            self.few.push();
        } else {
            let arms = std::mem::take(&mut self.arms).into_iter();
            *self = Self::new(arms, self.top.capacity).without(absent);
        }
    }

    /// An arm left, or returned.
    pub(crate) fn set_present(&mut self, item: usize, present: bool) {
        if let Some(list) = &mut self.shortlist {
            list.set_present(item, present, &mut self.arms[item]);
        }
    }

    /// The arms of largest index at `level`, best first.
    pub(crate) fn select(&mut self, level: f64, ties: Ties) -> &[u32] {
        let Self { arms, few, shortlist, winners, .. } = self;
        match shortlist {
            Some(list) if list.has_all() => list.select(arms, level, ties, winners),
            Some(_) => self.compare((0..self.arms.len()).map(ItemId::from_index), level, ties),
            None => match few.select(arms, level, ties) {
                Some(found) => {
                    winners.clear();
                    winners.extend_from_slice(found);
                }
                None => self.compare((0..self.arms.len()).map(ItemId::from_index), level, ties),
            },
        }
        &self.winners
    }

    /// Those of largest index among the arms that are available and not absent, best first. With
    /// terms all are compared.
    pub(crate) fn select_among(
        &mut self,
        available: &ItemSet,
        LiveState { absent, terms, .. }: &LiveState,
        level: f64,
        ties: Ties,
    ) -> &[u32] {
        let n_arms = self.arms.len();
        if terms.is_some() {
            self.top.limit(terms.as_deref());
            self.compare(present_items(available, absent, n_arms), level, ties);
            self.top.limit(None);
            return &self.winners;
        }
        if absent.is_empty() && available.is_all(n_arms) {
            return self.select(level, ties);
        }
        let Self { arms, shortlist, winners, .. } = self;
        let is_found =
            |list: &mut Box<Shortlist<A>>| list.select_among(arms, available, level, ties, winners);
        if !shortlist.as_mut().is_some_and(is_found) {
            self.compare(present_items(available, absent, n_arms), level, ties);
        }
        &self.winners
    }

    /// Compares these arms.
    fn compare(&mut self, items: impl Iterator<Item = ItemId> + Clone, level: f64, ties: Ties) {
        let Self { arms, top, winners, equals, .. } = self;
        top.clear();
        let (mut reached, mut filter) = (f64::NEG_INFINITY, A::Filter::new(0));
        filter.set_floor(reached);
        // If an index is solved for: many arms are like the one before.
        let mut solved = ((0, 0), f64::NAN);
        for item in items.clone() {
            let arm = &mut arms[item.index()];
            if filter.excludes(arm, level) {
                continue;
            }
            if !A::IS_SOLVED || solved.1.is_nan() || arm.key() != solved.0 {
                solved = (arm.key(), arm.index(level));
            }
            top.offer(item.number(), solved.1, ties);
            if top.threshold() > reached {
                reached = top.threshold();
                filter.set_floor(reached);
            }
        }
        let is_equal = |item: usize, last: f64| {
            let mut arm = arms[item];
            !filter.excludes(&mut arm, level) && arm.index(level) == last
        };
        top.redraw_equals(items, ties, equals, is_equal);
        winners.clear();
        winners.extend(top.best.iter().map(|&(_, item)| item));
    }
}
