//! Heat map: regret at the end, or the main value of another task, as a share of one policy's. It
//! has one row for each policy and one column for each variant. A coloured cell shows the number
//! and, in small print, its standard error.
//!
//! Colours are steps of a logarithmic scale (`svg/palette.rs`). The picture is as wide as its cells
//! need, so that their numbers can be read; a page lets the reader scroll it.

use super::{FigureData, Kind, Plot, PolicyStyles, end_values, runs_in_words};
use crate::axis::{Axis, Scale};
use crate::claims::within::ratio_of_means;
use crate::keys::{any_text, required};
use crate::reading::Requirement;
use crate::series::{VariantRuns, labels};
use crate::svg::canvas::{Drawing, Font, Layer, Pen};
use crate::svg::layout::{Heading, WIDE, width_of};
use crate::svg::names::Names;
use crate::svg::palette::{Ink, N_STEPS, step_at};
use documents::number;
use experiment::result::EndValue;
use std::sync::Arc;

pub(super) static KIND: Kind = Kind {
    name: "heat-map",
    says: "the same as a share of one policy's: a row a policy, a column a variant; needs variants",
    keys: &[required("relative-to", any_text, "the policy")],
    relations: Vec::new,
    needs: &[Requirement::Variants],
    read: |reading| Ok(Arc::new(HeatMap { relative_to: reading.some_label("relative-to")?.1 })),
};

/// The picture is as wide as a page, unless its cells need less or more.
const PAGE: f64 = 960.0;
const NARROWEST: f64 = 340.0;
const WIDEST_COLUMN: f64 = 130.0;
const ROW: f64 = 36.0;
const MEAN_FONT: f64 = 14.0;
const ERROR_FONT: f64 = 11.0;
/// The width and height of the bar of colours, and the height of all of the key.
const BAR: (f64, f64) = (312.0, 12.0);
const KEY: f64 = 88.0;
/// Values smaller than the largest by this factor have the first colour.
const RANGE: f64 = 1000.0;

/// The main value of the task as a share of one policy's, by policy and variant.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct HeatMap {
    /// Label of the reference policy.
    pub relative_to: String,
}

impl Plot for HeatMap {
    fn is_wide(&self) -> bool {
        true
    }

    fn draw(&self, title: Option<&str>, shown: FigureData<'_>, styles: &PolicyStyles) -> Option<String> {
        let FigureData::Variants(variants) = shown else { return None };
        Some(render(self, title, variants, styles))
    }
}

/// A ratio in per cent and its standard error. A variant without the reference has none.
type Cell = Option<(f64, f64)>;

fn cell(
    VariantRuns { measured, .. }: &VariantRuns,
    label: &str,
    reference: &str,
    compared: EndValue,
) -> Cell {
    let values = |policy| measured.values(policy, compared).ok();
    let (above, below) = (values(measured.policy(label)?)?, values(measured.policy(reference)?)?);
    let [above, below] = [&above, &below].map(|values| measured.result.observed(values));
    let (ratio, se) = ratio_of_means(&above, &below);
    (ratio.is_finite() && !se.is_infinite()).then_some((100.0 * ratio, 100.0 * se))
}

fn render(figure: &HeatMap, title: Option<&str>, variants: &[VariantRuns], styles: &PolicyStyles) -> String {
    let results = || variants.iter().map(|variant| &variant.measured.result);
    let rows = labels(results());
    let names: Vec<&str> = rows.iter().map(|label| styles.name(label)).collect();
    let compared = end_values::compared(None, results());
    let value = |label, variant| cell(variant, label, &figure.relative_to, compared);
    let values: Vec<Vec<Cell>> =
        rows.iter().map(|label| variants.iter().map(|one| value(label, one)).collect()).collect();
    let scale = scale_of(&values);

    let (heading, what) = match compared {
        EndValue::Regret => ("Regret", "regret at the end"),
        EndValue::Accuracy => ("Accuracy", compared.words()),
        EndValue::Answer(_) => (compared.heading(), compared.words()),
    };
    let title = title.map_or_else(|| format!("{heading} of every policy in every variant"), str::to_owned);
    let share = format!(", % of {}", styles.name(&figure.relative_to));
    let subtitle = format!("{what}{share}; {}; small print: standard error", runs_in_words(results()));

    let grid = Grid::of(&names, &values, variants.len());
    let titles: Vec<String> = variants.iter().map(|variant| variant.title.clone()).collect();
    let heads = Names::of(&titles, grid.column, WIDE.tick, WIDE.line);
    let heading = Heading::of(&title, &subtitle, &WIDE, grid.width - 2.0 * WIDE.edge);
    let top = heading.bottom + heads.height() + 10.0;
    let bottom = top + rows.len() as f64 * ROW;
    let size = (grid.width, bottom + KEY);

    let mut layer = Layer::new("");
    layer.rectangle((0.0, 0.0), size, Ink::Paper);
    heading.draw(&mut layer, WIDE.edge);
    heads.draw(&mut layer, top - 8.0, true, |place| grid.left_of(place) + grid.column / 2.0);
    for (number, (name, cells)) in names.iter().zip(&values).enumerate() {
        let y = top + number as f64 * ROW;
        let font = Font::end(WIDE.tick);
        layer.text("", name, (grid.left - 8.0, y + ROW / 2.0 + font.half()), font, None);
        for (place, (cell, variant)) in cells.iter().zip(variants).enumerate() {
            let spot = (grid.left_of(place), y, grid.column);
            draw_cell(&mut layer, spot, *cell, &scale, &format!("{name}, {}", variant.title));
        }
    }
    let key = format!("{}{share}, log scale", compared.words());
    draw_key(&mut layer, &scale, grid.left, bottom + 16.0, &key);

    let drawing = Drawing {
        size,
        title: &title,
        description: &subtitle,
        has_cells: true,
        attributes: vec![("class", "plot whole".to_owned())],
    };
    drawing.finish(vec![layer])
}

