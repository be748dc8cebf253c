//! Tournaments: every contender plays every replication, on all cores. The result does not depend on the number of cores.

use crate::parallel::try_for_each;
use crate::{Contender, Keeper, KeepsNothing, Replication, Schedule, SimRng, StateError, Streams, Task};
use click_models::ClickModel;
use rand::RngExt;
use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// How replications are assigned to instances. All contenders of a replication play on the same instance, and each block of `n`
/// replications takes every one of `n` instances once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Assignment {
    /// Each block has an order of its own, drawn at random.
    #[default]
    Drawn,
    /// Every block has the order of the instances.
    InTurn,
}

impl Assignment {
    /// The indices of the instances of these replications, of `n_instances`.
    ///
    /// # Panics
    ///
    /// If there is no instance.
    pub fn instances(self, n_instances: usize, streams: Streams, replications: Range<u64>) -> Vec<usize> {
        let n = n_instances as u64;
        let mut order: Vec<usize> = (0..n_instances).collect();
        let mut shuffled = None;
        let instance = |replication: u64| {
            let block = replication / n;
            if self == Self::Drawn && n > 1 && shuffled != Some(block) {
                // From the beginning again, so that an order depends on its block only (Fisher, Yates 1938).
                order.iter_mut().enumerate().for_each(|(place, instance)| *instance = place);
                let mut stream = streams.order(block);
                for last in (1..n_instances).rev() {
                    order.swap(last, stream.random_range(0..=last));
                }
                shuffled = Some(block);
            }
            // The remainder is below a length.
            order[usize::try_from(replication % n).unwrap_or(0)]
        };
        replications.map(instance).collect()
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
    /// The distribution of the users: every replication draws its own, and policies know
    /// `instances`. `None`: the users are those of `instances`.
    pub uncertainty: Option<&'a dyn DrawUsers<M>>,
    /// This many replications in a row have the same instance and meet the same users, at least 1. From 2 on, the spread between users can
    /// be told from the spread between replications with the same users.
    pub runs_per_draw: u64,
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

impl<M: ClickModel, T: Task> fmt::Debug for Tournament<'_, M, T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let labels: Vec<&str> = self.contenders.iter().map(|contender| contender.label()).collect();
        formatter.debug_struct("Tournament").field("contenders", &labels).finish_non_exhaustive()
    }
}

/// Plays a replication from the state that was kept of it, if any, and returns its record.
pub type PlayOne<'a, R> = dyn Fn(Option<&[u8]>, &mut dyn Keeper) -> Result<R, StateError> + 'a;

/// Receives the records of a tournament, one replication at a time, from many threads.
pub trait Book<R>: Sync {
    /// Why a record cannot be kept.
    type Error: Send;

    /// Whether the replication of the contender with this index is recorded already, and so is not played.
    fn is_recorded(&self, contender: usize, replication: u64) -> bool;

    /// Plays a replication and records it.
    ///
    /// # Errors
    ///
    /// The record cannot be kept, or the state cannot be continued. The tournament then ends as soon as it can.
    fn record(&self, contender: usize, replication: u64, play: &PlayOne<'_, R>) -> Result<(), Self::Error>;
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
        self.draw_instances(replication..replication + 1)[0]
    }

    /// Indices of the instances that these replications play on.
    ///
    /// # Panics
    ///
    /// If there is no instance.
    pub fn draw_instances(&self, replications: Range<u64>) -> Vec<usize> {
        let shared = self.runs_per_draw.max(1);
        let first = replications.start / shared;
        let of_draws = first..replications.end.div_ceil(shared);
        let drawn = self.assignment.instances(self.instances.len(), self.streams, of_draws);
        replications.map(|number| drawn[usize::try_from(number / shared - first).unwrap_or(0)]).collect()
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
                let mut stream = self.streams.instance(replication / self.runs_per_draw.max(1));
                if self.assignment == Assignment::Drawn {
                    // Until blocks were drawn, the instance took this number; the users still meet the rest of the stream.
                    let _: usize = stream.random_range(0..self.instances.len());
                }
                Cow::Owned(uncertainty.draw(instance, &mut stream))
            }
        }
    }

    /// Plays everything on the current rayon thread pool.
    ///
    /// # Panics
    ///
    /// If there is no instance, or a policy plays an action that the model does not admit.
    pub fn run(&self) -> Outcome<T::Record> {
        let drawn = self.draw_instances(0..self.runs);
        let places = || (0..self.runs).map(|_| Mutex::default()).collect();
        let memory = Memory(self.contenders.iter().map(|_| places()).collect());
        // The records are kept in memory, and no state is continued.
        let _ = self.play_into(0..self.runs, &memory);
        let record = |place: Mutex<T::Record>| place.into_inner().unwrap_or_else(PoisonError::into_inner);
        let records = memory.0.into_iter().map(|of_one| of_one.into_iter().map(record).collect());
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
        let instances = self.draw_instances(replications.clone());
        let instance = |number: u64| instances[usize::try_from(number - replications.start).unwrap_or(0)];
        let n_replications = usize::try_from(replications.end.saturating_sub(replications.start));
        // One task per replication and contender. What a task records depends on its number only, so records do not depend on the order
        // of execution.
        let n_tasks = n_replications.unwrap_or(usize::MAX).saturating_mul(n_contenders);
        try_for_each(n_tasks, &|task| {
            let (number, contender) =
                (replications.start + (task / n_contenders) as u64, task % n_contenders);
            if book.is_recorded(contender, number) {
                return Ok(());
            }
            book.record(contender, number, &|state, keeper| {
                self.play_on(instance(number), contender, number, state, keeper)
            })
        })
    }

    /// The replication of this number, which meets these users on this instance.
    fn replication<'a>(&'a self, number: u64, instance: usize, users: &'a M) -> Replication<'a, M> {
        Replication { number, instance, users, told: &self.instances[instance], streams: self.streams }
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
        self.play_on(self.draw_instance(number), contender, number, state, keeper)
    }

    fn play_on(
        &self,
        instance: usize,
        contender: usize,
        number: u64,
        state: Option<&[u8]>,
        keeper: &mut dyn Keeper,
    ) -> Result<T::Record, StateError> {
        let users = self.users(number, instance);
        self.contenders[contender].resume(
            self.replication(number, instance, &users),
            self.task,
            state,
            keeper,
        )
    }
}

/// A book in memory: a place for every record of every contender.
struct Memory<R>(Vec<Vec<Mutex<R>>>);

impl<R: Send> Book<R> for Memory<R> {
    type Error = StateError;

    fn is_recorded(&self, _contender: usize, _replication: u64) -> bool {
        false
    }

    fn record(&self, contender: usize, replication: u64, play: &PlayOne<'_, R>) -> Result<(), StateError> {
        let record = play(None, &mut KeepsNothing)?;
        let place = usize::try_from(replication).ok().and_then(|run| self.0[contender].get(run));
        *place.expect("a replication below `runs`").lock().unwrap_or_else(PoisonError::into_inner) = record;
        Ok(())
    }
}
