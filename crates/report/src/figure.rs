//! Which curves a figure shows, from the result of an experiment or of several variants of one.

mod final_values;
mod fit;
mod heat_map;
mod parameters;
mod subsets;

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;

use super::axis::{Axis, Scale};
use super::series::{Simulated, reader_name};
use super::student;
use super::svg::{self, Chart, Curve, Look};
use experiment::Task;
use experiment::number;
use experiment::result::{Bound, EndValue, Optimum, PolicyResult, ResultFile};

/// A figure to draw of a result.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// What it shows.
    pub kind: Kind,
    /// Heading; the kind's own words when absent.
    pub title: Option<String>,
    /// What is shaded around a curve.
    pub band: Band,
    /// How rounds, or ranks, are spread along the horizontal axis; of final values, regrets along the vertical one.
    pub scale: Scale,
    /// How regrets are spread along the vertical axis; when absent, so that they can be told apart ([`told_apart`]).
    pub y_scale: Option<Scale>,
    /// First round shown.
    pub from: u64,
    /// Whether bounds and the optimum are drawn.
    pub references: bool,
    /// Label of the policy of whose values others are shown as a share.
    pub relative_to: Option<String>,
    /// Name of the only variant whose curves are shown; those of all when absent.
    pub variant: Option<String>,
    /// What readers call the parameter that is shown; empty for other kinds.
    pub parameter: &'static str,
    /// Its numbers, of each instance with its name: results do not hold them.
    pub numbers: Vec<(String, Vec<f64>)>,
    /// Which values, of final ones; those that the task is about when absent.
    pub value: Option<EndValue>,
    /// Label of the policy that a curve is fitted to.
    pub policy: Option<String>,
    /// With which power of the number by which variants differ the fitted curve grows.
    pub power: f64,
    /// What that number is, below the horizontal axis.
    pub x_label: Option<String>,
}

/// What a figure shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Cumulative expected regret.
    Regret,
    /// Clicks so far divided by rounds so far.
    ClickThroughRate,
    /// Regret at the end, stopping time or another value of whole runs, from variant to variant; of a single experiment whose runs end
    /// with an answer, from policy to policy.
    Final,
    /// The same as a share of one policy's, a row a policy, a column a variant.
    HeatMap,
    /// Share of the runs that would recommend the best item.
    Accuracy,
    /// One parameter of every instance, its numbers sorted.
    Parameters,
    /// How often a random subset of items has a winner, and an order.
    Subsets,
    /// The same of one policy against the number by which variants differ, with a fitted curve.
    Fit,
}

/// What is shaded around a curve.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Band {
    /// Nothing.
    None,
    /// The mean's 95 % confidence interval by Student's t distribution; nothing for a single run.
    Confidence,
    /// From the first to the last decile of the runs; regret only.
    Deciles,
    /// From the least to the most of the runs; regret only.
    Range,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Regret,
        Self::ClickThroughRate,
        Self::Accuracy,
        Self::Final,
        Self::HeatMap,
        Self::Parameters,
        Self::Subsets,
        Self::Fit,
    ];

    /// Its name in file names and experiments.
    pub fn name(self) -> &'static str {
        match self {
            Self::Regret => "regret",
            Self::ClickThroughRate => "click-through-rate",
            Self::Accuracy => "accuracy",
            Self::Final => "final",
            Self::HeatMap => "heat-map",
            Self::Parameters => "parameters",
            Self::Subsets => "subsets",
            Self::Fit => "fit",
        }
    }
}

impl Figure {
    /// A figure of this kind with every choice at its default.
    pub fn of(kind: Kind) -> Self {
        Self {
            kind,
            title: None,
            band: Band::Confidence,
            scale: if matches!(kind, Kind::Final | Kind::Parameters | Kind::Subsets) {
                Scale::Linear
            } else {
                Scale::Log
            },
            y_scale: None,
            from: 1,
            references: true,
            relative_to: None,
            variant: None,
            parameter: "",
            numbers: Vec::new(),
            value: None,
            policy: None,
            power: 1.0,
            x_label: None,
        }
    }

    /// The figures of an experiment that says nothing about figures; `duels`: of users who compare two items, and so always prefer one.
    pub fn defaults(task: Task, duels: bool) -> Vec<Self> {
        match task {
            Task::Regret if duels => vec![Self::of(Kind::Regret), Self::of(Kind::Accuracy)],
            Task::Regret => vec![Self::of(Kind::Regret), Self::of(Kind::ClickThroughRate)],
            Task::Identify | Task::Budget => vec![Self::of(Kind::Final)],
        }
    }