struct Grid {
    left: f64,
    column: f64,
    width: f64,
}

impl Grid {
    /// Columns that are wide enough for the letters of every cell.
    fn of(names: &[&str], values: &[Vec<Cell>], n_columns: usize) -> Self {
        let longest = names.iter().map(|name| width_of(name, WIDE.tick)).fold(0.0, f64::max);
        let left = WIDE.edge + longest + 10.0;
        let width_of_cell = |&(mean, se): &(f64, f64)| {
            let (mean, error) = in_words(mean, se);
            width_of(&mean, MEAN_FONT).max(width_of(&error, ERROR_FONT)) + 8.0
        };
        let needed = values.iter().flatten().flatten().map(width_of_cell).fold(0.0, f64::max);
        let column = ((PAGE - left - WIDE.edge) / n_columns.max(1) as f64).min(WIDEST_COLUMN).max(needed);
        let right = left + (n_columns as f64 * column).max(BAR.0);
        Self { left, column, width: (right + WIDE.edge).max(NARROWEST) }
    }

    fn left_of(&self, place: usize) -> f64 {
        self.left + place as f64 * self.column
    }
}

fn scale_of(values: &[Vec<Cell>]) -> Axis {
    let all = || values.iter().flatten().flatten().map(|(value, _)| *value).filter(|value| *value > 0.0);
    let highest = all().fold(0.0, f64::max);
    let lowest = all().fold(f64::INFINITY, f64::min);
    Axis::new(Scale::Log, lowest.max(highest / RANGE), highest)
}

/// A mean and its standard error as they are written in a cell.
fn in_words(mean: f64, se: f64) -> (String, String) {
    let error = if se.is_nan() { String::new() } else { format!("± {}", number::significant(se, 2)) };
    (number::significant(mean, 3), error)
}

/// Draws a cell with this left and top edge, and this width.
fn draw_cell(layer: &mut Layer, spot: (f64, f64, f64), cell: Cell, scale: &Axis, what: &str) {
    let (x, y, width) = spot;
    let (place, size) = ((x + 1.0, y + 1.0), (width - 2.0, ROW - 2.0));
    let Some((value, se)) = cell else {
        layer.rectangle(place, size, Ink::Empty);
        return;
    };
    let step = step_at(scale.place(value));
    let (mean, error) = in_words(value, se);
    let mut group = Layer::new("").inked(Ink::Letter(step));
    group.title(&format!("{what}: {mean} {error}"));
    group.rectangle(place, size, Ink::Step(step));
    let middle = x + width / 2.0;
    group.text("", &mean, (middle, y + 16.5), Font::middle(MEAN_FONT), None);
    group.text("", &error, (middle, y + 29.5), Font::middle(ERROR_FONT), None);
    layer.add(group);
}

/// Draws the bar of colours with its values.
fn draw_key(layer: &mut Layer, scale: &Axis, left: f64, top: f64, what: &str) {
    let step = BAR.0 / N_STEPS as f64;
    layer.text("", what, (left, top + 10.0), Font::start(WIDE.tick), None);
    let bar = top + 20.0;
    for number in 0..N_STEPS {
        layer.rectangle((left + number as f64 * step, bar), (step, BAR.1), Ink::Step(number));
    }
    let font = Font::middle(WIDE.note);
    for tick in scale.ticks_within(BAR.0, |label| width_of(label, font.size) + font.size) {
        if tick.label.is_empty() {
            continue;
        }
        let (x, foot) = (left + scale.place(tick.value) * BAR.0, bar + BAR.1);
        layer.line("", &[vec![(x, foot), (x, foot + 5.0)]], Pen::solid(1.0), Some(Ink::Frame));
        layer.text("", &tick.label, (x, foot + 18.0), font, None);
    }
}
