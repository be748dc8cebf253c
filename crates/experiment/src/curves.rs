//! Regret and clicks of an experiment's runs, summed up.

use crate::models::Playing;
use crate::result::{Bound, Curves, Difference, Found, MeanSe, Optimum, Paired, PolicyResult, ResultFile};
use crate::spreads::Spreads;
use crate::timing::Timing;
use crate::{Measured, Runs};
use confidence::math::ln;
use sim::{Curve, Outcome, Summary};

/// What these runs measured; `optimal_clicks`: expected clicks a round of a best list, for every run.
pub(crate) fn measured(
    playing: &Playing<'_>,
    outcome: Outcome<Curve>,
    optimal_clicks: &[f64],
    timing: Timing,
) -> Measured {
    let experiment = playing.experiment;
    let checkpoints = &experiment.checkpoints;
    let spreads: Vec<Spreads> = outcome.records.iter().map(|curves| Spreads::of(curves)).collect();
    let policy = |((label, policy), spreads): ((&str, &str), &Spreads)| PolicyResult {
        label: label.to_owned(),
        policy: policy.to_owned(),
        found: Found::Curves(Curves {
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
        policies: playing.names().zip(&spreads).map(policy).collect(),
        paired: paired(playing, &outcome.records),
        bounds: bounds(playing),
        optimum: Some(Optimum { t: checkpoints.clone(), clicks: mean_se(checkpoints.iter().map(optimum)) }),
        ..playing.head()
    };
    Measured { result, runs: Runs::Curves { outcome, spreads }, timing }
}

/// The lower bound, and what policies of the experiment are proven to keep.
fn bounds(playing: &Playing<'_>) -> Vec<Bound> {
    let experiment = playing.experiment;
    let checkpoints = &experiment.checkpoints;
    let lower = experiment.instances.lower_bound().map(|(label, factor)| Bound {
        label: label.to_owned(),
        t: checkpoints.clone(),
        value: checkpoints.iter().map(|&t| factor * ln(t as f64)).collect(),
    });
    let of_policies = experiment.instances.users().bounds_of_policies(&experiment.policies, checkpoints);
    lower.into_iter().chain(of_policies).collect()
}

/// Differences of regret between every two policies over the same runs.
fn paired(playing: &Playing<'_>, curves: &[Vec<Curve>]) -> Vec<Paired> {
    let checkpoints = &playing.experiment.checkpoints;
    playing.pairs(|first, second| {
        let differences = (0..checkpoints.len()).map(|checkpoint| -> Vec<f64> {
            let runs = curves[first].iter().zip(&curves[second]);
            runs.map(|(a, b)| a.regret[checkpoint] - b.regret[checkpoint]).collect()
        });
        Difference::Curves { t: checkpoints.clone(), regret: mean_se(differences) }
    })
}

/// Mean and standard error of every sample.
fn mean_se(samples: impl Iterator<Item = Vec<f64>>) -> MeanSe {
    let (mean, se) = samples
        .filter_map(|sample| Summary::of(&sample))
        .map(|summary| (summary.mean, summary.standard_error))
        .unzip();
    MeanSe { mean, se }
}
