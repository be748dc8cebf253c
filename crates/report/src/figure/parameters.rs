//! One parameter of every instance, its numbers from the largest to the smallest: a line an instance.

use super::Figure;
use crate::axis::{Axis, Scale};
use crate::svg::{Chart, Curve, Look};

/// Of at most so many ranks each is named, with a marker at every number.
const FEW: usize = 20;

/// The chart of a figure of kind [`super::Kind::Parameters`].
pub(super) fn chart(figure: &Figure) -> Chart {
    let longest = figure.numbers.iter().map(|(_, numbers)| numbers.len()).max().unwrap_or(0);
    let named = figure.scale == Scale::Linear && longest <= FEW;
    // Named places count from zero, ranks from one.
    let first = if named { 0.0 } else { 1.0 };
    let curve = |(number, (name, numbers)): (usize, &(String, Vec<f64>))| {
        let mut sorted: Vec<f64> = numbers.iter().copied().filter(|value| value.is_finite()).collect();
        sorted.sort_by(|a, b| b.total_cmp(a));
        Curve {
            label: name.clone(),
            look: Look::Policy(number),
            points: sorted
                .into_iter()
                .enumerate()
                .map(|(rank, value)| (first + rank as f64, value))
                .collect(),
            band: Vec::new(),
            dots: Vec::new(),
        }
    };
    let curves: Vec<Curve> = figure.numbers.iter().enumerate().map(curve).collect();
    let values = || curves.iter().flat_map(|curve| curve.points.iter().map(|point| point.1));
    Chart {
        title: figure.title.clone().unwrap_or_else(|| format!("{}, sorted", figure.parameter)),
        subtitle: "the numbers of each instance, from the largest to the smallest".to_owned(),
        x: match figure.scale {
            Scale::Linear if named => Axis::new(Scale::Linear, -0.5, longest as f64 - 0.5),
            Scale::Linear => Axis::new(Scale::Linear, 0.0, longest as f64),
            Scale::Log => Axis::new(Scale::Log, 1.0, longest as f64),
        },
        x_label: match figure.scale {
            Scale::Linear => "rank".to_owned(),
            Scale::Log => "rank (log scale)".to_owned(),
        },
        y: Axis::rounded(values().fold(0.0, f64::min), values().fold(0.0, f64::max)),
        y_label: figure.parameter.to_owned(),
        categories: if named { (1..=longest).map(|rank| rank.to_string()).collect() } else { Vec::new() },
        curves,
    }
}
