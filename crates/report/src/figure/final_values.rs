//! Final values: regret at the end, stopping time or another value of whole runs, with error bars. The figure compares variants, with one
//! line for each policy, or the policies of a single experiment.

use super::end_values::{compared, in_words, in_words_without_unit, value};
use super::summary;
use super::{Band, Kind, Plot, PolicyStyles, Reading, Requirement, Shown, runs_in_words};
use crate::axis::{Axis, Scale};
use crate::reproduction::fields::{read_quantity, read_reference};
use crate::schema::{Keys, label, names, quantity, scale};
use crate::series::{Simulated, labels};
use crate::student::{self, CONFIDENCE};
use crate::svg::{self, Chart, Curve};
use anyhow::Result;
use experiment::result::{EndValue, Quantity, ResultFile};
use experiment::toml_reader::Error;
use experiment::{Task, number};
use num_traits::ToPrimitive as _;
use std::sync::Arc;

pub(super) static KIND: Kind = Kind {
    name: "final",
    shows: "regret at the end, or a quantity of whole runs, from variant to variant, a line a policy, with 95 % confidence intervals; needs variants, or runs that end with an answer: then from policy to policy",
    is_wide: false,
    needs: &[Requirement::VariantsOrAnswers],
    schema: || {
        let band = names(BANDS);
        let keys = [("scale", scale()), ("band", band), ("relative-to", label()), ("quantity", quantity())];
        Keys::none().optional(keys)
    },
    read: |reading| Ok(Arc::new(read(reading)?)),
};

/// Bands by their names in files.
const BANDS: [(&str, Band); 3] =
    [("none", Band::None), ("confidence", Band::Confidence), ("range", Band::Range)];

/// The distance between the points of two policies of a variant, so that their bars do not hide each other.
const SHIFT: f64 = 0.05;

/// Final values: regret at the end, stopping time or another value of whole runs. Compares variants, or the policies of a single experiment
/// with runs that end with an answer.
#[derive(Debug, Clone, PartialEq)]
pub struct FinalValues {
    /// The value; the main value of the task if absent.
    pub value: Option<EndValue>,
    /// The kind of error bars.
    pub band: Band,
    /// The scale of the vertical axis.
    pub scale: Scale,
    /// Label of the reference policy, if values are shown as shares of that policy's.
    pub relative_to: Option<String>,
}

impl Default for FinalValues {
    fn default() -> Self {
        Self { value: None, band: Band::Confidence, scale: Scale::Linear, relative_to: None }
    }
}

fn read(reading: &Reading<'_, '_>) -> Result<FinalValues, Error> {
    let Reading { table, panel, .. } = reading;
    let mut figure = FinalValues::default();
    figure.scale = reading.scale("scale")?.unwrap_or(figure.scale);
    if let Some(field) = table.field("relative-to") {
        if !panel.has_variants() {
            return Err(field.error("the panel has no variants: leave it out"));
        }
        figure.relative_to = Some(read_reference(&field, panel)?);
    }
    figure.value = read_quantity(table, panel)?;
    figure.band = reading.band(&BANDS)?.unwrap_or(figure.band);
    let of_regret = figure.value.is_none_or(|value| value == EndValue::Regret);
    let plain = of_regret && panel.task() == Task::Regret && figure.relative_to.is_none();
    match table.field("band") {
        Some(field) if figure.band == Band::Range && !plain => {
            Err(field.error("only regrets have a range: expected \"confidence\" or \"none\""))
        }
        _ => Ok(figure),
    }
}

impl Plot for FinalValues {
    fn kind(&self) -> &'static Kind {
        &KIND
    }

    fn draw(&self, title: Option<&str>, shown: Shown<'_>, styles: &PolicyStyles) -> Result<Option<String>> {
        let chart = match shown {
            Shown::Result(result) if result.outcome() == EndValue::Regret => return Ok(None),
            Shown::Result(result) => of_policies(self, title, result, styles),
            Shown::Variants(variants) => chart(self, title, variants, styles),
        };
        svg::render(&chart).map(Some)
    }
}

