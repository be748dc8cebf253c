//! Tournaments: every contender plays every replication, on all cores. The result does not depend on the number of cores.

use crate::{Contender, Keeper, KeepsNothing, Replication, Schedule, SimRng, StateError, Streams, Task};
use click_models::ClickModel;
use rand::RngExt;
use rayon::prelude::*;
use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// How replications are assigned to instances. All contenders of a replication play on the same instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Assignment {
    /// Every replication draws one instance uniformly.
    #[default]
    Drawn,
    /// Replications take the instances in turn. If `runs` is a multiple of their number, all instances get equally many replications.
    InTurn,
}

impl Assignment {
    /// The index of the instance of a replication, of `n_instances`, and the stream that drew it.
    ///
    /// # Panics
    ///
    /// If there is no instance.
    pub fn instance(self, n_instances: usize, streams: Streams, replication: u64) -> (usize, SimRng) {
        let mut stream = streams.instance(replication);
        let instance = match self {
            Self::Drawn => stream.random_range(0..n_instances),
            // The remainder is below a length.
            Self::InTurn => usize::try_from(replication % n_instances as u64).unwrap_or(0),
        };
        (instance, stream)
    }
}

/// Users who are known up to a distribution.
pub trait DrawUsers<M>: Sync {
    /// Draws the users of the instance with this index. It must take its random numbers from `rng` alone.
    fn draw(&self, instance: usize, rng: &mut SimRng) -> M;
}

/// An experiment: contenders, instances, the task, and the number of replications.
pub struct Tournament<'a, M: ClickModel, T: Task = Schedule> {
    /// The instances, at least one.
    pub instances: &'a [M],
    /// The distribution of the users: every replication draws its own, and policies are told of `instances`. `None`: the users are those
    /// of `instances`.
    pub uncertainty: Option<&'a dyn DrawUsers<M>>,
    /// How replications are assigned to instances.
    pub assignment: Assignment,
    /// The contenders.
    pub contenders: &'a [Box<dyn Contender<M, T>>],
    /// The task of every replication: when to record, and when to end.
    pub task: &'a T,
    /// The source of all random streams.
    pub streams: Streams,
    /// Number of replications.
    pub runs: u64,
}

impl<M: ClickModel, T: Task + fmt::Debug> fmt::Debug for Tournament<'_, M, T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let labels: Vec<&str> = self.contenders.iter().map(|contender| contender.label()).collect();
        formatter
            .debug_struct("Tournament")
            .field("instances", &self.instances.len())
            .field("uncertain", &self.uncertainty.is_some())
            .field("assignment", &self.assignment)
            .field("contenders", &labels)
            .field("task", self.task)
            .field("streams", &self.streams)
            .field("runs", &self.runs)
            .finish()
    }
}

/// Receives notice of every replication while a tournament runs. Replications of one contender may run concurrently.
pub trait Observer: Sync {
    /// Runs `work`, one replication of the contender with this index, and may measure it.
    fn observe<T>(&self, contender: usize, work: impl FnOnce() -> T) -> T;
}

/// An observer that does nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Observer for Silent {
    fn observe<T>(&self, _contender: usize, work: impl FnOnce() -> T) -> T {
        work()
    }
}

/// Receives the records of a tournament, one replication at a time, from many threads.
pub trait Book<R>: Sync {
    /// Why a record cannot be kept.
    type Error: Send;

    /// Whether the replication of the contender with this index is recorded already, and so is not played.
    fn is_recorded(&self, contender: usize, replication: u64) -> bool;

    /// Plays a replication and records it. `play` takes the state from which to continue, if one was kept.
    ///
    /// # Errors
    ///
    /// The record cannot be kept, or the state cannot be continued. The tournament then ends as soon as it can.
    fn record(
        &self,
        contender: usize,
        replication: u64,
        play: impl FnOnce(Option<&[u8]>, &mut dyn Keeper) -> Result<R, StateError>,
    ) -> Result<(), Self::Error>;
}

/// The result of a tournament.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome<R> {
    /// Index of the instance of every replication.
    pub drawn: Vec<usize>,
    /// The records of every contender (outer index) in every replication (inner index).
    pub records: Vec<Vec<R>>,
}

