//! Tasks that identify the best items instead of measuring regret: until the policy stops, or with a fixed number of rounds.
//!
//! A run ends with an answer, a set of `n_positions` items. The answer is right if each of its items is at most `epsilon` less attractive
//! than the last item of the best list ([`CascadeModel::are_best`]). With [`UntilStopped`] the policy decides when to stop; its stopping
//! time is the number of steps. A run that reaches `max_steps` is capped. It has no answer and does not count as right. So the share of
//! wrong answers is the share of runs that stopped minus the share of right answers. [`WithBudget`] plays a fixed number of rounds and
//! then asks for a recommendation.
//!
//! Observations are counted separately from steps: an item is observed if it is in the observed prefix of the feedback. So a click at the
//! top is one observation, and a list without a click has as many observations as positions.
//!
//! Reference: Zhong, Cheung and Tan, "Best arm identification for cascading bandits in the fixed confidence setting", ICML 2020,
//! section 2. Deviations: the cap, which the paper has in appendix E.1 only. Numerics: counts are integers. Complexity: that of the
//! policy, plus one check before every step whether it has stopped.

use crate::run::answer;
use crate::{Contender, Entry, Replication, SimRng, Task};
use click_models::{
    Action, Cascade, CascadeModel, ClickModel, Feedback, ItemId, ListShape, ObservedPrefix, RandomSemiBandit,
    Ranking, SemiBandit,
};
use confidence::Probability;
use policies::{Decision, Policy, Recommend, Stop};
use std::ops::ControlFlow;

/// The task to play until the policy stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UntilStopped {
    /// The largest number of steps; a policy that has not stopped by then is stopped without an answer.
    pub max_steps: u64,
}

/// The task to recommend items after a fixed number of rounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WithBudget {
    /// Number of rounds.
    pub horizon: u64,
}

/// The record of one replication that identifies the best items.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
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

impl Task for UntilStopped {
    type Record = Identification;
}

impl Task for WithBudget {
    type Record = Identification;
}

/// The result of [`play_until_stopped`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stopping<A> {
    /// Rounds played.
    pub steps: u64,
    /// Items observed in all of them.
    pub observations: u64,
    /// The policy's answer; `None` if it did not stop.
    pub answer: Option<A>,
}

/// Plays `policy` against `model` until it stops, at most `max_steps` rounds. It may stop before the first one.
///
/// # Panics
///
/// If the policy plays an action that the model does not admit.
pub fn play_until_stopped<M, P>(
    model: &M,
    policy: &mut P,
    max_steps: u64,
    environment: &mut SimRng,
    randomness: &mut SimRng,
) -> Stopping<P::Answer>
where
    M: ClickModel,
    Feedback<M>: ObservedPrefix,
    P: Policy<M::Interaction> + Stop,
{
    let mut decision: Decision<Action<M>, P::Note> = Decision::default();
    let (mut steps, mut observations) = (0, 0);
    let answer = loop {
        if let ControlFlow::Break(answer) = policy.check() {
            break Some(answer);
        }
        if steps == max_steps {
            break None;
        }
        steps += 1;
        observations += step(model, policy, steps, &mut decision, environment, randomness);
    };
    Stopping { steps, observations, answer }
}

/// Plays `policy` against `model` for `horizon` rounds; returns the number of observed items.
///
/// # Panics
///
/// If the policy plays an action that the model does not admit.
pub fn play_budget<M, P>(
    model: &M,
    policy: &mut P,
    horizon: u64,
    environment: &mut SimRng,
    randomness: &mut SimRng,
) -> u64
where
    M: ClickModel,
    Feedback<M>: ObservedPrefix,
    P: Policy<M::Interaction>,
{
    let mut decision: Decision<Action<M>, P::Note> = Decision::default();
    (1..=horizon).map(|round| step(model, policy, round, &mut decision, environment, randomness)).sum()
}

/// Plays one round; returns the number of observed items.
#[inline]
fn step<M, P>(
    model: &M,
    policy: &mut P,
    round: u64,
    decision: &mut Decision<Action<M>, P::Note>,
    environment: &mut SimRng,
    randomness: &mut SimRng,
) -> u64
where
    M: ClickModel,
    Feedback<M>: ObservedPrefix,
    P: Policy<M::Interaction>,
{
    answer(model, policy, round, decision, environment, randomness).observed_clicks().len() as u64
}

