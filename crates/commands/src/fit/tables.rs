//! Tables for other programs: `parameters.csv`, `comparison.csv`, `counts.csv`.
//!
//! Names come from a log and cannot be trusted. `parameters.csv` is made to be viewed: characters that control a terminal are escaped in
//! the form `\u{1b}`, and a name that a spreadsheet would evaluate as a formula has an apostrophe before it. `parameters.json`, and
//! `counts.csv`, which can be read back, have the names unchanged.

use crate::terminal;
use anyhow::Result;
use click_logs::fit::{Comparison, Estimate, Fit, Model};
use click_logs::{Counts, QueryCounts};

type Table = csv::Writer<Vec<u8>>;

/// `parameters.csv`: one row for each parameter. Parameters of positions that all queries share have no query.
///
/// # Errors
///
/// Never, since the table is written to memory; the type is the writer's.
pub(super) fn parameters(counts: &Counts, fits: &[Fit]) -> Result<Vec<u8>> {
    let mut table = csv::Writer::from_writer(Vec::new());
    table.write_record([
        "model",
        "query",
        "kind",
        "item",
        "position",
        "last_click",
        "estimate",
        "se",
        "lower",
        "upper",
        "clicks",
        "impressions",
    ])?;
    let names = counts.names();
    let mut by_position = vec![(0, 0); counts.n_positions()];
    for cell in counts.queries().flat_map(|query| query.cells()) {
        add(&mut by_position, cell);
    }
    for fit in fits {
        positions(&mut table, fit, "", fit.site_positions(), &by_position)?;
        continuation(&mut table, fit, "", fit.site_continuation())?;
        for query in fit.queries() {
            let name = shown(&names.name(query.id));
            let (satisfaction, own) = (fit.satisfaction(query.id), fit.own_positions(query.id));
            for (place, item) in query.items.iter().enumerate() {
                let counts = Some((item.clicks, item.impressions));
                let of = shown(&names.name(item.item));
                row(&mut table, fit.model(), &name, "attraction", [&of, "", ""], &item.attraction, counts)?;
                if let Some(satisfaction) = satisfaction.get(place) {
                    row(&mut table, fit.model(), &name, "satisfaction", [&of, "", ""], satisfaction, counts)?;
                }
            }
            continuation(&mut table, fit, &name, fit.own_continuation(query.id))?;
            if !own.is_empty() {
                let mut of_query = vec![(0, 0); by_position.len()];
                for cell in counts.query(query.id).iter().flat_map(QueryCounts::cells) {
                    add(&mut of_query, cell);
                }
                positions(&mut table, fit, &name, own, &of_query)?;
            }
        }
    }
    Ok(table.into_inner()?)
}

/// A name that can be viewed safely.
fn shown(name: &str) -> String {
    let name = terminal::in_line(name);
    let apostrophe = if is_formula(&name) { "'" } else { "" };
    format!("{apostrophe}{name}")
}

/// Whether a spreadsheet would evaluate a text as a formula, by its first character. A plain number is not a formula.
fn is_formula(text: &str) -> bool {
    text.starts_with(['=', '@']) || (text.starts_with(['+', '-']) && text.parse::<f64>().is_err())
}

fn add(by_position: &mut [(u64, u64)], cell: click_logs::Cell) {
    by_position[cell.position].0 += cell.clicks;
    by_position[cell.position].1 += cell.impressions;
}

/// Writes the rows of positions; `counts` has clicks and impressions at each.
fn positions(
    table: &mut Table,
    fit: &Fit,
    query: &str,
    estimates: &[Estimate],
    counts: &[(u64, u64)],
) -> Result<()> {
    let kind = if fit.model() == Model::Dcm { "leave" } else { "examination" };
    for ((position, last_click), estimate) in fit.model().places(estimates.len()).zip(estimates) {
        let (at, browsing) = ((position + 1).to_string(), fit.model() == Model::Ubm);
        let after =
            if browsing { last_click.map_or(0, |click| click + 1).to_string() } else { String::new() };
        // Counts are not split by the position of the last click.
        let counts = counts.get(position).copied().filter(|_| !browsing);
        row(table, fit.model(), query, kind, ["", &at, &after], estimate, counts)?;
    }
    Ok(())
}

