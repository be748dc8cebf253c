//! The round loop: one policy against one instance for one replication.

use crate::session::{EarlyEnd, Player, Session};
use crate::state::{Loop, Progress};
use crate::{Curve, NoStore, Restarts, Saver, Schedule, SimRng};
use click_models::{Action, ClickModel, Feedback};
use policies::{Decision, Policy};
use std::marker::PhantomData;

/// Plays `policy` against `model` to the schedule's horizon.
///
/// `environment` draws the users, `randomness` the policy's choices. The regret of a round is the
/// gap of the action played, so it varies only with the policy's choices, not with the luck of the
/// users.
///
/// # Panics
///
/// If the policy plays an action that the model does not admit, for instance a list that shows an
/// item twice. Such a policy could beat the best list.
pub fn play<M, P>(
    model: &M,
    policy: &mut P,
    schedule: &Schedule,
    environment: &mut SimRng,
    randomness: &mut SimRng,
) -> Curve
where
    M: ClickModel,
    P: Policy<M::Interaction>,
{
    on_streams(environment, randomness, schedule, &mut Rounds::<M, P, Restarts>::new(model, policy))
}

/// A policy that plays round by round.
pub(crate) struct Rounds<'a, M: ClickModel, P: Policy<M::Interaction>, S> {
    pub(crate) model: &'a M,
    pub(crate) policy: &'a mut P,
    pub(crate) decision: Decision<Action<M>, P::Note>,
    saver: PhantomData<fn() -> S>,
}

impl<'a, M: ClickModel, P: Policy<M::Interaction>, S> Rounds<'a, M, P, S> {
    pub(crate) fn new(model: &'a M, policy: &'a mut P) -> Self {
        Self { model, policy, decision: Decision::default(), saver: PhantomData }
    }
}

impl<M: ClickModel, P: Policy<M::Interaction>, S: Saver<P>> Player for Rounds<'_, M, P, S> {
    fn advance(&mut self, progress: &mut Progress, last: u64) -> Result<(), EarlyEnd> {
        let last = last.min(progress.next_pause());
        let Progress { environment, randomness, .. } = progress;
        let (mut round, mut regret, mut clicks) = (progress.rounds, progress.regret, progress.clicks);
        while round < last {
            round += 1;
            let Self { model, policy, decision, .. } = self;
            let feedback = select_and_learn(*model, *policy, round, decision, environment, randomness)?;
            regret += model.gap(&decision.action);
            clicks += model.earned(&decision.action, &feedback);
        }
        (progress.rounds, progress.regret, progress.clicks) = (round, regret, clicks);
        Ok(())
    }

    fn write(&self) -> Result<Vec<u8>, String> {
        S::write(self.policy)
    }
}

/// Plays on the caller's streams and advances them.
///
/// # Panics
///
/// If the policy plays an action that the model does not admit.
pub(crate) fn on_streams(
    environment: &mut SimRng,
    randomness: &mut SimRng,
    schedule: &Schedule,
    player: &mut dyn Player,
) -> Curve {
    let mut progress = Progress::new(environment.clone(), randomness.clone());
    let mut nothing = NoStore;
    let mut session = Session::of_curve("", Loop::Regret, schedule, None, &mut nothing, false);
    let played = session.play_curve(&mut progress, player);
    (*environment, *randomness) = (progress.environment, progress.randomness);
    played.unwrap_or_else(|ended| ended.panic());
    progress.curve
}

/// Plays one round; returns the feedback, which the policy has already learned from.
#[inline]
pub(crate) fn select_and_learn<M, P>(
    model: &M,
    policy: &mut P,
    round: u64,
    decision: &mut Decision<Action<M>, P::Note>,
    environment: &mut SimRng,
    randomness: &mut SimRng,
) -> Result<Feedback<M>, EarlyEnd>
where
    M: ClickModel,
    P: Policy<M::Interaction>,
{
    policy.select(randomness, decision);
    if !model.admits(&decision.action) {
        return Err(EarlyEnd::not_admitted(round, &decision.action));
    }
    let feedback = model.respond(&decision.action, environment);
    policy.update(decision, &feedback);
    Ok(feedback)
}
