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
    let looks = Looks::of(result.policies.iter().map(|policy| policy.label.as_str()));
    chart(figure, &[Shown { title: "", result }], &looks)
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
    assert_eq!(chart.subtitle, "mean of 1,500 runs; shaded: 95 % confidence interval; dashed: lower bound");

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
        assert!((high - 100.0 - 10.0 * reach).abs() < 0.01 && (low + high - 200.0).abs() < 1e-9, "{runs}");
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
    let result = result(&[("a", 1.0)], &[1, 10], 0.5);
    let chart = chart(&Figure::of(Kind::Regret), &[Shown { title: "", result: &result }], &looks);
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
