//! Curves: lines, dashes, bands and markers.

use super::canvas::{Area, Place, line, place, stroke, units};
use super::style::{CurveStyle, MARKERS, rgb};
use super::{Chart, Curve, Frame};
use anyhow::{Context as _, Result};
use plotters::element::{Circle, Polygon};
use plotters::style::{Color as _, ShapeStyle};

/// The number of markers on a curve.
const MARKERS_PER_CURVE: usize = 6;

pub(super) fn draw_band(area: &Area<'_>, chart: &Chart, curve: &Curve, frame: &Frame) -> Result<()> {
    // A single checkpoint, or a category, has an error bar instead of a band.
    if curve.band.len() < 2 || !chart.categories.is_empty() {
        let style = rgb(curve.style).stroke_width(stroke(1.6));
        for &(x, low, high) in &curve.band {
            let x = frame.x(&chart.x, x);
            let ends = [low, high].map(|y| inside(frame, frame.y(&chart.y, y)));
            line(area, &[(x, ends[0]), (x, ends[1])], style)?;
            for y in ends {
                line(area, &[(x - 3.5, y), (x + 3.5, y)], style)?;
            }
        }
        return Ok(());
    }
    let at = |x: f64, y: f64| (frame.x(&chart.x, x), inside(frame, frame.y(&chart.y, y)));
    let upper = curve.band.iter().map(|&(x, _, high)| at(x, high));
    let lower = curve.band.iter().rev().map(|&(x, low, _)| at(x, low));
    let outline: Vec<_> = upper.chain(lower).map(place).collect();
    area.draw(&Polygon::new(outline, rgb(curve.style).mix(0.17).filled())).context("cannot draw a band")
}

pub(super) fn draw_curve(
    area: &Area<'_>,
    chart: &Chart,
    curve: &Curve,
    index: usize,
    frame: &Frame,
) -> Result<()> {
    let points: Vec<Place> =
        curve.points.iter().map(|&(x, y)| (frame.x(&chart.x, x), frame.y(&chart.y, y))).collect();
    let colour = rgb(curve.style);
    if let Some(pattern) = curve.style.pattern() {
        for piece in below(&points, frame.top) {
            for dash in dashes(&piece, pattern) {
                line(area, &dash, colour.stroke_width(stroke(1.6)))?;
            }
        }
        if let [single] = points[..] {
            let dash = [(single.0 - 8.0, single.1), (single.0 + 8.0, single.1)];
            line(area, &dash, colour.stroke_width(stroke(1.6)))?;
        }
        return Ok(());
    }
    if points.len() > 1 {
        line(area, &points, colour.stroke_width(stroke(2.0)))?;
    }
    let places = if !curve.dots.is_empty() {
        curve.dots.iter().map(|&(x, y)| (frame.x(&chart.x, x), frame.y(&chart.y, y))).collect()
    } else if chart.categories.is_empty() {
        marker_places(&points, index, chart.curves.len(), frame)
    } else {
        points
    };
    places.into_iter().try_for_each(|at| marker(area, curve.style, at))
}

/// Draws the marker of a curve: a circle, square, triangle, diamond and so on, filled with the curve's colour.
pub(super) fn marker(area: &Area<'_>, style: CurveStyle, (x, y): Place) -> Result<()> {
    let (CurveStyle::Policy(number) | CurveStyle::Variant(_, number)) = style else { return Ok(()) };
    let fill: ShapeStyle = rgb(style).filled();
    let shape = number % MARKERS;
    let corners: &[Place] = match shape {
        0 => {
            let circle = Circle::new(place((x, y)), units(3.8), fill);
            return area.draw(&circle).context("cannot draw a marker");
        }
        1 => &[(-3.4, -3.4), (3.4, -3.4), (3.4, 3.4), (-3.4, 3.4)],
        2 => &[(0.0, -4.8), (4.4, 3.2), (-4.4, 3.2)],
        3 => &[(0.0, -5.2), (4.4, 0.0), (0.0, 5.2), (-4.4, 0.0)],
        4 => &[(0.0, 4.8), (4.4, -3.2), (-4.4, -3.2)],
        _ => &[
            (-1.4, -4.6),
            (1.4, -4.6),
            (1.4, -1.4),
            (4.6, -1.4),
            (4.6, 1.4),
            (1.4, 1.4),
            (1.4, 4.6),
            (-1.4, 4.6),
            (-1.4, 1.4),
            (-4.6, 1.4),
            (-4.6, -1.4),
            (-1.4, -1.4),
        ],
    };
    let corners: Vec<_> = corners.iter().map(|(dx, dy)| place((x + dx, y + dy))).collect();
    area.draw(&Polygon::new(corners, fill)).context("cannot draw a marker")
}

