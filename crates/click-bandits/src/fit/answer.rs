//! The answer on a page and on a terminal.

use crate::terminal::{in_line, table};
use crate::test::plan::LOOKS;
use ::answer::{Answer, HORIZON, QueryFinding, Recommendation};
use click_logs::fit::Model;
use documents::number::{counted, fixed, grouped};
use interleaving::plan::{End, inflation, users_per_arm};
use report::html::Html;
use std::cmp::Reverse;
use std::fmt::Write as _;

/// Items of a list that are named.
const NAMED: usize = 10;
/// Queries that are listed on a terminal.
const LISTED: usize = 10;
/// Letters of a query's name on a terminal.
const LETTERS: usize = 30;
/// Columns on the page and on a terminal.
const HEADS: [&str; 6] = [
    "Query",
    "#Lists",
    "#Clicks per 1,000",
    "#Loses against the best",
    "#Better list gains",
    "#Policy gains",
];

/// Adds the answer to a page.
pub(super) fn write(answer: &Answer, html: &mut Html) {
    html.element("h2", "", "The answer");
    html.note(&format!("For {}.", answer.scope()));
    for sentence in answer.sentences() {
        html.element("p", "", &sentence);
    }
    if !answer.is_reliable() {
        return;
    }
    explained(answer, html);
    recommended(answer, html);
    strata(answer, html);
    html.element("h2", "", "Query by query");
    let row = |(query, row): (&QueryFinding, [String; 6])| {
        let passed = match query.played {
            None => "–".to_owned(),
            Some(played) if played.gained.cannot_tell() => "not known".to_owned(),
            Some(played) => played.passed.to_string(),
        };
        [&row[..], &[passed]].concat()
    };
    let rows = answer.queries.iter().zip(rows(answer)).map(row);
    html.texts(&[&HEADS[..], &["#Passed after"]].concat(), rows);
    let text = "Losses and gains of lists are clicks per 1,000 lists. Intervals are 95 %. Users are drawn from the fits of two halves of the \
                log, and a list is valued on the half that did not choose it. Halves are dealt by the content of lists, so the order of \
                rows changes nothing, but where it stands for time: in the search for changes, and in that for clicks that more than the \
                list decides.";
    html.note(text);
    if answer.promises() {
        let (policy, all) = (&answer.policy, grouped(HORIZON));
        let text = format!(
            "A policy was played for the queries with the most lists: {policy} gains clicks over today's lists in {all} lists of the \
             query, and has passed them after the number of lists in the last column. Play it again: `click-bandits simulate \
             decision.toml --out RESULTS`."
        );
        html.note(&text);
    }
}

/// Explains the models, and what their differences are.
fn explained(answer: &Answer, html: &mut Html) {
    let models = answer.models.iter().filter_map(|of| Model::from_name(of.model));
    let models: Vec<String> = models.map(|model| format!("{}: {}.", model.name(), model.about())).collect();
    if !models.is_empty() {
        let differences = "Differences are those between lists of a query: of the clicks that a model expects on each. A part of 1 of \
                           them happens if it is right, 0 if they are chance.";
        html.note(&format!("{} {differences}", models.join(" ")));
    }
}

/// Days that an A/B test of a list takes at today's traffic, or its users if the log has no times.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a cast saturates")]
fn length_of_test(answer: &Answer, query: &QueryFinding, gain: f64) -> Option<String> {
    let times = inflation(POWER, MISS, End::Fixed(LOOKS))?;
    let users = 2 * users_per_arm(query.deviation, gain / 1000.0, POWER, MISS, times)?;
    let per_day = answer.today.days.map(|days| query.lists_today as f64 / days).filter(|lists| *lists > 0.0);
    Some(match per_day {
        Some(per_day) => counted((users as f64 / per_day).ceil() as u64, "day"),
        None => counted(users, "list"),
    })
}

/// Adds the strata of each query side by side.
fn strata(answer: &Answer, html: &mut Html) {
    if answer.strata.is_empty() {
        return;
    }
    html.element("h2", "", "Strata side by side");
    for strata in &answer.strata {
        html.element("p", "", &in_line(&strata.sentence()));
        let row = |place: &usize| {
            let query = &answer.queries[*place];
            let [gain, list] = query.recommended.as_ref().map_or_else(
                || ["–", "none found"].map(str::to_owned),
                |list| [list.gain.to_string(), named(&list.items)],
            );
            let QueryFinding { query, lists, finding, .. } = query;
            [in_line(query).into_owned(), grouped(*lists), finding.today.to_string(), gain, list]
        };
        let heads = ["Stratum", "#Lists", "#Clicks per 1,000", "#Better list gains", "Its items"];
        html.texts(&heads, strata.strata.iter().map(row));
    }
}

/// A list's items from the top; commas are often in their names.
fn named(items: &[String]) -> String {
    let more = if items.len() > NAMED { " · …" } else { "" };
    in_line(&(items[..items.len().min(NAMED)].join(" · ") + more)).into_owned()
}

/// The power of a test, and the probability with which it finds a difference that is none.
const POWER: f64 = 0.8;
const MISS: f64 = 0.05;