/// The two tasks for a policy on cascading users, or on a view of them.
impl<F> Entry<F> {
    fn until_stopped<M, P>(
        &self,
        replication: Replication<'_, CascadeModel>,
        shown: &M,
        task: UntilStopped,
    ) -> Identification
    where
        M: ClickModel,
        Feedback<M>: ObservedPrefix,
        F: Fn(ListShape) -> P,
        P: Policy<M::Interaction> + Stop<Answer: AsRef<[ItemId]>>,
    {
        let mut policy = self.build()(replication.told.known());
        let (mut environment, mut randomness) = (replication.environment(), replication.policy(self.name()));
        let found = play_until_stopped(shown, &mut policy, task.max_steps, &mut environment, &mut randomness);
        let right = |answer: &P::Answer| replication.users.are_best(answer.as_ref(), self.epsilon());
        Identification {
            steps: found.steps,
            observations: found.observations,
            answered: found.answer.is_some(),
            correct: found.answer.as_ref().is_some_and(right),
        }
    }

    fn with_budget<M, P>(
        &self,
        replication: Replication<'_, CascadeModel>,
        shown: &M,
        task: WithBudget,
    ) -> Identification
    where
        M: ClickModel,
        Feedback<M>: ObservedPrefix,
        F: Fn(ListShape) -> P,
        P: Policy<M::Interaction> + Recommend<Ranking>,
    {
        let mut policy = self.build()(replication.told.known());
        let (mut environment, mut randomness) = (replication.environment(), replication.policy(self.name()));
        let observations = play_budget(shown, &mut policy, task.horizon, &mut environment, &mut randomness);
        let mut items = Ranking::default();
        policy.recommend(&mut randomness, &mut items);
        Identification {
            steps: task.horizon,
            observations,
            answered: true,
            correct: replication.users.are_best(items.as_slice(), self.epsilon()),
        }
    }
}

impl<F, P> Contender<CascadeModel, UntilStopped> for Entry<F>
where
    F: Fn(ListShape) -> P + Send + Sync,
    P: Policy<Cascade> + Stop<Answer: AsRef<[ItemId]>>,
{
    fn label(&self) -> &str {
        self.name()
    }

    fn replicate(&self, replication: Replication<'_, CascadeModel>, task: &UntilStopped) -> Identification {
        self.until_stopped(replication, replication.users, *task)
    }
}

impl<F, P> Contender<CascadeModel, WithBudget> for Entry<F>
where
    F: Fn(ListShape) -> P + Send + Sync,
    P: Policy<Cascade> + Recommend<Ranking>,
{
    fn label(&self) -> &str {
        self.name()
    }

    fn replicate(&self, replication: Replication<'_, CascadeModel>, task: &WithBudget) -> Identification {
        self.with_budget(replication, replication.users, *task)
    }
}

/// A contender that observes every item it shows: cascading users with full feedback, to measure the effect of the hidden feedback of a
/// cascade.
///
/// It shows `n_shown` items per round and observes all of them. It has to find as many of the best items as the cascade has positions.
#[derive(Debug)]
pub struct FullFeedbackEntry<F> {
    entry: Entry<F>,
    n_shown: usize,
}

impl<F> FullFeedbackEntry<F> {
    /// Gives `entry` full feedback on lists of `n_shown` items, or of `n_positions` items if that is less.
    pub fn new(entry: Entry<F>, n_shown: usize) -> Self {
        Self { entry, n_shown }
    }

    /// Users with the cascade's attraction probabilities who examine the whole list.
    fn view(&self, cascade: &CascadeModel) -> RandomSemiBandit {
        let n_shown = self.n_shown.clamp(1, cascade.shape().n_positions());
        RandomSemiBandit::new(cascade.attraction().to_vec(), vec![Probability::ONE; n_shown])
            .expect("a list no longer than the cascade's")
    }
}

impl<F, P> Contender<CascadeModel, UntilStopped> for FullFeedbackEntry<F>
where
    F: Fn(ListShape) -> P + Send + Sync,
    P: Policy<SemiBandit> + Stop<Answer: AsRef<[ItemId]>>,
{
    fn label(&self) -> &str {
        self.entry.name()
    }

    fn replicate(&self, replication: Replication<'_, CascadeModel>, task: &UntilStopped) -> Identification {
        self.entry.until_stopped(replication, &self.view(replication.users), *task)
    }
}

impl<F, P> Contender<CascadeModel, WithBudget> for FullFeedbackEntry<F>
where
    F: Fn(ListShape) -> P + Send + Sync,
    P: Policy<SemiBandit> + Recommend<Ranking>,
{
    fn label(&self) -> &str {
        self.entry.name()
    }

    fn replicate(&self, replication: Replication<'_, CascadeModel>, task: &WithBudget) -> Identification {
        self.entry.with_budget(replication, &self.view(replication.users), *task)
    }
}
