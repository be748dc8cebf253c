//! `index.html`: the verdict, its path from day to day, and what it rests on.

use documents::number::{fixed, grouped};
use evaluation::online::{HOLDS_ZERO, Kind, LEAST_CLICKS, Look, Outcome};
use report::html::Html;
use report::svg::{Chart, Curve, CurveStyle, render};
use report::{Axis, Scale};

const TITLE: &str = "Which of two rankers is better";
/// Days with names on the axis of the figure.
const NAMED_DAYS: usize = 7;

pub(super) fn page(outcome: &Outcome) -> String {
    let mut html = Html::new();
    html.element("h1", "", TITLE);
    html.paragraph("lead", &outcome.sentence());
    html.list(&outcome.notes());
    if outcome.looks.len() > 1 {
        html.element("h2", "", "Day by day");
        html.figure("", &path(outcome));
    }
    let rows = rows(outcome);
    if !rows.is_empty() {
        let heads = heads(outcome);
        let heads: Vec<String> = heads
            .iter()
            .zip(["", "#", "#", "#", "#", ""])
            .map(|(head, side)| format!("{side}{head}"))
            .collect();
        let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
        html.texts(&heads, rows);
    }
    html.element("h2", "", "What decides");
    html.element("p", "", &rule(outcome));
    html.element("p", "", &format!("Read: {}.", documents::number::counted(outcome.report.lines, "row")));
    html.note("All numbers: `verdict.json`.");
    html.page(TITLE)
}

fn rule(outcome: &Outcome) -> String {
    // A session with a value counts as one with a click.
    let metric = if outcome.is_in_value() { "The value of clicks" } else { "Clicks" };
    let decides = match (outcome.settings.kind, outcome.settings.look) {
        (Kind::Interleaving, _) => format!(
            "A user is won by the ranker with more of the credited clicks. The evidence is a mean of four mixtures of coins; {} \
             decides, at any look. Credit has no sign where users stop at a click: the order inside a list then earns credit and no \
             clicks, and the worse ranker may win. An A/B test compares clicks.",
            fixed(outcome.last().decides, 0)
        ),
        (Kind::Ab, None) => format!(
            "{metric} a session, with errors by user, at any look: a normal mixture decides, not before {} clicks would be expected of \
             the arm with fewer sessions, at the higher of both rates.",
            fixed(LEAST_CLICKS, 0)
        ),
        (Kind::Ab, Some(_)) => format!(
            "{metric} a session, with errors by user, at planned looks after equal numbers of users: O\u{2019}Brien and Fleming\u{2019}s \
             boundary decides."
        ),
    };
    decides
        + " The verdict is that of the last interval; the intervals of all looks hold together, so two without a common value \
               tell that the effect has changed."
}

/// The heads of the table of days.
pub(super) fn heads(outcome: &Outcome) -> [String; 6] {
    let [old, new] = &outcome.names;
    let (estimate, evidence) = match outcome.settings.kind {
        Kind::Interleaving => ("share won".to_owned(), "evidence"),
        Kind::Ab => ("difference".to_owned(), "|z|, decides at"),
    };
    ["day".into(), format!("users {old}, {new}"), estimate, outcome.level(), evidence.into(), String::new()]
}

/// A row for every day.
pub(super) fn rows(outcome: &Outcome) -> Vec<[String; 6]> {
    let row = |look: &Look| {
        let [estimate, interval] = outcome.figures(look);
        let evidence = outcome.evidence(look);
        let state = match look.better {
            Ok(better) => format!("decided: {}", outcome.names[better]),
            Err(HOLDS_ZERO) => String::new(),
            Err(reason) if reason.to_string() == "unknown-error" => "users too few or too alike".to_owned(),
            Err(reason) => reason.to_string().replace('-', " "),
        };
        let users = look.users.map(grouped).join(", ");
        look.date().map(|date| [date, users, estimate, interval, evidence, state])
    };
    outcome.looks.iter().filter_map(row).collect()
}

/// The estimate and its interval, day by day.
fn path(outcome: &Outcome) -> String {
    let looks = &outcome.looks;
    let middle = if outcome.settings.kind == Kind::Ab { 0.0 } else { 0.5 };
    let (scale, unit) = if outcome.settings.kind == Kind::Ab {
        (1.0, format!("{} a session", outcome.metric()))
    } else {
        (100.0, "% of users without a tie".to_owned())
    };
    let of_look = |(place, look): (usize, &Look)| {
        look.estimate.is_finite().then_some((place as f64, scale * look.estimate))
    };
    let points: Vec<(f64, f64)> = looks.iter().enumerate().filter_map(of_look).collect();
    let band: Vec<(f64, f64, f64)> = looks
        .iter()
        .enumerate()
        .filter_map(|(place, look)| {
            look.interval.map(|(low, high)| (place as f64, scale * low, scale * high))
        })
        .collect();
    // Intervals of the first days may be wide, and would flatten the others.
    let width = looks.last().and_then(|look| look.interval).map_or(0.0, |(low, high)| scale * (high - low));
    let distance = |value: f64| (value - scale * middle).abs();
    let widest = band.iter().map(|(_, low, high)| distance(*low).max(distance(*high))).fold(0.0, f64::max);
    let are_cut = widest > 4.0 * width;
    let reach = if are_cut { 2.0 * width } else { widest };
    let far = points.iter().map(|point| distance(point.1)).fold(reach, f64::max);
    let far = if outcome.settings.kind == Kind::Ab { far } else { far.min(50.0) };
    let every = looks.len().div_ceil(NAMED_DAYS).max(1);
    let name = |(place, look): (usize, &Look)| {
        let date = look.date().unwrap_or_default();
        if place % every == 0 { date.get(5..).unwrap_or_default().to_owned() } else { String::new() }
    };
    let last = looks.len() as f64 - 1.0;
    let mut curves = vec![
        Curve::line(
            "no difference".into(),
            CurveStyle::Reference(0),
            vec![(0.0, scale * middle), (last, scale * middle)],
        ),
        Curve { band, ..Curve::line(outcome.names[1].clone(), CurveStyle::Policy(0), points) },
    ];
    let decided = looks.iter().enumerate().filter(|(_, look)| look.better.is_ok());
    let dots: Vec<(f64, f64)> = decided.filter_map(of_look).collect();
    let end: Vec<(f64, f64)> = dots.last().copied().into_iter().collect();
    let decided = Curve { dots, ..Curve::line("decided".into(), CurveStyle::Policy(1), end) };
    curves.extend(Some(decided).filter(|decided| !decided.dots.is_empty()));
    render(&Chart {
        title: format!("{} compared with {}", outcome.names[1], outcome.names[0]),
        subtitle: format!(
            "bars: {} intervals that hold on all days together{}",
            outcome.level(),
            if are_cut { "; the widest are cut" } else { "" }
        ),
        x: Axis::new(Scale::Linear, -0.5, last + 0.5),
        x_label: "day".to_owned(),
        y: Axis::rounded(scale * middle - far, scale * middle + far),
        y_label: unit,
        categories: looks.iter().enumerate().map(name).collect(),
        curves,
    })
}
