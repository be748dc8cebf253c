//! Arms ranked by their KL-UCB index; an index is solved for only if it can matter.
//!
//! The choice is the one that solving for all indices would give. A few arms are found by a
//! [`scan`] of all arms, unless the last choice is certain to stand; many arms are found through a
//! [`shortlist`](crate::shortlist). The choice is the naive one to the last bit, because an index
//! is a pure function of (displays, clicks, level) and ties do not depend on the order in which
//! arms are visited. Tests compare it with the naive version.

mod filter;
mod scan;
#[cfg(test)]
mod tests;

use crate::live::present_items;
use crate::reaching::{Arms, Threshold};
use crate::shortlist::{Arm, Shortlist};
use crate::top_l::{Ties, TopL};
use click_models::{ItemId, ItemSet};
use confidence::{KlUcbThreshold, kl_ucb_entropy, kl_ucb_upper};
use filter::KlFilter;
use scan::Scan;

/// Up to this number of arms a scan is faster than a shortlist.
const MOST_SCANNED: usize = 128;

/// An arm's counts, as the index and the threshold test need them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KlArm {
    clicks: f64,
    failures: f64,
    shows: f64,
    mean: f64,
    /// Further terms of the test, computed when first needed: arms that win round after round are
    /// solved for and never tested, and their counts change most often.
    entropy: Option<f64>,
}

impl KlArm {
    #[inline]
    pub(crate) fn new(shows: u64, clicks: u64) -> Self {
        let (clicks, failures, shows) = (clicks as f64, (shows - clicks) as f64, shows as f64);
        Self { clicks, failures, shows, mean: clicks / shows.max(1.0), entropy: None }
    }

    #[inline]
    fn entropy(&mut self) -> f64 {
        *self.entropy.get_or_insert_with(|| kl_ucb_entropy(self.clicks, self.failures))
    }

    /// Whether [`KlArm::index`] is certainly below the threshold.
    #[inline]
    fn is_excluded(&mut self, threshold: &KlUcbThreshold, level: f64) -> bool {
        !self.is_fresh() && threshold.excludes(self.entropy(), self.clicks, self.failures, level)
    }

    /// Whether [`KlArm::index`] certainly reaches the threshold.
    #[inline]
    fn is_included(&mut self, threshold: &KlUcbThreshold, level: f64) -> bool {
        self.is_fresh() || threshold.includes(self.entropy(), self.clicks, self.failures, level)
    }
}

impl Threshold for KlUcbThreshold {
    fn set(&mut self, q: f64) {
        *self = Self::new(q);
    }
}

impl Arms for Vec<KlArm> {
    type Threshold = KlUcbThreshold;

    #[inline]
    fn is_below(&mut self, item: usize, threshold: &KlUcbThreshold, level: f64) -> bool {
        self[item].is_excluded(threshold, level)
    }

    #[inline]
    fn is_above(&mut self, item: usize, threshold: &KlUcbThreshold, level: f64) -> bool {
        self[item].is_included(threshold, level)
    }

    #[inline]
    fn reaches(&mut self, item: usize, threshold: &KlUcbThreshold, q: f64, level: f64) -> bool {
        let arm = &mut self[item];
        !arm.is_excluded(threshold, level) && (arm.is_included(threshold, level) || arm.index(level) >= q)
    }
}

impl Arm for KlArm {
    type Filter = KlFilter;

    #[inline]
    fn key(&self) -> (u64, u64) {
        (self.shows.to_bits(), self.clicks.to_bits())
    }

    /// Whether the arm has no displays.
    #[inline]
    fn is_fresh(&self) -> bool {
        self.shows == 0.0
    }

    #[inline]
    fn mean(&self) -> f64 {
        self.mean
    }

    /// The KL-UCB index; infinite for an arm without displays.
    #[inline]
    fn index(&self, level: f64) -> f64 {
        if self.is_fresh() { f64::INFINITY } else { kl_ucb_upper(self.mean, self.shows, level) }
    }
}

/// Arms, and the arms of largest index round after round.
#[derive(Debug, Clone)]
pub(crate) struct KlTop {
    arms: Vec<KlArm>,
    search: Search,
    top: TopL,
    /// Those that the shortlist or a comparison found.
    winners: Vec<u32>,
    /// Buffer: arms of the same index.
    equals: ItemSet,
}

/// The search for the winners.
#[derive(Debug, Clone)]
enum Search {
    Scan(Scan),
    Shortlist(Box<Shortlist<KlArm>>),
}

