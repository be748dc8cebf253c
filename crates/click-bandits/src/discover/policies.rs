//! `click-bandits policies`: the catalogue, grouped by the users that a policy plays.

use super::named::POLICY;
use super::page::{Page, plain};
use super::{Form, show};
use crate::init::Spec;
use anyhow::Result;
use policies::catalogue::{self, Answers, Family, Limit, Live, ParameterRow, Protocol, Row, rows};
use serde::Serialize;
use serde_json::Value;
use spec::Task;
use spec::models::{MODELS, Model};

#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Arguments {
    /// Show everything about this policy
    #[arg(value_parser = POLICY, hide_possible_values = true)]
    name: Option<&'static str>,
    #[command(flatten)]
    form: Form,
}

/// The groups of the list: families, name in JSON, title.
const GROUPS: [(&[Family], &str, &str); 9] = [
    (
        &[Family::PositionBased],
        "position-based",
        "Users look at any position, and it is known how probably (pbm)",
    ),
    (
        &[Family::UnknownExamination],
        "unknown-examination",
        "Users look at any position, and nobody knows how probably (pbm)",
    ),
    (&[Family::Prefix], "prefix", "Users scan a list from the top (semi-bandit, cascade, dcm)"),
    (&[Family::AnyList], "any-list", "Users of any model that shows lists; only clicks are read"),
    (
        &[Family::Stopping, Family::FullFeedback, Family::Budgeted],
        "best-items",
        "Users of a cascade; the best items are asked for (task identify or budget)",
    ),
    (&[Family::Cells], "cells", "One item at one position, a cell of a table (rank-one)"),
    (&[Family::Pairs], "pairs", "Users compare two items (dueling)"),
    (
        &[Family::PositionContexts, Family::PrefixContexts, Family::Segments],
        "contexts",
        "Users who differ; the policy sees who asks for a list (cascade, dcm, pbm)",
    ),
    (&[Family::Logged, Family::Reference], "references", "To compare with"),
];

#[derive(Debug, Serialize)]
pub(crate) struct Policy {
    name: &'static str,
    sentence: String,
    group: &'static str,
    models: Vec<&'static str>,
    models_with_read_as: Vec<&'static str>,
    tasks: Vec<&'static str>,
    told: String,
    needs_horizon: bool,
    late_clicks: &'static str,
    live: &'static str,
    limit: String,
    cost: String,
    guarantee: String,
    dominated_by: &'static [&'static str],
    source: String,
    parameters: Vec<Parameter>,
    example: Option<String>,
}

#[derive(Debug, Serialize)]
struct Parameter {
    name: &'static str,
    values: String,
    /// `null` if the parameter is absent by default.
    default: Option<Value>,
    meaning: String,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let all: Vec<Policy> = rows().iter().map(Policy::of).collect();
    match all.iter().find(|policy| Some(policy.name) == arguments.name) {
        Some(policy) => show(policy, &policy.page(), policy.example.as_deref(), arguments.form),
        None => show(&all, &listed(&all), None, arguments.form),
    }
}

fn listed(all: &[Policy]) -> Page {
    let mut page = Page::default();
    page.text(0, "Policies by the users that they play. A policy of one group can play users of another list model with `read-as`.");
    for (_, group, title) in GROUPS {
        page.heading(title);
        for policy in all.iter().filter(|policy| policy.group == group) {
            page.beside(2, policy.name, 22, &policy.sentence);
        }
    }
    page.heading("More: click-bandits policies NAME. Click models: click-bandits models.");
    page
}

impl Policy {
    pub(crate) fn of(row: &'static Row) -> Self {
        let (_, group, _) = group_of(row);
        let plays = |model: &&&Model| row.speaks(model.protocol);
        let names = |models: Vec<&&'static Model>| models.into_iter().map(|model| model.name).collect();
        let reads_prefix_or_positions = row.families.iter().any(|family| {
            matches!(family, Family::PositionBased | Family::UnknownExamination | Family::Prefix)
        });
        let with_read_as =
            |model: &&&Model| reads_prefix_or_positions && model.has_lists() && !row.speaks(model.protocol);
        let spec = row.spec();
        let defaults = spec.parameters();
        let mut told: Vec<&str> = row.families.iter().map(|family| family.told()).collect();
        told.dedup();
        if spec.needs_horizon() {
            told.push("the number of rounds");
        }
        let parameter = |parameter: &ParameterRow| Parameter {
            name: parameter.name,
            values: plain(&parameter.kind.to_string()),
            default: defaults.get(parameter.name).cloned(),
            meaning: plain(parameter.meaning),
        };
        Self {
            name: row.name,
            sentence: plain(row.sentence),
            group,
            models: names(MODELS.iter().filter(plays).collect()),
            models_with_read_as: names(MODELS.iter().filter(with_read_as).collect()),
            tasks: tasks(row).iter().map(|task| task.name()).collect(),
            told: told.join("; "),
            needs_horizon: spec.needs_horizon(),
            late_clicks: match row.answers {
                Answers::Late => "count when they arrive; lost ones have no effect (in the library)",
                Answers::IndependentOfClicks => {
                    "allowed only if delay and loss do not depend on the click (in the library)"
                }
            },
            live: match row.live {
                Live::Table => {
                    "table: chooses among the items that may be shown; answers may come late or twice (in the library)"
                }
                Live::Whole => {
                    "whole: chooses among the items that may be shown, for users who differ; whole answers (in the library)"
                }
                Live::InOrder => "in order: whole answers, in the order of the decisions (in the library)",
                Live::No => "no",
            },
            limit: match row.limit {
                Limit::None => String::new(),
                Limit::Cells(n) => format!("at most {n} cells of a table"),
                Limit::Items(n) => format!("at most {n} items"),
            },
            cost: plain(row.cost),
            guarantee: guarantee(row),
            dominated_by: row.dominated_by,
            source: plain(row.source),
            parameters: row.parameters.iter().map(parameter).collect(),
            example: example(row),
        }
    }
}

