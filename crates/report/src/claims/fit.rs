//! Whether means over runs grow like a power of the number by which variants differ, shown by a fitted curve.
//!
//! The share of variance that the curve explains, `R^2`, is judged by a jackknife over the runs. With n runs, the pseudo-values
//! `n R^2 - (n - 1) R^2_without_the_run` are a sample with mean `R^2`, corrected for bias, and the spread of the runs. In addition, the
//! slope has to be positive, judged by the residuals of the fit.

use crate::schema::{Keys, label, power};
use anyhow::{Context as _, bail};
use experiment::schema::probability;
use std::sync::Arc;

use super::reading::check_paired;
use super::{
    Basis, Comparison, Finding, Kind, Reading, Test, freedom_of, mean_and_error, number, verdict_of,
};
use crate::least_squares::LeastSquares;
use crate::reproduction::fields::{read_label, read_power};
use crate::series::Series;
use crate::student::CONFIDENCE;
use confidence::Probability;
use experiment::toml_reader::{Error, Field};

pub(super) static KIND: Kind = Kind {
    name: "fit",
    keys: "`policy`: a label that all variants have; `power`, 1 by default; `r-squared`",
    holds: "means over runs lie along `c1 size^power + c2` (least squares): R² at least `r-squared`, by its jackknife over the runs, and `c1` above 0, by the residuals",
    schema: || {
        Keys::required([("policy", label()), ("r-squared", probability())]).optional([("power", power())])
    },
    read: |reading| Ok(Arc::new(read(reading)?)),
};

/// The means over runs grow like a power of the number by which variants differ.
#[derive(Debug, Clone, PartialEq)]
pub struct Fit {
    /// Label of the policy, which all variants have.
    pub policy: String,
    /// The power of the size.
    pub power: f64,
    /// The minimal share of the variance of the means that the curve explains.
    pub r_squared: f64,
}

fn read(reading: &Reading<'_, '_>) -> Result<Fit, Error> {
    let (panel, table) = (reading.panel()?, reading.table);
    check_paired(&reading.kind, panel, &panel.series())?;
    let power = read_power(table, &reading.kind, panel)?;
    let policy = read_label(table, "policy", panel)?;
    let field: Field<'_> = table.required("r-squared")?;
    Ok(Fit { policy, power, r_squared: field.get::<Probability>()?.get() })
}

impl Test for Fit {
    /// One test of the share of variance, and one of the slope.
    fn tests(&self) -> usize {
        2
    }

    fn judge(&self, basis: &Basis<'_>) -> anyhow::Result<Finding> {
        let (evidence, levels) = (basis.evidence()?, basis.levels);
        let mut sizes = Vec::new();
        let mut samples = Vec::new();
        for variant in evidence.variants {
            let series = Series { variant: variant.name.clone(), policy: self.policy.clone() };
            let runs = evidence.runs(&series)?;
            let last = *runs.rounds().last().context("the result has no checkpoint")?;
            sizes.push(variant.size.with_context(|| format!("the variant {series} has no size"))?);
            samples.push(runs.regret(last)?);
        }
        let count = samples.first().map_or(0, Vec::len);
        if samples.iter().any(|sample| sample.len() != count) {
            bail!("the variants have different numbers of runs");
        }
        // The fit to the means over all runs, or over all runs without one.
        let fit = |left_out: Option<usize>| {
            let mean = |sample: &Vec<f64>| {
                let sum: f64 = sample.iter().sum();
                left_out.map_or_else(|| sum / count as f64, |run| (sum - sample[run]) / (count as f64 - 1.0))
            };
            let points: Vec<(f64, f64)> = sizes.iter().copied().zip(samples.iter().map(mean)).collect();
            LeastSquares::of(&points, self.power)
        };
        let whole = fit(None).context("nothing to fit: fewer than three variants, or none that differ")?;
        let pseudo_value = |run: usize| {
            let without = if count > 1 { fit(Some(run))?.r_squared } else { 0.0 };
            let n = count as f64;
            Some(n * whole.r_squared - (n - 1.0) * without)
        };
        let pseudo_values: Option<Vec<f64>> = (0..count).map(pseudo_value).collect();
        let missing: Vec<f64> = pseudo_values
            .context("nothing to fit without one of the runs")?
            .into_iter()
            .map(|r_squared| self.r_squared - r_squared)
            .collect();
        let (mean, se) = mean_and_error(&missing);
        let explained = Comparison {
            what: format!("R^2 of {}", self.policy),
            readers: "R²".to_owned(),
            measured: number::with_error(whole.r_squared, se),
            ..Comparison::of((mean, se), freedom_of(&missing), levels)
        };
        let grows = Comparison {
            what: format!("slope of {}", self.policy),
            readers: "slope".to_owned(),
            measured: number::with_error(whole.slope, whole.slope_se),
            ..Comparison::of((-whole.slope, whole.slope_se), whole.freedom, levels)
        };
        let comparisons = vec![explained, grows];
        let interval = |value: f64, se: f64| number::with_error(value, whole.reach() * se);
        let summary = format!(
            "R² = {}, at least {} stated; {} = {} size{} + {} ({CONFIDENCE} intervals); p = {:.1e}.",
            number::significant(whole.r_squared, 4),
            number::significant(self.r_squared, 3),
            evidence.value.words(),
            interval(whole.slope, whole.slope_se),
            power_in_words(self.power),
            interval(whole.intercept, whole.intercept_se),
            whole.p_value
        );
        Ok(Finding { verdict: verdict_of(&comparisons), summary, quantity: "of the fit", comparisons })
    }
}

/// A power as it is written after a name.
fn power_in_words(power: f64) -> String {
    if power == 1.0 { String::new() } else { format!("^{power}") }
}
