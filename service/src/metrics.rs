//! Counts and times for Prometheus, and lines of the log.

use crate::clock::now;
use crate::lock;
use crate::store::StoreError;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::{Display, Write as _};
use std::io::{Write as _, stderr};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// Writes a line to standard error: an object with `time`, `level` and `event`, and these fields.
pub fn log(level: &str, event: &str, fields: Value) {
    let mut line = json!({ "time": now(), "level": level, "event": event });
    if let (Value::Object(line), Value::Object(fields)) = (&mut line, fields) {
        line.extend(fields);
    }
    // Who reads the log may be gone.
    _ = writeln!(stderr(), "{line}");
}

/// The time after which a store that says nothing is one that fails.
const SILENT: Duration = Duration::from_secs(3);

/// Numbers of observations up to each bound, and their sum in millionths.
#[derive(Debug)]
pub struct Histogram {
    bounds: &'static [f64],
    counts: Vec<AtomicU64>,
    sum: AtomicU64,
}

const SECONDS: &[f64] =
    &[0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0];
const SIZES: &[f64] = &[1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1_000.0, 5_000.0];

impl Histogram {
    fn new(bounds: &'static [f64]) -> Self {
        Self {
            bounds,
            counts: bounds.iter().map(|_| AtomicU64::new(0)).chain([AtomicU64::new(0)]).collect(),
            sum: AtomicU64::new(0),
        }
    }

    /// Takes an observation.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "sizes and seconds")]
    pub fn observe(&self, value: f64) {
        let place = self.bounds.partition_point(|&bound| bound < value);
        self.counts[place].fetch_add(1, Relaxed);
        self.sum.fetch_add((value * 1e6) as u64, Relaxed);
    }

    fn write(&self, text: &mut String, name: &str, help: &str) {
        _ = write!(text, "# HELP {name} {help}\n# TYPE {name} histogram\n");
        let mut all = 0;
        for (count, bound) in
            self.counts.iter().zip(self.bounds.iter().map(f64::to_string).chain(["+Inf".into()]))
        {
            all += count.load(Relaxed);
            _ = writeln!(text, "{name}_bucket{{le=\"{bound}\"}} {all}");
        }
        _ = write!(text, "{name}_sum {}\n{name}_count {all}\n", self.sum.load(Relaxed) as f64 / 1e6);
    }
}

