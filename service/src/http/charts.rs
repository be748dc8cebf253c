//! Charts of what happened by hour and by day, as SVG.

use crate::engine::{Activity, HOUR};
use documents::number::{counted, fixed, significant};
use std::collections::BTreeMap;
use std::fmt::Write as _;

pub(crate) const WIDTH: f64 = 480.0;
pub(crate) const HEIGHT: f64 = 110.0;

/// The value of a chart for an hour or a day, if there is one, and how it is written.
type Shown = (fn(&Activity) -> Option<f64>, Written);
type Written = fn(f64) -> String;

const SHOWN: [(&str, Shown); 3] = [
    ("Decisions", (|of| Some(of.decisions as f64), |number| fixed(number, 0))),
    (
        "Clicks a list",
        (
            |of| (of.decisions > 0).then(|| of.clicks as f64 / of.decisions as f64),
            |number| significant(number, 3),
        ),
    ),
    ("Time to a click, mean", (|of| (of.clicks > 0).then(|| of.delay as f64 / of.clicks as f64), time)),
];

/// Milliseconds for people.
fn time(milliseconds: f64) -> String {
    in_units(milliseconds, &[(8.64e7, "days"), (3.6e6, "hours"), (6e4, "min"), (1e3, "s"), (0.0, "ms")])
}

/// A number in the first of these units that is not larger.
pub(super) fn in_units(number: f64, units: &[(f64, &str)]) -> String {
    let unit = units.iter().find(|(unit, _)| number >= *unit);
    unit.map_or_else(String::new, |(unit, name)| format!("{} {name}", significant(number / unit.max(1.0), 3)))
}

/// The charts of the last two days by hour, and of the last month by day. Times are those of UTC.
pub(super) fn charts(activity: &BTreeMap<u64, Activity>, now: u64) -> String {
    let mut charts = String::new();
    for (name, hours, parts) in [("hour", 1, 48), ("day", 24, 30)] {
        let last = now / HOUR / hours;
        let part = |back: u64| {
            let first = last.saturating_sub(back) * hours;
            let of = activity.range(first..first + hours).map(|(_, of)| *of);
            of.fold(Activity::default(), std::ops::Add::add)
        };
        let parts: Vec<Activity> = (0..parts).rev().map(part).collect();
        for (title, (shown, written)) in SHOWN {
            let values: Vec<Option<f64>> = parts.iter().map(shown).collect();
            chart(&mut charts, title, name, (&values, written));
        }
    }
    charts
}

/// A bar for each value, the last of which is of the present hour or day.
fn chart(page: &mut String, title: &str, part: &str, (values, written): (&[Option<f64>], Written)) {
    let most = values.iter().flatten().copied().fold(0.0, f64::max);
    let last = values.last().copied().flatten().map_or("none".into(), written);
    let width = WIDTH / values.len() as f64;
    let mut bars = format!("<path d=\"M0 {HEIGHT}H{WIDTH}\"/>");
    for (place, value) in values.iter().enumerate() {
        let (Some(value), back) = (value, values.len() - 1 - place) else { continue };
        let height = if most > 0.0 { value / most * (HEIGHT - 4.0) } else { 0.0 };
        let ago =
            if back == 0 { format!("this {part}") } else { format!("{} ago", counted(back as u64, part)) };
        let title = format!("{ago}: {}", written(*value));
        bar(&mut bars, [place as f64 * width + 1.0, HEIGHT - height, width - 2.0, height], &title);
    }
    let (title, note) = (format!("{title} by {part}"), format!("at most {}, now {last}", written(most)));
    let before = format!("{} {part}s ago", values.len() - 1);
    figure(page, [&title, &note], &bars, [&before, "now"]);
}

/// Adds a bar with its left end, its top, its width and its height.
pub(crate) fn bar(drawing: &mut String, [x, y, width, height]: [f64; 4], title: &str) {
    _ = write!(
        drawing,
        "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\"><title>{title}</title></rect>"
    );
}

/// Adds a drawing of [`WIDTH`] times [`HEIGHT`] with what it is, a note, and what its ends are.
pub(crate) fn figure(page: &mut String, [title, note]: [&str; 2], drawing: &str, [start, end]: [&str; 2]) {
    _ = write!(
        page,
        "<figure><figcaption>{title}<span>{note}</span></figcaption>\
         <svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=img aria-label=\"{title}: {note}\">{drawing}</svg>\
         <p><span>{start}</span><span>{end}</span></p></figure>"
    );
}
