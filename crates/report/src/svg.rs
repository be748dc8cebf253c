//! A chart as an SVG picture.
//!
//! All charts share sizes, fonts, colours, markers and dashes. Curves differ in colour (a palette
//! for colour-blind readers), marker and label. References (bounds, the optimum) are dashed and
//! dark. Colours follow the reader's theme, in a page and in a file opened alone.
//!
//! A picture has two drawings: a wide one, with labels at the right, near the heights at which the
//! curves end, and a narrow one with large letters and the labels below. A page with [`style`]
//! shows the one that fits; every other program shows the wide one.
//!
//! Titles, descriptions and everything that is drawn are in the picture. [`SCRIPT`] adds controls
//! to the pictures of a page. It reads the values from `data-` attributes.

mod axes;
pub(crate) mod canvas;
mod curves;
mod data;
pub(crate) mod layout;
mod legend;
pub(crate) mod names;
pub(crate) mod palette;
mod style;
mod summary;

pub use style::{CurveStyle, colour};

use self::axes::{Axes, draw_axes};
use self::canvas::{Drawing, Font, Layer, Pen, Place};
use self::curves::{draw_band, draw_curve};
use self::data::describe_drawing;
use self::layout::{Heading, Layout, NARROW, WIDE, width_of};
use self::legend::{Legend, draw_legend, draw_legend_below};
use self::names::Names;
use self::palette::Ink;
use crate::axis::Axis;
use crate::text::in_cut_lines;

/// Adds controls to the charts of a page: scales, a read-out of points, and curves that are
/// switched on and off. Plain JavaScript; a page is whole without it.
pub const SCRIPT: &str = include_str!("page/script.js");

/// The note in the label of a curve that ends above the frame.
pub(crate) const ABOVE: &str = " (above)";

/// A chart to draw.
#[derive(Debug, Clone)]
pub struct Chart {
    /// Heading of the picture.
    pub title: String,
    /// A description of curves and bands, in small print.
    pub subtitle: String,
    /// Horizontal axis.
    pub x: Axis,
    /// Quantity and unit of the horizontal axis. A logarithmic scale is mentioned when it is drawn.
    pub x_label: String,
    /// Vertical axis.
    pub y: Axis,
    /// Quantity and unit of the vertical axis. A logarithmic scale is mentioned when it is drawn.
    pub y_label: String,
    /// Names of the places 0, 1, 2, ... of a horizontal axis of categories; empty for an axis of
    /// numbers. With categories, bands are drawn as bars, and there is a marker at every point.
    pub categories: Vec<String>,
    /// The curves, drawn in this order.
    pub curves: Vec<Curve>,
}

/// One curve.
#[derive(Debug, Clone)]
pub struct Curve {
    /// The name at its end.
    pub label: String,
    /// Colour, marker and dashes.
    pub style: CurveStyle,
    /// The points of its line, in increasing order of x.
    pub points: Vec<(f64, f64)>,
    /// The shaded band around it: `(x, low, high)`; empty for none.
    pub band: Vec<(f64, f64, f64)>,
    /// The data points of a fitted curve, drawn with its markers; empty otherwise.
    pub dots: Vec<(f64, f64)>,
}

impl Curve {
    /// A line without a band.
    pub fn line(label: String, style: CurveStyle, points: Vec<(f64, f64)>) -> Self {
        Self { label, style, points, band: Vec::new(), dots: Vec::new() }
    }
}

impl Chart {
    fn is_empty(&self) -> bool {
        self.curves.iter().all(|curve| curve.points.is_empty() && curve.dots.is_empty())
    }
}

/// Draws a chart as SVG.
pub fn render(chart: &Chart) -> String {
    let axes = Axes::of(chart);
    let (wide, height, _) = draw(chart, &axes, &WIDE);
    let (mut narrow, whole, folded) = draw(chart, &axes, &NARROW);
    // Only pages with the style sheet show it, in the units of the wide drawing.
    narrow.set("display", "none");
    narrow.set("transform", &format!("scale({:.4})", WIDE.width / NARROW.width));
    let size = |height: f64| format!("{}/{}", canvas::length(NARROW.width), canvas::length(height));
    let mut attributes = vec![
        ("data-plot", "curves".to_owned()),
        ("style", format!("--plot-narrow:{};--plot-folded:{}", size(whole), size(folded))),
        ("preserveAspectRatio", "xMidYMin meet".to_owned()),
    ];
    attributes.extend(data::of_chart(chart));
    let drawing = Drawing {
        size: (WIDE.width, height),
        title: &chart.title,
        description: &summary::description(chart),
        has_cells: false,
        attributes,
    };
    drawing.finish(vec![wide, narrow])
}

