//! A chart as an SVG picture: the only file that knows the drawing library.
//!
//! Everything that looks the same in all figures is here: sizes, fonts, colours, markers, dashes. A curve is told from
//! the others by its colour (a palette that colour-blind readers can tell apart), by its marker, and by its label, which
//! stands at the right at the height where the curve ends. References (bounds, the optimum) are dashed and dark.
//! The background is white, so that the picture reads the same on a dark page.
//!
//! The drawing library places everything on whole units, so a picture is drawn ten times as large as it is shown. The
//! bytes depend on the chart alone.

use std::fmt::Write as _;

use anyhow::{Context, Result};
use plotters::backend::SVGBackend;
use plotters::coord::Shift;
use plotters::drawing::{DrawingArea, IntoDrawingArea};
use plotters::element::{Circle, PathElement, Polygon, Text};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, FontStyle, FontTransform, IntoFont, RGBColor, ShapeStyle, TextStyle};

use super::axis::Axis;
use super::text::{drawable, n_columns, wrapped};

/// What is drawn.
#[derive(Debug, Clone)]
pub struct Chart {
    /// Heading of the picture.
    pub title: String,
    /// What the curves and bands are, in small print.
    pub subtitle: String,
    /// Horizontal axis.
    pub x: Axis,
    /// What the horizontal axis counts, with its unit.
    pub x_label: String,
    /// Vertical axis.
    pub y: Axis,
    /// What the vertical axis counts, with its unit.
    pub y_label: String,
    /// Names of the places 0, 1, 2, ... of the horizontal axis, where it counts nothing; empty otherwise. Bands are bars
    /// then, and markers stand at the points.
    pub categories: Vec<String>,
    /// The curves, drawn in this order.
    pub curves: Vec<Curve>,
}

/// One curve.
#[derive(Debug, Clone)]
pub struct Curve {
    /// Name beside its end.
    pub label: String,
    /// How it looks.
    pub look: CurveStyle,
    /// Its points, in increasing order of x.
    pub points: Vec<(f64, f64)>,
    /// The shaded band around it: `(x, low, high)`; empty for none.
    pub band: Vec<(f64, f64, f64)>,
    /// Points beside it, with its markers, if it is a curve through something else than its own points.
    pub dots: Vec<(f64, f64)>,
}

/// How a curve looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CurveStyle {
    /// A policy: solid, with the colour and the marker of its number.
    Policy(usize),
    /// A policy among several variants: its colour, and the marker of the variant's number.
    Variant(usize, usize),
    /// Something to compare with: dashed and dark, one dash pattern a number.
    Reference(usize),
    /// Something to compare one curve with: dashed in that curve's colour, one dash pattern a number.
    ReferenceOf(usize, usize),
}

impl CurveStyle {
    /// The same colour with the marker of another number.
    #[must_use]
    pub fn with_marker(self, number: usize) -> Self {
        match self {
            Self::Policy(colour) => Self::Variant(colour, number),
            other => other,
        }
    }

    /// Whether it is something to compare with.
    pub fn is_dashed(self) -> bool {
        self.pattern().is_some()
    }

    /// Lengths of dash and gap; none for a solid line.
    fn pattern(self) -> Option<(f64, f64)> {
        match self {
            Self::Policy(_) | Self::Variant(..) => None,
            Self::Reference(number) | Self::ReferenceOf(_, number) => Some(DASHES[number % DASHES.len()]),
        }
    }
}

const UNIT: f64 = 10.0;
const WIDTH: f64 = 800.0;
const HEIGHT: f64 = 460.0;
const MAX_HEIGHT: f64 = 1200.0;
/// Beside and below a legend below the picture.
const EDGE: f64 = 16.0;
/// Columns of a legend below the picture.
const COLUMNS: usize = 3;
/// Left of the frame, without the labels of the ticks.
const LEFT: f64 = 52.0;
const TICK_FONT: f64 = 13.0;
const TOP: f64 = 66.0;
const BOTTOM: f64 = 58.0;
/// Between the frame and the labels of the curves, or the edge.
const LEADER: f64 = 48.0;
/// The piece of a curve beside its label.
const SWATCH: f64 = 25.0;
const MIN_LEGEND: f64 = 70.0;
const MAX_LEGEND: f64 = 220.0;
const LEGEND_FONT: f64 = 13.5;
const LEGEND_LINE: f64 = 16.0;
/// A wide guess of a letter's width, in font sizes: nobody knows the reader's font.
const LETTER: f64 = 0.56;

