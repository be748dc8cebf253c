//! `test`: which of two rankers real users prefer (module `evaluation::online`).

mod page;
pub(crate) mod plan;

use crate::fit::inputs::Inputs;
use crate::fit::source::{MORE_SKIPPED, as_option, reading};
use crate::fit::{ONLY_UBI, note_ubi};
use crate::output::{Output, places};
use crate::terminal::{json, put, say, table, telling};
use crate::usage::{Usage, bail_usage, integer, number};
use anyhow::{Result, anyhow};
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use evaluation::online::{
    Kind, MISS, Metric, OnlineError, Outcome, Settings, miss_of_level, online, row_columns,
};
use experiment::manifest::Moment;
use log_reader::formats::is_parquet;
use log_reader::{ErrorKind, RowColumn, TakeRows, Ubi, read_rows, read_ubi_clicks};
use plan::PlanArguments;
use serde_json::json as value;
use std::fmt::Write as _;
use std::path::PathBuf;

const VERDICT: &str = "verdict.json";
const PAGE: &str = "index.html";

fn kind_parser() -> impl TypedValueParser<Value = Kind> {
    let interleaving =
        "A click on an interleaved list: user, team of the clicked item; perhaps list, position, time";
    let values = [("interleaving", interleaving), ("ab", "A session: user, arm, clicks; perhaps time")];
    PossibleValuesParser::new(values.map(|(name, help)| PossibleValue::new(name).help(help)))
        .map(|name| if name == "ab" { Kind::Ab } else { Kind::Interleaving })
}

/// The unit whose clicks are independent of those of other units.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Unit {
    /// Users: their lists are not independent
    User,
    /// Lists, if every list of a user was interleaved with a fresh coin
    List,
}

#[derive(Debug, Args)]
#[command(disable_version_flag = true)]
pub(crate) struct Arguments {
    /// Tables with a header, CSV or Parquet, read one after another; CSV may be compressed with
    /// gzip;
    /// - is standard input
    #[arg(value_name = "EVENTS")]
    events: Vec<PathBuf>,
    /// ubi: queries and events of User Behavior Insights, with --team [default: tables]
    #[arg(long, value_parser = ["ubi"], requires = "team")]
    format: Option<String>,
    /// Format ubi: path of the team of a click, such as
    /// `event_attributes.search_config`
    #[arg(long, value_name = "PATH", requires = "format", conflicts_with = "columns")]
    team: Option<String>,
    #[command(flatten)]
    ubi: Ubi,
    /// The kind of test, by the meaning of a row
    #[arg(long, value_parser = kind_parser())]
    kind: Kind,
    /// Names of the columns: user=.., team=.., list=.., position=.., time=.. of an interleaving;
    /// user=.., arm=.., clicks=.., time=.. of an A/B test [default: their keys]; `time=` leaves
    /// that column out
    #[arg(long, value_name = "KEY=COLUMN,..")]
    columns: Option<String>,
    /// Team or arm of today's ranker; differences are those of the other one [default: the first of
    /// both names]
    #[arg(long, value_name = "NAME", conflicts_with = "plan")]
    baseline: Option<String>,
    /// Planned share of users in the baseline of an A/B test
    #[arg(long, value_name = "S", default_value_t = 0.5, conflicts_with = "plan", value_parser = number)]
    split: f64,
    /// The metric of an A/B test in its column `clicks`: whole numbers of clicks, or their value,
    /// such as that of orders: numbers with decimals, from 0 to 1,000,000,000
    #[arg(long, value_name = "METRIC", value_parser = ["clicks", "value"], default_value = "clicks", conflicts_with = "plan")]
    metric: String,
    /// Leave out users with more sessions, such as robots; A/B tests only
    #[arg(long, value_name = "N", value_parser = integer::<u32>(1..=u32::MAX.into()))]
    max_sessions_per_user: Option<u32>,
    /// The unit of an interleaving whose clicks are independent of those of others
    #[arg(long, value_enum, default_value = "user")]
    unit: Unit,
    /// Credit clicks at the first N positions only: those where both rankers have documents
    #[arg(long, value_name = "N", value_parser = integer::<u64>(1..=u64::MAX))]
    depth: Option<u64>,
    /// Users in each arm for which an A/B test with an open end was planned [default: 10000]
    #[arg(long, value_name = "N", value_parser = integer::<u64>(1..=u64::MAX), conflicts_with = "plan")]
    planned: Option<u64>,
    /// Level of the intervals, such as 0.95 or 0.99: the probability of a false alarm is the rest,
    /// and may be given in its place, as 0.05 or 0.01 [default: 0.95]
    #[arg(long, value_name = "L", value_parser = level)]
    level: Option<f64>,
    /// Number of looks of an A/B test with a fixed end [default: an open end; with --plan 10]
    #[arg(long, value_name = "J", value_parser = integer::<u32>(1..=28))]
    looks: Option<u32>,
    /// Which of these looks this is, from 1 on
    #[arg(long, value_name = "J", requires = "looks", conflicts_with = "plan", value_parser = integer::<u32>(1..=28))]
    look: Option<u32>,
    #[command(flatten)]
    plan: PlanArguments,
    /// Skip invalid rows and count them by reason, instead of stopping at the first
    #[arg(long)]
    lenient: bool,
    /// Maximal share of rows that may be skipped [default: 0.01]
    #[arg(long, value_name = "SHARE", requires = "lenient", value_parser = number)]
    max_skipped: Option<f64>,
    /// Directory for the verdict and the page
    #[arg(long, value_name = "DIR", conflicts_with = "plan")]
    out: Option<PathBuf>,
    /// Print JSON in place of text
    #[arg(long)]
    json: bool,
    /// Print no progress, and the verdict alone
    #[arg(long)]
    quiet: bool,
}

