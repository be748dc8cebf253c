//! Contenders: named policies that can be played in many replications. Each is one row of a table of results.

use crate::{
    Curve, Keeper, KeepsNothing, Restarts, Saver, Saves, Schedule, SimRng, StateError, Streams,
    play_replication,
};
use click_models::ClickModel;
use policies::{Fixed, Policy};
use std::fmt;
use std::marker::PhantomData;

/// Panic message: only a state can be wrong, and only a keeper can ask for a state.
pub(crate) const FROM_THE_BEGINNING: &str = "a replication from the beginning";

/// The task of a replication.
///
/// A task is a type that determines the length of a run and the record of a run. The implementations of [`Contender`] for [`Entry`]
/// determine which policies can perform a task: any policy can play to the horizon of a [`Schedule`], but only a policy that stops can be
/// played until it does.
pub trait Task: Sync {
    /// The record of one replication.
    type Record: Default + Send;
}

impl Task for Schedule {
    type Record = Curve;
}

/// A named competitor on models of type `M`, for the task `T`; by default, a regret curve.
///
/// Experiments mix policies of different types through `Box<dyn Contender<M>>`. There is one virtual call per replication; the round loop
/// inside it is compiled for the policy.
pub trait Contender<M: ClickModel, T: Task = Schedule>: Send + Sync {
    /// Its name in the experiment, which also selects its random stream.
    fn label(&self) -> &str;

    /// Plays one replication with a fresh policy.
    fn replicate(&self, replication: Replication<'_, M>, task: &T) -> T::Record;

    /// Whether an unfinished replication can be kept and continued with [`Contender::resume`].
    fn is_saved(&self) -> bool {
        false
    }

    /// Plays one replication from `state`, or from the beginning without one, and hands its states to `keeper`. The record is that of
    /// [`Contender::replicate`].
    ///
    /// # Errors
    ///
    /// The contender cannot be saved, or the bytes are not a state of this replication.
    fn resume(
        &self,
        replication: Replication<'_, M>,
        task: &T,
        state: Option<&[u8]>,
        keeper: &mut dyn Keeper,
    ) -> Result<T::Record, StateError> {
        let _ = keeper;
        match state {
            None => Ok(self.replicate(replication, task)),
            Some(_) => Err(StateError::NotSaved(self.label().to_owned())),
        }
    }
}

/// One replication: the users that all contenders meet in it, and their random streams.
#[derive(Debug)]
pub struct Replication<'a, M> {
    /// Its number, which selects its streams.
    pub number: u64,
    /// Index of the instance.
    pub instance: usize,
    /// The users who answer.
    pub users: &'a M,
    /// The users as policies know them. They differ from `users` if those are drawn from a posterior distribution.
    pub told: &'a M,
    /// All streams of the experiment.
    pub streams: Streams,
}

impl<'a, M> Replication<'a, M> {
    /// The replication of this number with these users, of whom policies are told the truth.
    pub fn new(users: &'a M, streams: Streams, number: u64) -> Self {
        Self { number, instance: 0, users, told: users, streams }
    }

    /// The stream that draws the answers of the users.
    pub fn environment(&self) -> SimRng {
        self.streams.environment(self.number)
    }

    /// The stream for the choices of the policy named `label`.
    pub fn policy(&self, label: &str) -> SimRng {
        self.streams.policy(label, self.number)
    }
}

// Written by hand: derived ones would also require them of `M`.
impl<M> Clone for Replication<'_, M> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<M> Copy for Replication<'_, M> {}

/// A contender that builds a fresh policy for every replication, from what a learner may know of the instance.
///
/// `S` saves the policy of an unfinished replication: by default nothing does, and [`Entry::saved`] requests it.
pub struct Entry<F, S = Restarts> {
    label: String,
    build: F,
    epsilon: f64,
    saver: PhantomData<fn() -> S>,
}

impl<F> Entry<F> {
    /// Enters the policy that `build` constructs under the name `label`.
    pub fn new(label: impl Into<String>, build: F) -> Self {
        Self { label: label.into(), build, epsilon: 0.0, saver: PhantomData }
    }
}