macro_rules! numbers {
    ($($name:ident: $kind:literal $help:literal,)+) => {
        /// Counters and timers.
        #[derive(Debug)]
        pub struct Metrics {
            $(#[doc = $help] pub $name: AtomicU64,)+
            /// Times of commits.
            pub commits: Histogram,
            /// Events of a commit.
            pub batches: Histogram,
            /// Times of requests.
            pub requests: Histogram,
            /// By how much values of answers have grown and shrunk, if there are values.
            pub earned: Mutex<Option<[f64; 2]>>,
            /// Why the store fails, while it does.
            fault: Mutex<Option<StoreError>>,
            /// Since when the writer waits for the store.
            waits: Mutex<Option<Instant>>,
            /// Requests by route and status.
            by_route: Mutex<BTreeMap<(&'static str, u16), u64>>,
            /// Why events could not be archived, the last time.
            archive_fault: Mutex<Option<String>>,
            /// Entries of requests by what was asked for and the outcome.
            outcomes: Mutex<BTreeMap<(&'static str, &'static str), u64>>,
        }

        impl Default for Metrics {
            fn default() -> Self {
                Self {
                    $($name: AtomicU64::new(0),)+
                    commits: Histogram::new(SECONDS),
                    batches: Histogram::new(SIZES),
                    requests: Histogram::new(SECONDS),
                    earned: Mutex::default(),
                    fault: Mutex::default(),
                    waits: Mutex::default(),
                    by_route: Mutex::default(),
                    archive_fault: Mutex::default(),
                    outcomes: Mutex::default(),
                }
            }
        }

        impl Metrics {
            fn write_numbers(&self, text: &mut String) {
                $(
                    let found = self.$name.load(Relaxed);
                    // Without a snapshot there is no time of one: 0 would be the year 1970.
                    if found > 0 || stringify!($name) != "snapshot_time_seconds" {
                        number(text, stringify!($name), $kind, $help, found);
                    }
                )+
            }
        }
    };
}

fn number(text: &mut String, name: &str, kind: &str, help: &str, value: impl Display) {
    _ = write!(
        text,
        "# HELP clickbandits_{name} {help}\n# TYPE clickbandits_{name} {kind}\nclickbandits_{name} {value}\n"
    );
}

fn counter(text: &mut String, name: &str, help: &str) {
    let name = format!("clickbandits_{name}_total");
    _ = write!(text, "# HELP {name} {help}\n# TYPE {name} counter\n");
}

numbers! {
    ready: "gauge" "1 if requests are taken",
    decisions_total: "counter" "lists that policies chose, since the store was new",
    shown_total: "counter" "lists that were shown without asking, since the store was new",
    clicks_total: "counter" "clicks, since the store was new",
    closed_total: "counter" "decisions that were closed, since the store was new",
    closed_early_total: "counter" "decisions that were closed before `wait` was over, as they exceeded `keep`",
    contexts_outside_total: "counter" "decisions with a segment or features that the log did not have",
    answers_repeated_total: "counter" "answers of which all was known",
    open_decisions: "gauge" "decisions that can be answered",
    items_present: "gauge" "items of all queries that may be shown",
    items_retired: "gauge" "items of all queries that are retired",
    queries: "gauge" "queries that were used",
    queries_in_memory: "gauge" "queries in memory",
    differing_total: "counter" "decisions repeated with another list than would be chosen now",
    commit_failures_total: "counter" "commits that failed",
    next_event: "gauge" "number of the next event",
    first_event: "gauge" "number of the first event that is not archived",
    archive_failures_total: "counter" "times that events could not be archived",
    snapshot_event: "gauge" "number of the first event after the last snapshot",
    snapshot_time_seconds: "gauge" "when the last snapshot was made, in seconds since 1970",
    events_lost_total: "counter" "events that the database lost after this server had taken them",
    launch_share_millionths: "gauge" "share of users on the policy's side of the launch",
    launch_policy_lists_total: "counter" "compared lists of the policy, since the launch began",
    launch_today_lists_total: "counter" "compared lists of today's ranking, since the launch began",
    lag_milliseconds: "gauge" "age of the oldest event of other servers that was taken last",
    store_bytes: "gauge" "size of the store, when it was last looked at",
    without_store: "gauge" "1 while the store fails",
    deferred_total: "counter" "events that waited for the store, since the start",
    deferred_events: "gauge" "events that wait for the store",
    conflicting_total: "counter" "events that waited and were dropped, as the store had another list",
    recovery_milliseconds: "gauge" "time of the recovery at the start",
    recovery_events: "gauge" "events that were repeated at the start",
}

impl Metrics {
    /// Why events could not be archived, if they could not the last time.
    pub fn archive_fault(&self) -> MutexGuard<'_, Option<String>> {
        lock(&self.archive_fault)
    }

    /// Notes a request.
    pub fn request(&self, route: &'static str, status: u16, time: Duration) {
        self.requests.observe(time.as_secs_f64());
        *lock(&self.by_route).entry((route, status)).or_default() += 1;
    }

    /// Notes the outcome of a request, or of an entry of a batch.
    pub fn outcome(&self, of: &'static str, outcome: &'static str) {
        *lock(&self.outcomes).entry((of, outcome)).or_default() += 1;
    }

    /// Notes why the store fails, if it does. Returns whether that is new.
    fn set_fault(&self, fault: Option<&StoreError>) -> bool {
        let mut known = lock(&self.fault);
        let is_new = known.as_ref().map(ToString::to_string) != fault.map(ToString::to_string);
        *known = fault.cloned();
        is_new
    }

    /// Notes that the writer waits for the store, or no longer.
    pub fn waits(&self, is_waiting: bool) {
        let mut since = lock(&self.waits);
        *since = if is_waiting { since.or_else(|| Some(Instant::now())) } else { None };
    }

    /// Notes that the store has failed: nobody waits for it.
    pub fn fails(&self) {
        *lock(&self.waits) = Instant::now().checked_sub(SILENT);
    }

    /// Whether the writer has waited for the store for this time.
    pub fn has_waited(&self, time: Duration) -> bool {
        lock(&self.waits).is_some_and(|since| since.elapsed() >= time)
    }

    /// Notes a store that says nothing, not even that it fails: its machine may be frozen.
    pub fn look_at_store(&self, serves_always: bool) {
        if self.fault().is_none() && self.has_waited(SILENT) {
            self.is_unavailable(&StoreError::Unavailable("it says nothing".into()), serves_always);
        }
    }

    /// Says that the store fails, and why. Who gives lists without it still takes requests.
    pub fn is_unavailable(&self, error: &StoreError, serves_always: bool) {
        if self.set_fault(Some(error)) {
            log("error", "store-unavailable", json!({ "error": error.to_string() }));
        }
        self.ready.fetch_and(u64::from(serves_always), Relaxed);
        self.without_store.store(1, Relaxed);
    }

    /// Notes that the store has said something, though the writer may have to wait again.
    pub fn hears(&self) {
        let (mut since, lately) = (lock(&self.waits), Instant::now().checked_sub(SILENT / 3));
        *since = since.map(|since| lately.map_or(since, |lately| since.max(lately)));
    }

    /// Says that requests are taken.
    pub fn is_available(&self) {
        self.hears();
        self.ready.store(1, Relaxed);
        self.without_store.store(0, Relaxed);
        self.set_fault(None);
    }

    /// Why the store fails, in words that tell nothing of its internals.
    pub fn fault(&self) -> Option<&'static str> {
        let fault = lock(&self.fault);
        fault.as_ref().map(|fault| match fault {
            StoreError::Unavailable(_) => "the store does not answer, or has no room",
            _ => "the store cannot be read",
        })
    }

    /// The text that Prometheus reads.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        self.write_numbers(&mut text);
        if let Some([gained, lost]) = *lock(&self.earned) {
            let gains = "value of clicks that answers have told, since the start";
            number(&mut text, "value_gained_total", "counter", gains, gained);
            let losses = "value that later answers have taken back, since the start";
            number(&mut text, "value_lost_total", "counter", losses, lost);
        }
        self.commits.write(&mut text, "clickbandits_commit_seconds", "times of commits");
        self.batches.write(&mut text, "clickbandits_batch_events", "events of a commit");
        self.requests.write(&mut text, "clickbandits_request_seconds", "times of requests");
        counter(&mut text, "outcomes", "outcomes of requests and of entries of batches");
        for ((of, outcome), count) in &*lock(&self.outcomes) {
            _ = writeln!(text, "clickbandits_outcomes_total{{of=\"{of}\",outcome=\"{outcome}\"}} {count}");
        }
        counter(&mut text, "requests", "requests");
        for ((route, of), count) in &*lock(&self.by_route) {
            _ = writeln!(text, "clickbandits_requests_total{{route=\"{route}\",status=\"{of}\"}} {count}");
        }
        text
    }
}
