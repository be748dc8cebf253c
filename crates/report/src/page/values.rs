//! Tables of final values: regrets, or stopping times and answers, with printed values, bounds and
//! speeds.

use crate::figure::PolicyStyles;
use crate::html::Html;
use crate::leaderboard::estimate;
use crate::panel::Panel;
use crate::reproduction_report::{PanelReport, VariantReport};
use crate::series;
use crate::svg::{self, CurveStyle};
use documents::number;
use experiment::result::{Bound, EndValue, PolicyResult, Quantity};
use experiment::timing::Timing;
use itertools::Itertools as _;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layout {
    /// One row for each policy of a single simulation.
    Policies,
    /// One row for each variant; all variants have the same policy.
    Variants,
    /// One row for each series, with the value that the paper prints.
    Printed,
    /// One row for each policy, one column for each variant.
    Matrix,
}

impl Layout {
    fn of(panel: &Panel, found: &PanelReport) -> Self {
        if !panel.printed.is_empty() {
            Self::Printed
        } else if !panel.has_variants() {
            Self::Policies
        } else if labels(found).len() == 1 {
            Self::Variants
        } else {
            Self::Matrix
        }
    }
}

/// Returns whether the table needs the whole width of the page.
pub(super) fn needs_width(panel: &Panel, found: &PanelReport) -> bool {
    Layout::of(panel, found) == Layout::Matrix
}

/// Writes the final values of every policy of every variant, with a heading.
pub(super) fn write(html: &mut Html, styles: &PolicyStyles, panel: &Panel, found: &PanelReport) {
    html.element("h3", "", &heading(found));
    write_tables(html, styles, panel, found);
}

/// When the values were reached, as a heading.
pub(super) fn heading(found: &PanelReport) -> String {
    match found.variants.iter().map(|variant| variant.result.horizon).all_equal_value() {
        Ok(Some(horizon)) => format!("After {}", number::counted(horizon, "round")),
        Ok(None) => "When they stopped".to_owned(),
        Err(_) => "At the end".to_owned(),
    }
}

pub(super) fn write_tables(html: &mut Html, styles: &PolicyStyles, panel: &Panel, found: &PanelReport) {
    match (Layout::of(panel, found), found.variants.as_slice()) {
        (Layout::Policies, [alone, ..]) => write_policies(html, styles, alone),
        (Layout::Policies, []) => {}
        (Layout::Variants, _) => write_variants(html, panel, found),
        (Layout::Printed, _) => write_printed(html, styles, panel, found),
        (Layout::Matrix, _) => write_matrix(html, styles, panel, found),
    }
}

/// The labels of the policies of all variants, each once.
fn labels(found: &PanelReport) -> Vec<&str> {
    series::labels(found.variants.iter().map(|variant| &variant.result))
}

fn compared(found: &PanelReport) -> EndValue {
    found.variants.first().map_or(EndValue::Regret, |variant| variant.result.outcome())
}

