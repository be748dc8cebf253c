//! Whether means over runs grow like a power of the number by which variants differ, shown by a
//! fitted curve.
//!
//! The share of variance that the curve explains, `R^2`, is judged by a jackknife over the runs.
//! With n runs, the pseudo-values `n R^2 - (n - 1) R^2_without_the_run` are a sample with mean
//! `R^2`, corrected for bias, and the spread of the runs. In addition, the slope has to be
//! positive, judged by the residuals of the fit.

use crate::keys::{POWER, any_text, required};
use spec::schema::probability;
use std::sync::Arc;

use super::evidence::same_length;
use super::levels::freedom_of;
use super::{Basis, Comparison, Finding, JudgeError, Kind, KindReader, Test, mean_and_error, verdict_of};
use crate::least_squares::LeastSquares;
use crate::reading::{Requirement, check_paired};
use crate::student::CONFIDENCE;
use documents::number;
use documents::toml_reader::Error;

pub(super) static KIND: Kind = Kind {
    name: "fit",
    says: "means over runs lie along `c1 size^power + c2` (least squares): R² at least `r-squared`, by its jackknife over the runs, and `c1` above 0, by the residuals",
    keys: &[
        required("policy", any_text, "a label that all variants have"),
        POWER,
        required("r-squared", probability, "the least share of explained variance"),
    ],
    relations: Vec::new,
    needs: &[Requirement::Sizes],
    read,
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

fn read(reading: &KindReader<'_, '_>) -> Result<Arc<dyn Test>, Error> {
    let panel = reading.panel()?;
    check_paired(&reading.kind, panel, &panel.series())?;
    let (power, policy) = (reading.power()?, reading.label("policy")?);
    Ok(Arc::new(Fit { policy, power, r_squared: reading.table.required("r-squared")? }))
}

impl Test for Fit {
    /// One test of the share of variance, and one of the slope.
    fn tests(&self) -> usize {
        2
    }

    fn judge(&self, basis: &Basis<'_>) -> Result<Finding, JudgeError> {
        let (evidence, levels) = (basis.evidence()?, basis.levels);
        let lacks = |what: &str| JudgeError::Lacks(what.to_owned());
        let mut sizes = Vec::new();
        let mut samples = Vec::new();
        for (variant, runs) in evidence.runs_of_variants(&self.policy)? {
            sizes.push(variant.size.ok_or_else(|| lacks("a variant has no size"))?);
            samples.push(runs.values(runs.round(None)?)?);
        }
        let count = same_length(&samples)?;
        // The fit to the means over all runs, or over all runs without one.
        let fit = |left_out: Option<usize>| {
            let mean = |sample: &Vec<f64>| {
                let sum: f64 = sample.iter().sum();
                left_out.map_or_else(|| sum / count as f64, |run| (sum - sample[run]) / (count as f64 - 1.0))
            };
            let points: Vec<(f64, f64)> = sizes.iter().copied().zip(samples.iter().map(mean)).collect();
            LeastSquares::of(&points, self.power)
        };
        let whole = fit(None)
            .ok_or_else(|| lacks("nothing to fit: fewer than three variants, or none that differ"))?;
        let pseudo_value = |run: usize| {
            let without = if count > 1 { fit(Some(run))?.r_squared } else { 0.0 };
            let n = count as f64;
            Some(n * whole.r_squared - (n - 1.0) * without)
        };
        let pseudo_values: Option<Vec<f64>> = (0..count).map(pseudo_value).collect();
        let missing: Vec<f64> = pseudo_values
            .ok_or_else(|| lacks("nothing to fit without one of the runs"))?
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
            whole.power_in_words(),
            interval(whole.intercept, whole.intercept_se),
            whole.p_value
        );
        Ok(Finding { verdict: verdict_of(&comparisons), summary, quantity: "of the fit", comparisons })
    }
}
