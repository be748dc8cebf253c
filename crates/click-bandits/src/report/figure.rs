//! Which curves a figure of an experiment shows, from its result.

use std::collections::BTreeMap;

use anyhow::Result;

use super::axis::{Axis, Scale};
use super::number;
use super::student;
use super::svg::{self, Chart, Curve, Look};
use crate::result::{PolicyResult, ResultFile};

/// A figure to draw of a result.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Figure {
    /// What it shows.
    pub(crate) kind: Kind,
    /// Heading; the kind's own words when absent.
    pub(crate) title: Option<String>,
    /// What is shaded around a curve.
    pub(crate) band: Band,
    /// How rounds are spread along the horizontal axis.
    pub(crate) scale: Scale,
    /// First round shown.
    pub(crate) from: u64,
    /// Whether bounds and the optimum are drawn.
    pub(crate) references: bool,
}

/// What a figure shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Cumulative expected regret.
    Regret,
    /// Clicks so far divided by rounds so far.
    ClickThroughRate,
}

/// What is shaded around a curve.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Band {
    /// Nothing.
    None,
    /// The mean's 95 % confidence interval by Student's t distribution; nothing for a single run.
    Confidence,
    /// From the first to the last decile of the runs; regret only.
    Deciles,
}

impl Kind {
    /// Its name in file names and experiments.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Regret => "regret",
            Self::ClickThroughRate => "click-through-rate",
        }
    }
}

impl Figure {
    /// A figure of this kind with every choice at its default.
    pub(crate) fn of(kind: Kind) -> Self {
        Self { kind, title: None, band: Band::Confidence, scale: Scale::Log, from: 1, references: true }
    }

    /// The figures of an experiment that says nothing about figures.
    pub(crate) fn defaults() -> Vec<Self> {
        vec![Self::of(Kind::Regret), Self::of(Kind::ClickThroughRate)]
    }
}

/// Which number, and with it which colour and marker, a policy has in all figures of a report, and under which name.
#[derive(Debug, Clone, Default)]
pub(crate) struct Looks {
    /// By label.
    numbers: BTreeMap<String, usize>,
    /// By label, where readers know another name.
    names: BTreeMap<String, String>,
}

impl Looks {
    /// Numbers in order of first appearance.
    pub(crate) fn of<'a>(labels: impl IntoIterator<Item = &'a str>) -> Self {
        let mut looks = Self::default();
        for label in labels {
            let next = looks.numbers.len();
            looks.numbers.entry(label.to_owned()).or_insert(next);
        }
        looks
    }

    /// The same with names for readers, by label.
    pub(crate) fn named(self, names: BTreeMap<String, String>) -> Self {
        Self { names, ..self }
    }

    /// The name of a policy for readers: its label unless it was given another.
    pub(crate) fn name<'a>(&'a self, label: &'a str) -> &'a str {
        self.names.get(label).map_or(label, String::as_str)
    }

    /// How the curve of a policy looks.
    pub(crate) fn policy(&self, label: &str) -> Look {
        Look::Policy(self.numbers.get(label).copied().unwrap_or(self.numbers.len()))
    }
}

/// Names of the files of figures: the kind's name, numbered from the second of a kind on.
pub(crate) fn file_names(figures: &[Figure]) -> Vec<String> {
    let name = |(index, figure): (usize, &Figure)| {
        let before = figures[..index].iter().filter(|other| other.kind == figure.kind).count();
        let number = if before > 0 { format!("-{}", before + 1) } else { String::new() };
        format!("{}{number}.svg", figure.kind.name())
    };
    figures.iter().enumerate().map(name).collect()
}

/// Draws the figures of a result: the file name and the picture of each.
///
/// # Errors
///
/// See [`svg::render`].
pub(crate) fn draw(figures: &[Figure], result: &ResultFile, looks: &Looks) -> Result<Vec<(String, String)>> {
    let picture = |figure: &Figure| svg::render(&chart(figure, result, looks));
    let names = file_names(figures).into_iter();
    names.zip(figures).map(|(name, figure)| Ok((name, picture(figure)?))).collect()
}

