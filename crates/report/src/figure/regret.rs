//! Cumulative expected regret over rounds.

use super::curves::{FROM, OverRounds, SCALE, VARIANT, Value, highest};
use super::{Band, Kind, Rounds};
use crate::axis::{Axis, Scale};
use crate::keys::optional;
use crate::reading::Requirement;
use crate::svg::Curve;
use documents::toml_reader::schema;
use experiment::result::{Bound, Curves, ResultFile};
use std::sync::Arc;

pub(super) static KIND: Kind = Kind {
    name: "regret",
    says: "cumulative expected regret; the curves of all variants together",
    keys: &[
        optional(
            "band",
            schema::<Band>,
            "`\"confidence\"` by default, `\"deciles\"` of the runs, their `\"range\"`, or `\"none\"`",
        ),
        SCALE,
        optional(
            "y-scale",
            schema::<Scale>,
            "by default `\"log\"` if more than half of the policies with regret end below a tenth of the largest, otherwise `\"linear\"`",
        ),
        FROM,
        VARIANT,
    ],
    relations: Vec::new,
    needs: &[Requirement::Rounds],
    read: |reading| {
        let rounds = Rounds::read(reading)?;
        Ok(Arc::new(Regret { rounds, y_scale: reading.word("y-scale")? }))
    },
};

/// Regrets closer to zero count as zero. Their rounding errors are far smaller.
const NOTHING: f64 = 1e-9;

/// Cumulative expected regret over rounds.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Regret {
    /// The settings that all figures over rounds share.
    pub rounds: Rounds,
    /// The scale of the vertical axis. If absent, the scale on which the curves can be
    /// distinguished.
    pub y_scale: Option<Scale>,
}

impl OverRounds for Regret {
    const TITLE: &'static str = "Cumulative regret";

    fn rounds(&self) -> &Rounds {
        &self.rounds
    }

    fn value(&self, curves: &Curves, index: usize) -> Option<Value> {
        let regret = &curves.regret;
        let spread = match self.rounds.band {
            Band::Range => (regret.min[index], regret.max[index]),
            _ => (regret.q10[index], regret.q90[index]),
        };
        Some(Value { middle: regret.mean[index], se: Some(regret.se[index]), spread: Some(spread) })
    }

    fn references(&self, result: &ResultFile) -> Vec<(String, Vec<u64>, Vec<f64>)> {
        let bound = |bound: &Bound| (bound.reader_name(), bound.t.clone(), bound.value.clone());
        result.bounds.iter().map(bound).collect()
    }

    fn vertical(&self, curves: &mut [Curve], policies: &[Curve], unit: &str) -> (Axis, String) {
        if self.y_scale.unwrap_or_else(|| distinguishing_scale(policies)) == Scale::Log {
            return (logarithmic(curves), format!("cumulative expected regret ({unit})"));
        }
        // A bound far above every curve would flatten the curves, so it may leave the frame.
        let (top, bounds_end) = (highest(policies), highest(&curves[..curves.len() - policies.len()]));
        let top = if top > 0.0 { top.max(bounds_end.min(1.5 * top)) } else { top.max(bounds_end) };
        // Regret is negative only by rounding. A band that reaches below zero is cut there.
        let lowest = policies.iter().flat_map(|curve| &curve.points).map(|point| point.1).fold(0.0, f64::min);
        (Axis::rounded(lowest, top), format!("cumulative expected regret ({unit})"))
    }

    fn dashed(&self, dashed: &[&Curve]) -> &'static str {
        if dashed.iter().all(|curve| curve.label.starts_with("asymptotic lower bound")) {
            "; dashed: asymptotic lower bound"
        } else if dashed.iter().all(|curve| curve.label.starts_with("one list")) {
            "; dashed: lists that are not personal"
        } else {
            "; dashed: bounds"
        }
    }
}

/// The scale on which most regrets are not at the bottom of the axis.
fn distinguishing_scale(policies: &[Curve]) -> Scale {
    let ends = policies.iter().filter_map(|curve| Some(curve.points.last()?.1));
    let ends: Vec<f64> = ends.filter(|end| *end > NOTHING).collect();
    let largest = ends.iter().copied().fold(0.0, f64::max);
    let n_low = ends.iter().filter(|end| **end < largest / 10.0).count();
    if 2 * n_low > ends.len() { Scale::Log } else { Scale::Linear }
}

/// A logarithmic axis for all curves. Removes points that are zero except for rounding, and cuts
/// bands that reach far below all curves.
fn logarithmic(curves: &mut [Curve]) -> Axis {
    for curve in curves.iter_mut() {
        curve.points.retain(|point| point.1 > NOTHING);
    }
    let lowest =
        curves.iter().flat_map(|curve| &curve.points).map(|point| point.1).fold(f64::INFINITY, f64::min);
    let highest = highest(curves);
    if !(lowest.is_finite() && highest > lowest) {
        return Axis::rounded(0.0, highest);
    }
    let bottom = lowest / 2.0;
    for curve in curves.iter_mut() {
        curve.band.retain(|&(_, _, high)| high > bottom);
        for (_, low, _) in &mut curve.band {
            *low = low.max(bottom);
        }
    }
    Axis::new(Scale::Log, bottom, 1.2 * highest)
}
