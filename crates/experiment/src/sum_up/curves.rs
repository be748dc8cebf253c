//! Sums up runs with regret and clicks at checkpoints.

use super::SumUp;
use crate::result::{
    Bound, Curves, Difference, MeanSe, Optimum, Paired, PolicyResult, PolicySummary, ResultFile,
};
use crate::spreads::Spreads;
use confidence::math::ln;
use sim::{Curve, Outcome, Summary};

/// The result of these runs, and their spreads. `optimal_clicks` has the expected clicks per round of a best list for every run.
pub(super) fn result(
    sum_up: &SumUp<'_>,
    outcome: &Outcome<Curve>,
    optimal_clicks: &[f64],
    lower_bound: Option<f64>,
) -> (ResultFile, Vec<Spreads>) {
    let experiment = sum_up.experiment;
    let checkpoints = &experiment.checkpoints;
    let spreads: Vec<Spreads> = outcome.records.iter().map(|curves| Spreads::of(curves)).collect();
    let policy = |((label, policy), spreads): (&(&str, &str), &Spreads)| PolicyResult {
        label: (*label).to_owned(),
        policy: (*policy).to_owned(),
        summary: PolicySummary::Curves(Curves {
            t: checkpoints.clone(),
            regret: spreads.regret.clone(),
            clicks: MeanSe { mean: spreads.clicks.mean.clone(), se: spreads.clicks.se.clone() },
            accuracy: spreads.accuracy.as_ref().map_or_else(Vec::new, |accuracy| accuracy.mean.clone()),
        }),
    };
    let optimum = |&checkpoint: &u64| -> Vec<f64> {
        optimal_clicks.iter().map(|clicks| clicks * checkpoint as f64).collect()
    };
    let result = ResultFile {
        policies: sum_up.names.iter().zip(&spreads).map(policy).collect(),
        paired: paired(sum_up, &outcome.records),
        bounds: bounds(sum_up, lower_bound),
        optimum: Some(Optimum { t: checkpoints.clone(), clicks: mean_se(checkpoints.iter().map(optimum)) }),
        ..sum_up.head()
    };
    (result, spreads)
}

/// The lower bound of the model, or the mean `lower_bound` over drawn users, and proven upper bounds of the experiment's policies.
fn bounds(sum_up: &SumUp<'_>, lower_bound: Option<f64>) -> Vec<Bound> {
    let experiment = sum_up.experiment;
    let checkpoints = &experiment.checkpoints;
    let lower =
        experiment.instances.lower_bound().map(|(label, factor)| (label, lower_bound.unwrap_or(factor)));
    let lower = lower.filter(|(_, factor)| factor.is_finite()).map(|(label, factor)| Bound {
        label: label.to_owned(),
        t: checkpoints.clone(),
        value: checkpoints.iter().map(|&t| factor * ln(t as f64)).collect(),
    });
    let of_policies = experiment.instances.users().bounds_of_policies(&experiment.policies, checkpoints);
    lower.into_iter().chain(of_policies).collect()
}

/// Differences of regret between every pair of policies over the same runs.
fn paired(sum_up: &SumUp<'_>, curves: &[Vec<Curve>]) -> Vec<Paired> {
    let checkpoints = &sum_up.experiment.checkpoints;
    sum_up.pairs(|first, second| {
        let differences = (0..checkpoints.len()).map(|checkpoint| -> Vec<f64> {
            let runs = curves[first].iter().zip(&curves[second]);
            runs.map(|(a, b)| a.regret[checkpoint] - b.regret[checkpoint]).collect()
        });
        Difference::Curves { t: checkpoints.clone(), regret: mean_se(differences) }
    })
}

/// The mean and standard error of every sample.
fn mean_se(samples: impl Iterator<Item = Vec<f64>>) -> MeanSe {
    let (mean, se) = samples
        .filter_map(|sample| Summary::of(&sample))
        .map(|summary| (summary.mean, summary.standard_error))
        .unzip();
    MeanSe { mean, se }
}