/// The curves of a figure.
pub(crate) fn chart(figure: &Figure, result: &ResultFile, looks: &Looks) -> Chart {
    let mut curves = references(figure, result);
    let bounds_end = highest(&curves);
    let factor = band_factor(result.runs);
    let policies: Vec<Curve> =
        result.policies.iter().map(|policy| policy_curve(figure, policy, looks, factor)).collect();
    curves.extend(policies.iter().cloned());

    let rounds = curves.iter().flat_map(|curve| curve.points.iter().map(|point| point.0));
    let (first, last) = rounds.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), t| (a.min(t), b.max(t)));
    let first = match figure.scale {
        Scale::Linear => 0.0,
        Scale::Log if figure.from > 1 => first.min(figure.from as f64),
        Scale::Log => first,
    };
    let (y, y_label) = match figure.kind {
        Kind::Regret => {
            // A bound far above every curve would flatten them: it may leave the frame at the top.
            let top = highest(&policies);
            let top = if top > 0.0 { top.max(bounds_end.min(1.5 * top)) } else { top.max(bounds_end) };
            // Regret is never negative but for rounding; a band that reaches below zero is cut there.
            let lowest =
                policies.iter().flat_map(|curve| &curve.points).map(|point| point.1).fold(0.0, f64::min);
            (Axis::rounded(lowest, top), "cumulative expected regret (clicks)")
        }
        Kind::ClickThroughRate => {
            (Axis::rounded(lowest(&curves), highest(&curves)), "clicks per round, rounds 1 to t")
        }
    };
    for curve in &mut curves {
        if curve.points.last().is_some_and(|point| point.1 > y.to()) {
            curve.label.push_str(" (above the frame)");
        }
    }
    Chart {
        title: figure.title.clone().unwrap_or_else(|| match figure.kind {
            Kind::Regret => "Cumulative regret".to_owned(),
            Kind::ClickThroughRate => "Click-through rate".to_owned(),
        }),
        subtitle: subtitle(figure, result, &curves),
        x: Axis::new(figure.scale, first, last),
        x_label: match figure.scale {
            Scale::Log => "round t (log scale)".to_owned(),
            Scale::Linear => "round t".to_owned(),
        },
        y,
        y_label: y_label.to_owned(),
        curves,
    }
}

/// How many standard errors a 95 % confidence interval reaches to either side; none for one run, whose error is unknown.
fn band_factor(runs: u64) -> Option<f64> {
    let freedom = runs.checked_sub(1).filter(|&freedom| freedom > 0)?;
    Some(student::critical(0.025, freedom))
}

fn policy_curve(figure: &Figure, policy: &PolicyResult, looks: &Looks, factor: Option<f64>) -> Curve {
    let mut points = Vec::new();
    let mut band = Vec::new();
    for (index, &t) in policy.t.iter().enumerate().filter(|(_, t)| **t >= figure.from.max(1)) {
        let x = t as f64;
        let (middle, se, spread) = match figure.kind {
            Kind::Regret => {
                let regret = &policy.regret;
                (regret.mean[index], regret.se[index], Some((regret.q10[index], regret.q90[index])))
            }
            Kind::ClickThroughRate => (policy.clicks.mean[index] / x, policy.clicks.se[index] / x, None),
        };
        if !middle.is_finite() {
            continue;
        }
        points.push((x, middle));
        let limits = match figure.band {
            Band::None => None,
            Band::Confidence => factor.map(|factor| (middle - factor * se, middle + factor * se)),
            Band::Deciles => spread.filter(|_| factor.is_some()),
        };
        if let Some((low, high)) = limits.filter(|(low, high)| low.is_finite() && high.is_finite()) {
            band.push((x, low, high));
        }
    }
    Curve { label: looks.name(&policy.label).to_owned(), look: looks.policy(&policy.label), points, band }
}

fn references(figure: &Figure, result: &ResultFile) -> Vec<Curve> {
    if !figure.references {
        return Vec::new();
    }
    let curve = |number: usize, label: &str, t: &[u64], value: &dyn Fn(usize) -> f64| Curve {
        label: label.to_owned(),
        look: Look::Reference(number),
        points: t
            .iter()
            .enumerate()
            .filter(|(_, t)| **t >= figure.from.max(1))
            .map(|(index, &t)| (t as f64, value(index)))
            .filter(|point| point.1.is_finite())
            .collect(),
        band: Vec::new(),
    };
    match figure.kind {
        Kind::Regret => result
            .bounds
            .iter()
            .enumerate()
            .map(|(number, bound)| curve(number, &bound.label, &bound.t, &|index| bound.value[index]))
            .collect(),
        Kind::ClickThroughRate => {
            let optimum = &result.optimum;
            vec![curve(0, "optimum", &optimum.t, &|index| {
                optimum.clicks.mean[index] / optimum.t[index] as f64
            })]
        }
    }
}

