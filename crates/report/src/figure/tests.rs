use super::curves::{OverRounds, OverlaidResult, chart};
use super::fit::Fit;
use super::heat_map::HeatMap;
use super::parameters::Parameters;
use super::subsets::Subsets;
use super::*;
use crate::axis::{Axis, Scale};
use crate::svg::{Chart, CurveStyle};
use crate::synthetic::Synthetic as _;
use click_models::PreferenceMatrix;
use experiment::Measurement;
use experiment::result::{Bound, Curves, MeanSe, Optimum, PolicyResult, PolicySummary, Spread};
use std::collections::BTreeMap;

/// The result of policies with regret `factor * t` at these rounds and deciles at half and twice
/// that. A best list collects ten clicks a round.
fn result(policies: &[(&str, f64)], t: &[u64], bound: f64) -> ResultFile {
    let times = |factor: f64| t.iter().map(|&t| factor * t as f64).collect::<Vec<_>>();
    let policies = policies.iter().map(|&(label, factor)| PolicyResult {
        label: label.to_owned(),
        policy: label.to_owned(),
        delta: None,
        summary: PolicySummary::Curves(Curves {
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
            accuracy: Vec::new(),
        }),
    });
    ResultFile {
        schema: 1,
        name: "synthetic".to_owned(),
        unit: "clicks",
        task: Task::Regret,
        runs: 1500,
        runs_per_draw: None,
        instances: None,
        horizon: t.last().copied(),
        max_steps: None,
        seed: 1,
        policies: policies.collect(),
        paired: Vec::new(),
        bounds: vec![Bound { label: "bound".to_owned(), t: t.to_vec(), value: times(bound) }],
        optimum: Some(Optimum { t: t.to_vec(), clicks: MeanSe { mean: times(10.0), se: times(0.0) } }),
    }
}

fn regret_of(result: &mut ResultFile, policy: usize) -> &mut Spread {
    match &mut result.policies[policy].summary {
        PolicySummary::Curves(curves) => &mut curves.regret,
        PolicySummary::Answers(_) => panic!("no curves"),
    }
}

fn drawn(figure: &impl OverRounds, result: &ResultFile) -> Chart {
    let styles = PolicyStyles::of(result.policies.iter().map(|policy| policy.label.as_str()));
    chart(figure, None, &[OverlaidResult { title: "", result }], &styles)
}

fn regret(rounds: Rounds) -> Regret {
    Regret { rounds, ..Regret::default() }
}

#[test]
fn a_figure_of_regret_has_a_bound_and_bands() {
    let result = result(&[("a", 1.0), ("b", 2.0)], &[1, 10, 100], 0.5);
    let chart = drawn(&Regret::default(), &result);
    let labels: Vec<_> = chart.curves.iter().map(|curve| (&*curve.label, curve.style)).collect();
    assert_eq!(
        labels,
        [("bound", CurveStyle::Reference(0)), ("a", CurveStyle::Policy(0)), ("b", CurveStyle::Policy(1))]
    );
    assert_eq!(chart.curves[1].points, [(1.0, 1.0), (10.0, 10.0), (100.0, 100.0)]);
    let (x, low, high) = chart.curves[1].band[2];
    assert!(x == 100.0 && (low - 80.38).abs() < 0.01 && (high - 119.62).abs() < 0.01);
    assert!(chart.y.to >= 200.0 + 39.2);
    assert_eq!(chart.subtitle, "mean of 1,500 runs; shaded: 95 % confidence interval; dashed: bounds");

    let deciles = regret(Rounds { band: Band::Deciles, ..Rounds::default() });
    assert_eq!(drawn(&deciles, &result).curves[1].band[2], (100.0, 50.0, 200.0));
    let plain = drawn(&regret(Rounds { band: Band::None, ..Rounds::default() }), &result);
    assert!(plain.curves.iter().all(|curve| curve.band.is_empty()));
    assert_eq!(plain.subtitle, "mean of 1,500 runs; dashed: bounds");
}

/// After finitely many rounds regret may be below it.
#[test]
fn a_lower_bound_on_regret_is_called_asymptotic() {
    let mut result = result(&[("a", 1.0)], &[1, 10, 100], 0.5);
    result.bounds[0].label = "lower bound (theorem 1)".to_owned();
    let chart = drawn(&Regret::default(), &result);
    assert_eq!(chart.curves[0].label, "asymptotic lower bound (theorem 1)");
    assert!(chart.subtitle.ends_with("; dashed: asymptotic lower bound"), "{}", chart.subtitle);
    // A lower bound on stopping times is not asymptotic.
    result.bounds[0].t.clear();
    assert_eq!(result.bounds[0].reader_name(), "lower bound (theorem 1)");
}

