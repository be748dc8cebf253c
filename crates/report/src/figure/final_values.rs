//! Final values: regret at the end, stopping time or another value of whole runs, with error bars.
//! The figure compares variants, with one line for each policy, or the policies of one experiment.

use super::end_values::{compared, finite, in_words};
use super::{Band, FigureData, Kind, Plot, PolicyStyles, runs_in_words};
use crate::axis::{Axis, Scale};
use crate::keys::{QUANTITY, any_text, optional};
use crate::reading::{KindReader, Requirement, read_quantity};
use crate::series::{VariantRuns, labels};
use crate::student::{self, CONFIDENCE};
use crate::svg::{self, Chart, Curve};
use documents::number;
use documents::toml_reader::{Error, schema};
use experiment::result::{EndValue, Quantity, ResultFile};
use spec::Task;
use spec::schema::names;
use std::slice::from_ref;
use std::sync::Arc;

pub(super) static KIND: Kind = Kind {
    name: "final",
    says: "regret at the end, or a quantity of whole runs, from variant to variant, a line a policy, with 95 % confidence intervals; needs variants, or runs that end with an answer: then from policy to policy",
    keys: &[
        optional("scale", schema::<Scale>, "of the values, `\"linear\"` by default, or `\"log\"`"),
        optional(
            "band",
            || names(&["none", "confidence", "range"]),
            "`\"confidence\"` by default, `\"range\"` of the runs (regrets only), or `\"none\"`",
        ),
        QUANTITY,
        optional("x-label", any_text, "label of the axis of the variants"),
    ],
    relations: Vec::new,
    needs: &[Requirement::VariantsOrAnswers],
    read,
};

/// The distance between the points of two policies, so that their bars can be seen.
const SHIFT: f64 = 0.05;

/// Values at the end of runs: of variants, or of the policies of one experiment.
#[derive(Debug, Clone, PartialEq)]
pub struct FinalValues {
    /// The value; the main value of the task if absent.
    pub value: Option<EndValue>,
    /// The kind of error bars.
    pub band: Band,
    /// The scale of the vertical axis.
    pub scale: Scale,
    /// The name of the horizontal axis, if it has one.
    pub x_label: Option<String>,
}

impl Default for FinalValues {
    fn default() -> Self {
        Self { value: None, band: Band::Confidence, scale: Scale::Linear, x_label: None }
    }
}

fn read(reading: &KindReader<'_, '_>) -> Result<Arc<dyn Plot>, Error> {
    let panel = reading.panel()?;
    let scale = reading.word("scale")?.unwrap_or(Scale::Linear);
    let value = read_quantity(reading.table, panel)?;
    let band = reading.word("band")?.unwrap_or(Band::Confidence);
    let is_regret = panel.task() == Task::Regret && value.is_none_or(|value| value == EndValue::Regret);
    match reading.table.field("band") {
        Some(field) if band == Band::Range && !is_regret => {
            Err(field.error("only regrets have a range: expected \"confidence\" or \"none\""))
        }
        _ => {
            let x_label = reading.table.optional("x-label")?;
            Ok(Arc::new(FinalValues { value, band, scale, x_label }))
        }
    }
}

impl Plot for FinalValues {
    fn draw(&self, title: Option<&str>, shown: FigureData<'_>, styles: &PolicyStyles) -> Option<String> {
        Some(svg::render(&match shown {
            FigureData::Result(result) if result.outcome() == EndValue::Regret => return None,
            FigureData::Result(result) => of_policies(self, title, result, styles),
            FigureData::Variants(variants) => of_variants(self, title, variants, styles),
        }))
    }
}

