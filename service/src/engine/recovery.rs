//! The state that a store tells: that of its snapshot and the events after it.

use super::catalogue::Catalogue;
use super::decisions::{Decisions, OldDecisions, Request};
use super::history::Origin;
use super::swap::Swap;
use super::{Activity, Engine, LaunchState, Most, Totals, Usage};
use crate::config::{Limits, NewQueries, Template};
use crate::event::{Name, Worth, whole};
use crate::metrics::log;
use crate::store::{Store, StoreError};
use serde::Deserialize;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::Arc;

/// The parts from which a state is made.
#[derive(Debug, Clone)]
pub struct Base {
    /// Where events and snapshots are kept.
    pub store: Arc<dyn Store>,
    /// The settings of all policies with which the store began.
    pub template: Arc<Template>,
    /// Limits.
    pub limits: Limits,
    /// A directory for the file of queries that are not in memory.
    pub directory: PathBuf,
}

/// Everything in a snapshot but the queries.
#[derive(Default, Deserialize)]
pub(super) struct Head {
    /// The number of the next event.
    next: u64,
    catalogue: Catalogue,
    decisions: Decisions,
    totals: Totals,
    prior: Option<[f64; 2]>,
    /// The settings after the first ones.
    later: Vec<String>,
    configured: Option<Vec<Name>>,
    usage: BTreeMap<Name, Usage>,
    launch: Option<LaunchState>,
    activity: BTreeMap<u64, Activity>,
    worths: BTreeMap<Name, (u64, Worth)>,
    has_values: bool,
}

/// The form of a head in older programs: the decisions are plain, and what is known of their
/// requests is apart, if the program knew any.
type OldHead = (u64, Catalogue, OldDecisions, Totals, Option<[f64; 2]>);

/// A version follows these bytes, which no older program wrote: they are no number.
const VERSIONED: [u8; 10] = [0xff; 10];

/// The version of snapshots.
const VERSION: u8 = 4;

/// The beginning of a head or a query's state that older programs cannot read.
pub(super) fn versioned() -> Vec<u8> {
    [&VERSIONED[..], &[VERSION]].concat()
}

/// The bytes after the version; `None` if the form is that of older programs.
pub(super) fn of_version(saved: &[u8]) -> Result<Option<&[u8]>, String> {
    match saved.strip_prefix(&VERSIONED) {
        Some([VERSION, rest @ ..]) => Ok(Some(rest)),
        Some(other) => Err(format!("it has version {:?}, expected {VERSION}", other.first())),
        None => Ok(None),
    }
}

/// Reads what was saved by this program, or an older one. What is known of the requests may be
/// apart from a head of this number.
pub(super) fn read_head(
    saved: &[u8],
    requests: impl FnOnce(u64) -> Result<Option<Vec<u8>>, StoreError>,
) -> Result<Head, StoreError> {
    let read = if let Some(rest) = of_version(saved).map_err(StoreError::Snapshot)? {
        whole(rest)
    } else {
        let head: OldHead = whole(saved).map_err(StoreError::Snapshot)?;
        let apart = requests(head.0)?;
        of_older(head, apart.as_deref())
    };
    read.map_err(StoreError::Snapshot)
}

/// Reads what an older program saved.
fn of_older(head: OldHead, requests: Option<&[u8]>) -> Result<Head, String> {
    let (next, catalogue, decisions, totals, prior) = head;
    let requests = requests.map(whole::<(u64, Vec<Request>)>).transpose()?;
    let requests = requests.filter(|(of, _)| *of == next).map_or(vec![], |(_, requests)| requests);
    let decisions = Decisions::restore_older(decisions, requests)?;
    Ok(Head { next, catalogue, decisions, totals, prior, ..Head::default() })
}

impl Engine {
    /// The head of a snapshot, for programs that read small rows or for all.
    pub(super) fn head(&self, is_small: bool) -> Result<Vec<u8>, StoreError> {
        let Self { next, catalogue, decisions, totals, prior, configured, usage, activity, .. } = self;
        let bytes = if is_small {
            let later: Vec<String> = self.history[1..].iter().map(|of| of.to_text()).collect();
            // As `Head`.
            let head = (next, catalogue, decisions.save(), totals, prior, later, configured, usage);
            let rest = (&self.launch, activity, catalogue.worths(), self.has_values);
            postcard::to_extend(&(head, rest), versioned())
        } else {
            postcard::to_allocvec(&(next, catalogue, decisions.save_for_older(), totals, prior))
        };
        let bytes = bytes.map_err(|error| StoreError::Snapshot(error.to_string()))?;
        read_head(&bytes, |_| Ok(None)).map(|_| bytes)
    }
}

