use super::canvas::Place;
use super::layout::{NARROW, WIDE};
use super::legend::spread_out;
use super::palette::{Ink, N_SERIES};
use super::style::MARKERS;
use super::*;
use crate::axis::Scale;

pub(super) fn chart(curves: Vec<Curve>) -> Chart {
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

pub(super) fn curve(label: &str, style: CurveStyle, points: Vec<(f64, f64)>) -> Curve {
    Curve::line(label.to_owned(), style, points)
}

#[test]
fn a_picture_is_one_svg_with_escaped_text_and_the_same_bytes_every_time() {
    let chart = chart(vec![curve("<b>&", CurveStyle::Policy(0), vec![(1.0, 0.0), (1000.0, 9.0)])]);
    let svg = render(&chart);
    assert!(svg.starts_with("<svg ") && svg.trim_end().ends_with("</svg>"));
    assert_eq!(svg.matches("<svg").count(), 1);
    assert!(svg.contains("A &lt;title&gt; &amp; &quot;more&quot;") && svg.contains("&lt;b&gt;&amp;"));
    assert!(!svg.contains("<b>"));
    assert_eq!(svg, render(&chart));
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
        let svg = render(&chart);
        assert!(!svg.contains("NaN") && !svg.contains("inf") && !svg.contains('\u{0}'));
    }
}

/// A browser does not show a picture with a character that XML does not allow.
#[test]
fn characters_that_xml_does_not_allow_are_replaced() {
    let mut chart = chart(vec![curve("a\u{fffe}b", CurveStyle::Policy(0), vec![(0.0, 1.0)])]);
    chart.title = "title\u{ffff}".to_owned();
    chart.subtitle = "subtitle\u{fffe}\u{1}".to_owned();
    chart.categories = vec!["name\u{ffff}".to_owned()];
    let svg = render(&chart);
    assert!(svg.chars().all(crate::text::is_in_xml), "{svg}");
    assert!(svg.contains("a\u{fffd}b") && svg.contains("name\u{fffd}"));
}

/// The value of an attribute of the first element of some markup.
fn attribute<'a>(element: &'a str, name: &str) -> &'a str {
    element.split_once(&format!(" {name}=\"")).unwrap().1.split_once('"').unwrap().0
}

fn number(element: &str, name: &str) -> f64 {
    attribute(element, name).parse().unwrap()
}

/// The wide and the narrow drawing of a picture, with their heights.
fn drawings(svg: &str) -> [(&str, f64); 2] {
    let (wide, narrow) = svg.split_once("<g class=\"narrow").unwrap();
    let wide = wide.split_once("<g class=\"wide").unwrap().1;
    let (whole, _folded) = attribute(svg, "style").split_once(';').unwrap();
    let height = whole.rsplit('/').next().unwrap().parse().unwrap();
    [(wide, number(svg, "height")), (narrow, height)]
}

#[test]
fn each_of_many_labels_has_a_place_of_its_own_in_the_picture() {
    // Beside the picture, or in columns below it.
    for n_labels in [30, 60, 200] {
        let policy = |number: usize| {
            curve(&format!("policy {number:03}"), CurveStyle::Policy(number), vec![(1.0, 0.0), (9.0, 1.0)])
        };
        let svg = render(&chart((0..n_labels).map(policy).collect()));
        for ((drawing, height), layout) in drawings(&svg).into_iter().zip([&WIDE, &NARROW]) {
            let labels = drawing.split("<text").filter(|element| element.contains(">policy "));
            let places: Vec<Place> = labels.map(|text| (number(text, "x"), number(text, "y"))).collect();
            assert_eq!(places.len(), n_labels);
            let inside = |(x, y): &Place| *x < layout.width - 60.0 && *y > 60.0 && *y < height - 6.0;
            assert!(places.iter().all(inside), "{height}: {places:?}");
            if layout.class == WIDE.class {
                assert!(height < if n_labels <= 60 { 1200.0 } else { 2000.0 }, "{height}");
            }
            for (number, one) in places.iter().enumerate() {
                let apart =
                    |other: &Place| (one.0 - other.0).abs() > 100.0 || (one.1 - other.1).abs() >= layout.line;
                assert!(places[..number].iter().all(apart), "{n_labels}: {one:?}");
            }
        }
    }
}

/// A page of 375 pixels has 343 for a figure. The smallest letters that are read without effort are
/// of 11 pixels.
#[test]
fn letters_are_large_enough_on_a_telephone_and_in_a_column_of_a_page() {
    let mut long = chart(vec![curve("a", CurveStyle::Policy(0), vec![(1.0, 0.0), (1000.0, 9.0)])]);
    long.title = "a very long title ".repeat(20);
    long.subtitle = "and a subtitle with everything that can be said ".repeat(8);
    for chart in [chart(Vec::new()), long] {
        let svg = render(&chart);
        for ((drawing, _), (layout, shown)) in
            drawings(&svg).into_iter().zip([(&WIDE, 680.0), (&NARROW, 343.0)])
        {
            let sizes: Vec<f64> =
                drawing.split("<text").skip(1).map(|text| number(text, "font-size")).collect();
            assert!(sizes.len() > 2);
            for size in sizes {
                assert!(size * shown / layout.width >= 11.0, "{}: {size}", layout.class);
            }
        }
    }
    // The page changes from one drawing to the other there.
    assert!(style().contains("@container (max-width: 679px)"));
}

