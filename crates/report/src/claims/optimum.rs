//! Whether the expected clicks come near to those of a best list.

use anyhow::{Context, Result};

use super::{Comparison, Evidence, Finding, Levels, Sign, finding, number};
use crate::series::Series;

pub(super) fn judge(
    evidence: &Evidence<'_>,
    policies: &[Series],
    share: f64,
    t: Option<u64>,
    levels: Levels,
) -> Result<Finding> {
    let mut comparisons = Vec::new();
    let mut least_freedom = u64::MAX;
    for series in policies {
        let runs = evidence.runs(series)?;
        let result = &runs.measured.result;
        let curves = result.policies[runs.policy].curves().context("the runs have no regret")?;
        let best = result.optimum.as_ref().context("the result has no optimum")?;
        let freedom = result.runs.saturating_sub(1);
        least_freedom = least_freedom.min(freedom);
        let at = runs.checkpoint(t)?;
        let round = curves.t[at];
        let in_optimum = best.t.iter().position(|&other| other == round);
        let in_optimum = in_optimum.context("the optimum lacks a checkpoint")?;
        let optimum = (best.clicks.mean[in_optimum], best.clicks.se[in_optimum]);
        let regret = (curves.regret.mean[at], curves.regret.se[at]);
        // Share of the optimum that is missing. Nothing is known of how regret and optimum go together from run to run, so
        // their relative errors add up: the most that the error of their ratio can be.
        let lost = regret.0 / optimum.0;
        let se = regret.1 / optimum.0 + lost.abs() * optimum.1 / optimum.0;
        let excess = lost - (1.0 - share);
        let sign = Sign::of(excess, se, freedom, levels);
        comparisons.push(Comparison {
            what: series.to_string(),
            readers: (evidence.reader_name)(series),
            t: Some(round),
            difference: excess,
            se: (freedom > 0).then_some(se),
            statistic: Some(sign.statistic).filter(|statistic| statistic.is_finite()),
            says: sign.says,
            leads_from: None,
            measured: format!("{} %", number::estimate(100.0 * (1.0 - lost), 100.0 * se, result.runs)),
        });
    }
    Ok(finding("expected clicks, share of the optimum", comparisons, levels, least_freedom))
}
