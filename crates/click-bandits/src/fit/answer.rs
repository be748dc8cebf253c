//! The answer on a page and on a terminal.

use crate::terminal::{in_line, table};
use ::answer::{Answer, HORIZON, QueryFinding, Recommendation};
use documents::number::{fixed, grouped};
use report::html::Html;
use std::fmt::Write as _;

/// Items of a list that are named.
const NAMED: usize = 10;
/// Queries that are listed on a terminal.
const LISTED: usize = 10;
/// Letters of a query's name on a terminal.
const LETTERS: usize = 30;
/// Columns of numbers on a terminal and on the page.
const HEADS: [&str; 5] =
    ["Lists", "Clicks per 1,000", "Loses against the best", "Better list gains", "Policy gains"];

/// Adds the answer to a page.
pub(super) fn write(answer: &Answer, html: &mut Html) {
    html.element("h2", "", "The answer");
    html.paragraph("small muted", &format!("For {}.", answer.scope()));
    for sentence in answer.sentences() {
        html.element("p", "", &sentence);
    }
    if !answer.is_reliable() {
        return;
    }
    html.element("h2", "", "Query by query");
    let heads: Vec<String> = HEADS.iter().map(|head| format!("#{head}")).collect();
    let heads: Vec<&str> =
        std::iter::once("Query").chain(heads.iter().map(String::as_str)).chain(["#Passed after"]).collect();
    let row = |(query, row): (&QueryFinding, [String; 6])| -> Vec<Html> {
        let passed = match query.played {
            None => "–".to_owned(),
            Some(played) if played.gained.cannot_tell() => "not known".to_owned(),
            Some(played) => played.passed.to_string(),
        };
        row.iter().chain([&passed]).map(|cell| Html::of(cell)).collect()
    };
    let rows: Vec<Vec<Html>> = answer.queries.iter().zip(rows(answer)).map(row).collect();
    html.table("wide", &heads, &rows);
    html.paragraph(
        "small muted",
        &format!(
            "Losses and gains of lists are clicks per 1,000 lists. A policy was played for the queries with the most lists: {} gains \
             clicks over today's lists in {} lists of the query, and has passed them after the number of lists in the last column. \
             Intervals are 95 %. Users are drawn from the fits of two halves of the log, and a list is valued on the half that did not choose it.",
            if answer.policy.is_empty() { "it" } else { &answer.policy },
            grouped(HORIZON)
        ),
    );
    recommended(answer, html);
    html.paragraph("small muted", "Play it again: `click-bandits simulate decision.toml --out RESULTS`.");
}

/// Adds the recommended lists.
fn recommended(answer: &Answer, html: &mut Html) {
    let row = |query: &QueryFinding| -> Option<Vec<Html>> {
        let Recommendation { items, gain, beyond, known_share, is_guess, .. } = query.recommended.as_ref()?;
        let more = if items.len() > NAMED { ", …" } else { "" };
        let named = items[..items.len().min(NAMED)].join(", ") + more;
        let [name, named] = [&query.query, &named].map(|text| in_line(text).into_owned());
        let what = if *is_guess { "a guess, to be tested" } else { "near what was shown" };
        let known = format!("{} %", fixed(100.0 * known_share, 0));
        let cells = [name, named, gain.to_string(), beyond.to_string(), known, what.to_owned()];
        Some(cells.iter().map(|cell| Html::of(cell)).collect())
    };
    let rows: Vec<Vec<Html>> = answer.queries.iter().filter_map(row).collect();
    if rows.is_empty() {
        return;
    }
    html.element("h2", "", "Lists to show");
    let heads = [
        "Query",
        "Items from the top",
        "#Gain",
        "#Beyond the best list shown",
        "#Items known there",
        "What it is",
    ];
    html.table("wide", &heads, &rows);
    html.paragraph(
        "small muted",
        "Gains are clicks per 1,000 lists, over today's mix of lists and over the best single list that the log shows. An item is known there if \
         it was shown 20 times within two positions of its new one. A list is a guess if an item is not known there, or if it gains \
         more than half beyond the best list that was shown.",
    );
}

/// A row for every query, with the name escaped: characters that turn the direction of a line come
/// from the log.
fn rows(answer: &Answer) -> Vec<[String; 6]> {
    let row = |QueryFinding { query, lists, finding, recommended, played, .. }: &QueryFinding| {
        // The loss is that of users for whom the list alone decides.
        let loss = if answer.is_alarmed() { "not known".to_owned() } else { finding.loss.to_string() };
        [
            in_line(query).into_owned(),
            grouped(*lists),
            finding.today.to_string(),
            loss,
            recommended.as_ref().map_or_else(|| "none found".to_owned(), |list| list.gain.to_string()),
            played.map_or_else(|| "–".to_owned(), |played| played.gained.to_string()),
        ]
    };
    answer.queries.iter().map(row).collect()
}

/// The answer for a terminal.
pub(super) fn text(answer: &Answer) -> String {
    let mut text = format!("The answer for {}:\n\n", answer.scope());
    for sentence in answer.sentences() {
        let _ = writeln!(text, "  {sentence}");
    }
    if answer.queries.len() > 1 && answer.is_reliable() {
        let all = grouped(HORIZON);
        let _ = writeln!(text, "\n  Per 1,000 lists; the policy's gain after {all} lists of the query:\n");
        let rows = rows(answer).into_iter().take(LISTED).map(|mut row| {
            if row[0].chars().count() > LETTERS {
                row[0] = row[0].chars().take(LETTERS - 1).chain(['…']).collect();
            }
            row
        });
        let heads = ["Query"].into_iter().chain(HEADS).map(str::to_lowercase).collect::<Vec<_>>();
        let heads: [String; 6] = std::array::from_fn(|place| heads[place].clone());
        let rows: Vec<[String; 6]> = std::iter::once(heads).chain(rows).collect();
        text += &table(&rows, 1..6);
    }
    text
}