/// Texts stay in the picture, with the usual widths of letters.
#[test]
fn headings_and_labels_do_not_leave_the_picture() {
    let mut chart = chart(vec![
        curve(&"label ".repeat(9), CurveStyle::Policy(0), vec![(1.0, 0.0), (1000.0, 9e6)]),
        curve("b", CurveStyle::Policy(1), vec![(1.0, 0.0), (1000.0, 5e6)]),
        curve(&"M".repeat(60), CurveStyle::Policy(2), vec![(1.0, 0.0), (1000.0, 4e6)]),
        curve(&"@W".repeat(9), CurveStyle::Policy(3), vec![(1.0, 0.0), (1000.0, 3e6)]),
        curve(&("W".repeat(15) + &"i".repeat(40)), CurveStyle::Policy(4), vec![(1.0, 0.0), (1000.0, 2e6)]),
        curve(&"日本語".repeat(20), CurveStyle::Policy(5), vec![(1.0, 0.0), (1000.0, 1e6)]),
    ]);
    chart.title = "title of a figure ".repeat(9);
    let of_letter = |letter: char| match letter {
        'M' => 0.86,
        '@' | 'W' | '日' | '本' | '語' => 1.0,
        'i' => 0.28,
        _ => 0.5,
    };
    chart.subtitle =
        "mean of 20 runs; shaded: 95 % confidence interval; dashed: asymptotic lower bound".to_owned();
    chart.y = Axis::rounded(0.0, 1e7);
    let svg = render(&chart);
    for ((drawing, height), layout) in drawings(&svg).into_iter().zip([&WIDE, &NARROW]) {
        for text in drawing.split("<text").skip(1).filter(|text| !text.contains("rotate(")) {
            let words = text.split_once('>').unwrap().1.split_once('<').unwrap().0;
            let width = words.chars().map(of_letter).sum::<f64>() * number(text, "font-size");
            let x = number(text, "x");
            let left = match text.split_once("text-anchor=\"").map(|(_, rest)| &rest[..3]) {
                Some("end") => x - width,
                Some("mid") => x - width / 2.0,
                _ => x,
            };
            assert!(left >= 0.0 && left + width <= layout.width + 2.0, "{}: {words} {left}", layout.class);
            assert!(number(text, "y") <= height, "{words}");
        }
    }
}

#[test]
fn long_names_of_columns_do_not_stretch_a_picture() {
    for n_names in [2, 40] {
        let places = (0..n_names).map(|place| (f64::from(place), 1.0)).collect();
        let mut chart = chart(vec![curve("a", CurveStyle::Policy(0), places)]);
        chart.x = Axis::new(Scale::Linear, -0.5, f64::from(n_names) - 0.5);
        chart.categories = vec!["name_without_spaces".repeat(5); usize::try_from(n_names).unwrap()];
        let svg = render(&chart);
        assert!(number(&svg, "height") < 800.0);
        // Two lines where there is room, each with an end that shows that there is more.
        let cut = svg.matches('…').count();
        assert!(cut >= 2 * usize::try_from(n_names).unwrap(), "{cut}");
    }
}

#[test]
fn a_picture_has_a_role_a_title_and_a_description() {
    let svg = render(&chart(vec![curve("a", CurveStyle::Policy(0), vec![(1.0, 0.0), (1000.0, 9.0)])]));
    let title = "A &lt;title&gt; &amp; &quot;more&quot;";
    assert_eq!((attribute(&svg, "role"), attribute(&svg, "aria-label")), ("img", title));
    assert!(svg.contains("<title>A &lt;title&gt; &amp; \"more\"</title>"));
    assert!(svg.contains("<desc>mean of 3 runs. a: from 0 at 1 to 9.000 at 1,000.</desc>"), "{svg}");
    // Several pictures share a page.
    assert!(!svg.contains(" id="));
}

