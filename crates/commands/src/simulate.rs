//! Runs an experiment and writes what it found.

mod answers;
mod regret;
#[cfg(test)]
mod tests;

use crate::config::{Experiment, Instance, Instances, Task};
use crate::manifest::{Manifest, Moment};
use crate::output::{OutputDir, RUNS};
use crate::progress::Progress;
use crate::report::figure::{self, Figure, Looks};
use crate::result::{Measured, ResultFile};
use crate::timing::{Elapsed, Stopwatch, Timing};
use anyhow::{Context, Result, bail};
use click_models::{CascadeModel, ClickModel};
use contenders::{Play, recommending_contenders, stopping_contenders};
use sim::{
    Contender, Curve, Identification, Observer, Outcome, Schedule, Streams, Tournament, UntilStopped,
    WithBudget,
};
use std::path::Path;
use std::sync::Mutex;

/// How to run, none of which changes a result.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Options {
    /// Threads; all cores when absent.
    pub(crate) threads: Option<usize>,
    /// Whether to keep quiet about progress.
    pub(crate) quiet: bool,
    /// Whether to keep every run in `runs.csv`.
    pub(crate) keep_runs: bool,
}

/// What a run of an experiment gave.
#[derive(Debug)]
pub(crate) struct Simulation {
    /// What it found.
    pub(crate) measured: Measured,
    /// How long it took.
    pub(crate) timing: Timing,
}

/// Runs `experiment` and writes its files to `dir`, `figures` among them, in which policies have the given `looks`.
///
/// # Errors
///
/// More than memory holds; an unusable directory, which is found out before the first run; a file that cannot be written.
pub(crate) fn simulate(
    experiment: &Experiment,
    dir: &Path,
    figures: &[Figure],
    looks: &Looks,
    options: Options,
) -> Result<Simulation> {
    let started = Moment::now();
    if options.keep_runs
        && let Some(fault) = experiment.too_large_for_all_runs()
    {
        bail!("--keep-runs: {fault}");
    }
    let extra = extra_files(figures, options);
    let extra: Vec<&str> = extra.iter().map(String::as_str).collect();
    let output = OutputDir::claim(dir, &experiment.identity(), &experiment.name, &extra)?;
    let played = play(experiment, options)?;
    let (result, curves, runs) = match &played.seen {
        Seen::Curves { outcome, optimal_clicks } => {
            regret::tell(experiment, outcome, optimal_clicks, options)?
        }
        Seen::Answers(outcome) => answers::tell(experiment, outcome, options)?,
    };

    let mut files = vec![
        ("result.json".to_owned(), line(serde_json::to_vec(&result)?)),
        ("curves.csv".to_owned(), curves),
        ("timing.json".to_owned(), played.timing.to_json()),
        (SPEC.to_owned(), experiment.to_toml().into_bytes()),
    ];
    let drawn = figure::draw(figures, &result, looks)?;
    files.extend(drawn.into_iter().map(|(name, drawing)| (name, drawing.into_bytes())));
    files.extend(runs.map(|runs| (RUNS.to_owned(), runs)));
    let files: Vec<(&str, &[u8])> =
        files.iter().map(|(name, content)| (name.as_str(), content.as_slice())).collect();
    let manifest = Manifest::new(experiment, started, played.timing.threads, &files);
    output.write_all(&manifest.to_json(), &files)?;
    let (curves, answers) = match played.seen {
        Seen::Curves { outcome, .. } => (outcome.records, Vec::new()),
        Seen::Answers(outcome) => (Vec::new(), outcome.records),
    };
    let (regrets, accurate) = curves
        .into_iter()
        .map(|runs| runs.into_iter().map(|curve| (curve.regret, curve.accurate)).unzip())
        .unzip();
    Ok(Simulation { measured: Measured { result, regrets, accurate, answers }, timing: played.timing })
}

/// The experiment as it was run.
const SPEC: &str = "spec.toml";

/// Files that are written besides those of every experiment.
fn extra_files(figures: &[Figure], options: Options) -> Vec<String> {
    let mut names = figure::file_names(figures);
    names.push(SPEC.to_owned());
    if options.keep_runs {
        names.push(RUNS.to_owned());
    }
    names
}

/// A text file ends with a line break.
fn line(mut text: Vec<u8>) -> Vec<u8> {
    text.push(b'\n');
    text
}

/// Everything that was simulated.
struct Played {
    seen: Seen,
    timing: Timing,
}

/// What the runs left behind.
enum Seen {
    /// Regret and clicks.
    Curves {
        outcome: Outcome<Curve>,
        /// Expected clicks a round of a best list, for every run.
        optimal_clicks: Vec<f64>,
    },
    /// What they said of the best items.
    Answers(Outcome<Identification>),
}

/// What an experiment's files say: its result, the table of its curves, and that of its runs where it is asked for.
type Told = (ResultFile, Vec<u8>, Option<Vec<u8>>);

