//! Whether means over runs are as many times what a paper prints as is said: the same, within a margin, or four times as much.
//!
//! The printed number is taken as exact, so a limit `r` is judged on `mean - r printed`. Where the paper prints its standard error the page
//! has the z of the difference beside it.

use anyhow::Result;

use super::{Comparison, Evidence, Finding, Levels, Limits, freedom_of, mean_and_error, within};
use crate::series::Series;
use experiment::number;
use experiment::result::EndValue;

pub(super) fn judge(
    evidence: &Evidence<'_>,
    printed: &[(Series, f64)],
    limits: Limits,
    levels: Levels,
) -> Result<Finding> {
    let (mut comparisons, mut intervals) = (Vec::new(), Vec::new());
    for (series, value) in printed {
        let runs = evidence.runs(series)?;
        let t = runs.rounds()[runs.checkpoint(None)?];
        let ratios: Vec<f64> = runs.regret(t)?.iter().map(|measured| measured / value).collect();
        let (mean, se) = mean_and_error(&ratios);
        let beyond = limits.beyond(|sign, limit| {
            mean_and_error(&ratios.iter().map(|ratio| sign * (ratio - limit)).collect::<Vec<_>>())
        });
        intervals.push(within::interval(mean, se, freedom_of(&ratios)));
        comparisons.push(Comparison {
            what: format!("{series} / printed"),
            readers: format!("{} / printed", (evidence.reader_name)(series)),
            t: Some(t),
            measured: number::estimate(mean, se, ratios.len() as u64),
            ..within::judge(&beyond, freedom_of(&ratios), levels)
        });
    }
    let quantity = match evidence.value {
        EndValue::Regret | EndValue::Accuracy => "regret by the printed one",
        EndValue::Answer(_) => "mean by the printed one",
    };
    let finding = within::finding(quantity, comparisons, &limits.words());
    Ok(within::with_intervals(finding, intervals.into_iter().collect()))
}
