//! Regret at the end, stopping time or another value of whole runs: from variant to variant, a line a policy, with error bars; or from
//! policy to policy.

use super::{Band, Figure, Looks, band_factor, runs_in_words, unit_of};
use crate::axis::{Axis, Scale};
use crate::sample::ratio_of_means;
use crate::series::{Simulated, labels};
use crate::svg::{Chart, Curve};
use experiment::number;
use experiment::result::{EndValue, Quantity, ResultFile};

/// How far apart the points of two policies are, so that their bars do not hide each other.
const SHIFT: f64 = 0.05;

/// The chart of a figure of kind [`super::Kind::Final`].
pub(super) fn chart(figure: &Figure, variants: &[Simulated], looks: &Looks) -> Chart {
    let reference = figure.relative_to.as_deref();
    let results = || variants.iter().map(|variant| &variant.measured.result);
    let compared = compared(figure, results());
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
        let (label, look) = (looks.name(label).to_owned(), looks.policy(label));
        curves.push(Curve { label, look, points, band, dots: Vec::new() });
    }
    let what = reference.map_or_else(
        || in_words(compared, results()),
        |label| format!("{}, % of {}", in_words_without_unit(compared), looks.name(label)),
    );
    Chart {
        title: figure.title.clone().unwrap_or_else(|| compared.heading().to_owned()),
        subtitle: subtitle(figure.band, &curves, figure.scale, results()),
        x: Axis::new(Scale::Linear, -0.5, variants.len() as f64 - 0.5),
        x_label: String::new(),
        y: vertical(&curves, figure.scale),
        y_label: what,
        categories: variants.iter().map(|variant| variant.title.clone()).collect(),
        curves,
    }
}

/// The same of one experiment: a place a policy, its number at the right.
pub(super) fn of_policies(figure: &Figure, result: &ResultFile, looks: &Looks) -> Chart {
    let compared = compared(figure, std::iter::once(result));
    let mut curves = Vec::new();
    for (place, policy) in result.policies.iter().enumerate() {
        let at_the_end = result.at_the_end(&policy.label, compared);
        let Some((mean, se)) = at_the_end.filter(|(mean, se)| mean.is_finite() && se.is_finite()) else {
            continue;
        };
        let x = place as f64;
        let bar = band_factor(result.runs).map(|factor| (x, mean - factor * se, mean + factor * se));
        curves.push(Curve {
            label: number::estimate(mean, se, result.runs),
            look: looks.policy(&policy.label),
            points: vec![(x, mean)],
            band: bar.into_iter().collect(),
            dots: Vec::new(),
        });
    }
    Chart {
        title: figure.title.clone().unwrap_or_else(|| compared.heading().to_owned()),
        subtitle: subtitle(figure.band, &curves, figure.scale, std::iter::once(result)),
        x: Axis::new(Scale::Linear, -0.5, result.policies.len() as f64 - 0.5),
        x_label: String::new(),
        y: vertical(&curves, figure.scale),
        y_label: in_words(compared, std::iter::once(result)),
        categories: result.policies.iter().map(|policy| looks.name(&policy.label).to_owned()).collect(),
        curves,
    }
}

/// The value that a figure shows.
pub(super) fn compared<'a>(figure: &Figure, mut results: impl Iterator<Item = &'a ResultFile>) -> EndValue {
    let of_the_task = || results.next().map_or(EndValue::Regret, ResultFile::outcome);
    figure.value.unwrap_or_else(of_the_task)
}

/// What is shown, with its unit.
pub(super) fn in_words<'a>(compared: EndValue, results: impl Iterator<Item = &'a ResultFile>) -> String {
    match compared {
        EndValue::Regret => format!("expected regret at the end ({})", unit_of(results)),
        EndValue::Answer(Quantity::StoppingTime) => "stopping time (rounds)".to_owned(),
        EndValue::Accuracy | EndValue::Answer(_) => compared.words().to_owned(),
    }
}

/// The same where it is a share.
pub(super) fn in_words_without_unit(compared: EndValue) -> &'static str {
    match compared {
        EndValue::Regret => "regret at the end",
        EndValue::Accuracy | EndValue::Answer(_) => compared.words(),
    }
}

/// From where to where the bar of a mean with its standard error reaches.
fn bar(figure: &Figure, variant: &Simulated, label: &str, (mean, se): (f64, f64)) -> Option<(f64, f64)> {
    let result = &variant.measured.result;
    match figure.band {
        Band::Range => {
            let regret = &result.policy(label)?.curves()?.regret;
            Some((*regret.min.last()?, *regret.max.last()?))
        }
        Band::None => None,
        _ => band_factor(result.runs).map(|factor| (mean - factor * se, mean + factor * se)),
    }
}

fn subtitle<'a>(
    band: Band,
    curves: &[Curve],
    scale: Scale,
    results: impl Iterator<Item = &'a ResultFile> + Clone,
) -> String {
    let bars = match (curves.iter().all(|curve| curve.band.is_empty()), band) {
        (true, _) => "",
        (false, Band::Range) => "; bars: least to most of the runs",
        (false, _) => "; bars: 95 % confidence interval",
    };
    let scale = if scale == Scale::Log { "; log scale" } else { "" };
    format!("{}{bars}{scale}", runs_in_words(results))
}

/// What a policy has at the end of a variant, or its share in per cent of what another policy has, with standard error; nothing if
/// the variant lacks one of them, or if there is no such number.
pub(super) fn value(
    variant: &Simulated,
    label: &str,
    reference: Option<&str>,
    compared: EndValue,
) -> Option<(f64, f64)> {
    let measured = &variant.measured;
    let (mean, se) = match reference {
        None => measured.result.at_the_end(label, compared)?,
        Some(reference) => {
            let (policy, reference) = (measured.policy(label)?, measured.policy(reference)?);
            let (ratio, se) =
                ratio_of_means(&measured.values(policy, compared), &measured.values(reference, compared));
            (100.0 * ratio, 100.0 * se)
        }
    };
    (mean.is_finite() && se.is_finite()).then_some((mean, se))
}

/// The axis of the values: from zero on a linear scale, of all positive ones on a logarithmic one.
fn vertical(curves: &[Curve], scale: Scale) -> Axis {
    let points = || curves.iter().flat_map(|curve| curve.points.iter().map(|point| point.1));
    let ends = || curves.iter().flat_map(|curve| curve.band.iter().flat_map(|&(_, low, high)| [low, high]));
    let highest = points().chain(ends()).fold(0.0, f64::max);
    let lowest = points().fold(f64::INFINITY, f64::min);
    match scale {
        Scale::Log if lowest > 0.0 && lowest.is_finite() => {
            let lowest = points().chain(ends()).filter(|&value| value > 0.0).fold(lowest, f64::min);
            // A bar that reaches down to almost nothing is cut.
            Axis::new(
                Scale::Log,
                lowest.max(points().fold(f64::INFINITY, f64::min) / 3.0) / 1.2,
                1.2 * highest,
            )
        }
        _ => Axis::rounded(lowest.min(0.0), highest),
    }
}
