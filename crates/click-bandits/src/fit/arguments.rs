//! The arguments of `fit`.

use super::context::ContextArguments;
use super::inputs::Inputs;
use super::parameters::Form;
use crate::usage::{integer, number, threads};
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use click_logs::fit::{Model, Options, Scope};
use click_logs::formats::{self, FormatRow};
use click_logs::study::HeldOut;
use click_logs::study::with_users;
use click_logs::{Filter, Ubi};
use serde_json::{Value, json};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Click logs, read one after another; plain or compressed with gzip; - is standard input
    #[arg(value_name = "LOG", required_unless_present = "counts", conflicts_with = "counts")]
    pub(crate) logs: Vec<PathBuf>,
    /// Format of the logs
    #[arg(long, value_parser = format_parser(), required_unless_present = "counts", conflicts_with = "counts")]
    pub(crate) format: Option<&'static FormatRow>,
    /// Names of the columns, for formats that need them: query=..,item=..,position=..,click=..;
    /// query may be left out. Add impressions=.. if a line has more than one impression, or
    /// session=.. for models that need sessions. The lines of a session are one list, wherever they
    /// stand; all sessions are in memory until the log is read. user=.., propensity=..,
    /// prefix-propensity=.. and list-propensity=.. are not read by fit, nor are segment=.. and
    /// features=..;.. without --context
    #[arg(long, value_name = "KEY=COLUMN,..", conflicts_with = "counts")]
    pub(crate) columns: Option<String>,
    /// Fit to counts instead of logs: CSV or Parquet tables with the columns query, item, position,
    /// clicks, impressions
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub(crate) counts: Vec<PathBuf>,
    /// Models to fit, separated by commas
    #[arg(long, value_parser = model_parser(), value_delimiter = ',', default_value = "all")]
    pub(crate) model: Vec<Option<Model>>,
    /// Directory for the parameters, the comparison, the figures and the spec
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// Number of the first position, 0 or 1, in logs with --columns and in --counts
    #[arg(long, value_name = "P", default_value_t = 1, value_parser = integer::<u8>(0..=1))]
    pub(crate) first_position: u8,
    #[command(flatten)]
    pub(crate) ubi: UbiArguments,
    #[command(flatten)]
    pub(crate) context: ContextArguments,
    /// Clip the clicks of a line to its impressions, and print how many clicks are dropped
    #[arg(long)]
    pub(crate) clip_clicks: bool,
    /// Leave out sessions with more than N clicked positions, and print how many. Only for logs
    /// with sessions
    #[arg(long, value_name = "N", value_parser = integer::<u32>(1..=u32::MAX.into()))]
    pub(crate) max_clicks: Option<u32>,
    /// Keep only items with at least N impressions at every position
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = integer::<u64>(0..=u64::MAX))]
    pub(crate) min_impressions: u64,
    /// Keep only items with at least N impressions in total
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = integer::<u64>(0..=u64::MAX))]
    pub(crate) min_total_impressions: u64,
    /// Keep only queries with at least N such items
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = integer::<u32>(1..=u32::MAX.into()))]
    pub(crate) min_items: u32,
    /// Keep only the N queries with the most impressions
    #[arg(long, value_name = "N", value_parser = integer::<u32>(1..=u32::MAX.into()))]
    pub(crate) top_queries: Option<u32>,
    /// Keep only the first N positions; those left out may be beyond the 64 that a list may have
    #[arg(long, value_name = "N", value_parser = integer::<u8>(1..=64))]
    pub(crate) positions: Option<u8>,
    /// Whether queries have their own examination (pbm) and leaving (dcm), or all share them
    #[arg(long, value_parser = scope_parser(), default_value = "query")]
    pub(crate) scope: Scope,
    /// Pseudo-impressions of every item's prior, which is centred at the mean of the query; 0 for
    /// none [default: estimated from the log]
    #[arg(long, value_name = "STRENGTH", value_parser = strength)]
    pub(crate) prior: Option<f64>,
    /// Skip invalid lines and count them by reason, instead of stopping at the first
    #[arg(long)]
    pub(crate) lenient: bool,
    /// Maximal share of lines, of impressions and of clicks that may be skipped [default: 0.01]
    #[arg(long, value_name = "SHARE", requires = "lenient", value_parser = number)]
    pub(crate) max_skipped: Option<f64>,
    /// Hold out one session in N to compare the models on (one impression if lines are not
    /// sessions), or `last`: fit them to the first half of the log for it, and compare them on the
    /// second; 0 for no comparison, and no yardsticks to compare with
    // The whole path: `clap` would take `Option` for an argument without a default.
    #[arg(long, value_name = "N", default_value = "10", value_parser = held_out)]
    pub(crate) held_out: std::option::Option<HeldOut>,
    /// Seed of the choice of the held-out sessions
    #[arg(long, value_name = "S", default_value_t = 1, value_parser = integer::<u64>(0..=u64::MAX))]
    pub(crate) seed: u64,
    /// Answer for a sample of N queries what today's ranking loses, which lists are better and what
    /// a policy would gain; 0 for no answer
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = integer::<u16>(0..=1000))]
    pub(crate) answer: u16,
    /// How parameters are written [default: json, or parquet for more than 1,000,000 of them]
    #[arg(long, value_enum, value_name = "FORM")]
    pub(crate) parameters: Option<Form>,
    /// Number of threads that read the log; fits use one per core [default: one per core]
    #[arg(long, value_name = "N", value_parser = threads)]
    pub(crate) threads: Option<u16>,
    /// Print no progress and no overview
    #[arg(long)]
    pub(crate) quiet: bool,
    /// The source of the settings, for messages
    #[arg(skip)]
    pub(crate) settings_from: SettingSource,
}

