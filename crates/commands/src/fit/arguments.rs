//! What `fit` is told on the command line.

use super::inputs::Inputs;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use click_logs::Filter;
use click_logs::fit::{Model, Options, Scope};
use click_logs::formats::{self, FormatRow};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// What is fitted, from what, and where it goes.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Click logs, read one after another; plain or compressed with gzip; - is standard input
    #[arg(value_name = "LOG", required_unless_present = "counts", conflicts_with = "counts")]
    pub(super) logs: Vec<PathBuf>,
    /// How the logs are written
    #[arg(long, value_parser = format_parser(), required_unless_present = "counts", conflicts_with = "counts")]
    pub(super) format: Option<&'static FormatRow>,
    /// Which column is what, for formats whose columns are named here: query=..,item=..,position=..,click=.. and, where a line is more than one impression,
    /// impressions=..; or session=.., whose lines are one list, stand together and go from the first position down, for models that need
    /// sessions. `query` may be missing
    #[arg(long, value_name = "KEY=COLUMN,..", conflicts_with = "counts")]
    pub(super) columns: Option<String>,
    /// Start from counts instead: tables, Parquet or CSV, with the columns query, item, position, clicks, impressions
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub(super) counts: Vec<PathBuf>,
    /// Models, with commas between them
    #[arg(long, value_enum, value_delimiter = ',', default_value = "all")]
    pub(super) model: Vec<ModelName>,
    /// Directory for the parameters, the comparison, the figures and the spec
    #[arg(long, value_name = "DIR")]
    pub(super) out: PathBuf,
    /// Positions count from 0 or from 1, where --columns names them, and in --counts
    #[arg(long, value_name = "P", default_value_t = 1, value_parser = clap::value_parser!(u8).range(0..=1))]
    pub(super) first_position: u8,
    /// Count as many clicks as impressions where a line has more clicks, and say how many are dropped
    #[arg(long)]
    pub(super) clip_clicks: bool,
    /// Only items with at least N impressions at every position
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(super) min_impressions: u64,
    /// Only items with at least N impressions in all
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(super) min_total_impressions: u64,
    /// Only queries with at least N such items
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) min_items: u32,
    /// Only N queries: those with the most impressions
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) top_queries: Option<u32>,
    /// Only N positions, from the top
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=64))]
    pub(super) positions: Option<u8>,
    /// Which queries share examination (pbm) and leaving (dcm)
    #[arg(long, value_enum, default_value_t = ScopeName::Query)]
    pub(super) scope: ScopeName,
    /// Pseudo-impressions of every item's prior, whose mean is what is usual in the query; 0 for none [default: what the log says]
    #[arg(long, value_name = "STRENGTH", allow_negative_numbers = true, value_parser = strength)]
    pub(super) prior: Option<f64>,
    /// Skip lines at fault and count them by reason, instead of stopping at the first
    #[arg(long)]
    pub(super) lenient: bool,
    /// Share of lines, of impressions and of clicks that may be skipped [default: 0.01]
    #[arg(long, value_name = "SHARE", requires = "lenient", allow_negative_numbers = true)]
    pub(super) max_skipped: Option<f64>,
    /// The models are compared on one session in N (one impression where lines are no sessions), which no compared fit has seen
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(2..))]
    pub(super) held_out: u64,
    /// Which ones
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub(super) seed: u64,
    /// Threads to read the log with; fits have one a core [default: one a core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(super) threads: Option<u16>,
    /// Say nothing while and after it runs
    #[arg(long)]
    pub(super) quiet: bool,
    /// Who says how the log is read
    #[arg(skip)]
    pub(super) told_by: SettingSource,
}

/// The formats by their names.
fn format_parser() -> impl TypedValueParser<Value = &'static FormatRow> {
    let value = |row: &FormatRow| PossibleValue::new(row.name).help(row.holds);
    // Only names of rows get past the list.
    PossibleValuesParser::new(formats::rows().iter().map(value))
        .try_map(|name| formats::find(&name).ok_or("no format"))
}

/// A model by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum ModelName {
    /// Position-based
    Pbm,
    /// Cascade: down to the first click
    Cascade,
    /// Dependent clicks: may leave after a click, by position
    Dcm,
    /// User browsing: examination by position and last click
    Ubm,
    /// Simplified dynamic Bayesian network: may leave after a click, by item
    Sdbn,
    /// All that the log has what it takes for
    All,
}

impl ModelName {
    /// The model, unless all are meant.
    pub(super) fn model(self) -> Option<Model> {
        Some(match self {
            Self::Pbm => Model::Pbm,
            Self::Cascade => Model::Cascade,
            Self::Dcm => Model::Dcm,
            Self::Ubm => Model::Ubm,
            Self::Sdbn => Model::Sdbn,
            Self::All => return None,
        })
    }
}