const TEXT: RGBColor = RGBColor(0x22, 0x22, 0x22);
const MUTED: RGBColor = RGBColor(0x5c, 0x5c, 0x5c);
const FRAME: RGBColor = RGBColor(0x8a, 0x8a, 0x8a);
const GRID: RGBColor = RGBColor(0xdd, 0xdd, 0xdd);
const FAINT_GRID: RGBColor = RGBColor(0xf0, 0xf0, 0xf0);
const WHITE: RGBColor = RGBColor(0xff, 0xff, 0xff);

/// Okabe and Ito's colours that show on white, and two of Tol's.
const PALETTE: [RGBColor; 8] = [
    RGBColor(0x00, 0x72, 0xb2),
    RGBColor(0xd5, 0x5e, 0x00),
    RGBColor(0x00, 0x9e, 0x73),
    RGBColor(0xcc, 0x79, 0xa7),
    RGBColor(0xe6, 0x9f, 0x00),
    RGBColor(0x56, 0xb4, 0xe9),
    RGBColor(0x88, 0x22, 0x55),
    RGBColor(0x33, 0x22, 0x88),
];

/// Lengths of dash and gap.
const DASHES: [(f64, f64); 3] = [(8.0, 4.5), (2.0, 3.5), (14.0, 4.0)];

/// Kinds of markers: with eight colours, 24 policies differ in one or the other.
const MARKERS: usize = 6;

/// Markers on a curve.
const MARKERS_PER_CURVE: usize = 6;

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Place = (f64, f64);

/// The colour of a curve, as `#rrggbb`, for text that speaks of it.
pub fn colour(look: CurveStyle) -> String {
    let RGBColor(red, green, blue) = rgb(look);
    format!("#{red:02x}{green:02x}{blue:02x}")
}

/// The picture.
///
/// # Errors
///
/// If the drawing library fails, which it has no reason to: nothing is read or written.
pub fn render(chart: &Chart) -> Result<String> {
    let legend = Legend::of(chart);
    // Many labels make the picture higher, up to where they would fill a screen; more stand below it.
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

/// The left edge of the frame, so that the longest label beside it has room.
fn left_of(chart: &Chart) -> f64 {
    let longest = chart.y.ticks(8).iter().map(|tick| n_columns(&tick.label)).max().unwrap_or(0);
    LEFT + longest as f64 * LETTER * TICK_FONT
}

/// Where the curves are.
struct Frame {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
    /// Of the picture without what stands below its horizontal axis' label.
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

/// The labels of the curves, highest end first.
struct Legend {
    /// Room for the widest line.
    width: f64,
    /// Index of the curve, its label in lines, and the value at which the curve ends.
    entries: Vec<(usize, Vec<String>, f64)>,
}

impl Legend {
    fn of(chart: &Chart) -> Self {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "about thirty")]
        let columns = (MAX_LEGEND / (LETTER * LEGEND_FONT)) as usize;
        let mut entries: Vec<_> = chart
            .curves
            .iter()
            .enumerate()
            .filter_map(|(index, curve)| {
                Some((index, wrapped(&curve.label, columns), curve.points.last().or(curve.dots.last())?.1))
            })
            .collect();
        entries.sort_by(|a, b| b.2.total_cmp(&a.2).then(a.0.cmp(&b.0)));
        let widest = entries.iter().flat_map(|entry| &entry.1).map(|line| n_columns(line)).max();
        let width = widest.unwrap_or(0) as f64 * LETTER * LEGEND_FONT + 16.0;
        Self { width: width.clamp(MIN_LEGEND, MAX_LEGEND + 16.0), entries }
    }

    /// Room for all of them below each other.
    fn height(&self) -> f64 {
        self.entries.iter().map(|(_, lines, _)| height_of(lines)).sum()
    }

    /// The same in columns beside each other, each as long as the others.
    fn columns(&self) -> impl Iterator<Item = &[(usize, Vec<String>, f64)]> {
        self.entries.chunks(self.entries.len().div_ceil(COLUMNS).max(1))
    }

    /// Room for the highest of these columns.
    fn height_in_columns(&self) -> f64 {
        let height =
            |column: &[(usize, Vec<String>, f64)]| column.iter().map(|(_, lines, _)| height_of(lines)).sum();
        self.columns().map(height).fold(0.0, f64::max)
    }
}

