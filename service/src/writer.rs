//! The one thread that changes anything: it takes what waits, commits it together, and answers.

use crate::api::Refusal;
use crate::archive::{DAY, archive};
use crate::clock::{Clock, now};
use crate::config::{FirstItem, Template, agree};
use crate::engine::{Base, Engine};
use crate::event::{Batch, Change, Event};
use crate::fitted::FirstEvents;
use crate::metrics::{Metrics, log};
use crate::store::StoreError;
use serde_json::json;
use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use tokio::runtime::Handle;
use tokio::sync::oneshot;

/// The most events and the most requests of a commit.
const MOST: usize = 4_096;
/// The part of a commit's time for which the next one may wait for requests.
const PATIENCE: u32 = 4;
/// The time after which events that could not be archived are tried again.
const RETRY: Duration = Duration::from_secs(20);
/// The time between two looks at what is due.
const TICK: Duration = Duration::from_millis(250);

/// The state that a request works with.
#[derive(Debug)]
pub struct Turn<'a> {
    /// The state.
    pub engine: &'a mut Engine,
    /// The events that the request adds to be committed.
    pub events: &'a mut Vec<Event>,
    /// Milliseconds since 1970.
    pub time: u64,
}

impl Turn<'_> {
    /// Begins a new store with items, and with the fit of a log.
    fn begin(&mut self, items: &[FirstItem], fitted: Option<&FirstEvents>) -> Result<(), Refusal> {
        for FirstItem { item, features } in items {
            self.engine.change_item(item, None, Change::Add, features, self.events)?;
        }
        fitted.map_or(Ok(()), |fitted| fitted.begin(self))
    }
}

/// Does the work of a request, and returns what answers it after the commit.
type Job = Box<dyn FnOnce(&mut Turn<'_>) -> Box<dyn FnOnce() + Send> + Send>;

/// The way to the thread.
#[derive(Debug, Clone)]
pub struct Requests(SyncSender<Job>);

impl Requests {
    /// Does work in the thread. The answer comes once all events are durable.
    ///
    /// # Errors
    ///
    /// Too many requests wait, or the store is not available. In the latter case the work may be
    /// done or not; asking again does it once.
    pub async fn ask<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Turn<'_>) -> T + Send + 'static,
    ) -> Result<T, Refusal> {
        let (to, from) = oneshot::channel();
        let job: Job = Box::new(move |turn| {
            let answer = work(turn);
            Box::new(move || _ = to.send(answer))
        });
        self.0.try_send(job).map_err(|_| Refusal::busy())?;
        // A request that could not be committed is dropped.
        from.await.map_err(|_| Refusal::Store(StoreError::Unavailable("no commit".into())))
    }
}

/// The state of the thread.
#[derive(Debug, Clone)]
pub struct Writer {
    /// Its state is made from it.
    pub base: Base,
    /// Counters and timers.
    pub metrics: Arc<Metrics>,
    /// Where requests get their answers.
    pub runtime: Handle,
    /// The directory of archives.
    pub archives: PathBuf,
}

