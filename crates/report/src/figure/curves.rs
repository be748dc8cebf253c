//! Curves over rounds: of one result, or of all variants in one chart.

use super::{FigureData, Plot, PolicyStyles, runs_in_words, unit_of};
use crate::axis::{Axis, Scale};
use crate::keys::{Key, any_text, optional, round};
use crate::reading::KindReader;
use crate::series::{VariantRuns, reader_name};
use crate::student::{self, CONFIDENCE};
use crate::svg::{self, Chart, Curve, CurveStyle};
use documents::toml_reader::{Error, one_of, schema};
use experiment::result::{Curves, PolicyResult, ResultFile};
use itertools::Itertools as _;
use schemars::JsonSchema;
use serde::Deserialize;
use std::any::Any;
use std::fmt;

/// The settings that all figures over rounds share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rounds {
    /// The band around a curve.
    pub band: Band,
    /// The scale of the horizontal axis.
    pub scale: Scale,
    /// The first round shown.
    pub from: u64,
    /// The name of the only variant shown; all variants are shown if absent.
    pub variant: Option<String>,
}

/// The shaded band around a curve.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Band {
    /// No band.
    None,
    /// The 95 % confidence interval of the mean by Student's t distribution.
    Confidence,
    /// From the first to the last decile of the runs; regret only.
    Deciles,
    /// From the smallest to the largest value of the runs; regret only.
    Range,
}

impl Default for Rounds {
    fn default() -> Self {
        Self { band: Band::Confidence, scale: Scale::Log, from: 1, variant: None }
    }
}

/// The keys that all figures over rounds share, besides `band`.
pub(super) const SCALE: Key =
    optional("scale", schema::<Scale>, "of the rounds, `\"log\"` by default, or `\"linear\"`");
pub(super) const FROM: Key =
    optional("from", round, "the first round shown, at most the horizon (also of `quick`)");
pub(super) const VARIANT: Key =
    optional("variant", any_text, "the only variant shown; all together by default");

impl Rounds {
    /// Reads the shared keys, and `band`.
    pub(super) fn read(reading: &KindReader<'_, '_>) -> Result<Self, Error> {
        let (table, panel, mut rounds) = (reading.table, reading.panel()?, Self::default());
        rounds.band = reading.word("band")?.unwrap_or(rounds.band);
        rounds.scale = reading.word("scale")?.unwrap_or(rounds.scale);
        if let Some(field) = table.field("from") {
            rounds.from = field.get()?;
            let shorter = panel.variants.iter().find(|variant| variant.experiment.horizon() < rounds.from);
            if let Some(variant) = shorter {
                return Err(field.error(format!(
                    "there is nothing to show from round {} on: expected at most the horizon of the {}, {}",
                    rounds.from,
                    variant.described(),
                    variant.experiment.horizon()
                )));
            }
        }
        if let Some(field) = table.field("variant") {
            let known = panel.variants.iter().filter_map(|variant| variant.name.as_deref()).collect_vec();
            rounds.variant = Some(one_of(&field, &known, "variant")?);
        }
        Ok(rounds)
    }
}

/// A figure of curves over rounds.
pub(super) trait OverRounds: Any + fmt::Debug + Send + Sync {
    const TITLE: &'static str;
    /// The title if clicks are worth different amounts.
    const IN_VALUE: &'static str = Self::TITLE;
    fn rounds(&self) -> &Rounds;

    /// The value of a policy at a checkpoint, by its index.
    fn value(&self, curves: &Curves, index: usize) -> Option<Value>;

    /// The references of a result: name, rounds and values.
    fn references(&self, _result: &ResultFile) -> Vec<(String, Vec<u64>, Vec<f64>)> {
        Vec::new()
    }

    /// The vertical axis and its label. `policies` are the curves without references.
    fn vertical(&self, curves: &mut [Curve], policies: &[Curve], unit: &str) -> (Axis, String);

    /// A description of the dashed curves, for the subtitle.
    fn dashed(&self, _dashed: &[&Curve]) -> &'static str {
        ""
    }
}

pub(super) struct Value {
    pub(super) middle: f64,
    pub(super) se: Option<f64>,
    /// The ends of the band over the runs, if known.
    pub(super) spread: Option<(f64, f64)>,
}

