//! Tournaments on users of one model: policies of the catalogue and contenders of the caller.

use super::posterior::Draws;
use super::{Instance, Member};
use crate::task::Task;
use click_models::{ClickModel, Yardsticks};
use contenders::{AnyTournament, Entrant, Record};
use sim::{
    Assignment, Conditions, Contender, DrawUsers, Replication, Schedule, StateError, StateStore, Streams,
    Tournament,
};
use std::any::Any;
use std::fmt;
use std::sync::Arc;

/// Why contenders cannot play on the users of an experiment.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EnterError {
    /// A contender of the caller is made for another type of users, or for another task.
    #[error("contender {label:?} plays {plays}, but the experiment has {users}")]
    OtherUsers {
        /// The contender.
        label: String,
        /// The types of its users and task.
        plays: &'static str,
        /// The types of the experiment's users and task.
        users: &'static str,
    },
    /// Users of another program, known from a file only.
    #[error("model {0:?}: only the program that has these users can play them")]
    NoAnswers(&'static str),
    /// A policy of the catalogue cannot be played on the users.
    #[error(transparent)]
    CannotPlay(#[from] contenders::CannotPlay),
    /// A contender of the caller has a round loop that nothing disturbs.
    #[error("contender {label:?} is not played under `live`: only policies of the catalogue are")]
    NotDisturbed {
        /// The contender.
        label: String,
    },
    /// The checkpoints are not a valid schedule.
    #[error(transparent)]
    Schedule(#[from] sim::ScheduleError),
}

/// Settings of a tournament besides its users.
#[derive(Debug)]
pub struct TournamentSettings<'a> {
    /// The quantity that a run measures, and when the run ends.
    pub task: Task,
    /// Rounds of a run; the maximal number if policies stop by themselves.
    pub horizon: u64,
    /// Rounds after which regret is recorded.
    pub checkpoints: &'a [u64],
    /// The number of runs.
    pub runs: u64,
    /// Which instance a run plays on.
    pub assignment: Assignment,
    /// Master seed.
    pub seed: u64,
    /// Disturbances of the policies.
    pub live: &'a Conditions,
    /// Policies of the catalogue.
    pub policies: &'a [Entrant],
    /// Contenders of the caller.
    pub own: &'a [OwnContender],
}

/// Properties of the users that the runs meet.
#[derive(Debug)]
pub struct ValuesOfUsers {
    /// Expected clicks per round of a best list, for every run.
    pub optimal_clicks: Vec<f64>,
    /// The factor of the lower bound, mean over the drawn users; `None` if the users are known.
    pub lower_bound: Option<f64>,
    /// The loss in a round of lists that are not personal, for every run; empty for ordinary users.
    pub yardsticks: Vec<Yardsticks>,
}

/// The policy name of every contender of the caller.
pub const OWN: &str = "own";

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
    pub fn new<M: 'static, T: sim::Objective + 'static>(contender: impl Contender<M, T> + 'static) -> Self {
        let contender: Arc<dyn Contender<M, T>> = Arc::new(contender);
        Self {
            label: contender.label().to_owned(),
            contender: Arc::new(contender),
            plays: std::any::type_name::<(M, T)>(),
        }
    }

    pub(super) fn typed<M: 'static, T: sim::Objective + 'static>(
        &self,
    ) -> Result<Box<dyn Contender<M, T>>, EnterError> {
        match self.contender.downcast_ref::<Arc<dyn Contender<M, T>>>() {
            Some(contender) => Ok(Box::new(Shared(Arc::clone(contender)))),
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
struct Shared<M, T>(Arc<dyn Contender<M, T>>);

impl<M, T: sim::Objective> Contender<M, T> for Shared<M, T> {
    fn label(&self) -> &str {
        self.0.label()
    }

    fn is_saved(&self) -> bool {
        self.0.is_saved()
    }

    fn resume(
        &self,
        replication: Replication<'_, M>,
        task: &T,
        state: Option<&[u8]>,
        store: &mut dyn StateStore,
    ) -> Result<T::Record, StateError> {
        self.0.resume(replication, task, state, store)
    }
}

/// A tournament for regret.
pub(super) fn for_regret<'a, M: Member>(
    instances: &'a [Instance<M>],
    settings: &TournamentSettings<'_>,
) -> Result<Box<dyn AnyTournament + 'a>, EnterError> {
    let &TournamentSettings { policies, horizon, live, own, .. } = settings;
    if let (true, Some(own)) = (live.disturb(), own.first()) {
        return Err(EnterError::NotDisturbed { label: own.label.clone() });
    }
    let is_live = live.disturb() || policies.iter().any(|entrant| entrant.live.is_some());
    let contenders = if is_live {
        M::live_contenders(policies, horizon, live)?
    } else {
        M::contenders(policies, horizon)?
    };
    tournament(instances, contenders, Schedule::new(settings.checkpoints.to_vec())?, settings, None)
}

/// A tournament of these contenders and those of the caller; `drawn` draws the users of a run, by
/// default from their posterior.
pub(super) fn tournament<'a, M: ClickModel + Clone + Send + Sync + 'static, T>(
    instances: &'a [Instance<M>],
    mut contenders: Vec<Box<dyn Contender<M, T>>>,
    task: T,
    settings: &TournamentSettings<'_>,
    drawn: Option<Box<dyn DrawUsers<M> + 'a>>,
) -> Result<Box<dyn AnyTournament + 'a>, EnterError>
where
    T: sim::Objective<Record: Into<Record>> + 'static,
{
    for own in settings.own {
        contenders.push(own.typed()?);
    }
    let &TournamentSettings { runs, assignment, seed, .. } = settings;
    let mut users = without_contenders(instances, task, assignment, seed);
    users.uncertainty = drawn.or(users.uncertainty);
    Ok(Box::new(Tournament { contenders, runs, ..users }))
}

fn without_contenders<M: ClickModel + Clone + Send + Sync, T: sim::Objective>(
    instances: &[Instance<M>],
    task: T,
    assignment: Assignment,
    seed: u64,
) -> Tournament<'_, M, T> {
    let posterior = instances.iter().find_map(|instance| instance.posterior.as_ref());
    Tournament {
        instances: instances.iter().map(|instance| instance.model.clone()).collect(),
        uncertainty: posterior
            .map(|_| Box::new(Draws { instances, streams: Streams::new(seed) }) as Box<dyn DrawUsers<M>>),
        runs_per_draw: posterior.map_or(1, |posterior| posterior.file.runs_per_draw()),
        assignment,
        contenders: Vec::new(),
        task,
        streams: Streams::new(seed),
        runs: 0,
    }
}

/// The values of the users that the runs from the first on meet on these instances.
pub(super) fn values_of_users<M: Member>(
    instances: &[Instance<M>],
    assignment: Assignment,
    seed: u64,
    instances_of_runs: &[usize],
) -> ValuesOfUsers {
    let tournament = without_contenders(instances, sim::WithBudget { horizon: 1 }, assignment, seed);
    let (mut optimal_clicks, mut bounds) = (Vec::with_capacity(instances_of_runs.len()), 0.0);
    for (run, &instance) in (0..).zip(instances_of_runs) {
        let users = tournament.users(run, instance);
        optimal_clicks.push(users.expected_clicks(&users.optimal_action()));
        if tournament.uncertainty.is_some() {
            bounds += M::LOWER_BOUND.map_or(f64::INFINITY, |(_, factor)| factor(&users));
        }
    }
    let n_runs = optimal_clicks.len() as f64;
    let lower_bound = tournament.uncertainty.map(|_| bounds / n_runs);
    ValuesOfUsers { optimal_clicks, lower_bound, yardsticks: vec![] }
}