/// The probability of a false alarm of a level.
fn level(text: &str) -> Result<f64, String> {
    let level = text.parse().ok().and_then(miss_of_level);
    level.ok_or_else(|| "expected a number above 0 and below 1, such as 0.95".to_owned())
}

impl Arguments {
    fn settings(&self) -> Result<Settings> {
        let only_ab = [
            (self.max_sessions_per_user.is_some(), "--max-sessions-per-user"),
            (self.looks.is_some(), "--looks"),
            (self.plan.share.is_some(), "--share"),
            (self.plan.mean.is_some(), "--mean and --sd"),
            (self.split != 0.5, "--split"),
            (self.metric == "value", "--metric value"),
        ];
        match (self.kind, only_ab.iter().find(|(is_given, _)| *is_given)) {
            (Kind::Interleaving, Some((_, option))) => bail_usage!("{option}: only for --kind ab"),
            (Kind::Ab, _) if self.team.is_some() => {
                bail_usage!("--format ubi: only for --kind interleaving; a table of sessions has arms");
            }
            _ if self.team.is_none() && self.ubi != Ubi::default() => bail_usage!("{ONLY_UBI}"),
            _ if self.team.is_some() && self.depth.is_some() != self.ubi.position_base.is_some() => {
                bail_usage!(
                    "--format ubi: --depth and --position-base belong together: the ordinal of the first position is 0 or 1",
                );
            }
            (Kind::Ab, _) if self.depth.is_some() || self.unit == Unit::List => {
                bail_usage!("--depth and --unit: only for --kind interleaving");
            }
            _ => {}
        }
        if !(self.split > 0.0 && self.split < 1.0) {
            bail_usage!("--split: expected a number above 0 and below 1");
        }
        let look = match (self.look, self.looks) {
            (None, Some(_)) if !self.plan.plan => bail_usage!("--looks: give --look, the one that this is"),
            (look, looks) => look.zip(looks),
        };
        Ok(Settings {
            by_list: self.unit == Unit::List,
            depth: self.depth,
            metric: if self.metric == "value" { Metric::Value } else { Metric::Clicks },
            most_sessions: self.max_sessions_per_user,
            split: self.split,
            planned: self.planned.unwrap_or(10_000),
            is_planned: self.planned.is_some(),
            look,
            baseline: self.baseline.clone(),
            before: self.plan.plan,
            miss: self.level.unwrap_or(MISS),
            are_first: self.team.is_some(),
            ..Settings::new(self.kind)
        })
    }
}

