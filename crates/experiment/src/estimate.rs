//! Estimates what an experiment will take: time, memory and place on disk.

use crate::Experiment;
use crate::models::{PlayRequest, Trying};
use crate::observer::{Observer, Plan, Step};
use crate::run_error::RunError;
use crate::runs::{Layout, Sequence};
use sim::Assignment;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Time that a policy is tried on an instance.
const LONGEST: Duration = Duration::from_millis(20);
/// The most instances on which a policy is tried.
const MOST_TRIALS: u64 = 3;
/// Bytes of a number in a result's files.
const NUMBER: f64 = 20.0;
/// Numbers of a policy and checkpoint in `result.json` and `curves.csv` together.
const NUMBERS: f64 = 27.0;
/// Bytes of the figures and other files that hardly depend on the experiment.
const FILES: f64 = 60_000.0;

/// What an experiment will take on this machine.
#[derive(Debug, Clone, PartialEq)]
pub struct Estimate {
    /// For every policy, the seconds of a whole run on one core. If policies stop by themselves, an estimate from above: of a run that
    /// does not stop.
    pub seconds: Vec<f64>,
    /// Memory in bytes, without that of the policies while they play.
    pub memory: f64,
    /// Bytes on disk: the runs, and the files of the result.
    pub disk: f64,
}

impl Estimate {
    /// Estimates what an experiment will take. To find the time of a run, each policy plays the beginning of a run for at most 20 ms, on up
    /// to three instances; these rounds are dropped. Memory and disk are computed.
    ///
    /// # Errors
    ///
    /// The errors of [`Runner::run`](crate::Runner::run) before the first run.
    pub fn of(experiment: &Experiment) -> Result<Self, RunError> {
        let n_instances = experiment.instances().count().max(1) as u64;
        let trials = MOST_TRIALS.min(n_instances).min(experiment.runs());
        let mut seconds = vec![0.0; experiment.policies().len()];
        for trial in 0..trials {
            // The instances of the first runs are drawn at random, or come in turn.
            let run = match experiment.assignment() {
                Assignment::Drawn => trial,
                Assignment::InTurn => trial * n_instances / trials,
            };
            for (sum, one) in seconds.iter_mut().zip(try_policies(experiment, run)?) {
                *sum += one / trials as f64;
            }
        }
        let n_policies = experiment.policies().len() as f64;
        let runs = experiment.runs() as f64 * n_policies * experiment.layout().usual() as f64;
        let checkpoints = match experiment.layout() {
            Layout::Curves(checkpoints) => checkpoints as f64,
            Layout::Answers => 1.0,
        };
        let result = FILES + n_policies * checkpoints * NUMBERS * NUMBER;
        Ok(Self { seconds, memory: experiment.memory(), disk: runs + result })
    }

    /// The processor time of `runs` runs of each policy, in seconds.
    pub fn cpu_seconds(&self, runs: u64) -> f64 {
        self.seconds.iter().sum::<f64>() * runs as f64
    }
}

/// The seconds that one run of each policy takes.
fn try_policies(experiment: &Experiment, run: u64) -> Result<Vec<f64>, RunError> {
    let tried = Tried::default();
    let sequence = || Mutex::new(Sequence::in_memory(experiment.layout(), run, 1));
    let request = PlayRequest {
        task: experiment.task(),
        horizon: experiment.horizon(),
        checkpoints: experiment.checkpoints(),
        runs: run..run + 1,
        layout: experiment.layout(),
        assignment: experiment.assignment(),
        seed: experiment.seed(),
        policies: experiment.policies(),
        own: &[],
        // One thread, so that policies are not slowed down by each other.
        threads: Some(1),
        observer: &tried,
        trying: Trying { fewest_rounds: 0, longest: LONGEST },
        // Nothing is played but the trial.
        stop: Some(&AtomicBool::new(true)),
        recorded: Arc::new(experiment.policies().iter().map(|_| sequence()).collect()),
        journal: None,
    };
    match experiment.instances().users().play(&request).map_err(RunError::from) {
        Err(error) if !error.is_stopped() => return Err(error),
        _ => {}
    }
    let seconds = tried.0.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok(seconds.into_iter().map(Option::unwrap_or_default).collect())
}

/// Keeps the times of a trial.
#[derive(Debug, Default)]
struct Tried(Mutex<Vec<Option<f64>>>);

impl Observer for Tried {
    fn begin(&self, plan: &Plan) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone_from(&plan.seconds);
    }

    fn wants_times(&self) -> bool {
        true
    }

    fn step(&self, _step: &Step) {}
}
