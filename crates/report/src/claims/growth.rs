//! Whether a regret grows with a number (of rows, of items) like a power of it.
//!
//! The exponent is the slope of the line of least squares through the points (ln size, ln mean regret), one a variant. Every size
//! counts the same: were they weighted by what the runs leave open, a few sizes whose runs hardly differ would decide, although
//! what moves points off a line is seldom the runs. Stages that get four times longer, say, move them up and down.
//!
//! Two errors add up in squares. The first is that of a line through points beside it: with `m` sizes at the centred logarithms
//! `x`, the residuals' sum of squares by `(m - 2) sum x^2`. The second is that of the runs: the exponent is `sum c ln(mean)` with
//! `c = x / sum x^2`, so its error is that of the mean over the runs of `sum c regret / mean` (delta method; variants that met the same
//! users need not be independent). Of points on a line the first is an estimate of the second and it counts twice, which errs on the
//! careful side. Student's t distribution has `m - 2` degrees of freedom, or the runs' if these are fewer.

use anyhow::bail;
use std::sync::Arc;

use super::reading::check_paired;
use super::{Basis, Comparison, Finding, Kind, Limits, Reading, Test, mean_and_error, number, within};
use crate::series::Series;
use confidence::math::ln;
use experiment::toml_reader::{Error, Field};

pub(super) static KIND: Kind = Kind {
    name: "growth",
    keys: "`series`, at least three; `sizes`: the number that each belongs to, increasing; `t`; `least`, `most`, or both",
    holds: "regret grows like a power of the number, with an exponent of at least `least` and at most `most`",
    read: |reading| Ok(Arc::new(read(reading)?)),
};

/// Regrets, and the numbers with a power of which they grow.
#[derive(Debug, Clone, PartialEq)]
pub struct Growth {
    /// Whose, at least three.
    pub series: Vec<Series>,
    /// The number that each belongs to, above 0, strictly increasing.
    pub sizes: Vec<f64>,
    /// Checkpoint, the last one when absent.
    pub t: Option<u64>,
    /// How large the exponent may be.
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
            measured: number::estimate(exponent, se, n_runs as u64),
            ..within::judge(&beyond, freedom, levels)
        };
        let finding = within::finding("exponent", vec![comparison], &self.limits.words());
        Ok(within::with_intervals(
            finding,
            within::interval(exponent, se, freedom).map(|interval| vec![interval]),
        ))
    }
}

/// A fitted power.
struct Fit {
    exponent: f64,
    se: f64,
}

/// The power of the sizes with which the means of some samples grow; the samples are over the same runs.
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
