//! Results of given runs, for tests of code that reads results. Unit tests include this file.

use confidence::math::ln;
use experiment::result::{
    Answers, Bound, Curves, Extent, MeanAndError, MeanSe, Optimum, PolicyResult, PolicySummary, ResultFile,
    SCHEMA, Spread,
};
use experiment::timing::Timing;
use experiment::{Measurement, Runs, Spreads};
use sim::{Curve, Identification, Summary};
use spec::Task;
use std::time::Duration;

pub(crate) trait Synthetic: Sized {
    /// The outcome of runs with these regrets (policy, run, checkpoint). A best list collects ten
    /// clicks a round.
    fn synthetic(t: &[u64], policies: &[(&str, Vec<Vec<f64>>)]) -> Self;

    /// The outcome of runs that end with these answers (policy, run). `rounds` is the maximal
    /// number of rounds of a run.
    fn of_answers(task: Task, rounds: u64, policies: &[(&str, Vec<Identification>)]) -> Self;

    /// Adds a bound: this factor times `ln t`.
    #[must_use]
    fn with_bound(self, label: &str, factor: f64) -> Self;
}

impl Synthetic for Measurement {
    fn synthetic(t: &[u64], policies: &[(&str, Vec<Vec<f64>>)]) -> Self {
        let n_runs = policies.first().map_or(1, |(_, runs)| runs.len());
        let times = |factor: f64| t.iter().map(|&t| factor * t as f64).collect::<Vec<_>>();
        // A single run has no standard error.
        let errors = |factor: f64| times(if n_runs > 1 { factor } else { f64::NAN });
        let curve =
            |regret: &Vec<f64>| Curve { regret: regret.clone(), clicks: times(9.0), accurate: Vec::new() };
        let curves = |(_, runs): &(&str, Vec<Vec<f64>>)| -> Vec<Curve> { runs.iter().map(curve).collect() };
        let policy = |(label, runs): &(&str, Vec<Vec<f64>>)| PolicyResult {
            label: (*label).to_owned(),
            policy: (*label).to_owned(),
            delta: None,
            summary: PolicySummary::Curves(Curves {
                t: t.to_vec(),
                regret: spread(runs),
                clicks: MeanSe { mean: times(9.0), se: errors(0.1) },
                accuracy: Vec::new(),
            }),
        };
        let spreads = |(_, runs): &(&str, Vec<Vec<f64>>)| Spreads {
            regret: spread(runs),
            clicks: spread(&vec![times(9.0); runs.len()]),
            accuracy: None,
        };
        let result = ResultFile {
            schema: SCHEMA,
            name: "synthetic".to_owned(),
            unit: "clicks",
            task: Task::Regret,
            runs: n_runs as u64,
            runs_per_draw: None,
            instances: None,
            horizon: t.last().copied(),
            max_steps: None,
            seed: 1,
            policies: policies.iter().map(policy).collect(),
            paired: Vec::new(),
            bounds: Vec::new(),
            optimum: Some(Optimum { t: t.to_vec(), clicks: MeanSe { mean: times(10.0), se: errors(0.0) } }),
        };
        Self {
            result,
            runs: Runs::in_memory(&policies.iter().map(curves).collect::<Vec<_>>()),
            spreads: policies.iter().map(spreads).collect(),
            timing: Timing::new(1, Duration::ZERO, &[]),
            n_new_runs: n_runs as u64,
        }
    }

    fn of_answers(task: Task, rounds: u64, policies: &[(&str, Vec<Identification>)]) -> Self {
        let stops = task == Task::Identify;
        let mut measured = Self::synthetic(&[rounds], &[]);
        measured.result.task = task;
        measured.result.runs = policies[0].1.len() as u64;
        measured.result.horizon = (!stops).then_some(rounds);
        measured.result.max_steps = stops.then_some(rounds);
        measured.result.optimum = None;
        let policy = |(label, runs): &(&str, Vec<Identification>)| PolicyResult {
            label: (*label).to_owned(),
            policy: (*label).to_owned(),
            delta: None,
            summary: PolicySummary::Answers(answers(runs, stops)),
        };
        measured.result.policies = policies.iter().map(policy).collect();
        let records: Vec<Vec<Identification>> = policies.iter().map(|(_, runs)| runs.clone()).collect();
        measured.runs = Runs::in_memory(&records);
        measured
    }

    fn with_bound(mut self, label: &str, factor: f64) -> Self {
        let t = self.result.optimum.as_ref().map_or_else(Vec::new, |optimum| optimum.t.clone());
        let value = t.iter().map(|&t| factor * ln(t as f64)).collect();
        self.result.bounds.push(Bound { label: label.to_owned(), t, value });
        self
    }
}

fn spread(runs: &[Vec<f64>]) -> Spread {
    let n_checkpoints = runs.first().map_or(0, Vec::len);
    let at = |checkpoint: usize| runs.iter().map(|run| run[checkpoint]).collect::<Vec<_>>();
    let all: Vec<Summary> =
        (0..n_checkpoints).filter_map(|checkpoint| Summary::of(&at(checkpoint))).collect();
    let column = |value: fn(&Summary) -> f64| all.iter().map(value).collect();
    Spread {
        mean: column(|summary| summary.mean),
        se: column(|summary| summary.standard_error),
        min: column(|summary| summary.min),
        max: column(|summary| summary.max),
        q10: column(|summary| summary.q10),
        q90: column(|summary| summary.q90),
    }
}

fn answers(runs: &[Identification], stops: bool) -> Answers {
    let of = |value: fn(&Identification) -> u64| {
        let sample: Vec<f64> = runs.iter().map(|run| value(run) as f64).collect();
        Summary::of(&sample).expect("at least one run")
    };
    let share = |holds: fn(&Identification) -> bool| {
        runs.iter().filter(|run| holds(run)).count() as f64 / runs.len() as f64
    };
    let (Summary { mean, standard_error: se, min, max, .. }, seen) =
        (of(|run| run.steps), of(|run| run.observations));
    Answers {
        stopping_time: stops.then_some(Extent { mean, se, min, max }),
        observations: MeanAndError { mean: seen.mean, se: seen.standard_error },
        correct: share(|run| run.correct),
        stopped: stops.then(|| share(|run| run.answered)),
    }
}
