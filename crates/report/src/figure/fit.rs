//! A value of whole runs against the number by which variants differ, with a fitted curve and its 95 % confidence band.

use std::fmt::Write as _;

use super::{Figure, Looks, final_values, runs_in_words};
use crate::axis::{Axis, Scale};
use crate::fit::Fit;
use crate::series::Simulated;
use crate::svg::{Chart, Curve};
use experiment::number;

/// Places at which the curve is drawn.
const STEPS: u32 = 60;

/// The chart of a figure of kind [`super::Kind::Fit`].
pub(super) fn chart(figure: &Figure, variants: &[Simulated], looks: &Looks) -> Chart {
    let results = || variants.iter().map(|variant| &variant.measured.result);
    let compared = final_values::compared(figure, results());
    let label = figure.policy.as_deref().unwrap_or_default();
    let dots: Vec<(f64, f64)> = variants
        .iter()
        .filter_map(|variant| {
            let (mean, _) = final_values::value(variant, label, None, compared)?;
            Some((variant.size?, mean))
        })
        .collect();
    let ends =
        dots.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), dot| (a.min(dot.0), b.max(dot.0)));
    let mut curve = Curve {
        label: looks.name(label).to_owned(),
        look: looks.policy(label),
        points: Vec::new(),
        band: Vec::new(),
        dots,
    };
    let mut subtitle = runs_in_words(results());
    if let Some(fit) = Fit::of(&curve.dots, figure.power) {
        for step in 0..=STEPS {
            let x = ends.0 + f64::from(step) / f64::from(STEPS) * (ends.1 - ends.0);
            curve.points.push((x, fit.at(x)));
            curve.band.push((x, fit.at(x) - fit.band(x), fit.at(x) + fit.band(x)));
        }
        let power = if figure.power == 1.0 { String::new() } else { format!("^{}", figure.power) };
        let sign = if fit.intercept < 0.0 { "−" } else { "+" };
        let _ = write!(
            subtitle,
            "; line: {} x{power} {sign} {}, R² = {}; shaded: its 95 % confidence interval",
            number::significant(fit.slope, 4),
            number::significant(fit.intercept.abs(), 4),
            number::significant(fit.r_squared, 4)
        );
    }
    let heights = curve.dots.iter().chain(&curve.points).map(|point| point.1);
    let (lowest, highest) = heights.fold((0.0, 0.0), |(low, high): (f64, f64), y| (low.min(y), high.max(y)));
    // A little room beside the outermost dots.
    let room = if ends.1 > ends.0 { 0.03 * (ends.1 - ends.0) } else { 1.0 };
    Chart {
        title: figure.title.clone().unwrap_or_else(|| compared.heading().to_owned()),
        subtitle,
        x: Axis::new(Scale::Linear, ends.0 - room, ends.1 + room),
        x_label: figure.x_label.clone().unwrap_or_else(|| "size x".to_owned()),
        y: Axis::rounded(lowest, highest),
        y_label: final_values::in_words(compared, results()),
        categories: Vec::new(),
        curves: vec![curve],
    }
}
