//! The tournament of an experiment: policies of the catalogue and contenders of the caller, on
//! users of one model.

use click_models::{Cascade, CascadeModel, ClicksOnly, Dcm, DependentClick, Pbm, PositionBased, SemiBandit};
use contenders::{
    AnyTournament, OwnRuns, OwnUsers, Play, Record, recommending_contenders, stopping_contenders,
};
use sim::{Contender, Objective, Schedule, Start, StateError, Tournament, UntilStopped, WithBudget};
use spec::{Experiment, Task};
use std::any::Any;
use std::fmt;
use std::sync::Arc;

documents::debug_is_display!(EnterError);

/// Why contenders cannot play on the users of an experiment.
#[derive(thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "described where the messages do not say all")]
pub enum EnterError {
    /// A contender of the caller is made for another type of users, or for another task.
    #[error(
        "contender {label:?} plays {plays}, but the experiment has {users}: expected these users in `with_contender`"
    )]
    OtherUsers { label: String, plays: &'static str, users: &'static str },
    /// Users of another program, known from a file only.
    #[error("model {0:?}: only the program that has these users can play them")]
    NoAnswers(&'static str),
    #[error(transparent)]
    CannotPlay(#[from] contenders::CannotPlay),
    /// A contender of the caller has a round loop that nothing disturbs.
    #[error("contender {label:?} is not played under `live`: only policies of the catalogue are")]
    NotDisturbed { label: String },
    #[error(transparent)]
    Schedule(#[from] sim::ScheduleError),
}

/// A contender of the caller.
#[derive(Clone)]
pub struct OwnContender {
    /// Its label, which is its name in the experiment.
    pub label: String,
    /// An `Arc<dyn Contender<M, T>>`.
    contender: Arc<dyn Any + Send + Sync>,
    /// `M` and `T`, for messages.
    plays: &'static str,
}

impl OwnContender {
    /// A contender without the types of its users and its task.
    pub fn new<M: 'static, T: Objective + 'static>(contender: impl Contender<M, T> + 'static) -> Self {
        let contender: Arc<dyn Contender<M, T>> = Arc::new(contender);
        Self {
            label: contender.label().to_owned(),
            contender: Arc::new(contender),
            plays: std::any::type_name::<(M, T)>(),
        }
    }

    fn typed<M: 'static, T: Objective + 'static>(&self) -> Result<Box<dyn Contender<M, T>>, EnterError> {
        match self.contender.downcast_ref::<Arc<dyn Contender<M, T>>>() {
            Some(contender) => Ok(Box::new(SharedContender(Arc::clone(contender)))),
            None => Err(EnterError::OtherUsers {
                label: self.label.clone(),
                plays: self.plays,
                users: std::any::type_name::<(M, T)>(),
            }),
        }
    }
}

impl fmt::Debug for OwnContender {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("OwnContender").field("label", &self.label).finish_non_exhaustive()
    }
}

/// A shared contender, so that an experiment can be run several times.
struct SharedContender<M, T>(Arc<dyn Contender<M, T>>);

impl<M, T: Objective> Contender<M, T> for SharedContender<M, T> {
    fn label(&self) -> &str {
        self.0.label()
    }

    fn is_saved(&self) -> bool {
        self.0.is_saved()
    }

    fn resume(&self, start: Start<'_, M>, task: &T) -> Result<T::Record, StateError> {
        self.0.resume(start, task)
    }
}

/// The tournament of an experiment, with contenders of the caller, for all runs below a number.
pub(crate) fn tournament<'a>(
    experiment: &'a Experiment,
    own: &'a [OwnContender],
    runs: u64,
) -> Result<Box<dyn AnyTournament + 'a>, EnterError> {
    let (policies, horizon) = (experiment.policies(), experiment.horizon());
    let lineup = Lineup { experiment, own, runs };
    match experiment.task() {
        Task::Regret => {}
        Task::Identify => {
            if let Some(users) = experiment.users::<CascadeModel, _>(UntilStopped { max_steps: horizon }) {
                return lineup.all(users, stopping_contenders(policies, &experiment.live().delay)?);
            }
        }
        Task::Budget => {
            if let Some(users) = experiment.users::<CascadeModel, _>(WithBudget { horizon }) {
                return lineup.all(users, recommending_contenders(policies, horizon)?);
            }
        }
    }
    let schedule = Schedule::new(experiment.checkpoints().to_vec())?;
    macro_rules! on_users {
        ($users:ident: $($Model:ty),+) => {$(
            if let Some(users) = experiment.$users::<$Model, _>(schedule.clone()) {
                return lineup.for_regret(users);
            }
        )+};
    }
    contenders::every_model!(on_users, users:);
    on_users!(different_users: PositionBased, CascadeModel, DependentClick);
    macro_rules! on_own_users {
        ($($Protocol:ty),*) => {$(
            if let Some(users) = experiment.users::<OwnUsers<$Protocol>, _>(schedule.clone()) {
                let runs = OwnRuns(users.instances.clone());
                return lineup.for_regret(Tournament { uncertainty: Some(Box::new(runs)), ..users });
            }
        )*};
    }
    on_own_users!(Pbm, SemiBandit, Cascade, Dcm, ClicksOnly);
    Err(EnterError::NoAnswers(experiment.instances().model().name))
}

/// Contenders that enter a tournament on users of any model.
struct Lineup<'a> {
    experiment: &'a Experiment,
    own: &'a [OwnContender],
    runs: u64,
}

impl<'a> Lineup<'a> {
    fn for_regret<M: Play + Clone + Send + Sync + 'static>(
        &self,
        users: Tournament<'a, M>,
    ) -> Result<Box<dyn AnyTournament + 'a>, EnterError> {
        let (policies, horizon) = (self.experiment.policies(), self.experiment.horizon());
        let live = self.experiment.live();
        if let (true, Some(own)) = (live.disturb(), self.own.first()) {
            return Err(EnterError::NotDisturbed { label: own.label.clone() });
        }
        self.all(users, M::live_contenders(policies, horizon, live)?)
    }

    fn all<M: Clone + Send + Sync + 'static, T>(
        &self,
        users: Tournament<'a, M, T>,
        mut contenders: Vec<Box<dyn Contender<M, T>>>,
    ) -> Result<Box<dyn AnyTournament + 'a>, EnterError>
    where
        T: Objective<Record: Into<Record>> + 'static,
    {
        for own in self.own {
            contenders.push(own.typed()?);
        }
        Ok(Box::new(Tournament { contenders, runs: self.runs, ..users }))
    }
}

#[cfg(test)]
mod tests;
