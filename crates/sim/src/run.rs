//! The round loop: one policy against one instance for one replication.

use crate::{Schedule, SimRng};
use click_models::{Action, ClickModel, Feedback};
use policies::{Decision, Policy};

/// The record of one replication, with one entry per checkpoint.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Curve {
    /// Cumulative expected regret, in clicks.
    pub regret: Vec<f64>,
    /// Cumulative realised clicks.
    pub clicks: Vec<f64>,
    /// Whether the policy's recommendation is a best one; empty if the policy recommends nothing.
    pub accurate: Vec<bool>,
}

/// Plays `policy` against `model` to the schedule's horizon.
///
/// `environment` draws the users, `randomness` the policy's choices. The regret of a round is the gap of the action played, so it varies
/// only with the policy's choices, not with the luck of the users.
///
/// # Panics
///
/// If the policy plays an action that the model does not admit, for instance a list that shows an item twice. Such a policy could beat
/// the best list.
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
    play_and_check(model, policy, schedule, environment, randomness, |_| None)
}

/// [`play`], calling `is_right` at every checkpoint: it returns whether the policy's recommendation is a best one, if there is a
/// recommendation.
pub(crate) fn play_and_check<M, P>(
    model: &M,
    policy: &mut P,
    schedule: &Schedule,
    environment: &mut SimRng,
    randomness: &mut SimRng,
    mut is_right: impl FnMut(&P) -> Option<bool>,
) -> Curve
where
    M: ClickModel,
    P: Policy<M::Interaction>,
{
    let checkpoints = schedule.checkpoints();
    let mut curve = Curve {
        regret: Vec::with_capacity(checkpoints.len()),
        clicks: Vec::with_capacity(checkpoints.len()),
        accurate: Vec::new(),
    };
    let mut decision: Decision<Action<M>, P::Note> = Decision::default();
    let (mut round, mut regret, mut clicks) = (0, 0.0, 0.0);
    for &checkpoint in checkpoints {
        while round < checkpoint {
            round += 1;
            let (lost, clicked) = play_round(model, policy, round, &mut decision, environment, randomness);
            regret += lost;
            clicks += clicked;
        }
        curve.regret.push(regret);
        curve.clicks.push(clicks);
        curve.accurate.extend(is_right(policy));
    }
    curve
}

/// Plays one round; returns its expected regret and its clicks.
#[inline]
pub(crate) fn play_round<M, P>(
    model: &M,
    policy: &mut P,
    round: u64,
    decision: &mut Decision<Action<M>, P::Note>,
    environment: &mut SimRng,
    randomness: &mut SimRng,
) -> (f64, f64)
where
    M: ClickModel,
    P: Policy<M::Interaction>,
{
    let feedback = answer(model, policy, round, decision, environment, randomness);
    (model.gap(&decision.action), model.clicks(&feedback))
}

/// Plays one round; returns the feedback, which the policy has already learned from.
#[inline]
pub(crate) fn answer<M, P>(
    model: &M,
    policy: &mut P,
    round: u64,
    decision: &mut Decision<Action<M>, P::Note>,
    environment: &mut SimRng,
    randomness: &mut SimRng,
) -> Feedback<M>
where
    M: ClickModel,
    P: Policy<M::Interaction>,
{
    policy.select(randomness, decision);
    assert!(
        model.admits(&decision.action),
        "round {round}: the policy plays {:?}, which is no action of the model",
        decision.action
    );
    let feedback = model.respond(&decision.action, environment);
    policy.update(decision, &feedback);
    feedback
}
