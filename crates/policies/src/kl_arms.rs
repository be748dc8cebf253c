//! Arms ranked by their KL-UCB index, solved for only where it can matter.
//!
//! The L largest indices are found exactly as by solving for all of them, but most arms are only *tested*: last round's
//! winners are solved first, and the smallest of their indices is a threshold that any other winner must reach. Whether an
//! arm's index reaches a threshold costs two multiply-adds (`confidence::KlUcbThreshold`); the few that do are solved, and
//! raise the threshold as they come. An index is a pure function of (displays, clicks, level) and ties do not depend on the
//! order of a scan, so the choice is the naive one to the last bit. The naive scan stays beside it for the tests.

use crate::top_l::{Ties, TopL};
use confidence::{KlUcbThreshold, kl_ucb_entropy, kl_ucb_upper};

/// An arm's counts as the index and the test need them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KlArm {
    clicks: f64,
    failures: f64,
    shows: f64,
    mean: f64,
    /// What the test needs besides; worked out when it is first asked for. Arms that win round after round are solved for
    /// and never tested, and it is they whose counts change.
    entropy: Option<f64>,
}

impl KlArm {
    #[inline]
    pub(crate) fn new(shows: u64, clicks: u64) -> Self {
        let (clicks, failures, shows) = (clicks as f64, (shows - clicks) as f64, shows as f64);
        Self { clicks, failures, shows, mean: clicks / shows.max(1.0), entropy: None }
    }

    #[inline]
    pub(crate) fn mean(&self) -> f64 {
        self.mean
    }

    /// Whether nothing is known of the arm.
    #[inline]
    pub(crate) fn is_fresh(&self) -> bool {
        self.shows == 0.0
    }

    /// The KL-UCB index; infinite for an arm of which nothing is known.
    #[inline]
    pub(crate) fn index(&self, level: f64) -> f64 {
        if self.is_fresh() { f64::INFINITY } else { kl_ucb_upper(self.mean, self.shows, level) }
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

    /// Whether [`KlArm::index`] is at least `q`, the threshold's.
    #[inline]
    pub(crate) fn reaches(&mut self, threshold: &KlUcbThreshold, q: f64, level: f64) -> bool {
        if self.is_excluded(threshold, level) {
            return false;
        }
        self.is_fresh()
            || threshold.includes(self.entropy(), self.clicks, self.failures, level)
            || self.index(level) >= q
    }
}

/// Finds the arms of largest index, round after round.
#[derive(Debug, Clone)]
pub(crate) struct KlTop {
    top: TopL,
    /// The winners of the last round, which only say where to look first.
    previous: Vec<u32>,
}

impl KlTop {
    pub(crate) fn new(capacity: usize) -> Self {
        Self { top: TopL::new(capacity), previous: Vec::with_capacity(capacity) }
    }

    /// The arms of largest index at `level`, best first.
    #[inline]
    pub(crate) fn select(&mut self, arms: &mut [KlArm], level: f64, ties: Ties) -> &[(f64, u32)] {
        self.previous.clear();
        self.previous.extend(self.top.best().iter().map(|&(_, item)| item));
        self.top.clear();
        for &item in &self.previous {
            self.top.offer(item, arms[item as usize].index(level), ties);
        }
        let mut reached = self.top.threshold();
        let mut threshold = KlUcbThreshold::new(reached);
        for (item, arm) in (0_u32..).zip(arms) {
            if self.previous.contains(&item) || arm.is_excluded(&threshold, level) {
                continue;
            }
            self.top.offer(item, arm.index(level), ties);
            if self.top.threshold() > reached {
                reached = self.top.threshold();
                threshold = KlUcbThreshold::new(reached);
            }
        }
        self.top.best()
    }

    /// The same by solving for every index: the reference.
    #[cfg(test)]
    fn select_naively(&mut self, arms: &[KlArm], level: f64, ties: Ties) -> &[(f64, u32)] {
        self.top.clear();
        for (item, arm) in (0_u32..).zip(arms) {
            self.top.offer(item, arm.index(level), ties);
        }
        self.top.best()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    /// Lazy and naive pick the same arms with the same indices, bit for bit, ties included, over whole bandit runs.
    #[test]
    fn lazy_selection_is_the_naive_one() {
        for (n_arms, capacity, rounds) in
            [(5, 1, 100_000_u32), (6, 3, 100_000), (100, 5, 100_000), (1000, 5, 10_000)]
        {
            let mut rng = Xoshiro256PlusPlus::seed_from_u64(3);
            // Steps of 1/20, so that many arms are equal and counts tie.
            let attraction: Vec<f64> =
                (0..n_arms).map(|_| f64::from(rng.random_range(0..=20_u32)) / 20.0).collect();
            let mut counts = vec![(0_u64, 0_u64); n_arms];
            let mut arms = vec![KlArm::new(0, 0); n_arms];
            let (mut lazy, mut naive) = (KlTop::new(capacity), KlTop::new(capacity));
            for round in 1..=rounds {
                let level = confidence::math::ln(f64::from(round));
                let ties = Ties::draw(&mut rng);
                let chosen = lazy.select(&mut arms, level, ties);
                assert_eq!(chosen, naive.select_naively(&arms, level, ties), "{n_arms} arms, round {round}");
                for &(_, item) in chosen {
                    let arm = item as usize;
                    counts[arm].0 += 1;
                    counts[arm].1 += u64::from(rng.random::<f64>() < attraction[arm]);
                    arms[arm] = KlArm::new(counts[arm].0, counts[arm].1);
                }
            }
        }
    }
}
