//! What was measured at the end, as tables: regrets beside what the paper prints of them, bounds, speeds.

use super::{PanelReport, VariantReport};
use crate::report::figure::Looks;
use crate::report::html::Html;
use crate::report::number;
use crate::report::svg::{self, Look};
use crate::reproduce::experiment::Panel;

/// How the values are laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layout {
    /// A row a policy, of one simulation.
    Policies,
    /// A row a variant, all with the same policy.
    Variants,
    /// A row a series, beside what the paper prints.
    Printed,
    /// A row a policy, a column a variant.
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

/// Whether the table is as wide as the page.
pub(super) fn needs_width(panel: &Panel, found: &PanelReport) -> bool {
    Layout::of(panel, found) == Layout::Matrix
}

/// What every policy of every variant has at the end.
pub(super) fn write(html: &mut Html, looks: &Looks, panel: &Panel, found: &PanelReport) {
    let mut horizons: Vec<u64> = found.variants.iter().map(|variant| variant.result.horizon).collect();
    horizons.dedup();
    let title = match horizons.as_slice() {
        [one] => format!("After {} rounds", number::grouped(*one)),
        _ => "At the end".to_owned(),
    };
    html.element("h3", "", &title);
    match (Layout::of(panel, found), found.variants.as_slice()) {
        (Layout::Policies, [alone, ..]) => write_policies(html, looks, alone),
        (Layout::Policies, []) => {}
        (Layout::Variants, _) => write_variants(html, panel, found),
        (Layout::Printed, _) => write_printed(html, looks, panel, found),
        (Layout::Matrix, _) => write_matrix(html, looks, panel, found),
    }
}

/// The labels of all variants, each once.
fn labels(found: &PanelReport) -> Vec<&str> {
    let mut labels: Vec<&str> = Vec::new();
    for policy in found.variants.iter().flat_map(|variant| &variant.result.policies) {
        if !labels.contains(&policy.label.as_str()) {
            labels.push(&policy.label);
        }
    }
    labels
}

/// Regret at the end and its standard error.
fn regret(found: &VariantReport, label: &str) -> Option<(f64, f64)> {
    let policy = found.result.policies.iter().find(|policy| policy.label == label)?;
    Some((*policy.regret.mean.last()?, *policy.regret.se.last()?))
}

/// Million rounds a CPU-second.
fn rate(found: &VariantReport, label: &str) -> String {
    let policies = found.timing.as_ref().map_or(&[][..], |timing| &timing.policies);
    let policy = policies.iter().find(|policy| policy.label == label);
    let rate = policy.and_then(|policy| policy.speed.rounds_per_cpu_second);
    rate.map_or_else(|| "–".to_owned(), |rate| number::fixed(rate / 1e6, 2))
}

/// A name with a spot of its curve's colour.
fn swatched(look: Look, name: &str) -> Html {
    let mut html = Html::new();
    html.raw("<span class=\"swatch\" style=\"background:")
        .text(&svg::colour(look))
        .raw("\"></span>")
        .text(name);
    html
}

fn missing() -> Html {
    Html::of("–")
}

/// The labels of all bounds, each once.
fn bounds(found: &PanelReport) -> Vec<&str> {
    let mut labels: Vec<&str> = Vec::new();
    for bound in found.variants.iter().flat_map(|variant| &variant.result.bounds) {
        if !labels.contains(&bound.label.as_str()) {
            labels.push(&bound.label);
        }
    }
    labels
}

/// The value of a bound at the end.
fn bound(found: &VariantReport, label: &str) -> Html {
    let bound = found.result.bounds.iter().find(|bound| bound.label == label);
    let value = bound.and_then(|bound| bound.value.last());
    value.map_or_else(missing, |value| Html::of(&number::significant(*value, 4)))
}

fn write_variants(html: &mut Html, panel: &Panel, found: &PanelReport) {
    let bounds = bounds(found);
    let mut rows = Vec::new();
    for (number, (variant, found)) in panel.variants.iter().zip(&found.variants).enumerate() {
        let Some(policy) = found.result.policies.first() else { continue };
        let Some(last) = policy.t.len().checked_sub(1) else { continue };
        let (mean, se) = (policy.regret.mean[last], policy.regret.se[last]);
        let mut row = vec![
            swatched(Look::Policy(number), &variant.title),
            Html::of(&number::estimate(mean, se, found.result.runs)),
            Html::of(&number::beside(policy.regret.q10[last], se)),
            Html::of(&number::beside(policy.regret.q90[last], se)),
        ];
        row.extend(bounds.iter().map(|label| bound(found, label)));
        row.push(Html::of(&rate(found, &policy.label)));
        rows.push(row);
    }
    let bounds: Vec<String> = bounds.iter().map(|label| format!("#{label}")).collect();
    let mut heads = vec!["Variant", "#regret ± se", "#first decile", "#last decile"];
    heads.extend(bounds.iter().map(String::as_str));
    heads.push("#million rounds a CPU-second");
    html.table("narrow", &heads, &rows);
}