impl Base {
    /// The state that the store tells: that of its snapshot, and the events after it. If the
    /// snapshot cannot be read, as [`repeat`](Self::repeat). Fails if the store cannot be read, is
    /// damaged, or was made for other settings.
    pub fn recover(&self) -> Result<Engine, StoreError> {
        let read = self.store.head().and_then(|head| {
            if head.is_none() && self.store.first()? > 0 {
                return Err(StoreError::Snapshot("there is none".into()));
            }
            let swap = self.swap(head.is_some())?;
            self.read(head, swap)
        });
        match read {
            Err(StoreError::Snapshot(what)) => self.repeat(&what),
            outcome => outcome,
        }
    }

    fn swap(&self, has_snapshot: bool) -> Result<Swap, StoreError> {
        let Self { store, directory, .. } = self;
        Swap::new(has_snapshot.then(|| store.clone()), directory)
            .map_err(|error| StoreError::Unavailable(format!("{}: {error}", directory.display())))
    }

    /// The state that the events tell by themselves, since the snapshot cannot be read; once some
    /// were dropped, with the copy of a snapshot that was made before.
    pub fn repeat(&self, fault: &str) -> Result<Engine, StoreError> {
        log("error", "snapshot-unreadable", json!({ "error": fault }));
        let (store, mut swap, mut dropped) = (&self.store, self.swap(false)?, BTreeSet::new());
        let first = store.first()?;
        if first == 0 {
            return self.read(None, swap);
        }
        let head = store.kept_snapshot(&mut |name, state| {
            if state.is_empty() {
                dropped.insert(name);
                return Ok(());
            }
            swap.put(&name, state).map_err(|error| StoreError::Unavailable(format!("the swap file: {error}")))
        });
        let lost = |what: &str| {
            let what =
                format!("the events before number {first} are archived, and no snapshot is whole{what}");
            StoreError::Damaged(what)
        };
        let head = head.map_err(|error| match error {
            StoreError::Damaged(what) | StoreError::Snapshot(what) => lost(&format!(": {what}")),
            other => other,
        })?;
        let mut engine = self.read(Some(head.ok_or_else(|| lost(""))?), swap)?;
        engine.dropped.extend(dropped);
        // The next snapshot has all queries.
        engine.snapshot = 0;
        Ok(engine)
    }

    fn read(&self, saved: Option<Vec<u8>>, swap: Swap) -> Result<Engine, StoreError> {
        let Self { store, template, limits, .. } = self;
        let head = saved.map(|saved| read_head(&saved, |next| store.query(&Name::of_requests(), next)));
        let mut head = head.transpose()?.unwrap_or_default();
        head.catalogue.restore_worths(head.worths);
        let later = head.later.iter().map(|text| Template::of_text(text).map(Arc::new));
        let later: Vec<_> = later.collect::<Result<_, _>>().map_err(StoreError::Snapshot)?;
        let history = [vec![template.clone()], later].concat();
        let said = |error: getrandom::Error| StoreError::Unavailable(error.to_string());
        let mut engine = Engine {
            template: history.last().expect("it has the first one").clone(),
            history,
            configured: head.configured,
            in_memory: limits.queries,
            most: Most {
                queries: limits.all_queries,
                items: limits.items.min(template.most_items()),
                are_known: limits.new_queries == NewQueries::Known,
                made: u64::MAX,
            },
            catalogue: head.catalogue,
            decisions: head.decisions,
            totals: head.totals,
            prior: head.prior,
            next: head.next,
            snapshot: head.next,
            sums: BTreeMap::new(),
            time: 0,
            queries: HashMap::new(),
            by_use: BTreeMap::new(),
            copies: BTreeMap::new(),
            uses: 0,
            user_key: store.once("user-key", &|| {
                let mut key = vec![0; 16];
                getrandom::fill(&mut key).map_err(said)?;
                Ok(key)
            })?,
            // A number that no other server has.
            salt: store.is_shared().then(getrandom::u64).transpose().map_err(said)?,
            swap,
            dropped: BTreeSet::new(),
            usage: head.usage,
            launch: head.launch,
            activity: head.activity,
            has_values: head.has_values,
            oldest_use: 0,
            touched: None,
            later: HashMap::new(),
            n_later: 0,
            unreadable: None,
            is_after_outage: false,
            earned: [0.0; 2],
            repeated: 0,
            early: 0,
            outside: 0,
        };
        if engine.next > 0 && !store.has(engine.next - 1)? {
            let what = format!("it has a snapshot of {} events, and fewer events", engine.next);
            return Err(StoreError::Damaged(what));
        }
        let origin = if store.is_shared() { Origin::Other } else { Origin::Own };
        engine.catch_up(&**store, origin)?;
        Ok(engine)
    }
}