/// The final values of a policy, with the heads of their columns.
fn columns(found: &VariantReport, policy: &PolicyResult) -> Vec<(&'static str, Html)> {
    let with_se = |head: [&'static str; 2]| if found.result.observations() > 1 { head[0] } else { head[1] };
    let estimate = |mean: f64, se: f64| Html::of(&number::with_error(mean, se));
    let mut columns = Vec::new();
    if let Some(curves) = policy.curves()
        && let Some(last) = curves.t.len().checked_sub(1)
    {
        let (regret, clicks) = (&curves.regret, &curves.clicks);
        let se = regret.se[last];
        columns.push((with_se(["#regret ± se", "#regret"]), estimate(regret.mean[last], se)));
        columns.push(("#10 % quantile", Html::of(&number::beside(regret.q10[last], se))));
        columns.push(("#90 % quantile", Html::of(&number::beside(regret.q90[last], se))));
        // Dueling users prefer one of two items in every round, so there are no clicks to count.
        if let Some(&accuracy) = curves.accuracy.get(last) {
            columns.push(("#accuracy", percent(accuracy)));
        } else {
            let value = estimate(clicks.mean[last], clicks.se[last]);
            columns.push((with_se(["#clicks ± se", "#clicks"]), value));
        }
    }
    if let Some(answers) = policy.answers() {
        // Without an answer none is right or wrong.
        let right = if answers.stopped == Some(0.0) { missing() } else { percent(answers.correct) };
        if let Some(time) = answers.stopping_time {
            let value = if answers.stopped.is_some_and(|stopped| stopped < 1.0) {
                Html::of(&format!("at least {}", number::significant(time.mean, 4)))
            } else {
                estimate(time.mean, time.se)
            };
            columns.push((with_se(["#stopping time ± se", "#stopping time"]), value));
            columns.push(("#right", right.clone()));
            columns.extend(answers.stopped.map(|stopped| ("#stopped", percent(stopped))));
            columns.push(("#shortest", Html::of(&number::fixed(time.min, 0))));
            columns.push(("#longest", Html::of(&number::fixed(time.max, 0))));
        }
        let observations = answers.observations;
        let value = estimate(observations.mean, observations.se);
        columns.push((with_se(["#observations ± se", "#observations"]), value));
        if answers.stopping_time.is_none() {
            columns.push(("#right", right));
        }
    }
    let speed = found.timing.as_ref().map(|timing| rate(timing, &policy.label));
    columns.extend(speed.map(|speed| ("#million rounds a CPU-second", Html::of(&speed))));
    columns
}

fn percent(share: f64) -> Html {
    Html::of(&format!("{} %", number::significant(100.0 * share, 3)))
}

fn rate(timing: &Timing, label: &str) -> String {
    let policy = timing.policies.iter().find(|policy| policy.label == label);
    let rate = policy.and_then(|policy| policy.speed.rounds_per_cpu_second);
    rate.map_or_else(|| "–".to_owned(), |rate| number::fixed(rate / 1e6, 2))
}

/// A name with a spot in the colour of its curve.
fn swatched(style: CurveStyle, name: &str) -> Html {
    let mut html = Html::new();
    html.raw("<span class=\"swatch\" style=\"background:")
        .text(&svg::colour(style))
        .raw("\"></span>")
        .text(name);
    html
}

fn missing() -> Html {
    Html::of("–")
}

/// The names for readers of all bounds, each once.
fn bounds(found: &PanelReport) -> Vec<String> {
    let bounds = found.variants.iter().flat_map(|variant| &variant.result.bounds);
    bounds.map(Bound::reader_name).unique().collect()
}

fn bound(found: &VariantReport, name: &str) -> Html {
    let bound = found.result.bounds.iter().find(|bound| bound.reader_name() == name);
    let value = bound.and_then(|bound| bound.value.last());
    value.map_or_else(missing, |value| Html::of(&number::significant(*value, 4)))
}

/// Writes a table with a row for each name, with these columns; all rows have the same.
fn write_rows(html: &mut Html, head: &str, named: Vec<(Html, Vec<(&str, Html)>)>) {
    let mut heads = Vec::new();
    let mut rows = Vec::new();
    for (name, columns) in named {
        let cells: Vec<Html>;
        (heads, cells) = columns.into_iter().unzip();
        rows.push(std::iter::once(name).chain(cells).collect());
    }
    heads.insert(0, head);
    html.table("narrow", &heads, &rows);
}

fn write_variants(html: &mut Html, panel: &Panel, found: &PanelReport) {
    let bounds = bounds(found);
    let bound_heads: Vec<String> = bounds.iter().map(|name| format!("#{name}")).collect();
    let mut rows = Vec::new();
    for (number, (variant, found)) in panel.variants.iter().zip(&found.variants).enumerate() {
        let Some(policy) = found.result.policies.first() else { continue };
        let mut columns: Vec<(&str, Html)> =
            columns(found, policy).into_iter().filter(|(head, _)| !head.starts_with("#clicks")).collect();
        let rate = columns.pop();
        let bounds = bound_heads.iter().zip(&bounds).map(|(head, name)| (head.as_str(), bound(found, name)));
        columns.extend(bounds.chain(rate));
        rows.push((swatched(CurveStyle::Policy(number), &variant.title), columns));
    }
    write_rows(html, "Variant", rows);
}

fn write_matrix(html: &mut Html, styles: &PolicyStyles, panel: &Panel, found: &PanelReport) {
    let value = compared(found);
    write_matrix_of(html, styles, panel, found, value);
    // Further tables show runs without an answer and with a wrong one, if there are any.
    for quantity in [Quantity::Capped, Quantity::Wrong].map(EndValue::Answer) {
        let has_some = |variant: &VariantReport| {
            let labels = variant.result.policies.iter().map(|policy| policy.label.as_str());
            labels.filter_map(|label| variant.result.at_the_end(label, quantity)).any(|(mean, _)| mean > 0.0)
        };
        if quantity != value && found.variants.iter().any(has_some) {
            write_matrix_of(html, styles, panel, found, quantity);
        }
    }
}

fn write_matrix_of(
    html: &mut Html,
    styles: &PolicyStyles,
    panel: &Panel,
    found: &PanelReport,
    value: EndValue,
) {
    let mut rows = Vec::new();
    for label in labels(found) {
        let cell = |found: &VariantReport| {
            let at_the_end = found.result.at_the_end(label, value);
            at_the_end.map_or_else(missing, |(mean, se)| Html::of(&number::with_error(mean, se)))
        };
        let name = swatched(styles.policy(label), styles.name(label));
        rows.push(std::iter::once(name).chain(found.variants.iter().map(cell)).collect());
    }
    if value == compared(found) {
        for name in bounds(found) {
            let cells = found.variants.iter().map(|found| bound(found, &name));
            rows.push(std::iter::once(Html::of(&name)).chain(cells).collect());
        }
    }
    let titles: Vec<String> = panel.variants.iter().map(|variant| format!("#{}", variant.title)).collect();
    let head = format!("{} ± se", if value == EndValue::Regret { "Regret" } else { value.heading() });
    let heads: Vec<&str> = std::iter::once(head.as_str()).chain(titles.iter().map(String::as_str)).collect();
    html.table("narrow", &heads, &rows);
}

fn write_printed(html: &mut Html, styles: &PolicyStyles, panel: &Panel, found: &PanelReport) {
    let value = compared(found);
    let mut rows = Vec::new();
    for (variant, found) in panel.variants.iter().zip(&found.variants) {
        for policy in &found.result.policies {
            let at_the_end = found.result.at_the_end(&policy.label, value);
            let Some((mean, se)) = at_the_end else { continue };
            let printed = panel.printed.iter().find(|printed| {
                printed.series.variant == variant.name && printed.series.policy == policy.label
            });
            let mut row = vec![
                Html::of(&variant.title),
                swatched(styles.policy(&policy.label), styles.name(&policy.label)),
                Html::of(&number::with_error(mean, se)),
            ];
            match printed {
                Some(printed) => {
                    row.push(Html::of(&estimate(printed.value, printed.se)));
                    // The printed number comes from other runs, so the errors add up in squares.
                    // Without an error it is taken as exact.
                    let error = libm::hypot(se, printed.se.unwrap_or(0.0));
                    let z = if error > 0.0 { (mean - printed.value) / error } else { f64::NAN };
                    row.push(Html::of(&number::fixed(z, 1)));
                }
                None => row.extend([missing(), missing()]),
            }
            row.extend(found.timing.as_ref().map(|timing| Html::of(&rate(timing, &policy.label))));
            rows.push(row);
        }
    }
    let head = format!("#{} ± se", value.words());
    let mut heads = vec!["Variant", "Policy", &head, "#printed ± se", "#z", "#million rounds a CPU-second"];
    if !panel.has_variants() {
        heads.remove(0);
        for row in &mut rows {
            row.remove(0);
        }
    }
    html.table("narrow", &heads, &rows);
}

fn write_policies(html: &mut Html, styles: &PolicyStyles, found: &VariantReport) {
    let row = |policy: &PolicyResult| {
        (swatched(styles.policy(&policy.label), styles.name(&policy.label)), columns(found, policy))
    };
    write_rows(html, "Policy", found.result.policies.iter().map(row).collect());
    write_references(html, found);
}

/// Writes bounds and optimum, for comparison.
fn write_references(html: &mut Html, found: &VariantReport) {
    let mut references: Vec<String> = found.result.bounds.iter().filter_map(Bound::line).collect();
    // Dueling users do not click.
    let curves = || found.result.policies.iter().filter_map(PolicyResult::curves);
    if curves().all(|curves| curves.accuracy.is_empty())
        && let Some(optimum) = &found.result.optimum
        && let (Some(mean), Some(se)) = (optimum.clicks.mean.last(), optimum.clicks.se.last())
    {
        let unit = match found.result.unit {
            "value" => "value",
            // The experiment of this result cannot be read.
            "reward" => "clicks or value",
            _ => "clicks",
        };
        let is_exact = number::is_rounding(*se, *mean);
        let most = if is_exact { number::significant(*mean, 4) } else { number::with_error(*mean, *se) };
        references.push(format!("always a best list: {most} {unit}"));
    }
    if !references.is_empty() {
        html.element("p", "small muted", &format!("For comparison: {}.", references.join("; ")));
    }
    if found.result.bounds.iter().any(Bound::is_asymptotic) {
        html.note(
            "An asymptotic lower bound holds as the number of rounds goes to infinity. At any given round a good policy can be below it.",
        );
    }
}
