//! Every arm tested every round: the fastest way for a few dozen arms.
//!
//! Last round's winners are solved first, and the smallest of their indices is a threshold that any other winner must reach.
//! Whether an arm's index reaches a threshold costs two multiply-adds (`confidence::KlUcbThreshold`); the few that do are solved,
//! and raise the threshold as they come.

use super::KlArm;
use crate::top_l::{Ties, TopL};
use confidence::KlUcbThreshold;

/// What a scan remembers from round to round.
#[derive(Debug, Clone)]
pub(super) struct Scan {
    top: TopL,
    /// The winners of the last round, which only say where to look first.
    winners: Vec<u32>,
}

impl Scan {
    pub(super) fn new(capacity: usize) -> Self {
        Self { top: TopL::new(capacity), winners: Vec::with_capacity(capacity) }
    }

    /// The arms of largest index at `level`, best first.
    #[inline]
    pub(super) fn select(&mut self, arms: &mut [KlArm], level: f64, ties: Ties) -> &[u32] {
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
        &self.winners
    }
}