/// The chart of variants: one line for each policy, one place for each variant.
pub(super) fn of_variants(
    figure: &FinalValues,
    title: Option<&str>,
    variants: &[VariantRuns],
    styles: &PolicyStyles,
) -> Chart {
    let results: Vec<&ResultFile> = variants.iter().map(|variant| &variant.measured.result).collect();
    let compared = compared(figure.value, results.iter().copied());
    let labels: Vec<&str> = labels(results.iter().copied());
    let n_labels = labels.len() as f64;
    let mut curves = Vec::new();
    for (number, label) in labels.into_iter().enumerate() {
        let shift = (number as f64 - (n_labels - 1.0) / 2.0) * SHIFT.min(0.6 / n_labels);
        let mut curve = Curve::line(styles.name(label).to_owned(), styles.policy(label), Vec::new());
        for (place, result) in results.iter().enumerate() {
            let Some((mean, se)) = finite(result, label, compared) else { continue };
            let x = place as f64 + shift;
            curve.points.push((x, mean));
            curve.band.extend(bar(figure.band, result, label, (mean, se)).map(|(low, high)| (x, low, high)));
        }
        curves.push(curve);
    }
    let titles = variants.iter().map(|variant| variant.title.clone()).collect();
    chart(figure, title, &results, compared, curves, titles)
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
        let Some((mean, se)) = finite(result, &policy.label, compared) else { continue };
        // The stopping time of a run that was cut off is at least what was measured.
        let cut_off = compared == EndValue::Answer(Quantity::StoppingTime)
            && policy.answers().and_then(|answers| answers.stopped).is_some_and(|stopped| stopped < 1.0);
        let label = if cut_off {
            format!("at least {}", number::significant(mean, 4))
        } else {
            number::with_error(mean, se)
        };
        let mut curve = Curve::line(label, styles.policy(&policy.label), vec![(place as f64, mean)]);
        let ends = bar(Band::Confidence, result, &policy.label, (mean, se));
        curve.band.extend(ends.map(|(low, high)| (place as f64, low, high)));
        curves.push(curve);
    }
    let names = result.policies.iter().map(|policy| styles.name(&policy.label).to_owned()).collect();
    chart(figure, title, from_ref(&result), compared, curves, names)
}

fn chart(
    figure: &FinalValues,
    title: Option<&str>,
    results: &[&ResultFile],
    compared: EndValue,
    curves: Vec<Curve>,
    categories: Vec<String>,
) -> Chart {
    let bars = match (curves.iter().all(|curve| curve.band.is_empty()), figure.band) {
        (true, _) => String::new(),
        (false, Band::Range) => "; bars: least to most of the runs".to_owned(),
        (false, _) => format!("; bars: {CONFIDENCE} confidence interval"),
    };
    let counts = matches!(compared, EndValue::Answer(Quantity::StoppingTime | Quantity::Observations));
    Chart {
        title: title.unwrap_or(compared.heading()).to_owned(),
        subtitle: format!("{}{bars}", runs_in_words(results.iter().copied())),
        x: Axis::new(Scale::Linear, -0.5, categories.len() as f64 - 0.5),
        x_label: figure.x_label.clone().unwrap_or_default(),
        y: vertical(&curves, figure.scale).of_counts(counts),
        y_label: in_words(compared, results.iter().copied()),
        categories,
        curves,
    }
}

/// The ends of the error bar of a mean with its standard error.
fn bar(band: Band, result: &ResultFile, label: &str, (mean, se): (f64, f64)) -> Option<(f64, f64)> {
    match band {
        Band::Range => {
            let regret = &result.policy(label)?.curves()?.regret;
            Some((*regret.min.last()?, *regret.max.last()?))
        }
        Band::None => None,
        _ => student::reach(result.observations().saturating_sub(1))
            .map(|factor| (mean - factor * se, mean + factor * se)),
    }
}

/// The vertical axis: from zero on a linear scale, over all positive values on a logarithmic one.
fn vertical(curves: &[Curve], scale: Scale) -> Axis {
    let points = || curves.iter().flat_map(|curve| curve.points.iter().map(|point| point.1));
    let ends = || curves.iter().flat_map(|curve| curve.band.iter().flat_map(|&(_, low, high)| [low, high]));
    let highest = points().chain(ends()).fold(0.0, f64::max);
    let lowest = points().fold(f64::INFINITY, f64::min);
    match scale {
        Scale::Log if lowest > 0.0 && lowest.is_finite() => {
            let bottom = ends().filter(|&value| value > 0.0).fold(lowest, f64::min);
            // A bar that reaches far below the lowest point is cut.
            Axis::new(Scale::Log, bottom.max(lowest / 3.0) / 1.2, 1.2 * highest)
        }
        _ => Axis::rounded(lowest.min(0.0), highest),
    }
}
