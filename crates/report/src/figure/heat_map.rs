//! Heat map: regret at the end, or another value of whole runs, as a share of one policy's. It has one row for each policy and one column
//! for each variant. A coloured cell shows the number and, in small print, its standard error.
//!
//! Colours run from light (little regret) to dark on a logarithmic scale, evenly in lightness, so the map can be read in grey too. The
//! letters of a cell are black or white, whichever has more contrast: at least 4.5 to 1.

use crate::schema::{Keys, label, quantity};
use num_traits::ToPrimitive as _;
use std::fmt::Write as _;

use super::{Kind, Plot, PolicyStyles, Reading, Requirement, end_values, runs_in_words};
use crate::axis::{Axis, Scale};
use crate::html::escaped;
use crate::reproduction::fields::{read_quantity, read_reference};
use crate::series::{Simulated, labels};
use crate::text::n_columns;
use experiment::number;
use experiment::result::{EndValue, ResultFile};
use experiment::toml_reader::Error;
use std::sync::Arc;

pub(super) static KIND: Kind = Kind {
    name: "heat-map",
    shows: "the same as a share of one policy's: a row a policy, a column a variant; needs variants",
    is_wide: true,
    needs: &[Requirement::Variants],
    schema: || Keys::required([("relative-to", label())]).optional([("quantity", quantity())]),
    read: |reading| Ok(Arc::new(read(reading)?)),
};

const WIDTH: f64 = 1000.0;
const EDGE: f64 = 16.0;
const TITLES: f64 = 62.0;
const ROW: f64 = 36.0;
const WIDEST_COLUMN: f64 = 130.0;
const NAME_FONT: f64 = 13.0;
const NAME_LINE: f64 = 16.0;
/// A generous estimate of the width of a letter, in font sizes.
const LETTER: f64 = 0.56;
/// The height of the bar of colours with its numbers and words.
const KEY: f64 = 70.0;
/// Values smaller than the largest by this factor have the lightest colour.
const RANGE: f64 = 1000.0;

type Rgb = [f64; 3];

/// Colours from little regret to much: the yellows, oranges and reds of Brewer's sequential scale.
const COLOURS: [Rgb; 6] = [
    [255.0, 255.0, 217.0],
    [254.0, 227.0, 145.0],
    [254.0, 178.0, 76.0],
    [240.0, 96.0, 40.0],
    [189.0, 0.0, 38.0],
    [90.0, 0.0, 30.0],
];

/// Values of whole runs as a share of one policy's: one row for each policy, one column for each variant.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct HeatMap {
    /// Label of the reference policy; if absent, values are not shown as shares.
    pub relative_to: Option<String>,
    /// The value; the main value of the task if absent.
    pub value: Option<EndValue>,
}

fn read(reading: &Reading<'_, '_>) -> Result<HeatMap, Error> {
    let Reading { table, panel, .. } = reading;
    let field = table.field("relative-to");
    let field = field.ok_or_else(|| table.missing("relative-to", "the label of a policy"))?;
    Ok(HeatMap { relative_to: Some(read_reference(&field, panel)?), value: read_quantity(table, panel)? })
}

impl Plot for HeatMap {
    fn kind(&self) -> &'static Kind {
        &KIND
    }

    fn of_result(&self, _: Option<&str>, _: &ResultFile, _: &PolicyStyles) -> anyhow::Result<Option<String>> {
        Ok(None)
    }

    fn of_variants(
        &self,
        title: Option<&str>,
        variants: &[Simulated],
        styles: &PolicyStyles,
    ) -> anyhow::Result<String> {
        Ok(render(self, title, variants, styles))
    }
}

