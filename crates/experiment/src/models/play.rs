//! Plays an experiment on users of one model: policies of the catalogue and contenders of the caller, on all cores.

mod runs;
mod trial;

use super::posterior::Draws;
use super::{Instance, Member};
use crate::journal::{Journal, JournalError};
use crate::observer::Observer;
use crate::runs::{Layout, Recorded, Runs, Sequence};
use crate::task::Task;
use crate::timing::Timing;
use click_models::ClickModel;
use contenders::Entrant;
use sim::{
    Assignment, Contender, DrawUsers, Identification, Keeper, Replication, Schedule, StateError, Streams,
    Tournament,
};
use std::any::Any;
use std::fmt;
use std::ops::Range;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

/// Why contenders cannot play on the users of an experiment.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlayError {
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
    /// A policy of the catalogue cannot be played on the users.
    #[error(transparent)]
    CannotPlay(#[from] contenders::CannotPlay),
    /// The checkpoints are not a valid schedule.
    #[error(transparent)]
    Schedule(#[from] sim::ScheduleError),
    /// The threads cannot be started.
    #[error("starting the threads: {0}")]
    Threads(rayon::ThreadPoolBuildError),
    /// The runs cannot be recorded.
    #[error(transparent)]
    Journal(#[from] JournalError),
}

/// The settings of an experiment, without its users.
#[derive(Debug)]
pub struct PlayRequest<'a> {
    pub(crate) task: Task,
    /// Rounds of a run; the maximal number if policies stop by themselves.
    pub(crate) horizon: u64,
    /// Rounds after which regret is recorded.
    pub(crate) checkpoints: &'a [u64],
    /// The runs to play, by their numbers.
    pub(crate) runs: Range<u64>,
    /// The values of a run.
    pub(crate) layout: Layout,
    /// Which instance a run plays on.
    pub(crate) assignment: Assignment,
    pub(crate) seed: u64,
    pub(crate) policies: &'a [Entrant],
    /// Contenders of the caller.
    pub(crate) own: &'a [OwnContender],
    /// Number of threads; one per core if absent.
    pub(crate) threads: Option<usize>,
    pub(crate) observer: &'a dyn Observer,
    /// Whether the caller wants to stop.
    pub(crate) stop: Option<&'a AtomicBool>,
    /// The runs of every contender that are recorded already, and places for the others.
    pub(crate) recorded: Arc<Vec<Mutex<Sequence>>>,
    /// Where runs are recorded; `None` for memory.
    pub(crate) journal: Option<&'a Journal>,
}

/// The runs of an experiment and their timing.
#[derive(Debug)]
pub struct Played {
    pub(crate) runs: Runs,
    pub(crate) timing: Timing,
    /// The number of runs that were played now.
    pub(crate) n_new_runs: u64,
    /// What else is known of the users of every run, if regret was measured.
    pub(crate) drawn: Option<DrawnUsers>,
}

/// Properties of the users that the runs drew.
#[derive(Debug)]
pub(crate) struct DrawnUsers {
    /// Expected clicks per round of a best list, for every run.
    pub(crate) optimal_clicks: Vec<f64>,
    /// The factor of the lower bound, mean over the drawn users; `None` if the users are known.
    pub(crate) lower_bound: Option<f64>,
}

/// The policy name of every contender of the caller.
pub(crate) const OWN: &str = "own";

/// A contender of the caller.
#[derive(Clone)]
pub(crate) struct OwnContender {
    pub(crate) label: String,
    /// An `Arc<dyn Contender<M, T>>`.
    contender: Arc<dyn Any + Send + Sync>,
    /// `M` and `T`, for messages.
    plays: &'static str,
}

impl OwnContender {
    pub(crate) fn new<M: ClickModel + 'static, T: sim::Task + 'static>(
        contender: impl Contender<M, T> + 'static,
    ) -> Self {
        let contender: Arc<dyn Contender<M, T>> = Arc::new(contender);
        Self {
            label: contender.label().to_owned(),
            contender: Arc::new(contender),
            plays: std::any::type_name::<(M, T)>(),
        }
    }

    fn typed<M: ClickModel + 'static, T: sim::Task + 'static>(
        &self,
    ) -> Result<Box<dyn Contender<M, T>>, PlayError> {
        match self.contender.downcast_ref::<Arc<dyn Contender<M, T>>>() {
            Some(contender) => Ok(Box::new(Shared(Arc::clone(contender)))),
            None => Err(PlayError::OtherUsers {
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

impl<M: ClickModel, T: sim::Task> Contender<M, T> for Shared<M, T> {
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
        keeper: &mut dyn Keeper,
    ) -> Result<T::Record, StateError> {
        self.0.resume(replication, task, state, keeper)
    }
}

/// Plays all runs and records regret and clicks.
pub(super) fn play_curves<M: Member>(
    instances: &[Instance<M>],
    game: &PlayRequest<'_>,
) -> Result<Played, PlayError> {
    let contenders = M::contenders(game.policies, game.horizon)?;
    let schedule = Schedule::new(game.checkpoints.to_vec())?;
    let (runs, timing, n_new_runs) = play(instances, contenders, &schedule, game)?;
    let (models, draws) = (models(instances), Draws(instances));
    let tournament = tournament(&draws, &models, &[], &schedule, game);
    let (mut optimal_clicks, mut bounds) = (Vec::with_capacity(runs.n_runs()), 0.0);
    for (replication, &instance) in game.runs.clone().zip(runs.instances()) {
        let users = tournament.users(replication, instance);
        optimal_clicks.push(users.expected_clicks(&users.optimal_action()));
        if tournament.uncertainty.is_some() {
            bounds += M::LOWER_BOUND.map_or(f64::INFINITY, |(_, factor)| factor(&users));
        }
    }
    let lower_bound = tournament.uncertainty.map(|_| bounds / runs.n_runs() as f64);
    let drawn = Some(DrawnUsers { optimal_clicks, lower_bound });
    Ok(Played { runs, timing, n_new_runs, drawn })
}

/// Plays all runs and records the answers.
pub(super) fn play_answers<
    M: ClickModel + Clone + Send + Sync + 'static,
    T: sim::Task<Record = Identification> + 'static,
>(
    instances: &[Instance<M>],
    contenders: Vec<Box<dyn Contender<M, T>>>,
    task: &T,
    game: &PlayRequest<'_>,
) -> Result<Played, PlayError> {
    let (runs, timing, n_new_runs) = play(instances, contenders, task, game)?;
    Ok(Played { runs, timing, n_new_runs, drawn: None })
}

/// All runs of these contenders.
fn tournament<'a, M: ClickModel + Clone + Send + Sync, T: sim::Task>(
    draws: &'a Draws<'a, M>,
    models: &'a [M],
    contenders: &'a [Box<dyn Contender<M, T>>],
    task: &'a T,
    game: &PlayRequest<'_>,
) -> Tournament<'a, M, T> {
    let posterior = draws.0.iter().find_map(|instance| instance.posterior.as_ref());
    Tournament {
        instances: models,
        uncertainty: posterior.map(|_| draws as &dyn DrawUsers<M>),
        runs_per_draw: posterior.map_or(1, |posterior| posterior.file.runs_per_draw()),
        assignment: game.assignment,
        contenders,
        task,
        streams: Streams::new(game.seed),
        runs: game.runs.end,
    }
}

fn models<M: Clone>(instances: &[Instance<M>]) -> Vec<M> {
    instances.iter().map(|instance| instance.model.clone()).collect()
}

/// Plays the runs that are not recorded yet.
fn play<M, T>(
    instances: &[Instance<M>],
    mut contenders: Vec<Box<dyn Contender<M, T>>>,
    task: &T,
    game: &PlayRequest<'_>,
) -> Result<(Runs, Timing, u64), PlayError>
where
    M: ClickModel + Clone + Send + Sync + 'static,
    T: sim::Task<Record: Recorded> + 'static,
{
    for own in game.own {
        contenders.push(own.typed()?);
    }
    let (models, draws) = (models(instances), Draws(instances));
    runs::play(&tournament(&draws, &models, &contenders, task, game), game)
}