fn subtitle(figure: &Figure, result: &ResultFile, curves: &[Curve]) -> String {
    let runs = if result.runs == 1 {
        "one run".to_owned()
    } else {
        format!("mean of {} runs", number::grouped(result.runs))
    };
    let shaded = curves.iter().any(|curve| !curve.band.is_empty());
    let band = match figure.band {
        Band::Confidence if shaded => "; shaded: 95 % confidence interval",
        Band::Deciles if shaded => "; shaded: first to last decile of the runs",
        _ => "",
    };
    let dashed = match (figure.kind, curves.iter().any(|curve| matches!(curve.look, Look::Reference(_)))) {
        (_, false) => "",
        (Kind::Regret, true) => "; dashed: lower bound",
        (Kind::ClickThroughRate, true) => "; dashed: always playing a best list",
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
mod tests {
    use super::*;
    use crate::result::{Bound, MeanSe, Optimum, Spread};

    /// Policies whose regret is `factor * t` at these rounds, spread from half to twice that, of ten clicks a round at best.
    fn result(policies: &[(&str, f64)], t: &[u64], bound: f64) -> ResultFile {
        let times = |factor: f64| t.iter().map(|&t| factor * t as f64).collect::<Vec<_>>();
        let policies = policies.iter().map(|&(label, factor)| PolicyResult {
            label: label.to_owned(),
            policy: label.to_owned(),
            t: t.to_vec(),
            regret: Spread {
                mean: times(factor),
                se: times(factor / 10.0),
                min: times(0.0),
                max: times(3.0 * factor),
                q10: times(factor / 2.0),
                q90: times(2.0 * factor),
            },
            clicks: MeanSe { mean: times(10.0 - factor), se: times(0.1) },
        });
        ResultFile {
            schema: 1,
            name: "synthetic".to_owned(),
            task: "regret".to_owned(),
            runs: 1500,
            horizon: *t.last().unwrap(),
            seed: 1,
            policies: policies.collect(),
            paired: Vec::new(),
            bounds: vec![Bound { label: "bound".to_owned(), t: t.to_vec(), value: times(bound) }],
            optimum: Optimum { t: t.to_vec(), clicks: MeanSe { mean: times(10.0), se: times(0.0) } },
        }
    }

    fn drawn(figure: &Figure, result: &ResultFile) -> Chart {
        chart(figure, result, &Looks::of(result.policies.iter().map(|policy| policy.label.as_str())))
    }

    #[test]
    fn regret_has_its_bound_and_bands() {
        let result = result(&[("a", 1.0), ("b", 2.0)], &[1, 10, 100], 0.5);
        let mut figure = Figure::of(Kind::Regret);
        let chart = drawn(&figure, &result);
        let labels: Vec<_> = chart.curves.iter().map(|curve| (&*curve.label, curve.look)).collect();
        assert_eq!(labels, [("bound", Look::Reference(0)), ("a", Look::Policy(0)), ("b", Look::Policy(1))]);
        assert_eq!(chart.curves[1].points, [(1.0, 1.0), (10.0, 10.0), (100.0, 100.0)]);
        let (x, low, high) = chart.curves[1].band[2];
        assert!(x == 100.0 && (low - 80.38).abs() < 0.01 && (high - 119.62).abs() < 0.01);
        assert!(chart.y.to() >= 200.0 + 39.2);
        assert_eq!(
            chart.subtitle,
            "mean of 1,500 runs; shaded: 95 % confidence interval; dashed: lower bound"
        );

        figure.band = Band::Deciles;
        assert_eq!(drawn(&figure, &result).curves[1].band[2], (100.0, 50.0, 200.0));
        figure.band = Band::None;
        figure.references = false;
        let plain = drawn(&figure, &result);
        assert!(plain.curves.len() == 2 && plain.curves.iter().all(|curve| curve.band.is_empty()));
        assert_eq!(plain.subtitle, "mean of 1,500 runs");
    }

    #[test]
    fn a_click_through_rate_is_clicks_by_rounds_from_a_round_on() {
        let figure = Figure { from: 10, band: Band::None, ..Figure::of(Kind::ClickThroughRate) };
        let chart = drawn(&figure, &result(&[("a", 1.0)], &[1, 10, 100], 0.5));
        assert_eq!(chart.curves[0].label, "optimum");
        assert_eq!(chart.curves[0].points, [(10.0, 10.0), (100.0, 10.0)]);
        assert_eq!(chart.curves[1].points, [(10.0, 9.0), (100.0, 9.0)]);
    }

    #[test]
    fn a_bound_far_above_the_curves_leaves_the_frame_and_says_so() {
        let chart = drawn(&Figure::of(Kind::Regret), &result(&[("a", 1.0)], &[1, 10, 100], 50.0));
        assert!(chart.y.to() < 300.0);
        assert_eq!(chart.curves[0].label, "bound (above the frame)");
    }

    #[test]
    fn few_runs_have_wide_bands_and_one_has_none() {
        let mut result = result(&[("a", 1.0)], &[1, 10, 100], 0.5);
        for (runs, reach) in [(2, 12.706), (3, 4.303), (1500, 1.9616)] {
            result.runs = runs;
            let (_, low, high) = drawn(&Figure::of(Kind::Regret), &result).curves[1].band[2];
            assert!(
                (high - 100.0 - 10.0 * reach).abs() < 0.01 && (low + high - 200.0).abs() < 1e-9,
                "{runs}"
            );
        }
        result.runs = 1;
        for (kind, band) in [
            (Kind::Regret, Band::Confidence),
            (Kind::Regret, Band::Deciles),
            (Kind::ClickThroughRate, Band::Confidence),
        ] {
            let chart = drawn(&Figure { band, ..Figure::of(kind) }, &result);
            assert!(chart.curves.iter().all(|curve| curve.band.is_empty()));
            assert!(chart.subtitle.starts_with("one run; dashed"), "{}", chart.subtitle);
        }
    }

    #[test]
    fn what_rounding_left_below_zero_stays_in_the_frame() {
        let mut result = result(&[("a", 0.0), ("b", 0.0)], &[1, 10, 100], 0.0);
        result.policies[0].regret.mean = vec![0.0, -1e-12, -2e-12];
        let zero = drawn(&Figure::of(Kind::Regret), &result).y;
        assert_eq!(zero, Axis::rounded(0.0, 1.0));
        assert!((0.0..=1.0).contains(&(zero.place(-2e-12) + 1e-9)));
        result.policies[1].regret.mean = vec![-0.5, -3.0, 7.0];
        assert!(drawn(&Figure::of(Kind::Regret), &result).y.place(-3.0) >= 0.0);
    }

    #[test]
    fn a_figure_without_a_point_says_so() {
        for scale in [Scale::Log, Scale::Linear] {
            let figure = Figure { from: 10_000, scale, ..Figure::of(Kind::Regret) };
            let result = result(&[("a", 1.0)], &[1, 10, 100], 0.5);
            let looks = Looks::of(["a"]);
            let picture = &draw(&[figure], &result, &looks).unwrap()[0].1;
            assert!(picture.contains("nothing to show"), "{scale:?}");
            assert!(picture.matches("<text").count() < 8, "{scale:?}");
        }
    }

    #[test]
    fn a_policy_keeps_its_look() {
        let looks = Looks::of(["a", "b", "a", "c"]);
        assert_eq!(["a", "b", "c"].map(|label| looks.policy(label)), [0, 1, 2].map(Look::Policy));
        let names = BTreeMap::from([("a".to_owned(), "The A".to_owned())]);
        let looks = looks.named(names);
        assert_eq!((looks.name("a"), looks.name("b")), ("The A", "b"));
        let chart = chart(&Figure::of(Kind::Regret), &result(&[("a", 1.0)], &[1, 10], 0.5), &looks);
        assert_eq!((&*chart.curves[1].label, chart.curves[1].look), ("The A", Look::Policy(0)));
    }

    #[test]
    fn figures_of_one_kind_have_different_files() {
        let kinds = [Kind::Regret, Kind::ClickThroughRate, Kind::Regret].map(Figure::of);
        assert_eq!(file_names(&kinds), ["regret.svg", "click-through-rate.svg", "regret-2.svg"]);
    }

    #[test]
    fn every_result_can_be_drawn() {
        let mut broken = result(&[("a", 1.0)], &[1, 10], 1.0);
        broken.policies[0].regret.mean[1] = f64::NAN;
        broken.policies[0].regret.se = vec![f64::INFINITY; 2];
        let nine: Vec<(String, f64)> = (1..10).map(|i| (format!("policy {i}"), f64::from(i))).collect();
        let nine: Vec<(&str, f64)> = nine.iter().map(|(label, factor)| (label.as_str(), *factor)).collect();
        let results = [
            result(&[], &[1], 1.0),
            result(&[("a", 1.0)], &[1], 1.0),
            result(&[("a", 0.0), ("b", 0.0)], &[1, 10], 0.0),
            result(&[("a", 1e300)], &[1, 1 << 53], 1.0),
            result(&nine, &[1, 7, 1000], 1.0),
            broken,
        ];
        for result in &results {
            let looks = Looks::of(result.policies.iter().map(|policy| policy.label.as_str()));
            for scale in [Scale::Log, Scale::Linear] {
                for band in [Band::None, Band::Confidence, Band::Deciles] {
                    for kind in [Kind::Regret, Kind::ClickThroughRate] {
                        for from in [1, 5, 10_000] {
                            let figure = Figure { band, scale, from, ..Figure::of(kind) };
                            let pictures = draw(std::slice::from_ref(&figure), result, &looks).unwrap();
                            assert!(!pictures[0].1.contains("NaN"), "{figure:?}");
                        }
                    }
                }
            }
        }
    }
}
