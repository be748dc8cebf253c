//! Contenders: named policies that can be played in many replications. Each is one row of a table
//! of results.

use crate::run::Rounds;
use crate::{Curve, MaySave, NoStore, Restarts, Saves, Schedule, SimRng, StateError, StateStore, Streams};
use click_models::ClickModel;
use policies::{Fixed, Policy};
use std::fmt;
use std::marker::PhantomData;

/// The objective of a replication: regret, or an answer.
///
/// It is a type that determines the length of a run and the record of a run. The
/// implementations of [`Contender`] for [`Entry`] determine which policies can pursue it: any
/// policy can play to the horizon of a [`Schedule`], but only a policy that stops can be played
/// until it does.
pub trait Objective: Sync {
    /// The record of one replication.
    type Record: Default + Send;
}

impl Objective for Schedule {
    type Record = Curve;
}

/// A named competitor on models of type `M`, for the task `T`; by default, a regret curve.
///
/// Experiments mix policies of different types through `Box<dyn Contender<M>>`. There is one
/// virtual call per replication; the round loop inside it is compiled for the policy.
pub trait Contender<M, T: Objective = Schedule>: Send + Sync {
    /// Its name in the experiment, which also selects its random stream.
    fn label(&self) -> &str;

    /// Plays one replication. The record does not depend on the states that are kept.
    ///
    /// # Errors
    ///
    /// The contender cannot be saved, the bytes are not a state of this replication, or the store
    /// stops it.
    fn resume(&self, start: Start<'_, M>, task: &T) -> Result<T::Record, StateError>;

    /// Returns whether an unfinished replication can be kept and continued with
    /// [`Contender::resume`].
    fn is_saved(&self) -> bool {
        false
    }

    /// Plays one replication with a fresh policy.
    ///
    /// # Panics
    ///
    /// If [`Contender::resume`] fails without a state, and with a store that keeps nothing.
    fn replicate(&self, replication: Replication<'_, M>, task: &T) -> T::Record {
        let start = Start { replication, state: None, store: &mut NoStore };
        self.resume(start, task).expect("a replication from the beginning")
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
    /// The users as policies know them. They differ from `users` if those are drawn from a
    /// posterior distribution.
    pub told: &'a M,
    /// All streams of the experiment.
    pub streams: Streams,
}

impl<'a, M> Replication<'a, M> {
    /// The replication of this number with these users, which policies know.
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

/// Where a replication of a contender begins, and who keeps its states.
#[expect(missing_debug_implementations, reason = "a store need have none")]
pub struct Start<'a, M> {
    /// The replication.
    pub replication: Replication<'a, M>,
    /// The state from which it continues; `None`: with a fresh policy.
    pub state: Option<&'a [u8]>,
    /// The store that gets its states.
    pub store: &'a mut dyn StateStore,
}

/// A contender that builds a fresh policy for every replication.
///
/// `S` saves the policy of an unfinished replication: by default nothing does, and [`Entry::saved`]
/// requests it. `L` is the loop that plays the policy, which determines what `build` receives.
pub struct Entry<F, S = Restarts, L = ByRounds> {
    label: String,
    /// The function that builds a fresh policy.
    pub(crate) build: F,
    /// The tolerance for right answers.
    pub(crate) epsilon: f64,
    pub(crate) played: L,
    saver: PhantomData<fn() -> S>,
}

/// The loop of most policies: round by round, with a policy that is built from what a learner may
/// know of the users.
#[derive(Debug, Clone, Copy)]
pub struct ByRounds;

/// As [`ByRounds`], with a policy that is built from the whole replication.
#[derive(Debug, Clone, Copy)]
pub struct FromReplication;

impl<F> Entry<F> {
    /// Enters the policy that `build` constructs from [`ClickModel::Known`] under the name `label`.
    pub fn new(label: impl Into<String>, build: F) -> Self {
        Self::played_by(ByRounds, label, build)
    }
}

impl<F> Entry<F, Restarts, FromReplication> {
    /// Enters a policy that may depend on more than a learner knows, such as the instance: `build`
    /// receives the [`Replication`].
    pub fn from_replication(label: impl Into<String>, build: F) -> Self {
        Self::played_by(FromReplication, label, build)
    }
}

impl<F, L> Entry<F, Restarts, L> {
    pub(crate) fn played_by(played: L, label: impl Into<String>, build: F) -> Self {
        Self { label: label.into(), build, epsilon: 0.0, played, saver: PhantomData }
    }
}

impl<F, S, L> Entry<F, S, L> {
    /// Saves unfinished replications. The policy has to be serializable, and to make the same
    /// choices when it is restored.
    ///
    /// # Examples
    ///
    /// A replication that is kept every 1,024 rounds, and continued from the last state:
    ///
    /// ```
    /// use click_models::{PbmKnown, PositionBased};
    /// use policies::PbmTs;
    /// use sim::{Contender, Entry, Pause, Replication, Schedule, Start, StateStore, Streams};
    ///
    /// #[derive(Default)]
    /// struct Latest(Vec<u8>);
    ///
    /// impl StateStore for Latest {
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
    /// let curve = entry.resume(Start { replication, state: None, store: &mut latest }, &schedule)?;
    ///
    /// let state = latest.0.clone();
    /// let again = Start { replication, state: Some(&state), store: &mut latest };
    /// assert_eq!(entry.resume(again, &schedule)?, curve);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn saved(self) -> Entry<F, Saves, L> {
        let Self { label, build, epsilon, played, .. } = self;
        Entry { label, build, epsilon, played, saver: PhantomData }
    }

    /// Sets the tolerance: an answer counts as right if each of its items is at most `epsilon` less
    /// attractive than the last item of the best list. The default is 0. It has no effect on tasks
    /// that measure regret.
    #[must_use]
    pub fn within(self, epsilon: f64) -> Self {
        Self { epsilon, ..self }
    }

    /// The same entry, played by another loop.
    pub(crate) fn replayed_by<Other>(self, played: Other) -> Entry<F, S, Other> {
        let Self { label, build, epsilon, saver, .. } = self;
        Entry { label, build, epsilon, played, saver }
    }

    /// Its name.
    pub(crate) fn name(&self) -> &str {
        &self.label
    }
}

impl<F, S, L> fmt::Debug for Entry<F, S, L> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Entry").field("label", &self.label).finish_non_exhaustive()
    }
}