impl<M: ClickModel + Clone, T: Task> Tournament<'_, M, T> {
    /// Index of the instance that `replication` plays on.
    ///
    /// # Panics
    ///
    /// If there is no instance.
    pub fn draw_instance(&self, replication: u64) -> usize {
        self.instance_and_stream(replication).0
    }

    /// The users that `replication` meets on an instance.
    ///
    /// # Panics
    ///
    /// If there is no instance with this index.
    pub fn users(&self, replication: u64, instance: usize) -> Cow<'_, M> {
        match self.uncertainty {
            None => Cow::Borrowed(&self.instances[instance]),
            Some(uncertainty) => {
                let (_, mut stream) = self.instance_and_stream(replication);
                Cow::Owned(uncertainty.draw(instance, &mut stream))
            }
        }
    }

    /// The index of the instance, and the stream that drew it. Users are drawn from the rest of this stream.
    fn instance_and_stream(&self, replication: u64) -> (usize, SimRng) {
        self.assignment.instance(self.instances.len(), self.streams, replication)
    }

    /// Plays everything on the current rayon thread pool.
    ///
    /// # Panics
    ///
    /// If there is no instance, or a policy plays an action that the model does not admit.
    pub fn run(&self, observer: &impl Observer) -> Outcome<T::Record> {
        let drawn = (0..self.runs).map(|replication| self.draw_instance(replication)).collect();
        let places = || (0..self.runs).map(|_| Mutex::default()).collect();
        let records = self.contenders.iter().map(|_| places()).collect();
        let memory = Memory { observer, records };
        // The records are kept in memory, and no state is continued.
        let _ = self.play_into(0..self.runs, &memory);
        let record = |place: Mutex<T::Record>| place.into_inner().unwrap_or_else(PoisonError::into_inner);
        let records = memory.records.into_iter().map(|of_one| of_one.into_iter().map(record).collect());
        Outcome { drawn, records: records.collect() }
    }

    /// Plays the replications in this range that are not recorded yet, on the current rayon thread pool.
    ///
    /// # Errors
    ///
    /// The first error of the book.
    ///
    /// # Panics
    ///
    /// If there is no instance, or a policy plays an action that the model does not admit.
    pub fn play_into<B: Book<T::Record>>(&self, replications: Range<u64>, book: &B) -> Result<(), B::Error> {
        let n_contenders = self.contenders.len();
        let first = replications.start;
        let n_replications = usize::try_from(replications.end.saturating_sub(first)).unwrap_or(usize::MAX);
        // One task per replication and contender. A task depends on its number only, so records do not depend on the order of execution.
        (0..n_replications.saturating_mul(n_contenders)).into_par_iter().with_max_len(1).try_for_each(
            |task| {
                let (number, contender) = (first + (task / n_contenders) as u64, task % n_contenders);
                if book.is_recorded(contender, number) {
                    return Ok(());
                }
                book.record(contender, number, |state, keeper| {
                    self.play_one(contender, number, state, keeper)
                })
            },
        )
    }

    /// Plays one replication of the contender with this index, from a state or from the beginning.
    ///
    /// # Errors
    ///
    /// The errors of [`Contender::resume`].
    ///
    /// # Panics
    ///
    /// As [`Tournament::play_into`], and if there is no contender with this index.
    pub fn play_one(
        &self,
        contender: usize,
        number: u64,
        state: Option<&[u8]>,
        keeper: &mut dyn Keeper,
    ) -> Result<T::Record, StateError> {
        let instance = self.draw_instance(number);
        let (users, told) = (&*self.users(number, instance), &self.instances[instance]);
        let replication = Replication { number, instance, users, told, streams: self.streams };
        self.contenders[contender].resume(replication, self.task, state, keeper)
    }
}

/// A book in memory: a place for every record of every contender.
struct Memory<'a, O, R> {
    observer: &'a O,
    records: Vec<Vec<Mutex<R>>>,
}

impl<O: Observer, R: Send> Book<R> for Memory<'_, O, R> {
    type Error = StateError;

    fn is_recorded(&self, _contender: usize, _replication: u64) -> bool {
        false
    }

    fn record(
        &self,
        contender: usize,
        replication: u64,
        play: impl FnOnce(Option<&[u8]>, &mut dyn Keeper) -> Result<R, StateError>,
    ) -> Result<(), StateError> {
        let record = self.observer.observe(contender, || play(None, &mut KeepsNothing))?;
        if let Some(place) =
            usize::try_from(replication).ok().and_then(|run| self.records[contender].get(run))
        {
            *place.lock().unwrap_or_else(PoisonError::into_inner) = record;
        }
        Ok(())
    }
}
