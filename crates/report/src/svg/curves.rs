//! Curves: lines, bands and markers.

use super::canvas::{Layer, Pen, Place};
use super::data::describe_curve;
use super::layout::{Layout, WIDE};
use super::{Chart, Curve, Frame};

const MARKERS_PER_CURVE: usize = 6;

pub(super) const POLICY: Pen = Pen::solid(2.0);
/// The line of a reference, without its dashes.
const REFERENCE: f64 = 1.6;
/// How much of what is below a band it hides.
const BAND: f64 = 0.17;

pub(super) fn pen(curve: &Curve) -> Pen {
    match curve.style.pattern() {
        None => POLICY,
        dash => Pen { width: REFERENCE, dash },
    }
}

pub(super) fn draw_band(layer: &mut Layer, chart: &Chart, curve: &Curve, index: usize, frame: &Frame) {
    if curve.band.is_empty() {
        return;
    }
    let mut group = Layer::new("").inked(curve.style.ink());
    group.set("data-curve", &index.to_string());
    let place = |x: f64, y: f64| (frame.x(&chart.x, x), frame.inside(frame.y(&chart.y, y)));
    // A single checkpoint, or a category, has an error bar instead of a band.
    if curve.band.len() < 2 || !chart.categories.is_empty() {
        let bar = |&(x, low, high): &(f64, f64, f64)| {
            let (low, high) = (place(x, low), place(x, high));
            let cap = |(x, y): Place| vec![(x - 3.5, y), (x + 3.5, y)];
            [vec![low, high], cap(low), cap(high)]
        };
        let bars: Vec<Vec<Place>> = curve.band.iter().flat_map(bar).collect();
        group.line("bars", &bars, Pen::solid(1.6), None);
    } else {
        let upper = curve.band.iter().map(|&(x, _, high)| place(x, high));
        let lower = curve.band.iter().rev().map(|&(x, low, _)| place(x, low));
        group.area("band", &upper.chain(lower).collect::<Vec<_>>(), BAND);
    }
    layer.add(group);
}

pub(super) fn draw_curve(
    layer: &mut Layer,
    chart: &Chart,
    curve: &Curve,
    index: usize,
    frame: &Frame,
    layout: &Layout,
) {
    let mut group = Layer::new("curve").inked(curve.style.ink());
    group.set("data-curve", &index.to_string());
    // The values are in the picture once.
    if layout.class == WIDE.class {
        describe_curve(&mut group, chart, curve);
    }
    let points: Vec<Place> =
        curve.points.iter().map(|&(x, y)| (frame.x(&chart.x, x), frame.y(&chart.y, y))).collect();
    let mut pieces = below(&points, frame.top);
    if let (true, [(x, y)]) = (curve.style.is_dashed(), &points[..]) {
        pieces = vec![vec![(x - 8.0, *y), (x + 8.0, *y)]];
    }
    group.line("line", &pieces, pen(curve), None);
    if let Some(marker) = curve.style.marker() {
        let places = if !curve.dots.is_empty() {
            curve.dots.iter().map(|&(x, y)| (frame.x(&chart.x, x), frame.y(&chart.y, y))).collect()
        } else if chart.categories.is_empty() {
            marker_places(&points, index, chart.curves.len(), frame)
        } else {
            points
        };
        for place in places {
            group.shape("marker", marker, place);
        }
    }
    layer.add(group);
}

/// Places of markers along a curve, shifted from curve to curve.
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
pub(super) fn below(points: &[Place], top: f64) -> Vec<Vec<Place>> {
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
