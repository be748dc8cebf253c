//! Whether one regret is as many times another as is said: twice, four times, or hardly more than it was.
//!
//! A claim that the ratio `a / b` of two mean regrets is at most `r` is judged on `a - r b`, one number a run: its mean is
//! negative if and only if the claim holds, and nothing is assumed of how the two vary together, nor is anything divided by a number
//! that varies. Ratio, standard error (delta method) and confidence interval are for readers.

use anyhow::{Result, bail};

use super::{Comparison, Evidence, Finding, Levels, Limits, Ratio, freedom_of, mean_and_error, within};
use crate::sample::ratio_of_means;
use experiment::number;
use experiment::result::EndValue;

pub(super) fn judge(evidence: &Evidence<'_>, ratio: &Ratio, levels: Levels) -> Result<Finding> {
    let name = evidence.reader_name;
    let (mut comparisons, mut intervals) = (Vec::new(), Vec::new());
    for (series, by) in ratio.series.iter().zip(&ratio.by) {
        let (above, below) = (evidence.runs(series)?, evidence.runs(by)?);
        let t = above.rounds()[above.checkpoint(ratio.t)?];
        let by_t = below.rounds()[below.checkpoint(ratio.by_t.or(ratio.t))?];
        let (above, below) = (above.regret(t)?, below.regret(by_t)?);
        if above.len() != below.len() {
            bail!("the two have different numbers of runs, {} and {}", above.len(), below.len());
        }
        let (value, se) = ratio_of_means(&above, &below);
        let (what, readers) = if series == by {
            let rounds = format!(", round {} by round {}", number::grouped(t), number::grouped(by_t));
            (format!("{series}{rounds}"), format!("{}{rounds}", name(series)))
        } else {
            (format!("{series} / {by}"), format!("{} / {}", name(series), name(by)))
        };
        intervals.push(within::interval(value, se, freedom_of(&above)));
        comparisons.push(Comparison {
            what,
            readers,
            t: Some(t),
            measured: number::estimate(value, se, above.len() as u64),
            ..inside(&above, &below, ratio.limits, levels)
        });
    }
    let quantity = match evidence.value {
        EndValue::Regret => "ratio of regrets",
        EndValue::Accuracy | EndValue::Answer(_) => "ratio of means",
    };
    let finding = within::finding(quantity, comparisons, &ratio.limits.words());
    Ok(within::with_intervals(finding, intervals.into_iter().collect()))
}

/// Whether the mean of the one is inside the limits times the mean of the other.
fn inside(above: &[f64], below: &[f64], limits: Limits, levels: Levels) -> Comparison {
    let beyond = limits.beyond(|sign, limit| {
        let beyond: Vec<f64> =
            above.iter().zip(below).map(|(above, below)| sign * (above - limit * below)).collect();
        mean_and_error(&beyond)
    });
    within::judge(&beyond, freedom_of(above), levels)
}
