//! A value of whole runs against the number by which variants differ, with a fitted curve and its
//! 95 % confidence band.

use super::{FigureData, Kind, Plot, PolicyStyles, end_values, runs_in_words};
use crate::axis::{Axis, Scale};
use crate::keys::{POWER, any_text, optional, required};
use crate::least_squares::LeastSquares;
use crate::reading::{KindReader, Requirement};
use crate::series::VariantRuns;
use crate::student::CONFIDENCE;
use crate::svg::{self, Chart, Curve};
use documents::number;
use documents::toml_reader::Error;
use std::fmt::Write as _;
use std::sync::Arc;

pub(super) static KIND: Kind = Kind {
    name: "fit",
    says: "the same of one policy against the variants' `size`, with a curve by least squares, its 95 % confidence band, coefficients and R²; needs at least three variants with a `size`",
    keys: &[
        required("policy", any_text, "a label that all variants have"),
        POWER,
        optional("x-label", any_text, "label of the size axis"),
    ],
    relations: Vec::new,
    needs: &[Requirement::Variants, Requirement::Sizes],
    read,
};

const STEPS: u32 = 60;

/// A value of whole runs against the number by which variants differ, with a fitted curve.
#[derive(Debug, Clone, PartialEq)]
pub struct Fit {
    /// Label of the policy that the curve is fitted to.
    pub policy: String,
    /// The power of the number in the curve.
    pub power: f64,
    /// The label of the horizontal axis.
    pub x_label: Option<String>,
}

fn read(reading: &KindReader<'_, '_>) -> Result<Arc<dyn Plot>, Error> {
    let (power, policy) = (reading.power()?, reading.label("policy")?);
    Ok(Arc::new(Fit { policy, power, x_label: reading.table.optional("x-label")? }))
}

impl Plot for Fit {
    fn draw(&self, title: Option<&str>, shown: FigureData<'_>, styles: &PolicyStyles) -> Option<String> {
        let FigureData::Variants(variants) = shown else { return None };
        Some(svg::render(&chart(self, title, variants, styles)))
    }
}

pub(super) fn chart(
    figure: &Fit,
    title: Option<&str>,
    variants: &[VariantRuns],
    styles: &PolicyStyles,
) -> Chart {
    let results = || variants.iter().map(|variant| &variant.measured.result);
    let compared = end_values::compared(None, results());
    let label = figure.policy.as_str();
    let dots: Vec<(f64, f64)> = variants
        .iter()
        .filter_map(|variant| {
            let (mean, _) = end_values::finite(&variant.measured.result, label, compared)?;
            Some((variant.size?, mean))
        })
        .collect();
    let ends =
        dots.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), dot| (a.min(dot.0), b.max(dot.0)));
    let mut curve = Curve::line(styles.name(label).to_owned(), styles.policy(label), Vec::new());
    curve.dots = dots;
    let mut subtitle = runs_in_words(results());
    if let Some(fit) = LeastSquares::of(&curve.dots, figure.power) {
        for step in 0..=STEPS {
            let x = ends.0 + f64::from(step) / f64::from(STEPS) * (ends.1 - ends.0);
            curve.points.push((x, fit.at(x)));
            curve.band.push((x, fit.at(x) - fit.band(x), fit.at(x) + fit.band(x)));
        }
        let sign = if fit.intercept < 0.0 { "−" } else { "+" };
        let _ = write!(
            subtitle,
            "; line: {} x{} {sign} {}, R² = {}; shaded: its {CONFIDENCE} confidence interval",
            number::significant(fit.slope, 4),
            fit.power_in_words(),
            number::significant(fit.intercept.abs(), 4),
            number::significant(fit.r_squared, 4)
        );
    }
    let heights = curve.dots.iter().chain(&curve.points).map(|point| point.1);
    let (lowest, highest) = heights.fold((0.0, 0.0), |(low, high): (f64, f64), y| (low.min(y), high.max(y)));
    // Some room beside the outermost dots.
    let room = if ends.1 > ends.0 { 0.03 * (ends.1 - ends.0) } else { 1.0 };
    Chart {
        title: title.unwrap_or(compared.heading()).to_owned(),
        subtitle,
        x: Axis::new(Scale::Linear, ends.0 - room, ends.1 + room),
        x_label: figure.x_label.clone().unwrap_or_else(|| "size x".to_owned()),
        y: Axis::rounded(lowest, highest),
        y_label: end_values::in_words(compared, results()),
        categories: Vec::new(),
        curves: vec![curve],
    }
}
