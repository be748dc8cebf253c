//! Checks of parameters beyond the types of their fields.
//!
//! A fault has the path of the field from the top of the file, and a description.

use super::{
    EstimateRecord, Model, ModelParameters, ModelRecord, Parameters, PositionParameters, PositionRecord,
    QueryRecord, SiteRecord,
};
use std::collections::BTreeSet;

/// The longest list, as in click models.
const MAX_POSITIONS: usize = 64;

type CheckResult = Result<(), (String, String)>;

pub(super) fn check(parameters: &Parameters) -> CheckResult {
    if !(parameters.level > 0.0 && parameters.level < 1.0) {
        return wrong(
            "$.level",
            format!("{}, expected a confidence level between 0 and 1", parameters.level),
        );
    }
    let Parameters { log, fitted, .. } = parameters;
    at_most("$.log.clicks", log.clicks, log.impressions)?;
    at_most("$.fitted.clicks", fitted.clicks, fitted.impressions)?;
    let models = parameters.models.iter().map(|record| record.model.name());
    different("$.models", "model", models)?;
    for (place, record) in parameters.models.iter().enumerate() {
        model(&format!("$.models[{place}]"), record)?;
    }
    let reports = &parameters.identifiability;
    different(
        "$.identifiability",
        "query",
        reports.iter().map(|report| report.query.as_deref().unwrap_or("")),
    )?;
    for (place, report) in reports.iter().enumerate() {
        let path = format!("$.identifiability[{place}]");
        let components = report.components.iter().flat_map(|component| &component.positions);
        let clicks = report.few_clicks.iter().map(|few| &few.position);
        let comparisons = report.few_comparisons.iter().map(|few| &few.position);
        for &number in components.chain(clicks).chain(comparisons) {
            position(&path, number)?;
        }
        for few in &report.few_comparisons {
            number(&format!("{path}.few_comparisons.clicks"), few.clicks, f64::INFINITY)?;
        }
    }
    different("$.rank_one", "query", parameters.rank_one.iter().map(|record| record.query.as_str()))?;
    for (place, record) in parameters.rank_one.iter().enumerate() {
        let path = format!("$.rank_one[{place}]");
        number(&format!("{path}.share"), record.share, 1.0)?;
        number(&format!("{path}.share_of_squares"), record.share_of_squares, 1.0)?;
        for &value in &record.singular_values {
            number(&format!("{path}.singular_values"), value, f64::INFINITY)?;
        }
    }
    Ok(())
}

fn model(path: &str, record: &ModelRecord) -> CheckResult {
    let ModelRecord { model, site, queries } = record;
    of_site(*model, &format!("{path}.site"), site)?;
    different(&format!("{path}.queries"), "query", queries.iter().map(|query| query.query.as_str()))?;
    for (place, record) in queries.iter().enumerate() {
        query(*model, &format!("{path}.queries[{place}]"), record)?;
    }
    Ok(())
}

fn of_site(model: Model, path: &str, site: &SiteRecord) -> CheckResult {
    let parameters = model.parameters();
    known(&format!("{path}.typical"), site.typical, parameters.largest_attraction)?;
    for &lift in &site.lift {
        known(&format!("{path}.lift"), lift, f64::INFINITY)?;
    }
    number(&format!("{path}.prior"), site.prior, f64::INFINITY)?;
    for (name, found, expected) in [
        ("typical_satisfaction", site.typical_satisfaction, parameters.has_satisfaction),
        ("below_first_click", site.below_first_click, parameters.has_below_first_click),
    ] {
        let path = format!("{path}.{name}");
        given(model, &path, found, expected, |value| known(&path, value, 1.0))?;
    }
    continuation(model, &format!("{path}.continuation"), &site.continuation, false)?;
    positions(model, &format!("{path}.positions"), &site.positions)
}

fn query(model: Model, path: &str, query: &QueryRecord) -> CheckResult {
    let ModelParameters { largest_attraction: largest, has_satisfaction, .. } = model.parameters();
    known(&format!("{path}.typical"), query.typical, largest)?;
    if query.items.is_empty() {
        return wrong(format!("{path}.items"), "none, expected at least one item");
    }
    if let Some(found) = query.n_positions.filter(|found| !(1..=MAX_POSITIONS).contains(found)) {
        return wrong(format!("{path}.n_positions"), format!("{found}, expected from 1 to {MAX_POSITIONS}"));
    }
    different(&format!("{path}.items"), "item", query.items.iter().map(|item| item.item.as_str()))?;
    for (place, item) in query.items.iter().enumerate() {
        let path = format!("{path}.items[{place}]");
        estimate(&format!("{path}.attraction"), &item.attraction, largest)?;
        item.prior.map_or(Ok(()), |prior| number(&format!("{path}.prior"), prior, 1.0))?;
        let satisfaction = format!("{path}.satisfaction");
        given(model, &satisfaction, item.satisfaction, has_satisfaction, |found| {
            estimate(&satisfaction, &found, 1.0)
        })?;
        at_most(&format!("{path}.clicks"), item.clicks, item.impressions)?;
    }
    continuation(model, &format!("{path}.continuation"), &query.continuation, true)?;
    query.shown.iter().try_for_each(|&shown| position(&format!("{path}.shown"), shown))?;
    positions(model, &format!("{path}.positions"), &query.positions)
}