#[test]
fn the_axis_is_logarithmic_if_more_than_half_of_the_regrets_are_small() {
    let y_label = |factors: &[f64], y_scale: Option<Scale>| {
        let labels: Vec<String> = (0..factors.len()).map(|number| format!("p{number}")).collect();
        let policies: Vec<(&str, f64)> =
            labels.iter().map(String::as_str).zip(factors.iter().copied()).collect();
        let chart = drawn(&Regret { y_scale, ..Regret::default() }, &result(&policies, &[1, 10, 100], 0.5));
        (chart.y.scale == Scale::Log, chart.subtitle)
    };
    let seventeen = [[1.0; 13].as_slice(), &[50.0; 4]].concat();
    assert!(y_label(&seventeen, None).0 && !y_label(&seventeen, Some(Scale::Linear)).0);
    // Half of them is not more than half.
    assert!(!y_label(&[1.0, 1.0, 50.0, 50.0], None).0 && y_label(&[1.0, 1.0, 1.0, 50.0, 50.0], None).0);
    assert!(!y_label(&[1.0, 50.0], None).0 && !y_label(&[], None).0 && !y_label(&[0.0], None).0);
    assert!(!y_label(&[5.0, 6.0, 7.0, 50.0], None).0 && y_label(&[5.0, 6.0, 7.0, 50.0], Some(Scale::Log)).0);
    // Policies without regret do not count, and are named.
    let (is_log, subtitle) = y_label(&[1.0, 0.0, 1.0, 1e-12, 50.0], None);
    assert!(is_log && subtitle.ends_with("; without regret: p1, p3"), "{subtitle}");
}

#[test]
fn a_click_through_rate_is_clicks_by_rounds_from_a_round_on() {
    let rounds = Rounds { from: 10, band: Band::None, ..Rounds::default() };
    let figure = ClickThroughRate { rounds };
    let mut result = result(&[("a", 1.0)], &[1, 10, 100], 0.5);
    result.unit = "value";
    assert_eq!(drawn(&figure, &result).title, "Value per round");
    assert_eq!(drawn(&figure, &result).y_label, "value per round, rounds 1 to t");
    result.unit = "clicks";
    let chart = drawn(&figure, &result);
    assert_eq!((&*chart.title, chart.curves[0].label.as_str()), ("Click-through rate", "optimum"));
    assert_eq!(chart.curves[0].points, [(10.0, 10.0), (100.0, 10.0)]);
    assert_eq!(chart.curves[1].points, [(10.0, 9.0), (100.0, 9.0)]);
}

#[test]
fn a_bound_far_above_the_curves_leaves_the_frame_and_its_label_says_so() {
    let chart = drawn(&Regret::default(), &result(&[("a", 1.0)], &[1, 10, 100], 50.0));
    assert!(chart.y.to < 300.0);
    assert_eq!(chart.curves[0].label, "bound (above)");
}

#[test]
fn few_runs_have_wide_bands_and_one_has_none() {
    let mut result = result(&[("a", 1.0)], &[1, 10, 100], 0.5);
    for (runs, reach) in [(2, 12.706), (3, 4.303), (1500, 1.9616)] {
        result.runs = runs;
        let (_, low, high) = drawn(&Regret::default(), &result).curves[1].band[2];
        // Regret is never negative.
        let expected = (200.0 - high).max(0.0);
        assert!((high - 100.0 - 10.0 * reach).abs() < 0.01 && (low - expected).abs() < 1e-9, "{runs}");
    }
    result.runs = 1;
    let deciles = regret(Rounds { band: Band::Deciles, ..Rounds::default() });
    for chart in [
        drawn(&Regret::default(), &result),
        drawn(&deciles, &result),
        drawn(&ClickThroughRate::default(), &result),
    ] {
        assert!(chart.curves.iter().all(|curve| curve.band.is_empty()));
        assert!(chart.subtitle.starts_with("one run; dashed"), "{}", chart.subtitle);
    }
}

