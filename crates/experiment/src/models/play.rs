//! Plays an experiment on users of one model: policies of the catalogue and contenders of the caller, on all cores.

use super::posterior::Draws;
use super::{Instance, Member};
use crate::observer::{Observer, Watch};
use crate::task::Task;
use crate::timing::{Stopwatch, Timing};
use click_models::ClickModel;
use contenders::Entrant;
use sim::{
    Assignment, Contender, Curve, DrawUsers, Identification, Outcome, Replication, Schedule, Streams,
    Tournament,
};
use std::any::Any;
use std::fmt;
use std::sync::Arc;

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
}

/// The settings of an experiment, without its users.
#[derive(Debug)]
pub struct PlayRequest<'a> {
    pub(crate) task: Task,
    /// Rounds of a run; the maximal number if policies stop by themselves.
    pub(crate) horizon: u64,
    /// Rounds after which regret is recorded.
    pub(crate) checkpoints: &'a [u64],
    pub(crate) runs: u64,
    /// Which instance a run plays on.
    pub(crate) assignment: Assignment,
    pub(crate) seed: u64,
    pub(crate) policies: &'a [Entrant],
    /// Contenders of the caller.
    pub(crate) own: &'a [OwnContender],
    /// Number of threads; one per core if absent.
    pub(crate) threads: Option<usize>,
    pub(crate) observer: &'a dyn Observer,
}

/// The runs of an experiment and their timing.
#[derive(Debug)]
pub struct Played {
    pub(crate) runs: RunOutcomes,
    pub(crate) timing: Timing,
}

/// Every run of every contender.
#[derive(Debug)]
pub(crate) enum RunOutcomes {
    /// Regret and clicks at checkpoints.
    Curves {
        outcome: Outcome<Curve>,
        /// Expected clicks per round of a best list, for every run.
        optimal_clicks: Vec<f64>,
        /// The factor of the lower bound, mean over the drawn users; `None` if the users are known.
        lower_bound: Option<f64>,
    },
    /// Answers to the question which items are best.
    Answers(Outcome<Identification>),
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

    fn replicate(&self, replication: Replication<'_, M>, task: &T) -> T::Record {
        self.0.replicate(replication, task)
    }
}

/// Plays all runs and records regret and clicks.
pub(super) fn play_curves<M: Member>(
    instances: &[Instance<M>],
    game: &PlayRequest<'_>,
) -> Result<Played, PlayError> {
    let contenders = M::contenders(game.policies, game.horizon)?;
    let schedule = Schedule::new(game.checkpoints.to_vec())?;
    let rounds = |curves: &[Curve]| curves.len() as u64 * game.horizon;
    let (outcome, timing) = play(instances, contenders, &schedule, rounds, game)?;
    let (models, draws) = (models(instances), Draws(instances));
    let tournament = tournament(&draws, &models, &[], &schedule, game);
    let (mut optimal_clicks, mut bounds) = (Vec::with_capacity(outcome.drawn.len()), 0.0);
    for (replication, &instance) in (0..).zip(&outcome.drawn) {
        let users = tournament.users(replication, instance);
        optimal_clicks.push(users.expected_clicks(&users.optimal_action()));
        if tournament.uncertainty.is_some() {
            bounds += M::lower_bound(&users);
        }
    }
    let lower_bound = tournament.uncertainty.map(|_| bounds / outcome.drawn.len() as f64);
    Ok(Played { runs: RunOutcomes::Curves { outcome, optimal_clicks, lower_bound }, timing })
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
    let rounds = |runs: &[Identification]| runs.iter().map(|run| run.steps).sum();
    let (outcome, timing) = play(instances, contenders, task, rounds, game)?;
    Ok(Played { runs: RunOutcomes::Answers(outcome), timing })
}

/// All runs of these contenders.
fn tournament<'a, M: ClickModel + Clone + Send + Sync, T: sim::Task>(
    draws: &'a Draws<'a, M>,
    models: &'a [M],
    contenders: &'a [Box<dyn Contender<M, T>>],
    task: &'a T,
    game: &PlayRequest<'_>,
) -> Tournament<'a, M, T> {
    let is_uncertain = draws.0.iter().any(|instance| instance.posterior.is_some());
    Tournament {
        instances: models,
        uncertainty: is_uncertain.then_some(draws as &dyn DrawUsers<M>),
        assignment: game.assignment,
        contenders,
        task,
        streams: Streams::new(game.seed),
        runs: game.runs,
    }
}

fn models<M: Clone>(instances: &[Instance<M>]) -> Vec<M> {
    instances.iter().map(|instance| instance.model.clone()).collect()
}

/// Plays all runs of all contenders. `rounds` counts the rounds of a policy's runs.
fn play<M: ClickModel + Clone + Send + Sync + 'static, T: sim::Task + 'static>(
    instances: &[Instance<M>],
    mut contenders: Vec<Box<dyn Contender<M, T>>>,
    task: &T,
    rounds: impl Fn(&[T::Record]) -> u64,
    game: &PlayRequest<'_>,
) -> Result<(Outcome<T::Record>, Timing), PlayError> {
    for own in game.own {
        contenders.push(own.typed()?);
    }
    let (models, draws) = (models(instances), Draws(instances));
    let tournament = tournament(&draws, &models, &contenders, task, game);
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(game.threads.unwrap_or(0))
        .build()
        .map_err(PlayError::Threads)?;
    let watch = Watch::new(contenders.len(), game.observer);
    let wall = Stopwatch::start();
    let outcome = pool.install(|| tournament.run(&watch));
    let wall = wall.elapsed().wall;

    let played = contenders.iter().zip(watch.elapsed()).zip(&outcome.records);
    let speeds: Vec<_> =
        played.map(|((contender, elapsed), records)| (contender.label(), elapsed, rounds(records))).collect();
    let timing = Timing::new(pool.current_num_threads(), wall, &speeds);
    Ok((outcome, timing))
}
