//! Results of given runs, for tests of code that reads results.

use crate::draws::DrawsOfRuns;
use crate::result::{
    Answers, Bound, Curves, MeanSe, Optimum, PolicyResult, PolicySummary, ResultFile, SCHEMA,
};
use crate::spreads::Spreads;
use crate::timing::Timing;
use crate::{Measurement, Runs};
use sim::{Curve, Identification};
use spec::Task;
use std::time::Duration;

impl Measurement {
    /// The outcome of runs with these regrets (policy, run, checkpoint). A best list collects ten
    /// clicks a round.
    #[doc(hidden)]
    pub fn synthetic(t: &[u64], policies: &[(&str, Vec<Vec<f64>>)]) -> Self {
        let n_runs = policies.first().map_or(1, |(_, runs)| runs.len());
        let times = |factor: f64| t.iter().map(|&t| factor * t as f64).collect::<Vec<_>>();
        // A single run has no standard error.
        let errors = |factor: f64| times(if n_runs > 1 { factor } else { f64::NAN });
        let curve =
            |regret: &Vec<f64>| Curve { regret: regret.clone(), clicks: times(9.0), accurate: Vec::new() };
        let curves = |(_, runs): &(&str, Vec<Vec<f64>>)| -> Vec<Curve> { runs.iter().map(curve).collect() };
        let records: Vec<Vec<Curve>> = policies.iter().map(curves).collect();
        let spreads: Vec<Spreads> = records.iter().map(|curves| spreads(curves)).collect();
        let policy = |((label, _), spreads): (&(&str, Vec<Vec<f64>>), &Spreads)| PolicyResult {
            label: (*label).to_owned(),
            policy: (*label).to_owned(),
            summary: PolicySummary::Curves(Curves {
                t: t.to_vec(),
                regret: spreads.regret.clone(),
                clicks: MeanSe { mean: times(9.0), se: errors(0.1) },
                accuracy: Vec::new(),
            }),
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
            policies: policies.iter().zip(&spreads).map(policy).collect(),
            paired: Vec::new(),
            bounds: Vec::new(),
            optimum: Some(Optimum { t: t.to_vec(), clicks: MeanSe { mean: times(10.0), se: errors(0.0) } }),
        };
        let timing = Timing::new(1, Duration::ZERO, &[]);
        Self { result, runs: Runs::of_curves(&records), spreads, timing, n_new_runs: n_runs as u64 }
    }

    /// The outcome of runs that end with these answers (policy, run). `rounds` is the maximal
    /// number of rounds of a run.
    ///
    /// # Panics
    ///
    /// There is no run.
    #[doc(hidden)]
    pub fn of_answers(task: Task, rounds: u64, policies: &[(&str, Vec<Identification>)]) -> Self {
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
            summary: PolicySummary::Answers(
                Answers::of(runs, stops, &own_users(runs.len())).expect("at least one run"),
            ),
        };
        measured.result.policies = policies.iter().map(policy).collect();
        let records: Vec<Vec<Identification>> = policies.iter().map(|(_, runs)| runs.clone()).collect();
        measured.runs = Runs::of_answers(&records);
        measured
    }

    /// Adds a bound: this factor times `ln t`.
    #[doc(hidden)]
    #[must_use]
    pub fn with_bound(mut self, label: &str, factor: f64) -> Self {
        let t = self.result.optimum.as_ref().map_or_else(Vec::new, |optimum| optimum.t.clone());
        let value = t.iter().map(|&t| factor * confidence::math::ln(t as f64)).collect();
        self.result.bounds.push(Bound { label: label.to_owned(), t, value });
        self
    }
}

/// Statistics over these runs.
fn spreads(curves: &[Curve]) -> Spreads {
    let mut spreads = Spreads::default();
    for checkpoint in 0..curves.first().map_or(0, |curve| curve.regret.len()) {
        let sample =
            |values: fn(&Curve) -> &Vec<f64>| curves.iter().map(|curve| values(curve)[checkpoint]).collect();
        let (regret, clicks): (Vec<f64>, Vec<f64>) =
            (sample(|curve| &curve.regret), sample(|curve| &curve.clicks));
        spreads.regret.add(&regret, &own_users(curves.len()));
        spreads.clicks.add(&clicks, &own_users(curves.len()));
    }
    spreads
}

/// Runs of which each meets users of its own.
fn own_users(n_runs: usize) -> DrawsOfRuns {
    DrawsOfRuns::of(1, 1, &vec![0; n_runs])
}