#[test]
fn negative_rounding_errors_stay_in_the_frame() {
    let mut result = result(&[("a", 0.0), ("b", 0.0)], &[1, 10, 100], 0.0);
    regret_of(&mut result, 0).mean = vec![0.0, -1e-12, -2e-12];
    let zero = drawn(&Regret::default(), &result).y;
    assert_eq!(zero, Axis::rounded(0.0, 1.0));
    assert!((0.0..=1.0).contains(&(zero.place(-2e-12) + 1e-9)));
    regret_of(&mut result, 1).mean = vec![-0.5, -3.0, 7.0];
    assert!(drawn(&Regret::default(), &result).y.place(-3.0) >= 0.0);
}

#[test]
fn a_figure_without_points_has_a_note() {
    for scale in [Scale::Log, Scale::Linear] {
        let figure =
            Figure::of(&super::regret::KIND, regret(Rounds { from: 10_000, scale, ..Rounds::default() }));
        let result = result(&[("a", 1.0)], &[1, 10, 100], 0.5);
        let styles = PolicyStyles::of(["a"]);
        let picture = &draw(&[figure], FigureData::Result(&result), &styles)[0].svg;
        assert!(picture.contains("nothing to show"), "{scale:?}");
        assert!(picture.matches("<text").count() < 8, "{scale:?}");
    }
}

#[test]
fn a_policy_has_the_same_style_and_name_in_all_figures() {
    let styles = PolicyStyles::of(["a", "b", "a", "c"]);
    assert_eq!(["a", "b", "c"].map(|label| styles.policy(label)), [0, 1, 2].map(CurveStyle::Policy));
    let names = BTreeMap::from([("a".to_owned(), "The A".to_owned())]);
    let styles = styles.named(names);
    assert_eq!((styles.name("a"), styles.name("b")), ("The A", "b"));
    let result = result(&[("a", 1.0)], &[1, 10], 0.5);
    let chart = chart(&Regret::default(), None, &[OverlaidResult { title: "", result: &result }], &styles);
    assert_eq!((&*chart.curves[1].label, chart.curves[1].style), ("The A", CurveStyle::Policy(0)));
}

#[test]
fn figures_of_one_kind_have_different_files() {
    let figures = [
        Figure::of(&super::regret::KIND, Regret::default()),
        Figure::of(&super::click_through_rate::KIND, ClickThroughRate::default()),
        Figure::of(&super::regret::KIND, Regret::default()),
    ];
    assert_eq!(file_names(&figures), ["regret.svg", "click-through-rate.svg", "regret-2.svg"]);
}

#[test]
fn every_result_can_be_drawn() {
    let mut broken = result(&[("a", 1.0)], &[1, 10], 1.0);
    regret_of(&mut broken, 0).mean[1] = f64::NAN;
    regret_of(&mut broken, 0).se = vec![f64::INFINITY; 2];
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
        let styles = PolicyStyles::of(result.policies.iter().map(|policy| policy.label.as_str()));
        for scale in [Scale::Log, Scale::Linear] {
            for band in [Band::None, Band::Confidence, Band::Deciles] {
                for from in [1, 5, 10_000] {
                    let rounds = Rounds { band, scale, from, ..Rounds::default() };
                    let both = [
                        Figure::of(&super::regret::KIND, regret(rounds.clone())),
                        Figure::of(&super::click_through_rate::KIND, ClickThroughRate { rounds }),
                    ];
                    for picture in draw(&both, FigureData::Result(result), &styles) {
                        assert!(!picture.svg.contains("NaN"), "{}", picture.file);
                    }
                }
            }
        }
    }
}

/// Variants of a panel, given by their titles and runs.
fn variants(all: Vec<(&str, Measurement)>) -> Vec<VariantRuns> {
    let one = |(title, measured): (&str, Measurement)| VariantRuns {
        name: Some(title.to_owned()),
        title: title.to_owned(),
        size: None,
        measured,
    };
    all.into_iter().map(one).collect()
}

/// Two runs with these regrets at round 100, half of them at round 10.
fn two_runs(regrets: [f64; 2]) -> Vec<Vec<f64>> {
    regrets.map(|regret| vec![regret / 2.0, regret]).to_vec()
}

fn measured(policies: &[(&str, [f64; 2])], bound: f64) -> Measurement {
    let policies: Vec<(&str, Vec<Vec<f64>>)> =
        policies.iter().map(|&(label, regrets)| (label, two_runs(regrets))).collect();
    Measurement::synthetic(&[10, 100], &policies).with_bound("bound (theorem 1)", bound)
}

