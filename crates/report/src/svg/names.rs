//! Names of the columns of a figure: below a chart of categories, above a heat map.

use super::canvas::{Font, Layer};
use super::layout::width_of;
use crate::text::in_lines;

/// The largest number of lines of a name that is level.
const MOST_LINES: usize = 3;

/// Names of the columns of a figure.
pub(crate) struct Names<'a> {
    all: &'a [String],
    /// The lines of each; `None` if a name is too long for its column, and all are upright.
    level: Option<Vec<Vec<String>>>,
    font: f64,
    line: f64,
}

impl<'a> Names<'a> {
    /// Lays out names above or below columns of this width.
    pub(crate) fn of(names: &'a [String], column: f64, font: f64, line: f64) -> Self {
        let in_column = |name: &String| in_lines(name, column / font);
        let lines: Vec<Vec<String>> = names.iter().map(in_column).collect();
        let fits = |lines: &Vec<String>| {
            lines.len() <= MOST_LINES && lines.iter().all(|line| width_of(line, font) <= column)
        };
        Self { all: names, level: lines.iter().all(fits).then_some(lines), font, line }
    }

    /// The height that they need.
    pub(crate) fn height(&self) -> f64 {
        match &self.level {
            Some(lines) => lines.iter().map(Vec::len).max().unwrap_or(0) as f64 * self.line,
            None => self.all.iter().map(|name| width_of(name, self.font)).fold(0.0, f64::max),
        }
    }

    /// Draws them below `top`. `x` is the middle of a column.
    pub(crate) fn draw_below(&self, layer: &mut Layer, top: f64, x: impl Fn(usize) -> f64) {
        self.draw(
            layer,
            &x,
            |number, _| top + self.font - 2.0 + number as f64 * self.line,
            top,
            Font::end(self.font),
        );
    }

    /// Draws them above `bottom`. `x` is the middle of a column.
    pub(crate) fn draw_above(&self, layer: &mut Layer, bottom: f64, x: impl Fn(usize) -> f64) {
        let level = |number: usize, n_lines: usize| bottom - (n_lines - 1 - number) as f64 * self.line;
        self.draw(layer, &x, level, bottom, Font::start(self.font));
    }

    fn draw(
        &self,
        layer: &mut Layer,
        x: &impl Fn(usize) -> f64,
        level: impl Fn(usize, usize) -> f64,
        edge: f64,
        upright: Font,
    ) {
        for (place, name) in self.all.iter().enumerate() {
            if let Some(lines) = &self.level {
                for (number, words) in lines[place].iter().enumerate() {
                    let at = (x(place), level(number, lines[place].len()));
                    layer.text("", words, at, Font::middle(self.font), None);
                }
            } else {
                let font = Font { is_upright: true, ..upright };
                layer.text("", name, (x(place) + font.half(), edge), font, None);
            }
        }
    }
}
