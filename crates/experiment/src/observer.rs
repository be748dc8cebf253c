//! Progress of a running experiment, and the time that every policy takes.

use crate::timing::{Elapsed, Stopwatch};
use std::fmt::Debug;
use std::sync::{Mutex, PoisonError};

/// Receives the progress of a running experiment. Any thread may call it.
pub trait Observer: Debug + Sync {
    /// A run of a policy has ended; `policy` is the policy's index in the result.
    fn run_done(&self, policy: usize);
}

/// Ignores all progress.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Observer for Silent {
    fn run_done(&self, _policy: usize) {}
}

/// Adds up the time of every contender, and passes progress on to the observer.
pub(crate) struct Watch<'a> {
    observer: &'a dyn Observer,
    elapsed: Vec<Mutex<Elapsed>>,
}

impl<'a> Watch<'a> {
    pub(crate) fn new(n_contenders: usize, observer: &'a dyn Observer) -> Self {
        Self { observer, elapsed: (0..n_contenders).map(|_| Mutex::default()).collect() }
    }

    pub(crate) fn elapsed(&self) -> impl Iterator<Item = Elapsed> + '_ {
        self.elapsed.iter().map(|elapsed| *elapsed.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl sim::Observer for Watch<'_> {
    fn observe<T>(&self, contender: usize, work: impl FnOnce() -> T) -> T {
        let stopwatch = Stopwatch::start();
        let done = work();
        let mut elapsed = self.elapsed[contender].lock().unwrap_or_else(PoisonError::into_inner);
        *elapsed = *elapsed + stopwatch.elapsed();
        drop(elapsed);
        self.observer.run_done(contender);
        done
    }
}