/// Writes the rows of continuation: of the DBN one; of the click chain after no click, and after a click on an item that attracts nobody
/// and on one that attracts everybody.
fn continuation(table: &mut Table, fit: &Fit, query: &str, estimates: &[Estimate]) -> Result<()> {
    let kinds: &[&str] = match fit.model() {
        Model::Ccm => &["continuation-1", "continuation-2", "continuation-3"],
        _ => &["continuation"],
    };
    for (kind, estimate) in kinds.iter().zip(estimates) {
        row(table, fit.model(), query, kind, ["", "", ""], estimate, None)?;
    }
    Ok(())
}

/// Writes a row. `place` is item, position and last click; `counts` is clicks and impressions.
fn row(
    table: &mut Table,
    model: Model,
    query: &str,
    kind: &str,
    place: [&str; 3],
    estimate: &Estimate,
    counts: Option<(u64, u64)>,
) -> Result<()> {
    let interval = estimate.interval;
    let numbers = [
        Some(estimate.value).filter(|value| !value.is_nan()),
        estimate.standard_error,
        interval.map(|ends| ends.0),
        interval.map(|ends| ends.1),
    ];
    let numbers = numbers.map(|number| number.map(|number| number.to_string()).unwrap_or_default());
    let counts = [counts.map(|counts| counts.0), counts.map(|counts| counts.1)];
    let counts = counts.map(|count| count.map(|count| count.to_string()).unwrap_or_default());
    let words = [model.name(), query, kind, place[0], place[1], place[2]];
    Ok(table.write_record(words.into_iter().chain(numbers.iter().chain(&counts).map(String::as_str)))?)
}

/// `comparison.csv`: one row for each model, and one for each model and rank. Differences are from the first model, the best one.
///
/// # Errors
///
/// Never, since the table is written to memory; the type is the writer's.
pub(super) fn comparison(comparison: Option<&Comparison>) -> Result<Vec<u8>> {
    let mut table = csv::Writer::from_writer(Vec::new());
    table.write_record([
        "model",
        "rank",
        "impressions",
        "log_likelihood",
        "perplexity",
        "conditional_perplexity",
        "difference",
        "difference_se",
    ])?;
    let scores = comparison.into_iter().flat_map(|comparison| {
        let with_difference = |(place, score)| (score, comparison.difference(place, 0));
        comparison.scores().iter().enumerate().map(with_difference)
    });
    for (score, difference) in scores {
        table.write_record([
            score.model.name(),
            "all",
            &score.impressions.to_string(),
            &score.log_likelihood.to_string(),
            &score.perplexity.to_string(),
            &score.conditional_perplexity.to_string(),
            &difference.mean.to_string(),
            &difference.standard_error.map(|error| error.to_string()).unwrap_or_default(),
        ])?;
        let by_rank = score.perplexity_by_rank.iter().zip(&score.conditional_by_rank);
        for (rank, (perplexity, conditional)) in (1..).zip(by_rank).filter(|(_, (rank, _))| !rank.is_nan()) {
            let rank: u64 = rank;
            table.write_record([
                score.model.name(),
                &rank.to_string(),
                "",
                "",
                &perplexity.to_string(),
                &conditional.to_string(),
                "",
                "",
            ])?;
        }
    }
    Ok(table.into_inner()?)
}

/// `counts.csv`: the fitted cells, in the form that `--counts` reads.
///
/// # Errors
///
/// Never, since the table is written to memory; the type is the writer's.
pub(super) fn counts(counts: &Counts) -> Result<Vec<u8>> {
    let mut text = Vec::new();
    counts.write_csv(&mut text)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_not_formulas_and_do_not_control_a_terminal() {
        for (name, expected) in [
            ("=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0"),
            ("+1+cmd", "'+1+cmd"),
            ("-2+3", "'-2+3"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("\t=1", "\\t=1"),
            ("\r=1", "\\r=1"),
            ("a\u{1b}[2Jb", "a\\u{1b}[2Jb"),
            // A number is not a formula, and other names are unchanged.
            ("-5", "-5"),
            ("+4.5e3", "+4.5e3"),
            ("'quoted", "'quoted"),
            ("shoes, red", "shoes, red"),
            ("日本", "日本"),
            ("", ""),
        ] {
            assert_eq!(shown(name), expected);
        }
    }
}