fn write_matrix(html: &mut Html, looks: &Looks, panel: &Panel, found: &PanelReport) {
    let mut rows = Vec::new();
    for label in labels(found) {
        let cell = |found: &VariantReport| {
            regret(found, label)
                .map_or_else(missing, |(mean, se)| Html::of(&number::estimate(mean, se, found.result.runs)))
        };
        let name = swatched(looks.policy(label), looks.name(label));
        rows.push(std::iter::once(name).chain(found.variants.iter().map(cell)).collect());
    }
    for label in bounds(found) {
        let cells = found.variants.iter().map(|found| bound(found, label));
        rows.push(std::iter::once(Html::of(label)).chain(cells).collect());
    }
    let titles: Vec<String> = panel.variants.iter().map(|variant| format!("#{}", variant.title)).collect();
    let heads: Vec<&str> = std::iter::once("Regret ± se").chain(titles.iter().map(String::as_str)).collect();
    html.table("narrow", &heads, &rows);
}

fn write_printed(html: &mut Html, looks: &Looks, panel: &Panel, found: &PanelReport) {
    let mut rows = Vec::new();
    for (variant, found) in panel.variants.iter().zip(&found.variants) {
        for policy in &found.result.policies {
            let Some((mean, se)) = regret(found, &policy.label) else { continue };
            let runs = found.result.runs;
            let printed = panel.printed.iter().find(|printed| {
                printed.series.variant == variant.name && printed.series.policy == policy.label
            });
            let mut row = vec![
                Html::of(&variant.title),
                swatched(looks.policy(&policy.label), looks.name(&policy.label)),
                Html::of(&number::estimate(mean, se, runs)),
            ];
            match printed {
                Some(printed) => {
                    row.push(Html::of(&match printed.se {
                        Some(se) => number::with_error(printed.regret, se),
                        None => number::significant(printed.regret, 4),
                    }));
                    // The printed number is of other runs; one without an error is taken as exact.
                    let error = libm::hypot(se, printed.se.unwrap_or(0.0));
                    let z = if runs > 1 && error > 0.0 { (mean - printed.regret) / error } else { f64::NAN };
                    row.push(Html::of(&number::fixed(z, 1)));
                }
                None => row.extend([missing(), missing()]),
            }
            row.push(Html::of(&rate(found, &policy.label)));
            rows.push(row);
        }
    }
    let mut heads =
        vec!["Variant", "Policy", "#regret ± se", "#printed ± se", "#z", "#million rounds a CPU-second"];
    if !panel.has_variants() {
        heads.remove(0);
        for row in &mut rows {
            row.remove(0);
        }
    }
    html.table("narrow", &heads, &rows);
}

/// What every policy has.
fn write_policies(html: &mut Html, looks: &Looks, found: &VariantReport) {
    let runs = found.result.runs;
    let mut rows = Vec::new();
    for policy in &found.result.policies {
        let Some(last) = policy.t.len().checked_sub(1) else { continue };
        let regret = &policy.regret;
        let (mean, se) = (regret.mean[last], regret.se[last]);
        rows.push(vec![
            swatched(looks.policy(&policy.label), looks.name(&policy.label)),
            Html::of(&number::estimate(mean, se, runs)),
            Html::of(&number::beside(regret.q10[last], se)),
            Html::of(&number::beside(regret.q90[last], se)),
            Html::of(&number::estimate(policy.clicks.mean[last], policy.clicks.se[last], runs)),
            Html::of(&rate(found, &policy.label)),
        ]);
    }
    let (regret, clicks) = if runs > 1 { ("#regret ± se", "#clicks ± se") } else { ("#regret", "#clicks") };
    let heads = ["Policy", regret, "#first decile", "#last decile", clicks, "#million rounds a CPU-second"];
    html.table("narrow", &heads, &rows);
    write_references(html, found);
}

/// Bounds and optimum, to compare with.
fn write_references(html: &mut Html, found: &VariantReport) {
    let runs = found.result.runs;
    let mut references = Vec::new();
    for bound in &found.result.bounds {
        if let Some(value) = bound.value.last() {
            references.push(format!("{}: {}", bound.label, number::significant(*value, 4)));
        }
    }
    let optimum = &found.result.optimum.clicks;
    if let (Some(mean), Some(se)) = (optimum.mean.last(), optimum.se.last()) {
        references.push(format!("always a best list: {} clicks", number::estimate(*mean, *se, runs)));
    }
    html.element("p", "small muted", &format!("For comparison: {}.", references.join("; ")));
}