/// Adds the recommended lists, in the order in which they are worth a test: those that surely gain
/// first, then by what they gain with their share of the lists.
fn recommended(answer: &Answer, html: &mut Html) {
    let row = |(query, list): (&QueryFinding, &Recommendation)| {
        let what = match (list.gone.is_empty(), list.is_guess) {
            (false, _) => "a guess: has items that are no longer shown",
            (true, true) => "a guess, to be tested",
            (true, false) => "near what was shown",
        };
        let known = format!("{} %", fixed(100.0 * list.known_share, 0));
        let days = length_of_test(answer, query, list.gain.mean).unwrap_or_else(|| "–".to_owned());
        let all = fixed(query.share * list.gain.mean, 1);
        let [gain, beyond] = [list.gain, list.beyond].map(|gain| gain.to_string());
        let name = in_line(&query.query).into_owned();
        [name, named(&list.items), gain, all, days, beyond, known, what.to_owned()]
    };
    let mut lists: Vec<_> = answer.recommended().collect();
    lists.sort_by(|a, b| {
        let worth = [a, b].map(|(query, list)| (list.gain.lower > 0.0, query.share * list.gain.mean));
        worth[1].0.cmp(&worth[0].0).then(worth[1].1.total_cmp(&worth[0].1))
    });
    if lists.is_empty() {
        return;
    }
    html.element("h2", "", "Lists to test, in this order");
    let heads = [
        "Query",
        "Items from the top",
        "#Gain",
        "#Of all lists",
        "#A test takes",
        "#Beyond the best list shown",
        "#Items known there",
        "What it is",
    ];
    html.texts(&heads, lists.into_iter().map(row));
    html.note(
        "Lists whose gain is surely above 0 come first, then those that gain most with the traffic of their query. Gains are clicks \
         per 1,000 lists, over today's mix of lists and over the best single list that the log shows; those of all lists are per \
         1,000 lists of all queries. A test of two halves of the query's traffic finds the gain with power .8 in this time, as \
         `test --plan` counts it, if every list is of another user; without times in the log it is a number of lists. An item is known there if \
         it was shown 20 times within two positions of its new one. A list is a guess if an item is not known there, if it gains \
         more than half beyond the best list that was shown, or if it is in doubt or untested whether lists alone decide the clicks.",
    );
}

/// A row for every query, with the name escaped: characters that turn the direction of a line come
/// from the log.
fn rows(answer: &Answer) -> Vec<[String; 6]> {
    let none = if answer.promises() { "none found" } else { "–" };
    let row = |QueryFinding { query, lists, finding, recommended, played, .. }: &QueryFinding| {
        // The loss is that of users for whom the list alone decides.
        let loss = if answer.is_alarmed() { "not known".to_owned() } else { finding.loss.to_string() };
        [
            in_line(query).into_owned(),
            grouped(*lists),
            finding.today.to_string(),
            loss,
            recommended.as_ref().map_or_else(|| none.to_owned(), |list| list.gain.to_string()),
            played.map_or_else(|| "–".to_owned(), |played| played.gained.to_string()),
        ]
    };
    answer.queries.iter().map(row).collect()
}

pub(super) fn text(answer: &Answer) -> String {
    let mut text = format!("The answer for {}:\n\n", answer.scope());
    for sentence in answer.sentences() {
        let _ = writeln!(text, "  {sentence}");
    }
    let short = |name: &str| match name.chars().count() {
        0..=LETTERS => name.to_owned(),
        _ => name.chars().take(LETTERS - 1).chain(['…']).collect(),
    };
    if answer.queries.len() > 1 && answer.is_reliable() {
        let of_policy = || format!("; the policy's gain after {} lists of the query", grouped(HORIZON));
        let of_policy = answer.promises().then(of_policy).unwrap_or_default();
        let _ = writeln!(text, "\n  Per 1,000 lists{of_policy}:\n");
        let mut by_lists: Vec<_> = answer.queries.iter().zip(rows(answer)).enumerate().collect();
        by_lists.sort_by_key(|(_, (query, _))| Reverse(query.lists));
        by_lists.truncate(LISTED);
        by_lists.sort_by_key(|(place, _)| *place);
        let rows = by_lists.into_iter().map(|(_, (_, mut row))| {
            row[0] = short(&row[0]);
            row
        });
        let heads = HEADS.map(|head| head.trim_start_matches('#').to_lowercase());
        let rows: Vec<[String; 6]> = std::iter::once(heads).chain(rows).collect();
        text += &table(&rows, 1..6);
        let more = answer.queries.len().saturating_sub(LISTED) as u64;
        if more > 0 {
            let _ = writeln!(text, "\n  {}, with fewer lists, on the page.", counted(more, "more query"));
        }
    }
    let lists: Vec<[String; 2]> =
        answer.recommended().map(|(query, list)| [short(&query.query), named(&list.items)]).collect();
    if (1..=LISTED).contains(&lists.len()) {
        let _ = write!(text, "\n  Recommended, from the top:\n\n{}", table(&lists, 0..0));
    }
    text
}
