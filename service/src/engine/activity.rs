//! The events of each hour as counts, for people who look at them.

use super::Engine;
use super::usage::Usage;
use crate::event::Name;
use itertools::Itertools as _;
use serde::{Deserialize, Serialize};

/// Milliseconds of an hour.
pub const HOUR: u64 = 3_600_000;
/// The hours that are remembered: 32 days.
const REMEMBERED: usize = 32 * 24;

/// Counts of an hour, or of several.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Activity {
    /// Lists, those that were shown without asking included.
    pub decisions: u64,
    /// Clicks.
    pub clicks: u64,
    /// Clicks on decisions that were closed before.
    pub late: u64,
    /// Milliseconds from decisions to clicks, all together.
    pub delay: u64,
}

impl std::ops::Add for Activity {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            decisions: self.decisions + other.decisions,
            clicks: self.clicks + other.clicks,
            late: self.late + other.late,
            delay: self.delay + other.delay,
        }
    }
}

impl Engine {
    /// Adds to what happened at a time.
    pub(super) fn note_activity(&mut self, time: u64, what: Activity) {
        let hour = self.activity.entry(time / HOUR).or_default();
        *hour = *hour + what;
        if self.activity.len() > REMEMBERED {
            self.activity.pop_first();
        }
    }

    /// The queries that have most decisions, all of them or those in memory.
    pub fn busiest(&self, most: usize, in_memory: bool) -> Vec<(Name, Usage)> {
        let used = self.usage(None).filter(|(name, _)| !in_memory || self.queries.contains_key(*name));
        let busiest = used.k_largest_by_key(most, |(_, usage)| usage.decisions);
        busiest.map(|(name, usage)| (name.clone(), usage)).collect()
    }
}
