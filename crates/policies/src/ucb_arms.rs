//! Arms ranked by an upper confidence bound of a few operations.
//!
//! Few arms are all compared in every round; many arms are found through a
//! [`shortlist`](crate::shortlist). Both make the same choice to the last bit, because an index is
//! a pure function of the arm and the level, and ties do not depend on the order in which arms are
//! visited. Tests compare them with the naive versions of the policies.

#[cfg(test)]
mod tests;

use crate::live::present_items;
use crate::shortlist::{Arm, Filter, Shortlist};
use crate::top_l::{Ties, TopL};
use click_models::{ItemId, ItemSet};

/// Up to this number of arms comparing all of them is faster than a shortlist.
const MOST_COMPARED: usize = 256;

/// The index `mean + width level`, at most `cap`. The level is a root of nats.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Line {
    mean: f64,
    width: f64,
    cap: f64,
}

impl Line {
    /// The index of an arm without displays.
    pub(crate) const FRESH: Self = Self { mean: f64::INFINITY, width: 0.0, cap: f64::INFINITY };

    #[inline]
    pub(crate) fn new(mean: f64, width: f64) -> Self {
        Self { mean, width, cap: f64::INFINITY }
    }

    /// Arms of the same line have the same cap.
    #[inline]
    pub(crate) fn clipped_at(self, cap: f64) -> Self {
        Self { cap, ..self }
    }
}

impl Arm for Line {
    type Filter = Floor;

    #[inline]
    fn key(&self) -> (u64, u64) {
        (self.mean.to_bits(), self.width.to_bits())
    }

    #[inline]
    fn is_fresh(&self) -> bool {
        self.mean == f64::INFINITY
    }

    #[inline]
    fn mean(&self) -> f64 {
        self.mean
    }

    #[inline]
    fn index(&self, level: f64) -> f64 {
        let index = self.mean + self.width * level;
        if index > self.cap { self.cap } else { index }
    }
}

/// The index is a mean, at every level: for leaders.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mean(pub(crate) f64);

impl Mean {
    /// The index of an arm without displays.
    pub(crate) const FRESH: Self = Self(f64::INFINITY);
}

impl Arm for Mean {
    type Filter = Floor;

    #[inline]
    fn key(&self) -> (u64, u64) {
        (self.0.to_bits(), 0)
    }

    #[inline]
    fn is_fresh(&self) -> bool {
        self.0 == f64::INFINITY
    }

    #[inline]
    fn mean(&self) -> f64 {
        self.0
    }

    #[inline]
    fn index(&self, _: f64) -> f64 {
        self.0
    }
}

/// Compares every index with the floor.
#[derive(Debug, Clone)]
pub(crate) struct Floor(f64);

impl<A: Arm> Filter<A> for Floor {
    fn new(_: usize) -> Self {
        Self(f64::INFINITY)
    }

    fn set_floor(&mut self, floor: f64) {
        self.0 = floor;
    }

    fn push(&mut self) {}

    fn set(&mut self, _: usize, _: &mut A) {}

    #[inline]
    fn excludes(&self, arm: &mut A, ceiling: f64) -> bool {
        arm.index(ceiling) < self.0
    }

    fn list(&self, arms: &[A], ceiling: f64, mut list: impl FnMut(usize)) {
        for (item, arm) in arms.iter().enumerate() {
            if arm.index(ceiling) >= self.0 {
                list(item);
            }
        }
    }
}

/// Arms, and the arms of largest index round after round.
#[derive(Debug, Clone)]
pub(crate) struct UcbTop<A: Arm> {
    arms: Vec<A>,
    shortlist: Option<Box<Shortlist<A>>>,
    top: TopL,
    winners: Vec<u32>,
    /// Buffer: arms of the same index.
    equals: ItemSet,
}

impl<A: Arm> UcbTop<A> {
    /// These arms; `capacity` winners a round.
    pub(crate) fn new(arms: impl Iterator<Item = A>, capacity: usize) -> Self {
        let plain = Self::comparing_all(arms, capacity);
        if plain.arms.len() <= MOST_COMPARED { plain } else { plain.with_shortlist(capacity) }
    }

    fn comparing_all(arms: impl Iterator<Item = A>, capacity: usize) -> Self {
        let (arms, winners) = (arms.collect::<Vec<A>>(), Vec::with_capacity(capacity));
        let equals = ItemSet::none(arms.len());
        Self { arms, shortlist: None, top: TopL::new(capacity), winners, equals }
    }

    fn with_shortlist(mut self, capacity: usize) -> Self {
        self.shortlist = Some(Box::new(Shortlist::new(&mut self.arms, capacity)));
        self
    }

    /// These items are absent.
    pub(crate) fn without(mut self, absent: &ItemSet) -> Self {
        absent.iter().for_each(|item| self.set_present(item.index(), false));
        self
    }

    /// Sets an arm.
    #[inline]
    pub(crate) fn set(&mut self, item: usize, arm: A) {
        let before = std::mem::replace(&mut self.arms[item], arm);
        if let Some(list) = &mut self.shortlist {
            list.set(item, before.is_fresh(), &mut self.arms[item]);
        }
    }

    /// Adds an arm, which is fresh.
    pub(crate) fn push(&mut self, arm: A, absent: &ItemSet) {
        self.arms.push(arm);
        self.equals.grow(self.arms.len());
        if let (Some(list), Some(last)) = (&mut self.shortlist, self.arms.last_mut()) {
            list.push(last);
        } else if self.arms.len() > MOST_COMPARED {
            let mut list = Shortlist::new(&mut self.arms, self.top.capacity());
            absent
                .iter()
                .for_each(|item| list.set_present(item.index(), false, &mut self.arms[item.index()]));
            self.shortlist = Some(Box::new(list));
        }
    }

    /// An arm left, or returned.
    pub(crate) fn set_present(&mut self, item: usize, present: bool) {
        if let Some(list) = &mut self.shortlist {
            list.set_present(item, present, &mut self.arms[item]);
        }
    }

    /// The arms of largest index at `level`, best first.
    #[inline]
    pub(crate) fn select(&mut self, level: f64, ties: Ties) -> &[u32] {
        match &mut self.shortlist {
            Some(list) if list.has_all() => list.select(&self.arms, level, ties, &mut self.winners),
            _ => self.compare((0..self.arms.len()).map(ItemId::from_index), level, ties),
        }
        &self.winners
    }

    /// Those of largest index among the arms that are available and not absent, best first.
    #[inline]
    pub(crate) fn select_among(
        &mut self,
        available: &ItemSet,
        absent: &ItemSet,
        level: f64,
        ties: Ties,
    ) -> &[u32] {
        let n_arms = self.arms.len();
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
    #[inline]
    fn compare(&mut self, items: impl Iterator<Item = ItemId> + Clone, level: f64, ties: Ties) {
        let Self { arms, top, winners, equals, .. } = self;
        top.clear();
        for item in items.clone() {
            top.offer(item.number(), arms[item.index()].index(level), ties);
        }
        top.redraw_equals(items, ties, equals, |item, last| arms[item].index(level) == last);
        winners.clear();
        winners.extend(top.best().iter().map(|&(_, item)| item));
    }
}