fn play(experiment: &Experiment, options: Options) -> Result<Played> {
    let (policies, horizon) = (&experiment.policies, experiment.horizon);
    match (&experiment.instances, experiment.task) {
        (Instances::Cascade(list), Task::Identify) => {
            let task = UntilStopped { max_steps: horizon };
            play_for_answers(experiment, list, &stopping_contenders(policies)?, &task, options)
        }
        (Instances::Cascade(list), Task::Budget) => {
            let task = WithBudget { horizon };
            play_for_answers(experiment, list, &recommending_contenders(policies, horizon)?, &task, options)
        }
        (Instances::Pbm(list), _) => play_curves(experiment, list, options),
        (Instances::SemiBandit(list), _) => play_curves(experiment, list, options),
        (Instances::Cascade(list), _) => play_curves(experiment, list, options),
        (Instances::Dcm(list), _) => play_curves(experiment, list, options),
        (Instances::RankOne(list), _) => play_curves(experiment, list, options),
        (Instances::Dueling(duels), _) => play_curves(experiment, duels.list(), options),
    }
}

/// Plays for regret.
fn play_curves<M: Play + Clone>(
    experiment: &Experiment,
    instances: &[Instance<M>],
    options: Options,
) -> Result<Played> {
    let contenders = M::contenders(&experiment.policies, experiment.horizon)?;
    let instances = models(instances);
    let schedule = Schedule::new(experiment.checkpoints.clone())?;
    let rounds = |curves: &[Curve]| curves.len() as u64 * experiment.horizon;
    let (outcome, timing) = play_on(experiment, &instances, &contenders, &schedule, rounds, options)?;
    let optimal_clicks = |&instance: &usize| {
        let users = &instances[instance];
        users.expected_clicks(&users.optimal_action())
    };
    let optimal_clicks = outcome.drawn.iter().map(optimal_clicks).collect();
    Ok(Played { seen: Seen::Curves { outcome, optimal_clicks }, timing })
}

/// Plays for the best items.
fn play_for_answers<T: sim::Task<Record = Identification>>(
    experiment: &Experiment,
    instances: &[Instance<CascadeModel>],
    contenders: &[Box<dyn Contender<CascadeModel, T>>],
    task: &T,
    options: Options,
) -> Result<Played> {
    let rounds = |runs: &[Identification]| runs.iter().map(|run| run.steps).sum();
    let (outcome, timing) = play_on(experiment, &models(instances), contenders, task, rounds, options)?;
    Ok(Played { seen: Seen::Answers(outcome), timing })
}

fn models<M: Clone>(instances: &[Instance<M>]) -> Vec<M> {
    instances.iter().map(|instance| instance.model.clone()).collect()
}

/// Plays everything; `rounds` says how many rounds a policy's runs had in all.
fn play_on<M: ClickModel, T: sim::Task>(
    experiment: &Experiment,
    instances: &[M],
    contenders: &[Box<dyn Contender<M, T>>],
    task: &T,
    rounds: impl Fn(&[T::Record]) -> u64,
    options: Options,
) -> Result<(Outcome<T::Record>, Timing)> {
    let streams = Streams::new(experiment.seed);
    let tournament = Tournament {
        instances,
        assignment: experiment.assignment,
        contenders,
        task,
        streams,
        runs: experiment.runs,
    };
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(options.threads.unwrap_or(0))
        .build()
        .context("starting the threads")?;
    let watch = Watch {
        progress: Progress::start(
            &experiment.name,
            experiment.runs * contenders.len() as u64,
            "runs",
            options.quiet,
        ),
        elapsed: contenders.iter().map(|_| Mutex::default()).collect(),
    };
    let wall = Stopwatch::start();
    let outcome = pool.install(|| tournament.run(&watch));
    let wall = wall.elapsed().wall;

    let played = contenders.iter().zip(watch.elapsed()).zip(&outcome.records);
    let speeds: Vec<(&str, Elapsed, u64)> =
        played.map(|((contender, elapsed), records)| (contender.label(), elapsed, rounds(records))).collect();
    let timing = Timing::new(pool.current_num_threads(), wall, &speeds);
    Ok((outcome, timing))
}

/// Shows progress and adds up every contender's time.
struct Watch {
    progress: Progress,
    elapsed: Vec<Mutex<Elapsed>>,
}

impl Watch {
    fn elapsed(&self) -> impl Iterator<Item = Elapsed> + '_ {
        self.elapsed.iter().map(|elapsed| *elapsed.lock().unwrap_or_else(std::sync::PoisonError::into_inner))
    }
}

impl Observer for Watch {
    fn observe<T>(&self, contender: usize, work: impl FnOnce() -> T) -> T {
        let stopwatch = Stopwatch::start();
        let done = work();
        let mut elapsed = self.elapsed[contender].lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        *elapsed = *elapsed + stopwatch.elapsed();
        drop(elapsed);
        self.progress.add(1);
        done
    }
}
