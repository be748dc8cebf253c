//! Whether a regret grows as fast with `ln t` as a bound, within a margin. Both sides of the margin are tested.

use crate::schema::{Keys, any_text, inside_unit, series, slope};
use anyhow::bail;
use std::sync::Arc;

use super::within::percent;
use super::{Basis, Comparison, Finding, Kind, Reading, Test, bound_at, number, within};
use crate::sample::ratio_of_means;
use crate::series::Series;
use confidence::math::ln;
use experiment::toml_reader::Error;

pub(super) static KIND: Kind = Kind {
    name: "parallel",
    keys: "`series`; `slope = [t1, t2]`; `margin`: a share; `bound`",
    holds: "slope within `margin` of the bound's",
    schema: || {
        Keys::required([("series", series(1)), ("slope", slope()), ("margin", inside_unit())])
            .optional([("bound", any_text())])
    },
    read: |reading| Ok(Arc::new(read(reading)?)),
};

/// The regret grows as fast with `ln t` as a bound.
#[derive(Debug, Clone, PartialEq)]
pub struct Parallel {
    /// The series.
    pub series: Vec<Series>,
    /// The checkpoints between which the slope is measured.
    pub slope: (u64, u64),
    /// The maximal difference of the two slopes, as a share of the bound's.
    pub margin: f64,
    /// Label of the bound; the first one if absent.
    pub bound: Option<String>,
}

fn read(reading: &Reading<'_, '_>) -> Result<Parallel, Error> {
    reading.panel_with_regret()?;
    let series = reading.series("series")?;
    let bound = reading.bound(&series)?;
    Ok(Parallel { slope: reading.slope(&series)?, series, margin: reading.margin()?, bound })
}

impl Test for Parallel {
    /// Both sides of the margin.
    fn tests(&self) -> usize {
        2 * self.series.len()
    }

    fn judge(&self, basis: &Basis<'_>) -> anyhow::Result<Finding> {
        let (evidence, levels) = (basis.evidence()?, basis.levels);
        let Self { series, slope, margin, bound: label } = self;
        let ((from, to), margin) = (*slope, *margin);
        let mut comparisons = Vec::new();
        for one in series {
            let runs = evidence.runs(one)?;
            let bound = runs.bound(label.as_deref())?;
            let rise = bound_at(bound, to)? - bound_at(bound, from)?;
            let scale = rise / ln(to as f64 / from as f64);
            if scale.is_nan() || scale <= 0.0 {
                bail!("the bound {:?} does not rise from round {from} to round {to}", bound.label);
            }
            let slopes = runs.slope((from, to))?;
            let scales = vec![scale; slopes.len()];
            let differences: Vec<f64> = slopes.iter().map(|slope| slope - scale).collect();
            let (ratio, se) = ratio_of_means(&slopes, &scales);
            comparisons.push(Comparison {
                what: format!("{one} / bound"),
                readers: format!("{} / bound", (evidence.reader_name)(one)),
                t: Some(to),
                measured: number::with_error(ratio, se),
                ..within::judge_margin(&differences, &scales, margin, levels)
            });
        }
        let allowed = format!("{} to {} of the bound's slope", percent(1.0 - margin), percent(1.0 + margin));
        Ok(within::finding("slope by the bound's slope", comparisons, &allowed))
    }
}