/// How logs of format ubi are read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub(crate) struct UbiArguments {
    /// Format ubi: only what this application logged
    #[arg(long, value_name = "NAME")]
    pub(crate) application: Option<String>,
    /// Format ubi: the action that shows an item [default: impression]
    #[arg(long, value_name = "ACTION")]
    pub(crate) impression: Option<String>,
    /// Format ubi: the action that is a click on an item, such as `item_click` [default: click]
    #[arg(long, value_name = "ACTION")]
    pub(crate) click: Option<String>,
    /// Format ubi: ordinal of the first position, 0 or 1, of lists without hit ids, and for test
    /// --depth
    #[arg(long, value_name = "P", value_parser = integer::<u8>(0..=1))]
    pub(crate) position_base: Option<u8>,
    /// Format ubi: keep the words of queries as they are, not trimmed and in lower case
    #[arg(long)]
    pub(crate) exact_queries: bool,
}

impl UbiArguments {
    /// The message for these arguments with another format.
    pub(crate) const OTHER_FORMAT: &str = "--application, --impression, --click, --position-base and \
        --exact-queries: only for --format ubi";

    pub(crate) fn ubi(&self) -> Ubi {
        let Self { application, impression, click, position_base, exact_queries } = self.clone();
        Ubi { application, impression, click, position_base, exact_queries }
    }

    /// Adds the arguments to settings, if there are any.
    pub(crate) fn note(&self, settings: &mut Value) {
        if *self != Self::default() {
            let Self { application, impression, click, position_base, exact_queries } = self;
            settings["ubi"] = json!([application, impression, position_base, exact_queries, click]);
        }
    }
}

pub(crate) fn format_parser() -> impl TypedValueParser<Value = &'static FormatRow> {
    let value = |row: &FormatRow| PossibleValue::new(row.name).help(row.holds);
    // The list of possible values admits only names of formats.
    PossibleValuesParser::new(formats::rows().iter().map(value))
        .try_map(|name| formats::find(&name).ok_or("no format"))
}

/// Reads a model by its name; `None` stands for all.
fn model_parser() -> impl TypedValueParser<Value = Option<Model>> {
    let models = with_users().map(|model| (model.name(), model.about()));
    let values = models.chain([("all", "Every model that the log supports")]);
    PossibleValuesParser::new(values.map(|(name, help)| PossibleValue::new(name).help(help)))
        .map(|name| Model::from_name(&name))
}

/// The source of the settings. Messages name what to change there.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum SettingSource {
    /// Options of the command line.
    #[default]
    CommandLine,
    /// Options of the command line of `evaluate`, which has fewer.
    Evaluation,
    /// The table `[log]` of an experiment's file.
    Experiment,
}

fn scope_parser() -> impl TypedValueParser<Value = Scope> {
    let values = [("query", "Every query has its own"), ("site", "All queries share the same")];
    PossibleValuesParser::new(values.map(|(name, help)| PossibleValue::new(name).help(help)))
        .map(|name| if name == "site" { Scope::Site } else { Scope::Query })
}