impl<F, S> Entry<F, S> {
    /// Saves unfinished replications. The policy has to be serializable, and to make the same choices when it is restored.
    ///
    /// # Examples
    ///
    /// A replication that is kept every 1,024 rounds, and continued from the last state:
    ///
    /// ```
    /// use click_models::{PbmKnown, PositionBased};
    /// use policies::PbmTs;
    /// use sim::{Contender, Entry, Keeper, Pause, Replication, Schedule, Streams};
    ///
    /// #[derive(Default)]
    /// struct Latest(Vec<u8>);
    ///
    /// impl Keeper for Latest {
    ///     fn pause(&mut self, _rounds: u64) -> Pause {
    ///         Pause::Keep
    ///     }
    ///
    ///     fn keep(&mut self, state: &[u8]) {
    ///         self.0 = state.to_vec();
    ///     }
    /// }
    ///
    /// let users = PositionBased::from_values(&[0.5, 0.2, 0.1], &[1.0, 0.5])?;
    /// let (replication, schedule) = (Replication::new(&users, Streams::new(1), 0), Schedule::new(vec![500, 2_500])?);
    /// let entry = Entry::new("pbm-ts", |known: PbmKnown<'_>| PbmTs::new(known)).saved();
    /// let mut latest = Latest::default();
    /// let curve = entry.resume(replication, &schedule, None, &mut latest)?;
    ///
    /// let state = latest.0.clone();
    /// assert_eq!(entry.resume(replication, &schedule, Some(&state), &mut latest)?, curve);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn saved(self) -> Entry<F, Saves> {
        let Self { label, build, epsilon, .. } = self;
        Entry { label, build, epsilon, saver: PhantomData }
    }

    /// Sets the tolerance: an answer counts as right if each of its items is at most `epsilon` less attractive than the last item of the
    /// best list. The default is 0. It has no effect on tasks that measure regret.
    #[must_use]
    pub fn within(self, epsilon: f64) -> Self {
        Self { epsilon, ..self }
    }

    /// Its name.
    pub(crate) fn name(&self) -> &str {
        &self.label
    }

    /// The function that builds a fresh policy.
    pub(crate) fn build(&self) -> &F {
        &self.build
    }

    /// The tolerance for right answers.
    pub(crate) fn epsilon(&self) -> f64 {
        self.epsilon
    }
}

impl<F, S> fmt::Debug for Entry<F, S> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Entry").field("label", &self.label).finish_non_exhaustive()
    }
}

impl<M, F, P, S> Contender<M> for Entry<F, S>
where
    M: ClickModel,
    F: Fn(M::Known<'_>) -> P + Send + Sync,
    P: Policy<M::Interaction>,
    S: Saver<P>,
{
    fn label(&self) -> &str {
        &self.label
    }

    fn replicate(&self, replication: Replication<'_, M>, schedule: &Schedule) -> Curve {
        self.resume(replication, schedule, None, &mut KeepsNothing).expect(FROM_THE_BEGINNING)
    }

    fn is_saved(&self) -> bool {
        S::IS_SAVED
    }

    fn resume(
        &self,
        replication: Replication<'_, M>,
        schedule: &Schedule,
        state: Option<&[u8]>,
        keeper: &mut dyn Keeper,
    ) -> Result<Curve, StateError> {
        let build = || (self.build)(replication.told.known());
        play_replication::<S, M, P>(replication, &self.label, build, schedule, state, keeper)
    }
}

/// The contender that knows the instance and always plays its best action.
#[derive(Debug, Clone)]
pub struct Oracle {
    label: String,
}

impl Oracle {
    /// Enters the oracle under the name `label`.
    pub fn new(label: impl Into<String>) -> Self {
        Self { label: label.into() }
    }
}

impl<M: ClickModel> Contender<M> for Oracle {
    fn label(&self) -> &str {
        &self.label
    }

    fn replicate(&self, replication: Replication<'_, M>, schedule: &Schedule) -> Curve {
        self.resume(replication, schedule, None, &mut KeepsNothing).expect(FROM_THE_BEGINNING)
    }

    fn is_saved(&self) -> bool {
        true
    }

    fn resume(
        &self,
        replication: Replication<'_, M>,
        schedule: &Schedule,
        state: Option<&[u8]>,
        keeper: &mut dyn Keeper,
    ) -> Result<Curve, StateError> {
        let build = || Fixed::new(replication.users.optimal_action());
        play_replication::<Saves, M, _>(replication, &self.label, build, schedule, state, keeper)
    }
}