impl KlTop {
    /// Arms with these displays and clicks; `capacity` winners a round.
    pub(crate) fn new(counts: impl Iterator<Item = (u64, u64)>, capacity: usize) -> Self {
        let mut arms: Vec<KlArm> = counts.map(|(shows, clicks)| KlArm::new(shows, clicks)).collect();
        let search = if arms.len() <= MOST_SCANNED {
            Search::Scan(Scan::new(arms.len(), capacity))
        } else {
            Search::Shortlist(Box::new(Shortlist::new(&mut arms, capacity)))
        };
        let equals = ItemSet::none(arms.len());
        Self { arms, search, top: TopL::new(capacity), winners: Vec::with_capacity(capacity), equals }
    }

    /// Breaks all ties by hashes.
    pub(crate) fn hashing_all(mut self) -> Self {
        if let Search::Shortlist(list) = &mut self.search {
            list.hash_all();
        }
        self
    }

    /// These items are absent.
    pub(crate) fn without(mut self, absent: &ItemSet) -> Self {
        absent.iter().for_each(|item| self.set_present(item.index(), false));
        self
    }

    /// Sets the displays and clicks of an arm.
    #[inline]
    pub(crate) fn set(&mut self, item: usize, shows: u64, clicks: u64) {
        let before = self.arms[item];
        self.arms[item] = KlArm::new(shows, clicks);
        match &mut self.search {
            Search::Scan(scan) => scan.set(item, &before, &self.arms[item]),
            Search::Shortlist(list) => list.set(item, before.is_fresh(), &mut self.arms[item]),
        }
    }

    /// Adds an arm without displays.
    pub(crate) fn push(&mut self, absent: &ItemSet) {
        self.arms.push(KlArm::new(0, 0));
        self.equals.grow(self.arms.len());
        let Self { arms, search, top, .. } = self;
        match search {
            Search::Shortlist(list) => list.push(&mut arms[list.n_arms()]),
            Search::Scan(scan) if arms.len() <= MOST_SCANNED => scan.push(),
            Search::Scan(_) => {
                let mut list = Shortlist::new(arms, top.capacity());
                absent.iter().for_each(|item| list.set_present(item.index(), false, &mut arms[item.index()]));
                *search = Search::Shortlist(Box::new(list));
            }
        }
    }

    /// An arm left, or returned.
    pub(crate) fn set_present(&mut self, item: usize, present: bool) {
        if let Search::Shortlist(list) = &mut self.search {
            list.set_present(item, present, &mut self.arms[item]);
        }
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
        let Self { arms, search, winners, .. } = self;
        let is_found = match search {
            Search::Shortlist(list) => list.select_among(arms, available, level, ties, winners),
            Search::Scan(_) => false,
        };
        if !is_found {
            self.compare(present_items(available, absent, n_arms), level, ties);
        }
        &self.winners
    }

    /// The arms of largest index at `level`, best first.
    #[inline]
    pub(crate) fn select(&mut self, level: f64, ties: Ties) -> &[u32] {
        match &mut self.search {
            Search::Scan(scan) => {
                self.winners.clear();
                self.winners.extend_from_slice(scan.select(&mut self.arms, level, ties));
            }
            Search::Shortlist(list) if list.has_all() => {
                list.select(&self.arms, level, ties, &mut self.winners);
            }
            Search::Shortlist(_) => self.compare((0..self.arms.len()).map(ItemId::from_index), level, ties),
        }
        &self.winners
    }

    /// Compares these arms.
    fn compare(&mut self, items: impl Iterator<Item = ItemId> + Clone, level: f64, ties: Ties) {
        let Self { arms, top, winners, equals, .. } = self;
        top.clear();
        let mut reached = f64::NEG_INFINITY;
        let mut threshold = KlUcbThreshold::new(reached);
        // Many arms have the same counts as the one before.
        let mut solved = (KlArm::new(0, 0).key(), f64::INFINITY);
        for item in items.clone() {
            let arm = &mut arms[item.index()];
            if arm.is_excluded(&threshold, level) {
                continue;
            }
            if arm.key() != solved.0 {
                solved = (arm.key(), arm.index(level));
            }
            top.offer(item.number(), solved.1, ties);
            if top.threshold() > reached {
                reached = top.threshold();
                threshold = KlUcbThreshold::new(reached);
            }
        }
        let is_equal = |item: usize, last: f64| {
            let mut arm = arms[item];
            !arm.is_excluded(&threshold, level) && arm.index(level) == last
        };
        top.redraw_equals(items, ties, equals, is_equal);
        winners.clear();
        winners.extend(top.best().iter().map(|&(_, item)| item));
    }
}
