//! The axes: ticks with numbers, or names of places.

use super::canvas::{Area, FAINT_GRID, FRAME, GRID, TEXT, font, line, stroke, text};
use super::{Chart, Frame, LEGEND_LINE, LETTER, TICK_FONT};
use crate::text::{n_columns, wrapped};
use anyhow::Result;
use num_traits::ToPrimitive as _;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color as _, FontTransform};

/// The names below a horizontal axis of categories.
pub(super) enum Names {
    /// Horizontal, in lines.
    Level(Vec<Vec<String>>),
    /// Upright, if they are too long to be horizontal; with the number of letters of the longest.
    Upright(Vec<String>, usize),
}

impl Names {
    /// Lays out names below a frame of this width.
    pub(super) fn of(names: &[String], width: f64) -> Self {
        let columns = (width / names.len().max(1) as f64 / (LETTER * TICK_FONT)).to_usize().unwrap_or(0);
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

    /// The height that they need below the frame, in addition to the height of numbers.
    pub(super) fn room(&self) -> f64 {
        match self {
            Self::Level(names) => {
                let lines = names.iter().map(Vec::len).max().unwrap_or(1);
                (lines.max(1) as f64 - 1.0) * LEGEND_LINE
            }
            Self::Upright(_, longest) => (*longest as f64 - 1.0) * LETTER * TICK_FONT,
        }
    }
}

pub(super) fn draw_axes(area: &Area<'_>, chart: &Chart, names: &Names, frame: &Frame) -> Result<()> {
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

/// Draws the ticks of a horizontal axis of numbers.
fn draw_rounds(area: &Area<'_>, chart: &Chart, frame: &Frame) -> Result<()> {
    let width = frame.right - frame.left;
    let room = (width / 64.0).to_usize().unwrap_or(0);
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

/// Draws the names below a horizontal axis of categories.
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
