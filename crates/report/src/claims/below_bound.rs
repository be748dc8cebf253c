//! Whether a regret is below a bound.

use crate::schema::{Keys, any_text, round, series};
use std::sync::Arc;

use super::levels::difference;
use super::{Basis, Comparison, Finding, Kind, Reading, Test, bound_at, finding, freedom_of, mean_and_error};
use crate::series::Series;
use experiment::toml_reader::Error;

pub(super) static KIND: Kind = Kind {
    name: "below-bound",
    keys: "`series`; `t`; `bound`: its label, the first by default",
    holds: "regret below the bound's curve",
    schema: || Keys::required([("series", series(1))]).optional([("t", round()), ("bound", any_text())]),
    read: |reading| Ok(Arc::new(read(reading)?)),
};

/// The regret is below a bound at round `t`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BelowBound {
    /// The series.
    pub series: Vec<Series>,
    /// Checkpoint; the last one if absent.
    pub t: Option<u64>,
    /// Label of the bound; the first one if absent.
    pub bound: Option<String>,
}

fn read(reading: &Reading<'_, '_>) -> Result<BelowBound, Error> {
    reading.panel_with_regret()?;
    let series = reading.series("series")?;
    let bound = reading.bound(&series)?;
    Ok(BelowBound { t: reading.round(&series)?, series, bound })
}

impl Test for BelowBound {
    fn tests(&self) -> usize {
        self.series.len()
    }

    fn judge(&self, basis: &Basis<'_>) -> anyhow::Result<Finding> {
        let (evidence, levels) = (basis.evidence()?, basis.levels);
        let mut comparisons = Vec::new();
        let mut least_freedom = u64::MAX;
        for one in &self.series {
            let runs = evidence.runs(one)?;
            let bound = runs.bound(self.bound.as_deref())?;
            let t = runs.rounds()[runs.checkpoint(self.t)?];
            let value = bound_at(bound, t)?;
            let above: Vec<f64> = runs.regret(t)?.iter().map(|regret| difference(*regret, value)).collect();
            let freedom = freedom_of(&above);
            least_freedom = least_freedom.min(freedom);
            comparisons.push(Comparison {
                what: format!("{one} − bound"),
                readers: format!("{} − bound", (evidence.reader_name)(one)),
                t: Some(t),
                ..Comparison::of(mean_and_error(&above), freedom, levels)
            });
        }
        Ok(finding("regret above the bound", comparisons, levels, least_freedom))
    }
}