fn render(figure: &HeatMap, title: Option<&str>, variants: &[Simulated], styles: &PolicyStyles) -> String {
    let reference = figure.relative_to.as_deref();
    let rows = labels(variants);
    let names: Vec<&str> = rows.iter().map(|label| styles.name(label)).collect();
    let compared = end_values::compared(figure.value, variants.iter().map(|one| &one.measured.result));
    let value = |label, one| end_values::value(one, label, reference, compared);
    let values: Vec<Vec<Option<(f64, f64)>>> =
        rows.iter().map(|label| variants.iter().map(|one| value(label, one)).collect()).collect();
    let scale = scale_of(&values);

    let longest = names.iter().map(|name| n_columns(name)).max().unwrap_or(0);
    let left = EDGE + longest as f64 * LETTER * NAME_FONT + 10.0;
    let column = ((WIDTH - left - EDGE) / variants.len().max(1) as f64).min(WIDEST_COLUMN);
    let heads = Heads::of(variants, column);
    let top = TITLES + heads.room();
    let height = top + rows.len() as f64 * ROW + KEY;

    let own_title = || match compared {
        EndValue::Regret => "Regret of every policy in every variant".to_owned(),
        EndValue::Accuracy => "Accuracy of every policy in every variant".to_owned(),
        EndValue::Answer(_) => format!("{} of every policy in every variant", compared.heading()),
    };
    let title = title.map_or_else(own_title, str::to_owned);
    let of = reference.map_or_else(String::new, |label| format!(", % of {}", styles.name(label)));
    let runs = runs_in_words(variants.iter().map(|variant| &variant.measured.result));
    let mut svg = String::new();
    let _ = writeln!(
        svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height:.0}\" viewBox=\"0 0 {WIDTH} \
         {height:.0}\" role=\"img\" aria-label=\"{0}\" font-family=\"sans-serif\">\n<title>{0}</title>\n<rect \
         width=\"{WIDTH}\" height=\"{height:.0}\" fill=\"#ffffff\"/>",
        escaped(&title)
    );
    let black = Style { anchor: "start", fill: "#222222", size: 17.0 };
    text(&mut svg, (EDGE, 27.0), &Style { anchor: "start\" font-weight=\"bold", ..black }, &title);
    let subtitle =
        format!("{}{of}; {runs}; small print: standard error", end_values::in_words_without_unit(compared));
    text(&mut svg, (EDGE, 48.0), &Style { size: 12.5, fill: "#5c5c5c", ..black }, &subtitle);
    heads.write(&mut svg, left, column, top);
    for (number, (name, cells)) in names.iter().zip(&values).enumerate() {
        let y = top + number as f64 * ROW;
        let style = Style { anchor: "end", size: NAME_FONT, ..black };
        text(&mut svg, (left - 8.0, y + ROW / 2.0 + 4.5), &style, name);
        for (place, (cell, variant)) in cells.iter().zip(variants).enumerate() {
            let spot = Spot { x: left + place as f64 * column, y, width: column };
            write_cell(&mut svg, &spot, *cell, &scale, &format!("{name}, {}", variant.title));
        }
    }
    write_key(
        &mut svg,
        &scale,
        left,
        top + rows.len() as f64 * ROW + 18.0,
        &format!("{}{of}", compared.words()),
    );
    svg.push_str("</svg>\n");
    svg
}

/// The place of a cell.
struct Spot {
    x: f64,
    y: f64,
    width: f64,
}

/// The style of a text.
#[derive(Clone, Copy)]
struct Style {
    anchor: &'static str,
    fill: &'static str,
    size: f64,
}

fn text(svg: &mut String, (x, y): (f64, f64), style: &Style, words: &str) {
    let Style { anchor, fill, size } = style;
    let _ = writeln!(
        svg,
        "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" font-size=\"{size:.1}\" fill=\"{fill}\">{}</text>",
        escaped(words)
    );
}

/// The axis of colours over all values.
fn scale_of(values: &[Vec<Option<(f64, f64)>>]) -> Axis {
    let all = || values.iter().flatten().flatten().map(|(value, _)| *value).filter(|value| *value > 0.0);
    let highest = all().fold(0.0, f64::max);
    let lowest = all().fold(f64::INFINITY, f64::min);
    Axis::new(Scale::Log, lowest.max(highest / RANGE), highest)
}

fn write_cell(svg: &mut String, spot: &Spot, cell: Option<(f64, f64)>, scale: &Axis, what: &str) {
    let Spot { x, y, width } = *spot;
    let place = |fill: &str| {
        format!(
            "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"{fill}\"/>",
            x + 1.0,
            y + 1.0,
            width - 2.0,
            ROW - 2.0
        )
    };
    let Some((value, se)) = cell else {
        let _ = writeln!(svg, "{}", place("#f3f3f3"));
        return;
    };
    let colour = colour(scale.place(value));
    let letters = if luminance(colour) > 0.179 { "#000000" } else { "#ffffff" };
    let (mean, error) = (number::significant(value, 3), format!("± {}", number::significant(se, 2)));
    let _ =
        writeln!(svg, "<g><title>{}: {mean} {error}</title>{}", escaped(what), place(&hexadecimal(colour)));
    let fit = |words: &str, most: f64| (0.92 * width / (LETTER * n_columns(words).max(1) as f64)).min(most);
    let middle = x + width / 2.0;
    let style = Style { anchor: "middle", fill: letters, size: fit(&mean, 14.0) };
    text(svg, (middle, y + 16.5), &style, &mean);
    text(svg, (middle, y + 29.5), &Style { size: fit(&error, 10.5), ..style }, &error);
    svg.push_str("</g>\n");
}

/// Writes the bar of colours with its values.
fn write_key(svg: &mut String, scale: &Axis, left: f64, top: f64, what: &str) {
    const STEPS: usize = 60;
    const BAR: f64 = 360.0;
    let step = BAR / STEPS as f64;
    for number in 0..STEPS {
        let colour = hexadecimal(colour((number as f64 + 0.5) / STEPS as f64));
        let _ = writeln!(
            svg,
            "<rect x=\"{:.1}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"12\" fill=\"{colour}\"/>",
            left + number as f64 * step,
            step + 0.5
        );
    }
    let style = Style { anchor: "middle", fill: "#222222", size: 12.0 };
    for tick in scale.ticks(7).iter().filter(|tick| !tick.label.is_empty()) {
        let x = left + scale.place(tick.value) * BAR;
        let _ = writeln!(svg, "<path d=\"M{x:.1} {:.1}v5\" stroke=\"#8a8a8a\"/>", top + 12.0);
        text(svg, (x, top + 29.0), &style, &tick.label);
    }
    let words = format!("{what}, log scale");
    text(svg, (left + BAR + 22.0, top + 11.0), &Style { anchor: "start", ..style }, &words);
}