/// The data that the script of a page reads.
#[test]
fn a_picture_has_the_values_of_its_curves_once() {
    let mut one = curve("a", CurveStyle::Policy(3), vec![(1.0, 0.0), (12_345.0, 9.123_456), (99_999.0, 9.5)]);
    one.band = vec![(12_345.0, 8.0, 10.0)];
    let mut chart =
        chart(vec![one, curve("bound", CurveStyle::Reference(0), vec![(1.0, f64::NAN), (5.0, 2.0)])]);
    chart.x = Axis::new(Scale::Log, 1.0, 99_999.0);
    let svg = render(&chart);
    assert_eq!(svg.matches("data-points=\"1:0 12345:9.123:8:10 99999:9.5\"").count(), 1);
    assert_eq!(svg.matches("data-points=\"5:2\"").count(), 1);
    for (drawing, _) in drawings(&svg) {
        assert_eq!((attribute(drawing, "data-x"), attribute(drawing, "data-y")), ("log", "linear"));
        // Both scales of both axes, with their words.
        assert!(attribute(drawing, "data-x-log").starts_with("1 99999 1:1 2: "));
        assert!(attribute(drawing, "data-x-linear").starts_with("0 100000 0:0 20000:"));
        assert!(attribute(drawing, "data-y-log").starts_with("2 10 2:2 "), "{drawing}");
        assert_eq!(attribute(drawing, "data-x-log-words"), "round t (log scale)");
        assert_eq!(attribute(drawing, "data-x-linear-words"), "round t");
        for curve in ["0", "1"] {
            assert!(
                drawing.contains(&format!("class=\"curve s3\" color=\"#cc79a7\" data-curve=\"{curve}\""))
                    || curve == "1"
            );
        }
    }
    // Categories have no other scale.
    chart.categories = vec!["x".to_owned(), "y".to_owned()];
    chart.x = Axis::new(Scale::Linear, -0.5, 1.5);
    let svg = render(&chart);
    assert!(!svg.contains("data-x-log") && svg.contains("data-categories=\"x\ny\""));
}

#[test]
fn a_line_leaves_the_frame_at_the_top_and_references_are_dashed() {
    let svg = render(&chart(vec![curve(
        "bound",
        CurveStyle::Reference(1),
        vec![(1.0, 5.0), (10.0, 15.0), (100.0, 15.0), (1000.0, 5.0)],
    )]));
    for (drawing, _) in drawings(&svg) {
        let frame: Vec<f64> =
            attribute(drawing, "data-frame").split(' ').map(|edge| edge.parse().unwrap()).collect();
        let curves = drawing.split_once("<g class=\"curves\"").unwrap().1;
        let line = curves.split("<path").find(|path| path.contains("class=\"line\"")).unwrap();
        assert_eq!(attribute(line, "stroke-dasharray"), "2 3.5");
        let d = attribute(line, "d");
        // Two pieces, one on each side of the part above the frame.
        assert_eq!(d.matches('M').count(), 2, "{d}");
        let heights: Vec<f64> = d
            .split(['M', 'L', ' '])
            .filter(|text| !text.is_empty())
            .skip(1)
            .step_by(2)
            .map(|y| y.parse().unwrap())
            .collect();
        assert!(heights.iter().all(|y| *y >= frame[1] && *y <= frame[3]), "{d}");
    }
    let solid = render(&chart(vec![curve("a", CurveStyle::Policy(0), vec![(1.0, 0.0), (9.0, 9.0)])]));
    assert!(!solid.contains("stroke-dasharray"));
}

#[test]
fn colour_and_marker_together_distinguish_24_policies() {
    let styles: std::collections::BTreeSet<(usize, usize)> =
        (0..24).map(|number| (number % N_SERIES, number % MARKERS.len())).collect();
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
fn a_style_sheet_has_the_colour_of_every_curve() {
    assert_eq!(colour(CurveStyle::Variant(8, 1)), "var(--plot-s0, #0072b2)");
    assert_eq!(colour(CurveStyle::Reference(2)), "var(--plot-reference, #333333)");
    assert!(style().contains(&format!("--plot-{}:", Ink::Series(7).class())));
}

/// The script itself is tested in a browser by hand. This test checks its assumptions: it has no
/// way to make markup of text, fetches nothing, and finds its parts in a picture.
#[test]
fn the_script_makes_no_markup_and_finds_its_parts_in_a_picture() {
    for forbidden in
        ["innerHTML", "outerHTML", "insertAdjacent", "document.write", "eval(", "fetch(", "http", "</"]
    {
        assert!(!SCRIPT.contains(forbidden), "{forbidden}");
    }
    let mut one = curve("a", CurveStyle::Policy(0), vec![(1.0, 1.0), (1000.0, 9.0)]);
    one.band = vec![(1.0, 0.5, 1.5), (1000.0, 8.0, 10.0)];
    let svg = render(&chart(vec![one]));
    let classes: std::collections::BTreeSet<&str> =
        svg.split("class=\"").skip(1).flat_map(|rest| rest.split('"').next().unwrap().split(' ')).collect();
    for part in
        ["curve", "line", "marker", "band", "label", "leader", "x-ticks", "y-ticks", "x-words", "y-words"]
    {
        let in_script = part.split_once('-').map_or(format!(".{part}"), |(_, kind)| format!("-{kind}"));
        assert!(classes.contains(part) && SCRIPT.contains(&in_script), "{part}");
    }
    for name in ["plot", "curve", "label", "points", "frame", "tick", "x", "y", "x-name"] {
        assert!(svg.contains(&format!(" data-{name}=\"")), "{name}");
    }
}
