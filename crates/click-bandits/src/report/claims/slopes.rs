//! Whether a regret grows with `ln t` as a bound does, or as another one does.
//!
//! Sameness is shown within a margin. With the slopes `a` and `b` of a run and the scale `m` (the bound's slope, or
//! `(a + b) / 2`), the differences `a - b - margin m` and `b - a - margin m` both have to have a mean below zero: one
//! sample each, so that nothing is assumed of how the two slopes and their mean vary together.

use anyhow::{Result, bail};

use super::{
    Comparison, Evidence, Finding, ONE_RUN, Sign, Verdict, bound_at, freedom_of, mean_and_error, number,
    verdict_of,
};
use crate::report::sample::ratio_of_means;
use crate::report::series::Series;
use confidence::math::ln;

/// Whether each slope is that of a bound.
pub(super) fn parallel(
    evidence: &Evidence<'_>,
    series: &[Series],
    slope: (u64, u64),
    margin: f64,
    label: Option<&str>,
    level: f64,
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
            ..within(&differences, &scales, margin, level)
        });
    }
    let allowed = format!("{} to {} of the bound's slope", percent(1.0 - margin), percent(1.0 + margin));
    Ok(finding("slope by the bound's slope", comparisons, &allowed))
}

/// Whether every two slopes are the same.
pub(super) fn same(
    evidence: &Evidence<'_>,
    series: &[Series],
    slope: (u64, u64),
    margin: f64,
    level: f64,
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
                ..within(&differences, &means, margin, level)
            });
        }
    }
    let allowed = format!("{} of the two's mean", percent(margin));
    Ok(finding("difference of slopes, share of their mean", comparisons, &allowed))
}

/// Whether a difference is, in both directions, below the margin times a scale of the same runs. What is reported is the
/// direction that comes nearer to the margin.
fn within(differences: &[f64], scales: &[f64], margin: f64, level: f64) -> Comparison {
    let freedom = freedom_of(differences);
    let side = |sign: f64| {
        let beyond: Vec<f64> = differences
            .iter()
            .zip(scales)
            .map(|(difference, scale)| sign * difference - margin * scale)
            .collect();
        let (mean, se) = mean_and_error(&beyond);
        (mean, se, Sign::with_levels(mean, se, freedom, level, level / 2.0))
    };
    let (up, down) = (side(1.0), side(-1.0));
    let says = match (up.2.says, down.2.says) {
        (Verdict::Reproduced, Verdict::Reproduced) => Verdict::Reproduced,
        (Verdict::Contradicted, _) | (_, Verdict::Contradicted) => Verdict::Contradicted,
        _ => Verdict::Undecided,
    };
    let (mean, se, sign) = if up.2.statistic >= down.2.statistic { up } else { down };
    Comparison {
        what: String::new(),
        readers: String::new(),
        t: None,
        difference: mean,
        se: (freedom > 0).then_some(se),
        statistic: Some(sign.statistic).filter(|statistic| statistic.is_finite()),
        says,
        leads_from: None,
        measured: String::new(),
    }
}

/// The comparisons with a sentence on those that come nearest to the margin, or are furthest beyond.
fn finding(quantity: &'static str, comparisons: Vec<Comparison>, allowed: &str) -> Finding {
    let verdict = verdict_of(&comparisons);
    let size = |one: &&Comparison| one.statistic.unwrap_or(one.difference);
    let widest = comparisons.iter().max_by(|a, b| size(a).total_cmp(&size(b)));
    let summary = match widest {
        Some(one) if one.se.is_some() => {
            let word = match verdict {
                Verdict::Reproduced => "Within",
                Verdict::Contradicted => "Outside",
                _ => "Undecided whether within",
            };
            let z = one.statistic.map_or_else(|| "∞".to_owned(), |z| number::fixed(z.abs(), 1));
            let (measured, which) = (&one.measured, &one.readers);
            format!("{word} {allowed}: {which} is {measured}, |z| = {z} from its edge.")
        }
        _ => ONE_RUN.to_owned(),
    };
    Finding { verdict, summary, quantity, comparisons }
}

fn percent(share: f64) -> String {
    format!("{} %", number::significant(100.0 * share, 2))
}
