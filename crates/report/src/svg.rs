//! A chart as an SVG picture. Only this module uses the drawing library.
//!
//! All charts share sizes, fonts, colours, markers and dashes. Curves differ in colour (a palette for colour-blind readers), marker and
//! label. The label is at the right, near the height at which the curve ends. References (bounds, the optimum) are dashed and dark. The
//! background is white, so that the picture can be read on a dark page too.
//!
//! The drawing library places everything on whole units, so a picture is drawn ten times as large as it is shown. The bytes depend on the
//! chart only.

mod axes;
mod canvas;
mod curves;
mod legend;
mod style;

pub use style::{CurveStyle, colour};

use self::axes::{Names, draw_axes};
use self::canvas::{Area, Bold as _, FRAME, MUTED, TEXT, WHITE, font, line, stroke, text, units};
use self::curves::{draw_band, draw_curve};
use self::legend::{EDGE, Legend, draw_legend, draw_legend_below};
use crate::axis::Axis;
use crate::html::escaped;
use crate::text::n_columns;
use anyhow::{Context as _, Result};
use plotters::backend::SVGBackend;
use plotters::drawing::IntoDrawingArea as _;
use plotters::style::Color as _;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use std::fmt::Write as _;

/// A chart to draw.
#[derive(Debug, Clone)]
pub struct Chart {
    /// Heading of the picture.
    pub title: String,
    /// A description of curves and bands, in small print.
    pub subtitle: String,
    /// Horizontal axis.
    pub x: Axis,
    /// Quantity and unit of the horizontal axis.
    pub x_label: String,
    /// Vertical axis.
    pub y: Axis,
    /// Quantity and unit of the vertical axis.
    pub y_label: String,
    /// Names of the places 0, 1, 2, ... of a horizontal axis of categories; empty for an axis of numbers. With categories, bands are drawn
    /// as bars, and there is a marker at every point.
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

const WIDTH: f64 = 800.0;
const HEIGHT: f64 = 460.0;
const MAX_HEIGHT: f64 = 1200.0;
/// Room at the left of the frame, without the labels of the ticks.
const LEFT: f64 = 52.0;
const TICK_FONT: f64 = 13.0;
const TOP: f64 = 66.0;
const BOTTOM: f64 = 58.0;
/// Room between the frame and the labels of the curves, or the edge of the picture.
const LEADER: f64 = 48.0;
const LEGEND_LINE: f64 = 16.0;
/// A generous estimate of the width of a letter, in font sizes. The reader's font is unknown.
const LETTER: f64 = 0.56;

/// Draws a chart as SVG.
///
/// # Errors
///
/// The drawing library fails. No file is read or written, so this is not expected.
pub fn render(chart: &Chart) -> Result<String> {
    let legend = Legend::of(chart);
    // Many labels make the picture higher, up to the height of a screen. Even more labels are placed below the picture.
    let is_below = TOP + legend.height() + BOTTOM > MAX_HEIGHT;
    let aside = if is_below { 0.0 } else { legend.width };
    let (left, right) = (left_of(chart), WIDTH - LEADER - aside);
    let names = Names::of(&chart.categories, right - left);
    let below = BOTTOM + names.room();
    let beside = if is_below { 0.0 } else { legend.height() };
    let plot = (TOP + beside + below).max(HEIGHT + names.room());
    let height = if is_below { plot + legend.height_in_columns() + EDGE } else { plot };
    let frame = Frame { left, right, top: TOP, bottom: plot - below, height: plot };
    let mut svg = String::new();
    {
        let area =
            SVGBackend::with_string(&mut svg, (units(WIDTH).unsigned_abs(), units(height).unsigned_abs()))
                .into_drawing_area();
        area.fill(&WHITE).context("cannot draw the background")?;
        draw_titles(&area, chart, &frame)?;
        if chart.curves.iter().all(|curve| curve.points.is_empty() && curve.dots.is_empty()) {
            draw_nothing(&area, &frame)?;
        } else {
            draw_axes(&area, chart, &names, &frame)?;
        }
        for curve in &chart.curves {
            draw_band(&area, chart, curve, &frame)?;
        }
        for (index, curve) in chart.curves.iter().enumerate() {
            draw_curve(&area, chart, curve, index, &frame)?;
        }
        if is_below {
            draw_legend_below(&area, chart, &legend, plot)?;
        } else {
            draw_legend(&area, chart, &legend, &frame)?;
        }
        area.present().context("cannot finish the picture")?;
    }
    Ok(with_head(&svg, &chart.title, height))
}

/// The left edge of the frame, with room for the longest label beside it.
fn left_of(chart: &Chart) -> f64 {
    let longest = chart.y.ticks(8).iter().map(|tick| n_columns(&tick.label)).max().unwrap_or(0);
    LEFT + longest as f64 * LETTER * TICK_FONT
}

/// The frame around the curves, in the units in which the picture is shown.
struct Frame {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
    /// The height of the picture, without a legend below it.
    height: f64,
}

impl Frame {
    fn x(&self, axis: &Axis, value: f64) -> f64 {
        self.left + axis.place(value) * (self.right - self.left)
    }

    fn y(&self, axis: &Axis, value: f64) -> f64 {
        self.bottom - axis.place(value) * (self.bottom - self.top)
    }
}

fn draw_titles(area: &Area<'_>, chart: &Chart, frame: &Frame) -> Result<()> {
    let left = Pos::new(HPos::Left, VPos::Top);
    // Bold letters are wider. A long title is set in a smaller font instead of being cut.
    let room = (WIDTH - frame.left - 8.0) / (1.15 * LETTER * n_columns(&chart.title).max(1) as f64);
    text(area, &chart.title, (frame.left, 14.0), &font(room.clamp(9.0, 17.0), TEXT, left).style_bold())?;
    text(area, &chart.subtitle, (frame.left, 38.0), &font(12.5, MUTED, left))
}

/// Draws an empty frame with a note instead of axes.
fn draw_nothing(area: &Area<'_>, frame: &Frame) -> Result<()> {
    let corners = [
        (frame.left, frame.top),
        (frame.right, frame.top),
        (frame.right, frame.bottom),
        (frame.left, frame.bottom),
        (frame.left, frame.top),
    ];
    line(area, &corners, FRAME.stroke_width(stroke(1.2)))?;
    let middle = (f64::midpoint(frame.left, frame.right), f64::midpoint(frame.top, frame.bottom));
    let note = "nothing to show: no checkpoint among the rounds of this figure";
    text(area, note, middle, &font(14.0, MUTED, Pos::new(HPos::Center, VPos::Center)))
}

/// Replaces the head of a picture by one with the size at which it is shown, and a title for screen readers.
fn with_head(svg: &str, title: &str, height: f64) -> String {
    let body = svg.split_once('>').map_or("", |(_, body)| body);
    let mut out = String::with_capacity(svg.len() + 200);
    let title = escaped(title);
    let _ = write!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" \
         viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{title}\">\n<title>{title}</title>{body}",
        units(WIDTH),
        units(height)
    );
    out
}

#[cfg(test)]
mod tests;
