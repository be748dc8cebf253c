use super::canvas::{Place, UNIT};
use super::curves::dashes;
use super::legend::spread_out;
use super::style::{MARKERS, PALETTE};
use super::*;
use crate::axis::Scale;

fn chart(curves: Vec<Curve>) -> Chart {
    Chart {
        title: "A <title> & \"more\"".to_owned(),
        subtitle: "mean of 3 runs".to_owned(),
        x: Axis::new(Scale::Log, 1.0, 1000.0),
        x_label: "round t".to_owned(),
        y: Axis::rounded(0.0, 10.0),
        y_label: "regret".to_owned(),
        categories: Vec::new(),
        curves,
    }
}

fn curve(label: &str, style: CurveStyle, points: Vec<(f64, f64)>) -> Curve {
    Curve { label: label.to_owned(), style, points, band: Vec::new(), dots: Vec::new() }
}

#[test]
fn a_picture_is_one_svg_with_escaped_text_and_the_same_bytes_every_time() {
    let chart = chart(vec![curve("<b>&", CurveStyle::Policy(0), vec![(1.0, 0.0), (1000.0, 9.0)])]);
    let svg = render(&chart).unwrap();
    assert!(svg.starts_with("<svg xmlns=") && svg.trim_end().ends_with("</svg>"));
    assert_eq!(svg.matches("<svg").count(), 1);
    assert!(svg.contains("A &lt;title&gt; &amp; &quot;more&quot;") && svg.contains("&lt;b&gt;&amp;"));
    assert!(!svg.contains("<b>"));
    assert_eq!(svg, render(&chart).unwrap());
}

#[test]
fn every_chart_can_be_drawn() {
    let empty = chart(Vec::new());
    let no_points = chart(vec![curve("x", CurveStyle::Policy(0), Vec::new())]);
    let one_point = chart(vec![
        Curve { band: vec![(1.0, 0.5, 1.5)], ..curve("x", CurveStyle::Policy(7), vec![(1.0, 1.0)]) },
        curve("y", CurveStyle::Reference(0), vec![(1.0, 2.0)]),
    ]);
    let forty = chart(
        (0..40)
            .map(|i| curve(&"long ".repeat(30), CurveStyle::Policy(i), vec![(1.0, 0.0), (9.0, 1.0)]))
            .collect(),
    );
    let control = chart(vec![curve("a\u{0}\nb", CurveStyle::Policy(0), vec![(1.0, 0.0), (9.0, 1.0)])]);
    let outside =
        chart(vec![curve("bound", CurveStyle::Reference(1), vec![(1.0, 1.0), (5.0, 1e9), (9.0, 2.0)])]);
    for chart in [empty, no_points, one_point, forty, control, outside] {
        let svg = render(&chart).unwrap();
        assert!(!svg.contains("NaN") && !svg.contains('\u{0}'));
    }
}

/// A browser does not show a picture with a character that XML does not allow.
#[test]
fn characters_that_xml_does_not_allow_are_replaced() {
    let mut chart = chart(vec![curve("a\u{fffe}b", CurveStyle::Policy(0), vec![(0.0, 1.0)])]);
    chart.title = "title\u{ffff}".to_owned();
    chart.subtitle = "subtitle\u{fffe}\u{1}".to_owned();
    chart.categories = vec!["name\u{ffff}".to_owned()];
    let svg = render(&chart).unwrap();
    assert!(svg.chars().all(crate::text::is_in_xml), "{svg}");
    assert!(svg.contains("a\u{fffd}b") && svg.contains("name\u{fffd}"));
}

#[test]
fn each_of_many_labels_has_a_place_of_its_own_in_the_picture() {
    // Beside the picture, or in columns below it.
    for n_labels in [30, 60, 200] {
        let policy = |number: usize| {
            curve(&format!("policy {number:03}"), CurveStyle::Policy(number), vec![(1.0, 0.0), (9.0, 1.0)])
        };
        let svg = render(&chart((0..n_labels).map(policy).collect())).unwrap();
        let attribute = |element: &str, name: &str| -> f64 {
            let value = element.split_once(&format!(" {name}=\"")).unwrap().1.split_once('"').unwrap().0;
            value.parse().unwrap()
        };
        let labels = svg.split("<text").filter(|element| element.contains("policy "));
        let places: Vec<Place> =
            labels.map(|text| (attribute(text, "x") / UNIT, attribute(text, "y") / UNIT)).collect();
        assert_eq!(places.len(), n_labels);
        let height = attribute(&svg, "height");
        assert!(places.iter().all(|(x, y)| *x < WIDTH - 60.0 && *y > TOP && *y < height - 8.0), "{places:?}");
        assert!(height < if n_labels <= 60 { MAX_HEIGHT } else { 2000.0 }, "{height}");
        for (number, one) in places.iter().enumerate() {
            let apart =
                |other: &Place| (one.0 - other.0).abs() > 200.0 || (one.1 - other.1).abs() >= LEGEND_LINE;
            assert!(places[..number].iter().all(apart), "{n_labels}: {one:?}");
        }
    }
}

#[test]
fn colour_and_marker_together_distinguish_24_policies() {
    let styles: std::collections::BTreeSet<(usize, usize)> =
        (0..24).map(|number| (number % PALETTE.len(), number % MARKERS)).collect();
    assert_eq!(styles.len(), 24);
}

#[test]
fn labels_are_pushed_apart_and_stay_in_order() {
    let centres = spread_out(&[100.0, 101.0, 102.0, 300.0], &[20.0; 4], 50.0, 400.0);
    assert_eq!(centres, [81.0, 101.0, 121.0, 300.0]);
    let centres = spread_out(&[50.0, 50.0, 399.0, 400.0], &[20.0; 4], 50.0, 400.0);
    assert_eq!(centres, [60.0, 80.0, 370.0, 390.0]);
    let crowded = spread_out(&[200.0; 100], &[20.0; 100], 50.0, 400.0);
    assert!(crowded.windows(2).all(|pair| pair[0] < pair[1]));
    assert!(crowded[0] >= 50.0 && crowded[99] <= 400.0);
}

#[test]
fn a_line_is_cut_into_dashes_and_gaps_of_the_given_lengths() {
    let cut = dashes(&[(0.0, 0.0), (10.0, 0.0), (20.0, 0.0)], (8.0, 4.0));
    assert_eq!(cut, [vec![(0.0, 0.0), (8.0, 0.0)], vec![(12.0, 0.0), (20.0, 0.0)]]);
    assert!(dashes(&[], (8.0, 4.0)).is_empty());
    // A file may hold any numbers. Cutting must still end.
    for far in [1e9, f64::INFINITY, f64::NAN] {
        assert_eq!(dashes(&[(0.0, 0.0), (1.0, far)], (8.0, 4.0)).len(), 1);
    }
}