/// Room for a label in the legend.
fn height_of(lines: &[String]) -> f64 {
    lines.len() as f64 * LEGEND_LINE + 4.0
}

/// The names below an axis that counts nothing.
enum Names {
    /// Beside each other, in lines.
    Level(Vec<Vec<String>>),
    /// Upright, where they are too long for that; with the letters of the longest.
    Upright(Vec<String>, usize),
}

impl Names {
    /// The names as they fit below a frame of this width.
    fn of(names: &[String], width: f64) -> Self {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a number of letters")]
        let columns = (width / names.len().max(1) as f64 / (LETTER * TICK_FONT)) as usize;
        let lines: Vec<Vec<String>> = names.iter().map(|name| wrapped(name, columns.max(2))).collect();
        let whole = |(lines, name): (&Vec<String>, &String)| {
            lines.iter().map(|line| n_columns(line)).sum::<usize>() + 1 >= n_columns(name)
                && !lines.iter().any(|line| line.ends_with('…'))
                && lines.iter().all(|line| n_columns(line) < columns)
        };
        if lines.iter().zip(names).all(whole) {
            return Self::Level(lines);
        }
        let longest = names.iter().map(|name| n_columns(name)).max().unwrap_or(0);
        Self::Upright(names.to_vec(), longest)
    }

    /// What they need below the frame, more than numbers do.
    fn room(&self) -> f64 {
        match self {
            Self::Level(names) => {
                let lines = names.iter().map(Vec::len).max().unwrap_or(1);
                (lines.max(1) as f64 - 1.0) * LEGEND_LINE
            }
            Self::Upright(_, longest) => (*longest as f64 - 1.0) * LETTER * TICK_FONT,
        }
    }
}

fn draw_titles(area: &Area<'_>, chart: &Chart, frame: &Frame) -> Result<()> {
    let left = Pos::new(HPos::Left, VPos::Top);
    // Bold letters are wider; a long title is set smaller rather than cut.
    let room = (WIDTH - frame.left - 8.0) / (1.15 * LETTER * n_columns(&chart.title).max(1) as f64);
    text(area, &chart.title, (frame.left, 14.0), &font(room.clamp(9.0, 17.0), TEXT, left).style_bold())?;
    text(area, &chart.subtitle, (frame.left, 38.0), &font(12.5, MUTED, left))
}

fn draw_axes(area: &Area<'_>, chart: &Chart, names: &Names, frame: &Frame) -> Result<()> {
    if chart.categories.is_empty() {
        draw_rounds(area, chart, frame)?;
    } else {
        draw_names(area, chart, names, frame)?;
    }
    for tick in chart.y.ticks(8) {
        let y = frame.y(&chart.y, tick.value);
        line(area, &[(frame.left, y), (frame.right, y)], GRID.stroke_width(stroke(0.8)))?;
        text(
            area,
            &tick.label,
            (frame.left - 8.0, y),
            &font(TICK_FONT, TEXT, Pos::new(HPos::Right, VPos::Center)),
        )?;
    }
    for (from, to) in [
        ((frame.left, frame.bottom), (frame.right, frame.bottom)),
        ((frame.left, frame.top), (frame.left, frame.bottom)),
    ] {
        line(area, &[from, to], FRAME.stroke_width(stroke(1.2)))?;
    }
    let middle = Pos::new(HPos::Center, VPos::Bottom);
    let below = (f64::midpoint(frame.left, frame.right), frame.height - 10.0);
    text(area, &chart.x_label, below, &font(14.0, TEXT, middle))?;
    let beside = (24.0, f64::midpoint(frame.top, frame.bottom));
    text(area, &chart.y_label, beside, &font(14.0, TEXT, middle).transform(FontTransform::Rotate270))
}