    /// Those of an experiment with variants.
    pub fn defaults_of_variants(task: Task) -> Vec<Self> {
        match task {
            Task::Regret => vec![Self::of(Kind::Regret), Self::of(Kind::Final)],
            Task::Identify | Task::Budget => vec![Self::of(Kind::Final)],
        }
    }
}

/// Which number, and with it which colour and marker, a policy has in all figures of a report, and under which name.
#[derive(Debug, Clone, Default)]
pub struct Looks {
    /// By label.
    numbers: BTreeMap<String, usize>,
    /// By label, where readers know another name.
    names: BTreeMap<String, String>,
}

impl Looks {
    /// Numbers in order of first appearance.
    pub fn of<'a>(labels: impl IntoIterator<Item = &'a str>) -> Self {
        let mut looks = Self::default();
        for label in labels {
            let next = looks.numbers.len();
            looks.numbers.entry(label.to_owned()).or_insert(next);
        }
        looks
    }

    /// The same with names for readers, by label.
    #[must_use]
    pub fn named(self, names: BTreeMap<String, String>) -> Self {
        Self { names, ..self }
    }

    /// The name of a policy for readers: its label unless it was given another.
    pub fn name<'a>(&'a self, label: &'a str) -> &'a str {
        self.names.get(label).map_or(label, String::as_str)
    }

    /// How the curve of a policy looks.
    pub fn policy(&self, label: &str) -> Look {
        Look::Policy(self.numbers.get(label).copied().unwrap_or(self.numbers.len()))
    }
}

/// Regrets that are closer to zero are zero: they are summed up with rounding errors far smaller.
const NOTHING: f64 = 1e-9;

/// Names of the files of figures: the kind's name, numbered from the second of a kind on.
pub fn file_names(figures: &[Figure]) -> Vec<String> {
    let name = |(index, figure): (usize, &Figure)| {
        let before = figures[..index].iter().filter(|other| other.kind == figure.kind).count();
        let number = if before > 0 { format!("-{}", before + 1) } else { String::new() };
        format!("{}{number}.svg", figure.kind.name())
    };
    figures.iter().enumerate().map(name).collect()
}

/// Draws the figures of a result: the file name and the picture of each. Those that only variants have are left out.
///
/// # Errors
///
/// See [`svg::render`].
pub fn draw(figures: &[Figure], result: &ResultFile, looks: &Looks) -> Result<Vec<(String, String)>> {
    let shown = [Shown { title: "", result }];
    let named = file_names(figures).into_iter().zip(figures);
    named
        .filter_map(|(name, figure)| {
            let chart = match figure.kind {
                Kind::Regret | Kind::ClickThroughRate | Kind::Accuracy => chart(figure, &shown, looks),
                Kind::Parameters => parameters::chart(figure),
                Kind::Subsets => subsets::chart(figure),
                Kind::Final if result.outcome() != EndValue::Regret => {
                    final_values::of_policies(figure, result, looks)
                }
                Kind::Final | Kind::HeatMap | Kind::Fit => return None,
            };
            Some(svg::render(&chart).map(|drawing| (name, drawing)))
        })
        .collect()
}

/// Draws the figures of the variants of an experiment: the file name and the picture of each.
///
/// # Errors
///
/// See [`svg::render`].
pub fn draw_variants(
    figures: &[Figure],
    variants: &[Simulated],
    looks: &Looks,
) -> Result<Vec<(String, String)>> {
    let picture = |figure: &Figure| match figure.kind {
        Kind::Regret | Kind::ClickThroughRate | Kind::Accuracy => {
            svg::render(&chart(figure, &shown(figure, variants), looks))
        }
        Kind::Subsets => svg::render(&subsets::chart(figure)),
        Kind::Final => svg::render(&final_values::chart(figure, variants, looks)),
        Kind::HeatMap => Ok(heat_map::render(figure, variants, looks)),
        Kind::Parameters => svg::render(&parameters::chart(figure)),
        Kind::Fit => svg::render(&fit::chart(figure, variants, looks)),
    };
    let named = file_names(figures).into_iter().zip(figures);
    named.map(|(name, figure)| Ok((name, picture(figure)?))).collect()
}

