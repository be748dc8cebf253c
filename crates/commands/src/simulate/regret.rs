//! Regret and clicks of an experiment's runs, summed up.

use super::{Options, Told};
use crate::config::{Experiment, Instances};
use crate::result::{Bound, MeanSe, Optimum, Paired, PolicyResult, ResultFile};
use crate::spreads::Spreads;
use crate::tables;
use anyhow::Result;
use click_models::DuelingModel;
use click_models::bounds::{rucb_expected_bound, rucb_high_probability_bound};
use confidence::math::ln;
use policies::catalogue::PolicySpec;
use sim::{Curve, Outcome, Summary};

/// What the files say.
pub(super) fn tell(
    experiment: &Experiment,
    outcome: &Outcome<Curve>,
    optimal_clicks: &[f64],
    options: Options,
) -> Result<Told> {
    let labels: Vec<&str> = experiment.policies.iter().map(|entry| entry.label.as_str()).collect();
    let checkpoints = &experiment.checkpoints;
    let spreads: Vec<Spreads> = outcome.records.iter().map(|curves| Spreads::of(curves)).collect();
    let runs = options.keep_runs.then(|| tables::runs(&labels, checkpoints, outcome)).transpose()?;
    let curves = tables::curves(&labels, checkpoints, &spreads)?;
    Ok((summarise(experiment, outcome, optimal_clicks, &spreads), curves, runs))
}

fn summarise(
    experiment: &Experiment,
    outcome: &Outcome<Curve>,
    optimal_clicks: &[f64],
    spreads: &[Spreads],
) -> ResultFile {
    let checkpoints = &experiment.checkpoints;
    let policies = experiment.policies.iter().zip(spreads).map(|(entry, spreads)| PolicyResult {
        label: entry.label.clone(),
        policy: entry.name.clone(),
        t: checkpoints.clone(),
        regret: spreads.regret.clone(),
        clicks: MeanSe { mean: spreads.clicks.mean.clone(), se: spreads.clicks.se.clone() },
        accuracy: spreads.accuracy.as_ref().map_or_else(Vec::new, |accuracy| accuracy.mean.clone()),
        answers: None,
    });
    let optimum = |&checkpoint: &u64| -> Vec<f64> {
        optimal_clicks.iter().map(|clicks| clicks * checkpoint as f64).collect()
    };
    ResultFile {
        schema: 1,
        name: experiment.name.clone(),
        unit: experiment.instances.unit(),
        task: experiment.task.name().to_owned(),
        runs: experiment.runs,
        horizon: experiment.fixed_horizon(),
        max_steps: experiment.max_steps(),
        seed: experiment.seed,
        policies: policies.collect(),
        paired: paired(experiment, &outcome.records),
        bounds: bounds(experiment),
        optimum: Optimum { t: checkpoints.clone(), clicks: mean_se(checkpoints.iter().map(optimum)) },
    }
}

/// The lower bound, and on users who compare two items what RUCB is proven not to exceed, for each RUCB that takes part: in the mean
/// (Theorem 3), and with probability .95 (Theorem 2). A bound that is nowhere below the worst pair's regret says nothing and is left out:
/// with an alpha near 1/2, as in the RUCB paper's experiments, both are.
fn bounds(experiment: &Experiment) -> Vec<Bound> {
    let checkpoints = &experiment.checkpoints;
    let mut bounds = Vec::new();
    let mut add = |label: String, value: &dyn Fn(u64) -> f64| {
        let value = checkpoints.iter().map(|&t| value(t)).collect();
        bounds.push(Bound { label, t: checkpoints.clone(), value });
    };
    if let Some((label, factor)) = experiment.instances.lower_bound() {
        add(label.to_owned(), &|t| factor * ln(t as f64));
    }
    let Instances::Dueling(duels) = &experiment.instances else { return bounds };
    let mean = |of: &dyn Fn(&DuelingModel) -> f64| {
        duels.list().iter().map(|instance| of(&instance.model)).sum::<f64>() / duels.list().len() as f64
    };
    let largest_gap = mean(&|users| users.losses().iter().copied().fold(0.0, f64::max));
    let mut seen: Vec<f64> = Vec::new();
    for entry in &experiment.policies {
        let PolicySpec::Rucb { alpha, .. } = entry.spec else { continue };
        let alpha = alpha.get();
        if seen.contains(&alpha) {
            continue;
        }
        seen.push(alpha);
        let expected = |t: u64| mean(&|users| rucb_expected_bound(users.preferences(), alpha, t));
        let probable =
            |t: u64| mean(&|users| rucb_high_probability_bound(users.preferences(), alpha, MISS, t));
        let says_something = |bound: &dyn Fn(u64) -> f64| {
            checkpoints.last().is_some_and(|&t| bound(t) < largest_gap * t as f64)
        };
        if says_something(&expected) {
            add(format!("RUCB in the mean, alpha = {alpha} (Theorem 3)"), &expected);
        }
        if says_something(&probable) {
            add(format!("RUCB with probability .95, alpha = {alpha} (Theorem 2)"), &probable);
        }
    }
    bounds
}

/// With which probability Theorem 2 is allowed to miss.
const MISS: f64 = 0.05;

/// Differences of regret between every two policies over the same runs.
fn paired(experiment: &Experiment, curves: &[Vec<Curve>]) -> Vec<Paired> {
    let Experiment { checkpoints, policies, .. } = experiment;
    let mut pairs = Vec::new();
    for first in 0..curves.len() {
        for second in first + 1..curves.len() {
            let differences = (0..checkpoints.len()).map(|checkpoint| -> Vec<f64> {
                let runs = curves[first].iter().zip(&curves[second]);
                runs.map(|(a, b)| a.regret[checkpoint] - b.regret[checkpoint]).collect()
            });
            pairs.push(Paired {
                a: policies[first].label.clone(),
                b: policies[second].label.clone(),
                t: checkpoints.clone(),
                regret: mean_se(differences),
                stopping_time: None,
                observations: None,
                correct: None,
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
