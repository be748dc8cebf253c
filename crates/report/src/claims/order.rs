//! Whether one regret is below another, run by run, where they end or as they grow; or one stopping time, or another value of whole runs.

use anyhow::{Result, bail};

use super::{
    At, Comparison, Evidence, Finding, Levels, Runs, Sign, Verdict, finding, freedom_of, mean_and_error,
    number,
};
use crate::series::Series;
use experiment::result::EndValue;

pub(super) fn judge(
    evidence: &Evidence<'_>,
    lower: &[Series],
    upper: &[Series],
    at: At,
    factor: f64,
    levels: Levels,
) -> Result<Finding> {
    let mut comparisons = Vec::new();
    let mut freedom = 0;
    for low in lower {
        for high in upper {
            let runs = [evidence.runs(low)?, evidence.runs(high)?];
            freedom = freedom_of(&runs[0].regret(runs[0].rounds()[0])?);
            let times = if factor == 1.0 { String::new() } else { format!("{factor} × ") };
            let name = evidence.reader_name;
            comparisons.push(Comparison {
                what: format!("{low} − {times}{high}"),
                readers: format!("{} − {times}{}", name(low), name(high)),
                ..compare(&runs, at, factor, levels)?
            });
        }
    }
    let quantity = match (at, evidence.value) {
        (At::Round(_), EndValue::Answer(quantity)) => quantity.difference(),
        (At::Round(_), EndValue::Regret) => "difference of regrets",
        (At::Round(_), EndValue::Accuracy) => "difference of accuracies",
        (At::Slope(..), _) => "difference of slopes, for each unit of ln t",
    };
    Ok(finding(quantity, comparisons, levels, freedom))
}

/// Whether the first of two has less than the second, times the factor, run by run.
fn compare([low, high]: &[Runs<'_>; 2], at: At, factor: f64, levels: Levels) -> Result<Comparison> {
    let less = |low: Vec<f64>, high: Vec<f64>| -> Result<Vec<f64>> {
        if low.len() != high.len() {
            bail!("the two have different numbers of runs, {} and {}", low.len(), high.len());
        }
        Ok(low.iter().zip(&high).map(|(low, high)| low - factor * high).collect())
    };
    let (sample, t) = match at {
        At::Round(t) => {
            let t = low.rounds()[low.checkpoint(t)?];
            (less(low.regret(t)?, high.regret(t)?)?, t)
        }
        At::Slope(from, to) => (less(low.slope((from, to))?, high.slope((from, to))?)?, to),
    };
    let freedom = freedom_of(&sample);
    let judged = |sample: &[f64]| {
        let (mean, se) = mean_and_error(sample);
        (mean, se, Sign::of(mean, se, freedom, levels))
    };
    let (mean, se, sign) = judged(&sample);
    let mut leads_from = None;
    if let At::Round(_) = at {
        // The checkpoints that both have, from the last one back as long as each is significant.
        for &t in low.rounds().iter().rev().filter(|t| high.rounds().contains(t)) {
            if judged(&less(low.regret(t)?, high.regret(t)?)?).2.says != Verdict::Reproduced {
                break;
            }
            leads_from = Some(t);
        }
    }
    Ok(Comparison {
        what: String::new(),
        readers: String::new(),
        t: Some(t),
        difference: mean,
        se: (freedom > 0).then_some(se),
        statistic: Some(sign.statistic).filter(|statistic| statistic.is_finite()),
        says: sign.says,
        leads_from,
        measured: number::estimate(mean, se, sample.len() as u64),
    })
}
