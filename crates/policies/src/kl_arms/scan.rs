//! The fastest way for a few dozen arms: all of them are tested, and a choice stands as long as it is certain to be the same.
//!
//! *Search.* Last round's winners are solved first, and the smallest of their indices is a threshold that any other winner must
//! reach. Whether an arm's index reaches a threshold costs two multiply-adds (`confidence::KlUcbThreshold`); the few that do are
//! solved, and raise the threshold as they come.
//!
//! *Standing.* A click raises an arm's index and a failure lowers it, and it grows with the level. So once it is known that every
//! winner's index stays above a separator after a number of failures, and below the one above it after a number of clicks at a somewhat
//! higher level, and that all other arms stay below the last separator, the winners and their order need no further look until one
//! of these numbers is used up. The separators lie half-way between winners, and at the largest index that any other arm reaches.

use super::KlArm;
use crate::top_l::{Ties, TopL};
use confidence::{KlUcbThreshold, kl_ucb_entropy};

/// A choice stands up to a level higher by this share.
const RISE: f64 = 1.0 / 2048.0;
/// Relative slack of a computed index, many times what the solver may be off.
const SLACK: f64 = 1e-12;

/// What a scan remembers from round to round.
#[derive(Debug, Clone)]
pub(super) struct Scan {
    top: TopL,
    /// The winners of the last round.
    winners: Vec<u32>,
    /// They stand at these levels; nowhere if the first is above the second.
    stands: [f64; 2],
    /// Failures and clicks that every winner may still see.
    spare: Vec<[f64; 2]>,
    /// The highest level of choices that stand, and every arm's index there, NaN if it was not solved for.
    ceiling: f64,
    reaches: Vec<f64>,
}

impl Scan {
    pub(super) fn new(n_arms: usize, capacity: usize) -> Self {
        Self {
            top: TopL::new(capacity),
            winners: Vec::with_capacity(capacity),
            stands: [f64::INFINITY, f64::NEG_INFINITY],
            spare: Vec::with_capacity(capacity),
            ceiling: f64::NEG_INFINITY,
            reaches: vec![f64::NAN; n_arms],
        }
    }

    /// The arm had the counts of `before`, and has those of `after`, none of which is smaller.
    #[inline]
    pub(super) fn set(&mut self, item: usize, before: &KlArm, after: &KlArm) {
        self.reaches[item] = f64::NAN;
        let (failures, clicks) = (after.failures - before.failures, after.clicks - before.clicks);
        let stands = match self.winners.iter().position(|&winner| winner as usize == item) {
            Some(place) => match self.spare.get_mut(place) {
                Some(spare) => {
                    *spare = [spare[0] - failures, spare[1] - clicks];
                    spare[0] >= 0.0 && spare[1] >= 0.0
                }
                None => false,
            },
            None => clicks == 0.0,
        };
        if !stands {
            self.stands[1] = f64::NEG_INFINITY;
        }
    }

    /// The arms of largest index at `level`, best first.
    #[inline]
    pub(super) fn select(&mut self, arms: &mut [KlArm], level: f64, ties: Ties) -> &[u32] {
        if !(self.stands[0] <= level && level <= self.stands[1]) {
            self.search(arms, level, ties);
            self.stands = if self.certify(arms, level) {
                [level, self.ceiling]
            } else {
                [f64::INFINITY, f64::NEG_INFINITY]
            };
        }
        &self.winners
    }

    fn search(&mut self, arms: &mut [KlArm], level: f64, ties: Ties) {
        self.top.clear();
        for &item in &self.winners {
            self.top.offer(item, arms[item as usize].index(level), ties);
        }
        let mut reached = self.top.threshold();
        let mut threshold = KlUcbThreshold::new(reached);
        for (item, arm) in (0_u32..).zip(arms) {
            if self.winners.contains(&item) || arm.is_excluded(&threshold, level) {
                continue;
            }
            self.top.offer(item, arm.index(level), ties);
            if self.top.threshold() > reached {
                reached = self.top.threshold();
                threshold = KlUcbThreshold::new(reached);
            }
        }
        self.winners.clear();
        self.winners.extend(self.top.best().iter().map(|&(_, item)| item));
    }

    /// Works out what the winners have to spare at `level` and a little above. False if nothing.
    fn certify(&mut self, arms: &[KlArm], level: f64) -> bool {
        self.spare.clear();
        if level > self.ceiling || level < self.ceiling * (1.0 - 2.0 * RISE) {
            self.ceiling = level * (1.0 + RISE);
            self.reaches.fill(f64::NAN);
        }
        let mut rest = 0.0_f64;
        for ((item, arm), reach) in (0_u32..).zip(arms).zip(&mut self.reaches) {
            if !self.winners.contains(&item) {
                if reach.is_nan() {
                    *reach = arm.index(self.ceiling);
                }
                rest = rest.max(*reach);
            }
        }
        let best = self.top.best();
        let below = best.iter().skip(1).map(|&(index, _)| index);
        let mut above: Option<(f64, KlUcbThreshold)> = None;
        for (&(index, item), next) in best.iter().zip(below.map(Some).chain([None])) {
            let arm = &arms[item as usize];
            let separator = next.map_or(rest * (1.0 + SLACK), |next| 0.5 * (index + next));
            let test = KlUcbThreshold::new(separator);
            // A failure costs about index / n. NaN if nothing is known of the arm.
            let failures = (0.75 * (index - separator) * arm.shows / index).floor();
            let stays_above = failures >= 1.0 && arm.includes_with(&test, failures, level);
            if !stays_above {
                return false;
            }
            let mut clicks = f64::INFINITY;
            if let Some((above, test)) = above {
                // A click is worth about (1 - mean) / n, and more for a small mean.
                clicks = (0.75 * (above - index) * arm.clicks / (index * (1.0 - arm.mean()))).floor();
                let stays_below = clicks >= 1.0 && arm.excludes_with(&test, clicks, self.ceiling);
                if !stays_below {
                    return false;
                }
            }
            self.spare.push([failures, clicks]);
            above = Some((separator, test));
        }
        true
    }
}

impl KlArm {
    /// Whether the index certainly reaches the threshold after these more failures.
    fn includes_with(&self, threshold: &KlUcbThreshold, failures: f64, level: f64) -> bool {
        let failures = self.failures + failures;
        threshold.includes(kl_ucb_entropy(self.clicks, failures), self.clicks, failures, level)
    }

    /// Whether the index is certainly below the threshold after these more clicks.
    fn excludes_with(&self, threshold: &KlUcbThreshold, clicks: f64, level: f64) -> bool {
        let clicks = self.clicks + clicks;
        threshold.excludes(kl_ucb_entropy(clicks, self.failures), clicks, self.failures, level)
    }
}
