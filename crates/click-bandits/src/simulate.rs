//! Runs an experiment and writes what it found.

use crate::config::{Experiment, Instance, Instances};
use crate::contenders::{contenders, rank_one_contenders};
use crate::manifest::{Manifest, Moment};
use crate::output::OutputDir;
use crate::progress::Progress;
use crate::report::figure::{self, Figure, Looks};
use crate::result::{Bound, MeanSe, Measured, Optimum, Paired, PolicyResult, ResultFile, Spread};
use crate::tables;
use crate::timing::{Elapsed, Stopwatch, Timing};
use anyhow::{Context, Result, bail};
use click_models::ClickModel;
use confidence::math::ln;
use sim::{Contender, Curve, Observer, Outcome, Schedule, Streams, Summary, Tournament};
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
    let spreads = played.spreads();
    let result = summarise(experiment, &played, &spreads);

    let mut files = vec![
        ("result.json".to_owned(), line(serde_json::to_vec(&result)?)),
        ("curves.csv".to_owned(), tables::curves(&played.labels, &experiment.checkpoints, &spreads)?),
        ("timing.json".to_owned(), played.timing.to_json()),
        (SPEC.to_owned(), experiment.to_toml().into_bytes()),
    ];
    let drawn = figure::draw(figures, &result, looks)?;
    files.extend(drawn.into_iter().map(|(name, drawing)| (name, drawing.into_bytes())));
    if options.keep_runs {
        let runs = tables::runs(&played.labels, &experiment.checkpoints, &played.outcome)?;
        files.push((RUNS.to_owned(), runs));
    }
    let files: Vec<(&str, &[u8])> =
        files.iter().map(|(name, content)| (name.as_str(), content.as_slice())).collect();
    let manifest = Manifest::new(experiment, started, played.timing.threads, &files);
    output.write_all(&manifest.to_json(), &files)?;
    let regrets = |curves: Vec<Curve>| curves.into_iter().map(|curve| curve.regret).collect();
    let regrets = played.outcome.curves.into_iter().map(regrets).collect();
    Ok(Simulation { measured: Measured { result, regrets }, timing: played.timing })
}

/// The experiment as it was run.
const SPEC: &str = "spec.toml";
/// Every run, where that is asked for.
const RUNS: &str = "runs.csv";

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

/// Everything that was simulated, and what the models say of it.
struct Played {
    labels: Vec<String>,
    outcome: Outcome,
    /// Expected clicks a round of a best list, for every run.
    optimal_clicks: Vec<f64>,
    timing: Timing,
}

impl Played {
    /// Regret and clicks of every policy at every checkpoint.
    fn spreads(&self) -> Vec<[Spread; 2]> {
        let spreads = |curves: &Vec<Curve>| {
            [spread(curves, |curve| &curve.regret), spread(curves, |curve| &curve.clicks)]
        };
        self.outcome.curves.iter().map(spreads).collect()
    }
}

fn play(experiment: &Experiment, options: Options) -> Result<Played> {
    let (policies, horizon) = (&experiment.policies, experiment.horizon);
    match &experiment.instances {
        Instances::Pbm(list) => play_on(experiment, list, &contenders(policies, horizon)?, options),
        Instances::SemiBandit(list) => play_on(experiment, list, &contenders(policies, horizon)?, options),
        Instances::Cascade(list) => play_on(experiment, list, &contenders(policies, horizon)?, options),
        Instances::Dcm(list) => play_on(experiment, list, &contenders(policies, horizon)?, options),
        Instances::RankOne(list) => {
            play_on(experiment, list, &rank_one_contenders(policies, horizon)?, options)
        }
    }
}