fn overlaid(variants: &[VariantRuns]) -> Vec<(String, CurveStyle)> {
    let shown: Vec<OverlaidResult<'_>> = variants
        .iter()
        .map(|variant| OverlaidResult { title: &variant.title, result: &variant.measured.result })
        .collect();
    let chart = chart(&Regret::default(), None, &shown, &PolicyStyles::of(["a", "b"]));
    chart.curves.into_iter().map(|curve| (curve.label, curve.style)).collect()
}

#[test]
fn variants_share_a_chart_and_equal_bounds_are_drawn_once() {
    let one = |bound: f64| measured(&[("a", [4.0, 6.0])], bound);
    let expect = |variants: &[VariantRuns], expected: &[(&str, CurveStyle)]| {
        let expected: Vec<_> = expected.iter().map(|&(label, style)| (label.to_owned(), style)).collect();
        assert_eq!(overlaid(variants), expected);
    };
    let policies = [("x", CurveStyle::Policy(0)), ("y", CurveStyle::Policy(1))];
    let same = variants(vec![("x", one(1.0)), ("y", one(1.0))]);
    expect(&same, &[&[("bound (theorem 1)", CurveStyle::Reference(0))][..], &policies].concat());
    let own = variants(vec![("x", one(1.0)), ("y", one(1.5))]);
    let bounds = [("bound, x", CurveStyle::ReferenceOf(0, 0)), ("bound, y", CurveStyle::ReferenceOf(1, 0))];
    expect(&own, &[bounds, policies].concat());
    // With several policies, each policy keeps its colour.
    let both = || measured(&[("a", [4.0, 6.0]), ("b", [4.0, 6.0])], 1.0);
    let several = [
        ("bound (theorem 1)", CurveStyle::Reference(0)),
        ("a, x", CurveStyle::Variant(0, 0)),
        ("b, x", CurveStyle::Variant(1, 0)),
        ("a, y", CurveStyle::Variant(0, 1)),
        ("b, y", CurveStyle::Variant(1, 1)),
    ];
    expect(&variants(vec![("x", both()), ("y", both())]), &several);
}

#[test]
fn final_values_have_a_place_for_each_variant() {
    let panel = variants(vec![
        ("x", measured(&[("a", [4.0, 6.0]), ("b", [8.0, 12.0])], 1.0)),
        ("y", measured(&[("a", [4.0, 6.0])], 1.0)),
        ("z", measured(&[("b", [0.0, 0.0]), ("a", [4.0, 6.0])], 1.0)),
    ]);
    let styles = PolicyStyles::of(["a", "b"]);
    let plain = final_values::of_variants(&FinalValues::default(), None, &panel, &styles);
    let labels: Vec<&str> = plain.curves.iter().map(|curve| curve.label.as_str()).collect();
    assert_eq!((labels, plain.curves[0].points.len(), plain.curves[1].points.len()), (vec!["a", "b"], 3, 2));
    assert!(plain.curves[0].points.iter().all(|point| point.1 == 5.0));
    assert_eq!(plain.categories, ["x", "y", "z"]);
}

#[test]
fn curves_of_a_single_variant_are_named_after_policies_alone() {
    let policies = |end: f64| measured(&[("a", [4.0, end]), ("b", [1.0, 2.0])], 1.0);
    let panel = variants(vec![("x", policies(6.0)), ("y", policies(60.0))]);
    let styles = PolicyStyles::of(["a", "b"]);
    let ends = |variant: Option<&str>| -> Vec<(String, f64)> {
        let figure = regret(Rounds { variant: variant.map(str::to_owned), ..Rounds::default() });
        let chart = chart(&figure, None, &super::curves::overlaid(&figure.rounds, &panel), &styles);
        let policies = chart.curves.into_iter().filter(|curve| !curve.style.is_dashed());
        policies.map(|curve| (curve.label, curve.points.last().unwrap().1)).collect()
    };
    let named = |all: &[(&str, f64)]| -> Vec<(String, f64)> {
        all.iter().map(|(label, end)| ((*label).to_owned(), *end)).collect()
    };
    assert_eq!(ends(None), named(&[("a, x", 5.0), ("b, x", 1.5), ("a, y", 32.0), ("b, y", 1.5)]));
    assert_eq!(ends(Some("x")), named(&[("a", 5.0), ("b", 1.5)]));
    assert_eq!(ends(Some("y")), named(&[("a", 32.0), ("b", 1.5)]));
    // A chart without a title of its own tells which one it shows.
    let figure = regret(Rounds { variant: Some("y".to_owned()), ..Rounds::default() });
    let svg = |title: Option<&str>| figure.draw(title, FigureData::Variants(&panel), &styles).unwrap();
    assert!(svg(None).contains("Cumulative regret, y") && !svg(Some("Own")).contains("Own, y"));
}

