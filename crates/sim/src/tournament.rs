//! Tournaments: every contender plays every replication, on all cores. The result does not depend on the number of cores.

use crate::{Contender, Schedule, Streams, Task};
use click_models::ClickModel;
use rand::RngExt;
use rayon::prelude::*;
use std::fmt;

/// How replications are assigned to instances. All contenders of a replication play on the same instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Assignment {
    /// Every replication draws one instance uniformly.
    #[default]
    Drawn,
    /// Replications take the instances in turn. If `runs` is a multiple of their number, all instances get equally many replications.
    InTurn,
}

/// An experiment: contenders, instances, the task, and the number of replications.
pub struct Tournament<'a, M: ClickModel, T: Task = Schedule> {
    /// The instances, at least one.
    pub instances: &'a [M],
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

/// The result of a tournament.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome<R> {
    /// Index of the instance of every replication.
    pub drawn: Vec<usize>,
    /// The records of every contender (outer index) in every replication (inner index).
    pub records: Vec<Vec<R>>,
}

impl<M: ClickModel, T: Task> Tournament<'_, M, T> {
    /// Index of the instance that `replication` plays on.
    ///
    /// # Panics
    ///
    /// If there is no instance.
    pub fn draw_instance(&self, replication: u64) -> usize {
        match self.assignment {
            Assignment::Drawn => self.streams.instance(replication).random_range(0..self.instances.len()),
            // The remainder is below a length.
            Assignment::InTurn => usize::try_from(replication % self.instances.len() as u64).unwrap_or(0),
        }
    }

    /// Plays everything on the current rayon thread pool.
    ///
    /// # Panics
    ///
    /// If there is no instance, or a policy plays an action that the model does not admit.
    pub fn run(&self, observer: &impl Observer) -> Outcome<T::Record> {
        let drawn: Vec<usize> = (0..self.runs).map(|replication| self.draw_instance(replication)).collect();
        let n_contenders = self.contenders.len();
        // One task per replication and contender, collected by index, so results do not depend on the order of execution.
        let mut records: Vec<T::Record> = (0..drawn.len() * n_contenders)
            .into_par_iter()
            .with_max_len(1)
            .map(|task| {
                let (replication, contender) = (task / n_contenders, task % n_contenders);
                observer.observe(contender, || {
                    self.contenders[contender].replicate(
                        &self.instances[drawn[replication]],
                        self.task,
                        self.streams,
                        replication as u64,
                    )
                })
            })
            .collect();
        let records = (0..n_contenders)
            .map(|contender| {
                records.iter_mut().skip(contender).step_by(n_contenders).map(std::mem::take).collect()
            })
            .collect();
        Outcome { drawn, records }
    }
}
