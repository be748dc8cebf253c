//! Whether a regret grows like a power of a number, such as the number of rows or items.
//!
//! With `m` sizes at the centred logarithms `x`, the squared error of the line is the sum of the
//! squared residuals, divided by `(m - 2) sum x^2`. The exponent is `sum c ln(mean)` with `c = x /
//! sum x^2`, so the error from the runs is that of the mean of `sum c regret / mean` (delta method;
//! variants that meet the same users need not be independent). If the points are on a line, the
//! first error estimates the second, which then counts twice; this is conservative.

use crate::keys::{LEAST, MOST, ROUND, has_a_limit, required, series};
use serde_json::{Value, json};
use spec::schema::{above, titled};
use std::sync::Arc;

use super::evidence::same_length;
use super::{Basis, Comparison, Finding, JudgeError, Kind, KindReader, Limits, Test, limits, mean_and_error};
use crate::reading::check_paired;
use crate::series::Series;
use confidence::math::ln;
use documents::number;
use documents::toml_reader::{Error, Field};

pub(super) static KIND: Kind = Kind {
    name: "growth",
    says: "regret grows like a power of the number, with an exponent of at least `least` and at most `most`",
    keys: &[
        required("series", || series(3), "at least three series"),
        required("sizes", sizes, "the number that each belongs to, increasing"),
        ROUND,
        LEAST,
        MOST,
    ],
    relations: || vec![has_a_limit()],
    needs: &[],
    read,
};

fn sizes() -> Value {
    let sizes = json!({ "type": "array", "minItems": 3, "items": above(0, None), "uniqueItems": true });
    titled(sizes, "at least 3 numbers above 0, each larger than the one before")
}

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

fn read(reading: &KindReader<'_, '_>) -> Result<Arc<dyn Test>, Error> {
    let (panel, table) = (reading.panel()?, reading.table);
    let series = reading.series("series")?;
    check_paired(&table.required("series")?, panel, &series)?;
    let field: Field<'_> = table.required("sizes")?;
    let sizes: Vec<f64> = field.get()?;
    if sizes.len() != series.len() {
        let (given, wanted) = (sizes.len(), series.len());
        return Err(field.error(format!("{given} sizes: expected one for each of the {wanted} series")));
    }
    if !sizes.is_sorted_by(|a, b| a < b) {
        return Err(field.error("expected numbers above 0, each larger than the one before"));
    }
    Ok(Arc::new(Growth { t: reading.round(&series)?, series, sizes, limits: Limits::read(reading)? }))
}

impl Test for Growth {
    fn tests(&self) -> usize {
        self.limits.count()
    }

    fn judge(&self, basis: &Basis<'_>) -> Result<Finding, JudgeError> {
        let (evidence, levels) = (basis.evidence()?, basis.levels);
        let mut regrets = Vec::new();
        for one in &self.series {
            let runs = evidence.runs(one)?;
            regrets.push(runs.values(runs.round(self.t)?)?);
        }
        let n_runs = same_length(&regrets)?;
        let (exponent, se) = fit(&self.sizes, &regrets);
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
        let interval = limits::interval(exponent, se, freedom).map(|interval| vec![interval]);
        Ok(limits::finding("exponent", vec![comparison], self.limits, interval))
    }
}

/// The power of the sizes with which the means of samples of the same runs grow, and its error.
fn fit(sizes: &[f64], samples: &[Vec<f64>]) -> (f64, f64) {
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
    (exponent, (beside_the_line + of_the_runs * of_the_runs).sqrt())
}
