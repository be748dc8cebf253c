//! What an experiment's runs say of the best items, summed up.

use super::{Options, Told};
use crate::config::{Experiment, Instance, Instances, Task};
use crate::result::{
    Answers, Bound, Estimate, MeanSe, Optimum, Paired, PolicyResult, Quantity, ResultFile, Spread,
};
use crate::tables;
use anyhow::{Context, Result};
use click_models::CascadeModel;
use click_models::bounds::cascade_bai_lower_bound;
use contenders::Entrant;
use policies::catalogue::PolicySpec;
use sim::{Identification, Outcome, mean_and_error};

/// What the files say.
pub(super) fn tell(
    experiment: &Experiment,
    outcome: &Outcome<Identification>,
    options: Options,
) -> Result<Told> {
    let labels: Vec<&str> = experiment.policies.iter().map(|entry| entry.label.as_str()).collect();
    let stops = experiment.task == Task::Identify;
    let runs = options.keep_runs.then(|| tables::answers_of_runs(&labels, stops, outcome)).transpose()?;
    let table = tables::answers(&labels, experiment.horizon, stops, &outcome.records)?;
    let policy = |(entry, runs): (&Entrant, &Vec<Identification>)| {
        Ok(PolicyResult {
            label: entry.label.clone(),
            policy: entry.name.clone(),
            t: Vec::new(),
            regret: Spread::default(),
            clicks: MeanSe::default(),
            accuracy: Vec::new(),
            answers: Some(Answers::of(runs, stops).context("an experiment has at least one run")?),
        })
    };
    let result = ResultFile {
        schema: 1,
        name: experiment.name.clone(),
        unit: experiment.instances.unit(),
        task: experiment.task.name().to_owned(),
        runs: experiment.runs,
        horizon: experiment.fixed_horizon(),
        max_steps: experiment.max_steps(),
        seed: experiment.seed,
        policies: experiment.policies.iter().zip(&outcome.records).map(policy).collect::<Result<_>>()?,
        paired: paired(&labels, stops, &outcome.records),
        bounds: bounds(experiment),
        optimum: Optimum::default(),
    };
    Ok((result, table, runs))
}

/// What no policy that reads the users' answers as they are can do without, for every risk that some policy of the experiment takes: mean
/// over the instances.
fn bounds(experiment: &Experiment) -> Vec<Bound> {
    let Instances::Cascade(list) = &experiment.instances else { return Vec::new() };
    if experiment.task != Task::Identify {
        return Vec::new();
    }
    let mut risks: Vec<f64> = Vec::new();
    for spec in experiment.policies.iter().map(|entry| &entry.spec) {
        // With a tolerance fewer steps may do; who sees every item that is shown needs another bound.
        if let PolicySpec::CascadeBai { delta, .. }
        | PolicySpec::CascadeKl { delta, .. }
        | PolicySpec::KlLucb { delta, .. } = spec
            && spec.epsilon_of_answer() == 0.0
            && !risks.contains(&delta.get())
        {
            risks.push(delta.get());
        }
    }
    let bound = |delta: f64| {
        let of = |instance: &Instance<CascadeModel>| {
            let users = &instance.model;
            let weights: Vec<f64> = users.attraction().iter().map(|probability| probability.get()).collect();
            cascade_bai_lower_bound(&weights, users.shape().n_positions(), delta)
        };
        let mean = list.iter().map(of).sum::<f64>() / list.len() as f64;
        mean.is_finite().then(|| Bound {
            label: format!("lower bound (CascadeBAI paper, Theorem 4.8, delta = {delta})"),
            t: Vec::new(),
            value: vec![mean],
        })
    };
    risks.into_iter().filter_map(bound).collect()
}

/// Differences between every two policies over the same runs.
fn paired(labels: &[&str], stops: bool, records: &[Vec<Identification>]) -> Vec<Paired> {
    let mut pairs = Vec::new();
    for first in 0..records.len() {
        for second in first + 1..records.len() {
            let difference = |value: &dyn Fn(&Identification) -> f64| {
                let runs = records[first].iter().zip(&records[second]);
                let sample: Vec<f64> = runs.map(|(a, b)| value(a) - value(b)).collect();
                let (mean, se) = mean_and_error(&sample);
                Estimate { mean, se }
            };
            pairs.push(Paired {
                a: labels[first].to_owned(),
                b: labels[second].to_owned(),
                t: Vec::new(),
                regret: MeanSe::default(),
                stopping_time: stops.then(|| difference(&|run| Quantity::StoppingTime.of(run))),
                observations: Some(difference(&|run| Quantity::Observations.of(run))),
                correct: Some(difference(&|run| f64::from(u8::from(run.correct)))),
            });
        }
    }
    pairs
}