impl Writer {
    /// Recovers the state and starts the thread, which ends once all `Requests` are gone, with a
    /// snapshot.
    ///
    /// # Errors
    ///
    /// The store cannot be read, is damaged or was made for other settings.
    pub fn start(
        mut self,
        items: &[FirstItem],
        fitted: Option<&FirstEvents>,
        apply: bool,
    ) -> Result<(Requests, JoinHandle<()>), StoreError> {
        let start = Instant::now();
        let mut configured = Template::clone(&self.base.template);
        agree(&*self.base.store, Arc::make_mut(&mut self.base.template))?;
        let mut engine = self.base.recover()?;
        let snapshot = engine.snapshot();
        let metrics = &self.metrics;
        metrics.snapshot_event.store(snapshot, Relaxed);
        metrics.first_event.store(self.base.store.first()?, Relaxed);
        metrics.recovery_events.store(engine.next() - snapshot, Relaxed);
        let database = engine.begin_turn(&*self.base.store)?;
        let mut clock = Clock::start(Instant::now(), now(), database, engine.time());
        configured.complete(engine.template());
        let time = clock.turn(Instant::now(), now(), database, engine.time());
        self.configure(&mut engine, (&configured, items, fitted), time, apply)?;
        let time = u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX);
        metrics.recovery_milliseconds.store(time, Relaxed);
        let totals = engine.totals();
        log(
            "info",
            "recovered",
            json!({
                "events": engine.next() - snapshot, "milliseconds": time, "next": engine.next(),
                "differing": totals.differing,
            }),
        );
        // A server that is killed again and again would otherwise repeat more with every start.
        if self.is_far_behind(engine.next() - snapshot) {
            self.save(&mut engine);
        }
        let (sender, jobs) = sync_channel(self.base.limits.waiting);
        let thread =
            thread::Builder::new().name("writer".into()).spawn(move || self.run(engine, clock, &jobs));
        let thread = thread.map_err(|error| StoreError::Unavailable(error.to_string()))?;
        Ok((Requests(sender), thread))
    }

    /// Begins a new store, or compares the configuration with one, which takes it if `apply`.
    fn configure(
        &self,
        engine: &mut Engine,
        (template, items, fitted): (&Template, &[FirstItem], Option<&FirstEvents>),
        time: u64,
        apply: bool,
    ) -> Result<(), StoreError> {
        let (store, first, mut events) = (&*self.base.store, engine.next(), vec![]);
        let mut turn = Turn { engine, events: &mut events, time };
        let differences = turn.engine.differences(store, template, items)?;
        let said = |event: &str, form: usize| {
            differences.lines.iter().for_each(|line| log("info", event, json!({ "what": line[form] })));
        };
        let is_change = apply && !differences.lines.is_empty();
        let changed =
            if is_change { turn.engine.change_settings(&differences, time, turn.events) } else { Ok(()) };
        let outcome = changed.and_then(|()| if first == 0 { turn.begin(items, fitted) } else { Ok(()) });
        if first > 0 {
            fitted.map_or(Ok(()), |fitted| fitted.check(store))?;
        }
        outcome.map_err(|refusal| match refusal {
            Refusal::Store(error) => error,
            Refusal::Client { message, .. } => StoreError::Settings(message),
        })?;
        if !apply {
            said("settings-differ", 1);
        } else if !is_change && first > 0 {
            log("info", "settings-unchanged", json!({ "what": "--apply: the store has these settings" }));
        }
        if events.is_empty() {
            return store.give_up();
        }
        if is_change && !store.has_small_rows() {
            // Older programs cannot read what comes now, and are told so.
            store.make_for(&self.base.template.to_text())?;
        }
        let batch = Batch { time, events };
        store.append(first, &batch)?;
        engine.keep(first, &batch);
        if is_change {
            said("settings-applied", 0);
        }
        Ok(())
    }

    fn run(self, mut engine: Engine, mut clock: Clock, jobs: &Receiver<Job>) {
        let (mut events, mut answers, mut waiting) = (vec![], vec![], VecDeque::new());
        // Requests of the last commit, and its time.
        let mut last = (0, Duration::ZERO);
        let mut uncommitted: Option<(u64, Batch)> = None;
        let mut snapshots =
            Snapshots { thread: None, last: engine.snapshot(), day: 0, begun: Instant::now() };
        let mut looked = Instant::now();
        self.measure(&engine);
        self.metrics.ready.store(1, Relaxed);
        loop {
            clock.tick(Instant::now());
            if waiting.is_empty() && !wait(jobs, &mut waiting) {
                break;
            }
            if let Some((first, batch)) =
                uncommitted.take_if(|(first, batch)| self.commit(*first, batch).is_ok())
            {
                log("info", "store-available", json!({ "first": first, "events": batch.events.len() }));
                self.metrics.ready.store(1, Relaxed);
            }
            if uncommitted.is_some() {
                // The state is ahead of the store: nothing is taken until it has caught up.
                waiting.clear();
                refuse(jobs);
                continue;
            }
            if waiting.is_empty() && looked.elapsed() < TICK {
                continue;
            }
            gather(jobs, &mut waiting, last);
            let time = match self.begin(&mut engine, &mut clock) {
                Ok(time) => time,
                Err(error) => {
                    self.is_unavailable(&error);
                    waiting.clear();
                    refuse(jobs);
                    continue;
                }
            };
            self.metrics.ready.store(1, Relaxed);
            let first = engine.next();
            snapshots.last = snapshots.last.min(first);
            while events.len() < MOST
                && let Some(work) = waiting.pop_front()
            {
                answers.push(work(&mut Turn { engine: &mut engine, events: &mut events, time }));
            }
            if looked.elapsed() >= TICK {
                looked = Instant::now();
                self.tend(&mut engine, &mut events, time, &mut snapshots);
            }
            if !events.is_empty() {
                let batch = Batch { time, events: std::mem::take(&mut events) };
                match self.commit(first, &batch) {
                    Ok(time) => last = (answers.len(), time),
                    Err(error) => {
                        self.is_unavailable(&error);
                        answers.clear();
                        if self.base.store.is_shared() {
                            // Others may have appended: it begins anew with what was committed.
                            engine = self.recovered(&engine, jobs);
                        } else {
                            uncommitted = Some((first, batch));
                        }
                        continue;
                    }
                }
                engine.keep(first, &batch);
                events = batch.events;
                events.clear();
            } else if let Err(error) = self.base.store.give_up() {
                self.is_unavailable(&error);
            }
            self.measure(&engine);
            // In one task: each answer by itself would wake a thread.
            let answers = std::mem::take(&mut answers);
            self.runtime.spawn(async move {
                for answer in answers {
                    answer();
                }
            });
        }
        self.metrics.ready.store(0, Relaxed);
        // Unacknowledged events are lost, and so must be what they changed.
        if uncommitted.is_none() {
            self.save(&mut engine);
        }
    }

    /// Says that requests are not taken, and why.
    fn is_unavailable(&self, error: &StoreError) {
        log("error", "store-unavailable", json!({ "error": error.to_string() }));
        self.metrics.ready.store(0, Relaxed);
    }

    /// Begins a turn; after a fault that the events or the snapshot caused, with a new state.
    fn begin(&self, engine: &mut Engine, clock: &mut Clock) -> Result<u64, StoreError> {
        let mut database = engine.begin_turn(&*self.base.store);
        if let Err(error @ StoreError::OtherHistory(_)) = &database {
            log("error", "other-history", json!({ "error": error.to_string() }));
        }
        let is_behind = |error: &StoreError| {
            matches!(error, StoreError::Behind | StoreError::Damaged(_) | StoreError::OtherHistory(_))
        };
        if database.as_ref().is_err_and(is_behind) || engine.unreadable().is_some() {
            self.metrics.ready.store(0, Relaxed);
            // Other servers do not wait meanwhile.
            _ = self.base.store.give_up();
            *engine = self.anew(engine)?;
            database = engine.begin_turn(&*self.base.store);
        }
        Ok(clock.turn(Instant::now(), now(), database?, engine.time()))
    }

    /// The state that the store tells now. Says what it has lost of the events that another took.
    fn anew(&self, before: &Engine) -> Result<Engine, StoreError> {
        let engine =
            before.unreadable().map_or_else(|| self.base.recover(), |fault| self.base.repeat(fault))?;
        let lost = before.lost(&*self.base.store)?;
        let events = lost.end.saturating_sub(lost.start);
        if events > 0 && engine.next() == 0 {
            let what = format!(
                "all events are lost, the last of which was {}; start a server again to give it its items",
                lost.end - 1
            );
            return Err(StoreError::Damaged(what));
        }
        if events > 0 {
            let (from, to) = (lost.start, lost.end - 1);
            log("error", "events-lost", json!({ "events": events, "first": from, "last": to }));
            self.metrics.events_lost_total.fetch_add(events, Relaxed);
        }
        Ok(engine)
    }

    /// The state that the store tells, once it is available.
    fn recovered(&self, before: &Engine, jobs: &Receiver<Job>) -> Engine {
        loop {
            match self.anew(before) {
                Ok(engine) => return engine,
                Err(error) => self.is_unavailable(&error),
            }
            refuse(jobs);
        }
    }

    /// Closes what is due, and lets a snapshot be made.
    fn tend(&self, engine: &mut Engine, events: &mut Vec<Event>, time: u64, snapshots: &mut Snapshots) {
        let before = time.saturating_sub(engine.template().wait.saturating_mul(1_000));
        if let Err(refusal) = engine.close_before(before, MOST, events) {
            log("error", "cannot-close", json!({ "error": refusal.to_json() }));
        }
        engine.look_at_launch(time, events);
        let days = self.base.limits.query_days.filter(|_| self.base.store.has_small_rows());
        let since = days.and_then(|days| time.checked_sub(days.saturating_mul(86_400_000)));
        if let Some(Err(refusal)) = since.map(|since| engine.forget_unused(since, events)) {
            log("error", "cannot-forget", json!({ "error": refusal.to_json() }));
        }
        let is_due = |last: u64| engine.next().saturating_sub(last) >= self.base.limits.snapshot_events;
        if is_due(snapshots.last)
            && let Ok(Some(last)) = self.base.store.last_snapshot()
        {
            snapshots.last = snapshots.last.max(last);
        }
        let day = self.base.limits.retain_days.map_or(0, |_| time / DAY);
        let is_due = is_due(snapshots.last) || day > snapshots.day;
        let is_again = self.metrics.archive_fault().is_some() && snapshots.begun.elapsed() >= RETRY;
        // Without a snapshot nothing can be dropped.
        let is_due = is_due || is_again && self.metrics.snapshot_event.load(Relaxed) < snapshots.last;
        if (is_due || is_again) && snapshots.thread.as_ref().is_none_or(JoinHandle::is_finished) {
            let is_far_behind = self.is_far_behind(engine.next().saturating_sub(snapshots.last));
            let last = if is_due { engine.next() } else { snapshots.last };
            (snapshots.last, snapshots.day, snapshots.begun) = (last, day, Instant::now());
            let writer = self.clone();
            // Repeats the events on its own: this thread does not wait for it.
            let thread = thread::Builder::new().name("snapshot".into()).spawn(move || {
                // On Linux this is the priority of the thread alone. On busy cores it gets a tenth
                // of one: with 19 it would never end.
                if !is_far_behind {
                    _ = rustix::process::setpriority_process(None, 10);
                }
                match is_due.then(|| writer.base.recover()) {
                    Some(Ok(mut engine)) => writer.save(&mut engine),
                    Some(Err(error)) => log("error", "no-snapshot", json!({ "error": error.to_string() })),
                    None => {}
                }
                writer.archive(time);
            });
            let fault = |error: &std::io::Error| {
                log("error", "no-snapshot", json!({ "error": error.to_string() }));
            };
            snapshots.thread = thread.inspect_err(fault).ok();
        }
    }

    /// Whether snapshots do not keep up with the events: this number of them has none.
    fn is_far_behind(&self, events: u64) -> bool {
        events / 4 >= self.base.limits.snapshot_events
    }

    fn save(&self, engine: &mut Engine) {
        let start = Instant::now();
        match engine.save(&*self.base.store) {
            Ok(()) => {
                let seconds = start.elapsed().as_secs_f64();
                log("info", "snapshot", json!({ "next": engine.next(), "seconds": seconds }));
                self.metrics.snapshot_event.store(engine.next(), Relaxed);
                self.metrics.snapshot_time_seconds.store(now() / 1_000, Relaxed);
            }
            Err(error) => log("error", "no-snapshot", json!({ "error": error.to_string() })),
        }
    }

    /// Archives the days that are over.
    fn archive(&self, time: u64) {
        let days = self.base.limits.retain_days.filter(|_| self.base.store.has_small_rows());
        let Some(days) = days else { return };
        let before = time.saturating_sub(days.saturating_mul(DAY));
        let outcome = archive(&*self.base.store, &self.archives, before);
        match &outcome {
            Ok(first) if self.metrics.first_event.swap(*first, Relaxed) < *first => {
                log("info", "archived", json!({ "first": first }));
            }
            Ok(_) => {}
            Err(error) => {
                log("error", "not-archived", json!({ "error": error }));
                self.metrics.archive_failures_total.fetch_add(1, Relaxed);
            }
        }
        *self.metrics.archive_fault() = outcome.err();
    }

    /// Commits a batch, and returns the time that it took.
    fn commit(&self, first: u64, batch: &Batch) -> Result<Duration, StoreError> {
        let start = Instant::now();
        self.base.store.append(first, batch).inspect_err(|_| {
            self.metrics.commit_failures_total.fetch_add(1, Relaxed);
        })?;
        let time = start.elapsed();
        self.metrics.commits.observe(time.as_secs_f64());
        self.metrics.batches.observe(batch.events.len() as f64);
        Ok(time)
    }

    fn measure(&self, engine: &Engine) {
        let (metrics, totals, [present, retired]) = (&self.metrics, engine.totals(), engine.n_items());
        let [repeated, early, outside] = engine.of_process();
        let [share, today, policy] = engine.launch_counts();
        for (gauge, value) in [
            (&metrics.decisions_total, totals.decided),
            (&metrics.shown_total, totals.shown),
            (&metrics.clicks_total, totals.clicks),
            (&metrics.closed_total, totals.closed),
            (&metrics.queries, totals.queries),
            (&metrics.differing_total, totals.differing),
            (&metrics.closed_early_total, early),
            (&metrics.contexts_outside_total, outside),
            (&metrics.answers_repeated_total, repeated),
            (&metrics.launch_share_millionths, share),
            (&metrics.launch_today_lists_total, today),
            (&metrics.launch_policy_lists_total, policy),
            (&metrics.open_decisions, engine.n_open() as u64),
            (&metrics.items_present, present as u64),
            (&metrics.items_retired, retired as u64),
            (&metrics.queries_in_memory, engine.n_in_memory() as u64),
            (&metrics.next_event, engine.next()),
        ] {
            gauge.store(value, Relaxed);
        }
    }
}

