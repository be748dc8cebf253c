//! The labels of the curves: beside the picture, each near the end of its curve, or in columns
//! below it.

use super::canvas::{Font, Layer, Pen, Place};
use super::curves::pen;
use super::layout::{Layout, width_of};
use super::{Chart, Curve, Frame};
use crate::text::wrapped;

/// The length of the piece of a curve beside its label.
const SWATCH: f64 = 25.0;
/// Room between that piece and its label.
const GAP: f64 = 6.0;
/// The least and largest width of labels beside the frame.
const MIN_WIDTH: f64 = 70.0;
const MAX_WIDTH: f64 = 220.0;

/// The labels of the curves, in order of the heights at which the curves end, highest first.
pub(super) struct Legend<'a> {
    layout: &'a Layout,
    entries: Vec<LegendEntry>,
    n_columns: usize,
}

struct LegendEntry {
    curve: usize,
    lines: Vec<String>,
    /// The value at which it ends.
    end: f64,
}

impl<'a> Legend<'a> {
    pub(super) fn beside(chart: &Chart, layout: &'a Layout) -> Self {
        Self::of(chart, layout, 1, MAX_WIDTH)
    }

    /// The labels below a frame, in as many columns as they fit into.
    pub(super) fn below(chart: &Chart, layout: &'a Layout) -> Self {
        let room =
            |n_columns: usize| (layout.width - 2.0 * layout.edge) / n_columns as f64 - SWATCH - 2.0 * GAP;
        let widest =
            chart.curves.iter().map(|curve| width_of(&curve.label, layout.legend)).fold(0.0, f64::max);
        // Labels of a wide picture are wrapped. On a narrow one, a line for each is better.
        let fits = |n_columns: usize| n_columns == 1 || layout.most_beside > 0.0 || widest <= room(n_columns);
        let n_columns = (1..=layout.most_columns).rev().find(|n_columns| fits(*n_columns)).unwrap_or(1);
        Self::of(chart, layout, n_columns, room(n_columns))
    }

    fn of(chart: &Chart, layout: &'a Layout, n_columns: usize, width: f64) -> Self {
        let entry = |(curve, one): (usize, &Curve)| {
            let end = one.points.last().or(one.dots.last())?.1;
            Some(LegendEntry { curve, lines: wrapped(&one.label, width / layout.legend), end })
        };
        let mut entries: Vec<LegendEntry> = chart.curves.iter().enumerate().filter_map(entry).collect();
        entries.sort_by(|a, b| b.end.total_cmp(&a.end).then(a.curve.cmp(&b.curve)));
        Self { layout, entries, n_columns }
    }

    pub(super) fn width(&self) -> f64 {
        let lines = self.entries.iter().flat_map(|entry| &entry.lines);
        let widest = lines.map(|line| width_of(line, self.layout.legend)).fold(0.0, f64::max);
        (widest + 16.0).clamp(MIN_WIDTH, MAX_WIDTH + 16.0)
    }

    pub(super) fn height(&self) -> f64 {
        self.entries.iter().map(|entry| self.height_of(entry)).sum()
    }

    /// The height of the highest column of labels.
    pub(super) fn height_in_columns(&self) -> f64 {
        let height = |column: &[LegendEntry]| column.iter().map(|entry| self.height_of(entry)).sum();
        self.columns().map(height).fold(0.0, f64::max)
    }

    /// The labels in columns of equal length.
    fn columns(&self) -> impl Iterator<Item = &[LegendEntry]> {
        self.entries.chunks(self.entries.len().div_ceil(self.n_columns).max(1))
    }

    fn height_of(&self, entry: &LegendEntry) -> f64 {
        entry.lines.len() as f64 * self.layout.line + 4.0
    }
}

pub(super) fn draw_legend(
    layer: &mut Layer,
    chart: &Chart,
    legend: &Legend<'_>,
    frame: &Frame,
    layout: &Layout,
) {
    let heights: Vec<f64> = legend.entries.iter().map(|entry| legend.height_of(entry)).collect();
    let wanted: Vec<f64> =
        legend.entries.iter().map(|entry| frame.inside(frame.y(&chart.y, entry.end))).collect();
    let centres = spread_out(&wanted, &heights, frame.top, frame.bottom);
    let left = frame.right + layout.right;
    for ((entry, from), centre) in legend.entries.iter().zip(&wanted).zip(&centres) {
        let right = left - GAP - SWATCH;
        let leader = vec![(frame.right + 3.0, *from), (right - 2.0, *centre), (right, *centre)];
        draw_entry(layer, chart, entry, layout, (left, *centre), &[leader]);
    }
}

/// Draws the labels in columns below the picture, which ends at `top`.
pub(super) fn draw_legend_below(layer: &mut Layer, chart: &Chart, legend: &Legend<'_>, top: f64) {
    let layout = legend.layout;
    let width = (layout.width - 2.0 * layout.edge) / legend.n_columns as f64;
    for (number, column) in legend.columns().enumerate() {
        let left = layout.edge + number as f64 * width + SWATCH + GAP;
        let mut edge = top;
        for entry in column {
            let height = legend.height_of(entry);
            draw_entry(layer, chart, entry, layout, (left, edge + height / 2.0), &[]);
            edge += height;
        }
    }
}

/// Draws a piece of a curve, its label, and the line that leads to it.
fn draw_entry(
    layer: &mut Layer,
    chart: &Chart,
    entry: &LegendEntry,
    layout: &Layout,
    (left, centre): Place,
    leader: &[Vec<Place>],
) {
    let curve = &chart.curves[entry.curve];
    let mut group = Layer::new("label");
    group.set("data-curve", &entry.curve.to_string());
    let ink = Some(curve.style.ink());
    group.line("leader", leader, Pen::solid(0.8), ink);
    let right = left - GAP;
    let mut swatch = Layer::new("").inked(curve.style.ink());
    swatch.line("", &[vec![(right - SWATCH, centre), (right, centre)]], pen(curve), None);
    if let Some(marker) = curve.style.marker() {
        swatch.shape("", marker, (right - SWATCH / 2.0, centre));
    }
    group.add(swatch);
    let font = Font::start(layout.legend);
    for (number, words) in entry.lines.iter().enumerate() {
        let offset = (number as f64 - (entry.lines.len() as f64 - 1.0) / 2.0) * layout.line;
        group.text("", words, (left, centre + offset + font.half()), font, None);
    }
    layer.add(group);
}

/// Moves labels apart: heights near the wanted ones (in increasing order) at which labels of these
/// sizes do not overlap.
///
/// Labels that would overlap form a block around the mean of their wanted heights; blocks that
/// would overlap are merged. Without enough room for all, labels overlap evenly.
pub(super) fn spread_out(wanted: &[f64], sizes: &[f64], top: f64, bottom: f64) -> Vec<f64> {
    let total: f64 = sizes.iter().sum();
    let squeeze = if total > bottom - top { (bottom - top) / total } else { 1.0 };
    // A block is (first label, number of labels, size, wanted top).
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
            // The top of the merged block is the mean of the tops that its labels want.
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
