//! Whether one regret (at a checkpoint, or its slope) is below another, or one stopping time, or
//! another value of whole runs. The two values are compared run by run.

use crate::keys::{FACTOR, ROUND, SLOPE, not_both, required, series};
use itertools::Itertools as _;
use std::sync::Arc;

use super::evidence::{SeriesRuns, same_length};
use super::levels::{difference, freedom_of};
use super::{
    Basis, Comparison, Finding, JudgeError, Kind, KindReader, Levels, Test, Verdict, finding, mean_and_error,
};
use crate::reading::checkpoint;
use crate::series::Series;
use documents::toml_reader::{Error, Field};
use experiment::result::EndValue;
use spec::Task;

pub(super) static KIND: Kind = Kind {
    name: "order",
    says: "regret of each of `lower` below `factor` times that of each of `upper`, on the differences run by run; with `slope`, of the slopes (regret at t2 minus regret at t1) / ln(t2 / t1). Also reported of a regret: the first checkpoint from which on the difference is significant at every later one",
    keys: &[
        required("lower", || series(1), "series"),
        required("upper", || series(1), "series"),
        ROUND,
        SLOPE,
        FACTOR,
    ],
    relations: || vec![not_both("t", "slope")],
    needs: &[],
    read,
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

impl ComparedAt {
    /// Reads the quantity by which these series are compared: `t` or `slope`.
    pub(super) fn read(reading: &KindReader<'_, '_>, series: &[Series]) -> Result<Self, Error> {
        let Some(slope) = reading.table.field("slope") else {
            return Ok(Self::Round(reading.round(series)?));
        };
        let panel = reading.panel()?;
        if panel.task() != Task::Regret {
            return Err(slope.error("the panel's runs have no checkpoints: leave it out"));
        }
        if let Some(t) = reading.table.field("t") {
            return Err(t.error("`slope` already gives the rounds: expected `t` or `slope`, not both"));
        }
        let ends: Vec<Field<'_>> = slope.get()?;
        let (from, to): (u64, u64) = (ends[0].get()?, ends[1].get()?);
        if from >= to {
            let fault = format!("round {to} is not after round {from}: expected [t1, t2] with t1 < t2");
            return Err(slope.error(fault));
        }
        Ok(Self::Slope(checkpoint(&ends[0], panel, series)?, checkpoint(&ends[1], panel, series)?))
    }
}

fn read(reading: &KindReader<'_, '_>) -> Result<Arc<dyn Test>, Error> {
    let [lower, upper] = reading.lower_and_upper()?;
    let at = ComparedAt::read(reading, &[&lower[..], &upper].concat())?;
    Ok(Arc::new(Order { lower, upper, at, factor: reading.factor()? }))
}

impl Test for Order {
    fn tests(&self) -> usize {
        self.lower.len() * self.upper.len()
    }

    fn judge(&self, basis: &Basis<'_>) -> Result<Finding, JudgeError> {
        let &Self { ref lower, ref upper, at, factor } = self;
        let (evidence, levels) = (basis.evidence()?, basis.levels);
        let mut comparisons = Vec::new();
        let mut freedom = 0;
        for (low, high) in lower.iter().cartesian_product(upper) {
            let runs = [evidence.runs(low)?, evidence.runs(high)?];
            freedom = freedom_of(&runs[0].values(runs[0].rounds()[0])?);
            let times = if factor == 1.0 { String::new() } else { format!("{factor} × ") };
            let name = evidence.reader_name;
            comparisons.push(Comparison {
                what: format!("{low} − {times}{high}"),
                readers: format!("{} − {times}{}", name(low), name(high)),
                ..compare(&runs, at, factor, levels)?
            });
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

/// Returns whether the value of the first series is below `factor` times that of the second, run by
/// run.
fn compare(
    [low, high]: &[SeriesRuns<'_>; 2],
    at: ComparedAt,
    factor: f64,
    levels: Levels,
) -> Result<Comparison, JudgeError> {
    let judged = |at: ComparedAt| -> Result<Comparison, JudgeError> {
        let ((low, t), (high, _)) = (low.compared(at)?, high.compared(at)?);
        same_length([&low, &high])?;
        let sample: Vec<f64> =
            low.iter().zip(&high).map(|(low, high)| difference(*low, factor * high)).collect();
        let comparison = Comparison::of(mean_and_error(&sample), freedom_of(&sample), levels);
        Ok(Comparison { t: Some(t), ..comparison })
    };
    let mut comparison = judged(at)?;
    if let ComparedAt::Round(_) = at {
        // Goes back from the last common checkpoint as long as the difference is significant.
        for &t in low.rounds().iter().rev().filter(|t| high.rounds().contains(t)) {
            if judged(ComparedAt::Round(Some(t)))?.says != Verdict::Reproduced {
                break;
            }
            comparison.leads_from = Some(t);
        }
    }
    Ok(comparison)
}
