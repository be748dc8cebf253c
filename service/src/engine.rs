//! The state of the service: a policy for each query, the items and the open decisions.
//!
//! Everything that changes it is an [`Event`]. An engine that gets the events of another one, in
//! their order, comes to the same state: after a restart, in the thread that makes snapshots, and
//! in a test. A server that follows another one takes its decisions as lists that were shown.

mod activity;
mod answers;
mod beginning;
mod catalogue;
mod decisions;
mod deferred;
mod history;
mod items;
mod launch;
mod learner;
mod lists;
mod queries;
mod query;
mod recovery;
mod replay;
mod settings;
mod swap;
mod usage;

pub use activity::{Activity, HOUR};
pub use beginning::{Beginning, check_fit};
pub(crate) use decisions::DecisionView;
pub use deferred::Deferred;
pub use history::{Known, Origin};
pub use launch::LaunchState;
pub(crate) use launch::VALUE;
pub(crate) use learner::{Learner, fresh};
pub use query::ItemRow;
pub use recovery::Base;
pub use settings::Differences;
pub use usage::Usage;

use crate::config::{Template, ValuesFrom};
use crate::event::Name;
use crate::store::Sum;
use catalogue::Catalogue;
use decisions::Decisions;
use query::Query;
use replay::Later;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use swap::Swap;

/// Counts since the store was new.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Totals {
    /// Lists that policies chose.
    pub decided: u64,
    /// Lists that were shown without asking.
    pub shown: u64,
    /// Clicks.
    pub clicks: u64,
    /// Decisions that were closed, by clients or by time.
    pub closed: u64,
    /// Queries.
    pub queries: u64,
    /// Decisions that were repeated with another list than the policy would choose now.
    pub differing: u64,
}

/// The most queries, and the most items of all queries or of one.
#[derive(Clone, Copy)]
struct Most {
    queries: u64,
    items: usize,
    /// Whether those are known that may be asked for.
    are_known: bool,
    /// Those that the present request may make.
    made: u64,
}

impl Most {
    /// Entries that were taken under other limits stay.
    const UNLIMITED: Self = Self { queries: u64::MAX, items: usize::MAX, are_known: false, made: u64::MAX };
}

/// The state of a service.
pub struct Engine {
    /// The settings of every policy.
    pub template: Arc<Template>,
    /// The settings that the store had one after the other, the present ones last.
    history: Vec<Arc<Template>>,
    /// The items of the configuration that was applied last, if any was.
    configured: Option<Vec<Name>>,
    /// The most queries in memory.
    in_memory: usize,
    most: Most,
    catalogue: Catalogue,
    decisions: Decisions,
    /// Counts since the store was new.
    pub totals: Totals,
    /// The prior of the items of queries that a log does not have.
    pub prior: Option<[f64; 2]>,
    /// The number of the next event.
    pub next: u64,
    /// The number of the first event after the snapshot from which it was recovered.
    pub snapshot: u64,
    /// Checksums of the last events in the store by number, if other servers append as well.
    sums: BTreeMap<u64, Sum>,
    /// The time of the last batch, in milliseconds since 1970.
    pub time: u64,
    queries: HashMap<Name, Query>,
    /// Queries in memory by their last use.
    by_use: BTreeMap<u64, Name>,
    uses: u64,
    /// Queries as their next decisions would find them, by use, catalogue and settings.
    copies: BTreeMap<Name, ([u64; 3], Query)>,
    /// The key of the hashes of users' names.
    user_key: Vec<u8>,
    /// Added to the seeds of queries, so that servers of a shared store draw different numbers.
    salt: Option<u64>,
    swap: Swap,
    /// Queries that are forgotten, whose states the store may still have.
    dropped: BTreeSet<Name>,
    usage: BTreeMap<Name, Usage>,
    /// The launch, once it has had a decision.
    pub launch: Option<LaunchState>,
    /// Whether a value of an item was ever told.
    has_values: bool,
    /// Counts by hour since 1970, of the last 32 days with events.
    pub activity: BTreeMap<u64, Activity>,
    /// No query was used last before this time.
    oldest_use: u64,
    /// The query that the last request made, or made follow the catalogue.
    touched: Option<Name>,
    /// Events of a store that queries have still to take.
    later: HashMap<Name, Later>,
    /// Bytes of these events.
    n_later: usize,
    /// Why a query of the snapshot could not be read, if there was one. Recover with
    /// [`repeat`](Base::repeat), which replays all events.
    pub unreadable: Option<String>,
    is_after_outage: bool,
    /// By how much answers of this process have raised and lowered the values of clicks.
    pub earned: [f64; 2],
    /// Answers of this process of which all was known.
    pub repeated: u64,
    /// Decisions that this process closed early, to have room for others.
    pub early: usize,
    /// Decisions of this process for users whose segment is not known or whose features were
    /// clipped.
    pub outside: u64,
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Engine")
            .field("next", &self.next)
            .field("totals", &self.totals)
            .finish_non_exhaustive()
    }
}

/// Checks that policies can be made by a template; an error says why not.
pub fn check(template: &Template) -> Result<(), String> {
    fresh(template, None).map(|_| ())
}

impl Engine {
    /// Whether values were ever told, of items or in answers of this process, or are to be.
    pub fn has_values(&self) -> bool {
        self.has_values || self.earned.iter().any(|of| *of > 0.0) || self.template.values != ValuesFrom::Told
    }

    /// Number of decisions that can be answered.
    pub fn n_open(&self) -> usize {
        self.decisions.len()
    }

    /// Number of queries in memory.
    pub fn n_in_memory(&self) -> usize {
        self.queries.len()
    }

    /// Number of present and of retired items of all queries.
    pub fn n_items(&self) -> [usize; 2] {
        self.catalogue.counts()
    }

    /// Names of queries in memory, the last used first.
    pub fn query_names(&self) -> impl Iterator<Item = &Name> {
        self.by_use.values().rev()
    }

    /// The last lists, the latest first: query, time in milliseconds since 1970, items.
    pub fn latest(&self) -> impl Iterator<Item = (&Name, u64, impl Iterator<Item = &Name>)> {
        self.decisions.latest().map(|open| (open.query(), open.time, open.list()))
    }
}
