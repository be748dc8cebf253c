//! Names of the columns of a figure: below a chart of categories, above a heat map.

use super::canvas::{Font, Layer};
use super::layout::width_of;
use crate::text::{in_lines, wrapped};

/// The largest number of lines of a name that is level.
const MOST_LINES: usize = 3;

/// The largest height of a line of an upright name.
const HIGHEST: f64 = 240.0;

pub(crate) struct Names {
    all: Vec<Vec<String>>,
    /// Whether a name is too long for its column, so that all are upright.
    are_upright: bool,
    font: f64,
    line: f64,
}

impl Names {
    /// Lays out names of columns of this width; upright ones are cut after one or two lines.
    pub(crate) fn of(names: &[String], column: f64, font: f64, line: f64) -> Self {
        let level: Vec<Vec<String>> = names.iter().map(|name| in_lines(name, column / font)).collect();
        let fits = |lines: &Vec<String>| {
            lines.len() <= MOST_LINES && lines.iter().all(|line| width_of(line, font) <= column)
        };
        if level.iter().all(fits) {
            return Self { all: level, are_upright: false, font, line };
        }
        let upright = |name: &String| {
            let mut lines = wrapped(name, HIGHEST / font);
            if lines.len() > 1 && column < 2.0 * line {
                lines.truncate(1);
                lines[0].push('…');
            }
            lines
        };
        Self { all: names.iter().map(upright).collect(), are_upright: true, font, line }
    }

    pub(crate) fn height(&self) -> f64 {
        if self.are_upright {
            self.all.iter().flatten().map(|line| width_of(line, self.font)).fold(0.0, f64::max)
        } else {
            self.all.iter().map(Vec::len).max().unwrap_or(0) as f64 * self.line
        }
    }

    /// Draws them above or below an edge. `x` is the middle of a column.
    pub(crate) fn draw(&self, layer: &mut Layer, edge: f64, are_above: bool, x: impl Fn(usize) -> f64) {
        for (place, lines) in self.all.iter().enumerate() {
            for (number, words) in lines.iter().enumerate() {
                let (at, font) = if self.are_upright {
                    let anchored = if are_above { Font::start(self.font) } else { Font::end(self.font) };
                    let aside = (number as f64 - (lines.len() as f64 - 1.0) / 2.0) * self.line;
                    let at = (x(place) + aside + anchored.half(), edge);
                    (at, Font { is_upright: true, ..anchored })
                } else {
                    let y = if are_above {
                        edge - (lines.len() - 1 - number) as f64 * self.line
                    } else {
                        edge + self.font - 2.0 + number as f64 * self.line
                    };
                    ((x(place), y), Font::middle(self.font))
                };
                layer.text("", words, at, font, None);
            }
        }
    }
}
