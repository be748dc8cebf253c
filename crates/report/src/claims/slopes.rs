//! Whether a regret grows with `ln t` as a bound does, or as another one does.
//!
//! Sameness is shown within a margin. With the slopes `a` and `b` of a run and the scale `m` (the bound's slope, or
//! `(a + b) / 2`), the differences `a - b - margin m` and `b - a - margin m` both have to have a mean below zero: one
//! sample each, so that nothing is assumed of how the two slopes and their mean vary together.

use anyhow::{Result, bail};

use super::{Comparison, Evidence, Finding, Levels, bound_at, freedom_of, mean_and_error, number, within};
use crate::sample::ratio_of_means;
use crate::series::Series;
use confidence::math::ln;

/// Whether each slope is that of a bound.
pub(super) fn parallel(
    evidence: &Evidence<'_>,
    series: &[Series],
    slope: (u64, u64),
    margin: f64,
    label: Option<&str>,
    levels: Levels,
) -> Result<Finding> {
    let (from, to) = slope;
    let mut comparisons = Vec::new();
    for one in series {
        let runs = evidence.runs(one)?;
        let bound = runs.bound(label)?;
        let rise = bound_at(bound, to)? - bound_at(bound, from)?;
        let scale = rise / ln(to as f64 / from as f64);
        if scale.is_nan() || scale <= 0.0 {
            bail!("the bound {:?} does not rise from round {from} to round {to}", bound.label);
        }
        let slopes = runs.slope(slope)?;
        let scales = vec![scale; slopes.len()];
        let differences: Vec<f64> = slopes.iter().map(|slope| slope - scale).collect();
        let (ratio, se) = ratio_of_means(&slopes, &scales);
        comparisons.push(Comparison {
            what: format!("{one} / bound"),
            readers: format!("{} / bound", (evidence.reader_name)(one)),
            t: Some(to),
            measured: number::estimate(ratio, se, slopes.len() as u64),
            ..judge(&differences, &scales, margin, levels)
        });
    }
    let allowed = format!("{} to {} of the bound's slope", percent(1.0 - margin), percent(1.0 + margin));
    Ok(within::finding("slope by the bound's slope", comparisons, &allowed))
}

/// Whether every two slopes are the same.
pub(super) fn same(
    evidence: &Evidence<'_>,
    series: &[Series],
    slope: (u64, u64),
    margin: f64,
    levels: Levels,
) -> Result<Finding> {
    let mut slopes = Vec::new();
    for one in series {
        slopes.push(evidence.runs(one)?.slope(slope)?);
    }
    let mut comparisons = Vec::new();
    for first in 0..series.len() {
        for second in first + 1..series.len() {
            let (a, b) = (&slopes[first], &slopes[second]);
            if a.len() != b.len() {
                bail!("the two have different numbers of runs, {} and {}", a.len(), b.len());
            }
            let differences: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
            let means: Vec<f64> = a.iter().zip(b).map(|(a, b)| f64::midpoint(*a, *b)).collect();
            let (ratio, se) = ratio_of_means(&differences, &means);
            let name = evidence.reader_name;
            comparisons.push(Comparison {
                what: format!("{} − {}", series[first], series[second]),
                readers: format!("{} − {}", name(&series[first]), name(&series[second])),
                t: Some(slope.1),
                measured: format!("{} %", number::estimate(100.0 * ratio, 100.0 * se, a.len() as u64)),
                ..judge(&differences, &means, margin, levels)
            });
        }
    }
    let allowed = format!("{} of the two's mean", percent(margin));
    Ok(within::finding("difference of slopes, share of their mean", comparisons, &allowed))
}

/// Whether a difference is, in both directions, below the margin times a scale of the same runs.
fn judge(differences: &[f64], scales: &[f64], margin: f64, levels: Levels) -> Comparison {
    let beyond = [1.0, -1.0].map(|sign: f64| {
        let beyond: Vec<f64> = differences
            .iter()
            .zip(scales)
            .map(|(difference, scale)| sign * difference - margin * scale)
            .collect();
        mean_and_error(&beyond)
    });
    within::judge(&beyond, freedom_of(differences), levels)
}

fn percent(share: f64) -> String {
    format!("{} %", number::significant(100.0 * share, 2))
}
