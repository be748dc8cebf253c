//! The state that a store tells: that of its snapshot and the events after it.

use super::catalogue::Catalogue;
use super::decisions::Decisions;
use super::history::Origin;
use super::swap::Swap;
use super::{Engine, Most, Totals};
use crate::config::{Limits, Template};
use crate::event::whole;
use crate::metrics::log;
use crate::store::{Store, StoreError};
use serde_json::json;
use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::Arc;

/// The parts from which a state is made.
#[derive(Debug, Clone)]
pub struct Base {
    /// Where events and snapshots are kept.
    pub store: Arc<dyn Store>,
    /// The settings of all policies.
    pub template: Arc<Template>,
    /// Limits.
    pub limits: Limits,
    /// A directory for the file of queries that are not in memory.
    pub directory: PathBuf,
}

/// Everything but the queries: the number of the next event, the items, the decisions, the counts
/// and the prior.
type Head = (u64, Catalogue, Decisions, Totals, Option<[f64; 2]>);

/// Reads what was saved; older versions did not save what is known of requests.
pub(super) fn read_head(saved: &[u8]) -> Result<Head, StoreError> {
    let read = postcard::take_from_bytes::<Head>(saved).map_err(|error| error.to_string());
    let read = read.and_then(|(mut head, rest)| {
        head.2.complete(if rest.is_empty() { vec![] } else { whole(rest)? })?;
        Ok(head)
    });
    read.map_err(StoreError::Snapshot)
}

impl Base {
    /// The state that the store tells: that of its snapshot, and the events after it. If the
    /// snapshot cannot be read, as [`repeat`](Self::repeat).
    ///
    /// # Errors
    ///
    /// The store cannot be read, is damaged, or was made for other settings.
    pub fn recover(&self) -> Result<Engine, StoreError> {
        match self.read(true) {
            Err(StoreError::Snapshot(what)) => self.repeat(&what),
            outcome => outcome,
        }
    }

    /// The state that the events tell by themselves, since the snapshot cannot be read.
    ///
    /// # Errors
    ///
    /// As [`recover`](Self::recover).
    pub fn repeat(&self, fault: &str) -> Result<Engine, StoreError> {
        log("error", "snapshot-unreadable", json!({ "error": fault }));
        self.read(false)
    }

    fn read(&self, by_snapshot: bool) -> Result<Engine, StoreError> {
        let Self { store, template, limits, directory } = self;
        let saved = if by_snapshot { store.head()? } else { None };
        let swap = Swap::new(saved.is_some().then(|| store.clone()), directory)
            .map_err(|error| StoreError::Unavailable(format!("{}: {error}", directory.display())))?;
        let mut engine = Engine {
            template: template.clone(),
            in_memory: limits.queries,
            most: Most { queries: limits.all_queries, items: limits.items.min(template.most_items()) },
            catalogue: Catalogue::default(),
            decisions: Decisions::default(),
            totals: Totals::default(),
            prior: None,
            next: 0,
            snapshot: 0,
            sums: BTreeMap::new(),
            time: 0,
            queries: HashMap::new(),
            by_use: BTreeMap::new(),
            uses: 0,
            salt: if store.is_shared() { Some(salt()?) } else { None },
            swap,
            touched: None,
            later: HashMap::new(),
            n_later: 0,
            unreadable: None,
            repeated: 0,
            early: 0,
            outside: 0,
        };
        if let Some(saved) = saved {
            (engine.next, engine.catalogue, engine.decisions, engine.totals, engine.prior) =
                read_head(&saved)?;
            engine.snapshot = engine.next;
            if engine.next > 0 && !store.has(engine.next - 1)? {
                let what = format!("it has a snapshot of {} events, and fewer events", engine.next);
                return Err(StoreError::Damaged(what));
            }
        }
        let origin = if store.is_shared() { Origin::Other } else { Origin::Own };
        engine.catch_up(&**store, origin)?;
        Ok(engine)
    }
}

/// A number that no other server has.
fn salt() -> Result<u64, StoreError> {
    getrandom::u64().map_err(|error| StoreError::Unavailable(error.to_string()))
}
