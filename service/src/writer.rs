//! The one thread that changes anything: it takes what waits, commits it together, and answers.

use crate::api::Refusal;
use crate::archive::{DAY, drop_days, write_days};
use crate::clock::{Clock, now};
use crate::config::{FirstItem, Template, agree};
use crate::engine::{Base, Deferred, Engine, Known};
use crate::event::{Batch, Change, Event};
use crate::fitted::FirstEvents;
use crate::metrics::{Metrics, log};
use crate::stand_in::{Queue, Shared, State};
use crate::store::{Journal, StoreError};
use serde_json::json;
use std::ops::ControlFlow;
use std::panic::{self, AssertUnwindSafe};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use tokio::runtime::Handle;
use tokio::sync::{Notify, oneshot};

/// The most events and the most requests of a commit.
pub(crate) const MOST: usize = 4_096;
/// The part of a commit's time for which the next one may wait for requests.
const PATIENCE: u32 = 4;
/// The time after which events that could not be archived are tried again.
const RETRY: Duration = Duration::from_secs(20);
/// The time between two looks at what is due.
const TICK: Duration = Duration::from_millis(250);
/// The time for which others wait while requests are done, in a shared store.
pub(crate) const SHARE: Duration = Duration::from_millis(250);
/// The time after which a request is told that it may not be done: the store may say nothing.
pub(crate) const LONGEST: Duration = Duration::from_secs(30);
/// The time after an outage in which other servers may still have to record theirs.
const AFTERMATH: Duration = Duration::from_secs(10);
/// The events of other servers that are taken while others wait.
const OTHERS: usize = 10_000;

/// The state that a request works with.
#[derive(Debug)]
pub struct Turn<'a> {
    /// The state.
    pub engine: &'a mut Engine,
    /// The events that the request adds to be committed.
    pub events: &'a mut Vec<Event>,
    /// Milliseconds since 1970.
    pub time: u64,
    /// The events that wait for the store, if it does not answer: then only what is in memory is
    /// known, and no event is added.
    pub deferred: Option<&'a mut Deferred>,
}

impl Turn<'_> {
    /// Refuses what cannot be done without the store.
    pub(crate) fn needs_store(&self) -> Result<(), Refusal> {
        if self.deferred.is_some() { Err(Refusal::not_in_memory()) } else { Ok(()) }
    }

    /// Begins a new store with items, and with the fit of a log.
    fn begin(&mut self, items: &[FirstItem], fitted: Option<&FirstEvents>) -> Result<(), Refusal> {
        for first in items {
            self.engine.take_item(first, None, Some(Change::Add), self.events)?;
        }
        fitted.map_or(Ok(()), |fitted| fitted.begin(self))
    }
}

/// Answers a request after the commit.
pub(crate) type Answer = Box<dyn FnOnce() + Send>;

/// A request.
pub(crate) struct Job {
    /// Does the work, and returns what answers it.
    pub(crate) work: Box<dyn FnOnce(&mut Turn<'_>) -> Answer + Send>,
    /// Whether it can be done without the store.
    pub(crate) may_defer: bool,
}

/// Sends answers, all in one task.
pub(crate) async fn answer_all(answers: Vec<Answer>) {
    for answer in answers {
        answer();
    }
}

/// The way to the thread.
#[derive(Debug, Clone)]
pub struct Requests {
    jobs: SyncSender<Job>,
    /// Whether lists are given without the store.
    pub(crate) may_defer: bool,
}

impl Requests {
    /// Does work in the thread. The answer comes once all events are durable. Fails if too many
    /// requests wait, or the store is not available: then the work may be done or not, and asking
    /// again does it once.
    pub async fn ask<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Turn<'_>) -> T + Send + 'static,
    ) -> Result<T, Refusal> {
        self.once(work, false).await
    }

