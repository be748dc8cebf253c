//! Tasks that identify the best items instead of measuring regret: until the policy stops, or with
//! a fixed number of rounds.
//!
//! A run ends with an answer, a set of `n_positions` items. The answer is right if each of its
//! items is at most `epsilon` less attractive than the last item of the best list
//! ([`CascadeModel::are_best`]). With [`UntilStopped`] the policy decides when to stop; its
//! stopping time is the number of steps. A run that reaches `max_steps` is capped. It has no answer
//! and does not count as right. So the share of wrong answers is the share of runs that stopped
//! minus the share of right answers. [`WithBudget`] plays a fixed number of rounds and then asks
//! for a recommendation.
//!
//! Observations are counted separately from steps: an item is observed if it is in the observed
//! prefix of the feedback. So a click at the top is one observation, and a list without a click has
//! as many observations as positions.
//!
//! Reference: Zhong, Cheung and Tan, "Best arm identification for cascading bandits in the fixed
//! confidence setting", ICML 2020, section 2. Deviations: the cap, which the paper has in appendix
//! E.1 only. Numerics: counts are integers. Complexity: that of the policy, plus one check before
//! every step whether it has stopped.

use crate::run::select_and_learn;
use crate::saver::read_or_build;
use crate::session::Session;
use crate::state::{Loop, Progress};
use crate::{ByRounds, Entry, Objective, Plays, ROUNDS_BETWEEN, Saver, SimRng, Start, StateError};
use click_models::{
    Action, Cascade, CascadeModel, ClickModel, Feedback, ItemId, ListShape, ObservedPrefix, RandomSemiBandit,
    Ranking, SemiBandit,
};
use confidence::Probability;
use policies::{Decision, Policy, Recommend, Stop};
use serde::{Deserialize, Serialize};

/// The task to play until the policy stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UntilStopped {
    /// The largest number of steps; a policy that has not stopped by then is stopped without an
    /// answer.
    pub max_steps: u64,
}

/// The task to recommend items after a fixed number of rounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WithBudget {
    /// Number of rounds.
    pub horizon: u64,
}

/// The record of one replication that identifies the best items.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Identification {
    /// Rounds played: the stopping time, or the cap or budget.
    pub steps: u64,
    /// Items observed in all of them.
    pub observations: u64,
    /// Whether there is an answer: always with a budget; otherwise, if the policy stopped.
    pub answered: bool,
    /// Whether there is an answer and it is right.
    pub correct: bool,
}

impl Objective for UntilStopped {
    type Record = Identification;
}

impl Objective for WithBudget {
    type Record = Identification;
}

/// The two tasks for a policy on cascading users, or on a view of them.
impl<F, S, L> Entry<F, S, L> {
    fn until_stopped<M, P>(
        &self,
        start: Start<'_, CascadeModel>,
        shown: &M,
        task: UntilStopped,
    ) -> Result<Identification, StateError>
    where
        M: ClickModel,
        Feedback<M>: ObservedPrefix,
        F: Fn(ListShape) -> P,
        P: Policy<M::Interaction> + Stop<Answer: AsRef<[ItemId]>>,
        S: Saver<P>,
    {
        let check = |policy: &P| policy.check().break_value();
        self.identify(start, shown, (Loop::UntilStopped, task.max_steps), check, |_, _| None)
    }

    fn with_budget<M, P>(
        &self,
        start: Start<'_, CascadeModel>,
        shown: &M,
        task: WithBudget,
    ) -> Result<Identification, StateError>
    where
        M: ClickModel,
        Feedback<M>: ObservedPrefix,
        F: Fn(ListShape) -> P,
        P: Policy<M::Interaction> + Recommend<Ranking>,
        S: Saver<P>,
    {
        let recommended = |policy: &P, rng: &mut SimRng| {
            let mut items = Ranking::default();
            policy.recommend(rng, &mut items);
            Some(items.as_slice().to_vec())
        };
        self.identify(start, shown, (Loop::WithBudget, task.horizon), |_| None, recommended)
    }

