//! How users of one model are played: the catalogue's policies and the caller's own contenders, on all cores.

use super::Instance;
use crate::observer::{Observer, Watch};
use crate::result::{Difference, Paired, ResultFile, SCHEMA};
use crate::spec::Experiment;
use crate::timing::{Stopwatch, Timing};
use crate::{Measured, RunError, answers, curves};
use click_models::ClickModel;
use contenders::Play;
use sim::{Contender, Curve, Identification, Outcome, Schedule, Streams, Task, Tournament};
use std::any::Any;
use std::fmt;
use std::sync::Arc;

/// An experiment that is being played.
#[derive(Debug)]
pub struct Playing<'a> {
    pub(crate) experiment: &'a Experiment,
    pub(crate) own: &'a [OwnContender],
    pub(crate) threads: Option<usize>,
    pub(crate) observer: &'a dyn Observer,
}

impl Playing<'_> {
    /// The labels and names of all policies, in the order of the result.
    pub(crate) fn names(&self) -> impl Iterator<Item = (&str, &str)> {
        let of_catalogue = self.experiment.policies.iter().map(|entry| (&*entry.label, &*entry.name));
        of_catalogue.chain(self.own.iter().map(|own| (&*own.label, OWN)))
    }

    /// A difference for every two policies, the earlier one first.
    pub(crate) fn pairs(&self, difference: impl Fn(usize, usize) -> Difference) -> Vec<Paired> {
        let labels: Vec<&str> = self.names().map(|(label, _)| label).collect();
        let pairs = (0..labels.len()).flat_map(|first| (first + 1..labels.len()).map(move |b| (first, b)));
        let paired = |(first, second): (usize, usize)| Paired {
            a: labels[first].to_owned(),
            b: labels[second].to_owned(),
            difference: difference(first, second),
        };
        pairs.map(paired).collect()
    }

    /// A result that says what was run, and nothing of what was found.
    pub(crate) fn head(&self) -> ResultFile {
        let experiment = self.experiment;
        ResultFile {
            schema: SCHEMA,
            name: experiment.name.clone(),
            unit: experiment.instances.unit(),
            task: experiment.task,
            runs: experiment.runs,
            horizon: experiment.fixed_horizon(),
            max_steps: experiment.max_steps(),
            seed: experiment.seed,
            policies: Vec::new(),
            paired: Vec::new(),
            bounds: Vec::new(),
            optimum: None,
        }
    }
}

/// The policy's name of a contender that is not of the catalogue.
pub(crate) const OWN: &str = "own";

/// A contender that is not of the catalogue.
#[derive(Clone)]
pub(crate) struct OwnContender {
    pub(crate) label: String,
    /// An `Arc<dyn Contender<M, T>>`.
    contender: Arc<dyn Any + Send + Sync>,
    /// `M` and `T`, for messages.
    plays: &'static str,
}

impl OwnContender {
    pub(crate) fn new<M: ClickModel + 'static, T: Task + 'static>(
        contender: impl Contender<M, T> + 'static,
    ) -> Self {
        let contender: Arc<dyn Contender<M, T>> = Arc::new(contender);
        Self {
            label: contender.label().to_owned(),
            contender: Arc::new(contender),
            plays: std::any::type_name::<(M, T)>(),
        }
    }

    fn typed<M: ClickModel + 'static, T: Task + 'static>(
        &self,
    ) -> Result<Box<dyn Contender<M, T>>, RunError> {
        match self.contender.downcast_ref::<Arc<dyn Contender<M, T>>>() {
            Some(contender) => Ok(Box::new(Shared(Arc::clone(contender)))),
            None => Err(RunError::OtherUsers {
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

/// A contender that may be played several times.
struct Shared<M, T>(Arc<dyn Contender<M, T>>);

impl<M: ClickModel, T: Task> Contender<M, T> for Shared<M, T> {
    fn label(&self) -> &str {
        self.0.label()
    }

    fn replicate(&self, model: &M, task: &T, streams: Streams, replication: u64) -> T::Record {
        self.0.replicate(model, task, streams, replication)
    }
}

/// Plays for regret.
pub(super) fn play_curves<M: Play + Clone + 'static>(
    instances: &[Instance<M>],
    playing: &Playing<'_>,
) -> Result<Measured, RunError> {
    let experiment = playing.experiment;
    let contenders = M::contenders(&experiment.policies, experiment.horizon)?;
    let instances = models(instances);
    let schedule = Schedule::new(experiment.checkpoints.clone())?;
    let rounds = |curves: &[Curve]| curves.len() as u64 * experiment.horizon;
    let (outcome, timing) = play(&instances, contenders, &schedule, rounds, playing)?;
    let optimal_clicks = |&instance: &usize| {
        let users = &instances[instance];
        users.expected_clicks(&users.optimal_action())
    };
    let optimal_clicks: Vec<f64> = outcome.drawn.iter().map(optimal_clicks).collect();
    Ok(curves::measured(playing, outcome, &optimal_clicks, timing))
}

/// Plays for the best items.
pub(super) fn play_answers<M: ClickModel + Clone + 'static, T: Task<Record = Identification> + 'static>(
    instances: &[Instance<M>],
    contenders: Vec<Box<dyn Contender<M, T>>>,
    task: &T,
    playing: &Playing<'_>,
) -> Result<Measured, RunError> {
    let rounds = |runs: &[Identification]| runs.iter().map(|run| run.steps).sum();
    let (outcome, timing) = play(&models(instances), contenders, task, rounds, playing)?;
    Ok(answers::measured(playing, outcome, timing))
}

fn models<M: Clone>(instances: &[Instance<M>]) -> Vec<M> {
    instances.iter().map(|instance| instance.model.clone()).collect()
}

/// Plays everything; `rounds` says how many rounds a policy's runs had in all.
fn play<M: ClickModel + 'static, T: Task + 'static>(
    instances: &[M],
    mut contenders: Vec<Box<dyn Contender<M, T>>>,
    task: &T,
    rounds: impl Fn(&[T::Record]) -> u64,
    playing: &Playing<'_>,
) -> Result<(Outcome<T::Record>, Timing), RunError> {
    for own in playing.own {
        contenders.push(own.typed()?);
    }
    let experiment = playing.experiment;
    let tournament = Tournament {
        instances,
        assignment: experiment.assignment,
        contenders: &contenders,
        task,
        streams: Streams::new(experiment.seed),
        runs: experiment.runs,
    };
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(playing.threads.unwrap_or(0))
        .build()
        .map_err(RunError::Threads)?;
    let watch = Watch::new(contenders.len(), playing.observer);
    let wall = Stopwatch::start();
    let outcome = pool.install(|| tournament.run(&watch));
    let wall = wall.elapsed().wall;

    let played = contenders.iter().zip(watch.elapsed()).zip(&outcome.records);
    let speeds: Vec<_> =
        played.map(|((contender, elapsed), records)| (contender.label(), elapsed, rounds(records))).collect();
    let timing = Timing::new(pool.current_num_threads(), wall, &speeds);
    Ok((outcome, timing))
}