/// The ticks of a horizontal axis that counts.
fn draw_rounds(area: &Area<'_>, chart: &Chart, frame: &Frame) -> Result<()> {
    let width = frame.right - frame.left;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a handful")]
    let room = (width / 64.0) as usize;
    for tick in chart.x.ticks(room) {
        let x = frame.x(&chart.x, tick.value);
        let colour = if tick.label.is_empty() { FAINT_GRID } else { GRID };
        line(area, &[(x, frame.top), (x, frame.bottom)], colour.stroke_width(stroke(0.8)))?;
        text(
            area,
            &tick.label,
            (x, frame.bottom + 7.0),
            &font(TICK_FONT, TEXT, Pos::new(HPos::Center, VPos::Top)),
        )?;
    }
    Ok(())
}

/// The names below a horizontal axis that does not.
fn draw_names(area: &Area<'_>, chart: &Chart, names: &Names, frame: &Frame) -> Result<()> {
    let places = (0..chart.categories.len()).map(|index| frame.x(&chart.x, index as f64));
    for (index, x) in places.enumerate() {
        line(area, &[(x, frame.top), (x, frame.bottom)], FAINT_GRID.stroke_width(stroke(0.8)))?;
        match names {
            Names::Level(names) => {
                let style = font(TICK_FONT, TEXT, Pos::new(HPos::Center, VPos::Top));
                for (number, words) in names[index].iter().enumerate() {
                    text(area, words, (x, frame.bottom + 7.0 + number as f64 * LEGEND_LINE), &style)?;
                }
            }
            Names::Upright(names, _) => {
                let style = font(TICK_FONT, TEXT, Pos::new(HPos::Right, VPos::Center));
                let style = style.transform(FontTransform::Rotate270);
                text(area, &names[index], (x, frame.bottom + 7.0), &style)?;
            }
        }
    }
    Ok(())
}

/// An empty frame with a note, instead of axes that would mean nothing.
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

