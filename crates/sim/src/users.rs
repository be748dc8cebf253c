//! The round loop of users who differ: one of them arrives, is shown a list, and answers.

use crate::contender::plays_curves;
use crate::session::{EarlyEnd, Player};
use crate::state::Progress;
use crate::{Entry, Restarts, Saver};
use click_models::{ClickModel, Context, ContextKnown, Personal, Ranking, WithAttraction};
use policies::{Decision, PolicyFor, SelectFor};
use std::marker::PhantomData;

/// The part of the contexts that a policy is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sees {
    /// The segment of the user.
    pub segment: bool,
    /// The features of the user.
    pub user_features: bool,
    /// The features of the items.
    pub item_features: bool,
}

impl Default for Sees {
    /// All of them.
    fn default() -> Self {
        Self { segment: true, user_features: true, item_features: true }
    }
}

impl Sees {
    /// The part of the knowledge that a policy gets.
    fn known(self, known: ContextKnown<'_>) -> ContextKnown<'_> {
        let features = if self.item_features { known.item_features() } else { &[] };
        ContextKnown::new(known.n_items(), features)
            .expect("features of the same items")
            .with_user_features(if self.user_features { known.n_user_features() } else { 0 })
            .with_segments(if self.segment { known.n_segments() } else { 1 })
    }

    /// Writes the part of a context that a policy gets.
    fn told(self, context: &Context, out: &mut Context) {
        out.segment = if self.segment { context.segment } else { 0 };
        out.features.clear();
        if self.user_features {
            out.features.extend_from_slice(&context.features);
        }
    }
}

/// Knowledge of a policy for users who differ: of their click model, and of their contexts.
pub type PersonalKnown<'a, M> = (<M as ClickModel>::Known<'a>, ContextKnown<'a>);

/// The loop of users who differ.
#[derive(Debug, Clone, Copy, Default)]
pub struct ByUsers {
    sees: Sees,
}

impl<F> Entry<F, Restarts, ByUsers> {
    /// Enters the policy that `build` constructs from [`PersonalKnown`] under the name `label`, for
    /// users who differ. It is told everything of their contexts.
    ///
    /// # Examples
    ///
    /// ```
    /// use click_models::{CascadeModel, Context, Personal};
    /// use policies::{CascadeLinear, HybridTs};
    /// use sim::{Contender, Entry, PersonalKnown, Replication, Schedule, Streams};
    ///
    /// let user = |x: f64, attraction: [f64; 3]| {
    ///     let users = CascadeModel::from_values(&attraction, 1)?;
    ///     Ok::<_, click_models::Error>((Context { segment: 0, features: vec![x] }, users))
    /// };
    /// let users = Personal::new(vec![user(1.0, [0.8, 0.5, 0.1])?, user(-1.0, [0.1, 0.5, 0.8])?])?;
    /// let entry = Entry::for_users("mine", |(shape, context): PersonalKnown<'_, CascadeModel>| {
    ///     HybridTs::new(shape, context, Default::default()).expect("a policy for these users")
    /// });
    /// let replication = Replication::new(&users, Streams::new(1), 0);
    /// let curve = entry.replicate(replication, &Schedule::new(vec![2_000])?);
    /// assert!(curve.regret[0] < 2_000.0 * users.yardsticks().best_list);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn for_users(label: impl Into<String>, build: F) -> Self {
        Self::played_by(ByUsers::default(), label, build)
    }
}

impl<F, S> Entry<F, S, ByUsers> {
    /// The same policy, told only this part of the contexts.
    #[must_use]
    pub fn seeing(self, sees: Sees) -> Self {
        self.replayed_by(ByUsers { sees })
    }
}

/// A policy that plays users who differ round by round.
struct UserRounds<'a, M, P: SelectFor<Ranking>, S> {
    users: &'a Personal<M>,
    policy: &'a mut P,
    sees: Sees,
    told: Context,
    decision: Decision<Ranking, P::Note>,
    saver: PhantomData<fn() -> S>,
}

impl<M, P, S> Player for UserRounds<'_, M, P, S>
where
    M: WithAttraction,
    P: PolicyFor<M::Interaction>,
    S: Saver<P>,
{
    fn advance(&mut self, progress: &mut Progress, last: u64) -> Result<(), EarlyEnd> {
        let last = last.min(progress.next_pause());
        let Self { users, policy, sees, told, decision, .. } = self;
        let Progress { environment, randomness, .. } = progress;
        let (mut round, mut regret, mut clicks) = (progress.rounds, progress.regret, progress.clicks);
        while round < last {
            round += 1;
            let user = users.arrive(environment);
            sees.told(&users.contexts()[user], told);
            policy.select_for(told, randomness, decision);
            let model = users.user(user);
            if !model.admits(&decision.action) {
                return Err(EarlyEnd::not_admitted(round, &decision.action));
            }
            let feedback = model.respond(&decision.action, environment);
            policy.update_for(decision, &feedback);
            regret += model.gap(&decision.action);
            clicks += model.clicks(&feedback);
        }
        (progress.rounds, progress.regret, progress.clicks) = (round, regret, clicks);
        Ok(())
    }

    fn write(&self) -> Result<Vec<u8>, String> {
        S::write(self.policy)
    }
}

plays_curves!(ByUsers as Users, [M: WithAttraction] Personal<M>, PersonalKnown<'_, M>, [PolicyFor<M::Interaction>],
|entry, replication| {
    (replication.users.user(0).known(), entry.played.sees.known(replication.users.known()))
},
|policy| UserRounds::<M, P, S> {
    users: replication.users,
    policy,
    sees: entry.played.sees,
    told: Context::default(),
    decision: Decision::default(),
    saver: PhantomData,
});