/// The colour at a place of the scale; places run from 0 to 1.
fn colour(place: f64) -> Rgb {
    let at = place.clamp(0.0, 1.0) * (COLOURS.len() - 1) as f64;
    let below = at.to_usize().unwrap_or(0).min(COLOURS.len() - 2);
    let share = at - below as f64;
    let (from, to) = (COLOURS[below], COLOURS[below + 1]);
    [0, 1, 2].map(|channel| from[channel] + share * (to[channel] - from[channel]))
}

fn hexadecimal(colour: Rgb) -> String {
    let [red, green, blue] =
        colour.map(|channel| libm::round(channel).clamp(0.0, 255.0).to_u8().unwrap_or(0));
    format!("#{red:02x}{green:02x}{blue:02x}")
}

/// Relative luminance of a colour (WCAG 2). Above 0.179, black letters have more contrast than white ones.
fn luminance(colour: Rgb) -> f64 {
    let [red, green, blue] = colour.map(|channel| {
        let share = channel / 255.0;
        if share <= 0.04045 { share / 12.92 } else { libm::pow((share + 0.055) / 1.055, 2.4) }
    });
    0.2126 * red + 0.7152 * green + 0.0722 * blue
}

/// The heads of the columns.
enum Heads {
    /// Horizontal, in lines.
    Level(Vec<Vec<String>>),
    /// Upright, if they are too long to be horizontal; with the number of letters of the longest.
    Upright(Vec<String>, usize),
}

impl Heads {
    fn of(variants: &[Simulated], column: f64) -> Self {
        let letters = (column / (LETTER * NAME_FONT)).to_usize().unwrap_or(0);
        let titles: Vec<String> = variants.iter().map(|variant| variant.title.clone()).collect();
        let lines: Vec<Vec<String>> = titles.iter().map(|title| in_lines(title, letters)).collect();
        let fits =
            |lines: &Vec<String>| lines.len() <= 3 && lines.iter().all(|line| n_columns(line) <= letters);
        if lines.iter().all(fits) {
            return Self::Level(lines);
        }
        let longest = titles.iter().map(|title| n_columns(title)).max().unwrap_or(0);
        Self::Upright(titles, longest)
    }

    fn room(&self) -> f64 {
        match self {
            Self::Level(heads) => heads.iter().map(Vec::len).max().unwrap_or(1) as f64 * NAME_LINE + 8.0,
            Self::Upright(_, longest) => *longest as f64 * LETTER * NAME_FONT + 12.0,
        }
    }

    fn write(&self, svg: &mut String, left: f64, column: f64, top: f64) {
        let style = Style { anchor: "middle", fill: "#222222", size: NAME_FONT };
        let middle = |place: usize| left + (place as f64 + 0.5) * column;
        match self {
            Self::Level(heads) => {
                for (place, lines) in heads.iter().enumerate() {
                    for (number, words) in lines.iter().rev().enumerate() {
                        text(svg, (middle(place), top - 8.0 - number as f64 * NAME_LINE), &style, words);
                    }
                }
            }
            Self::Upright(titles, _) => {
                for (place, title) in titles.iter().enumerate() {
                    let (x, y) = (middle(place) + 4.5, top - 6.0);
                    let _ = write!(svg, "<g transform=\"rotate(-90 {x:.1} {y:.1})\">");
                    text(svg, (x, y), &Style { anchor: "start", ..style }, title);
                    svg.push_str("</g>\n");
                }
            }
        }
    }
}

/// Breaks a text into lines of at most `letters` letters, or of a single longer word.
fn in_lines(text: &str, letters: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if n_columns(line) + 1 + n_columns(word) <= letters => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_darken_and_letters_have_contrast_on_all() {
        let steps: Vec<Rgb> = (0..=100).map(|step| colour(f64::from(step) / 100.0)).collect();
        assert!(steps.windows(2).all(|pair| luminance(pair[0]) > luminance(pair[1])));
        for colour in steps {
            let luminance = luminance(colour);
            let contrast =
                if luminance > 0.179 { (luminance + 0.05) / 0.05 } else { 1.05 / (luminance + 0.05) };
            assert!(contrast > 4.5, "{colour:?}");
        }
        assert_eq!(
            (hexadecimal(colour(-1.0)), hexadecimal(colour(2.0))),
            ("#ffffd9".into(), "#5a001e".into())
        );
    }

    #[test]
    fn heads_are_broken_between_words() {
        assert_eq!(in_lines("position based, steep", 10), ["position", "based,", "steep"]);
        assert_eq!(in_lines("a b c", 10), ["a b c"]);
    }
}