impl<T: OverRounds> Plot for T {
    fn draw(&self, title: Option<&str>, shown: FigureData<'_>, styles: &PolicyStyles) -> Option<String> {
        let results = match shown {
            FigureData::Result(result) => vec![OverlaidResult { title: "", result }],
            FigureData::Variants(variants) => overlaid(self.rounds(), variants),
        };
        let mut chart = chart(self, title, &results, styles);
        if let (None, Some(only), FigureData::Variants(all)) = (title, &self.rounds().variant, shown) {
            let names = all.iter().filter(|variant| variant.name.as_ref() == Some(only));
            names.for_each(|variant| chart.title = format!("{}, {}", chart.title, variant.title));
        }
        Some(svg::render(&chart))
    }
}

/// A result of those that a figure draws in one chart.
#[derive(Debug, Clone, Copy)]
pub(super) struct OverlaidResult<'a> {
    /// Name for readers of the variant; empty for a figure of one result.
    pub(super) title: &'a str,
    pub(super) result: &'a ResultFile,
}

/// The results of all variants, or of the only one shown, without its title.
pub(super) fn overlaid<'a>(rounds: &Rounds, variants: &'a [VariantRuns]) -> Vec<OverlaidResult<'a>> {
    let one = |variant: &'a VariantRuns| OverlaidResult {
        title: if rounds.variant.is_none() { &variant.title } else { "" },
        result: &variant.measured.result,
    };
    let wanted = |variant: &&VariantRuns| rounds.variant.is_none() || rounds.variant == variant.name;
    variants.iter().filter(wanted).map(one).collect()
}

pub(super) fn chart<T: OverRounds>(
    figure: &T,
    title: Option<&str>,
    variants: &[OverlaidResult<'_>],
    styles: &PolicyStyles,
) -> Chart {
    let rounds = figure.rounds();
    let labels = variants.iter().flat_map(|shown| &shown.result.policies).map(|policy| &policy.label);
    let one_policy = labels.unique().count() == 1;
    let mut curves = references(figure, variants, one_policy);
    let mut policies: Vec<Curve> = Vec::new();
    for (number, OverlaidResult { title, result }) in variants.iter().enumerate() {
        // A band needs several runs, and one of confidence several observations.
        let factor =
            student::reach(result.observations().saturating_sub(1)).or((result.runs > 1).then_some(f64::NAN));
        for policy in &result.policies {
            let label = reader_name(styles.name(&policy.label), title, one_policy);
            // With a single policy, variants differ in colour. With several, the colour is the
            // policy's and the marker the variant's.
            let style = match (title.is_empty(), one_policy) {
                (true, _) => styles.policy(&policy.label),
                (false, true) => CurveStyle::Policy(number),
                (false, false) => styles.policy(&policy.label).with_marker(number),
            };
            policies.push(policy_curve(figure, policy, label, style, factor));
        }
    }
    curves.extend(policies.iter().cloned());

    let places = curves.iter().flat_map(|curve| curve.points.iter().map(|point| point.0));
    let (first, last) = places.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), t| (a.min(t), b.max(t)));
    let first = match rounds.scale {
        Scale::Linear => 0.0,
        Scale::Log if rounds.from > 1 => first.min(rounds.from as f64),
        Scale::Log => first,
    };
    let unit = unit_of(variants.iter().map(|shown| shown.result));
    let (y, y_label) = figure.vertical(&mut curves, &policies, unit);
    let is_gone = |policy: &&Curve| {
        !policy.points.is_empty()
            && curves.iter().any(|curve| curve.label == policy.label && curve.points.is_empty())
    };
    let without_regret = policies.iter().filter(is_gone).map(|policy| &policy.label).join(", ");
    let left_out =
        if without_regret.is_empty() { String::new() } else { format!("; without regret: {without_regret}") };
    for curve in &mut curves {
        if curve.points.last().is_some_and(|point| point.1 > y.to) {
            curve.label.push_str(svg::ABOVE);
        }
    }
    Chart {
        title: title.unwrap_or(if unit == "value" { T::IN_VALUE } else { T::TITLE }).to_owned(),
        subtitle: subtitle(figure, variants, &curves) + &left_out,
        x: Axis::new(rounds.scale, first, last),
        x_label: "round t".to_owned(),
        y,
        y_label,
        categories: Vec::new(),
        curves,
    }
}

