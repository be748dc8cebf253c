//! The axes: ticks with numbers, or names of places. An axis of numbers has another scale, if
//! values can be seen on it.

use super::canvas::{Font, Layer, Pen};
use super::layout::{Layout, width_of};
use super::names::Names;
use super::palette::Ink;
use super::{Chart, Frame};
use crate::axis::{Axis, Scale, Tick};
use crate::text::in_cut_lines;

pub(super) struct Axes {
    pub(super) x: ScaledAxis,
    pub(super) y: ScaledAxis,
}

/// An axis on each scale on which it can be drawn, the drawn one first.
pub(super) struct ScaledAxis {
    pub(super) all: Vec<Axis>,
    label: String,
}

/// The number of labels of a vertical logarithmic axis.
const LABELS: usize = 8;

impl Axes {
    pub(super) fn of(chart: &Chart) -> Self {
        let points = || chart.curves.iter().flat_map(|curve| curve.points.iter().chain(&curve.dots));
        let other = |axis: &Axis, values: Vec<f64>| axis.on_other_scale(values.into_iter());
        // Rounds, sizes and ranks are whole numbers; so are the ticks among them.
        let mut places = chart.curves.iter().flat_map(|curve| {
            let measured = if curve.dots.is_empty() { &curve.points } else { &curve.dots };
            measured.iter().map(|point| point.0)
        });
        let x = chart.x.of_counts(places.all(|place| place == libm::round(place)));
        let other_x = if chart.categories.is_empty() {
            other(&x, points().map(|point| point.0).collect())
        } else {
            None
        };
        // Bars are seen to their ends.
        let bars = chart.curves.iter().filter(|_| !chart.categories.is_empty()).flat_map(|curve| &curve.band);
        let ends = bars.flat_map(|&(_, low, high)| [low, high]).filter(|end| *end > 0.0);
        let other_y = other(&chart.y, points().map(|point| point.1).chain(ends).collect());
        let scaled = |axis: Axis, other: Option<Axis>, label: &str| ScaledAxis {
            all: std::iter::once(axis).chain(other).collect(),
            label: label.to_owned(),
        };
        Self { x: scaled(x, other_x, &chart.x_label), y: scaled(chart.y, other_y, &chart.y_label) }
    }

    /// The height below the frame: ticks or names, and the words of the axis.
    pub(super) fn height_below(&self, names: &Names, layout: &Layout, width: f64) -> f64 {
        let words = self.x.words(width, layout) as f64 * (layout.line + 1.0);
        layout.edge + 10.0 + names.height().max(layout.line) + words
    }
}

impl ScaledAxis {
    fn drawn(&self) -> &Axis {
        &self.all[0]
    }

    /// The quantity and unit on a scale, in lines.
    pub(super) fn lines(&self, axis: &Axis, width: f64, layout: &Layout) -> Vec<String> {
        let words = match (axis.scale, self.label.strip_suffix(')')) {
            (Scale::Linear, _) => self.label.clone(),
            (Scale::Log, _) if self.label.is_empty() => "log scale".to_owned(),
            (Scale::Log, Some(label)) => format!("{label}, log scale)"),
            (Scale::Log, None) => format!("{} (log scale)", self.label),
        };
        in_cut_lines(&words, width / layout.axis)
    }

    /// The number of lines that these words need on any scale.
    pub(super) fn words(&self, width: f64, layout: &Layout) -> usize {
        self.all.iter().map(|axis| self.lines(axis, width, layout).len()).max().unwrap_or(0)
    }

    /// The room at the right of the frame for half of the last label of a horizontal axis.
    pub(super) fn overhang(&self, layout: &Layout) -> f64 {
        let last = |axis: &Axis| axis.end().or_else(|| axis.ticks(LABELS).pop()).map(|tick| tick.label);
        let widths = self.all.iter().filter_map(last).map(|label| width_of(&label, layout.tick));
        widths.fold(0.0, f64::max) / 2.0 + 2.0
    }

