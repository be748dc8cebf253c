//! Whether a regret grows like a power of a number, such as the number of rows or items.
//!
//! The exponent is the slope of the least-squares line through the points (ln size, ln mean regret), one for each variant. All sizes have
//! the same weight. If they were weighted by the errors of their means, a few sizes with little variation would decide. But deviations from
//! a line rarely come from the runs: stages that get four times longer, for example, move the points up and down.
//!
//! The squares of two errors add up. The first error is the error of a line through scattered points. With `m` sizes at the centred logarithms
//! `x`, its square is the sum of the squared residuals, divided by `(m - 2) sum x^2`. The second error is that of the runs. The exponent is
//! `sum c ln(mean)` with `c = x / sum x^2`, so the error is that of the mean over the runs of `sum c regret / mean` (delta method; variants
//! that meet the same users need not be independent). If the points are on a line, the first error estimates the second, which then counts
//! twice; this is conservative. Student's t distribution has `m - 2` degrees of freedom, or those of the runs if they are fewer.

use crate::schema::{Keys, above_0, round, series};
use anyhow::bail;
use serde_json::json;
use std::sync::Arc;

use super::reading::check_paired;
use super::{Basis, Comparison, Finding, Kind, Limits, Reading, Test, limits, mean_and_error, number};
use crate::series::Series;
use confidence::math::ln;
use experiment::toml_reader::{Error, Field};

pub(super) static KIND: Kind = Kind {
    name: "growth",
    keys: "`series`, at least three; `sizes`: the number that each belongs to, increasing; `t`; `least`, `most`, or both",
    holds: "regret grows like a power of the number, with an exponent of at least `least` and at most `most`",
    schema: || {
        let sizes = json!({ "type": "array", "minItems": 3, "items": above_0(), "uniqueItems": true });
        Keys::required([("series", series(3)), ("sizes", sizes)]).optional([("t", round())]).with_limits()
    },
    read: |reading| Ok(Arc::new(read(reading)?)),
};

/// The regret grows like a power of a number, with an exponent within limits.
#[derive(Debug, Clone, PartialEq)]
pub struct Growth {
    /// The series, at least three.
    pub series: Vec<Series>,
    /// The number of each series: above 0, strictly increasing.
    pub sizes: Vec<f64>,
    /// Checkpoint; the last one if absent.
    pub t: Option<u64>,
    /// The limits of the exponent.
    pub limits: Limits,
}

fn read(reading: &Reading<'_, '_>) -> Result<Growth, Error> {
    let (panel, table) = (reading.panel()?, reading.table);
    let series = reading.series("series")?;
    let field: Field<'_> = table.required("series")?;
    if series.len() < 3 {
        return Err(
            field.error(format!("{} series: expected at least three, to fit a line to", series.len()))
        );
    }
    check_paired(&field, panel, &series)?;
    let field: Field<'_> = table.required("sizes")?;
    let sizes: Vec<f64> = field.get()?;
    if sizes.len() != series.len() {
        let (given, wanted) = (sizes.len(), series.len());
        return Err(field.error(format!("{given} sizes: expected one for each of the {wanted} series")));
    }
    if !(sizes[0] > 0.0 && sizes.is_sorted_by(|a, b| a < b) && sizes.iter().all(|size| size.is_finite())) {
        return Err(field.error("expected numbers above 0, each larger than the one before"));
    }
    Ok(Growth { t: reading.round(&series)?, series, sizes, limits: reading.limits()? })
}

impl Test for Growth {
    fn tests(&self) -> usize {
        self.limits.count()
    }

    fn judge(&self, basis: &Basis<'_>) -> anyhow::Result<Finding> {
        let (evidence, levels) = (basis.evidence()?, basis.levels);
        let mut regrets = Vec::new();
        for one in &self.series {
            let runs = evidence.runs(one)?;
            let t = runs.rounds()[runs.checkpoint(self.t)?];
            regrets.push(runs.regret(t)?);
        }
        let Some(n_runs) = regrets.first().map(Vec::len) else { bail!("no series to fit a line to") };
        if regrets.iter().any(|regret| regret.len() != n_runs) {
            bail!("the variants have different numbers of runs");
        }
        let Fit { exponent, se } = fit(&self.sizes, &regrets);
        let freedom = (regrets.len() as u64).saturating_sub(2).min((n_runs as u64).saturating_sub(1));
        let beyond = self.limits.beyond(|sign, limit| (sign * (exponent - limit), se));
        let (first, last) = (&self.series[0], &self.series[self.series.len() - 1]);
        let name = evidence.reader_name;
        let comparison = Comparison {
            what: format!("{first} to {last}"),
            readers: format!("{} to {}", name(first), name(last)),
            t: self.t,
            measured: number::with_error(exponent, se),
            ..limits::judge(&beyond, freedom, levels)
        };
        let finding = limits::finding("exponent", vec![comparison], &self.limits.words());
        Ok(limits::with_intervals(
            finding,
            limits::interval(exponent, se, freedom).map(|interval| vec![interval]),
        ))
    }
}

/// A fitted power.
struct Fit {
    exponent: f64,
    se: f64,
}

/// Fits the power of the sizes with which the means of samples grow. The samples are over the same runs.
fn fit(sizes: &[f64], samples: &[Vec<f64>]) -> Fit {
    let m = samples.len() as f64;
    let centred = |values: &[f64]| -> Vec<f64> {
        let middle = values.iter().sum::<f64>() / m;
        values.iter().map(|value| value - middle).collect()
    };
    let means: Vec<f64> = samples.iter().map(|sample| mean_and_error(sample).0).collect();
    let x = centred(&sizes.iter().copied().map(ln).collect::<Vec<_>>());
    let y = centred(&means.iter().copied().map(ln).collect::<Vec<_>>());
    let spread: f64 = x.iter().map(|x| x * x).sum();
    let exponent = x.iter().zip(&y).map(|(x, y)| x * y).sum::<f64>() / spread;
    let left: f64 = x.iter().zip(&y).map(|(x, y)| (y - exponent * x) * (y - exponent * x)).sum();
    let beside_the_line = left / (m - 2.0) / spread;
    let n_runs = samples.first().map_or(0, Vec::len);
    let of_a_run = |run: usize| -> f64 {
        let part = |(x, (sample, mean)): (&f64, (&Vec<f64>, &f64))| x * sample[run] / mean;
        x.iter().zip(samples.iter().zip(&means)).map(part).sum::<f64>() / spread
    };
    let of_the_runs = mean_and_error(&(0..n_runs).map(of_a_run).collect::<Vec<_>>()).1;
    Fit { exponent, se: (beside_the_line + of_the_runs * of_the_runs).sqrt() }
}