/// Places of markers along a curve: evenly spaced, and shifted from curve to curve so that they do not overlap.
fn marker_places(points: &[Place], index: usize, curves: usize, frame: &Frame) -> Vec<Place> {
    let (Some(first), Some(last)) = (points.first(), points.last()) else { return Vec::new() };
    if points.len() == 1 {
        return vec![*first];
    }
    let shift = (index as f64 + 0.5) / curves.max(1) as f64;
    (0..MARKERS_PER_CURVE)
        .filter_map(|number| {
            let share = (number as f64 + shift) / MARKERS_PER_CURVE as f64;
            let x = first.0 + share * (last.0 - first.0);
            let after = points.iter().position(|point| point.0 >= x)?.max(1);
            let ((x0, y0), (x1, y1)) = (points[after - 1], points[after]);
            let y = if x1 > x0 { y0 + (y1 - y0) * (x - x0) / (x1 - x0) } else { y1 };
            (y >= frame.top && y <= frame.bottom).then_some((x, y))
        })
        .collect()
}

/// The pieces of a line that are not above `top`. Heights grow downwards.
fn below(points: &[Place], top: f64) -> Vec<Vec<Place>> {
    let mut pieces = vec![Vec::new()];
    for pair in points.windows(2) {
        let (mut a, mut b) = (pair[0], pair[1]);
        let out = (a.1 < top, b.1 < top);
        if out == (true, true) {
            continue;
        }
        let crossing = |a: Place, b: Place| (a.0 + (b.0 - a.0) * (top - a.1) / (b.1 - a.1), top);
        if out.0 {
            a = crossing(a, b);
            pieces.push(Vec::new());
        } else if out.1 {
            b = crossing(a, b);
        }
        if let Some(piece) = pieces.last_mut() {
            if piece.is_empty() {
                piece.push(a);
            }
            piece.push(b);
        }
    }
    pieces
}

/// The length of the longest line that is cut into dashes, in pixels. It is far longer than the frame.
const LONGEST_DASHED: f64 = 20_000.0;

/// Cuts a line into dashes with gaps. A line that runs far out of the picture is not cut.
pub(super) fn dashes(points: &[Place], (dash, gap): (f64, f64)) -> Vec<Vec<Place>> {
    let length: f64 =
        points.windows(2).map(|pair| libm::hypot(pair[1].0 - pair[0].0, pair[1].1 - pair[0].1)).sum();
    if length.is_nan() || length > LONGEST_DASHED {
        let is_place = |point: &&Place| point.0.is_finite() && point.1.is_finite();
        return vec![points.iter().filter(is_place).copied().collect()];
    }
    let mut out = Vec::new();
    let (mut drawing, mut left) = (true, dash);
    let mut current: Vec<Place> = points.first().copied().into_iter().collect();
    for pair in points.windows(2) {
        let (mut from, to) = (pair[0], pair[1]);
        loop {
            let length = libm::hypot(to.0 - from.0, to.1 - from.1);
            if length <= left {
                left -= length;
                if drawing {
                    current.push(to);
                }
                break;
            }
            let share = left / length;
            let stop = (from.0 + share * (to.0 - from.0), from.1 + share * (to.1 - from.1));
            if drawing {
                current.push(stop);
                out.push(std::mem::take(&mut current));
            } else {
                current = vec![stop];
            }
            drawing = !drawing;
            left = if drawing { dash } else { gap };
            from = stop;
        }
    }
    if drawing && current.len() > 1 {
        out.push(current);
    }
    out
}

/// A height clamped to the frame.
pub(super) fn inside(frame: &Frame, y: f64) -> f64 {
    y.clamp(frame.top, frame.bottom)
}
