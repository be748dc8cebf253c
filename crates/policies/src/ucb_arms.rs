//! Arms ranked by an upper confidence bound of a few operations.
//!
//! Few arms are all compared in every round; many arms are found through a
//! [`shortlist`](crate::shortlist). Both make the same choice to the last bit, because an index is
//! a pure function of the arm and the level, and ties do not depend on the order in which arms are
//! visited. Tests compare them with the naive versions of the policies.

#[cfg(test)]
mod tests;

use crate::shortlist::{Arm, Filter, Shortlist};
use crate::top_l::{Ties, TopL};
use click_models::ItemId;

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
}

impl<A: Arm> UcbTop<A> {
    /// These arms; `capacity` winners a round.
    pub(crate) fn new(arms: impl Iterator<Item = A>, capacity: usize) -> Self {
        let plain = Self::comparing_all(arms, capacity);
        if plain.arms.len() <= MOST_COMPARED { plain } else { plain.with_shortlist(capacity) }
    }

    fn comparing_all(arms: impl Iterator<Item = A>, capacity: usize) -> Self {
        let (top, winners) = (TopL::new(capacity), Vec::with_capacity(capacity));
        Self { arms: arms.collect(), shortlist: None, top, winners }
    }

    fn with_shortlist(mut self, capacity: usize) -> Self {
        self.shortlist = Some(Box::new(Shortlist::new(&mut self.arms, capacity)));
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

    /// Adds an arm. A shortlist is for a number of arms: from now on all are compared.
    pub(crate) fn push(&mut self, arm: A) {
        self.arms.push(arm);
        self.shortlist = None;
    }

    /// The arms of largest index at `level`, best first.
    #[inline]
    pub(crate) fn select(&mut self, level: f64, ties: Ties) -> &[u32] {
        let Self { arms, shortlist, top, winners } = self;
        if let Some(list) = shortlist {
            return list.select(arms, level, ties);
        }
        top.clear();
        for (item, arm) in (0_u32..).zip(arms) {
            top.offer(item, arm.index(level), ties);
        }
        winners.clear();
        winners.extend(top.best().iter().map(|&(_, item)| item));
        winners
    }

    /// Those of largest index among these arms, best first, with their indices.
    #[inline]
    pub(crate) fn select_among(
        &mut self,
        items: impl Iterator<Item = ItemId>,
        level: f64,
        ties: Ties,
    ) -> &[(f64, u32)] {
        self.top.clear();
        for item in items {
            self.top.offer(item.number(), self.arms[item.index()].index(level), ties);
        }
        self.top.best()
    }
}
