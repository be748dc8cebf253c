//! The section of the instances: their parameters, the queries of a log, and the table that a paper
//! prints.

use super::FITTED;
use super::claims::{claims_of, write_claim};
use crate::claims::Column;
use crate::html::Html;
use crate::reproduction::{DataSource, PaperTable, Reproduction};
use crate::reproduction_report::Report;
use documents::number;
use itertools::Itertools as _;
use spec::models::{Calibration, InstanceTable, Parameter};

pub(super) fn write_instances(html: &mut Html, report: &Report<'_>) {
    let reproduction = report.reproduction;
    html.section("Instances");
    if let Some(measured) = &reproduction.measured {
        html.paragraph("lead", measured);
    }
    if let Some(source) = &reproduction.source {
        write_source(html, source);
    }
    for judged in claims_of(report, None) {
        write_claim(html, judged);
    }
    if !reproduction.found_in_log.is_empty() {
        write_found_in_log(html, reproduction);
    }
    if let Some(printed) = &reproduction.printed {
        write_printed(html, printed, reproduction.found_in_log.len());
    }
    // Estimates have more digits than readers need.
    let decimals = (!reproduction.found_in_log.is_empty()).then_some(5);
    let mut shown: Vec<Vec<InstanceTable>> = Vec::new();
    for panel in &reproduction.panels {
        let used = panel.instances();
        if shown.contains(&used) {
            continue;
        }
        let mut title =
            if shown.is_empty() { "Parameters".to_owned() } else { format!("Parameters of {}", panel.title) };
        if let Some(decimals) = decimals {
            title = format!("{title}, to {decimals} decimals");
        }
        html.element("h3", "", &title);
        write_parameters(html, &used, decimals);
        shown.push(used);
    }
    html.close("section");
}

pub(super) fn write_parameters(html: &mut Html, instances: &[InstanceTable], decimals: Option<usize>) {
    let parameters = instances.iter().flat_map(|instance| &instance.parameters);
    let columns: Vec<&str> = parameters.map(|(name, _)| *name).unique().collect();
    // An instance that is alone and has no name of its own needs none.
    let has_names = !matches!(instances, [alone] if alone.name == "instance 0");
    let rows: Vec<Vec<Html>> = instances
        .iter()
        .map(|InstanceTable { name, n_items, parameters, .. }| {
            let cell = |column: &&str| {
                let found = parameters.iter().find(|(name, _)| name == column);
                Html::of(&found.map_or_else(|| "–".to_owned(), |(_, value)| written(value, decimals)))
            };
            let name = has_names.then(|| Html::of(name));
            let head = name.into_iter().chain([Html::of(&n_items.to_string())]);
            head.chain(columns.iter().map(cell)).collect()
        })
        .collect();
    let head = has_names.then_some("Instance");
    let heads: Vec<&str> = head.into_iter().chain(["#Items"]).chain(columns).collect();
    html.table("wide", &heads, &rows);
}

/// The value of a parameter, exact or rounded to this number of decimals.
fn written(value: &Parameter, decimals: Option<usize>) -> String {
    match value {
        Parameter::Numbers(numbers) => summed_up(numbers, decimals),
        Parameter::Number(number) => aligned(&[*number], decimals),
        Parameter::Count(count) => count.to_string(),
        Parameter::Name(name) => name.clone(),
        Parameter::Calibration(Calibration { mu, p_max, seed, positions, .. }) => {
            format!("{positions} positions, mu = {mu}, p_max = {p_max}, drawn with seed {seed}")
        }
        Parameter::Matrix(rows) => rows.iter().map(|row| aligned(row, decimals)).join("; "),
        // Tables for readers describe selected items by a text.
        Parameter::Arms(_) => String::new(),
        Parameter::Context(contexts) => contexts.to_toml(),
    }
}

/// The length of the longest list that is shown number by number.
const LONGEST_SHOWN: usize = 24;

/// Numbers one by one; for many numbers their range and mean.
fn summed_up(values: &[f64], decimals: Option<usize>) -> String {
    if values.len() <= LONGEST_SHOWN {
        return aligned(values, decimals);
    }
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let [least, most, mean] = [least, most, mean].map(|value| number::significant(value, 3));
    format!("{} numbers from {least} to {most}, on average {mean}", values.len())
}

