//! `fit --context`: from a log whose lists have contexts to what a policy knows at its end.

use super::arguments::Arguments;
use super::inputs::Inputs;
use super::source::{as_option, format, reading, with_remedy};
use crate::output::Output;
use crate::terminal::{say, table};
use crate::usage::{Usage, bail_usage};
use ::answer::{ContextSettings, fit_contexts};
use anyhow::{Context as _, Result, anyhow};
use clap::Args;
use click_logs::study::HeldOut;
use documents::number::{counted, fixed, grouped};
use documents::{read_regular, sha256};
use experiment::manifest::Moment;
use log_reader::{Format, PersonalLists, ReadReport};
use serde_json::json;
use spec::{ContextFit, FeatureTable, Gain};
use std::fmt;
use std::path::{Path, PathBuf};

/// The file that is written.
const CONTEXT: &str = "context.json";

/// The inputs of `fit --context`.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct ContextArguments {
    /// Fit a policy that sees who asks (hybrid-ts) to the columns segment=.. and features=..;.. of
    /// --columns, with one --model: cascade, dcm or pbm. Writes context.json, with which the policy
    /// starts where the log ends. The lines of a list stand together
    #[arg(long, requires = "columns", conflicts_with_all = [
        "counts", "clip_clicks", "max_clicks", "min_impressions", "min_total_impressions", "min_items",
        "top_queries", "positions", "scope", "prior", "today", "answer", "parameters", "threads",
    ])]
    pub(crate) context: bool,
    /// With --context: features of the items, a CSV file with the column item and numbers
    #[arg(long, value_name = "FILE", requires = "context")]
    pub(crate) items: Option<PathBuf>,
    /// With --context: the query to fit, if a column names queries
    #[arg(long, value_name = "QUERY", requires = "context")]
    pub(crate) query: Option<String>,
    /// With --context: also find out what each column tells, with one more pass for each
    #[arg(long, requires = "context")]
    pub(crate) ablate: bool,
}

/// Fits, writes, and prints an overview.
pub(super) fn run(arguments: &Arguments) -> Result<()> {
    let started = Moment::now();
    let (format, settings) = (format(arguments)?, settings(arguments)?);
    let lists = lists(arguments, &format)?;
    let inputs = Inputs::open(arguments.files(), arguments.quiet, &|_| {})?;
    let canonical = canonical(arguments, &settings, &inputs)?;
    let output = Output::claim(&arguments.out, &canonical, started, &[CONTEXT], &[])?;
    let is_parquet = matches!(format, Format::Parquet(_));
    let (fit, report) = fit_contexts::<anyhow::Error>(&settings, |names, take| {
        let read = reading(&inputs, is_parquet, arguments.quiet, |watch| {
            lists.read(inputs.read(watch)?, names, take).map_err(|error| with_remedy(arguments, &error))
        })?;
        inputs.check_unchanged()?;
        Ok(read)
    })?;
    output.write(1, &[(CONTEXT, &serde_json::to_vec(&fit)?)])?;
    if arguments.quiet {
        return say(&format_args!("{}\n", recommended(fit.report.personal_gain)));
    }
    say(&Overview { arguments, fit: &fit, report: &report })
}

/// The log's lists.
fn lists<'a>(arguments: &'a Arguments, format: &'a Format) -> Result<PersonalLists<'a>> {
    let usage = |error: log_reader::Error| anyhow!(Usage(as_option(&error)));
    let query = arguments.context.query.as_deref();
    let mut lists = PersonalLists::new(format, query).map_err(usage)?;
    if lists.columns().query.is_some() && query.is_none() {
        bail_usage!("--query: missing: a context is fitted for one query");
    }
    if arguments.reading.first_position == 0 {
        lists = lists.positions_from_zero();
    }
    if let Some(share) = arguments.max_skipped() {
        lists = lists.lenient(share);
    }
    Ok(lists)
}

fn settings(arguments: &Arguments) -> Result<ContextSettings> {
    let [Some(model)] = arguments.model[..] else {
        bail_usage!("--model: expected one of cascade, dcm and pbm with --context");
    };
    if !ContextSettings::MODELS.contains(&model) {
        bail_usage!("--model {model}: expected cascade, dcm or pbm with --context");
    }
    let Some(HeldOut::OneIn(held_out_one_in)) = arguments.settings.held_out.0 else {
        bail_usage!("--held-out: expected a number from 2 with --context");
    };
    let read = |path: &PathBuf| -> Result<FeatureTable> {
        let name = path.display().to_string();
        Ok(FeatureTable::of_items(&name, &read_regular(path).with_context(|| name.clone())?)?)
    };
    let columns = log_reader::Columns::parse(arguments.columns.as_deref().unwrap_or_default());
    Ok(ContextSettings {
        model,
        query: arguments.context.query.clone(),
        features: columns.map_err(|error| anyhow!(Usage(as_option(&error))))?.features,
        items: arguments.context.items.as_ref().map(read).transpose()?,
        held_out_one_in,
        seed: arguments.settings.seed,
        ablate: arguments.context.ablate,
    })
}