fn group_of(row: &Row) -> (&'static [Family], &'static str, &'static str) {
    let first = row.families.first();
    let group =
        GROUPS.into_iter().find(|(families, ..)| first.is_some_and(|family| families.contains(family)));
    group.unwrap_or(GROUPS[GROUPS.len() - 1])
}

/// The tasks that a policy can do.
pub(crate) fn tasks(row: &Row) -> &'static [Task] {
    match row.purpose() {
        catalogue::Purpose::Stopping => &[Task::Identify, Task::Budget],
        catalogue::Purpose::Recommending => &[Task::Budget],
        _ => &[Task::Regret],
    }
}

/// The guarantee, with the note that the table's stars refer to.
fn guarantee(row: &Row) -> String {
    let text = plain(row.guarantee);
    let stars = row.guarantee.chars().filter(|character| *character == '*').count();
    match stars {
        3 => format!("{} (proofs and conditions: docs/cascade-bai.md)", text.replace("***", "")),
        2 => format!(
            "{text} (clicks per observed display overrate items low in the list: docs/cascade-and-dcm.md)"
        ),
        _ => text,
    }
}

/// An experiment with the policy, all parameters at their defaults; `None` if it needs a file.
fn example(row: &'static Row) -> Option<String> {
    if row.families.contains(&Family::Logged) {
        return None;
    }
    let task = tasks(row)[0];
    let differ = row.protocols().next().is_none();
    let takes_contexts = |model: &Model| {
        row.spec().sees_contexts(model.protocol) && model.keys.iter().any(|key| key.name == "context")
    };
    let plays = |model: &Model| if differ { takes_contexts(model) } else { row.speaks(model.protocol) };
    let able = |model: &&&Model| plays(model) && (task == Task::Regret || model.names_best_items);
    let model = MODELS.iter().find(able)?;
    Some(Spec { name: row.name, model, task, policy: Some(row), with_parameters: true }.plain())
}

impl Policy {
    fn page(&self) -> Page {
        let mut page = Page::about(self.name, &self.sentence);
        page.line("");
        page.fact("Plays", &self.models.join(", "));
        let kappa =
            if self.group == "position-based" { ", and `kappa`, the examination to assume" } else { "" };
        if !self.models_with_read_as.is_empty() {
            let others = self.models_with_read_as.join(", ");
            let own = self.models[0];
            page.fact("", &format!("with `read-as = \"{own}\"`{kappa}: {others}"));
        }
        page.fact("Task", &self.tasks.join(", "));
        page.fact("Told", &self.told);
        page.fact("Late clicks", self.late_clicks);
        page.fact("Live use", self.live);
        page.fact("Limit", &self.limit);
        page.fact("Cost", &format!("of a round: {}{}", self.cost, self.symbols()));
        page.fact("Guarantee", &self.guarantee);
        page.fact("Dominated by", &self.dominated_by.join(", "));
        page.fact("Source", &self.source);
        page.heading(if self.parameters.is_empty() { "Parameters: none" } else { "Parameters" });
        for parameter in &self.parameters {
            let default = parameter.default.as_ref();
            let default =
                default.map_or_else(|| "absent by default".to_owned(), |value| format!("= {value}"));
            page.line(&format!("  {} {default}", parameter.name));
            page.text(6, &parameter.meaning);
            page.text(6, &format!("Values: {}.", parameter.values));
        }
        if let Some(example) = &self.example {
            page.example(
                "Example, for click-bandits simulate FILE --out DIR (printed by --example)",
                example,
            );
        } else {
            page.heading("Example");
            page.text(
                2,
                "It needs the lists of a log: click-bandits fit writes them with an experiment, decision.toml.",
            );
        }
        page
    }

    /// The meaning of the letters in the cost and in the guarantee.
    fn symbols(&self) -> &'static str {
        if self.cost.chars().all(|letter| !matches!(letter, 'K' | 'L')) {
            return "";
        }
        match self.group {
            "best-items" => " (L items, K positions)",
            "cells" => " (K rows, L columns)",
            "pairs" => " (K items)",
            _ => " (K items, L positions)",
        }
    }
}

/// The policies that play a protocol, by task.
pub(super) fn playing(protocol: Protocol, task: Task) -> Vec<&'static str> {
    let plays = |row: &&Row| row.speaks(protocol) && tasks(row).contains(&task);
    rows().iter().filter(plays).map(|row| row.name).collect()
}
