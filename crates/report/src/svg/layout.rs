//! Sizes of the two drawings of a chart: a wide one, and one for narrow screens.

use super::canvas::{Font, Layer};
use super::palette::Ink;
use crate::text::{breadth, in_cut_lines};

/// A generous estimate of the width of a text.
pub(crate) fn width_of(text: &str, font: f64) -> f64 {
    breadth(text) * font
}

/// The sizes of a drawing, in its units.
#[derive(Debug)]
pub(crate) struct Layout {
    pub(crate) class: &'static str,
    pub(crate) width: f64,
    /// Room at all edges.
    pub(crate) edge: f64,
    pub(crate) title: f64,
    /// The font of the small print below it.
    pub(crate) note: f64,
    /// The font of the ticks, and of names in their place.
    pub(crate) tick: f64,
    /// The font of the words along the axes.
    pub(crate) axis: f64,
    /// The font of the labels of the curves.
    pub(crate) legend: f64,
    /// The distance of the lines of small print, names and labels.
    pub(crate) line: f64,
    /// The least height of the frame.
    pub(crate) frame: f64,
    /// The height up to which labels are beside the frame; zero for never.
    pub(crate) most_beside: f64,
    /// The largest number of columns of labels below the frame.
    pub(crate) most_columns: usize,
    /// Whether the words of the vertical axis are above the frame, not beside it.
    pub(crate) words_above: bool,
    /// Room between the frame and what is at its right.
    pub(crate) right: f64,
}

/// For pages at least 680 pixels wide: shown at 0.85 of its size or larger.
pub(crate) const WIDE: Layout = Layout {
    class: "wide",
    width: 800.0,
    edge: 16.0,
    title: 17.0,
    note: 13.0,
    tick: 13.0,
    axis: 14.0,
    legend: 13.5,
    line: 16.0,
    frame: 336.0,
    most_beside: 1200.0,
    most_columns: 3,
    words_above: false,
    right: 48.0,
};

/// For telephones: letters are still large when 360 units are shown in 343 pixels.
pub(crate) const NARROW: Layout = Layout {
    class: "narrow",
    width: 360.0,
    edge: 8.0,
    title: 15.0,
    note: 12.0,
    tick: 12.0,
    axis: 12.5,
    legend: 12.5,
    line: 15.0,
    frame: 240.0,
    most_beside: 0.0,
    most_columns: 2,
    words_above: true,
    right: 14.0,
};

/// Heading and small print above a figure, in lines.
pub(crate) struct Heading {
    /// The words of each, their font, and the height of their foot.
    lines: Vec<(String, Font, f64)>,
    pub(crate) bottom: f64,
}

impl Heading {
    pub(crate) fn of(title: &str, note: &str, layout: &Layout, width: f64) -> Self {
        let bold = Font { is_bold: true, ..Font::start(layout.title) };
        // Bold letters are wider.
        let mut lines = Vec::new();
        let mut bottom = layout.edge - 2.0;
        for words in in_cut_lines(title, width / 1.1 / layout.title) {
            bottom += layout.title + 4.0;
            lines.push((words, bold, bottom - 6.0));
        }
        for words in in_cut_lines(note, width / layout.note) {
            bottom += layout.line;
            lines.push((words, Font::start(layout.note), bottom));
        }
        Self { lines, bottom: bottom + 12.0 }
    }

    pub(crate) fn draw(&self, layer: &mut Layer, left: f64) {
        for (words, font, y) in &self.lines {
            let ink = (!font.is_bold).then_some(Ink::Muted);
            layer.text("", words, (left, *y), *font, ink);
        }
    }
}