/// All settings that the result depends on.
fn canonical(
    arguments: &Arguments,
    settings: &ContextSettings,
    inputs: &Inputs,
) -> Result<serde_json::Value> {
    let hash = |path: &PathBuf| read_regular(path).map(|content| sha256(&content));
    Ok(json!({
        "name": format!("context of {}", arguments.named()),
        "logs": inputs.settings(),
        "format": arguments.format_name(),
        "columns": arguments.columns,
        "model": settings.model.name(),
        "query": settings.query,
        "items": arguments.context.items.as_ref().map(hash).transpose()?,
        "first_position": arguments.reading.first_position,
        "max_skipped": arguments.max_skipped(),
        "held_out": settings.held_out_one_in,
        "seed": settings.seed,
        "ablate": settings.ablate,
    }))
}

struct Overview<'a> {
    arguments: &'a Arguments,
    fit: &'a ContextFit,
    report: &'a ReadReport,
}

const NOT_KNOWN: &str = "not known";

fn known(loss: Option<f64>) -> String {
    loss.map_or_else(|| NOT_KNOWN.to_owned(), |loss| fixed(loss, 4))
}

fn interval(gain: Option<Gain>) -> String {
    let Some(Gain { mean, lower, upper }) = gain else { return NOT_KNOWN.to_owned() };
    format!("{} ({} to {})", fixed(mean, 4), fixed(lower, 4), fixed(upper, 4))
}

/// Whether personal lists are recommended, by their gain on users that took no part.
fn recommended(gain: Option<Gain>) -> String {
    let Some(Gain { mean, lower, upper }) = gain else {
        return "Whether personal lists gain anything on users that took no part is not known.".to_owned();
    };
    let [mean, lower, upper] = [mean, lower, upper].map(|clicks| fixed(1000.0 * clicks, 1));
    format!(
        "On users that took no part, personal lists collect {mean} clicks more in 1,000 lists than one list for all ({lower} to \
         {upper}): {}.",
        if gain.is_some_and(Gain::is_surely_above_zero) {
            "personal lists are recommended"
        } else {
            "one list for all is recommended, since this may be nothing or less"
        }
    )
}

impl fmt::Display for Overview<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { arguments, fit, report } = self;
        let ContextFit { report: quality, .. } = fit;
        write!(f, "{}: {}", arguments.named(), counted(report.lines, "line"))?;
        for (reason, skipped) in &report.skipped {
            write!(f, ", {} skipped ({reason})", grouped(skipped.lines))?;
        }
        writeln!(f)?;
        writeln!(
            f,
            "Fitted: hybrid-ts to {} by {}: {}, {}, {} of users and {} of items\n",
            counted(fit.lists, "list"),
            fit.model,
            counted(fit.items.len() as u64, "item"),
            counted(fit.segments.len() as u64, "segment"),
            counted(fit.user_features.len() as u64, "feature"),
            fit.item_features.len(),
        )?;
        let columns = arguments.columns.as_deref().map(log_reader::Columns::parse);
        let has_users = columns.is_some_and(|columns| columns.is_ok_and(|columns| columns.user.is_some()));
        writeln!(
            f,
            "Log-loss of a held-out list, in nats, over {} of {}; intervals are 95 %:",
            counted(quality.lists, "list"),
            counted(quality.units, if has_users { "user" } else { "session" }),
        )?;
        let mut rows = vec![
            ["with contexts".to_owned(), known(quality.log_loss)],
            ["without".to_owned(), known(quality.log_loss_without)],
            ["lower by".to_owned(), interval(quality.gain)],
        ];
        for column in &quality.columns {
            rows.push([format!("higher without {} by", column.column), interval(column.gain)]);
        }
        writeln!(f, "{}", table(&rows, 1..1))?;
        let clicks = |name: &str, clicks: f64| [name.to_owned(), fixed(1000.0 * clicks, 1)];
        let rows = [
            clicks("one list for all", quality.clicks.best_list),
            clicks("one list for each segment", quality.clicks.best_list_of_segment),
            clicks("personal lists", quality.clicks.personal),
        ];
        let sample = grouped(fit.users.len() as u64);
        writeln!(f, "Clicks of 1,000 lists that the fit expects, of {sample} contexts of the log:")?;
        writeln!(f, "{}", table(&rows, 1..2))?;
        writeln!(f, "{}\n", recommended(quality.personal_gain))?;
        writeln!(f, "{} is in {}", CONTEXT, Path::new(&arguments.out).display())
    }
}