    /// As [`ask`](Self::ask), for work that can be done without the store: see
    /// [`Turn::deferred`].
    pub async fn ask_always<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Turn<'_>) -> T + Clone + Send + 'static,
    ) -> Result<T, Refusal> {
        let tries = async {
            if self.may_defer
                && let Ok(answer) = self.once(work.clone(), true).await
            {
                return Ok(answer);
            }
            // A commit that was waited for too long was left alone.
            self.once(work, true).await
        };
        tokio::time::timeout(LONGEST, tries).await.unwrap_or_else(|_| Err(no_commit()))
    }

    async fn once<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Turn<'_>) -> T + Send + 'static,
        may_defer: bool,
    ) -> Result<T, Refusal> {
        let (to, from) = oneshot::channel();
        let work = Box::new(move |turn: &mut Turn<'_>| {
            let answer = work(turn);
            Box::new(move || _ = to.send(answer)) as Answer
        });
        self.jobs.try_send(Job { work, may_defer }).map_err(|_| Refusal::busy())?;
        // A request that could not be committed is dropped; a store may also say nothing.
        match tokio::time::timeout(LONGEST, from).await {
            Ok(Ok(answer)) => Ok(answer),
            _ => Err(no_commit()),
        }
    }
}

fn no_commit() -> Refusal {
    Refusal::Store(StoreError::Unavailable("no commit".into()))
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
    /// Whether lists are given while the store does not answer.
    pub serves_always: bool,
}

/// The conditions of a start.
#[derive(Debug)]
pub struct Conditions {
    /// Items of a new store.
    pub items: Vec<FirstItem>,
    /// The fit of a log for a new store.
    pub fitted: Option<FirstEvents>,
    /// Why a new store cannot begin, if it cannot.
    pub incomplete: Option<String>,
    /// Whether the settings of the configuration hold from now on.
    pub apply: bool,
}

impl Writer {
    /// Starts the thread, which recovers the state, and ends once all `Requests` are gone, with a
    /// snapshot. It fails if the store cannot be read, is damaged or was made for other settings. A
    /// database that is not there is waited for. `told` is notified once it takes requests, or
    /// waits.
    pub fn start(
        self,
        begin: Conditions,
        journal: Option<Journal>,
        told: Arc<Notify>,
    ) -> Result<(Requests, JoinHandle<Result<(), StoreError>>), StoreError> {
        let (sender, jobs) = sync_channel(self.base.limits.waiting);
        let requests = Requests { jobs: sender, may_defer: self.serves_always };
        let work = move || self.work(&begin, journal, jobs, &told);
        let thread = thread::Builder::new().name("writer".into()).spawn(work);
        thread.map(|thread| (requests, thread)).map_err(|error| StoreError::Unavailable(error.to_string()))
    }

    fn work(
        mut self,
        begin: &Conditions,
        journal: Option<Journal>,
        jobs: Receiver<Job>,
        told: &Notify,
    ) -> Result<(), StoreError> {
        let waiting = journal.as_ref().map_or_else(|| Ok(vec![]), Journal::read)?;
        let template = self.base.template.clone();
        let (engine, clock) = loop {
            self.base.template = template.clone();
            self.metrics.waits(self.base.store.is_shared());
            match self.recover(begin) {
                Err(error @ StoreError::Unavailable(_)) if self.base.store.is_shared() => {
                    self.is_unavailable(&error);
                    told.notify_one();
                    if !refuse(&jobs) {
                        return Ok(());
                    }
                }
                recovered => break recovered?,
            }
        };
        self.metrics.waits(false);
        let shared = Shared::new(engine, jobs, (journal, Deferred::of_journal(waiting)));
        thread::scope(|scope| {
            if let Some(journal) = shared.journal.as_ref().filter(|_| self.serves_always) {
                scope.spawn(|| shared.stand_in(journal, &self.metrics, &self.runtime));
            }
            told.notify_one();
            let outcome = panic::catch_unwind(AssertUnwindSafe(|| self.run(&shared, clock)));
            shared.ends();
            outcome.unwrap_or_else(|panic| panic::resume_unwind(panic));
        });
        Ok(())
    }

