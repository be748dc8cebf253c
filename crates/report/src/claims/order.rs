//! Whether one regret (at a checkpoint, or its slope) is below another, or one stopping time, or another value of whole runs. The two
//! values are compared run by run.

use crate::schema::{Keys, factor, round, series, slope};
use anyhow::bail;
use serde_json::json;
use std::sync::Arc;

use super::evidence::SeriesRuns;
use super::levels::difference;
use super::{
    Basis, Comparison, Finding, Kind, Levels, Reading, Test, Verdict, finding, freedom_of, mean_and_error,
};
use crate::series::Series;
use experiment::result::EndValue;
use experiment::toml_reader::Error;

pub(super) static KIND: Kind = Kind {
    name: "order",
    keys: "`lower`, `upper`: series; `t`: a checkpoint, the last by default, or `slope = [t1, t2]`: two checkpoints; `factor`: 1 by default",
    holds: "regret of each of `lower` below `factor` times that of each of `upper`, on the differences run by run; with `slope`, of the slopes (regret at t2 minus regret at t1) / ln(t2 / t1). Also reported of a regret: the first checkpoint from which on the difference is significant at every later one",
    schema: || {
        Keys::required([("lower", series(1)), ("upper", series(1))])
            .optional([("t", round()), ("slope", slope()), ("factor", factor())])
            .with(json!({ "not": { "required": ["t", "slope"] } }))
    },
    read: |reading| Ok(Arc::new(read(reading)?)),
};

/// The value of each of `lower` is below `factor` times the value of each of `upper`.
#[derive(Debug, Clone, PartialEq)]
pub struct Order {
    /// The series with the lower values.
    pub lower: Vec<Series>,
    /// The series with the higher values.
    pub upper: Vec<Series>,
    /// The quantity that is compared.
    pub at: ComparedAt,
    /// The factor of `upper`.
    pub factor: f64,
}

/// The quantity by which two series are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ComparedAt {
    /// Regret after a checkpoint, the last one if absent; or a value of whole runs.
    Round(Option<u64>),
    /// Growth of the regret between two checkpoints, per unit of `ln t`.
    Slope(u64, u64),
}

fn read(reading: &Reading<'_, '_>) -> Result<Order, Error> {
    let [lower, upper] = reading.lower_and_upper()?;
    let all = [lower.as_slice(), upper.as_slice()].concat();
    let at = reading.compared_at(&all)?;
    Ok(Order { lower, upper, at, factor: reading.factor()? })
}

impl Test for Order {
    fn tests(&self) -> usize {
        self.lower.len() * self.upper.len()
    }

    fn judge(&self, basis: &Basis<'_>) -> anyhow::Result<Finding> {
        let Self { lower, upper, at, factor } = self;
        let (at, factor) = (*at, *factor);
        let (evidence, levels) = (basis.evidence()?, basis.levels);
        let mut comparisons = Vec::new();
        let mut freedom = 0;
        for low in lower {
            for high in upper {
                let runs = [evidence.runs(low)?, evidence.runs(high)?];
                freedom = freedom_of(&runs[0].regret(runs[0].rounds()[0])?);
                let times = if factor == 1.0 { String::new() } else { format!("{factor} × ") };
                let name = evidence.reader_name;
                comparisons.push(Comparison {
                    what: format!("{low} − {times}{high}"),
                    readers: format!("{} − {times}{}", name(low), name(high)),
                    ..compare(&runs, at, factor, levels)?
                });
            }
        }
        let quantity = match (at, evidence.value) {
            (ComparedAt::Round(_), EndValue::Answer(quantity)) => quantity.difference(),
            (ComparedAt::Round(_), EndValue::Regret) => "difference of regrets",
            (ComparedAt::Round(_), EndValue::Accuracy) => "difference of accuracies",
            (ComparedAt::Slope(..), _) => "difference of slopes, for each unit of ln t",
        };
        Ok(finding(quantity, comparisons, levels, freedom))
    }
}

/// Whether the value of the first series is below `factor` times that of the second, run by run.
fn compare(
    [low, high]: &[SeriesRuns<'_>; 2],
    at: ComparedAt,
    factor: f64,
    levels: Levels,
) -> anyhow::Result<Comparison> {
    let less = |low: Vec<f64>, high: Vec<f64>| -> anyhow::Result<Vec<f64>> {
        if low.len() != high.len() {
            bail!("the two have different numbers of runs, {} and {}", low.len(), high.len());
        }
        Ok(low.iter().zip(&high).map(|(low, high)| difference(*low, factor * high)).collect())
    };
    let (sample, t) = match at {
        ComparedAt::Round(t) => {
            let t = low.rounds()[low.checkpoint(t)?];
            (less(low.regret(t)?, high.regret(t)?)?, t)
        }
        ComparedAt::Slope(from, to) => (less(low.slope((from, to))?, high.slope((from, to))?)?, to),
    };
    let freedom = freedom_of(&sample);
    let judged = |sample: &[f64]| Comparison::of(mean_and_error(sample), freedom, levels);
    let mut comparison = Comparison { t: Some(t), ..judged(&sample) };
    if let ComparedAt::Round(_) = at {
        // Goes back from the last common checkpoint as long as the difference is significant.
        for &t in low.rounds().iter().rev().filter(|t| high.rounds().contains(t)) {
            if judged(&less(low.regret(t)?, high.regret(t)?)?).says != Verdict::Reproduced {
                break;
            }
            comparison.leads_from = Some(t);
        }
    }
    Ok(comparison)
}