fn play_on<M: ClickModel + Clone>(
    experiment: &Experiment,
    instances: &[Instance<M>],
    contenders: &[Box<dyn Contender<M>>],
    options: Options,
) -> Result<Played> {
    let instances: &[M] = &instances.iter().map(|instance| instance.model.clone()).collect::<Vec<_>>();
    let schedule = Schedule::new(experiment.checkpoints.clone())?;
    let tournament = Tournament {
        instances,
        assignment: experiment.assignment,
        contenders,
        schedule: &schedule,
        streams: Streams::new(experiment.seed),
        runs: experiment.runs,
    };
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(options.threads.unwrap_or(0))
        .build()
        .context("starting the threads")?;
    let watch = Watch {
        progress: Progress::start(&experiment.name, experiment.runs * contenders.len() as u64, options.quiet),
        elapsed: contenders.iter().map(|_| Mutex::default()).collect(),
    };
    let wall = Stopwatch::start();
    let outcome = pool.install(|| tournament.run(&watch));
    let wall = wall.elapsed().wall;

    let labels: Vec<String> = contenders.iter().map(|contender| contender.label().to_owned()).collect();
    let rounds = experiment.runs * experiment.horizon;
    let speeds: Vec<(&str, Elapsed, u64)> = labels
        .iter()
        .zip(watch.elapsed())
        .map(|(label, elapsed)| (label.as_str(), elapsed, rounds))
        .collect();
    let timing = Timing::new(pool.current_num_threads(), wall, &speeds);
    let optimal_clicks = |&instance: &usize| {
        let users = &instances[instance];
        users.expected_clicks(&users.optimal_action())
    };
    let optimal_clicks = outcome.drawn.iter().map(optimal_clicks).collect();
    Ok(Played { labels, outcome, optimal_clicks, timing })
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

fn summarise(experiment: &Experiment, played: &Played, spreads: &[[Spread; 2]]) -> ResultFile {
    let checkpoints = &experiment.checkpoints;
    let policies = experiment.policies.iter().zip(spreads).map(|(entry, [regret, clicks])| PolicyResult {
        label: entry.label.clone(),
        policy: entry.name.clone(),
        t: checkpoints.clone(),
        regret: regret.clone(),
        clicks: MeanSe { mean: clicks.mean.clone(), se: clicks.se.clone() },
    });
    let optimum = |&checkpoint: &u64| -> Vec<f64> {
        played.optimal_clicks.iter().map(|clicks| clicks * checkpoint as f64).collect()
    };
    ResultFile {
        schema: 1,
        name: experiment.name.clone(),
        unit: experiment.instances.unit(),
        task: experiment.task.name().to_owned(),
        runs: experiment.runs,
        horizon: experiment.horizon,
        seed: experiment.seed,
        policies: policies.collect(),
        paired: paired(checkpoints, played),
        bounds: (experiment.instances.lower_bound().into_iter())
            .map(|(label, factor)| Bound {
                label: label.to_owned(),
                t: checkpoints.clone(),
                value: checkpoints.iter().map(|&checkpoint| factor * ln(checkpoint as f64)).collect(),
            })
            .collect(),
        optimum: Optimum { t: checkpoints.clone(), clicks: mean_se(checkpoints.iter().map(optimum)) },
    }
}

/// Differences of regret between every two policies over the same runs.
fn paired(checkpoints: &[u64], played: &Played) -> Vec<Paired> {
    let curves = &played.outcome.curves;
    let mut pairs = Vec::new();
    for first in 0..curves.len() {
        for second in first + 1..curves.len() {
            let differences = (0..checkpoints.len()).map(|checkpoint| -> Vec<f64> {
                let runs = curves[first].iter().zip(&curves[second]);
                runs.map(|(a, b)| a.regret[checkpoint] - b.regret[checkpoint]).collect()
            });
            pairs.push(Paired {
                a: played.labels[first].clone(),
                b: played.labels[second].clone(),
                t: checkpoints.to_vec(),
                regret: mean_se(differences),
            });
        }
    }
    pairs
}

/// Mean and standard error of every sample.
fn mean_se(samples: impl Iterator<Item = Vec<f64>>) -> MeanSe {
    let (mean, se) = samples
        .filter_map(|sample| Summary::of(&sample))
        .map(|summary| (summary.mean, summary.standard_error))
        .unzip();
    MeanSe { mean, se }
}

/// Summaries over runs of one quantity, at every checkpoint.
fn spread(curves: &[Curve], quantity: impl Fn(&Curve) -> &Vec<f64>) -> Spread {
    let n_checkpoints = curves.first().map_or(0, |curve| quantity(curve).len());
    let mut spread = Spread::default();
    for checkpoint in 0..n_checkpoints {
        let sample: Vec<f64> = curves.iter().map(|curve| quantity(curve)[checkpoint]).collect();
        if let Some(summary) = Summary::of(&sample) {
            spread.mean.push(summary.mean);
            spread.se.push(summary.standard_error);
            spread.min.push(summary.min);
            spread.max.push(summary.max);
            spread.q10.push(summary.q10);
            spread.q90.push(summary.q90);
        }
    }
    spread
}