impl Arguments {
    /// The arguments that fit position-based models to a log of an experiment, without those that
    /// `[log]` gives.
    pub(crate) fn of_experiment() -> Self {
        Self {
            logs: Vec::new(),
            format: None,
            columns: None,
            counts: Vec::new(),
            model: vec![Some(Model::Pbm)],
            out: PathBuf::new(),
            first_position: 1,
            ubi: UbiArguments::default(),
            context: ContextArguments::default(),
            clip_clicks: false,
            max_clicks: None,
            min_impressions: 0,
            min_total_impressions: 0,
            min_items: 1,
            top_queries: None,
            positions: None,
            scope: Scope::Query,
            prior: None,
            lenient: false,
            max_skipped: None,
            held_out: Some(HeldOut::OneIn(10)),
            seed: 1,
            answer: 0,
            // The report names these files.
            parameters: Some(Form::Json),
            threads: None,
            quiet: false,
            settings_from: SettingSource::Experiment,
        }
    }

    pub(crate) fn filter(&self) -> Filter {
        let size = |size: u32| usize::try_from(size).unwrap_or(usize::MAX);
        Filter {
            min_impressions: self.min_impressions,
            min_total_impressions: self.min_total_impressions,
            min_items: size(self.min_items),
            n_positions: self.positions.map(usize::from),
            top_queries: self.top_queries.map(size),
        }
    }

    pub(crate) fn options(&self) -> Options {
        Options { prior_strength: self.prior, scope: self.scope, ..Options::default() }
    }

    /// The files read, as they were typed.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        if self.counts.is_empty() { self.logs.clone() } else { self.counts.clone() }
    }

    /// The files read, for readers.
    pub(crate) fn named(&self) -> String {
        let names: Vec<String> = self.files().iter().map(|path| path.display().to_string()).collect();
        names.join(", ")
    }

    pub(crate) fn format_name(&self) -> String {
        self.format.map_or("counts", |format| format.name).to_owned()
    }

    /// All settings that the results depend on. The form of the parameters is not one of them: the
    /// same fit may be written again in another.
    pub(super) fn settings(&self, inputs: &Inputs) -> Value {
        let models: Vec<_> = self.model.iter().map(|model| model.map_or("all", Model::name)).collect();
        let mut settings = json!({
            "name": format!("fit of {}", self.named()),
            "logs": inputs.settings(),
            "format": self.format_name(),
            "columns": self.columns,
            "models": models,
            "first_position": self.first_position,
            "clip_clicks": self.clip_clicks,
            "max_clicks": self.max_clicks,
            "min_impressions": self.min_impressions,
            "min_total_impressions": self.min_total_impressions,
            "min_items": self.min_items,
            "top_queries": self.top_queries,
            "positions": self.positions,
            "scope": if self.scope == Scope::Site { "site" } else { "query" },
            "prior": self.prior,
            "max_skipped": self.lenient.then(|| self.share_to_skip()),
            "held_out": self.held_out_setting(),
            "seed": self.seed,
            "answer": self.answer,
        });
        self.ubi.note(&mut settings);
        settings
    }

    /// The argument of `--held-out`, as it is typed.
    pub(super) fn held_out_setting(&self) -> Value {
        match self.held_out {
            Some(HeldOut::OneIn(one_in)) => one_in.into(),
            Some(HeldOut::Last) => HeldOut::LAST.into(),
            None => 0.into(),
        }
    }

    /// The maximal share of lines that a lenient reader may skip.
    pub(crate) fn share_to_skip(&self) -> f64 {
        self.max_skipped.unwrap_or(0.01)
    }
}

/// Parses what is held out.
fn held_out(text: &str) -> Result<Option<HeldOut>, String> {
    match text {
        "0" => Ok(None),
        HeldOut::LAST => Ok(Some(HeldOut::Last)),
        _ => match integer(2..=u64::MAX)(text) {
            Ok(one_in) => Ok(Some(HeldOut::OneIn(one_in))),
            Err(error) => Err(format!("{error}, 0 or `{}`", HeldOut::LAST)),
        },
    }
}

/// Parses the strength of a prior.
fn strength(text: &str) -> Result<f64, String> {
    let strength = text.parse().ok().filter(|strength| (0.0..=1e9).contains(strength));
    strength.ok_or_else(|| "expected a number from 0 to 1e9".to_owned())
}
