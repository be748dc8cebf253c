//! The answer on a page and on a terminal.

use crate::terminal::{in_line, table};
use ::answer::{Answer, HORIZON, QueryFinding};
use experiment::number::{fixed, grouped};
use report::html::Html;
use std::fmt::Write as _;

/// Items of a list that are named.
const NAMED: usize = 10;
/// Queries that are listed on a terminal.
const LISTED: usize = 10;
/// Letters of a query's name on a terminal.
const LETTERS: usize = 30;

/// Adds the answer to a page.
pub(super) fn write(answer: &Answer, html: &mut Html) {
    html.element("h2", "", "The answer");
    html.paragraph("small muted", &format!("For {}.", answer.scope()));
    for sentence in answer.sentences() {
        html.element("p", "", &sentence);
    }
    html.element("h2", "", "Query by query");
    let heads = [
        "Query",
        "#Lists",
        "#Clicks per 1,000 lists",
        "#Loses against the best lists",
        "#A surely better list gains",
        "#Gained",
        "#Passed after",
    ];
    let row = |(query, row): (&QueryFinding, [String; 6])| -> Vec<Html> {
        let passed = query.finding.passed.map_or_else(|| "–".to_owned(), grouped);
        row.iter().chain([&passed]).map(|cell| Html::of(cell)).collect()
    };
    let rows: Vec<Vec<Html>> = answer.queries.iter().zip(rows(answer)).map(row).collect();
    html.table("wide", &heads, &rows);
    html.paragraph(
        "small muted",
        &format!(
            "Losses and gains of lists are clicks per 1,000 lists. *Gained* are clicks of {} above today's lists after {} lists of the query; \
             *passed after* is the number of lists in the middle run. Intervals are 95 %: users are drawn from the posterior \
             distribution of the fit, so an item that was seldom shown is uncertain, and does not look good by luck.",
            answer.policy,
            grouped(HORIZON)
        )
        .replace('*', ""),
    );
    let sure: Vec<&QueryFinding> = answer.queries.iter().filter(|query| query.sure_list.is_some()).collect();
    if !sure.is_empty() {
        html.element("h2", "", "Lists that are surely better than today's");
        let row = |query: &&QueryFinding| -> Vec<Html> {
            let items = query.sure_list.as_deref().unwrap_or_default();
            let more = if items.len() > NAMED { ", …" } else { "" };
            let named = items[..items.len().min(NAMED)].join(", ") + more;
            let [name, named] = [&query.query, &named].map(|text| in_line(text).into_owned());
            [name, named, query.finding.sure.to_string()].iter().map(|cell| Html::of(cell)).collect()
        };
        let rows: Vec<Vec<Html>> = sure.iter().map(row).collect();
        html.table("wide", &["Query", "Items from the top", "#Gain per 1,000 lists"], &rows);
    }
    let observed = fixed(answer.all.observed, 0);
    html.paragraph("small muted", &format!("Observed: {observed} clicks per 1,000 lists. Play it again: `click-bandits simulate decision.toml --out RESULTS`."));
}

/// A row for every query, with the name escaped: characters that turn the direction of a line come
/// from the log.
fn rows(answer: &Answer) -> Vec<[String; 6]> {
    let row = |QueryFinding { query, lists, sure_list, finding }: &QueryFinding| {
        [
            in_line(query).into_owned(),
            grouped(*lists),
            finding.today.to_string(),
            finding.loss.to_string(),
            sure_list.as_ref().map_or_else(|| "none found".to_owned(), |_| finding.sure.to_string()),
            finding.gained.to_string(),
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
    if answer.queries.len() > 1 {
        let (policy, all) = (&answer.policy, grouped(HORIZON));
        let _ =
            writeln!(text, "\n  Per 1,000 lists, and gained by {policy} after {all} lists of the query:\n");
        let heads =
            ["query", "lists", "clicks per 1,000", "loses against the best", "a sure list gains", "gained"];
        let rows = rows(answer).into_iter().take(LISTED).map(|mut row| {
            if row[0].chars().count() > LETTERS {
                row[0] = row[0].chars().take(LETTERS - 1).chain(['…']).collect();
            }
            row
        });
        let rows: Vec<[String; 6]> = std::iter::once(heads.map(str::to_owned)).chain(rows).collect();
        text += &table(&rows, 1..6);
    }
    text
}