/// A loop that plays the policies of entries on the users `M` for the task `T`, if `F` builds a
/// policy that it can play.
pub trait Plays<M, T: Objective, F, S>: Sized {
    /// Plays one replication, as [`Contender::resume`] does.
    ///
    /// # Errors
    ///
    /// As [`Contender::resume`].
    fn resume(entry: &Entry<F, S, Self>, start: Start<'_, M>, task: &T) -> Result<T::Record, StateError>;
}

impl<M, T, F, S, L> Contender<M, T> for Entry<F, S, L>
where
    T: Objective,
    F: Send + Sync,
    S: MaySave,
    L: Plays<M, T, F, S> + Send + Sync,
{
    fn label(&self) -> &str {
        &self.label
    }

    // Not inlined once more in `replicate`.
    #[inline(never)]
    fn resume(&self, start: Start<'_, M>, task: &T) -> Result<T::Record, StateError> {
        L::resume(self, start, task)
    }

    fn is_saved(&self) -> bool {
        S::IS_SAVED
    }
}

/// Implements a loop whose record is a curve, on the users `$Users`: the function of an entry gets
/// `$known`, and `$player` plays the policy that it builds. States call the loop `$played_by`.
macro_rules! plays_curves {
    (
        $Loop:ty as $played_by:ident, [$($M:ident: $Bound:path)?] $Users:ty, $Known:ty, [$($Policy:tt)+],
        |$entry:ident, $replication:ident| $known:expr, |$policy:ident| $player:expr
    ) => {
        impl<$($M,)? F, P, S> $crate::Plays<$Users, $crate::Schedule, F, S> for $Loop
        where
            $($M: $Bound,)?
            F: Fn($Known) -> P,
            P: $($Policy)+,
            S: $crate::Saver<P>,
        {
            fn resume(
                $entry: &$crate::Entry<F, S, Self>,
                start: $crate::Start<'_, $Users>,
                schedule: &$crate::Schedule,
            ) -> Result<$crate::Curve, $crate::StateError> {
                let $crate::Start { replication: $replication, state, store } = start;
                let (label, played_by) = ($entry.name(), $crate::state::Loop::$played_by);
                let session =
                    $crate::session::Session::of_curve(label, played_by, schedule, state, store, S::IS_SAVED);
                session.replicate($replication.streams, $replication.number, &mut |bytes, play_rounds| {
                    let built = $crate::saver::read_or_build::<P, S>(bytes, || ($entry.build)($known));
                    let $policy = &mut built?;
                    play_rounds(&mut $player);
                    Ok(())
                })
            }
        }
    };
}
pub(crate) use plays_curves;

plays_curves!(ByRounds as Regret, [M: ClickModel] M, M::Known<'_>, [Policy<M::Interaction>],
    |entry, replication| replication.told.known(), |policy| Rounds::<M, P, S>::new(replication.users, policy));
plays_curves!(FromReplication as Regret, [M: ClickModel] M, &Replication<'_, M>, [Policy<M::Interaction>],
    |entry, replication| &replication, |policy| Rounds::<M, P, S>::new(replication.users, policy));

/// The contender under the name `label` that knows the users and always plays their best action.
pub fn oracle<M: ClickModel + 'static>(label: impl Into<String>) -> Box<dyn Contender<M>> {
    let best = |replication: &Replication<'_, M>| Fixed::new(replication.users.optimal_action());
    Box::new(Entry::from_replication(label, best).saved())
}