fn policy_curve(
    figure: &impl OverRounds,
    policy: &PolicyResult,
    label: String,
    style: CurveStyle,
    factor: Option<f64>,
) -> Curve {
    let mut curve = Curve::line(label, style, Vec::new());
    let Some(curves) = policy.curves() else { return curve };
    let rounds = figure.rounds();
    for (index, &t) in curves.t.iter().enumerate().filter(|(_, t)| **t >= rounds.from.max(1)) {
        let x = t as f64;
        let Some(Value { middle, se, spread }) = figure.value(curves, index) else { continue };
        if !middle.is_finite() {
            continue;
        }
        curve.points.push((x, middle));
        let limits = match rounds.band {
            Band::None => None,
            Band::Confidence => {
                factor.zip(se).map(|(factor, se)| (middle - factor * se, middle + factor * se))
            }
            Band::Deciles | Band::Range => spread.filter(|_| factor.is_some()),
        };
        if let Some((low, high)) = limits.filter(|(low, high)| low.is_finite() && high.is_finite()) {
            // None of these quantities is negative.
            curve.band.push((x, low.max(0.0), high));
        }
    }
    curve
}

fn references(figure: &impl OverRounds, variants: &[OverlaidResult<'_>], one_policy: bool) -> Vec<Curve> {
    let rounds = figure.rounds();
    let curve = |label: String, style: CurveStyle, t: &[u64], value: &dyn Fn(usize) -> f64| {
        let shown = t.iter().enumerate().filter(|(_, t)| **t >= rounds.from.max(1));
        let points = shown.map(|(index, &t)| (t as f64, value(index))).filter(|point| point.1.is_finite());
        Curve::line(label, style, points.collect())
    };
    let mut curves = Vec::new();
    let all: Vec<_> = variants.iter().map(|shown| figure.references(shown.result)).collect();
    // References that are equal in all results are drawn once.
    let same = all.windows(2).all(|pair| pair[0] == pair[1]);
    for (variant, (shown, bounds)) in
        variants.iter().zip(&all).enumerate().take(if same { 1 } else { all.len() })
    {
        for (number, (label, t, value)) in bounds.iter().enumerate() {
            // The name of the variant replaces that of the theorem.
            let short = label.split(" (").next().unwrap_or(label);
            let (label, style) = match (same, one_policy) {
                (true, _) => (label.clone(), CurveStyle::Reference(number)),
                (false, true) => {
                    (format!("{short}, {}", shown.title), CurveStyle::ReferenceOf(variant, number))
                }
                (false, false) => (format!("{short}, {}", shown.title), CurveStyle::Reference(variant)),
            };
            curves.push(curve(label, style, t, &|index| value[index]));
        }
    }
    curves
}

fn subtitle(figure: &impl OverRounds, variants: &[OverlaidResult<'_>], curves: &[Curve]) -> String {
    let runs = runs_in_words(variants.iter().map(|shown| shown.result));
    let shaded = curves.iter().any(|curve| !curve.band.is_empty());
    let band = match figure.rounds().band {
        Band::Confidence if shaded => format!("; shaded: {CONFIDENCE} confidence interval"),
        Band::Deciles if shaded => "; shaded: first to last decile of the runs".to_owned(),
        Band::Range if shaded => "; shaded: least to most of the runs".to_owned(),
        _ => String::new(),
    };
    let dashed: Vec<&Curve> = curves.iter().filter(|curve| curve.style.is_dashed()).collect();
    let dashed = if dashed.is_empty() { "" } else { figure.dashed(&dashed) };
    format!("{runs}{band}{dashed}")
}

pub(super) fn highest(curves: &[Curve]) -> f64 {
    extremes(curves).fold(0.0, f64::max)
}

pub(super) fn lowest(curves: &[Curve]) -> f64 {
    extremes(curves).fold(f64::INFINITY, f64::min)
}

fn extremes(curves: &[Curve]) -> impl Iterator<Item = f64> + '_ {
    curves.iter().flat_map(|curve| {
        let points = curve.points.iter().map(|point| point.1);
        points.chain(curve.band.iter().flat_map(|&(_, low, high)| [low, high]))
    })
}