/// A result among those whose curves a figure lays over each other.
#[derive(Debug, Clone, Copy)]
struct Shown<'a> {
    /// What readers call the variant; empty for a figure of one result.
    title: &'a str,
    result: &'a ResultFile,
}

/// The results of a figure: those of all variants, or of the one it asks for, whose curves are then called after the policies alone.
fn shown<'a>(figure: &Figure, variants: &'a [Simulated]) -> Vec<Shown<'a>> {
    let one = |variant: &'a Simulated| Shown {
        title: if figure.variant.is_none() { &variant.title } else { "" },
        result: &variant.measured.result,
    };
    let wanted = |variant: &&Simulated| figure.variant.is_none() || figure.variant == variant.name;
    variants.iter().filter(wanted).map(one).collect()
}

/// What the regrets of a figure are counted in: "reward" where results differ.
fn unit_of<'a>(results: impl Iterator<Item = &'a ResultFile>) -> &'static str {
    let units: BTreeSet<&str> = results.map(|result| result.unit).collect();
    match units.into_iter().collect::<Vec<_>>()[..] {
        [unit] => unit,
        _ => "reward",
    }
}

/// The curves of a figure.
fn chart(figure: &Figure, variants: &[Shown<'_>], looks: &Looks) -> Chart {
    let labels: BTreeSet<&str> = variants
        .iter()
        .flat_map(|shown| &shown.result.policies)
        .map(|policy| policy.label.as_str())
        .collect();
    let one_policy = labels.len() == 1;
    let mut curves = references(figure, variants, one_policy);
    let bounds_end = highest(&curves);
    let mut policies: Vec<Curve> = Vec::new();
    for (number, Shown { title, result }) in variants.iter().enumerate() {
        let factor = band_factor(result.runs);
        for policy in &result.policies {
            let label = reader_name(looks.name(&policy.label), title, one_policy);
            // Variants of one policy have colours of their own; of several, the policy's with a marker of their own.
            let look = match (title.is_empty(), one_policy) {
                (true, _) => looks.policy(&policy.label),
                (false, true) => Look::Policy(number),
                (false, false) => looks.policy(&policy.label).with_marker(number),
            };
            policies.push(policy_curve(figure, policy, label, look, factor));
        }
    }
    curves.extend(policies.iter().cloned());

    let rounds = curves.iter().flat_map(|curve| curve.points.iter().map(|point| point.0));
    let (first, last) = rounds.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), t| (a.min(t), b.max(t)));
    let first = match figure.scale {
        Scale::Linear => 0.0,
        Scale::Log if figure.from > 1 => first.min(figure.from as f64),
        Scale::Log => first,
    };
    let unit = unit_of(variants.iter().map(|shown| shown.result));
    let y_scale = figure.y_scale.unwrap_or_else(|| told_apart(&policies));
    let (y, y_label) = match figure.kind {
        Kind::Regret if y_scale == Scale::Log => {
            (logarithmic(&mut curves), format!("cumulative expected regret ({unit}, log scale)"))
        }
        Kind::Regret => {
            // A bound far above every curve would flatten them: it may leave the frame at the top.
            let top = highest(&policies);
            let top = if top > 0.0 { top.max(bounds_end.min(1.5 * top)) } else { top.max(bounds_end) };
            // Regret is never negative but for rounding; a band that reaches below zero is cut there.
            let lowest =
                policies.iter().flat_map(|curve| &curve.points).map(|point| point.1).fold(0.0, f64::min);
            (Axis::rounded(lowest, top), format!("cumulative expected regret ({unit})"))
        }
        Kind::Accuracy => (Axis::rounded(0.0, 1.0), EndValue::Accuracy.words().to_owned()),
        _ => (Axis::rounded(lowest(&curves), highest(&curves)), "clicks per round, rounds 1 to t".to_owned()),
    };
    let without: Vec<&str> = policies
        .iter()
        .filter(|policy| !policy.points.is_empty())
        .filter(|policy| curves.iter().any(|curve| curve.label == policy.label && curve.points.is_empty()))
        .map(|policy| policy.label.as_str())
        .collect();
    let left_out =
        if without.is_empty() { String::new() } else { format!("; without regret: {}", without.join(", ")) };
    for curve in &mut curves {
        if curve.points.last().is_some_and(|point| point.1 > y.to()) {
            curve.label.push_str(" (above the frame)");
        }
    }
    Chart {
        title: figure.title.clone().unwrap_or_else(|| match figure.kind {
            Kind::Regret => "Cumulative regret".to_owned(),
            Kind::Accuracy => "Accuracy of what is recommended".to_owned(),
            _ => "Click-through rate".to_owned(),
        }),
        subtitle: subtitle(figure, variants, &curves) + &left_out,
        x: Axis::new(figure.scale, first, last),
        x_label: match figure.scale {
            Scale::Log => "round t (log scale)".to_owned(),
            Scale::Linear => "round t".to_owned(),
        },
        y,
        y_label,
        categories: Vec::new(),
        curves,
    }
}