/// The chart of variants: one line for each policy, one place for each variant.
pub(super) fn chart(
    figure: &FinalValues,
    title: Option<&str>,
    variants: &[Simulated],
    styles: &PolicyStyles,
) -> Chart {
    let reference = figure.relative_to.as_deref();
    let results = || variants.iter().map(|variant| &variant.measured.result);
    let compared = compared(figure.value, results());
    let labels: Vec<&str> = labels(variants).into_iter().filter(|label| Some(*label) != reference).collect();
    let mut curves = Vec::new();
    for (number, label) in labels.iter().enumerate() {
        let shift =
            (number as f64 - (labels.len() as f64 - 1.0) / 2.0) * SHIFT.min(0.6 / labels.len() as f64);
        let (mut points, mut band) = (Vec::new(), Vec::new());
        for (place, variant) in variants.iter().enumerate() {
            let Some((mean, se)) = value(variant, label, reference, compared) else { continue };
            let x = place as f64 + shift;
            points.push((x, mean));
            if let Some((low, high)) = bar(figure, variant, label, (mean, se)) {
                band.push((x, low, high));
            }
        }
        let (label, style) = (styles.name(label).to_owned(), styles.policy(label));
        curves.push(Curve { label, style, points, band, dots: Vec::new() });
    }
    let is_oracle = |curve: &&Curve| {
        let policies = || results().flat_map(|result| &result.policies);
        policies().any(|policy| policy.knows_users() && styles.name(&policy.label) == curve.label)
    };
    let learning: Vec<Curve> = curves.iter().filter(|curve| !is_oracle(curve)).cloned().collect();
    let what = reference.map_or_else(
        || in_words(compared, results()),
        |label| format!("{}, % of {}", in_words_without_unit(compared), styles.name(label)),
    );
    Chart {
        title: title.unwrap_or(compared.heading()).to_owned(),
        subtitle: subtitle(figure.band, &curves, results()),
        summary: summary::of_table(&by_variant(variants, &learning)),
        x: Axis::new(Scale::Linear, -0.5, variants.len() as f64 - 0.5),
        x_label: String::new(),
        y: vertical(&curves, figure.scale).of_counts(reference.is_none() && counts(compared)),
        y_label: what,
        categories: variants.iter().map(|variant| variant.title.clone()).collect(),
        curves,
    }
}

/// The chart of one experiment: one place for each policy, with its value as a label at the right.
fn of_policies(
    figure: &FinalValues,
    title: Option<&str>,
    result: &ResultFile,
    styles: &PolicyStyles,
) -> Chart {
    let compared = compared(figure.value, std::iter::once(result));
    let mut curves = Vec::new();
    for (place, policy) in result.policies.iter().enumerate() {
        let at_the_end = result.at_the_end(&policy.label, compared);
        let Some((mean, se)) = at_the_end.filter(|(mean, se)| mean.is_finite() && !se.is_infinite()) else {
            continue;
        };
        let x = place as f64;
        let bar = student::reach(result.observations().saturating_sub(1))
            .map(|factor| (x, mean - factor * se, mean + factor * se));
        // The stopping time of a run that was cut off is at least what was measured.
        let cut_off = compared == EndValue::Answer(Quantity::StoppingTime)
            && policy.answers().and_then(|answers| answers.stopped).is_some_and(|stopped| stopped < 1.0);
        let value = number::with_error(mean, se);
        curves.push(Curve {
            label: if cut_off { format!("at least {}", number::significant(mean, 4)) } else { value },
            style: styles.policy(&policy.label),
            points: vec![(x, mean)],
            band: bar.into_iter().collect(),
            dots: Vec::new(),
        });
    }
    Chart {
        title: title.unwrap_or(compared.heading()).to_owned(),
        subtitle: subtitle(figure.band, &curves, std::iter::once(result)),
        summary: summary::of_table(&[("", by_policy(result, &curves, styles))]),
        x: Axis::new(Scale::Linear, -0.5, result.policies.len() as f64 - 0.5),
        x_label: String::new(),
        y: vertical(&curves, figure.scale).of_counts(counts(compared)),
        y_label: in_words(compared, std::iter::once(result)),
        categories: result.policies.iter().map(|policy| styles.name(&policy.label).to_owned()).collect(),
        curves,
    }
}

