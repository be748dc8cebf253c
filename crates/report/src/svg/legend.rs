//! The labels of the curves: beside the picture, each near the end of its curve, or in columns below it.

use super::canvas::{Area, Place, TEXT, font, line, stroke, text};
use super::curves::{dashes, inside, marker};
use super::style::{CurveStyle, rgb};
use super::{Chart, Frame, LEADER, LEGEND_LINE, LETTER, WIDTH};
use crate::text::{n_columns, wrapped};
use anyhow::Result;
use num_traits::ToPrimitive as _;
use plotters::style::Color as _;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// Room beside and below a legend below the picture.
pub(super) const EDGE: f64 = 16.0;

/// The number of columns of a legend below the picture.
const COLUMNS: usize = 3;

/// The length of the piece of a curve beside its label.
const SWATCH: f64 = 25.0;
const MIN_LEGEND: f64 = 70.0;
const MAX_LEGEND: f64 = 220.0;
const LEGEND_FONT: f64 = 13.5;

/// The labels of the curves, in order of the heights at which the curves end, highest first.
pub(super) struct Legend {
    /// The width of the widest line.
    pub(super) width: f64,
    /// The index of the curve, the lines of its label, and the value at which the curve ends.
    entries: Vec<(usize, Vec<String>, f64)>,
}

impl Legend {
    pub(super) fn of(chart: &Chart) -> Self {
        let columns = (MAX_LEGEND / (LETTER * LEGEND_FONT)).to_usize().unwrap_or(0);
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

    /// The height of all labels below each other.
    pub(super) fn height(&self) -> f64 {
        self.entries.iter().map(|(_, lines, _)| height_of(lines)).sum()
    }

    /// The labels in columns of equal length.
    fn columns(&self) -> impl Iterator<Item = &[(usize, Vec<String>, f64)]> {
        self.entries.chunks(self.entries.len().div_ceil(COLUMNS).max(1))
    }

    /// The height of the highest of these columns.
    pub(super) fn height_in_columns(&self) -> f64 {
        let height =
            |column: &[(usize, Vec<String>, f64)]| column.iter().map(|(_, lines, _)| height_of(lines)).sum();
        self.columns().map(height).fold(0.0, f64::max)
    }
}

/// The height of a label in the legend.
fn height_of(lines: &[String]) -> f64 {
    lines.len() as f64 * LEGEND_LINE + 4.0
}

pub(super) fn draw_legend(area: &Area<'_>, chart: &Chart, legend: &Legend, frame: &Frame) -> Result<()> {
    let heights: Vec<f64> = legend.entries.iter().map(|(_, lines, _)| height_of(lines)).collect();
    let wanted: Vec<f64> =
        legend.entries.iter().map(|&(_, _, end)| inside(frame, frame.y(&chart.y, end))).collect();
    let centres = spread_out(&wanted, &heights, frame.top, frame.bottom);
    let left = frame.right + LEADER;
    for (((index, lines, _), from), centre) in legend.entries.iter().zip(&wanted).zip(&centres) {
        let style = chart.curves[*index].style;
        let right = left - 6.0;
        let leader = [(frame.right + 3.0, *from), (right - SWATCH - 2.0, *centre), (right - SWATCH, *centre)];
        line(area, &leader, rgb(style).mix(0.6).stroke_width(stroke(0.9)))?;
        draw_entry(area, style, lines, (left, *centre))?;
    }
    Ok(())
}

/// Draws the labels in columns below the picture, which ends at `top`.
pub(super) fn draw_legend_below(area: &Area<'_>, chart: &Chart, legend: &Legend, top: f64) -> Result<()> {
    let width = (WIDTH - 2.0 * EDGE) / COLUMNS as f64;
    for (number, column) in legend.columns().enumerate() {
        let left = EDGE + number as f64 * width + SWATCH + 6.0;
        let mut edge = top;
        for (index, lines, _) in column {
            let centre = edge + height_of(lines) / 2.0;
            draw_entry(area, chart.curves[*index].style, lines, (left, centre))?;
            edge += height_of(lines);
        }
    }
    Ok(())
}

/// Draws a piece of a curve, and its label at the right.
fn draw_entry(area: &Area<'_>, style: CurveStyle, lines: &[String], (left, centre): Place) -> Result<()> {
    let colour = rgb(style);
    let right = left - 6.0;
    let swatch = [(right - SWATCH, centre), (right, centre)];
    match style.pattern() {
        None => {
            line(area, &swatch, colour.stroke_width(stroke(2.0)))?;
            marker(area, style, (right - SWATCH / 2.0, centre))?;
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

/// Moves labels apart: heights near the wanted ones (in increasing order) at which labels of these sizes do not overlap.
///
/// Labels that would overlap form a block around the mean of their wanted heights; blocks that would overlap are merged. Without enough
/// room for all, labels overlap evenly.
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