/// Tests, or plans a test, writes, and prints the verdict.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let settings = arguments.settings()?;
    if arguments.plan.plan {
        return plan::run(arguments, &settings);
    }
    let started = Moment::now();
    let inputs = open(arguments)?;
    let mut canonical = value!({
        "name": format!("test of {}", arguments.events[0].display()),
        "events": inputs.settings(),
        "kind": if settings.kind == Kind::Ab { "ab" } else { "interleaving" },
        "columns": [&arguments.columns, &arguments.team],
        "settings": [
            settings.by_list, settings.depth, settings.most_sessions, settings.split, settings.planned, settings.look,
            settings.baseline, arguments.lenient, arguments.max_skipped, settings.miss,
        ],
    });
    note_ubi(&arguments.ubi, &mut canonical);
    if settings.metric == Metric::Value {
        canonical["metric"] = "value".into();
    }
    let claim = |out: &PathBuf| Output::claim(out, &canonical, started, &[VERDICT, PAGE], &[]);
    let output = arguments.out.as_ref().map(claim).transpose()?;
    let outcome = read(arguments, &settings, &inputs)?;
    let verdict = json(&outcome.to_json())?;
    if let Some(output) = output {
        let page = page::page(&outcome);
        output.write(1, &[(VERDICT, verdict.as_bytes()), (PAGE, page.as_bytes())])?;
    }
    if arguments.json {
        return put(&verdict);
    }
    if arguments.quiet {
        return say(&format_args!("{}\n", outcome.sentence()));
    }
    say(&overview(&outcome, arguments))
}

fn open(arguments: &Arguments) -> Result<Inputs> {
    if arguments.events.is_empty() {
        bail_usage!("EVENTS: missing: give the table of the test");
    }
    Inputs::open(arguments.events.clone(), arguments.quiet, &telling(arguments.quiet))
}

fn read(arguments: &Arguments, settings: &Settings, inputs: &Inputs) -> Result<Outcome> {
    let columns = row_columns(settings, arguments.columns.as_deref())
        .map_err(|error| anyhow!(Usage(format!("--columns: {error}"))))?;
    let max_skipped = arguments.lenient.then_some(arguments.max_skipped.unwrap_or(0.01));
    let is_parquet = arguments.events.iter().any(|path| is_parquet(path));
    let outcome = reading(inputs, is_parquet, arguments.quiet, |watch| {
        let read = |pass, rows: &mut dyn TakeRows| {
            let inputs = inputs.read(if pass == 0 { watch } else { &|_| {} })?;
            let read = match &arguments.team {
                Some(team) => read_ubi_clicks(&arguments.ubi, team, inputs, max_skipped, rows),
                None => read_rows(&columns, is_parquet, inputs, max_skipped, rows),
            };
            read.map_err(|error| with_advice(&columns, &error))
        };
        online(settings, read).map_err(|error| match error {
            OnlineError::Log(error) => error,
            error => anyhow!("{error}"),
        })
    })?;
    inputs.check_unchanged()?;
    Ok(outcome)
}

fn with_advice(columns: &[RowColumn<'_>], error: &log_reader::Error) -> anyhow::Error {
    if *error.kind() == ErrorKind::Settings {
        return anyhow!(as_option(error));
    }
    let missing = format!("no column `{}`", columns[0].name);
    let is_user = *error.kind() == ErrorKind::Header && error.place().message.contains(&missing);
    let advice = if is_user {
        ": the clicks of a user are not independent, so counts of clicks cannot be tested: log the user of every \
         row, or name the column with --columns user=.."
    } else if *error.kind() == ErrorKind::TooManySkipped {
        MORE_SKIPPED
    } else {
        ""
    };
    anyhow!("{error}{advice}")
}

/// The verdict, day by day, for a terminal.
fn overview(outcome: &Outcome, arguments: &Arguments) -> String {
    let mut text = format!("{}\n\n", outcome.sentence());
    for note in outcome.notes() {
        let _ = writeln!(text, "{note}");
    }
    let rows: Vec<[String; 6]> = std::iter::once(page::heads(outcome)).chain(page::rows(outcome)).collect();
    if rows.len() > 1 {
        let _ = write!(text, "\n{}", table(&rows, 1..5));
    }
    if let Some(out) = &arguments.out {
        text += &places(out, VERDICT, PAGE);
    }
    text
}