/// The style sheet of a page with figures: the colours in both themes, the choice of the drawing
/// that fits, and the controls of [`SCRIPT`].
///
/// It expects a picture directly in a `figure` (or an element of class `plot-box`). A wide heat map
/// scrolls in a `figure` of class `wide`.
pub fn style() -> String {
    palette::style(true) + include_str!("svg/page.css")
}

/// Draws a chart in a layout; also its height, and that without labels below the frame.
fn draw(chart: &Chart, axes: &Axes, layout: &Layout) -> (Layer, f64, f64) {
    let mut layer = Layer::new(layout.class);
    let labels = Legend::beside(chart, layout);
    let left = left_of(axes, layout);
    let heading_left = if layout.words_above { layout.edge } else { left };
    let heading =
        Heading::of(&chart.title, &chart.subtitle, layout, layout.width - heading_left - layout.edge);
    let words = axes.y.words(layout.width - 2.0 * layout.edge, layout);
    let above = if layout.words_above && !chart.is_empty() { words as f64 * layout.line + 4.0 } else { 0.0 };
    let top = heading.bottom + above;

    // Many labels make the picture higher; even more are placed below it.
    let beside = labels.height();
    let is_beside = top + beside + layout.frame / 3.0 <= layout.most_beside;
    let (legend, right) = if is_beside {
        let right = layout.width - layout.right - labels.width();
        (labels, right)
    } else {
        (Legend::below(chart, layout), layout.width - axes.x.overhang(layout).max(layout.right))
    };
    let bottom = top + if is_beside { layout.frame.max(beside) } else { layout.frame };
    let frame = Frame { left, right, top, bottom };
    let names = Names::of(&chart.categories, frame.column(&chart.x), layout.tick, layout.line);
    let under = bottom + axes.height_below(&names, layout, right - left);
    let height = if is_beside { under } else { under + legend.height_in_columns() + layout.edge };

    layer.rectangle((0.0, 0.0), (layout.width, height), Ink::Paper);
    heading.draw(&mut layer, heading_left);
    describe_drawing(&mut layer, axes, &frame, layout);
    if chart.is_empty() {
        draw_nothing(&mut layer, &frame, layout);
    } else {
        draw_axes(&mut layer, chart, axes, &names, &frame, layout);
    }
    let mut bands = Layer::new("bands");
    for (index, curve) in chart.curves.iter().enumerate() {
        draw_band(&mut bands, chart, curve, index, &frame);
    }
    layer.add(bands);
    let mut lines = Layer::new("curves");
    for (index, curve) in chart.curves.iter().enumerate() {
        draw_curve(&mut lines, chart, curve, index, &frame, layout);
    }
    layer.add(lines);
    if is_beside {
        draw_legend(&mut layer, chart, &legend, &frame, layout);
    } else {
        draw_legend_below(&mut layer, chart, &legend, under);
    }
    (layer, height, under + layout.edge)
}

/// The left edge of the frame, with room for the longest label beside it.
fn left_of(axes: &Axes, layout: &Layout) -> f64 {
    let widest = axes.y.labels().map(|label| width_of(&label, layout.tick)).fold(0.0, f64::max);
    let words = if layout.words_above { layout.edge + 8.0 } else { 52.0 };
    words + widest
}

#[derive(Debug)]
struct Frame {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

impl Frame {
    fn x(&self, axis: &Axis, value: f64) -> f64 {
        self.left + axis.place(value) * (self.right - self.left)
    }

    fn y(&self, axis: &Axis, value: f64) -> f64 {
        self.bottom - axis.place(value) * (self.bottom - self.top)
    }

    /// A height clamped to the frame.
    fn inside(&self, y: f64) -> f64 {
        y.clamp(self.top, self.bottom)
    }

    /// The width of a category.
    fn column(&self, axis: &Axis) -> f64 {
        self.x(axis, 1.0) - self.x(axis, 0.0)
    }
}

/// Draws an empty frame with a note instead of axes.
fn draw_nothing(layer: &mut Layer, frame: &Frame, layout: &Layout) {
    let corners: Vec<Place> = vec![
        (frame.left, frame.top),
        (frame.right, frame.top),
        (frame.right, frame.bottom),
        (frame.left, frame.bottom),
        (frame.left, frame.top),
    ];
    layer.line("", &[corners], Pen::solid(1.2), Some(Ink::Frame));
    let note = "nothing to show: no checkpoint among the rounds of this figure";
    let room = (frame.right - frame.left - 16.0) / layout.axis;
    let middle = (f64::midpoint(frame.left, frame.right), f64::midpoint(frame.top, frame.bottom));
    for (number, words) in in_cut_lines(note, room).iter().enumerate() {
        let at = (middle.0, middle.1 + number as f64 * (layout.line + 2.0));
        layer.text("", words, at, Font::middle(layout.axis), Some(Ink::Muted));
    }
}

#[cfg(test)]
mod tests;