    /// The labels of a vertical axis on all scales.
    pub(super) fn labels(&self) -> impl Iterator<Item = String> {
        self.all.iter().flat_map(|axis| axis.ticks(LABELS)).map(|tick| tick.label)
    }
}

pub(super) fn x_ticks(axis: &Axis, frame: &Frame, layout: &Layout) -> Vec<Tick> {
    axis.ticks_within(frame.right - frame.left, |label| width_of(label, layout.tick) + layout.tick)
}

pub(super) fn y_ticks(axis: &Axis) -> Vec<Tick> {
    axis.ticks(LABELS)
}

pub(super) fn draw_axes(
    layer: &mut Layer,
    chart: &Chart,
    axes: &Axes,
    names: &Names,
    frame: &Frame,
    layout: &Layout,
) {
    if chart.categories.is_empty() {
        draw_rounds(layer, axes, frame, layout);
    } else {
        let x = |index: usize| frame.x(&chart.x, index as f64);
        for index in 0..chart.categories.len() {
            let line = vec![(x(index), frame.top), (x(index), frame.bottom)];
            layer.line("", &[line], Pen::solid(0.8), Some(Ink::FaintGrid));
        }
        names.draw(layer, frame.bottom + 7.0, false, x);
    }
    let mut ticks = Layer::new("y-ticks");
    for tick in y_ticks(axes.y.drawn()) {
        let y = frame.y(axes.y.drawn(), tick.value);
        let ink = if tick.label.is_empty() { Ink::FaintGrid } else { Ink::Grid };
        ticks.line("", &[vec![(frame.left, y), (frame.right, y)]], Pen::solid(0.8), Some(ink));
        let font = Font::end(layout.tick);
        ticks.text("", &tick.label, (frame.left - 8.0, y + font.half()), font, None);
    }
    layer.add(ticks);
    let corner = vec![(frame.left, frame.top), (frame.left, frame.bottom), (frame.right, frame.bottom)];
    layer.line("", &[corner], Pen::solid(1.2), Some(Ink::Frame));
    draw_words(layer, axes, names, frame, layout);
}

/// Draws the quantities and units along the axes.
fn draw_words(layer: &mut Layer, axes: &Axes, names: &Names, frame: &Frame, layout: &Layout) {
    let middle = Font::middle(layout.axis);
    let below = frame.bottom + layout.edge - 2.0 + names.height().max(layout.line) + layout.axis;
    let x = f64::midpoint(frame.left, frame.right);
    for (number, words) in axes.x.lines(axes.x.drawn(), frame.right - frame.left, layout).iter().enumerate() {
        layer.text("x-words", words, (x, below + number as f64 * (layout.line + 1.0)), middle, None);
    }
    let lines = axes.y.lines(axes.y.drawn(), layout.width - 2.0 * layout.edge, layout);
    if layout.words_above {
        let n_lines = lines.len() as f64;
        for (number, words) in lines.iter().enumerate() {
            let y = frame.top - 8.0 - (n_lines - 1.0 - number as f64) * layout.line;
            layer.text("y-words", words, (layout.edge, y), Font::start(layout.axis), None);
        }
    } else {
        let beside = (24.0, f64::midpoint(frame.top, frame.bottom));
        layer.text("y-words", &lines.join(" "), beside, Font { is_upright: true, ..middle }, None);
    }
}

/// Draws the ticks of a horizontal axis of numbers.
fn draw_rounds(layer: &mut Layer, axes: &Axes, frame: &Frame, layout: &Layout) {
    let mut ticks = Layer::new("x-ticks");
    for tick in x_ticks(axes.x.drawn(), frame, layout) {
        let x = frame.x(axes.x.drawn(), tick.value);
        let ink = if tick.label.is_empty() { Ink::FaintGrid } else { Ink::Grid };
        ticks.line("", &[vec![(x, frame.top), (x, frame.bottom)]], Pen::solid(0.8), Some(ink));
        let at = (x, frame.bottom + 5.0 + layout.tick);
        ticks.text("", &tick.label, at, Font::middle(layout.tick), None);
    }
    layer.add(ticks);
}
