//! `index.html`: the answer first, then what it rests on.

use super::words::with_interval;
use super::{Answer, HORIZON, QueryFinding};
use crate::terminal;
use experiment::number::{fixed, grouped};
use report::html::Html;

/// Items of a list that are named.
const NAMED: usize = 10;

impl Answer {
    /// Adds the answer to a page.
    pub(in super::super) fn write(&self, html: &mut Html) {
        html.element("h2", "", "The answer");
        html.paragraph("small muted", &format!("For {}.", self.scope()));
        let mut sentences = self.sentences().into_iter();
        for sentence in sentences.by_ref() {
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
        let rows: Vec<Vec<Html>> = self.queries.iter().zip(self.rows()).map(row).collect();
        html.table("wide", &heads, &rows);
        html.paragraph(
            "small muted",
            &format!(
                "Losses and gains of lists are clicks per 1,000 lists. *Gained* are clicks of {} above today's lists after {} lists of the query; \
                 *passed after* is the number of lists in the middle run. Intervals are 95 %: users are drawn from the posterior \
                 distribution of the fit, so an item that was seldom shown is uncertain, and does not look good by luck.",
                self.policy,
                grouped(HORIZON)
            )
            .replace('*', ""),
        );
        let sure: Vec<&QueryFinding> =
            self.queries.iter().filter(|query| query.sure_list.is_some()).collect();
        if !sure.is_empty() {
            html.element("h2", "", "Lists that are surely better than today's");
            let row = |query: &&QueryFinding| -> Vec<Html> {
                let items = query.sure_list.as_deref().unwrap_or_default();
                let more = if items.len() > NAMED { ", …" } else { "" };
                let named = items[..items.len().min(NAMED)].join(", ") + more;
                let [name, named] = [&query.query, &named].map(|text| terminal::in_line(text).into_owned());
                [name, named, with_interval(query.finding.sure)].iter().map(|cell| Html::of(cell)).collect()
            };
            let rows: Vec<Vec<Html>> = sure.iter().map(row).collect();
            html.table("wide", &["Query", "Items from the top", "#Gain per 1,000 lists"], &rows);
        }
        let observed = fixed(self.all.observed, 0);
        html.paragraph("small muted", &format!("Observed: {observed} clicks per 1,000 lists. Play it again: `click-bandits simulate decision.toml --out RESULTS`."));
    }
}