fn draw_band(area: &Area<'_>, chart: &Chart, curve: &Curve, frame: &Frame) -> Result<()> {
    // One checkpoint has an error bar.
    if curve.band.len() < 2 || !chart.categories.is_empty() {
        let style = rgb(curve.look).stroke_width(stroke(1.6));
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
    area.draw(&Polygon::new(outline, rgb(curve.look).mix(0.17).filled())).context("cannot draw a band")
}

fn draw_curve(area: &Area<'_>, chart: &Chart, curve: &Curve, index: usize, frame: &Frame) -> Result<()> {
    let points: Vec<Place> =
        curve.points.iter().map(|&(x, y)| (frame.x(&chart.x, x), frame.y(&chart.y, y))).collect();
    let colour = rgb(curve.look);
    if let Some(pattern) = curve.look.pattern() {
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
    places.into_iter().try_for_each(|at| marker(area, curve.look, at))
}

fn draw_legend(area: &Area<'_>, chart: &Chart, legend: &Legend, frame: &Frame) -> Result<()> {
    let heights: Vec<f64> = legend.entries.iter().map(|(_, lines, _)| height_of(lines)).collect();
    let wanted: Vec<f64> =
        legend.entries.iter().map(|&(_, _, end)| inside(frame, frame.y(&chart.y, end))).collect();
    let centres = spread_out(&wanted, &heights, frame.top, frame.bottom);
    let left = frame.right + LEADER;
    for (((index, lines, _), from), centre) in legend.entries.iter().zip(&wanted).zip(&centres) {
        let look = chart.curves[*index].look;
        let right = left - 6.0;
        let leader = [(frame.right + 3.0, *from), (right - SWATCH - 2.0, *centre), (right - SWATCH, *centre)];
        line(area, &leader, rgb(look).mix(0.6).stroke_width(stroke(0.9)))?;
        draw_entry(area, look, lines, (left, *centre))?;
    }
    Ok(())
}

/// The labels in columns below the picture, which ends at `top`.
fn draw_legend_below(area: &Area<'_>, chart: &Chart, legend: &Legend, top: f64) -> Result<()> {
    let width = (WIDTH - 2.0 * EDGE) / COLUMNS as f64;
    for (number, column) in legend.columns().enumerate() {
        let left = EDGE + number as f64 * width + SWATCH + 6.0;
        let mut edge = top;
        for (index, lines, _) in column {
            let centre = edge + height_of(lines) / 2.0;
            draw_entry(area, chart.curves[*index].look, lines, (left, centre))?;
            edge += height_of(lines);
        }
    }
    Ok(())
}

/// A piece of a curve, and at its right its label.
fn draw_entry(area: &Area<'_>, look: CurveStyle, lines: &[String], (left, centre): Place) -> Result<()> {
    let colour = rgb(look);
    let right = left - 6.0;
    let swatch = [(right - SWATCH, centre), (right, centre)];
    match look.pattern() {
        None => {
            line(area, &swatch, colour.stroke_width(stroke(2.0)))?;
            marker(area, look, (right - SWATCH / 2.0, centre))?;
        }
        Some(pattern) => {
            for dash in dashes(&swatch, pattern) {
                line(area, &dash, colour.stroke_width(stroke(1.6)))?;
            }
        }
    }
    let style = font(LEGEND_FONT, TEXT, Pos::new(HPos::Left, VPos::Center));
    for (number, words) in lines.iter().enumerate() {
        let offset = (number as f64 - (lines.len() as f64 - 1.0) / 2.0) * LEGEND_LINE;
        text(area, words, (left, centre + offset), &style)?;
    }
    Ok(())
}

/// The marker of a look: circle, square, triangle, diamond, and so on, filled with its colour.
fn marker(area: &Area<'_>, look: CurveStyle, (x, y): Place) -> Result<()> {
    let (CurveStyle::Policy(number) | CurveStyle::Variant(_, number)) = look else { return Ok(()) };
    let fill: ShapeStyle = rgb(look).filled();
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

/// Places for markers along a curve: evenly spaced, shifted from curve to curve so that they do not pile up.
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

/// Heights near the wanted ones (in increasing order) at which things of these sizes do not overlap.
///
/// Things that would overlap form a block around the middle of their wanted heights; blocks that would overlap merge.
/// If there is not room for all, they overlap evenly.
fn spread_out(wanted: &[f64], sizes: &[f64], top: f64, bottom: f64) -> Vec<f64> {
    let total: f64 = sizes.iter().sum();
    let squeeze = if total > bottom - top { (bottom - top) / total } else { 1.0 };
    // Blocks as (first thing, things, size, wanted top).
    let mut blocks: Vec<(usize, usize, f64, f64)> = Vec::new();
    for (index, (want, size)) in wanted.iter().zip(sizes).enumerate() {
        let size = size * squeeze;
        blocks.push((index, 1, size, want - size / 2.0));
        while let Some(&(first, count, size, start)) = blocks.last() {
            let start = start.clamp(top, (bottom - size).max(top));
            if let Some(last) = blocks.last_mut() {
                last.3 = start;
            }
            let Some(before) = blocks.len().checked_sub(2).map(|index| blocks[index]) else { break };
            if before.3 + before.2 <= start + 1e-9 {
                break;
            }
            blocks.truncate(blocks.len() - 2);
            let merged = before.2 + size;
            // Each member wants its own place; the block takes the mean of what they want for its top.
            let start =
                (before.3 * before.1 as f64 + (start - before.2) * count as f64) / (before.1 + count) as f64;
            debug_assert_eq!(before.0 + before.1, first);
            blocks.push((before.0, before.1 + count, merged, start));
        }
    }
    let mut centres = Vec::with_capacity(wanted.len());
    for (first, count, _, start) in blocks {
        let mut edge = start;
        for size in &sizes[first..first + count] {
            centres.push(edge + size * squeeze / 2.0);
            edge += size * squeeze;
        }
    }
    centres
}

/// The pieces of a line that are not above `top` (smaller heights are above).
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

/// The longest line that is cut into dashes, in pixels: many times what a frame has room for.
const LONGEST_DASHED: f64 = 20_000.0;

/// A line cut into dashes of a length, with gaps between; whole where it runs far out of the picture.
fn dashes(points: &[Place], (dash, gap): (f64, f64)) -> Vec<Vec<Place>> {
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

fn rgb(look: CurveStyle) -> RGBColor {
    match look {
        CurveStyle::Policy(number) | CurveStyle::Variant(number, _) | CurveStyle::ReferenceOf(number, _) => {
            PALETTE[number % PALETTE.len()]
        }
        CurveStyle::Reference(_) => RGBColor(0x33, 0x33, 0x33),
    }
}

/// A height moved into the frame.
fn inside(frame: &Frame, y: f64) -> f64 {
    y.clamp(frame.top, frame.bottom)
}

#[expect(clippy::cast_possible_truncation, reason = "saturates; pictures are small")]
fn units(length: f64) -> i32 {
    libm::round(length * UNIT) as i32
}

fn stroke(width: f64) -> u32 {
    units(width).unsigned_abs()
}

fn place((x, y): Place) -> (i32, i32) {
    (units(x), units(y))
}

fn line(area: &Area<'_>, points: &[Place], style: ShapeStyle) -> Result<()> {
    let points: Vec<_> = points.iter().copied().map(place).collect();
    area.draw(&PathElement::new(points, style)).context("cannot draw a line")
}

fn text(area: &Area<'_>, words: &str, at: Place, style: &TextStyle<'_>) -> Result<()> {
    if words.is_empty() {
        return Ok(());
    }
    area.draw(&Text::new(drawable(words), place(at), style.clone())).context("cannot write text")
}

fn font(size: f64, colour: RGBColor, anchor: Pos) -> TextStyle<'static> {
    // The library divides by 1.24 what it writes as the size.
    ("sans-serif", size * UNIT * 1.24).into_font().color(&colour).pos(anchor)
}

/// Bold type.
trait Bold {
    fn style_bold(self) -> Self;
}

impl Bold for TextStyle<'static> {
    fn style_bold(mut self) -> Self {
        self.font = self.font.style(FontStyle::Bold);
        self
    }
}

/// The picture with a head that says how large it is shown, and what it is to who cannot see it.
fn with_head(svg: &str, title: &str, height: f64) -> String {
    let body = svg.split_once('>').map_or("", |(_, body)| body);
    let mut out = String::with_capacity(svg.len() + 200);
    let title = super::html::escaped(title);
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
mod tests {
    use super::super::axis::Scale;
    use super::*;

    fn chart(curves: Vec<Curve>) -> Chart {
        Chart {
            title: "A <title> & \"more\"".to_owned(),
            subtitle: "mean of 3 runs".to_owned(),
            x: Axis::new(Scale::Log, 1.0, 1000.0),
            x_label: "round t".to_owned(),
            y: Axis::rounded(0.0, 10.0),
            y_label: "regret".to_owned(),
            categories: Vec::new(),
            curves,
        }
    }

    fn curve(label: &str, look: CurveStyle, points: Vec<(f64, f64)>) -> Curve {
        Curve { label: label.to_owned(), look, points, band: Vec::new(), dots: Vec::new() }
    }

    #[test]
    fn a_picture_is_one_svg_with_escaped_text_and_the_same_bytes_every_time() {
        let chart = chart(vec![curve("<b>&", CurveStyle::Policy(0), vec![(1.0, 0.0), (1000.0, 9.0)])]);
        let svg = render(&chart).unwrap();
        assert!(svg.starts_with("<svg xmlns=") && svg.trim_end().ends_with("</svg>"));
        assert_eq!(svg.matches("<svg").count(), 1);
        assert!(svg.contains("A &lt;title&gt; &amp; &quot;more&quot;") && svg.contains("&lt;b&gt;&amp;"));
        assert!(!svg.contains("<b>"));
        assert_eq!(svg, render(&chart).unwrap());
    }

    #[test]
    fn anything_can_be_drawn() {
        let empty = chart(Vec::new());
        let no_points = chart(vec![curve("x", CurveStyle::Policy(0), Vec::new())]);
        let one_point = chart(vec![
            Curve { band: vec![(1.0, 0.5, 1.5)], ..curve("x", CurveStyle::Policy(7), vec![(1.0, 1.0)]) },
            curve("y", CurveStyle::Reference(0), vec![(1.0, 2.0)]),
        ]);
        let forty = chart(
            (0..40)
                .map(|i| curve(&"long ".repeat(30), CurveStyle::Policy(i), vec![(1.0, 0.0), (9.0, 1.0)]))
                .collect(),
        );
        let control = chart(vec![curve("a\u{0}\nb", CurveStyle::Policy(0), vec![(1.0, 0.0), (9.0, 1.0)])]);
        let outside =
            chart(vec![curve("bound", CurveStyle::Reference(1), vec![(1.0, 1.0), (5.0, 1e9), (9.0, 2.0)])]);
        for chart in [empty, no_points, one_point, forty, control, outside] {
            let svg = render(&chart).unwrap();
            assert!(!svg.contains("NaN") && !svg.contains('\u{0}'));
        }
    }

    /// No browser shows a picture with a character that XML does not have.
    #[test]
    fn what_xml_does_not_have_is_nowhere() {
        let mut chart = chart(vec![curve("a\u{fffe}b", CurveStyle::Policy(0), vec![(0.0, 1.0)])]);
        chart.title = "title\u{ffff}".to_owned();
        chart.subtitle = "subtitle\u{fffe}\u{1}".to_owned();
        chart.categories = vec!["name\u{ffff}".to_owned()];
        let svg = render(&chart).unwrap();
        assert!(svg.chars().all(crate::text::is_in_xml), "{svg}");
        assert!(svg.contains("a\u{fffd}b") && svg.contains("name\u{fffd}"));
    }

    #[test]
    fn many_labels_have_each_a_place_in_the_picture() {
        // Beside the picture, or in columns below it.
        for n_labels in [30, 60, 200] {
            let policy = |number: usize| {
                curve(
                    &format!("policy {number:03}"),
                    CurveStyle::Policy(number),
                    vec![(1.0, 0.0), (9.0, 1.0)],
                )
            };
            let svg = render(&chart((0..n_labels).map(policy).collect())).unwrap();
            let attribute = |element: &str, name: &str| -> f64 {
                let value = element.split_once(&format!(" {name}=\"")).unwrap().1.split_once('"').unwrap().0;
                value.parse().unwrap()
            };
            let labels = svg.split("<text").filter(|element| element.contains("policy "));
            let places: Vec<Place> =
                labels.map(|text| (attribute(text, "x") / UNIT, attribute(text, "y") / UNIT)).collect();
            assert_eq!(places.len(), n_labels);
            let height = attribute(&svg, "height");
            assert!(
                places.iter().all(|(x, y)| *x < WIDTH - 60.0 && *y > TOP && *y < height - 8.0),
                "{places:?}"
            );
            assert!(height < if n_labels <= 60 { MAX_HEIGHT } else { 2000.0 }, "{height}");
            for (number, one) in places.iter().enumerate() {
                let apart =
                    |other: &Place| (one.0 - other.0).abs() > 200.0 || (one.1 - other.1).abs() >= LEGEND_LINE;
                assert!(places[..number].iter().all(apart), "{n_labels}: {one:?}");
            }
        }
    }

    #[test]
    fn colour_and_marker_together_tell_24_policies_apart() {
        let styles: std::collections::BTreeSet<(usize, usize)> =
            (0..24).map(|number| (number % PALETTE.len(), number % MARKERS)).collect();
        assert_eq!(styles.len(), 24);
    }

    #[test]
    fn labels_are_pushed_apart_and_stay_in_order() {
        let centres = spread_out(&[100.0, 101.0, 102.0, 300.0], &[20.0; 4], 50.0, 400.0);
        assert_eq!(centres, [81.0, 101.0, 121.0, 300.0]);
        let centres = spread_out(&[50.0, 50.0, 399.0, 400.0], &[20.0; 4], 50.0, 400.0);
        assert_eq!(centres, [60.0, 80.0, 370.0, 390.0]);
        let crowded = spread_out(&[200.0; 100], &[20.0; 100], 50.0, 400.0);
        assert!(crowded.windows(2).all(|pair| pair[0] < pair[1]));
        assert!(crowded[0] >= 50.0 && crowded[99] <= 400.0);
    }

    #[test]
    fn dashes_have_their_length_and_gaps() {
        let cut = dashes(&[(0.0, 0.0), (10.0, 0.0), (20.0, 0.0)], (8.0, 4.0));
        assert_eq!(cut, [vec![(0.0, 0.0), (8.0, 0.0)], vec![(12.0, 0.0), (20.0, 0.0)]]);
        assert!(dashes(&[], (8.0, 4.0)).is_empty());
        // A file may hold any numbers: nothing goes on for ever.
        for far in [1e9, f64::INFINITY, f64::NAN] {
            assert_eq!(dashes(&[(0.0, 0.0), (1.0, far)], (8.0, 4.0)).len(), 1);
        }
    }
}