/// Numbers with this number of decimals, or exactly, with those of the longest.
fn aligned(values: &[f64], decimals: Option<usize>) -> String {
    let own = |value: &f64| format!("{value}").split_once('.').map_or(0, |(_, fraction)| fraction.len());
    let decimals = decimals.unwrap_or_else(|| values.iter().map(own).max().unwrap_or(0));
    values.iter().map(|value| format!("{value:.decimals$}")).join(", ")
}

fn write_source(html: &mut Html, source: &DataSource) {
    html.open("p", "lead").text(&source.text);
    if let Some(licence) = &source.licence {
        html.text(&format!(" Licence: {licence}."));
    }
    if let Some(link) = &source.link {
        html.text(" ").link(link, link);
    }
    html.close("p");
}

/// Writes, for the queries that were fitted to a log, the columns that the papers print for theirs.
fn write_found_in_log(html: &mut Html, reproduction: &Reproduction) {
    html.element("h3", "", "The queries of the log");
    let how = match reproduction.prior {
        Some(0.0) => "by maximum likelihood".to_owned(),
        Some(strength) => format!("with priors of {strength} pseudo-impressions"),
        None => "with priors as `click-bandits fit` has them".to_owned(),
    };
    html.open("p", "lead").prose(&format!("A position-based model was fitted to each query, {how}. ")).text(
        "Ordered by the number of items, then of records. Records are the impressions that a query was fitted to; theta is the attraction \
         at the first position. The share is that of the first singular value, in the sum of all, of the click-through rates by item \
         and position of the items that were shown at every position: 1 where they are exactly a product of attraction and \
         examination. Chance alone makes it less, the more so the fewer impressions there are. ",
    );
    html.text("Every parameter with its interval: ");
    let files = ["parameters.json", "parameters.csv", "examination.svg", "attraction.svg"];
    let addresses = files.map(|file| format!("{FITTED}/{file}"));
    html.links(addresses.iter().map(String::as_str).zip(files)).text(".").close("p");
    let rows: Vec<Vec<Html>> = reproduction
        .found_in_log
        .iter()
        .map(|query| {
            let share =
                query.first_singular_value.map_or_else(|| "–".to_owned(), |share| number::fixed(share, 3));
            let theta =
                [Column::MinTheta, Column::MaxTheta].map(|column| number::fixed(column.of(&query.theta), 3));
            let [least, most] = &theta;
            let (n_items, records) = (query.theta.len().to_string(), number::grouped(query.records));
            [&query.name, &records, &n_items, least, most, &share].map(|text| Html::of(text)).into()
        })
        .collect();
    let heads =
        ["Query", "#records", "#n items", "#min theta", "#max theta", "#first singular value's share"];
    html.table("", &heads, &rows);
}

/// Writes a printed table; `in_log` is the number of queries that were found in a log.
fn write_printed(html: &mut Html, printed: &PaperTable, in_log: usize) {
    html.element("h3", "", &format!("{}, as printed", printed.title));
    if in_log == printed.rows.len() {
        html.element(
            "p",
            "lead",
            "The papers do not name their queries. A row is taken for the query of the log at the same place in the same order: an \
             assumption, on which the verdicts on this table rest.",
        );
    }
    let cells = printed.rows.iter().flat_map(|row| &row.printed);
    let columns: Vec<&str> = cells.map(|(key, _)| key.as_str()).unique().collect();
    let heads: Vec<String> = columns.iter().map(|column| format!("#{}", column.replace('_', " "))).collect();
    let heads: Vec<&str> = std::iter::once(if in_log > 0 { "Query" } else { "Instance" })
        .chain(heads.iter().map(String::as_str))
        .collect();
    // Whole numbers, or the three decimals that papers print.
    let written = |value: f64| number::fixed(value, if value.fract() == 0.0 { 0 } else { 3 });
    let rows: Vec<Vec<Html>> = printed
        .rows
        .iter()
        .map(|row| {
            let cell = |column: &&str| {
                let value = row.printed.iter().find(|(key, _)| key == column).map(|(_, value)| *value);
                Html::of(&value.map_or_else(|| "–".to_owned(), written))
            };
            std::iter::once(Html::of(&row.name)).chain(columns.iter().map(cell)).collect()
        })
        .collect();
    html.table("", &heads, &rows);
}