#[test]
fn a_heat_map_has_a_cell_for_every_policy_of_every_variant() {
    let panel = variants(vec![
        ("x < 1", measured(&[("a", [4.0, 6.0]), ("b", [8.0, 12.0])], 1.0)),
        ("y", measured(&[("b", [8.0, 12.0])], 1.0)),
    ]);
    let figure = Figure::of(&super::heat_map::KIND, HeatMap { relative_to: "b".to_owned() });
    let svg = &draw(&[figure], FigureData::Variants(&panel), &PolicyStyles::of(["a", "b"]))[0].svg;
    assert!(svg.starts_with("<svg ") && svg.trim_end().ends_with("</svg>") && !svg.contains("x < 1"));
    for cell in ["a, x &lt; 1: 50.0 ± 0", "b, x &lt; 1: 100 ± 0", "b, y: 100 ± 0"] {
        assert!(svg.contains(&format!("<title>{cell}</title>")), "{cell}");
    }
    // One cell is empty: the variant y has no a.
    assert_eq!((svg.matches(" ± 0</title>").count(), svg.matches("<rect class=\"empty\"").count()), (3, 1));
}

/// A map is shown in its own size, and is wider if it has many columns.
#[test]
fn the_letters_of_a_heat_map_can_be_read_however_many_columns_it_has() {
    let widths = [1, 4, 40].map(|n_variants| {
        let panel = variants((0..n_variants).map(|_| ("x", measured(&[("a", [4.0, 6.0])], 1.0))).collect());
        let figure = Figure::of(&super::heat_map::KIND, HeatMap { relative_to: "a".to_owned() });
        let svg = draw(&[figure], FigureData::Variants(&panel), &PolicyStyles::of(["a"])).remove(0).svg;
        let number = |element: &str, name: &str| -> f64 {
            element.split_once(&format!(" {name}=\"")).unwrap().1.split_once('"').unwrap().0.parse().unwrap()
        };
        assert!(svg.split("<text").skip(1).all(|text| number(text, "font-size") >= 11.0));
        // The numbers of a cell fit into it.
        for cell in svg.split("<title>").skip(1).filter(|cell| cell.contains("<rect class=\"h")) {
            let width = number(cell.split("<rect").nth(1).unwrap(), "width");
            for text in cell.split("</g>").next().unwrap().split("<text").skip(1) {
                let words = text.split_once('>').unwrap().1.split_once('<').unwrap().0;
                assert!(0.5 * words.chars().count() as f64 * number(text, "font-size") < width, "{words}");
            }
        }
        assert!(svg.contains("class=\"plot whole\""));
        number(&svg, "width")
    });
    assert!(widths[0] < 400.0 && widths[0] < widths[1] && widths[2] > 1000.0, "{widths:?}");
}

#[test]
fn parameters_are_sorted_from_the_largest_to_the_smallest() {
    let numbers = vec![("x".to_owned(), vec![0.2, 0.9, 0.5]), ("y".to_owned(), vec![0.4])];
    let mut figure = Parameters { parameter: "Rows", numbers };
    let chart = parameters::chart(&figure, None);
    let labels: Vec<_> = chart.curves.iter().map(|curve| (&*curve.label, curve.style)).collect();
    assert_eq!(labels, [("x", CurveStyle::Policy(0)), ("y", CurveStyle::Policy(1))]);
    // A few ranks are categories, at the places 0, 1, ...
    assert_eq!(chart.curves[0].points, [(0.0, 0.9), (1.0, 0.5), (2.0, 0.2)]);
    assert_eq!(
        (chart.categories.as_slice(), &*chart.title),
        (&["1", "2", "3"].map(str::to_owned)[..], "Rows, sorted")
    );
    // Many ranks are on an axis of numbers.
    figure.numbers[0].1 = (0..800).map(|item| f64::from(item) / 800.0).collect();
    let chart = parameters::chart(&figure, None);
    assert_eq!((chart.categories.len(), chart.x), (0, Axis::new(Scale::Linear, 0.0, 800.0)));
    assert_eq!((chart.curves[0].points[0], chart.curves[0].points[799]), ((1.0, 0.99875), (800.0, 0.0)));
    // The picture of one experiment is the same as that of variants.
    let panel = variants(vec![("x", measured(&[("a", [4.0, 6.0])], 1.0))]);
    let figures = [Figure::of(&super::parameters::KIND, figure)];
    let draw = |shown| draw(&figures, shown, &PolicyStyles::of(["a"])).remove(0);
    let [alone, both] =
        [FigureData::Result(&panel[0].measured.result), FigureData::Variants(&panel)].map(draw);
    assert_eq!((alone.svg, &*alone.file), (both.svg, "parameters.svg"));
}