/// The scale on which regrets can be told apart: the logarithmic one where more than half of the policies with regret end below a tenth of
/// the largest, and would lie on each other at the bottom of a linear axis.
fn told_apart(policies: &[Curve]) -> Scale {
    let ends = policies.iter().filter_map(|curve| Some(curve.points.last()?.1));
    let ends: Vec<f64> = ends.filter(|end| *end > NOTHING).collect();
    let largest = ends.iter().copied().fold(0.0, f64::max);
    let n_low = ends.iter().filter(|end| **end < largest / 10.0).count();
    if 2 * n_low > ends.len() { Scale::Log } else { Scale::Linear }
}

/// A logarithmic axis for all curves, without what is not above 0 but for rounding; a band that reaches far below all curves is cut.
fn logarithmic(curves: &mut [Curve]) -> Axis {
    for curve in curves.iter_mut() {
        curve.points.retain(|point| point.1 > NOTHING);
    }
    let lowest =
        curves.iter().flat_map(|curve| &curve.points).map(|point| point.1).fold(f64::INFINITY, f64::min);
    let highest = highest(curves);
    if !(lowest.is_finite() && highest > lowest) {
        return Axis::rounded(0.0, highest);
    }
    let bottom = lowest / 2.0;
    for curve in curves.iter_mut() {
        curve.band.retain(|&(_, _, high)| high > bottom);
        for (_, low, _) in &mut curve.band {
            *low = low.max(bottom);
        }
    }
    Axis::new(Scale::Log, bottom, 1.2 * highest)
}

/// How many standard errors a 95 % confidence interval reaches to either side; none for one run, whose error is unknown.
fn band_factor(runs: u64) -> Option<f64> {
    let freedom = runs.checked_sub(1).filter(|&freedom| freedom > 0)?;
    Some(student::critical(0.025, freedom))
}

fn policy_curve(
    figure: &Figure,
    policy: &PolicyResult,
    label: String,
    look: Look,
    factor: Option<f64>,
) -> Curve {
    let mut points = Vec::new();
    let mut band = Vec::new();
    let Some(curves) = policy.curves() else {
        return Curve { label, look, points, band, dots: Vec::new() };
    };
    for (index, &t) in curves.t.iter().enumerate().filter(|(_, t)| **t >= figure.from.max(1)) {
        let x = t as f64;
        let (middle, se, spread) = match figure.kind {
            Kind::Regret => {
                let regret = &curves.regret;
                let spread = match figure.band {
                    Band::Range => (regret.min[index], regret.max[index]),
                    _ => (regret.q10[index], regret.q90[index]),
                };
                (regret.mean[index], regret.se[index], Some(spread))
            }
            Kind::Accuracy => match curves.accuracy.get(index) {
                Some(&share) => (share, 0.0, None),
                None => continue,
            },
            _ => (curves.clicks.mean[index] / x, curves.clicks.se[index] / x, None),
        };
        if !middle.is_finite() {
            continue;
        }
        points.push((x, middle));
        let limits = match figure.band {
            Band::None => None,
            Band::Confidence if figure.kind == Kind::Accuracy => None,
            Band::Confidence => factor.map(|factor| (middle - factor * se, middle + factor * se)),
            Band::Deciles | Band::Range => spread.filter(|_| factor.is_some()),
        };
        if let Some((low, high)) = limits.filter(|(low, high)| low.is_finite() && high.is_finite()) {
            band.push((x, low, high));
        }
    }
    Curve { label, look, points, band, dots: Vec::new() }
}