/// The ends of the error bar of a mean with its standard error.
fn bar(figure: &FinalValues, variant: &Simulated, label: &str, (mean, se): (f64, f64)) -> Option<(f64, f64)> {
    let result = &variant.measured.result;
    match figure.band {
        Band::Range => {
            let regret = &result.policy(label)?.curves()?.regret;
            Some((*regret.min.last()?, *regret.max.last()?))
        }
        Band::None => None,
        _ => student::reach(result.observations().saturating_sub(1))
            .map(|factor| (mean - factor * se, mean + factor * se)),
    }
}

fn subtitle<'a>(
    band: Band,
    curves: &[Curve],
    results: impl Iterator<Item = &'a ResultFile> + Clone,
) -> String {
    let bars = match (curves.iter().all(|curve| curve.band.is_empty()), band) {
        (true, _) => String::new(),
        (false, Band::Range) => "; bars: least to most of the runs".to_owned(),
        (false, _) => format!("; bars: {CONFIDENCE} confidence interval"),
    };
    format!("{}{bars}", runs_in_words(results))
}

/// The value of every policy in each variant. Points are beside the place of their variant.
fn by_variant<'a>(variants: &'a [Simulated], curves: &'a [Curve]) -> Vec<(&'a str, Vec<(&'a str, f64)>)> {
    let of = |place: usize| {
        let is_here = |x: f64| libm::round(x) == place as f64;
        let value = |curve: &'a Curve| {
            let (_, value) = curve.points.iter().find(|(x, _)| is_here(*x))?;
            Some((curve.label.as_str(), *value))
        };
        curves.iter().filter_map(value).collect()
    };
    variants.iter().enumerate().map(|(place, variant)| (variant.title.as_str(), of(place))).collect()
}

/// The value of every policy of an experiment. The place of a point is that of its policy.
fn by_policy<'a>(
    result: &'a ResultFile,
    curves: &'a [Curve],
    styles: &'a PolicyStyles,
) -> Vec<(&'a str, f64)> {
    let points = curves.iter().flat_map(|curve| &curve.points);
    let named = |&(x, value): &(f64, f64)| {
        let policy = result.policies.get(x.to_usize()?)?;
        Some((styles.name(&policy.label), value))
    };
    points.filter_map(named).collect()
}

/// Whether a value counts rounds or observations.
fn counts(value: EndValue) -> bool {
    matches!(value, EndValue::Answer(Quantity::StoppingTime | Quantity::Observations))
}

/// The vertical axis: from zero on a linear scale, over all positive values on a logarithmic one.
fn vertical(curves: &[Curve], scale: Scale) -> Axis {
    let points = || curves.iter().flat_map(|curve| curve.points.iter().map(|point| point.1));
    let ends = || curves.iter().flat_map(|curve| curve.band.iter().flat_map(|&(_, low, high)| [low, high]));
    let highest = points().chain(ends()).fold(0.0, f64::max);
    let lowest = points().fold(f64::INFINITY, f64::min);
    match scale {
        Scale::Log if lowest > 0.0 && lowest.is_finite() => {
            let lowest = points().chain(ends()).filter(|&value| value > 0.0).fold(lowest, f64::min);
            // A bar that reaches far below the lowest point is cut.
            Axis::new(
                Scale::Log,
                lowest.max(points().fold(f64::INFINITY, f64::min) / 3.0) / 1.2,
                1.2 * highest,
            )
        }
        _ => Axis::rounded(lowest.min(0.0), highest),
    }
}
