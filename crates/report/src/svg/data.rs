//! Frames, axes, points and bands as `data-` attributes, for the script of a page.
//!
//! Places along an axis are exact if they are whole, such as rounds. Other numbers have four
//! significant digits.

use super::axes::{Axes, ScaledAxis, x_ticks, y_ticks};
use super::canvas::{Layer, length};
use super::layout::Layout;
use super::{ABOVE, Chart, Curve, Frame};
use crate::axis::{Axis, Scale, Tick};
use itertools::Itertools as _;
use num_traits::ToPrimitive as _;

/// The attributes of the root: the quantities of both axes, and the categories by line.
pub(super) fn of_chart(chart: &Chart) -> Vec<(&'static str, String)> {
    let one_line = |name: &String| name.replace('\n', " ");
    let mut attributes =
        vec![("data-x-name", one_line(&chart.x_label)), ("data-y-name", one_line(&chart.y_label))];
    if !chart.categories.is_empty() {
        attributes.push(("data-categories", chart.categories.iter().map(one_line).join("\n")));
    }
    attributes
}

/// Sets the attributes of a drawing: the frame (left, top, right, bottom), and for both axes the
/// scale that is drawn, and for each scale its range, ticks (`value:label`, the label empty for a
/// minor one), and words, one line a line.
pub(super) fn describe_drawing(layer: &mut Layer, axes: &Axes, frame: &Frame, layout: &Layout) {
    let edges = [frame.left, frame.top, frame.right, frame.bottom].map(length);
    layer.set("data-frame", &edges.join(" "));
    layer.set("data-tick", &length(layout.tick));
    let width = frame.right - frame.left;
    describe_axis(layer, "x", &axes.x, |axis| {
        (x_ticks(axis, frame, layout), axes.x.lines(axis, width, layout).join("\n"))
    });
    describe_axis(layer, "y", &axes.y, |axis| {
        let separator = if layout.words_above { "\n" } else { " " };
        let lines = axes.y.lines(axis, layout.width - 2.0 * layout.edge, layout);
        (y_ticks(axis), lines.join(separator))
    });
}

fn describe_axis(
    layer: &mut Layer,
    name: &str,
    scaled: &ScaledAxis,
    drawn: impl Fn(&Axis) -> (Vec<Tick>, String),
) {
    for (number, axis) in scaled.all.iter().enumerate() {
        let scale = if axis.scale == Scale::Log { "log" } else { "linear" };
        if number == 0 {
            layer.set(&format!("data-{name}"), scale);
        }
        let (ticks, words) = drawn(axis);
        let ticks = ticks.iter().map(|tick| format!(" {}:{}", precise(tick.value), tick.label));
        let range = format!("{} {}", precise(axis.from), precise(axis.to));
        layer.set(&format!("data-{name}-{scale}"), &(range + &ticks.collect::<String>()));
        layer.set(&format!("data-{name}-{scale}-words"), &words);
    }
}

/// Sets name, points (`x:y`, with a band `x:y:low:high`) and dots of a curve.
pub(super) fn describe_curve(layer: &mut Layer, chart: &Chart, curve: &Curve) {
    // On another scale it may end in the frame.
    let label = curve.label.trim_end_matches(ABOVE);
    // A curve of one point among categories has its value as its label: the category is its name.
    let category = match curve.points[..] {
        [(x, _)] => x.to_usize().and_then(|place| chart.categories.get(place)),
        _ => None,
    };
    match category {
        Some(category) => layer.set("data-label", &format!("{category}: {label}")),
        None => layer.set("data-label", label),
    }
    let mut band = curve.band.iter().peekable();
    let point = |&(x, y): &(f64, f64)| {
        // A band may lack some of the places of the line.
        while band.next_if(|(at, ..)| *at < x).is_some() {}
        let ends =
            band.next_if(|(at, ..)| *at == x).filter(|(_, low, high)| low.is_finite() && high.is_finite());
        let ends = ends.map(|&(_, low, high)| format!(":{}:{}", short(low), short(high)));
        format!("{}:{}{}", precise(x), short(y), ends.unwrap_or_default())
    };
    let is_finite = |&&(x, y): &&(f64, f64)| x.is_finite() && y.is_finite();
    layer.set("data-points", &curve.points.iter().filter(is_finite).map(point).join(" "));
    if !curve.dots.is_empty() {
        let dot = |&(x, y): &(f64, f64)| format!("{}:{}", precise(x), short(y));
        layer.set("data-dots", &curve.dots.iter().filter(is_finite).map(dot).join(" "));
    }
}

/// A whole number exactly, another one with eight significant digits.
fn precise(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1e15 { format!("{value:.0}") } else { digits(value, 7) }
}

/// A number with four significant digits.
fn short(value: f64) -> String {
    digits(value, 3)
}

/// A number with one digit before the point and `decimals` after it, as briefly as possible.
fn digits(value: f64, decimals: usize) -> String {
    let rounded: f64 = format!("{value:.decimals$e}").parse().unwrap_or(value);
    let size = rounded.abs();
    if size == 0.0 {
        "0".to_owned()
    } else if (1e-4..1e9).contains(&size) {
        format!("{rounded}")
    } else {
        format!("{rounded:e}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_rounds_are_exact() {
        let written = [1234.56, 0.012_345_6, -0.0, 1e300, 1.5e-7, 123_456.0].map(short);
        assert_eq!(written, ["1235", "0.01235", "0", "1e300", "1.5e-7", "123500"]);
        assert_eq!([123_456_789.0, 0.5, 1.0 / 3.0].map(precise), ["123456789", "0.5", "0.33333333"]);
    }
}