/// Waits for a request, a tick at most. Returns false if there will be none.
fn wait(jobs: &Receiver<Job>, waiting: &mut VecDeque<Job>) -> bool {
    let job = jobs.recv_timeout(TICK);
    let is_over = matches!(job, Err(RecvTimeoutError::Disconnected));
    waiting.extend(job.ok());
    !is_over
}

/// Takes the requests that wait. If they are less than half of those of the last commit, the others
/// are on their way back, and it is cheaper to wait a little than to commit twice.
fn gather(jobs: &Receiver<Job>, waiting: &mut VecDeque<Job>, (requests, commit): (usize, Duration)) {
    let take = |waiting: &mut VecDeque<Job>| waiting.extend(jobs.try_iter().take(MOST - waiting.len()));
    take(waiting);
    if !waiting.is_empty() && waiting.len() * 2 < requests {
        thread::sleep((commit / PATIENCE).min(TICK));
        take(waiting);
    }
}

/// Lets go the requests that wait, and others a little time.
fn refuse(jobs: &Receiver<Job>) {
    thread::sleep(Duration::from_millis(50));
    while let Ok(waiting) = jobs.try_recv() {
        drop(waiting);
    }
}

/// The thread that makes snapshots.
struct Snapshots {
    thread: Option<JoinHandle<()>>,
    /// The number of the next event when the last one began.
    last: u64,
    /// The day when it began, if events are archived.
    day: u64,
    begun: Instant,
}
