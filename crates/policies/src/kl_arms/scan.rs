//! Search for a few dozen arms: tests all, and keeps a choice while it is certain.
//!
//! *Search.* Last round's winners are solved for first. The smallest of their indices is a
//! threshold that any other winner must reach. The test whether an arm's index reaches a threshold
//! costs two multiply-adds (`confidence::KlUcbThreshold`). The few arms that reach it are solved
//! for, and raise the threshold.
//!
//! *Standing choices.* An arm's index rises with a click and with the level, and falls with a
//! failure. Separators lie half-way between consecutive winners, and at the largest index of any
//! other arm. Suppose that a winner's index stays above the separator below it after some number of
//! failures, and below the separator above it after some number of clicks at a slightly higher
//! level. If this holds for all winners, and all other arms stay below the last separator, then the
//! winners and their order stand until one of these numbers is used up.

use super::KlArm;
use crate::best_arms::FewArms;
use crate::shortlist::Arm;
use crate::top_l::{Ties, TopL};
use confidence::{KlUcbThreshold, kl_ucb_entropy};

/// A choice stands up to a level that is higher by this share.
const RISE: f64 = 1.0 / 2048.0;
/// Relative slack of a computed index, many times the error of the solver.
const SLACK: f64 = 1e-12;

/// The state of a scan between rounds.
#[derive(Debug, Clone)]
pub(crate) struct Scan {
    top: TopL,
    /// The winners of the last round.
    winners: Vec<u32>,
    /// The winners stand at these levels; at no level if the first exceeds the second.
    stands: [f64; 2],
    /// Further failures and clicks that each winner can have while the choice stands.
    spare: Vec<[f64; 2]>,
    /// The highest level of standing choices, and every solved index there (otherwise NaN).
    ceiling: f64,
    reaches: Vec<f64>,
}

impl FewArms<KlArm> for Scan {
    const MOST: usize = 128;

    fn new(n_arms: usize, capacity: usize) -> Self {
        Self {
            top: TopL::new(capacity),
            winners: Vec::with_capacity(capacity),
            stands: [f64::INFINITY, f64::NEG_INFINITY],
            spare: Vec::with_capacity(capacity),
            ceiling: f64::NEG_INFINITY,
            reaches: vec![f64::NAN; n_arms],
        }
    }

    fn push(&mut self) {
        self.reaches.push(f64::NAN);
        self.stands[1] = f64::NEG_INFINITY;
    }

    /// An arm's counts changed from `before` to `after`. If one is smaller, no choice stands.
    #[inline]
    fn set(&mut self, item: usize, before: &KlArm, after: &KlArm) {
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
        if !stands || failures < 0.0 || clicks < 0.0 {
            self.stands[1] = f64::NEG_INFINITY;
        }
    }

    #[inline]
    fn select(&mut self, arms: &mut [KlArm], level: f64, ties: Ties) -> Option<&[u32]> {
        if !(self.stands[0] <= level && level <= self.stands[1]) {
            self.search(arms, level, ties);
            self.stands = if self.certify(arms, level) {
                [level, self.ceiling]
            } else {
                [f64::INFINITY, f64::NEG_INFINITY]
            };
        }
        Some(&self.winners)
    }
}

impl Scan {
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
        self.winners.extend(self.top.best.iter().map(|&(_, item)| item));
    }

    /// The clicks and failures that winners can have at `level` and above; `false` if none.
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
        let best = &self.top.best;
        let below = best.iter().skip(1).map(|&(index, _)| index);
        let mut above: Option<(f64, KlUcbThreshold)> = None;
        for (&(index, item), next) in best.iter().zip(below.map(Some).chain([None])) {
            let arm = &arms[item as usize];
            let separator = next.map_or(rest * (1.0 + SLACK), |next| 0.5 * (index + next));
            let test = KlUcbThreshold::new(separator);
            // A failure costs about index / n. NaN for an arm without displays.
            let failures = (0.75 * (index - separator) * arm.shows / index).floor();
            let stays_above = failures >= 1.0 && arm.includes_with(&test, failures, level);
            if !stays_above {
                return false;
            }
            let mut clicks = f64::INFINITY;
            if let Some((above, test)) = above {
                // A click is worth about (1 - mean) / n, and more if the mean is small.
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
    /// Returns whether the index certainly reaches the threshold after this number of further
    /// failures.
    fn includes_with(&self, threshold: &KlUcbThreshold, failures: f64, level: f64) -> bool {
        let failures = self.failures + failures;
        threshold.includes(kl_ucb_entropy(self.clicks, failures), self.clicks, failures, level)
    }

    /// Returns whether the index is certainly below the threshold after this number of further
    /// clicks.
    fn excludes_with(&self, threshold: &KlUcbThreshold, clicks: f64, level: f64) -> bool {
        let clicks = self.clicks + clicks;
        threshold.excludes(kl_ucb_entropy(clicks, self.failures), clicks, self.failures, level)
    }
}
