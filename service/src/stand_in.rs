//! Lists while the store does not answer: another thread gives them in the place of the writer,
//! from memory, and keeps in a journal what it acknowledges.

use crate::engine::{Deferred, Engine};
use crate::event::Batch;
use crate::lock;
use crate::metrics::{Metrics, log};
use crate::store::Journal;
use crate::writer::{Answer, Job, MOST, Turn, answer_all};
use serde_json::json;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;
use std::time::Duration;
use tokio::runtime::Handle;

/// How long the store may keep requests waiting.
const PATIENCE: Duration = Duration::from_millis(100);
/// The time between two looks at the writer.
const GLANCE: Duration = Duration::from_millis(20);

/// The state, which one thread works with at a time.
pub(crate) struct State {
    pub(crate) engine: Engine,
    pub(crate) deferred: Deferred,
    /// A commit of which it is not known whether it is kept, and the answers that wait for it.
    pub(crate) uncertain: Option<Arc<Batch>>,
    pub(crate) answers: Vec<Answer>,
}

impl State {
    /// Notes that it is not known whether a commit was kept: who waits for it asks again.
    pub(crate) fn fail(&mut self, batch: &Batch) {
        self.deferred.settle(false);
        self.deferred.doubt(batch);
        self.uncertain = None;
        self.answers.clear();
    }
}

/// Requests that wait.
pub(crate) struct Queue {
    pub(crate) jobs: Receiver<Job>,
    pub(crate) waiting: VecDeque<Job>,
}

impl Queue {
    /// Waits for a request. Returns false if there will be none.
    pub(crate) fn wait(&mut self, most: Duration) -> bool {
        if !self.waiting.is_empty() {
            return true;
        }
        let job = self.jobs.recv_timeout(most);
        let is_over = matches!(job, Err(RecvTimeoutError::Disconnected));
        self.waiting.extend(job.ok());
        !is_over
    }

    /// Takes the requests that wait, as many as one commit may have.
    pub(crate) fn gather(&mut self) {
        let more = MOST.saturating_sub(self.waiting.len());
        self.waiting.extend(self.jobs.try_iter().take(more));
    }
}

/// The state and the requests, which the writer and the thread in its place share.
pub(crate) struct Shared {
    state: Mutex<State>,
    queue: Mutex<Queue>,
    is_over: AtomicBool,
    pub(crate) journal: Option<Journal>,
}

impl Shared {
    pub(crate) fn new(
        engine: Engine,
        jobs: Receiver<Job>,
        (journal, deferred): (Option<Journal>, Deferred),
    ) -> Self {
        let state = State { engine, deferred, uncertain: None, answers: vec![] };
        let queue = Queue { jobs, waiting: VecDeque::new() };
        Self { state: Mutex::new(state), queue: Mutex::new(queue), is_over: AtomicBool::new(false), journal }
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    pub(crate) fn queue(&self) -> MutexGuard<'_, Queue> {
        lock(&self.queue)
    }

    /// Notes that the writer has ended.
    pub(crate) fn ends(&self) {
        self.is_over.store(true, Relaxed);
    }

    /// Takes requests while the writer waits too long.
    pub(crate) fn stand_in(&self, journal: &Journal, metrics: &Metrics, runtime: &Handle) {
        while !self.is_over.load(Relaxed) {
            if !metrics.has_waited(PATIENCE) {
                thread::sleep(GLANCE);
                continue;
            }
            let jobs = {
                let mut queue = self.queue();
                if !queue.wait(GLANCE) {
                    return;
                }
                queue.gather();
                std::mem::take(&mut queue.waiting)
            };
            let mut state = self.state();
            if !metrics.has_waited(PATIENCE) {
                drop(state);
                self.queue().waiting.extend(jobs);
                continue;
            }
            if let Some(batch) = state.uncertain.take() {
                state.deferred.doubt(&batch);
                state.answers.clear();
            }
            let State { engine, deferred, .. } = &mut *state;
            let (mut events, mut answers) = (vec![], vec![]);
            for job in jobs.into_iter().filter(|job| job.may_defer) {
                let time = engine.time;
                let turn = &mut Turn { engine, events: &mut events, time, deferred: Some(deferred) };
                answers.push((job.work)(turn));
            }
            let (first, unwritten) = deferred.unwritten();
            let written = if unwritten.is_empty() { Ok(()) } else { journal.append(first, unwritten) };
            metrics.deferred_events.store(deferred.n_waiting() as u64, Relaxed);
            match written {
                Ok(()) => {
                    metrics.deferred_total.fetch_add(unwritten.len() as u64, Relaxed);
                    deferred.wrote();
                    runtime.spawn(answer_all(answers));
                }
                Err(error) => log("error", "not-deferred", json!({ "error": error.to_string() })),
            }
        }
    }
}
