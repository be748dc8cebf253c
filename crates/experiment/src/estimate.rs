//! Estimates what an experiment will take: time, memory and place on disk.

use crate::Experiment;
use crate::models::{Clock, PlayRequest, Trying};
use crate::observer::{Observer, Plan, Step};
use crate::run_error::RunError;
use crate::runs::{Layout, Sequence};
use crate::sum_up::n_pairs;
use sim::Assignment;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Time that a policy is tried on an instance.
const LONGEST: Duration = Duration::from_millis(20);
/// The most instances on which a policy is tried.
const MOST_TRIALS: u64 = 3;
/// Bytes of a policy at a checkpoint in the tables, figures and page of a result. A page has its figures once more.
const AT_CHECKPOINT: f64 = 700.0;
/// Bytes of a pair of policies at a checkpoint, in the same files.
const OF_PAIR: f64 = 60.0;
/// Bytes of the other parts of these files.
const FILES: f64 = 85_000.0;

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
            // The first runs have different instances: in a drawn order, or in turn.
            let draw = match experiment.assignment() {
                Assignment::Drawn => trial,
                Assignment::InTurn => trial * n_instances / trials,
            };
            let run = (draw * experiment.runs_per_draw()).min(experiment.runs() - 1);
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
        let n_pairs = n_pairs(experiment.policies().len()) as f64;
        let result = FILES + checkpoints * (n_policies * AT_CHECKPOINT + n_pairs * OF_PAIR);
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
        trying: Trying { fewest_rounds: 0, longest: LONGEST, clock: Clock::Cpu },
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Runner;

    /// A spec whose run takes longer than a trial.
    fn experiment(task: &str, instances: &str, policies: &[&str]) -> Experiment {
        let policies = policies.iter().map(|policy| format!("[[policies]]\npolicy = {policy:?}\n"));
        let policies: Vec<String> = policies.collect();
        let text = format!("name = \"x\"\n{task}\nruns = 2\nseed = 1\n{instances}\n{}", policies.concat());
        Experiment::from_toml(&text).unwrap()
    }

    /// The factor between the estimated processor time and that of all runs.
    fn factor(experiment: &Experiment) -> f64 {
        let estimate = Estimate::of(experiment).unwrap();
        let measured = Runner::new(experiment).threads(1).run().unwrap();
        estimate.cpu_seconds(experiment.runs()) / measured.timing.total.cpu_seconds
    }

    #[test]
    fn the_time_is_right_within_a_factor_of_three() {
        let pbm = "[[instances]]\nmodel = \"pbm\"\ntheta = [0.4, 0.3, 0.2, 0.1, 0.05]\nkappa = [0.9, 0.5]\n";
        let large = "[[instances]]\nmodel = \"cascade\"\ntwo-values = { items = 300, best = 0.2, others = 0.1 }\npositions = 8\n";
        let duels = "[[instances]]\nmodel = \"dueling\"\npreferences = [[0.5, 0.6, 0.7], [0.4, 0.5, 0.6], [0.3, 0.4, 0.5]]\n";
        let regret = |rounds: u64| format!("task = \"regret\"\nhorizon = {rounds}");
        for (task, instances, policies) in [
            (regret(100_000), pbm, &["pbm-ts", "pbm-ucb", "pbm-pie", "top-rank"][..]),
            (regret(20_000), large, &["cascade-ts", "cascade-kl-ucb"]),
            (regret(100_000), duels, &["rucb", "rmed1"]),
        ] {
            let experiment = experiment(&task, instances, policies);
            // Others use the machine, too: one try of five has to be undisturbed.
            let mut factors = Vec::new();
            let is_right = (0..5).any(|_| {
                factors.push(factor(&experiment));
                factors.last().is_some_and(|factor| (1.0 / 3.0..=3.0).contains(factor))
            });
            assert!(is_right, "{policies:?}: {factors:?}");
        }
    }

    #[test]
    fn instances_are_tried_in_turn_and_nothing_else_is_played() {
        let small = "[[instances]]\nmodel = \"cascade\"\nattraction = [0.2, 0.1]\npositions = 1\n".repeat(4);
        let text = experiment("task = \"regret\"\nhorizon = 1000000000", &small, &["cascade-ts"]).to_toml();
        let experiment =
            Experiment::from_toml(&text.replace("runs = 2", "runs = { per-instance = 3 }")).unwrap();
        // Runs of 10⁹ rounds would take minutes.
        let estimate = Estimate::of(&experiment).unwrap();
        assert!(estimate.seconds[0] > 1.0, "{estimate:?}");
        assert!(estimate.disk > 12.0 * experiment.layout().usual() as f64 && estimate.memory > 1000.0);
    }
}
