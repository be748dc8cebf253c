//! Tournaments: every contender plays every replication, on all cores. The result does not depend
//! on the number of cores.

use crate::parallel::try_for_each;
use crate::{
    Contender, NoStore, Objective, Replication, Schedule, SimRng, Start, StateError, StateStore, Streams,
};
use rand::RngExt;
use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// How replications are assigned to instances. All contenders of a replication play on the same
/// instance, and each block of `n` replications takes every one of `n` instances once.
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
                // From the beginning again, so that an order depends on its block only (Fisher,
                // Yates 1938).
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
    /// Draws the users of the instance with this index; `number` draws of it were made before. The
    /// result depends on the arguments alone.
    fn draw(&self, instance: usize, number: u64, rng: &mut SimRng) -> M;
}

/// An experiment: contenders, instances, the task, and the number of replications.
pub struct Tournament<'a, M, T: Objective = Schedule> {
    /// The instances, at least one.
    pub instances: Vec<M>,
    /// The distribution of the users: every replication draws its own, and policies know
    /// `instances`. `None`: the users are those of `instances`.
    pub uncertainty: Option<Box<dyn DrawUsers<M> + 'a>>,
    /// This many replications in a row have the same instance and meet the same users, at least 1.
    /// From 2 on, the spread between users can be told from the spread between replications with
    /// the same users.
    pub runs_per_draw: u64,
    /// How replications are assigned to instances.
    pub assignment: Assignment,
    /// The contenders.
    pub contenders: Vec<Box<dyn Contender<M, T>>>,
    /// The task of every replication: when to record, and when to end.
    pub task: T,
    /// The source of all random streams.
    pub streams: Streams,
    /// Number of replications.
    pub runs: u64,
}

impl<M, T: Objective> fmt::Debug for Tournament<'_, M, T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let labels: Vec<&str> = self.contenders.iter().map(|contender| contender.label()).collect();
        formatter.debug_struct("Tournament").field("contenders", &labels).finish_non_exhaustive()
    }
}

/// The result of a tournament.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome<R> {
    /// Index of the instance of every replication.
    pub drawn: Vec<usize>,
    /// The records of every contender (outer index) in every replication (inner index).
    pub records: Vec<Vec<R>>,
}

impl<M: Clone + Sync, T: Objective> Tournament<'_, M, T> {
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
        match &self.uncertainty {
            None => Cow::Borrowed(&self.instances[instance]),
            Some(uncertainty) => {
                let draw = replication / self.runs_per_draw.max(1);
                let mut stream = self.streams.instance(draw);
                if self.assignment == Assignment::Drawn {
                    // Until blocks were drawn, the instance took this number; the users still meet
                    // the rest of the stream.
                    let _: usize = stream.random_range(0..self.instances.len());
                }
                let number = draw / self.instances.len() as u64;
                Cow::Owned(uncertainty.draw(instance, number, &mut stream))
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
        let records: Vec<Vec<Mutex<T::Record>>> = self.contenders.iter().map(|_| places()).collect();
        let _ = try_for_each(self.contenders.len(), 0..self.runs, &|contender, number| {
            let run = usize::try_from(number).unwrap_or(usize::MAX);
            let record = self.play(contender, number, drawn[run], None, &mut NoStore)?;
            *records[contender][run].lock().unwrap_or_else(PoisonError::into_inner) = record;
            Ok::<_, StateError>(())
        });
        let record = |place: Mutex<T::Record>| place.into_inner().unwrap_or_else(PoisonError::into_inner);
        let records = records.into_iter().map(|of_one| of_one.into_iter().map(record).collect()).collect();
        Outcome { drawn, records }
    }

    /// Plays one replication of a contender on an instance, from a state or from the beginning.
    ///
    /// # Errors
    ///
    /// The errors of [`Contender::resume`].
    ///
    /// # Panics
    ///
    /// If there is no contender or instance with this index, or a policy plays an action that the
    /// model does not admit.
    pub fn play(
        &self,
        contender: usize,
        number: u64,
        instance: usize,
        state: Option<&[u8]>,
        store: &mut dyn StateStore,
    ) -> Result<T::Record, StateError> {
        let (users, told) = (&*self.users(number, instance), &self.instances[instance]);
        let replication = Replication { number, instance, users, told, streams: self.streams };
        self.contenders[contender].resume(Start { replication, state, store }, &self.task)
    }
}