fn one_of_each_kind(scale: Scale) -> Vec<Figure> {
    let rounds = Rounds { scale, ..Rounds::default() };
    vec![
        Figure::of(&super::regret::KIND, regret(rounds.clone())),
        Figure::of(&super::click_through_rate::KIND, ClickThroughRate { rounds: rounds.clone() }),
        Figure::of(&super::accuracy::KIND, Accuracy { rounds }),
        Figure::of(&super::final_values::KIND, FinalValues { scale, ..FinalValues::default() }),
        Figure::of(&super::heat_map::KIND, HeatMap { relative_to: "b".to_owned() }),
        Figure::of(&super::parameters::KIND, Parameters { parameter: "", numbers: Vec::new() }),
        Figure::of(
            &super::subsets::KIND,
            Subsets { matrix: PreferenceMatrix::parse("0.5 0.6\n0.4 0.5\n", "two").unwrap() },
        ),
        Figure::of(&super::fit::KIND, Fit { policy: String::new(), power: 1.0, x_label: None }),
    ]
}

#[test]
fn all_variants_can_be_drawn_by_every_kind() {
    let long = "a title as long as titles may be, 40 ....";
    let panels = [
        variants(vec![("x", measured(&[("a", [f64::NAN, 1.0]), ("b", [0.0, 0.0])], 0.0))]),
        variants((0..30).map(|_| (long, measured(&[("a", [1.0, 2.0])], 1.0))).collect()),
        variants(vec![
            ("x", measured(&[("a", [-1e-12, 0.0])], 1.0)),
            ("y", measured(&[("b", [1e300, 1e300])], 1.0)),
        ]),
    ];
    for panel in &panels {
        for scale in [Scale::Linear, Scale::Log] {
            let figures = one_of_each_kind(scale);
            assert_eq!(figures.len(), KINDS.len());
            for Picture { file, svg, .. } in
                draw(&figures, FigureData::Variants(panel), &PolicyStyles::of(["a", "b"]))
            {
                assert!(!svg.contains("NaN") && !svg.contains("inf"), "{file}");
            }
        }
    }
}

#[test]
fn a_fit_has_dots_a_line_and_a_band() {
    let one = |size: f64| VariantRuns {
        name: Some(format!("{size}")),
        title: String::new(),
        size: Some(size),
        measured: measured(&[("a", [3.0 * size + 2.0; 2])], 1.0),
    };
    let all: Vec<VariantRuns> = [1.0, 2.0, 4.0, 8.0].map(one).into();
    let figure = Fit { policy: "a".to_owned(), power: 1.0, x_label: None };
    let chart = super::fit::chart(&figure, None, &all, &PolicyStyles::of(["a"]));
    let [curve] = chart.curves.as_slice() else { panic!("one curve") };
    assert_eq!(curve.dots, [(1.0, 5.0), (2.0, 8.0), (4.0, 14.0), (8.0, 26.0)]);
    assert!((curve.points[60].1 - 26.0).abs() < 1e-9 && curve.band.len() == 61);
    assert_eq!(curve.label, "a");
    assert!(chart.subtitle.contains("; line: 3.000 x + 2.000, R² = 1.000; shaded:"), "{}", chart.subtitle);
    let drawn =
        draw(&[Figure::of(&super::fit::KIND, figure)], FigureData::Variants(&all), &PolicyStyles::of(["a"]));
    assert_eq!(drawn[0].file, "fit.svg");
    assert!(drawn[0].svg.contains("R² = 1.000"));
}
