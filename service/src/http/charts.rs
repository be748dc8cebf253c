//! Charts of what happened by hour and by day, as SVG.

use crate::engine::{Activity, HOUR};
use std::collections::BTreeMap;
use std::fmt::Write as _;

const WIDTH: f64 = 480.0;
const HEIGHT: f64 = 110.0;

/// The value of a chart for an hour or a day, if there is one.
type Shown = fn(&Activity) -> Option<f64>;

const SHOWN: [(&str, Shown); 3] = [
    ("Decisions", |of| Some(of.decisions as f64)),
    ("Clicks a list", |of| (of.decisions > 0).then(|| of.clicks as f64 / of.decisions as f64)),
    ("Minutes to a click, mean", |of| (of.clicks > 0).then(|| of.delay as f64 / of.clicks as f64 / 6e4)),
];

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
        for (title, shown) in SHOWN {
            let values: Vec<Option<f64>> = parts.iter().map(shown).collect();
            chart(&mut charts, title, name, &values);
        }
    }
    charts
}

/// A bar for each value, the last of which is of the present hour or day.
fn chart(page: &mut String, title: &str, part: &str, values: &[Option<f64>]) {
    let most = values.iter().flatten().copied().fold(0.0, f64::max);
    let last = values.last().copied().flatten().map_or("none".into(), number);
    let width = WIDTH / values.len() as f64;
    _ = write!(
        page,
        "<figure><figcaption>{title} by {part}<span>at most {}, now {last}</span></figcaption>\
         <svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=img aria-label=\"{title} by {part}: at most {}, now \
         {last}\"><path d=\"M0 {HEIGHT}H{WIDTH}\"/>",
        number(most),
        number(most),
    );
    for (place, value) in values.iter().enumerate() {
        let (Some(value), back) = (value, values.len() - 1 - place) else { continue };
        let height = if most > 0.0 { value / most * (HEIGHT - 4.0) } else { 0.0 };
        let ago = if back == 0 { format!("this {part}") } else { format!("{back} {part}s before") };
        _ = write!(
            page,
            "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{height:.1}\"><title>{ago}: {}</title></rect>",
            place as f64 * width + 1.0,
            HEIGHT - height,
            width - 2.0,
            number(*value),
        );
    }
    _ = write!(
        page,
        "</svg><p><span>{} {part}s before</span><span>now</span></p></figure>",
        values.len() - 1
    );
}

/// A number of three digits or a whole one.
fn number(value: f64) -> String {
    match value {
        _ if value.fract() == 0.0 || value >= 100.0 => format!("{value:.0}"),
        _ if value >= 1.0 => format!("{value:.1}"),
        _ => format!("{value:.3}"),
    }
}
