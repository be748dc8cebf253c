//! Whether a regret is below a bound.

use anyhow::Result;

use super::{
    Comparison, Evidence, Finding, Levels, Sign, bound_at, finding, freedom_of, mean_and_error, number,
};
use crate::series::Series;

pub(super) fn judge(
    evidence: &Evidence<'_>,
    series: &[Series],
    t: Option<u64>,
    label: Option<&str>,
    levels: Levels,
) -> Result<Finding> {
    let mut comparisons = Vec::new();
    let mut least_freedom = u64::MAX;
    for one in series {
        let runs = evidence.runs(one)?;
        let bound = runs.bound(label)?;
        let t = runs.rounds()[runs.checkpoint(t)?];
        let value = bound_at(bound, t)?;
        let above: Vec<f64> = runs.regret(t)?.iter().map(|regret| regret - value).collect();
        let freedom = freedom_of(&above);
        let (mean, se) = mean_and_error(&above);
        let sign = Sign::of(mean, se, freedom, levels);
        least_freedom = least_freedom.min(freedom);
        comparisons.push(Comparison {
            what: format!("{one} − bound"),
            readers: format!("{} − bound", (evidence.reader_name)(one)),
            t: Some(t),
            difference: mean,
            se: (freedom > 0).then_some(se),
            statistic: Some(sign.statistic).filter(|statistic| statistic.is_finite()),
            says: sign.says,
            leads_from: None,
            measured: number::estimate(mean, se, above.len() as u64),
        });
    }
    Ok(finding("regret above the bound", comparisons, levels, least_freedom))
}
