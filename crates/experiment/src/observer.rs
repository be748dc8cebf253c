//! Who is told how far an experiment is, and how long every policy took.

use crate::timing::{Elapsed, Stopwatch};
use std::fmt::Debug;
use std::sync::{Mutex, PoisonError};

/// Told of an experiment while it runs, from any thread.
pub trait Observer: Debug + Sync {
    /// A run of a policy is done; `policy` is its place in the result.
    fn run_done(&self, policy: usize);
}

/// Looks away.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Observer for Silent {
    fn run_done(&self, _policy: usize) {}
}

/// Adds up every contender's time, and tells the observer.
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
