//! Runs that are played several at once are recorded as if each had been played alone.

use super::{at_once, bytes, files_of_runs, merge};
use crate::{Claim, Experiment, Instances, Observer, Runner, Shard, Step};
use click_models::PositionBased;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use tempfile::tempdir;

const HORIZON: u64 = 1_250;
/// Four blocks of eight and a rest; with seven threads, which would have less than a block each, all are played alone.
const RUNS: u64 = 37;

/// Users of two sizes, and a third who are too many for lockstep if `has_large`.
fn experiment(runs: u64, has_large: bool) -> Experiment {
    let large = vec![0.1; if has_large { 20 } else { 6 }];
    let users = [&[0.5, 0.4, 0.2, 0.1, 0.1][..], &[0.3, 0.3, 0.2], &large]
        .map(|attraction| PositionBased::from_values(attraction, &[0.9, 0.5, 0.0]).unwrap());
    let builder = Experiment::builder("lockstep", Instances::of(users)).horizon(HORIZON).runs(runs);
    let builder = builder.checkpoints([1, 10, 1_024, HORIZON]);
    builder.policy("pbm-ucb").policy("pbm-ts").labelled("patient", "pbm-ucb(epsilon=0.5)").build().unwrap()
}

/// The bytes of a result whose runs were played alone.
fn alone(experiment: &Experiment) -> Vec<Vec<u8>> {
    let dir = tempdir().unwrap();
    Runner::new(experiment).threads(7).run_into(dir.path()).unwrap();
    bytes(dir.path())
}

#[test]
fn the_result_is_that_of_runs_alone_for_any_threads_and_extension() {
    for has_large in [false, true] {
        let experiment = experiment(RUNS, has_large);
        let alone = alone(&experiment);
        for threads in [1, 2] {
            let dir = tempdir().unwrap();
            Runner::new(&experiment).threads(threads).run_into(dir.path()).unwrap();
            assert!(bytes(dir.path()) == alone, "{threads} threads");
        }
        let dir = tempdir().unwrap();
        Runner::new(&self::experiment(11, has_large)).threads(1).run_into(dir.path()).unwrap();
        let more = Runner::new(&experiment).threads(1).run_into(dir.path()).unwrap();
        assert_eq!(more.n_new_runs, 3 * (RUNS - 11));
        assert!(bytes(dir.path()) == alone);
    }
    let experiment = experiment(8, false);
    assert!(at_once(&experiment) == self::alone(&experiment));
}

#[test]
fn shards_are_merged_into_the_same_bytes() {
    let (experiment, top) = (experiment(RUNS, false), tempdir().unwrap());
    let parts: Vec<_> = (1..=3).map(|number| top.path().join(number.to_string())).collect();
    for (number, part) in (1..).zip(&parts) {
        let shard = Shard::new(number, 3).unwrap();
        Runner::new(&experiment).threads(1).run_part(part, shard, &Claim::default()).unwrap();
    }
    let out = top.path().join("merged");
    merge(&experiment, &parts, &out).unwrap();
    assert!(bytes(&out) == alone(&experiment));
}

/// Adds up the steps of every policy, and stops after a number of runs.
#[derive(Debug, Default)]
struct Steps {
    of_policies: Mutex<[(u64, u64); 3]>,
    /// The most rounds of a step.
    most: AtomicU64,
    last: u64,
    stop: AtomicBool,
}

impl Observer for Steps {
    fn step(&self, step: &Step) {
        self.most.fetch_max(step.rounds, Ordering::Relaxed);
        let mut of_policies = self.of_policies.lock().unwrap();
        let (rounds, runs) = &mut of_policies[step.policy];
        *rounds += step.rounds;
        *runs += u64::from(step.ends_run);
        if of_policies.iter().map(|(_, runs)| runs).sum::<u64>() == self.last {
            self.stop.store(true, Ordering::Relaxed);
        }
    }
}

#[test]
fn progress_and_time_are_those_of_all_runs() {
    let (experiment, steps) = (experiment(RUNS, false), Steps::default());
    let measured = Runner::new(&experiment).threads(1).observer(&steps).run().unwrap();
    assert_eq!(*steps.of_policies.lock().unwrap(), [(RUNS * HORIZON, RUNS); 3]);
    // Steps of more rounds than a run has are those of runs in lockstep.
    assert!(steps.most.into_inner() > HORIZON);
    for policy in &measured.timing.policies {
        assert_eq!(policy.speed.rounds, RUNS * HORIZON);
        // Between a nanosecond and a hundredth of a millisecond for a round, which no disturbance of the machine reaches.
        let seconds = policy.speed.cpu_seconds / policy.speed.rounds as f64;
        assert!((1e-9..1e-5).contains(&seconds), "{}: {seconds}", policy.label);
    }
}

#[test]
fn runs_that_are_stopped_go_on() {
    let experiment = experiment(RUNS, false);
    let alone = alone(&experiment);
    for last in [1, 8, 20, 50] {
        for (first_threads, then_threads) in [(1, 1), (2, 7), (7, 1)] {
            let dir = tempdir().unwrap();
            let steps = Steps { last, ..Steps::default() };
            let runner = Runner::new(&experiment).threads(first_threads).observer(&steps);
            let stopped = runner.stop_when(&steps.stop).run_into(dir.path()).unwrap_err();
            assert!(stopped.is_stopped() && !files_of_runs(dir.path()).is_empty());
            Runner::new(&experiment).threads(then_threads).run_into(dir.path()).unwrap();
            assert!(bytes(dir.path()) == alone, "stopped after {last}");
            let states = crate::journal::files(&dir.path().join("journal"), ".state").unwrap();
            assert!(states.is_empty(), "{states:?}");
        }
    }
}