/// Who says how a log is read, for messages that say what to change.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum SettingSource {
    /// Options.
    #[default]
    CommandLine,
    /// An experiment's file.
    Experiment,
}

/// A scope by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum ScopeName {
    /// Every query has its own
    Query,
    /// All queries have the same
    Site,
}

/// How an experiment reads a log: its format, what passes, and the prior.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct HowToRead {
    /// How the log is written; one whose columns need no names.
    pub(crate) format: &'static FormatRow,
    /// Only items with at least this number of impressions at every position.
    pub(crate) min_impressions: u64,
    /// Only queries with at least this number of such items.
    pub(crate) min_items: u32,
    /// At most this number of queries, those with the most impressions; all without.
    pub(crate) top_queries: Option<u32>,
    /// How many positions, from the top.
    pub(crate) positions: u8,
    /// Pseudo-impressions of every item's prior; those under which the log is the most probable without.
    pub(crate) prior: Option<f64>,
}

impl Arguments {
    /// What fits position-based models to the log of an experiment.
    pub(super) fn of_experiment(log: &Path, how: &HowToRead, out: PathBuf) -> Self {
        Self {
            logs: vec![log.to_owned()],
            format: Some(how.format),
            columns: None,
            counts: Vec::new(),
            model: vec![ModelName::Pbm],
            out,
            first_position: 1,
            clip_clicks: false,
            min_impressions: how.min_impressions,
            min_total_impressions: 0,
            min_items: how.min_items,
            top_queries: how.top_queries,
            positions: Some(how.positions),
            scope: ScopeName::Query,
            prior: how.prior,
            lenient: false,
            max_skipped: None,
            held_out: 10,
            seed: 1,
            threads: None,
            quiet: false,
            told_by: SettingSource::Experiment,
        }
    }

    /// Which queries and items pass.
    pub(super) fn filter(&self) -> Filter {
        let size = |size: u32| usize::try_from(size).unwrap_or(usize::MAX);
        Filter {
            min_impressions: self.min_impressions,
            min_total_impressions: self.min_total_impressions,
            min_items: size(self.min_items),
            n_positions: self.positions.map(usize::from),
            top_queries: self.top_queries.map(size),
        }
    }

    /// How to fit.
    pub(super) fn options(&self) -> Options {
        let scope = match self.scope {
            ScopeName::Query => Scope::Query,
            ScopeName::Site => Scope::Site,
        };
        Options { prior_strength: self.prior, scope, ..Options::default() }
    }

    /// The files read, as they were typed.
    pub(super) fn files(&self) -> Vec<PathBuf> {
        if self.counts.is_empty() { self.logs.clone() } else { self.counts.clone() }
    }

    /// The files read, for readers.
    pub(super) fn named(&self) -> String {
        let names: Vec<String> = self.files().iter().map(|path| path.display().to_string()).collect();
        names.join(", ")
    }

    /// The format's name.
    pub(super) fn format_name(&self) -> String {
        self.format.map_or("counts", |format| format.name).to_owned()
    }

    /// All that the results depend on.
    pub(super) fn settings(&self, inputs: &Inputs) -> Value {
        let models: Vec<_> = self.model.iter().map(|&model| name(Some(model))).collect();
        json!({
            "name": format!("fit of {}", self.named()),
            "logs": inputs.settings(),
            "format": self.format_name(),
            "columns": self.columns,
            "models": models,
            "first_position": self.first_position,
            "clip_clicks": self.clip_clicks,
            "min_impressions": self.min_impressions,
            "min_total_impressions": self.min_total_impressions,
            "min_items": self.min_items,
            "top_queries": self.top_queries,
            "positions": self.positions,
            "scope": name(Some(self.scope)),
            "prior": self.prior,
            "max_skipped": self.lenient.then(|| self.share_to_skip()),
            "held_out": self.held_out,
            "seed": self.seed,
        })
    }

    /// The share of lines that a lenient reader may skip.
    pub(super) fn share_to_skip(&self) -> f64 {
        self.max_skipped.unwrap_or(0.01)
    }
}

/// The strength of a prior.
fn strength(text: &str) -> Result<f64, String> {
    let strength = text.parse().ok().filter(|strength| (0.0..=1e9).contains(strength));
    strength.ok_or_else(|| "expected a number from 0 to 1e9".to_owned())
}

/// What a value is called on the command line.
fn name<T: ValueEnum>(value: Option<T>) -> Option<String> {
    Some(value?.to_possible_value()?.get_name().to_owned())
}
