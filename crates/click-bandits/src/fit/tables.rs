//! Tables for other programs: `parameters.csv`, `comparison.csv`, `counts.csv`.
//!
//! Names come from a log. In `parameters.csv`, which is for viewing, characters that control a
//! terminal are escaped, and an apostrophe precedes a name that a spreadsheet would evaluate as a
//! formula. Other files have names unchanged.

use crate::terminal;
use anyhow::Result;
use click_logs::fit::{Comparison, Fit};
use click_logs::parameters::{ParameterRow, for_each_parameter};
use log_reader::{Counts, Id};
use std::fmt::{Display, Write as _};
use std::io;

/// `parameters.csv`: a row for each parameter, without a query if all queries share it.
pub(super) fn parameters(counts: &Counts, fits: &[Fit]) -> Result<Vec<u8>> {
    let mut table = csv::Writer::from_writer(Vec::new());
    let columns = "model,query,kind,item,position,last_click,estimate,se,lower,upper,clicks,impressions";
    table.write_record(columns.split(','))?;
    let names = counts.names();
    let name = |id: Option<Id>| id.map_or_else(String::new, |id| shown(&names.name(id)));
    let (mut of_query, mut query, mut text) = (None, String::new(), String::new());
    for_each_parameter(counts, fits, |row| {
        let ParameterRow { estimate, .. } = row;
        if row.query != of_query {
            (of_query, query) = (row.query, name(row.query));
        }
        for cell in [row.model.name(), &query, row.kind, &name(row.item)] {
            table.write_field(cell)?;
        }
        for place in [row.position, row.last_click] {
            write_number(&mut table, &mut text, place)?;
        }
        let value = Some(estimate.value).filter(|value| !value.is_nan());
        let (lower, upper) = estimate.interval.unzip();
        for number in [value, estimate.standard_error, lower, upper] {
            write_number(&mut table, &mut text, number)?;
        }
        let (clicks, impressions) = row.counts.unzip();
        for count in [clicks, impressions] {
            write_number(&mut table, &mut text, count)?;
        }
        table.write_record(None::<&[u8]>)
    })?;
    Ok(table.into_inner()?)
}

/// Writes a cell with a number; `text` is a buffer.
fn write_number(
    table: &mut csv::Writer<Vec<u8>>,
    text: &mut String,
    number: Option<impl Display>,
) -> csv::Result<()> {
    text.clear();
    if let Some(number) = number {
        write!(text, "{number}").map_err(io::Error::other)?;
    }
    table.write_field(text)
}

/// A name that can be viewed safely.
fn shown(name: &str) -> String {
    let name = terminal::in_line(name);
    let apostrophe = if is_formula(&name) { "'" } else { "" };
    format!("{apostrophe}{name}")
}

/// Returns whether a spreadsheet would evaluate a text as a formula. A plain number is not one.
fn is_formula(text: &str) -> bool {
    text.starts_with(['=', '@']) || (text.starts_with(['+', '-']) && text.parse::<f64>().is_err())
}

/// `comparison.csv`: a row for each model, and for each model and rank. Differences are from the
/// best model, the first one.
pub(super) fn comparison(comparison: Option<&Comparison>) -> Result<Vec<u8>> {
    let mut table = csv::Writer::from_writer(Vec::new());
    let columns =
        "model,rank,impressions,log_likelihood,perplexity,conditional_perplexity,difference,difference_se";
    table.write_record(columns.split(','))?;
    let scores = comparison.into_iter().flat_map(|comparison| {
        let with_difference = |(place, score)| (score, comparison.difference(place, 0));
        comparison.scores.iter().enumerate().map(with_difference)
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
        for (rank, (perplexity, conditional)) in
            (1_u64..).zip(by_rank).filter(|(_, (rank, _))| !rank.is_nan())
        {
            let [rank, perplexity, conditional] =
                [rank.to_string(), perplexity.to_string(), conditional.to_string()];
            table.write_record([score.model.name(), &rank, "", "", &perplexity, &conditional, "", ""])?;
        }
    }
    Ok(table.into_inner()?)
}

/// Lists, one a query, in the form that `evaluate --ranking` reads; `None` without any.
pub(crate) fn ranking<'a>(lists: impl Iterator<Item = (&'a str, &'a [String])>) -> Result<Option<Vec<u8>>> {
    let mut table = csv::Writer::from_writer(Vec::new());
    for (query, items) in lists {
        for (position, item) in (1_u32..).zip(items) {
            table.write_record([query, &position.to_string(), item])?;
        }
    }
    let rows = table.into_inner()?;
    Ok((!rows.is_empty()).then(|| [&b"query,position,item\n"[..], &rows].concat()))
}

/// `counts.csv`: the fitted cells, in the form that `--counts` reads.
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