    fn recover(&mut self, begin: &Conditions) -> Result<(Engine, Clock), StoreError> {
        let start = Instant::now();
        let mut configured = Template::clone(&self.base.template);
        self.base.store.prepare()?;
        if let (None, Some(incomplete)) = (self.base.store.settings()?, &begin.incomplete) {
            return Err(StoreError::Settings(incomplete.clone()));
        }
        agree(&*self.base.store, Arc::make_mut(&mut self.base.template))?;
        // It has spoken, and is read from here on.
        self.metrics.waits(false);
        let mut engine = self.base.recover()?;
        let snapshot = engine.snapshot;
        let metrics = &self.metrics;
        metrics.snapshot_event.store(snapshot, Relaxed);
        metrics.first_event.store(self.base.store.first()?, Relaxed);
        metrics.recovery_events.store(engine.next - snapshot, Relaxed);
        let database = self.begin_turn(|work| work(&mut engine))?;
        let mut clock = Clock::start(Instant::now(), now(), database, engine.time);
        configured.complete(&engine.template);
        let time = clock.turn(Instant::now(), now(), database, engine.time);
        self.configure(&mut engine, (&configured, begin), time)?;
        let time = u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX);
        metrics.recovery_milliseconds.store(time, Relaxed);
        let totals = engine.totals;
        log(
            "info",
            "recovered",
            json!({
                "events": engine.next - snapshot, "milliseconds": time, "next": engine.next,
                "differing": totals.differing,
            }),
        );
        // A server that is killed again and again would otherwise repeat more with every start.
        if self.is_far_behind(engine.next - snapshot) {
            self.save(&mut engine);
            self.put_by();
        }
        Ok((engine, clock))
    }

    /// Begins a turn with the events of the other servers, which do not wait while many are taken.
    /// Works with the state in between: not while it waits for the store. Returns the time by which
    /// all servers go, if there are several.
    fn begin_turn(
        &self,
        mut with: impl FnMut(&mut dyn FnMut(&mut Engine)),
    ) -> Result<Option<u64>, StoreError> {
        loop {
            let (mut place, mut batches, mut outcome, mut waited) = ((0, None), vec![], Ok(()), None);
            with(&mut |engine| place = engine.place());
            let time = self.base.store.begin(place.0, place.1, &mut |first, batch| {
                waited.get_or_insert(batch.time);
                batches.push((first, batch));
                if batches.len() < OTHERS { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            })?;
            self.metrics.hears();
            let is_all = batches.len() < OTHERS;
            let lag = time.zip(waited).map_or(0, |(time, of)| time.saturating_sub(of));
            self.metrics.lag_milliseconds.store(lag, Relaxed);
            if !is_all {
                self.base.store.give_up()?;
            }
            with(&mut |engine| outcome = engine.take_others(std::mem::take(&mut batches)));
            self.metrics.hears();
            outcome?;
            if is_all {
                return Ok(time);
            }
        }
    }

    /// Begins a new store, or compares the configuration with one, which takes it if `apply`.
    fn configure(
        &self,
        engine: &mut Engine,
        (template, begin): (&Template, &Conditions),
        time: u64,
    ) -> Result<(), StoreError> {
        let (items, fitted, apply) = (&*begin.items, begin.fitted.as_ref(), begin.apply);
        let (store, first, mut events) = (&*self.base.store, engine.next, vec![]);
        let mut turn = Turn { engine, events: &mut events, time, deferred: None };
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

    fn run(&self, shared: &Shared, mut clock: Clock) {
        // Requests of the last commit, and its time.
        let mut last = (0, Duration::ZERO);
        let mut uncommitted: Option<(u64, Arc<Batch>)> = None;
        let (last_snapshot, begun) = (shared.state().engine.snapshot, Instant::now());
        let mut snapshots = Snapshots { thread: None, last: last_snapshot, day: 0, begun, outage: None };
        let mut looked = Instant::now();
        self.measure(&shared.state());
        self.metrics.is_available();
        loop {
            clock.tick(Instant::now());
            if !shared.queue().wait(TICK) {
                break;
            }
            if let Some((first, batch)) =
                uncommitted.take_if(|(first, batch)| self.commit(*first, batch).is_ok())
            {
                log("info", "store-available", json!({ "first": first, "events": batch.events.len() }));
                self.metrics.is_available();
            }
            if uncommitted.is_some() {
                // The state is ahead of the store: nothing is taken until it has caught up.
                self.refuse(shared);
                continue;
            }
            let is_idle = shared.queue().waiting.is_empty() && shared.state().deferred.n_waiting() == 0;
            if is_idle && looked.elapsed() < TICK {
                continue;
            }
            gather(&mut shared.queue(), last);
            self.metrics.waits(true);
            let time = match self.begin(shared, &mut clock) {
                Ok(time) => time,
                Err(error) => {
                    self.is_unavailable(&error);
                    snapshots.outage = self.serves_always.then(Instant::now);
                    self.refuse(shared);
                    continue;
                }
            };
            self.metrics.is_available();
            let (first, batch) = self.work_in_turn(shared, time, &mut looked, &mut snapshots);
            if batch.events.is_empty() {
                if let Err(error) = self.base.store.give_up() {
                    self.is_unavailable(&error);
                }
            } else {
                self.metrics.waits(true);
                match self.commit(first, &batch) {
                    Ok(time) => last = (shared.state().answers.len(), time),
                    Err(error) => {
                        self.is_unavailable(&error);
                        shared.state().fail(&batch);
                        if self.base.store.is_shared() {
                            // Others may have appended: it begins anew with what was committed.
                            self.refuse(shared);
                            let Some(engine) = self.recovered(shared) else { return };
                            shared.state().engine = engine;
                            shared.state().deferred.trust();
                        } else {
                            uncommitted = Some((first, batch));
                        }
                        continue;
                    }
                }
            }
            let mut state = shared.state();
            state.engine.keep(first, &batch);
            state.uncertain = None;
            state.deferred.trust();
            if state.deferred.settle(true)
                && let Some(Err(error)) = shared.journal.as_ref().map(Journal::clear)
            {
                log("error", "not-cleared", json!({ "error": error.to_string() }));
            }
            if state.deferred.is_taken() {
                self.metrics.waits(false);
            }
            self.measure(&state);
            // In one task: each answer by itself would wake a thread.
            let answers = std::mem::take(&mut state.answers);
            self.runtime.spawn(answer_all(answers));
        }
        self.metrics.ready.store(0, Relaxed);
        // Unacknowledged events are lost, and so must be what they changed.
        if uncommitted.is_none() {
            self.save(&mut shared.state().engine);
            self.put_by();
        }
    }

    /// Records what waited for the store, and does the work of the requests once that is all.
    fn work_in_turn(
        &self,
        shared: &Shared,
        time: u64,
        looked: &mut Instant,
        snapshots: &mut Snapshots,
    ) -> (u64, Arc<Batch>) {
        let mut state = shared.state();
        let State { engine, deferred, uncertain, answers } = &mut *state;
        let (first, mut events, start) = (engine.next, vec![], Instant::now());
        // A week that is over has no later lists.
        engine.look_at_launch(time, &mut events);
        if deferred.n_waiting() > 0 {
            snapshots.outage = Some(start);
        }
        let is_after_outage = snapshots.outage.is_some_and(|last| last.elapsed() < AFTERMATH);
        engine.begin_at(time, is_after_outage);
        snapshots.last = snapshots.last.min(first);
        if let Err(refusal) = engine.record(deferred, time, MOST, &mut events) {
            log("error", "not-recorded", json!({ "error": refusal.to_json() }));
        }
        // Until then, requests may name what waits.
        while deferred.is_taken()
            && events.len() < MOST
            && (start.elapsed() < SHARE || !self.base.store.is_shared())
            && let Some(job) = shared.queue().waiting.pop_front()
        {
            let turn = &mut Turn { engine, events: &mut events, time, deferred: None };
            answers.push((job.work)(turn));
        }
        if looked.elapsed() >= TICK {
            *looked = Instant::now();
            self.tend(engine, &mut events, time, snapshots);
        }
        let batch = Arc::new(Batch { time, events });
        *uncertain = (!batch.events.is_empty()).then(|| batch.clone());
        if deferred.is_taken() {
            self.metrics.waits(false);
        }
        (first, batch)
    }

    /// Lets go the requests that wait, unless lists are given without the store, and waits a
    /// little.
    fn refuse(&self, shared: &Shared) {
        if self.serves_always {
            self.metrics.fails();
            thread::sleep(TICK);
        } else {
            let mut queue = shared.queue();
            queue.waiting.clear();
            refuse(&queue.jobs);
        }
    }

    fn is_unavailable(&self, error: &StoreError) {
        self.metrics.is_unavailable(error, self.serves_always);
    }

    /// Begins a turn; after a fault that the events or the snapshot caused, with a new state.
    fn begin(&self, shared: &Shared, clock: &mut Clock) -> Result<u64, StoreError> {
        let begin = || self.begin_turn(|work| work(&mut shared.state().engine));
        let mut database = begin();
        if let Err(error @ StoreError::OtherHistory(_)) = &database {
            log("error", "other-history", json!({ "error": error.to_string() }));
        }
        let is_behind = |error: &StoreError| {
            matches!(error, StoreError::Behind | StoreError::Damaged(_) | StoreError::OtherHistory(_))
        };
        if database.as_ref().is_err_and(is_behind) || shared.state().engine.unreadable.is_some() {
            self.metrics.ready.store(u64::from(self.serves_always), Relaxed);
            // Other servers do not wait meanwhile.
            _ = self.base.store.give_up();
            let known = shared.state().engine.known();
            let engine = self.anew(&known)?;
            shared.state().engine = engine;
            database = begin();
        }
        Ok(clock.turn(Instant::now(), now(), database?, shared.state().engine.time))
    }

    /// The state that the store tells now. Says what it has lost of the events that another took.
    fn anew(&self, before: &Known) -> Result<Engine, StoreError> {
        let unreadable = before.unreadable.as_ref();
        let engine = unreadable.map_or_else(|| self.base.recover(), |fault| self.base.repeat(fault))?;
        let lost = before.lost(&*self.base.store)?;
        let events = lost.end.saturating_sub(lost.start);
        if events > 0 && engine.next == 0 {
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

    /// The state that the store tells, once it is available; `None` if nobody asks any more.
    fn recovered(&self, shared: &Shared) -> Option<Engine> {
        let known = shared.state().engine.known();
        loop {
            match self.anew(&known) {
                Ok(engine) => return Some(engine),
                Err(error) => self.is_unavailable(&error),
            }
            self.refuse(shared);
            if !shared.queue().wait(Duration::ZERO) {
                return None;
            }
        }
    }

    /// Closes what is due, and lets a snapshot be made.
    fn tend(&self, engine: &mut Engine, events: &mut Vec<Event>, time: u64, snapshots: &mut Snapshots) {
        let before = time.saturating_sub(engine.template.wait.saturating_mul(1_000));
        if let Err(refusal) = engine.close_before(before, MOST, events) {
            log("error", "cannot-close", json!({ "error": refusal.to_json() }));
        }
        let days = self.base.limits.query_days.filter(|_| self.base.store.has_small_rows());
        let since = days.and_then(|days| time.checked_sub(days.saturating_mul(DAY)));
        if let Some(Err(refusal)) = since.map(|since| engine.forget_unused(since, events)) {
            log("error", "cannot-forget", json!({ "error": refusal.to_json() }));
        }
        let is_due = |last: u64| engine.next.saturating_sub(last) >= self.base.limits.snapshot_events;
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
            let is_far_behind = self.is_far_behind(engine.next.saturating_sub(snapshots.last));
            let last = if is_due { engine.next } else { snapshots.last };
            (snapshots.last, snapshots.day, snapshots.begun) = (last, day, Instant::now());
            let writer = self.clone();
            // Repeats the events on its own: this thread does not wait for it.
            let thread = thread::Builder::new().name("snapshot".into()).spawn(move || {
                let is_nice = !is_far_behind;
                if is_due {
                    aside(is_nice, || match writer.base.recover() {
                        Ok(mut engine) => writer.save(&mut engine),
                        Err(error) => log("error", "no-snapshot", json!({ "error": error.to_string() })),
                    });
                    // It takes the file from the writer, and must not be kept waiting meanwhile.
                    writer.put_by();
                }
                writer.archive(time, is_nice);
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
                log("info", "snapshot", json!({ "next": engine.next, "seconds": seconds }));
                self.metrics.snapshot_event.store(engine.next, Relaxed);
                self.metrics.snapshot_time_seconds.store(now() / 1_000, Relaxed);
            }
            Err(error) => log("error", "no-snapshot", json!({ "error": error.to_string() })),
        }
    }

    fn put_by(&self) {
        if let Err(error) = self.base.store.put_by() {
            log("error", "not-put-by", json!({ "error": error.to_string() }));
        }
    }

    /// Archives the days that are over.
    fn archive(&self, time: u64, is_nice: bool) {
        let days = self.base.limits.retain_days.filter(|_| self.base.store.has_small_rows());
        let Some(days) = days else { return };
        let before = time.saturating_sub(days.saturating_mul(DAY));
        let store = &*self.base.store;
        let written = aside(is_nice, || write_days(store, &self.archives, before));
        let outcome = written.and_then(|written| drop_days(store, &written));
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

    fn measure(&self, State { engine, deferred, .. }: &State) {
        let (metrics, totals, [present, retired]) = (&self.metrics, engine.totals, engine.n_items());
        let Engine { repeated, early, outside, .. } = *engine;
        *crate::lock(&metrics.earned) = engine.has_values().then_some(engine.earned);
        let [share, today, policy] = engine.launch_counts();
        for (gauge, value) in [
            (&metrics.decisions_total, totals.decided),
            (&metrics.shown_total, totals.shown),
            (&metrics.clicks_total, totals.clicks),
            (&metrics.closed_total, totals.closed),
            (&metrics.queries, totals.queries),
            (&metrics.differing_total, totals.differing),
            (&metrics.closed_early_total, early as u64),
            (&metrics.contexts_outside_total, outside),
            (&metrics.answers_repeated_total, repeated),
            (&metrics.launch_share_millionths, share),
            (&metrics.launch_today_lists_total, today),
            (&metrics.launch_policy_lists_total, policy),
            (&metrics.open_decisions, engine.n_open() as u64),
            (&metrics.items_present, present as u64),
            (&metrics.items_retired, retired as u64),
            (&metrics.queries_in_memory, engine.n_in_memory() as u64),
            (&metrics.next_event, engine.next),
            (&metrics.deferred_events, deferred.n_waiting() as u64),
            (&metrics.conflicting_total, deferred.conflicting),
        ] {
            gauge.store(value, Relaxed);
        }
    }
}

/// Does work in a thread of low priority.
fn aside<T: Send>(is_nice: bool, work: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| {
        let thread = scope.spawn(|| {
            // On Linux this is the priority of the thread alone. On busy cores it gets a tenth of
            // one: with 19 it would never end.
            if is_nice {
                _ = rustix::process::setpriority_process(None, 10);
            }
            work()
        });
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// Takes the requests that wait. If they are less than half of those of the last commit, the others
/// are on their way back, and it is cheaper to wait a little than to commit twice.
fn gather(queue: &mut Queue, (requests, commit): (usize, Duration)) {
    queue.gather();
    if !queue.waiting.is_empty() && queue.waiting.len() * 2 < requests {
        thread::sleep((commit / PATIENCE).min(TICK));
        queue.gather();
    }
}

/// Lets go the requests that wait, and others a little time. Returns false if there will be none.
fn refuse(jobs: &Receiver<Job>) -> bool {
    thread::sleep(Duration::from_millis(50));
    loop {
        match jobs.try_recv() {
            Ok(job) => drop(job),
            Err(end) => return end == TryRecvError::Empty,
        }
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
    /// When lists were last given without the store.
    outage: Option<Instant>,
}
