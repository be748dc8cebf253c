//! Lines and text on the drawing area, in the units in which a picture is shown.

use crate::text::drawable;
use anyhow::{Context as _, Result};
use num_traits::ToPrimitive as _;
use plotters::backend::SVGBackend;
use plotters::coord::Shift;
use plotters::drawing::DrawingArea;
use plotters::element::{PathElement, Text};
use plotters::style::text_anchor::Pos;
use plotters::style::{FontStyle, IntoFont as _, RGBColor, ShapeStyle, TextStyle};

/// The size of a picture in the units of the drawing library, in multiples of the size at which it is shown.
pub(super) const UNIT: f64 = 10.0;
pub(super) const TEXT: RGBColor = RGBColor(0x22, 0x22, 0x22);
pub(super) const MUTED: RGBColor = RGBColor(0x5c, 0x5c, 0x5c);
pub(super) const FRAME: RGBColor = RGBColor(0x8a, 0x8a, 0x8a);
pub(super) const GRID: RGBColor = RGBColor(0xdd, 0xdd, 0xdd);
pub(super) const FAINT_GRID: RGBColor = RGBColor(0xf0, 0xf0, 0xf0);
pub(super) const WHITE: RGBColor = RGBColor(0xff, 0xff, 0xff);
pub(super) type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
pub(super) type Place = (f64, f64);

pub(super) fn units(length: f64) -> i32 {
    let length = libm::round(length * UNIT).clamp(f64::from(i32::MIN), f64::from(i32::MAX));
    length.to_i32().unwrap_or(0)
}

pub(super) fn stroke(width: f64) -> u32 {
    units(width).unsigned_abs()
}

pub(super) fn place((x, y): Place) -> (i32, i32) {
    (units(x), units(y))
}

pub(super) fn line(area: &Area<'_>, points: &[Place], style: ShapeStyle) -> Result<()> {
    let points: Vec<_> = points.iter().copied().map(place).collect();
    area.draw(&PathElement::new(points, style)).context("cannot draw a line")
}

pub(super) fn text(area: &Area<'_>, words: &str, at: Place, style: &TextStyle<'_>) -> Result<()> {
    if words.is_empty() {
        return Ok(());
    }
    area.draw(&Text::new(drawable(words), place(at), style.clone())).context("cannot write text")
}

pub(super) fn font(size: f64, colour: RGBColor, anchor: Pos) -> TextStyle<'static> {
    // The library divides the size by 1.24 when it writes it.
    ("sans-serif", size * UNIT * 1.24).into_font().color(&colour).pos(anchor)
}

/// Bold type.
pub(super) trait Bold {
    fn style_bold(self) -> Self;
}

impl Bold for TextStyle<'static> {
    fn style_bold(mut self) -> Self {
        self.font = self.font.style(FontStyle::Bold);
        self
    }
}