    /// Plays until `check` returns an answer, or to the horizon; `at_end` then gives one.
    fn identify<M, P, A: AsRef<[ItemId]>>(
        &self,
        Start { replication, state, store }: Start<'_, CascadeModel>,
        shown: &M,
        (played_by, horizon): (Loop, u64),
        check: impl Fn(&P) -> Option<A>,
        at_end: impl FnOnce(&P, &mut SimRng) -> Option<A>,
    ) -> Result<Identification, StateError>
    where
        M: ClickModel,
        Feedback<M>: ObservedPrefix,
        F: Fn(ListShape) -> P,
        P: Policy<M::Interaction>,
        S: Saver<P>,
    {
        let (label, is_saved) = (self.name(), S::IS_SAVED);
        let mut session = Session { label, played_by, horizon, checkpoints: &[], state, store, is_saved };
        let (mut progress, bytes) = session.begin(replication.streams, replication.number)?;
        let policy = read_or_build::<P, S>(bytes, || (self.build)(replication.told.known()));
        let mut policy = policy.map_err(|fault| session.not_a_state(fault))?;
        let mut decision: Decision<Action<M>, P::Note> = Decision::default();
        let answer = loop {
            let answer = check(&policy);
            if answer.is_some() || progress.rounds == horizon {
                break answer;
            }
            progress.rounds += 1;
            let Progress { rounds, environment, randomness, .. } = &mut progress;
            let played =
                select_and_learn(shown, &mut policy, *rounds, &mut decision, environment, randomness);
            let feedback = played.map_err(|ended| session.error(ended))?;
            progress.observations += feedback.observed_clicks().len() as u64;
            if progress.rounds.is_multiple_of(ROUNDS_BETWEEN) {
                let paused = session.pause(&progress, || S::write(&policy));
                paused.map_err(|ended| session.error(ended))?;
            }
        };
        let answer = answer.or_else(|| at_end(&policy, &mut progress.randomness));
        let right = |answer: &A| replication.users.are_best(answer.as_ref(), self.epsilon);
        Ok(Identification {
            steps: progress.rounds,
            observations: progress.observations,
            answered: answer.is_some(),
            correct: answer.as_ref().is_some_and(right),
        })
    }
}

/// The loop of policies that observe every item they show, to measure the effect of the hidden
/// feedback of a cascade.
#[derive(Debug, Clone, Copy)]
pub struct WithFullFeedback {
    n_shown: usize,
}

impl WithFullFeedback {
    /// Users with the cascade's attraction probabilities who examine the whole list.
    fn view(self, cascade: &CascadeModel) -> RandomSemiBandit {
        let n_shown = self.n_shown.clamp(1, cascade.shape().n_positions());
        RandomSemiBandit::new(cascade.attraction().to_vec(), vec![Probability::ONE; n_shown])
            .expect("a list no longer than the cascade's")
    }
}

impl<F, S> Entry<F, S> {
    /// Gives the policy full feedback on lists of `n_shown` items, or of `n_positions` items if
    /// that is less. It has to find as many of the best items as the cascade has positions.
    #[must_use]
    pub fn with_full_feedback(self, n_shown: usize) -> Entry<F, S, WithFullFeedback> {
        self.replayed_by(WithFullFeedback { n_shown })
    }
}

/// Implements a task for a loop: `$shown` are the users that the policy meets, given those of the
/// replication.
macro_rules! identifies {
    ($Loop:ty, $Objective:ty: [$($Policy:tt)+], $play:ident, |$played:ident, $users:ident| $shown:expr) => {
        impl<F, P, S> Plays<CascadeModel, $Objective, F, S> for $Loop
        where
            F: Fn(ListShape) -> P,
            P: $($Policy)+,
            S: Saver<P>,
        {
            fn resume(
                entry: &Entry<F, S, Self>,
                start: Start<'_, CascadeModel>,
                task: &$Objective,
            ) -> Result<Identification, StateError> {
                let ($played, $users) = (entry.played, start.replication.users);
                entry.$play(start, $shown, *task)
            }
        }
    };
}

identifies!(ByRounds, UntilStopped: [Policy<Cascade> + Stop<Answer: AsRef<[ItemId]>>],
    until_stopped, |_rounds, users| users);
identifies!(ByRounds, WithBudget: [Policy<Cascade> + Recommend<Ranking>],
    with_budget, |_rounds, users| users);
identifies!(WithFullFeedback, UntilStopped: [Policy<SemiBandit> + Stop<Answer: AsRef<[ItemId]>>],
    until_stopped, |played, users| &played.view(users));
identifies!(WithFullFeedback, WithBudget: [Policy<SemiBandit> + Recommend<Ranking>],
    with_budget, |played, users| &played.view(users));