/// A parameter that every fit of the model has, or none.
fn given<T>(
    model: Model,
    path: &str,
    found: Option<T>,
    expected: bool,
    check: impl FnOnce(T) -> CheckResult,
) -> CheckResult {
    match found {
        Some(found) if expected => check(found),
        Some(_) => wrong(path, format!("model {model} has none")),
        None if expected => wrong(path, "missing"),
        None => Ok(()),
    }
}

/// As many probabilities as the model has; queries may have none.
fn continuation(model: Model, path: &str, found: &[EstimateRecord], may_be_empty: bool) -> CheckResult {
    let expected = model.parameters().continuation.len();
    if found.len() != expected && !(may_be_empty && found.is_empty()) {
        return wrong(path, format!("{} numbers, model {model} has {expected}", found.len()));
    }
    let mut places = found.iter().enumerate();
    places.try_for_each(|(place, found)| estimate(&format!("{path}[{place}]"), found, 1.0))
}

/// Positions in order; in the user browsing model from the first, each with every position of the
/// last click above.
fn positions(model: Model, path: &str, records: &[PositionRecord]) -> CheckResult {
    let Some(PositionParameters { largest, .. }) = model.parameters().positions else {
        return if records.is_empty() { Ok(()) } else { wrong(path, format!("model {model} has none")) };
    };
    for (place, (record, (number, last_click))) in records.iter().zip(model.places(records.len())).enumerate()
    {
        let path = format!("{path}[{place}]");
        position(&path, record.position)?;
        // Other models may have gaps: positions that the log does not show.
        let above = place.checked_sub(1).map_or(0, |above| records[above].position);
        let next = if model.has_last_clicks() { number + 1 } else { record.position.max(above + 1) };
        if record.position != next {
            let message = format!("{}, expected {next}, the next one", record.position);
            return wrong(format!("{path}.position"), message);
        }
        let expected = model.has_last_clicks().then(|| last_click.map_or(0, |click| click + 1));
        if record.last_click != expected {
            let message = match expected {
                Some(expected) => format!("expected {expected}, the next one"),
                None => format!("model {model} has none"),
            };
            return wrong(format!("{path}.last_click"), message);
        }
        estimate(&path, &record.estimate, largest)?;
    }
    Ok(())
}

fn estimate(path: &str, estimate: &EstimateRecord, largest: f64) -> CheckResult {
    known(&format!("{path}.value"), estimate.value, largest)?;
    let se = estimate.se.map_or(Ok(()), |error| number(&format!("{path}.se"), error, f64::INFINITY));
    se?;
    match (estimate.lower, estimate.upper) {
        (None, None) => Ok(()),
        (Some(lower), Some(upper)) if lower >= 0.0 && lower <= upper => Ok(()),
        (Some(lower), Some(upper)) => {
            wrong(format!("{path}.lower"), format!("{lower}, expected a number from 0 to `upper`, {upper}"))
        }
        (Some(_), None) => wrong(format!("{path}.upper"), "missing"),
        (None, Some(_)) => wrong(format!("{path}.lower"), "missing"),
    }
}

fn position(path: &str, position: usize) -> CheckResult {
    if (1..=MAX_POSITIONS).contains(&position) {
        return Ok(());
    }
    wrong(format!("{path}.position"), format!("{position}, expected a position from 1 to {MAX_POSITIONS}"))
}

/// A number that may be unknown.
fn known(path: &str, value: f64, largest: f64) -> CheckResult {
    if value.is_nan() { Ok(()) } else { number(path, value, largest) }
}

fn number(path: &str, value: f64, largest: f64) -> CheckResult {
    if value >= 0.0 && value <= largest && value.is_finite() {
        return Ok(());
    }
    let range = if largest.is_finite() { format!("from 0 to {largest}") } else { "of 0 or more".to_owned() };
    wrong(path, format!("{value}, expected a number {range}"))
}

fn at_most(path: &str, clicks: u64, impressions: u64) -> CheckResult {
    if clicks <= impressions {
        return Ok(());
    }
    wrong(path, format!("{clicks}, expected no more clicks than the {impressions} impressions"))
}

fn different<'a>(path: &str, field: &str, names: impl Iterator<Item = &'a str>) -> CheckResult {
    let mut seen = BTreeSet::new();
    for (place, name) in names.enumerate() {
        if !seen.insert(name) {
            return wrong(
                format!("{path}[{place}].{field}"),
                format!("`{}` is given twice", name.escape_debug()),
            );
        }
    }
    Ok(())
}

fn wrong(path: impl Into<String>, message: impl Into<String>) -> CheckResult {
    Err((path.into(), message.into()))
}