fn references(figure: &Figure, variants: &[Shown<'_>], one_policy: bool) -> Vec<Curve> {
    if !figure.references {
        return Vec::new();
    }
    let curve = |label: String, look: Look, t: &[u64], value: &dyn Fn(usize) -> f64| Curve {
        label,
        look,
        points: t
            .iter()
            .enumerate()
            .filter(|(_, t)| **t >= figure.from.max(1))
            .map(|(index, &t)| (t as f64, value(index)))
            .filter(|point| point.1.is_finite())
            .collect(),
        band: Vec::new(),
        dots: Vec::new(),
    };
    let bounds = |shown: &Shown<'_>| -> Vec<(String, Vec<u64>, Vec<f64>)> {
        let result = shown.result;
        if figure.kind == Kind::Accuracy {
            return Vec::new();
        }
        if figure.kind == Kind::Regret {
            let bound = |bound: &Bound| (bound.reader_name(), bound.t.clone(), bound.value.clone());
            return result.bounds.iter().map(bound).collect();
        }
        let Some(Optimum { t, clicks }) = &result.optimum else { return Vec::new() };
        let rate = t.iter().zip(&clicks.mean).map(|(&t, clicks)| clicks / t as f64).collect();
        vec![("optimum".to_owned(), t.clone(), rate)]
    };
    let mut curves = Vec::new();
    let all: Vec<_> = variants.iter().map(bounds).collect();
    // What is the same for all is drawn once.
    let same = all.windows(2).all(|pair| pair[0] == pair[1]);
    for (variant, (shown, bounds)) in
        variants.iter().zip(&all).enumerate().take(if same { 1 } else { all.len() })
    {
        for (number, (label, t, value)) in bounds.iter().enumerate() {
            // Which theorem it is says the table below; here its variant matters.
            let short = label.split(" (").next().unwrap_or(label);
            let (label, look) = match (same, one_policy) {
                (true, _) => (label.clone(), Look::Reference(number)),
                (false, true) => (format!("{short}, {}", shown.title), Look::ReferenceOf(variant, number)),
                (false, false) => (format!("{short}, {}", shown.title), Look::Reference(variant)),
            };
            curves.push(curve(label, look, t, &|index| value[index]));
        }
    }
    curves
}

/// How many runs: "one run", "mean of 20 runs", "mean of 20 to 100 runs".
fn runs_in_words<'a>(results: impl Iterator<Item = &'a ResultFile> + Clone) -> String {
    let fewest = results.clone().map(|result| result.runs).min().unwrap_or(0);
    let most = results.map(|result| result.runs).max().unwrap_or(0);
    match (fewest, most) {
        (1, 1) => "one run".to_owned(),
        _ if fewest == most => format!("mean of {} runs", number::grouped(most)),
        _ => format!("mean of {} to {} runs", number::grouped(fewest), number::grouped(most)),
    }
}

fn subtitle(figure: &Figure, variants: &[Shown<'_>], curves: &[Curve]) -> String {
    let runs = runs_in_words(variants.iter().map(|shown| shown.result));
    let shaded = curves.iter().any(|curve| !curve.band.is_empty());
    let band = match figure.band {
        Band::Confidence if shaded => "; shaded: 95 % confidence interval",
        Band::Deciles if shaded => "; shaded: first to last decile of the runs",
        Band::Range if shaded => "; shaded: least to most of the runs",
        _ => "",
    };
    let dashed: Vec<&Curve> = curves.iter().filter(|curve| curve.look.is_dashed()).collect();
    let dashed = match figure.kind {
        _ if dashed.is_empty() => "",
        Kind::Regret if dashed.iter().all(|curve| curve.label.starts_with("asymptotic lower bound")) => {
            "; dashed: asymptotic lower bound"
        }
        Kind::Regret => "; dashed: bounds",
        _ => "; dashed: always playing a best list",
    };
    format!("{runs}{band}{dashed}")
}

fn highest(curves: &[Curve]) -> f64 {
    extremes(curves).fold(0.0, f64::max)
}

fn lowest(curves: &[Curve]) -> f64 {
    extremes(curves).fold(f64::INFINITY, f64::min)
}

fn extremes(curves: &[Curve]) -> impl Iterator<Item = f64> + '_ {
    curves.iter().flat_map(|curve| {
        let points = curve.points.iter().map(|point| point.1);
        points.chain(curve.band.iter().flat_map(|&(_, low, high)| [low, high]))
    })
}

#[cfg(test)]
mod tests;
