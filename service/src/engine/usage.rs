//! The queries of a store, with how much each is used, whether or not it is in memory.

use super::{Activity, Engine};
use crate::api::Refusal;
use crate::event::{Event, Name};
use serde::{Deserialize, Serialize};
use std::ops::Bound;

/// The uses of a query, as far as this version has seen them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Decisions, shown lists included.
    pub decisions: u64,
    /// Clicks.
    pub clicks: u64,
    /// The time of the last decision, in milliseconds since 1970; 0 without decisions.
    pub last: u64,
}

/// Queries that are forgotten at once: each looks at all open decisions.
const AT_ONCE: usize = 4;

impl Engine {
    /// Queries by name, from the one after this.
    pub fn usage(&self, after: Option<&Name>) -> impl Iterator<Item = (&Name, Usage)> {
        let start = after.map_or(Bound::Unbounded, Bound::Excluded);
        self.usage.range::<Name, _>((start, Bound::Unbounded)).map(|(name, usage)| (name, *usage))
    }

    /// Knows a query that may have no decision yet.
    pub(super) fn note_query(&mut self, query: &Name) {
        self.usage.entry(query.clone()).or_default();
    }

    pub(super) fn note_decision(&mut self, query: &Name, time: u64) {
        let usage = self.usage.entry(query.clone()).or_default();
        *usage = Usage { decisions: usage.decisions + 1, last: usage.last.max(time), ..*usage };
        self.note_activity(time, Activity { decisions: 1, ..Activity::default() });
    }

    /// Counts a click on the decision with a number, before its end is noted.
    pub(super) fn note_click(&mut self, query: &Name, number: u64, time: u64) {
        if let Some(usage) = self.usage.get_mut(query) {
            usage.clicks += 1;
        }
        if let Some(open) = self.decisions.get(number) {
            let (late, delay) = (u64::from(open.is_closed), time.saturating_sub(open.time));
            self.note_activity(time, Activity { clicks: 1, late, delay, ..Activity::default() });
        }
        self.count_click(number);
    }

    /// Forgets some of the queries without a decision since a time.
    pub fn forget_unused(&mut self, since: u64, events: &mut Vec<Event>) -> Result<(), Refusal> {
        if since <= self.oldest_use {
            return Ok(());
        }
        let used = self.usage.iter().filter(|(_, usage)| usage.decisions > 0);
        let unused = used.clone().filter(|(_, usage)| usage.last < since).take(AT_ONCE);
        let unused: Vec<Name> = unused.map(|(name, _)| name.clone()).collect();
        if unused.is_empty() {
            self.oldest_use = used.map(|(_, usage)| usage.last).min().unwrap_or(since);
        }
        unused.iter().try_for_each(|query| self.drop_query(query, events).map(|_| ()))
    }
}
