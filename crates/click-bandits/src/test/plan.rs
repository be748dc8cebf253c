//! `test --plan`: how many users a test takes.

use super::{Arguments, Unit, open, read};
use crate::terminal::{json, put, say, table, telling};
use crate::usage::{Usage, bail_usage, number};
use anyhow::{Result, anyhow};
use clap::Args;
use documents::number::{counted, fixed, grouped};
use evaluation::online::{Kind, LEAST_CLICKS, Plan, PlanRow, PlanSettings, Settings};
use std::fmt::Write as _;

/// The number of looks, unless it is given.
pub(crate) const LOOKS: u32 = 10;

#[derive(Debug, Clone, Copy, Args)]
pub(super) struct PlanArguments {
    /// Plan a test: how many users it takes, from a log of today or from --mean and --sd
    #[arg(long)]
    pub(super) plan: bool,
    /// With --kind ab: clicks a session today
    #[arg(long, value_name = "M", requires_all = ["plan", "sd"], value_parser = number)]
    pub(super) mean: Option<f64>,
    /// A user's standard deviation of the clicks a session
    #[arg(long, value_name = "S", requires_all = ["plan", "mean"], value_parser = number)]
    sd: Option<f64>,
    /// Effect to find: the change of clicks a session relative to today's; for an interleaving the
    /// share of users won minus 1/2 [default: 0.05]
    #[arg(long, value_name = "E", requires = "plan", value_parser = number)]
    effect: Option<f64>,
    /// Probability of finding it [default: 0.8]
    #[arg(long, value_name = "P", requires = "plan", value_parser = number)]
    power: Option<f64>,
    /// Users of a day, in both arms
    #[arg(long, value_name = "N", requires = "plan", value_parser = number)]
    per_day: Option<f64>,
    /// With --kind ab: share of users that the better ranker would win if it were interleaved
    #[arg(long, value_name = "P", requires = "plan", value_parser = number)]
    pub(super) share: Option<f64>,
}

pub(super) fn run(arguments: &Arguments, settings: &Settings) -> Result<()> {
    let given = arguments.plan;
    let kind = settings.kind;
    let of_log = [
        (arguments.columns.is_some(), "--columns"),
        (arguments.team.is_some(), "--format ubi"),
        (arguments.max_sessions_per_user.is_some(), "--max-sessions-per-user"),
        (arguments.depth.is_some(), "--depth"),
        (arguments.unit == Unit::List, "--unit"),
        (arguments.lenient, "--lenient"),
    ];
    if let Some((_, option)) = of_log.iter().find(|(is_given, _)| *is_given && arguments.events.is_empty()) {
        bail_usage!("{option}: only for a log: give EVENTS");
    }
    let clicks = given.mean.zip(given.sd);
    let plan = PlanSettings {
        kind,
        effect: given.effect.unwrap_or(0.05),
        power: given.power.unwrap_or(0.8),
        looks: arguments.looks.unwrap_or(LOOKS),
        per_day: given.per_day,
        clicks,
        miss: settings.miss,
        sessions: 1.0,
        ties: 0.0,
        share: given.share,
    };
    let plan = match (clicks, arguments.events.is_empty()) {
        (Some(_), false) => bail_usage!("--mean: the log has it: leave one of them out"),
        (None, true) if kind == Kind::Ab => bail_usage!("--plan: give a log of today, or --mean and --sd"),
        (_, true) => plan,
        (None, false) => {
            let outcome = read(arguments, settings, &open(arguments)?)?;
            let alarms = outcome.remarks().into_iter().filter(|of| of.code.to_string() == "rows-of-items");
            alarms.for_each(|alarm| telling(arguments.quiet)(&alarm.text));
            plan.from_log(&outcome)
        }
    };
    let plan = Plan::new(plan).map_err(|error| anyhow!(Usage(format!("--plan: {error}"))))?;
    if arguments.json { put(&json(&plan.to_json())?) } else { say(&text(&plan)) }
}

fn text(plan: &Plan) -> String {
    let PlanSettings { kind, power, miss, effect, looks, clicks, ties, .. } = plan.settings;
    let mut text = match (kind, clicks) {
        (Kind::Ab, Some((mean, deviation))) => format!(
            "Users in each arm that find a change of clicks a session with probability {power} (today {} clicks a session, a \
             user\u{2019}s standard deviation {}):\n\n",
            fixed(mean, 4),
            fixed(deviation, 4)
        ),
        _ => format!(
            "Users without a tie that find the better ranker with probability {power}, by the share of them that it wins; \
             {} % of the users are ties:\n\n",
            fixed(100.0 * ties, 1)
        ),
    };
    let heads = [
        if kind == Kind::Ab { "change" } else { "share" }.to_owned(),
        "one look".to_owned(),
        format!("{looks} looks"),
        "any time".to_owned(),
    ];
    let row = |row: &PlanRow| {
        let cell = |users: u64| match plan.days(users) {
            None => grouped(users),
            Some(1.0) => format!("{} (1 day)", grouped(users)),
            Some(days) => format!("{} ({} days)", grouped(users), fixed(days, 0)),
        };
        let looks = row.looks.map_or_else(|| "\u{2013}".to_owned(), cell);
        let effect = if kind == Kind::Ab { row.effect } else { 0.5 + row.effect };
        [format!("{} %", fixed(100.0 * effect, 1)), cell(row.fixed), looks, cell(row.open)]
    };
    let rows: Vec<[String; 4]> = std::iter::once(heads).chain(plan.rows.iter().map(row)).collect();
    text += &table(&rows, 1..4);
    if let (Kind::Ab, Some(row)) = (kind, plan.rows.iter().find(|row| row.effect == effect)) {
        let _ = writeln!(
            text,
            "\nAny time: with test --planned {}; no verdict before {} clicks would be expected of an arm. For two arms of equal \
             size. A row of a log is a session.",
            row.open,
            fixed(LEAST_CLICKS, 0)
        );
    }
    let _ = writeln!(text, "\nThe probability of a false alarm is at most {miss}.");
    if kind == Kind::Interleaving {
        let _ = writeln!(
            text,
            "\n{looks} looks: planned for A/B tests alone; an interleaving may be looked at any time."
        );
    }
    if let Some((users, times)) = plan.interleaved() {
        let _ = writeln!(
            text,
            "\nInterleaved, with a look at any time, {} without a tie decide: {} times fewer than an A/B test with one.",
            counted(users, "user"),
            fixed(times, 1)
        );
    }
    text
}
