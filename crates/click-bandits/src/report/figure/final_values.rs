//! Regret at the end from variant to variant: a line a policy, with error bars.

use super::{Figure, Looks, band_factor, runs_in_words, unit_of};
use crate::report::axis::{Axis, Scale};
use crate::report::sample::ratio_of_means;
use crate::report::series::{Simulated, labels};
use crate::report::svg::{Chart, Curve};

/// How far apart the points of two policies are, so that their bars do not hide each other.
const SHIFT: f64 = 0.05;

/// The chart of a figure of kind [`super::Kind::Final`].
pub(super) fn chart(figure: &Figure, variants: &[Simulated], looks: &Looks) -> Chart {
    let reference = figure.relative_to.as_deref();
    let labels: Vec<&str> = labels(variants).into_iter().filter(|label| Some(*label) != reference).collect();
    let mut curves = Vec::new();
    for (number, label) in labels.iter().enumerate() {
        let shift =
            (number as f64 - (labels.len() as f64 - 1.0) / 2.0) * SHIFT.min(0.6 / labels.len() as f64);
        let (mut points, mut band) = (Vec::new(), Vec::new());
        for (place, variant) in variants.iter().enumerate() {
            let Some((mean, se)) = value(variant, label, reference) else { continue };
            let x = place as f64 + shift;
            points.push((x, mean));
            if let Some(factor) = band_factor(variant.measured.result.runs) {
                band.push((x, mean - factor * se, mean + factor * se));
            }
        }
        let (label, look) = (looks.name(label).to_owned(), looks.policy(label));
        curves.push(Curve { label, look, points, band });
    }
    let subtitle = match (curves.iter().all(|curve| curve.band.is_empty()), figure.scale) {
        (true, Scale::Linear) => "",
        (true, Scale::Log) => "; log scale",
        (false, Scale::Linear) => "; bars: 95 % confidence interval",
        (false, Scale::Log) => "; bars: 95 % confidence interval; log scale",
    };
    let what = reference.map_or_else(
        || {
            format!(
                "expected regret at the end ({})",
                unit_of(variants.iter().map(|variant| &variant.measured.result))
            )
        },
        |label| format!("regret at the end, % of {}", looks.name(label)),
    );
    Chart {
        title: figure.title.clone().unwrap_or_else(|| "Regret at the end".to_owned()),
        subtitle: format!(
            "{}{subtitle}",
            runs_in_words(variants.iter().map(|variant| &variant.measured.result))
        ),
        x: Axis::new(Scale::Linear, -0.5, variants.len() as f64 - 0.5),
        x_label: String::new(),
        y: vertical(&curves, figure.scale),
        y_label: what,
        categories: variants.iter().map(|variant| variant.title.clone()).collect(),
        curves,
    }
}

/// Regret of a policy at the end of a variant, or its share in per cent of another policy's, with standard error; nothing if
/// the variant lacks one of them, or if there is no such number.
pub(super) fn value(variant: &Simulated, label: &str, reference: Option<&str>) -> Option<(f64, f64)> {
    let measured = &variant.measured;
    let policy = measured.policy(label)?;
    let regret = &measured.result.policies[policy].regret;
    let last = regret.mean.len().checked_sub(1)?;
    let (mean, se) = match reference {
        None => (regret.mean[last], regret.se[last]),
        Some(reference) => {
            let reference = measured.policy(reference)?;
            let (ratio, se) =
                ratio_of_means(&measured.regret(policy, last), &measured.regret(reference, last));
            (100.0 * ratio, 100.0 * se)
        }
    };
    (mean.is_finite() && se.is_finite()).then_some((mean, se))
}

/// The axis of the values: from zero on a linear scale, of all positive ones on a logarithmic one.
fn vertical(curves: &[Curve], scale: Scale) -> Axis {
    let points = || curves.iter().flat_map(|curve| curve.points.iter().map(|point| point.1));
    let ends = || curves.iter().flat_map(|curve| curve.band.iter().flat_map(|&(_, low, high)| [low, high]));
    let highest = points().chain(ends()).fold(0.0, f64::max);
    let lowest = points().fold(f64::INFINITY, f64::min);
    match scale {
        Scale::Log if lowest > 0.0 && lowest.is_finite() => {
            let lowest = points().chain(ends()).filter(|&value| value > 0.0).fold(lowest, f64::min);
            // A bar that reaches down to almost nothing is cut.
            Axis::new(
                Scale::Log,
                lowest.max(points().fold(f64::INFINITY, f64::min) / 3.0) / 1.2,
                1.2 * highest,
            )
        }
        _ => Axis::rounded(lowest.min(0.0), highest),
    }
}
