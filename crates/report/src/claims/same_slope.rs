//! Whether the regrets of every pair of series grow equally fast with `ln t`, within a margin. Both sides of the margin are tested.

use crate::schema::{Keys, inside_unit, series, slope};
use anyhow::bail;
use std::sync::Arc;

use super::reading::check_paired;
use super::within::percent;
use super::{Basis, Comparison, Finding, Kind, Reading, Test, number, within};
use crate::sample::ratio_of_means;
use crate::series::Series;
use experiment::toml_reader::{Error, Field};

pub(super) static KIND: Kind = Kind {
    name: "same-slope",
    keys: "`series`, at least two; `slope = [t1, t2]`; `margin`: a share",
    holds: "every two slopes at most `margin` times their mean apart, on the differences run by run",
    schema: || Keys::required([("series", series(2)), ("slope", slope()), ("margin", inside_unit())]),
    read: |reading| Ok(Arc::new(read(reading)?)),
};

/// The regrets of every pair of series grow equally fast with `ln t`.
#[derive(Debug, Clone, PartialEq)]
pub struct SameSlope {
    /// The series.
    pub series: Vec<Series>,
    /// The checkpoints between which the slope is measured.
    pub slope: (u64, u64),
    /// The maximal difference of two slopes, as a share of their mean.
    pub margin: f64,
}

fn read(reading: &Reading<'_, '_>) -> Result<SameSlope, Error> {
    let panel = reading.panel_with_regret()?;
    let series = reading.series("series")?;
    let field: Field<'_> = reading.table.required("series")?;
    if series.len() < 2 {
        return Err(field.error("a single series: expected at least two, to compare"));
    }
    check_paired(&field, panel, &series)?;
    Ok(SameSlope { slope: reading.slope(&series)?, series, margin: reading.margin()? })
}

impl Test for SameSlope {
    /// Both sides of the margin for every pair.
    fn tests(&self) -> usize {
        self.series.len() * self.series.len().saturating_sub(1)
    }

    fn judge(&self, basis: &Basis<'_>) -> anyhow::Result<Finding> {
        let (evidence, levels) = (basis.evidence()?, basis.levels);
        let Self { series, slope, margin } = self;
        let (slope, margin) = (*slope, *margin);
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
                    measured: format!("{} %", number::with_error(100.0 * ratio, 100.0 * se)),
                    ..within::judge_margin(&differences, &means, margin, levels)
                });
            }
        }
        let allowed = format!("{} of the two's mean", percent(margin));
        Ok(within::finding("difference of slopes, share of their mean", comparisons, &allowed))
    }
}
